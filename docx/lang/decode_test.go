package lang_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"platen/docx/lang"
)

// plain returns a decoded value as encoding/json would give it.
func plain(v lang.Value) any {
	switch v := v.(type) {
	case *lang.Object:
		m := map[string]any{}
		for key, value := range v.All() {
			m[key] = plain(value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	}
	return v
}

func TestDecode(t *testing.T) {
	got, err := lang.Decode([]byte("\uFEFF \n{\"a\": [1.50, \"x\", null, true, {}], \"a\\u0062\": 2} \r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a":  []any{json.Number("1.50"), "x", nil, true, map[string]any{}},
		"ab": json.Number("2"),
	}
	if diff := cmp.Diff(want, plain(got)); diff != "" {
		t.Error(diff)
	}
}

func TestObject(t *testing.T) {
	for _, large := range []int{0, 1000} {
		text, want := `{"b":2,"a":null,"":3`, []string{"b", "a", ""}
		for i := range large {
			text += fmt.Sprintf(`,"k%d":%d`, i, -i)
			want = append(want, fmt.Sprintf("k%d", i))
		}
		v, err := lang.Decode([]byte(`{"list":[` + text + `},` + text + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range get(v, "list").([]any) {
			o := item.(*lang.Object)
			var keys []string
			for key, value := range o.All() {
				keys = append(keys, key)
				if o.Get(key) != value || !o.Has(key) {
					t.Errorf("%q is %v, found as %v", key, value, o.Get(key))
				}
			}
			if diff := cmp.Diff(want, keys); diff != "" || o.Len() != len(want) {
				t.Errorf("%d keys: %s", o.Len(), diff)
			}
			if o.Get("b") != json.Number("2") || o.Get("none") != nil || o.Has("none") || !o.Has("a") {
				t.Errorf("b is %v, none is %v", o.Get("b"), o.Get("none"))
			}
		}
	}
	var empty lang.Object
	if empty.Len() != 0 || empty.Has("") || empty.Get("") != nil {
		t.Error("the zero object is not empty")
	}
}

func TestDecodeTakesItsMemoryInBlocks(t *testing.T) {
	data := rows(1000)
	n := testing.AllocsPerRun(5, func() {
		if _, err := lang.Decode(data); err != nil {
			t.Fatal(err)
		}
	})
	if n > 100 {
		t.Errorf("%v allocations for 5000 values", n)
	}
}

func TestDecodeErrors(t *testing.T) {
	deep := strings.Repeat(`{"a":`, lang.MaxDepth-1)
	for _, c := range []struct {
		data         string
		line, column int
		message      string
	}{
		{"", 1, 1, "the input is empty; it must be an object, in { }"},
		{"{\n\"a\": [1", 2, 8, "the text ends too early; a comma or ] is needed after a value of the list"},
		{`{"a": "b`, 1, 9, "the text ends too early"},
		{`{"a": "\u00`, 1, 12, "the text ends too early"},
		{`{"a": tru`, 1, 7, `"tru" is not a value; put text in double quotes, which only true, false, and null do not need`},
		{"{\n  \"é\": x}", 2, 8, `"x" is not a value; put text in double quotes, which only true, false, and null do not need`},
		{`{"a": 'x'}`, 1, 7, `strings are enclosed in straight double quotes ("), not in "'"`},
		{`{“a”: 1}`, 1, 2, `a key in straight double quotes is needed, not '“'`},
		{`{a: 1}`, 1, 2, `a key in straight double quotes is needed, not 'a'`},
		{`{"a" 1}`, 1, 6, "a colon is needed between a key and its value, not '1'"},
		{`{"a": 1 "b": 2}`, 1, 9, `a comma or } is needed after a value of the object, not '"'`},
		{`{"a": [1 2]}`, 1, 10, "a comma or ] is needed after a value of the list, not '2'"},
		{`{"a": [1,]}`, 1, 10, "a value is missing before ']'"},
		{`{"a": 1,}`, 1, 9, "remove the comma before the } that ends the object"},
		{`{"a": 1, // one`, 1, 10, "a key in straight double quotes is needed, not '/'"},
		{`{"a": // one`, 1, 7, "JSON has no comments"},
		{`{"a": +1}`, 1, 7, "a number begins with a digit or a minus sign, not with '+'"},
		{`{"a": 007}`, 1, 7, "a number cannot have leading zeros; remove them, or write it as text in double quotes"},
		{`{"a": -x}`, 1, 8, "a digit is needed after the minus sign, not 'x'"},
		{`{"a": 1.}`, 1, 9, "a digit is needed after the decimal point, not '}'"},
		{`{"a": 1e}`, 1, 9, "a digit is needed in the exponent, not '}'"},
		{"{\"a\": \"x\ny\"}", 1, 9, `the string contains a line break; write it as \n, or close the string with a quote`},
		{"{\"a\": \"x\ty\"}", 1, 9, `the string contains a control character; write it as \u0009`},
		{`{"a": "C:\dir"}`, 1, 10, `write a backslash in a string as \\; a single one may only precede " \ / b f n r t u`},
		{`{"a": "\u12x4"}`, 1, 8, `\u must be followed by four hexadecimal digits`},
		{"{\"a\": \xff}", 1, 7, "a value cannot begin with the byte 0xff, which is not UTF-8"},
		{"{\"a\": \"Bj\xf6rn\"}", 1, 10, "the byte 0xf6 is not UTF-8; save the data as UTF-8"},
		{"{\"Bj\xf6rn\": 1}", 1, 5, "the byte 0xf6 is not UTF-8; save the data as UTF-8"},
		{`{"a": "x\uD83D"}`, 1, 9, "this is half of a surrogate pair, which is not a character"},
		{`{"a": "x\ude00y"}`, 1, 9, "this is half of a surrogate pair, which is not a character"},
		{`{"a": 1, "b": 2, "\u0061": 3}`, 1, 18, `the object has the key "a" twice`},
		{`{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0,"11":0,"12":0,"13":0,"14":0,"13":{}}`, 1, 91,
			`the object has the key "13" twice`},
		{" []", 1, 2, "the input must be an object, in { }"},
		{"null", 1, 1, "the input must be an object, in { }"},
		{"{}\n {}", 2, 2, "unexpected text after the end of the object"},
		{"{\n]", 2, 1, "a key in straight double quotes is needed, not ']'"},
		{"\n" + deep + `["\"]", [1]]`, 2, len(deep) + len(`["\"]", [`), "objects and lists nest more than 200 deep"},
	} {
		t.Run(c.data[:min(len(c.data), 20)], func(t *testing.T) {
			v, err := lang.Decode([]byte(c.data))
			got, ok := errors.AsType[*lang.DataError](err)
			if !ok || v != nil {
				t.Fatalf("got %v, %v", v, err)
			}
			if diff := cmp.Diff(lang.DataError{Line: c.line, Column: c.column, Message: c.message}, *got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := lang.Decode([]byte("{\n]")); err == nil || !strings.HasPrefix(err.Error(), "input data, line 2, column 1: a key ") {
		t.Errorf("got %v", err)
	}
	if _, err := lang.Decode([]byte(deep + "[1]" + strings.Repeat("}", lang.MaxDepth-1))); err != nil {
		t.Errorf("as deep as allowed: %v", err)
	}
}

// FuzzDecode checks that exactly what jsontext accepts is accepted, an object at the top and the depth aside, that it gives the same as
// encoding/json, and that errors point into the text.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		order, `{"a":[{"b":1e5},[]],"":{}}`, "{}x", "[", `{"a":1e99999999999}`, "\uFEFF{}",
		"{\"\\ud83d\\ude00\\ud83d\\u0061\\udead\":\"\xff\\n\u2028\\/\"}",
		`{"a":[{"x":1,"y":2},{"x":1,"x":3,"y":2},{"y":1},{"x\n":1},{"x\u0022:1":2},{"x\":1":2}]}`, `{"a":-0.0e-0,"b":01}`,
		"{\"a\xc3\":1,\"a\ufffd\":2}",
		`{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0,"11":0,"12":0,"13":0,"1":1,"14":0,"13":{"1":{}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := lang.Decode(data)
		var want any
		d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\uFEFF"))))
		d.UseNumber()
		valid := jsontext.Value(bytes.TrimPrefix(data, []byte("\uFEFF"))).IsValid() && d.Decode(&want) == nil
		_, object := want.(map[string]any)
		if err != nil {
			at, ok := errors.AsType[*lang.DataError](err)
			if !ok || at.Line < 1 || at.Column < 1 || at.Column > len(data)+1 || v != nil {
				t.Fatalf("%#v", err)
			}
			if valid && object && !strings.HasPrefix(at.Message, "objects and lists nest ") {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if !valid || !object {
			t.Fatalf("accepted: %q", data)
		}
		if diff := cmp.Diff(want, plain(v)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzData checks that anything that is accepted can be printed and reported on.
func FuzzData(f *testing.F) {
	for _, s := range []string{order, `{"a":[{"b":1e5},[]],"":{}}`, `{"a":1e99999999999}`} {
		f.Add([]byte(s))
	}
	tags := []*lang.Tag{parse(f, `{{a.b * 2 + $sum(a) :: default(a[0]) :: delimiter("")}}`), parse(f, `{{for x in a.b}}`)}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := lang.Decode(data)
		if err != nil {
			return
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
