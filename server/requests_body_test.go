package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// jsonNode is a JSON value that can be invalid: its objects may have duplicate fields or lack fields.
type jsonNode struct {
	text   string // for values other than objects and arrays
	open   string // { or [
	names  []string
	values []*jsonNode
}

func (n *jsonNode) String() string {
	if n.open == "" {
		return n.text
	}
	var b strings.Builder
	b.WriteString(n.open)
	for i, value := range n.values {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.open == "{" {
			b.WriteString(quoted(n.names[i]) + ":")
		}
		b.WriteString(value.String())
	}
	b.WriteString(map[string]string{"{": "}", "[": "]"}[n.open])
	return b.String()
}

// quoted returns a text as a JSON string, in which « and » keep their meaning, and invalid bytes stay unchanged.
func quoted(text string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\x00", `\u0000`, "\r", `\r`, "\n", `\n`).Replace(text)
	return `"` + escaped + `"`
}

func leaf(text string) *jsonNode { return &jsonNode{text: text} }

// value returns a value that a schema allows; at is the path of names to it.
func (g *generator) value(schema object, at string) *jsonNode {
	if ref, ok := schema["$ref"].(string); ok {
		if g.apt && strings.HasSuffix(at, ".triggers") { // of which few fit every target
			return leaf(quoted(pick(g, "FILE.MOVED", "FILE.RENAMED", "FILE.DOWNLOADED")))
		}
		return g.value(g.schemas[strings.TrimPrefix(ref, "#/components/schemas/")], at)
	}
	if choices, ok := schema["anyOf"].([]any); ok {
		return g.value(pick(g, choices...).(object), at)
	}
	if enum, ok := schema["enum"].([]any); ok {
		text, err := json.Marshal(pick(g, enum...))
		if err != nil {
			panic(err) // it was read from JSON
		}
		return leaf(string(text))
	}
	if types, ok := schema["type"].([]any); ok && slices.Contains(types, any("null")) && (g.apt || g.chance(40)) {
		return leaf("null")
	}
	switch typeIn(schema) {
	case "object":
		return g.object(schema, at)
	case "array":
		list := &jsonNode{open: "["}
		items, _ := schema["items"].(object)
		for range pick(g, 1, 1, 2, 5) {
			list.values = append(list.values, g.value(items, at))
		}
		return list
	case "boolean":
		return leaf(pick(g, "true", "false"))
	case "integer", "number":
		if strings.HasSuffix(at, ".wait_seconds") { // there is no time to wait
			return leaf(pick(g, "0", "-1"))
		}
		return leaf(pick(g, "0", "1", "7", "1000"))
	case "null":
		return leaf("null")
	}
	return leaf(quoted(g.text(schema, at)))
}

// typeIn returns the type that a schema allows, apart from null.
func typeIn(schema object) any {
	if types, ok := schema["type"].([]any); ok {
		return types[0]
	}
	return schema["type"]
}

