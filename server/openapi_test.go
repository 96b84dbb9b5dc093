package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"platen/server"
)

// document is an OpenAPI document, decoded independently of the server, so that tests can compare the documentation
// with the responses.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Headers map[string]object }
	schemas    *jsonschema.Compiler
	compiled   map[string]*jsonschema.Schema // by JSON pointer
	mu         sync.Mutex                    // for compiled
}

type operation struct {
	Summary    string
	Servers    []object // for URLs that are not under /2.0
	Parameters []struct {
		Name, In, Description string
		Required              bool
		Schema                object
	}
	RequestBody struct{ Content map[string]media }
	Responses   map[string]responseDoc
	pattern     string
}

type responseDoc struct {
	Description string
	Content     map[string]media
	Headers     map[string]object
}

type media struct {
	Schema  object
	Example any
}

// documentURL stands for the document in the references of schemas.
const documentURL = "https://platen.example/openapi.json"

func (w *world) document() *document {
	w.t.Helper()
	return readDocument(w.t, w.do("GET //openapi.json", request{}).text)
}

func readDocument(t *testing.T, text []byte) *document {
	t.Helper()
	d := &document{compiled: map[string]*jsonschema.Schema{}, schemas: jsonschema.NewCompiler()}
	must(t, json.Unmarshal(text, d))
	d.resolveHeaders()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	must(t, err)
	d.schemas.DefaultDraft(jsonschema.Draft2020) // the draft of OpenAPI 3.1
	d.schemas.AssertFormat()
	must(t, d.schemas.AddResource(documentURL, v))
	return d
}

// resolveHeaders replaces references to shared headers with the headers.
func (d *document) resolveHeaders() {
	for _, operations := range d.Paths {
		for _, op := range operations {
			for _, response := range op.Responses {
				for name, header := range response.Headers {
					if ref, ok := header["$ref"].(string); ok {
						response.Headers[name] = d.Components.Headers[strings.TrimPrefix(ref, "#/components/headers/")]
					}
				}
			}
		}
	}
}

// operation returns the documented operation of a request, or nil if there is none.
func (d *document) operation(method, path string) *operation {
	for pattern, operations := range d.Paths {
		match, err := regexp.MatchString("^"+regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(pattern, "[^/]+")+"$", path)
		if op, ok := operations[strings.ToLower(method)]; ok && match && err == nil && (pattern == path || !d.literal(method, path)) {
			op.pattern = "/paths/" + escapePointer(pattern) + "/" + strings.ToLower(method)
			return &op
		}
	}
	return nil
}

func (d *document) literal(method, path string) bool {
	_, ok := d.Paths[path][strings.ToLower(method)]
	return ok
}

// escapePointer escapes a name for a JSON pointer (RFC 6901).
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// ownHeaders are headers that HTTP, the connection, and browser security add to every response; the API does not
// document them. All other headers must be documented.
var ownHeaders = []string{"Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Security-Policy", "Content-Type",
	"Date", "Referrer-Policy", "Vary", "X-Content-Type-Options", "X-Frame-Options"}

// check compares a response with the document: its status must be documented for the operation, and its headers,
// content type, and body for the status. Errors outside of operations have the same body.
func (d *document) check(t testing.TB, r response) {
	t.Helper()
	path, ours := strings.CutPrefix(r.Request.URL.Path, "/2.0")
	op := d.operation(r.Request.Method, path)
	if op == nil || ours == (len(op.Servers) > 0) {
		if r.StatusCode >= 400 && r.Request.Method != http.MethodHead {
			d.checkBody(t, r, "/components/schemas/ErrorBody")
		}
		return
	}
	documented, ok := op.Responses[strconv.Itoa(r.StatusCode)]
	if !ok {
		t.Errorf("%s %s: status %d is not documented: %s", r.Request.Method, path, r.StatusCode, r.text)
		return
	}
	for _, problem := range checkHeaders(documented, r.Header) {
		t.Errorf("%s %s: status %d: %s", r.Request.Method, path, r.StatusCode, problem)
	}
	switch {
	case len(documented.Content) == 0 && len(r.text) > 0:
		t.Errorf("%s %s: status %d has a body, but none is documented: %s", r.Request.Method, path, r.StatusCode, r.text)
	case documented.Content["*/*"].Schema != nil && r.Header.Get("Content-Type") != "application/json": // the content of a file
	case documented.Content["application/json"].Schema != nil:
		d.checkBody(t, r, fmt.Sprintf("%s/responses/%d/content/application~1json/schema", op.pattern, r.StatusCode))
	}
}

