package lang_test

import (
	"fmt"
	"strings"
	"testing"

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
	for _, input := range inputs {
		data, err := lang.Decode([]byte(input))
		if err != nil {
			t.Fatal(err)
		}
		shape.Add(data)
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

func TestShapeIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	data, err := lang.Decode([]byte("{" + b.String()[1:] + "}"))
	if err != nil {
		t.Fatal(err)
	}
	var shape lang.Shape
	shape.Add(data)
	if shape.Schema() != nil {
		t.Error("a shape holds 10,000 keys")
	}
}