func (g *generator) object(schema object, at string) *jsonNode {
	made := &jsonNode{open: "{"}
	properties, _ := schema["properties"].(object)
	required, _ := schema["required"].([]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 { // any object
		made.add("name", leaf(quoted(pick(g, goodNames...))))
		made.add("list", &jsonNode{open: "[", values: []*jsonNode{leaf("1"), leaf("null")}})
	}
	if at := slices.Index(names, "type"); at > 0 { // which says of what kind the id is
		names = slices.Insert(slices.Delete(names, at, at+1), 0, "type")
	}
	chosen, other := g.templateField(properties)
	kind := ""
	for _, name := range names {
		switch {
		case name == other:
		case name != chosen && !slices.Contains(required, any(name)) && !g.chance(g.likely(name)):
		case name == "id" && kind != "":
			made.add(name, leaf(quoted(g.id(kind))))
		default:
			value := g.value(properties[name].(object), at+"."+name)
			made.add(name, value)
			if name == "type" {
				kind = strings.Trim(value.String(), `"`)
			}
		}
	}
	return made
}

// templateField decides, for a request that takes a template either as a file or in the request itself, which field it has. The other
// field stays away, except by mistake.
func (g *generator) templateField(properties object) (chosen, other string) {
	if properties["file"] == nil || properties["template"] == nil || g.wrong() {
		return "", ""
	}
	if g.chance(50) {
		return "file", "template"
	}
	return "template", "file"
}

// likely returns the probability, in percent, that an optional field is present. In apt requests, mostly fields that
// identify an object are.
func (g *generator) likely(name string) int {
	switch {
	case g.apt && (name == "id" || name == "trashed_at" || name == "login" || name == "samples_required"):
		return 90
	case g.apt && name != "name":
		return 5
	}
	return 40
}

func (n *jsonNode) add(name string, value *jsonNode) {
	n.names, n.values = append(n.names, name), append(n.values, value)
}

// text returns a value for a field with a name.
func (g *generator) text(schema object, at string) string {
	names := strings.Split(at, ".")
	name := names[len(names)-1]
	switch {
	case name == "id" && len(names) > 1:
		return g.id(names[len(names)-2])
	case name == "accepted":
		return g.id(name)
	case name == "address":
		return pick(g, "https://hooks.example.com/in", "https://hooks.example.com/in", "http://127.0.0.1:80/",
			"https://user:password@[::1]/?q#f", "no address")
	case strings.HasSuffix(name, "_id"):
		return g.id(strings.TrimSuffix(name, "_id"))
	case schema["format"] == "date-time":
		return pick(g, "2026-01-31T12:00:00+00:00", "1970-01-01T00:00:00Z", "2026-12-31T23:59:60Z", "0001-01-01T00:00:00Z",
			"9999-12-31T23:59:59-23:59")
	case strings.Contains(name, "login"), strings.Contains(name, "email"):
		if g.apt || g.chance(20) {
			return fmt.Sprintf("new%d@example.com", g.rand.IntN(1000))
		}
		return pick(g, "owner@example.com", "other@example.com", "OTHER@example.com", "new@example.com", "nobody@elsewhere.example")
	case name == "template": // in Base64
		if g.apt || g.chance(50) {
			return "«template:letter»"
		}
		return pick(g, goodNames...)
	case name == "locale":
		return pick(g, "de-CH", "en", "xx")
	case name == "time_zone":
		return pick(g, "Europe/Paris", "UTC", "Local", "../etc/passwd")
	}
	return pick(g, goodNames...)
}

// mutate makes some values of a body invalid.
func (g *generator) mutate(body *jsonNode) *jsonNode {
	if !g.wrong() && !(g.hostility > 0 && g.chance(60)) {
		return body
	}
	for range pick(g, 1, 1, 1, 2, 5) {
		nodes := body.all(nil)
		g.mutateOne(pick(g, nodes...))
	}
	return body
}

func (n *jsonNode) all(nodes []*jsonNode) []*jsonNode {
	nodes = append(nodes, n)
	for _, value := range n.values {
		nodes = value.all(nodes)
	}
	return nodes
}

// wrongValues replace valid values.
var wrongValues = []string{
	"null", "true", "0", "-1", "1.5", "1e400", "-0", "9223372036854775808", "«repeat:400:9»", `""`, "[]", "{}", "[null]", `{"id":null}`,
	`{"id":["1"]}`, `"x"`, `"«repeat:70000:x»"`,
	`"\ud800"`, `"\u0000"`, "«repeat:9000:[»«repeat:9000:]»", `«repeat:9000:{"a":»0«repeat:9000:}»`,
}

func (g *generator) mutateOne(n *jsonNode) {
	at := 0
	if len(n.values) > 0 {
		at = g.rand.IntN(len(n.values))
	}
	switch choice := g.rand.IntN(7); {
	case choice == 0 && len(n.names) > 0: // missing
		n.names, n.values = slices.Delete(n.names, at, at+1), slices.Delete(n.values, at, at+1)
	case choice == 1 && len(n.names) > 0: // twice
		n.add(n.names[at], n.values[at])
	case choice == 2 && n.open == "{": // unknown
		n.add(pick(g, append([]string{"more", "__proto__", "ID", "Name", "parent"}, hostileTexts...)...), leaf("1"))
	case choice == 3 && n.open == "[": // many
		for range 1100 {
			n.values = append(n.values, leaf("{}"))
		}
	case choice <= 4:
		*n = *leaf(quoted(pick(g, hostileTexts...)))
	default:
		*n = *leaf(pick(g, wrongValues...))
	}
}

// spoil changes a text so that it is probably no longer valid JSON.
func (g *generator) spoil(text string) string {
	if !g.wrong() {
		return text
	}
	at := g.rand.IntN(len(text) + 1)
	switch g.rand.IntN(6) {
	case 0:
		return text[:at]
	case 1:
		return text[:at] + pick(g, hostileTexts...) + text[at:]
	case 2:
		return text + pick(g, " x", text, "\x00", "//", ",")
	case 3:
		return "\ufeff" + text
	case 4:
		return pick(g, "", " ", "null", "[]", `"x"`, "1", "«repeat:1100000: »", "«repeat:100000:[»", "{\"a\":1,}", "{'a':1}", "<xml/>", "a=b&c=d")
	}
	return strings.ReplaceAll(text, `"`, `'`)
}

const boundary = "boundary"

// parts returns the parts of an upload.
func (g *generator) parts(body *jsonNode) string {
	parts := make([]string, 0, len(body.names))
	for i, name := range body.names {
		if name == "file" && body.values[i].open == "" || name == "template" {
			content := pick(g, "", "text", "«repeat:100000:x»", "\x00\xff")
			if name == "template" && (g.apt || g.chance(50)) {
				content = "«word:letter»"
			}
			if name == "file" {
				name = pick(g, "file", "file", "content", "contents")
			}
			parts = append(parts, part(`name="`+name+`"; filename="`+strconv.Itoa(i)+`"`, content))
			continue
		}
		if name == "data" {
			parts = append(parts, part(`name="data"; filename="rows.`+pick(g, "csv", "csv", "ndjson", "json")+`"`, g.data()))
			continue
		}
		text := g.spoil(g.mutate(body.values[i]).String())
		if name == "output_type" || name == "generated_file_name" { // parts of text, which is not JSON
			text = strings.Trim(text, `"`)
		}
		parts = append(parts, part(`name="`+name+`"`, text))
	}
	if g.wrong() {
		slices.Reverse(parts)
	}
	if g.wrong() {
		parts = append(parts, pick(g, append(parts, part(`name="more"`, "x"), part(`name=`, "x"), "--"+boundary+"\r\n\r\n\r\n")...))
	}
	if g.wrong() {
		parts = parts[1:]
	}
	text := strings.Join(parts, "") + "--" + boundary + "--\r\n"
	if g.wrong() {
		text = text[:g.rand.IntN(len(text))]
	}
	return text
}

// data returns the rows of a streamed batch.
func (g *generator) data() string {
	if g.wrong() {
		return pick(g, hostileTexts...)
	}
	return pick(g, "generated_file_name,name\r\nLetter,Ada\r\n", "generated_file_name;name;items[0].price\nLetter;\"A;\"\"da\";x\n",
		"generated_file_name\titems[].name\nA\tx\nA\ty\n", `{"generated_file_name":"A","user_input":{"name":"Ada"}}`+"\n",
		`[{"generated_file_name":"A","user_input":{"name":"Ada"}}]`, "generated_file_name,name\n\"", "name,name\n", "«repeat:100000:x»")
}

func part(disposition, content string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n"
}