// checkHeaders returns the problems with the headers of a response.
func checkHeaders(documented responseDoc, got http.Header) []string {
	var problems []string
	for name := range got {
		sent := slices.ContainsFunc(slices.Collect(maps.Keys(documented.Headers)),
			func(d string) bool { return http.CanonicalHeaderKey(d) == name })
		if !sent && !slices.Contains(ownHeaders, name) {
			problems = append(problems, fmt.Sprintf("the header %s is not documented", name))
		}
	}
	for name, header := range documented.Headers {
		if header["required"] == true && got.Get(name) == "" {
			problems = append(problems, fmt.Sprintf("the header %s is missing", name))
		}
	}
	return problems
}

func (d *document) checkBody(t testing.TB, r response, pointer string) {
	t.Helper()
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("%s %s: status %d: Content-Type %s", r.Request.Method, r.Request.URL.Path, r.StatusCode, got)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.text))
	must(t, err)
	if err := d.validate(pointer, v); err != nil {
		t.Errorf("%s %s: status %d: %v: %s", r.Request.Method, r.Request.URL.Path, r.StatusCode, err, r.text)
	}
}

// validate validates a value against the schema at a JSON pointer of the document.
func (d *document) validate(pointer string, v any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, ok := d.compiled[pointer]
	if !ok {
		var err error
		if schema, err = d.schemas.Compile(documentURL + "#" + (&url.URL{Path: pointer}).EscapedPath()); err != nil {
			return err
		}
		d.compiled[pointer] = schema
	}
	return schema.Validate(v)
}

func TestOpenAPIDocument(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		d := w.document()
		for path, operations := range d.Paths {
			for method, op := range operations {
				op.pattern = "/paths/" + escapePointer(path) + "/" + method
				w.t.Run(method+" "+path, func(t *testing.T) { checkOperation(t, d, &op) })
			}
		}
		if strings.Contains(strings.ToLower(string(w.do("GET //openapi.json", request{}).text)), "huma") {
			w.t.Error("there are schemas that are not ours")
		}
	})
}

// checkOperation checks that the documentation of an operation is complete, and its examples are valid.
func checkOperation(t *testing.T, d *document, op *operation) {
	if op.Summary == "" {
		t.Error("it has no summary")
	}
	for _, p := range op.Parameters {
		if p.Description == "" || p.Schema == nil {
			t.Errorf("the parameter %s has no description or no schema", p.Name)
		}
	}
	for _, status := range []string{"400", "401", "429", "500", "503"} {
		if _, ok := op.Responses[status]; !ok {
			t.Errorf("the status %s is not documented", status)
		}
	}
	example := func(pointer string, content map[string]media) {
		for name, m := range content {
			if name == "*/*" { // the content of a file
				continue
			}
			if m.Example == nil {
				t.Errorf("%s of %s has no example", pointer, name)
			}
			if err := d.validate(op.pattern+pointer+"/content/"+escapePointer(name)+"/schema", m.Example); err != nil {
				t.Errorf("the example of %s: %v", pointer, err)
			}
		}
	}
	example("/requestBody", op.RequestBody.Content)
	for status, response := range op.Responses {
		if response.Description == "" {
			t.Errorf("the status %s has no description", status)
		}
		example("/responses/"+status, response.Content)
	}
}

// TestCheckFindsErrors tests the check that the other tests rely on.
func TestCheckFindsErrors(t *testing.T) {
	d := readDocument(t, []byte(`{"paths":{"/things/{id}":{"get":{"responses":{"200":{
		"headers":{"X-Request-Id":{"required":true},"svc-version":{}},
		"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}}}}}},
		"components":{"schemas":{"Thing":{"type":"object","additionalProperties":false,"required":["id"],
		"properties":{"id":{"type":"string","pattern":"^[0-9]+$"},"at":{"type":["string","null"],"format":"date-time"}}}}}}`))
	pointer := d.operation("GET", "/things/1").pattern + "/responses/200/content/application~1json/schema"
	for text, right := range map[string]bool{
		`{"id":"1","at":null}`:                   true,
		`{"id":"1","at":"2026-01-31T12:00:00Z"}`: true,
		`{"id":"1","at":"yesterday"}`:            false,
		`{"id":"one"}`:                           false,
		`{"id":1}`:                               false,
		`{}`:                                     false,
		`{"id":"1","more":1}`:                    false,
		`null`:                                   false,
	} {
		var v any
		must(t, json.Unmarshal([]byte(text), &v))
		if err := d.validate(pointer, v); (err == nil) != right {
			t.Errorf("%s: %v", text, err)
		}
	}
	documented := d.operation("GET", "/things/1").Responses["200"]
	for want, header := range []http.Header{
		{"X-Request-Id": {"1"}, "Svc-Version": {"2025.0"}, "Date": {"today"}},
		{"X-Request-Id": {"1"}, "Location": {"/"}},
		{"Location": {"/"}},
	} {
		if got := checkHeaders(documented, header); len(got) != want {
			t.Errorf("%v: %q, want %d problems", header, got, want)
		}
	}
}
