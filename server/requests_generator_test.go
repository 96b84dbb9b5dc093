package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// operationRef is an operation of the document with its method and path.
type operationRef struct {
	operation
	method, path string
}

// generator generates requests from a document. They depend only on its seed.
type generator struct {
	rand       *rand.Rand
	operations []operationRef // in a fixed order
	schemas    map[string]object

	// For the current request:
	hostility int                 // percentage of wrong choices
	apt       bool                // the caller has permission, and the ids exist
	prying    bool                // ids are those of hidden objects
	fitting   map[string][]string // names of the ids that fit the operation, by kind
}

func (w *world) generator(seed uint64) *generator {
	w.t.Helper()
	var d struct {
		Paths      map[string]map[string]operation
		Components struct{ Schemas map[string]object }
	}
	must(w.t, json.Unmarshal(w.do("GET //openapi.json", request{}).text, &d))
	g := &generator{rand: rand.New(rand.NewPCG(seed, 0)), schemas: d.Components.Schemas}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			g.operations = append(g.operations, operationRef{d.Paths[path][method], strings.ToUpper(method), path})
		}
	}
	return g
}

// request generates a request. Half of them are valid as far as possible: most of those are apt, and some prying. A
// quarter has a few mistakes, and a quarter is hostile.
func (g *generator) request() wireRequest {
	g.hostility = pick(g, 0, 0, 4, 40)
	g.apt, g.prying = false, false
	switch choice := g.rand.IntN(10); {
	case g.hostility > 0:
	case choice < 7:
		g.apt = true
	case choice < 9:
		g.prying = true
	}
	op := pick(g, g.operations...)
	g.fitting = fittingOf(op)
	r := wireRequest{operation: op.method + " " + op.path, method: op.method}
	if len(op.Servers) > 0 {
		return g.clientRequest(r, op.path)
	}
	r.as, r.path = g.caller(op.path), g.path(op)
	r.header = g.headers(op, r.as)
	types := slices.Sorted(maps.Keys(op.RequestBody.Content))
	if len(types) == 0 {
		return r
	}
	contentType := types[0]
	if len(types) > 1 && g.chance(30) {
		contentType = pick(g, types...)
	}
	body := g.value(op.RequestBody.Content[contentType].Schema, "")
	switch {
	case contentType == "multipart/form-data":
		r.body = g.parts(body)
		contentType += "; boundary=" + boundary
	case contentType == "application/octet-stream":
		r.body = g.spoil("text")
	case g.apt && signInBodies[op.method+" "+op.path] != "":
		r.body = signInBodies[op.method+" "+op.path]
	case g.apt && strings.HasSuffix(op.path, "/commit"):
		r.body = `{"parts":[{"part_id":"«upload_part:full»","offset":0,"size":4,"sha1":"` + digest("text") + `"}]}`
	default:
		r.body = g.spoil(g.mutate(body).String())
	}
	if g.wrong() {
		contentType = pick(g, "", "text/plain", "application/json; charset=utf-16", "multipart/form-data", "application/xml", "*/*")
	}
	r.header = append(r.header, [2]string{"Content-Type", contentType})
	return r
}

// The bodies of apt requests about passwords, which cannot be guessed.
var signInBodies = map[string]string{
	"POST /sessions":           `{"login":"person@example.com","password":"«password:person»"}`,
	"POST /invitations/accept": `{"secret":"«invitation:invited»","password":"«password:person»"}`,
	"PUT /users/me/password":   `{"current_password":"«password:person»","new_password":"«password:person»"}`,
}

// The callers of apt requests for some operations, which few other callers can use.
var aptCallers = map[string]string{
	"audit_events": "archivist", "archives": "archivist", "storage_policies": "archivist", "users": "admin", "webhook_keys": "admin",
	"operations": "admin", "applications": "admin", "sessions": "person", "invitations": "guest",
}

// caller draws the caller of a request, seldom one who cannot be authenticated.
func (g *generator) caller(path string) string {
	if g.apt && path == "/users/me/password" {
		return "person"
	}
	switch name, ok := aptCallers[strings.Split(path, "/")[1]]; {
	case g.apt && strings.HasSuffix(path, "/folders/0"): // which needs access to all content
		return "archivist"
	case g.apt && ok && path != "/users/me":
		return name
	case g.apt:
		return "owner"
	case g.prying:
		return pick(g, "owner", "other", "reader", "admin", "account")
	}
	return pick(g, slices.Concat(callers, callers[slices.Index(callers, "other"):], []string{"account", "account"})...)
}

// wrong decides whether the next choice is wrong.
func (g *generator) wrong() bool { return g.rand.IntN(100) < g.hostility }

// chance returns true with a probability in percent.
func (g *generator) chance(percent int) bool { return g.rand.IntN(100) < percent }

