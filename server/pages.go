package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// The documentation is generated from the OpenAPI document and the table of errors. The pages use no scripts and load nothing from
// elsewhere.

//go:embed pages
var pageFiles embed.FS

// pagePolicy allows a page of the documentation its own styles and nothing else.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// page serves the result of build, which is called once, on first use.
func page(a *api, contentType string, build func(*api) ([]byte, error)) http.HandlerFunc {
	made := sync.OnceValues(func() ([]byte, error) { return build(a) })
	return func(w http.ResponseWriter, r *http.Request) {
		if err := callOf(r.Context()).holdGuest(); err != nil {
			a.sendError(callOf(r.Context()), err)
			return
		}
		content, err := made()
		if err != nil {
			a.sendError(callOf(r.Context()), err)
			return
		}
		digest := sha256.Sum256(content)
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Security-Policy", pagePolicy)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", `"`+hex.EncodeToString(digest[:16])+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

const (
	htmlType = "text/html; charset=utf-8"
	jsonType = "application/json"
)

// openAPIPage returns the OpenAPI document.
func openAPIPage(a *api) ([]byte, error) { return json.MarshalIndent(a.huma.OpenAPI(), "", "  ") }

// referencePage returns the reference of all operations.
func referencePage(a *api) ([]byte, error) {
	oapi := a.huma.OpenAPI()
	var groups []group
	for _, tag := range oapi.Tags {
		groups = append(groups, group{Tag: tag, Operations: a.entriesOf(tag.Name)})
	}
	return a.render("reference.html", map[string]any{
		"Info": oapi.Info, "Server": oapi.Servers[0].URL, "Groups": groups,
	})
}

// errorsPage returns the explanation of all error codes.
func errorsPage(a *api) ([]byte, error) {
	return a.render("errors.html", map[string]any{
		"Info": a.huma.OpenAPI().Info, "Kinds": errorKinds, "Example": pretty(a.exampleError(docgen.CodeNotFound)),
	})
}

func (a *api) render(name string, data map[string]any) ([]byte, error) {
	pages, err := template.New("").Funcs(template.FuncMap{
		"markdown": markdown, "statusText": http.StatusText,
	}).ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("templates of the documentation: %w", err)
	}
	var buf bytes.Buffer
	if err := pages.ExecuteTemplate(&buf, name, data); err != nil {
		return nil, fmt.Errorf("page %s: %w", name, err)
	}
	return buf.Bytes(), nil
}

// A group is the operations of one tag.
type group struct {
	Tag        *huma.Tag
	Operations []operationEntry
}

// An operationEntry is one operation on the reference page.
type operationEntry struct {
	*huma.Operation
	Body      *bodyEntry
	Responses []responseEntry
	Curl      string
}

type bodyEntry struct {
	Type    string
	Fields  []fieldEntry
	Example string
}

type responseEntry struct {
	Status      string
	Description string
	Body        *bodyEntry
	Error       bool
}

// A fieldEntry is one field of a body, identified by its path.
type fieldEntry struct {
	Path, Type, Description string
	Required                bool
	Values                  []any
}

// entriesOf lists the operations of a tag, in the order in which they were registered.
func (a *api) entriesOf(tag string) []operationEntry {
	var entries []operationEntry
	for _, op := range a.operations {
		if slices.Contains(op.Tags, tag) {
			entries = append(entries, a.entryOf(op))
		}
	}
	return entries
}

func (a *api) entryOf(op *huma.Operation) operationEntry {
	entry := operationEntry{Operation: op, Curl: a.curl(op)}
	if op.RequestBody != nil {
		entry.Body = a.bodyOf(op.RequestBody.Content)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		response := op.Responses[status]
		shown := responseEntry{Status: status, Description: response.Description, Error: status >= "400"}
		if !shown.Error { // all errors have the same body
			shown.Body = a.bodyOf(response.Content)
		}
		entry.Responses = append(entry.Responses, shown)
	}
	return entry
}

func (a *api) bodyOf(content map[string]*huma.MediaType) *bodyEntry {
	for contentType, media := range content {
		body := &bodyEntry{Type: contentType, Fields: a.fieldsOf(media.Schema, "", 0)}
		if media.Example != nil {
			body.Example = pretty(media.Example)
		}
		return body
	}
	return nil
}

func pretty(example any) string {
	text, err := marshal(example)
	if err != nil {
		return ""
	}
	var buf bytes.Buffer
	if json.Indent(&buf, text, "", "  ") != nil {
		return ""
	}
	return strings.TrimSpace(buf.String())
}

// maxFieldDepth is the depth to which the fields of a body are listed. The examples show deeper ones.
const maxFieldDepth = 3

// fieldsOf lists the fields of a schema. The fields of nested objects follow their parent.
func (a *api) fieldsOf(schema *huma.Schema, path string, depth int) []fieldEntry {
	names := a.propertyNames(schema)
	schema = a.resolve(schema)
	if schema == nil || depth > maxFieldDepth {
		return nil
	}
	if schema.Type == huma.TypeArray {
		return a.fieldsOf(schema.Items, path+"[]", depth)
	}
	var fields []fieldEntry
	for _, name := range names {
		property := schema.Properties[name]
		resolved := a.resolve(property)
		at := join(path, name)
		fields = append(fields, fieldEntry{
			Path: at, Type: typeOf(resolved, property), Required: slices.Contains(schema.Required, name),
			Description: cmp.Or(property.Description, resolved.Description), Values: resolved.Enum,
		})
		fields = append(fields, a.fieldsOf(property, at, depth+1)...)
	}
	return fields
}

// propertyNames lists the fields of an object in the order of the struct.
func (a *api) propertyNames(schema *huma.Schema) []string {
	switch {
	case schema == nil:
		return nil
	case len(schema.AnyOf) > 0:
		return a.propertyNames(schema.AnyOf[0])
	case schema.Ref == "":
		return slices.Sorted(maps.Keys(schema.Properties))
	}
	object := a.huma.OpenAPI().Components.Schemas.TypeFromRef(schema.Ref)
	if object == nil { // a string with a named schema
		return nil
	}
	var names []string
	for _, field := range fieldsOf(object) {
		names = append(names, field.name)
	}
	return names
}

// resolve follows a reference. If the schema is nullable, it returns the object.
func (a *api) resolve(schema *huma.Schema) *huma.Schema {
	switch {
	case schema == nil:
		return nil
	case schema.Ref != "":
		return a.huma.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	case len(schema.AnyOf) > 0:
		return a.resolve(schema.AnyOf[0])
	}
	return schema
}

func typeOf(resolved, property *huma.Schema) string {
	name := resolved.Type
	if resolved.Format != "" {
		name += " (" + resolved.Format + ")"
	}
	if resolved.Type == huma.TypeArray && resolved.Items != nil && resolved.Items.Type != "" {
		name = "array of " + resolved.Items.Type
	}
	if resolved.Nullable || len(property.AnyOf) > 0 && property.AnyOf[len(property.AnyOf)-1].Type == "null" {
		name += ", or null"
	}
	return name
}

// curl returns a command that calls the operation.
func (a *api) curl(op *huma.Operation) string {
	path := op.Path
	for _, p := range op.Parameters {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Schema.Examples[0]))
		}
	}
	command := "curl"
	if op.Method != http.MethodGet {
		command += " -X " + op.Method
	}
	server, lines := a.huma.OpenAPI().Servers, []string{command}
	if len(op.Servers) > 0 {
		server = op.Servers
	}
	lines = append(lines, `"`+server[0].URL+path+`"`)
	if op.Security == nil {
		lines = append(lines, `-H "Authorization: Bearer $TOKEN"`)
	}
	if len(op.Parameters) > 0 && op.Parameters[0].Required {
		lines = append(lines, `-H "`+versionHeader+": "+interfaceVersion+`"`)
	}
	if op.RequestBody != nil {
		lines = append(lines, curlBody(op.RequestBody.Content)...)
	}
	if strings.HasPrefix(op.OperationID, "download") {
		lines = append(lines, "--output Invoice.docx")
	}
	return strings.Join(lines, " \\\n  ")
}

