package lang_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docx/lang"
)

func TestDecode(t *testing.T) {
	got, err := lang.Decode([]byte("\uFEFF \n{\"a\": [1.50, \"x\", null, true, {}], \"a\\u0062\": 1, \"ab\": 2} \r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a":  []any{json.Number("1.50"), "x", nil, true, map[string]any{}},
		"ab": json.Number("2"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeErrors(t *testing.T) {
	deep := strings.Repeat(`{"a":`, lang.MaxDepth-1)
	for _, c := range []struct {
		name, data string
		want       lang.DataError
	}{
		{"empty", "", lang.DataError{Line: 1, Column: 1, Message: "the text ends too early"}},
		{"cut off", "{\n\"a\": [1", lang.DataError{Line: 2, Column: 8, Message: "the text ends too early"}},
		{"bad value", "{\n  \"é\": x}", lang.DataError{Line: 2, Column: 8, Message: "invalid character 'x' looking for beginning of value"}},
		{"list at the top", " []", lang.DataError{Line: 1, Column: 2, Message: "the input must be an object, in { }"}},
		{"null at the top", "null", lang.DataError{Line: 1, Column: 1, Message: "the input must be an object, in { }"}},
		{"more behind", "{}\n {}", lang.DataError{Line: 2, Column: 2, Message: "more text behind the end of the object"}},
		{"too deep", "\n" + deep + `["\"]", [1]]`, lang.DataError{
			Line: 2, Column: len(deep) + len(`["\"]", [`), Message: "more than 200 objects and lists in each other"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := lang.Decode([]byte(c.data))
			got, ok := errors.AsType[*lang.DataError](err)
			if !ok || v != nil {
				t.Fatalf("got %v, %v", v, err)
			}
			if diff := cmp.Diff(c.want, *got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := lang.Decode([]byte("{\n]")); err == nil ||
		err.Error() != "input data, line 2, column 1: invalid character ']' looking for beginning of object key string" {
		t.Errorf("got %v", err)
	}
	if _, err := lang.Decode([]byte(deep + "[1]" + strings.Repeat("}", lang.MaxDepth-1))); err != nil {
		t.Errorf("as deep as allowed: %v", err)
	}
}

// FuzzDecode checks that what is accepted is JSON with an object at the top, that errors point into the text, and that
// anything accepted can be printed and reported on.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{order, `{"a":[{"b":1e5},[]],"":{}}`, "{}x", "[", `{"a":1e99999999999}`, "\uFEFF{}"} {
		f.Add([]byte(s))
	}
	tags := []*lang.Tag{parse(f, `{{a.b * 2 + $sum(a) :: default(a[0]) :: delimiter("")}}`), parse(f, `{{for x in a.b}}`)}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := lang.Decode(data)
		if err != nil {
			at, ok := errors.AsType[*lang.DataError](err)
			if !ok || at.Line < 1 || at.Column < 1 || at.Column > len(data)+1 {
				t.Fatalf("%#v", err)
			}
			return
		}
		if _, ok := v.(map[string]any); !ok || !json.Valid([]byte(strings.TrimPrefix(string(data), "\uFEFF"))) {
			t.Fatalf("accepted as %T", v)
		}
		e := lang.NewEnv(v, lang.Options{Use: new(lang.Use)})
		if _, _, err := e.Print(tags[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := e.List(tags[1]); err != nil {
			t.Fatal(err)
		}
		e.Warnings()
	})
}
