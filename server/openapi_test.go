package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"platen/server"
)

// document is an OpenAPI document, read by the tests alone: they hold what the server says against what it does.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]object }
}

type operation struct {
	Summary    string
	Parameters []struct {
		Name, In, Description string
		Required              bool
		Schema                object
	}
	RequestBody struct{ Content map[string]media }
	Responses   map[string]struct {
		Description string
		Content     map[string]media
	}
}

type media struct {
	Schema  object
	Example any
}

func (w *world) document() *document {
	w.t.Helper()
	var d document
	must(w.t, json.Unmarshal(w.do("GET //openapi.json", request{}).text, &d))
	return &d
}

// operation returns the operation that a request is documented as; nil when there is none.
func (d *document) operation(method, path string) *operation {
	for pattern, operations := range d.Paths {
		match, err := regexp.MatchString("^"+regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(pattern, "[^/]+")+"$", path)
		if op, ok := operations[strings.ToLower(method)]; ok && match && err == nil && (pattern == path || !d.literal(method, path)) {
			return &op
		}
	}
	return nil
}

func (d *document) literal(method, path string) bool {
	_, ok := d.Paths[path][strings.ToLower(method)]
	return ok
}

// check holds a response against the document: its status is documented for the operation, and its body is what the
// schema says.
func (d *document) check(t testing.TB, r response) {
	t.Helper()
	path, ours := strings.CutPrefix(r.Request.URL.Path, "/2.0")
	op := d.operation(r.Request.Method, path)
	if !ours || op == nil {
		return
	}
	documented, ok := op.Responses[strconv.Itoa(r.StatusCode)]
	if !ok {
		t.Errorf("%s %s: status %d is not documented: %s", r.Request.Method, path, r.StatusCode, r.text)
		return
	}
	if schema := documented.Content["application/json"].Schema; schema != nil {
		var v any
		must(t, json.Unmarshal(r.text, &v))
		for _, problem := range d.validate(schema, v, "body") {
			t.Errorf("%s %s: status %d: %s: %s", r.Request.Method, path, r.StatusCode, problem, r.text)
		}
	} else if len(documented.Content) == 0 && len(r.text) > 0 {
		t.Errorf("%s %s: status %d has a body, but none is documented: %s", r.Request.Method, path, r.StatusCode, r.text)
	}
}

// validate returns where a value is not what a schema says: as much of JSON Schema as the document uses.
func (d *document) validate(schema object, v any, at string) []string {
	if ref, ok := schema["$ref"].(string); ok {
		return d.validate(d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], v, at)
	}
	if choices, ok := schema["anyOf"].([]any); ok {
		var problems []string
		for _, choice := range choices {
			found := d.validate(choice.(object), v, at)
			if len(found) == 0 {
				return nil
			}
			problems = append(problems, found...)
		}
		return problems
	}
	if !slices.Contains(typesOf(schema), "any") && !slices.Contains(typesOf(schema), typeOf(v)) {
		return []string{fmt.Sprintf("%s is of type %s, want %v", at, typeOf(v), typesOf(schema))}
	}
	if enum, ok := schema["enum"].([]any); ok && v != nil && !slices.Contains(enum, v) {
		return []string{fmt.Sprintf("%s is %v, want one of %v", at, v, enum)}
	}
	var problems []string
	switch v := v.(type) {
	case []any:
		items, _ := schema["items"].(object)
		for i, item := range v {
			problems = append(problems, d.validate(items, item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case object:
		properties, _ := schema["properties"].(object)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				problems = append(problems, fmt.Sprintf("%s lacks %s", at, name))
			}
		}
		for name, value := range v {
			property, ok := properties[name].(object)
			if !ok && schema["additionalProperties"] == false {
				problems = append(problems, fmt.Sprintf("%s has %s, which is not documented", at, name))
			}
			if ok {
				problems = append(problems, d.validate(property, value, at+"."+name)...)
			}
		}
	}
	return problems
}

func typesOf(schema object) []string {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var types []string
		for _, name := range t {
			types = append(types, name.(string))
		}
		return types
	}
	return []string{"any"}
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func TestOpenAPIDocument(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		d := w.document()
		for path, operations := range d.Paths {
			for method, op := range operations {
				w.t.Run(method+" "+path, func(t *testing.T) { checkOperation(t, d, &op) })
			}
		}
		for name := range d.Components.Schemas {
			if strings.Contains(strings.ToLower(name), "huma") {
				w.t.Errorf("the schema %s is not ours", name)
			}
		}
	})
}

// checkOperation demands of an operation what makes its documentation useful, and that its examples are right.
func checkOperation(t *testing.T, d *document, op *operation) {
	if op.Summary == "" {
		t.Error("it has no summary")
	}
	for _, p := range op.Parameters {
		if p.Description == "" || p.Schema == nil {
			t.Errorf("the parameter %s has no description or no schema", p.Name)
		}
	}
	for _, status := range []string{"400", "401", "429", "500"} {
		if _, ok := op.Responses[status]; !ok {
			t.Errorf("the status %s is not documented", status)
		}
	}
	content := map[string]media{}
	maps.Copy(content, op.RequestBody.Content)
	for status, response := range op.Responses {
		if response.Description == "" {
			t.Errorf("the status %s has no description", status)
		}
		for contentType, media := range response.Content {
			content[status+" "+contentType] = media
		}
	}
	for name, m := range content {
		if strings.Contains(name, "octet-stream") {
			continue
		}
		for _, problem := range d.validate(m.Schema, m.Example, "example") {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// TestValidateFindsWhatIsWrong tests the validator that the other tests rely on.
func TestValidateFindsWhatIsWrong(t *testing.T) {
	d := &document{}
	must(t, json.Unmarshal([]byte(`{"components":{"schemas":{"Thing":{"type":"object","additionalProperties":false,"required":["id"],
		"properties":{"id":{"type":"string"},"kind":{"type":"string","enum":["a","b"]},"at":{"type":["string","null"]},
		"list":{"type":"array","items":{"type":"integer"}}}}}}}`), d))
	thing := object{"$ref": "#/components/schemas/Thing"}
	for text, want := range map[string]int{
		`{"id":"1","kind":"a","at":null,"list":[1,2]}`: 0,
		`{}`:                      1,
		`{"id":1}`:                1,
		`{"id":"1","kind":"c"}`:   1,
		`{"id":"1","more":1}`:     1,
		`{"id":"1","list":[1.5]}`: 1,
		`{"kind":7,"at":true}`:    3,
		`null`:                    1,
	} {
		var v any
		must(t, json.Unmarshal([]byte(text), &v))
		if got := d.validate(thing, v, "body"); len(got) != want {
			t.Errorf("%s: %q, want %d problems", text, got, want)
		}
		optional := object{"anyOf": []any{thing, object{"type": "null"}}}
		if got := d.validate(optional, v, "body"); (len(got) == 0) != (want == 0 || v == nil) {
			t.Errorf("%s or null: %q", text, got)
		}
	}
}
