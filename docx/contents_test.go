package docx_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/compile/compiletest"
)

// documentWithContents has an old table of contents, and a tag.
func documentWithContents(t *testing.T, tag, settings string) []byte {
	t.Helper()
	files := unpack(t, build(t, map[string]string{
		"document.xml": `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC \o "1-1" </w:instrText></w:r>` +
			`<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>Old</w:t></w:r></w:p><w:p><w:r><w:fldChar w:fldCharType="end"/>` +
			`</w:r></w:p><w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>New ` + tag + `</w:t></w:r></w:p>`,
		"styles.xml": `<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>`,
	}))
	files["word/settings.xml"] = `<w:settings ` + compiletest.Namespaces + `>` + settings + `</w:settings>`
	files["[Content_Types].xml"] = strings.Replace(files["[Content_Types].xml"], "</Types>", `<Override PartName="/word/settings.xml" `+
		`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml"/></Types>`, 1)
	files["word/_rels/document.xml.rels"] = strings.Replace(files["word/_rels/document.xml.rels"], "</Relationships>",
		`<Relationship Id="rIdS" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/settings" `+
			`Target="settings.xml"/></Relationships>`, 1)
	return compiletest.Pack(t, files)
}

var anEntry = regexp.MustCompile(`<w:t xml:space="preserve">New[^<]*</w:t></w:r><w:r><w:tab/>`)

// Tables of contents are rewritten in templates with tags, in documents whose settings ask for it, and on demand.
func TestContents(t *testing.T) {
	const updates = `<w:updateFields w:val="true"/>`
	for name, c := range map[string]struct {
		tag, settings string
		contents      docx.Contents
		want          bool
	}{
		"with a tag":             {"{{a}}", "", docx.ContentsAuto, true},
		"with a tag, kept":       {"{{a}}", updates, docx.ContentsKeep, false},
		"without tags":           {"", "", docx.ContentsAuto, false},
		"the settings ask":       {"", updates, docx.ContentsAuto, true},
		"the settings ask not":   {"", `<w:updateFields w:val="0"/>`, docx.ContentsAuto, false},
		"the settings are empty": {"", `<w:updateFields/>`, docx.ContentsAuto, true},
		"on demand":              {"", "", docx.ContentsUpdate, true},
		"kept":                   {"", updates, docx.ContentsKeep, false},
	} {
		t.Run(name, func(t *testing.T) {
			file := documentWithContents(t, c.tag, c.settings)
			tpl, err := docx.ParseWith(t.Context(), bytes.NewReader(file), int64(len(file)), docx.ParseOptions{Contents: c.contents})
			if err != nil {
				t.Fatal(err)
			}
			out, _ := execute(t, tpl, decode(t, `{"a": "A"}`))
			document := unpack(t, out)["word/document.xml"]
			if got := anEntry.MatchString(document); got != c.want {
				t.Errorf("the table was rewritten: %v, want %v\n%s", got, c.want, document)
			}
		})
	}
}

// A document that is only converted keeps its tags as text.
func TestUpdateContents(t *testing.T) {
	file := documentWithContents(t, "{{a}} {{if}}", "")
	for contents, want := range map[docx.Contents]bool{docx.ContentsAuto: false, docx.ContentsUpdate: true, docx.ContentsKeep: false} {
		out, err := docx.UpdateContents(t.Context(), file, contents)
		if err != nil {
			t.Fatal(err)
		}
		document := unpack(t, out)["word/document.xml"]
		if strings.Contains(document, "Old") == want || want != strings.Contains(document, `New {{a}} {{if}}</w:t></w:r><w:r><w:tab/>`) {
			t.Errorf("contents %v: %s", contents, document)
		}
		if !want && !bytes.Equal(out, file) {
			t.Errorf("contents %v: the file was changed", contents)
		}
	}
	if _, err := docx.UpdateContents(t.Context(), []byte("no document"), docx.ContentsUpdate); err == nil {
		t.Error("a file that is not a document has no error")
	}
}
