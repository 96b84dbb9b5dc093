package lang_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"platen/docx/lang"
)

// schemaOf returns the schema of a template of one text.
func schemaOf(t *testing.T, text string) *lang.Schema {
	t.Helper()
	var use lang.Use
	var scope lang.Scope
	spans, _ := lang.Find(text)
	for _, span := range spans {
		tag, err := lang.ParseTag(text[span.Start:span.End])
		if err != nil {
			t.Fatal(err)
		}
		if tag.Kind == lang.EndFor {
			scope.Close()
			continue
		}
		use.Add(tag, &scope)
		if tag.Kind == lang.For {
			scope.Open(tag)
		}
	}
	return use.Schema()
}

func TestLacks(t *testing.T) {
	inputs := []string{
		`{"a":1,"b":{"c":"x"},"items":[{"p":1,"q":2},{"p":2}],"none":[],"text":"t","mixed":1,"one":{"k":1},"nil":null}`,
		`{"a":"2","b":{"c":"y","d":1},"items":[],"none":[],"text":"u","mixed":[],"one":{"k":2},"more":1}`,
	}
	var shape lang.Shape
	for i, input := range inputs {
		if depth := readShape(t, &shape, input); depth != 3-i {
			t.Errorf("objects and lists nest %d deep in %s", depth, input)
		}
	}
	for template, want := range map[string][]string{
		"{{a * 2}} {{b.c}}":                           nil,
		"{{b.d}} {{x}} {{nil}}":                       {"b.d", "x", "nil"},
		"{{b.d :: optional}} {{more :: default(1)}}":  nil,
		"{{for i in items}}{{i.p}}{{endfor}}":         nil,
		"{{for i in items}}{{i.q}}{{endfor}}":         {"items[].q"},
		"{{for i in none}}{{i.q}}{{endfor}}":          nil,
		"{{for i in one}}{{i.k}}{{endfor}}":           nil,
		"{{text * 2}}":                                {"text"},
		"{{text.x}} {{for i in text}}{{i}}{{endfor}}": {"text"},
		"{{mixed}}": nil,
	} {
		t.Run(template, func(t *testing.T) {
			kept, err := shape.Schema().MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			read, err := lang.ParseSchema(kept)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, schemaOf(t, template).Lacks(read)); diff != "" {
				t.Errorf("lacks (-want +got), of %s:\n%s", kept, diff)
			}
		})
	}
}

func readShape(t *testing.T, shape *lang.Shape, input string) (depth int) {
	t.Helper()
	d := jsontext.NewDecoder(strings.NewReader(input), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	depth, err := shape.Read(d)
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	return depth
}

// TestShape reads the shapes of inputs that differ in kinds, keys, and the order of keys.
func TestShape(t *testing.T) {
	for name, c := range map[string]struct{ inputs, want string }{
		"one":         {`{"a":1,"b":"x","c":true,"d":null,"e":{}}`, `a number, b string, c boolean, e object()`},
		"more keys":   {`{"a":1} {"b":1,"a":2} {"a":3}`, `a number, b? number`},
		"null":        {`{"a":1,"b":1} {"a":null,"b":2}`, `a? number, b number`},
		"rows":        {`{"r":[{"a":1,"b":1},{"b":2},null,{"b":3,"a":"x"}]}`, `r list(object(a? single, b number))`},
		"no rows":     {`{"r":[]}`, `r list(any)`},
		"rows later":  {`{"r":[]} {"r":[1]}`, `r list(number)`},
		"singles":     {`{"a":1} {"a":"x"} {"a":true}`, `a single`},
		"kinds":       {`{"a":{"k":1}} {"a":[1]} {"a":{"k":2}}`, `a any`},
		"escaped":     {`{"a\\b":1,"x":1} {"x":1,"a\u005cb":2}`, `a\b number, x number`},
		"half a pair": {`{"\ud800":1} {"\ufffd":"x"}`, "\ufffd single"},
		"twice":       {`{"a":1,"a":"x"}`, `none`},
		"as deep":     {strings.Repeat(`{"a":`, lang.MaxDepth-1) + `{}` + strings.Repeat(`}`, lang.MaxDepth-1), "a object(…)"},
		"too deep":    {strings.Repeat(`{"a":`, lang.MaxDepth) + `{}` + strings.Repeat(`}`, lang.MaxDepth), `none`},
		"none":        {``, `none`},
	} {
		t.Run(name, func(t *testing.T) {
			var shape lang.Shape
			for input := range strings.FieldsSeq(c.inputs) {
				readShape(t, &shape, input)
			}
			got := "none"
			if schema := shape.Schema(); schema != nil {
				got = strings.TrimSuffix(strings.TrimPrefix(shapeText(t, schema), "object("), ")")
			}
			if cut, ok := strings.CutSuffix(c.want, "…)"); ok {
				got, c.want = got[:min(len(cut), len(got))], cut
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// shapeText writes a shape in short, with ? after keys that may be missing.
func shapeText(t *testing.T, s *lang.Schema) string {
	t.Helper()
	text, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonSchema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	return schema.String()
}

type jsonSchema struct {
	Type       any
	Properties map[string]jsonSchema
	Required   []string
	Items      *jsonSchema
}

func (s jsonSchema) String() string {
	types, several := s.Type.([]any)
	switch {
	case s.Type == nil:
		return "any"
	case several && types[len(types)-1] == "null":
		s.Type = types[:len(types)-1]
		if len(types) == 2 {
			s.Type = types[0]
		}
		return s.String()
	case several:
		return "single"
	case s.Items != nil:
		return "list(" + s.Items.String() + ")"
	case s.Type != "object":
		return s.Type.(string)
	}
	var properties []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		optional := ""
		if !slices.Contains(s.Required, name) {
			optional = "?"
		}
		properties = append(properties, name+optional+" "+s.Properties[name].String())
	}
	return "object(" + strings.Join(properties, ", ") + ")"
}

func TestShapeIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	var shape lang.Shape
	readShape(t, &shape, "{"+b.String()[1:]+"}")
	if shape.Schema() != nil {
		t.Error("a shape holds 10,000 keys")
	}
}

// TestShapeOfManyRows checks that null in many rows does not count as many keys.
func TestShapeOfManyRows(t *testing.T) {
	var shape lang.Shape
	readShape(t, &shape, `{"rows":[`+strings.Repeat(`{"a":1,"b":null},`, 10_000)+`{"a":1}]}`)
	if got := shapeText(t, shape.Schema()); got != "object(rows list(object(a number)))" {
		t.Errorf("got %s", got)
	}
}