func pick[T any](g *generator, from ...T) T { return from[g.rand.IntN(len(from))] }

var pathParam = regexp.MustCompile(`\{([a-z_]+)\}`)

// The names of the ids for operations that accept few ids.
var fitting = []struct {
	operation *regexp.Regexp
	ids       map[string][]string
}{
	{regexp.MustCompile(`^PUT .*/versions/\{`), map[string][]string{"file": {"versions"}, "file_version": {"trashed", "trashed2"}}},
	{regexp.MustCompile(`/versions(/|$)`), map[string][]string{"file": {"versions"}, "file_version": {"past", "past2", "current"}}},
	{regexp.MustCompile(`/trash$|^POST /(files|folders)/\{[a-z_]+\}$`), map[string][]string{"file": {"trashed", "trashed2"},
		"folder": {"trashed", "trashed2"}}},
	{regexp.MustCompile(`^DELETE /(files|folders)/\{[a-z_]+\}$`), map[string][]string{"file": {"spare", "shared2"},
		"folder": {"spare", "shared2"}}},
	{regexp.MustCompile(`^DELETE .*/upload_sessions/`), map[string][]string{"upload_session": {"spare"}}},
	{regexp.MustCompile(`/upload_sessions/.*/commit$`), map[string][]string{"upload_session": {"full"}}},
	{regexp.MustCompile(`/zip_downloads/.*/status$`), map[string][]string{"zip_download": {"started"}}},
	{regexp.MustCompile(`/retry$`), map[string][]string{"docgen_batch": {"failed", "failed2"}, "docgen_job": {"failed", "failed2"},
		"file_version": {"shared"}}},
	{regexp.MustCompile(`^POST /docgen_(documents|checks|previews)$`), map[string][]string{"file": {"letter"}, "file_version": {"letter"}}},
	{regexp.MustCompile(`/input$`), map[string][]string{"docgen_job": {"failed", "failed2"}}},
	{regexp.MustCompile(`^DELETE /users/`), map[string][]string{"user": {"spare", "spare2"}}},
	{regexp.MustCompile(`^DELETE /webhook`), map[string][]string{"webhook": {"shared2"}, "webhook_listener": {"spare"}}},
}

func fittingOf(op operationRef) map[string][]string {
	for _, f := range fitting {
		if f.operation.MatchString(op.method + " " + op.path) {
			return f.ids
		}
	}
	return nil
}

