package lang

import (
	"slices"
	"testing"
)

func TestFileNamed(t *testing.T) {
	files := []string{"a.docx", "x/b.docx", "y/b.docx", "x/c.docx", "c", "d.docm"}
	for name, want := range map[string]int{
		"a.docx": 0, "a": 0, "A": -1, "": -1, "b": -1, "b.docx": -1, "x/b": 1, "y/b.docx": 2,
		"c": 4, "c.docx": 3, "x/c": 3, "d": -1, "d.docm": 5, "docx": -1, "x/": -1,
	} {
		if got := fileNamed(files, name); got != want {
			t.Errorf("%q: file %d, want %d", name, got, want)
		}
	}
	for _, name := range spellings(files) {
		if fileNamed(files, name) < 0 {
			t.Errorf("%q is a spelling of no file", name)
		}
	}
	if got, want := spellings([]string{"x/a.docx", "a.docx"}), []string{"x/a.docx", "a.docx", "x/a"}; !slices.Equal(got, want) {
		t.Errorf("the spellings are %q, want %q", got, want)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		tag, data string
		missing   Missing
		file      int
		stays     bool
		errors    int
	}{
		{`{{include a :: oneof("x.docx", "y.docx")}}`, `{"a": "y"}`, MissingTag, 1, false, 0},
		{`{{include a :: lowercase :: oneof("x.docx", "y.docx")}}`, `{"a": "Y.DOCX"}`, MissingTag, 1, false, 0},
		{`{{include a :: oneof("x.docx") :: default("x")}}`, `{}`, MissingTag, 0, false, 0},
		{`{{include $string("f/", a) :: oneof("f/x.docx")}}`, `{"a": "x"}`, MissingTag, 0, false, 0},
		{`{{include a :: oneof("x.docx")}}`, `{"a": ""}`, MissingTag, -1, false, 0},
		{`{{include a :: oneof("x.docx") :: optional}}`, `{}`, MissingTag, -1, false, 0},
		{`{{include a :: oneof("x.docx")}}`, `{}`, MissingBlank, -1, false, 0},
		{`{{include a :: oneof("x.docx")}}`, `{}`, MissingTag, -1, true, 1},
		{`{{include a :: oneof("x.docx")}}`, `{"a": "z"}`, MissingBlank, -1, true, 1},
		{`{{include a :: oneof("x.docx")}}`, `{"a": 1}`, MissingTag, -1, true, 1},
		{`{{include a :: oneof("x.docx")}}`, `{"a": ["x"]}`, MissingTag, -1, true, 1},
	} {
		tag, err := ParseTag(c.tag)
		if err != nil {
			t.Fatal(err)
		}
		data, err := Decode([]byte(c.data))
		if err != nil {
			t.Fatal(err)
		}
		e := NewEnv(data, Options{Missing: c.missing})
		file, stays, err := e.Choose(tag)
		if err != nil || file != c.file || stays != c.stays || len(e.Errors()) != c.errors {
			t.Errorf("%s of %s: file %d, stays %v, errors %q, %v", c.tag, c.data, file, stays, e.Errors(), err)
		}
	}
}
