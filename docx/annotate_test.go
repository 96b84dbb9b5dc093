package docx_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"platen/docx"
)

// annotate returns the parts of the document with comments at what is wrong with it.
func annotate(t *testing.T, parts map[string]string) map[string]string {
	t.Helper()
	file := build(t, parts)
	_, err := parse(file)
	problems, ok := errors.AsType[docx.Errors](err)
	if !ok {
		t.Fatalf("Parse = %v, want Errors", err)
	}
	var out bytes.Buffer
	if err := docx.Annotate(&out, bytes.NewReader(file), int64(len(file)), problems); err != nil {
		t.Fatal(err)
	}
	for _, problem := range check(out.Bytes()) {
		t.Errorf("the copy is unsound: %v", problem)
	}
	return unpack(t, out.Bytes())
}

func TestAnnotatePutsACommentAtEachProblem(t *testing.T) {
	out := annotate(t, map[string]string{
		"document.xml": `<w:p><w:pPr><w:jc w:val="left"/></w:pPr><w:r><w:t>Fine {{a}}</w:t></w:r></w:p><w:p><w:r><w:t>Bad {{a ` +
			`+}}</w:t></w:r></w:p>` +
			`<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>{{endif}}</w:t></w:r></w:p></w:txbxContent></v:textbox>` +
			`</v:shape></w:pict></w:r></w:p>`,
		"header1.xml": `<w:p><w:r><w:t>{{ :: x}}</w:t></w:r></w:p>`,
	})
	body := out["word/document.xml"]
	for _, want := range []string{
		`<w:p><w:pPr><w:jc w:val="left"/></w:pPr><w:commentRangeStart w:id="2"/><w:r><w:t>Fine {{a}}</w:t></w:r><w:commentRangeEnd w:id="2"/>`,
		`<w:p><w:commentRangeStart w:id="0"/><w:r><w:t>Bad {{a +}}</w:t></w:r><w:commentRangeEnd w:id="0"/><w:r><w:commentReference ` +
			`w:id="0"/></w:r></w:p>`,
		`<w:p><w:commentRangeStart w:id="1"/><w:r><w:pict>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the document lacks %s:\n%s", want, body)
		}
	}
	comments := out["word/comments.xml"]
	for _, want := range []string{"{{a +}}", "{{endif}}", "this closes a block that is not open", "the header: "} {
		if !strings.Contains(comments, want) {
			t.Errorf("the comments lack %q:\n%s", want, comments)
		}
	}
}

func TestAnnotateKeepsTheCommentsThatAreThere(t *testing.T) {
	out := annotate(t, map[string]string{
		"document.xml": `<w:p><w:commentRangeStart w:id="4"/><w:r><w:t>{{endif}}</w:t></w:r><w:commentRangeEnd ` +
			`w:id="4"/><w:r><w:commentReference w:id="4"/></w:r></w:p>`,
		"comments.xml": `<w:comment w:id="4" w:author="A"><w:p><w:r><w:t>mine</w:t></w:r></w:p></w:comment>`,
	})
	if got := out["word/comments.xml"]; !strings.Contains(got, "mine") || !strings.Contains(got, `w:id="5" w:author="Platen"`) {
		t.Errorf("the comments are %s", got)
	}
}