func curlBody(content map[string]*huma.MediaType) []string {
	if media, ok := content["application/json"]; ok {
		return []string{`-H "Content-Type: application/json"`, "-d '" + pretty(media.Example) + "'"}
	}
	if media, ok := content[formType]; ok {
		var lines []string
		form := media.Example.(map[string]string)
		for _, name := range slices.Sorted(maps.Keys(form)) {
			lines = append(lines, "-d "+name+"="+form[name])
		}
		return lines
	}
	if _, ok := content[octetStream]; ok {
		return []string{`-H "Content-Type: ` + octetStream + `"`, "--data-binary @part"}
	}
	parts := content["multipart/form-data"].Example.(map[string]any)
	attributes, err := marshal(parts["attributes"])
	if err != nil {
		return nil
	}
	return []string{"-F 'attributes=" + strings.TrimSpace(string(attributes)) + "'", "-F file=@Invoice.docx"}
}

// markdown renders the subset of Markdown that descriptions use: links and code spans.
func markdown(text string) template.HTML {
	var out strings.Builder
	for text != "" {
		before, rest, _ := cutAny(text, "[`")
		out.WriteString(template.HTMLEscapeString(before))
		text = rest
		switch {
		case strings.HasPrefix(text, "`"):
			code, after, _ := strings.Cut(text[1:], "`")
			fmt.Fprintf(&out, "<code>%s</code>", template.HTMLEscapeString(code))
			text = after
		case strings.HasPrefix(text, "["):
			label, after, _ := strings.Cut(text[1:], "](")
			target, after, _ := strings.Cut(after, ")")
			fmt.Fprintf(&out, `<a href="%s">%s</a>`, template.HTMLEscapeString(target), template.HTMLEscapeString(label))
			text = after
		}
	}
	return template.HTML(out.String())
}

// cutAny cuts text before the first of the given characters.
func cutAny(text, chars string) (before, rest string, found bool) {
	if i := strings.IndexAny(text, chars); i >= 0 {
		return text[:i], text[i:], true
	}
	return text, "", false
}