func (g *generator) path(op operationRef) string {
	path := pathParam.ReplaceAllStringFunc(op.path, func(param string) string {
		if g.wrong() {
			return pick(g, hostileSegments...)
		}
		if param == "{sample_name}" {
			return pick(g, "paid", "paid", "unknown")
		}
		return g.id(strings.TrimSuffix(strings.Trim(param, "{}"), "_id"))
	})
	query := url.Values{}
	for _, p := range op.Parameters {
		if p.In == "query" && (p.Required || g.chance(30)) {
			query.Add(p.Name, g.param(p.Name, p.Schema))
			if g.wrong() {
				query.Add(p.Name, g.param(p.Name, p.Schema))
			}
		}
	}
	if strings.HasSuffix(op.path, "/events/realtime") && !query.Has("wait") { // there is no time to wait
		query.Add("wait", "0")
	}
	if g.wrong() {
		query.Add(pick(g, hostileTexts...), pick(g, hostileTexts...))
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + encodeNamed(query)
}

// encodeNamed encodes a form without escaping the text between « and ».
func encodeNamed(values url.Values) string {
	return strings.NewReplacer("%C2%AB", "«", "%C2%BB", "»", "%3A", ":").Replace(values.Encode())
}

// param returns a value for a parameter.
func (g *generator) param(name string, schema object) string {
	if g.wrong() {
		return pick(g, hostileTexts...)
	}
	switch name {
	case "marker":
		return fmt.Sprintf("«marker:%d»", g.rand.IntN(50))
	case "usemarker", "recursive", "force":
		return pick(g, "true", "true", "false")
	case "limit":
		return pick(g, "1", "2", "100", "1000", "5000")
	case "offset":
		return pick(g, "0", "1", "2", "300000")
	case "wait": // there is no time to wait
		return pick(g, "0", "0", "61")
	case "stream_position":
		return pick(g, "0", "now", "1", "9007199254740991")
	case "event_type":
		return pick(g, "UPLOAD", "RENAME,MOVE", "LOGIN")
	case "status":
		if schema["enum"] != nil {
			break
		}
		return pick(g, "failed", "pending,submitted", "completed_with_error, completed", "canceled")
	case "created_by":
		return g.id("user")
	case "template_id":
		return g.id("file")
	case "fields":
		return pick(g, "name", "size,name", "permissions,version_number,extension,path_collection", "id", "item_collection,owned_by",
			"role,enterprise")
	}
	if strings.HasSuffix(name, "version") || strings.HasSuffix(name, "version_id") {
		return g.id("file_version")
	}
	return strings.Trim(g.value(schema, name).String(), `"`)
}

// headers returns the headers for authentication and conditions and, in hostile requests, others.
func (g *generator) headers(op operationRef, caller string) [][2]string {
	var headers [][2]string
	add := func(name, value string) { headers = append(headers, [2]string{name, value}) }
	if !g.wrong() {
		add("svc-version", "2025.0")
	} else if g.chance(50) {
		add(pick(g, "svc-version", "box-version"), pick(g, "", "2024.0", "2025.0, 2025.0", "latest", "2025.0"))
	}
	for _, p := range op.Parameters {
		if value, ok := partHeader("text")[p.Name]; ok && p.In == "header" && !g.wrong() {
			add(p.Name, value[0])
			continue
		}
		if p.Name == "BoxApi" {
			if op.path == "/shared_items" && !g.wrong() || g.chance(10) {
				add(p.Name, g.link())
			}
			continue
		}
		if p.Name == "Idempotency-Key" {
			if g.chance(15) {
				add(p.Name, g.key())
			}
			continue
		}
		if p.Name == "Prefer" {
			if g.chance(50) {
				add(p.Name, pick(g, "respond-async", "respond-async", "wait=0", "respond-async, wait=0", "wait=-1", `wait="0"`, "handling=strict"))
			}
			continue
		}
		if p.In == "header" && g.chance(15) {
			add(p.Name, pick(g, "0", "1", `"1"`, `W/"2"`, "*", "bytes=0-3", "bytes=-1", "bytes=5-1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"))
		}
	}
	if slices.Contains([]string{"admin", "account"}, caller) && !g.apt && g.chance(30) {
		add("As-User", g.id("user"))
	}
	if g.wrong() {
		add("As-User", pick(g, g.id("user"), "0", "-1", "owner", "«repeat:5000:9»"))
	}
	if g.wrong() {
		add("Authorization", pick(g, "Bearer", "Bearer x y", "Basic b3duZXI6", "Bearer «repeat:5000:x»", "bearer null", ""))
	}
	if g.wrong() {
		add(manyHeaders, "100")
	}
	if g.wrong() {
		add(pick(g, "X-Request-Id", "X-HTTP-Method-Override", "Accept", "X-Forwarded-For", "Cookie", "Origin", "If-Modified-Since",
			"Accept-Encoding"),
			pick(g, "DELETE", "../../x", "«repeat:2000:a,»", "identity;q=0", "ünïcode", "gzip"))
	}
	return headers
}

// link returns the value of a header with a shared link.
func (g *generator) link() string {
	if g.wrong() {
		return pick(g, "", "x", "shared_link=", "shared_link=%zz", "shared_link=«repeat:5000:/»", "shared_link=http://[::1",
			"shared_link=https://example.com/s/AAAA&shared_link_password=«repeat:300:x»")
	}
	return "shared_link=«link:" + pick(g, "shared", "shared2") + "»" + pick(g, "", "", "&shared_link_password=unneeded password")
}

// key returns an idempotency key, seldom one of another request.
func (g *generator) key() string {
	if g.wrong() {
		return pick(g, `"`, `""`, `"a";b`, "key-1", "a b", "ü", "«repeat:300:x»") // net/http sends no control characters
	}
	key := fmt.Sprintf("key-%d", g.rand.IntN(100_000))
	return pick(g, key, `"`+key+`"`)
}

// The names of the objects in every visit, by kind.
var furnished = map[string][]string{
	"file":           {"shared", "shared2", "other", "stranger", "gone", "versions", "trashed", "spare", "letter"},
	"folder":         {"shared", "shared2", "other", "stranger", "shown", "trashed", "spare"},
	"file_version":   {"shared", "shared2", "other", "stranger", "past", "current", "trashed"},
	"user":           {"owner", "other", "reader", "editor", "admin", "carol", "spare"},
	"collaboration":  {"shared", "shared2", "stranger"},
	"docgen_batch":   {"shared", "shared2", "failed", "stranger"},
	"docgen_job":     {"shared", "shared2", "failed", "stranger"},
	"archive":        {"shared", "shared2"},
	"storage_policy": {"default", "cold"},

	"webhook":          {"shared", "shared2", "stranger"},
	"webhook_delivery": {"shared", "shared2", "stranger"},
	"webhook_listener": {"shared", "spare", "stranger"},
	"event":            {"shared", "shared2", "stranger"},
	"slot":             {"primary", "secondary"},
	"ticket":           {"shared", "shared2"},
	"zip_download":     {"shared", "shared2", "started"},
	"upload_session":   {"open", "full", "spare"},
	"upload_part":      {"open", "full", "spare"},
	"application":      {"shared", "shared2"},
	"session":          {"shared", "shared2"},
}

// The names of objects with which the callers of apt requests may do everything.
var aptNames = map[string][]string{
	"file": {"shared", "shared2"}, "folder": {"shared", "shared2"}, "file_version": {"shared", "shared2"},
	"user": {"owner", "other", "reader", "editor", "admin", "carol", "spare2"}, "docgen_batch": {"shared", "shared2"},
	"docgen_job":    {"shared", "shared2"},
	"collaboration": {"shared", "shared2"}, "archive": {"shared", "shared2"}, "storage_policy": {"default", "cold"},
	"webhook": {"shared"}, "webhook_delivery": {"shared"}, "webhook_listener": {"shared"}, "event": {"shared", "shared2"},
	"application": {"shared", "shared2"}, "session": {"shared", "shared2"},
	"slot": {"primary", "secondary"}, "ticket": {"shared", "shared2"},
	"zip_download": {"shared", "shared2"}, "upload_session": {"open"}, "upload_part": {"open"},
}

// kindsOf maps the names of fields and parameters with an id to a kind, if the name is not the kind.
var kindsOf = map[string]string{
	"template": "file", "parent": "folder", "destination_folder": "folder", "version": "file_version", "batch": "docgen_batch",
	"job":           "docgen_job",
	"accessible_by": "user", "owned_by": "user", "delivery": "webhook_delivery", "accepted": "webhook_delivery",
	"listener": "webhook_listener",
}

// id returns the id of an object of a kind, seldom of a wrong kind.
func (g *generator) id(name string) string {
	kind := name
	if known, ok := kindsOf[name]; ok {
		kind = known
	}
	if g.wrong() {
		kind = pick(g, "file", "folder", "file_version", "user", "collaboration", "docgen_batch", "docgen_job", "archive", "webhook",
			"webhook_delivery", "webhook_listener")
	}
	if kind == "folder" && len(g.fitting[kind]) == 0 && g.chance(20) {
		return pick(g, "0", "0", "0", "«archive:shared»")
	}
	if names := g.aptNames(kind); len(names) > 0 && (g.apt || g.chance(30)) {
		return "«" + kind + ":" + pick(g, names...) + "»"
	}
	names := furnished[kind]
	if g.prying && slices.Contains(names, "stranger") {
		if kind == "file" && g.chance(20) {
			return "«file:gone»"
		}
		return "«" + kind + ":stranger»"
	}
	if len(names) == 0 || g.chance(30) {
		return fmt.Sprintf("«%s:made%d»", kind, g.rand.IntN(10))
	}
	return "«" + kind + ":" + pick(g, names...) + "»"
}

// aptNames returns the names of objects for which the operation succeeds.
func (g *generator) aptNames(kind string) []string {
	if names := g.fitting[kind]; len(names) > 0 {
		return names
	}
	return aptNames[kind]
}

var (
	goodNames = []string{
		"Letter.docx", "letter.DOCX", "Plan", "notes.txt", "Größe", "日本語.txt", "👩‍🚀 file", "e\u0301", "Straße", "STRASSE", "a & b <c>",
		"100 %", "'; DROP TABLE items; --",
	}
	hostileTexts = []string{
		"", " ", ".", "..", "/", "\\", "a/b", " leading", "trailing ", "null", "undefined", "-1", "0", "1.5", "1e309", "9223372036854775807",
		"9223372036854775808", "99999999999999999999999999", "+1", "0x10", "٣", "true", "NaN", "' OR 1=1 --", "1; DROP TABLE users", "%",
		"_", "*",
		"../../etc/passwd", "\x00", "a\x00b", "\u202e\u2066", "\ufeff", "\u0085", "\r\nX: y", "\xff\xfe", "\xed\xa0\x80", "\U0010FFFF",
		"e\u0301\u0301\u0301",
		"«repeat:300:x»", "«repeat:300:é»", "«repeat:9000:x»", "{{ name }}", "<script>alert(1)</script>", "${7*7}", "$(id)", "{}", "[]",
		"CON", "file:///etc/passwd", "http://169.254.169.254/", "=cmd|' /C calc'!A0", "name,name,name", ",,,", "id;drop",
	}
	hostileSegments = []string{
		"0", "-1", "+1", "00", "1", "x", "null", ".", "..", "%2e%2e", "%2F", "a%2Fb", "%00", "%ff", "%20", "%0d%0aX:y", "9223372036854775807",
		"9223372036854775808", "'%20OR%201=1--", "«repeat:5000:9»", "«repeat:300:x»", "%E2%80%AE", "1%3Fx", "1;x", "me", "content", "*",
		"1e3", "%F0%9F%92%A9",
	}
)
