package docx_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"platen/docx"
)

// In a PDF that LibreOffice makes, the entries of tables of contents have the pages of their headings.
func TestOfficeNumbersPages(t *testing.T) {
	run := otherPrograms(t, "soffice", "pdftotext")
	field := func(code, result string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>` + code +
			`</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>` +
			result + `<w:r><w:fldChar w:fldCharType="end"/></w:r>`
	}
	heading := func(style, text string) string {
		return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	const old = `<w:r><w:t>Chapter</w:t></w:r><w:r><w:tab/></w:r><w:r><w:t>7</w:t></w:r>`
	parts := map[string]string{
		"document.xml": `<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of ` +
			`Contents"/></w:docPartObj></w:sdtPr><w:sdtContent><w:p>` + field(`TOC \o "1-2" \h`, old) + `</w:p></w:sdtContent></w:sdt>` +
			`<w:p>` + field(`TOC \o "1-1"`, old+`</w:p><w:p>`) + `</w:p>` +
			`<w:p><w:r><w:t>{{for c in chapters}}</w:t></w:r></w:p><w:p><w:r><w:br w:type="page"/></w:r></w:p>` +
			heading("H1", "{{c}}") + heading("H2", "About {{c}}") + `<w:p><w:r><w:t>{{endfor}}</w:t></w:r></w:p>`,
		"styles.xml": `<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style><w:style w:type="paragraph" ` +
			`w:styleId="H2"><w:name w:val="heading 2"/></w:style>`,
	}
	tpl, err := parse(build(t, parts))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := tpl.Execute(t.Context(), &out, decode(t, `{"chapters":["Rome","Paris"]}`), docx.Options{ForPDF: true}); err != nil {
		t.Fatal(err)
	}
	for _, problem := range check(out.Bytes()) {
		t.Errorf("the output is unsound: %v", &problem)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "toc.docx"), out.Bytes())
	run("soffice", "--headless", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--convert-to", "pdf", "--outdir", dir,
		filepath.Join(dir, "toc.docx"))
	got := regexp.MustCompile(`(?m)^.+ [0-9–]$`).FindAllString(run("pdftotext", "-layout", filepath.Join(dir, "toc.pdf"), "-"), -1)
	for i, line := range got {
		got[i] = words(line)
	}
	if want := []string{"Rome 2", "About Rome 2", "Paris 3", "About Paris 3", "Rome 2", "Paris 3"}; !slices.Equal(got, want) {
		t.Errorf("the tables of contents read %q, want %q", got, want)
	}
}
