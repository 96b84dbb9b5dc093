package expect_test

import (
	"strings"
	"testing"

	"platen/docx/compile/compiletest"
	"platen/docx/expect"
	"platen/ooxml/ooxmltest"
)

// Settings, page backgrounds, and inserted files count if a reader notices them.
func TestCompareOfSettings(t *testing.T) {
	const on = `<w:displayBackgroundShape/>`
	type parts struct{ settings, background, chunk string }
	for name, test := range map[string]struct {
		want, got parts
		found     string // part of the differences
	}{
		"none":             {parts{}, parts{}, "none"},
		"even pages":       {parts{}, parts{settings: `<w:evenAndOddHeaders/>`}, "got:  different even pages"},
		"off":              {parts{}, parts{settings: `<w:evenAndOddHeaders w:val="0"/><w:mirrorMargins w:val="false"/>`}, "none"},
		"mirrored margins": {parts{settings: `<w:mirrorMargins/>`}, parts{}, "want: mirrored margins"},
		"gutter":           {parts{}, parts{settings: `<w:gutterAtTop/>`}, "gutter at the top"},
		"tab stops":        {parts{}, parts{settings: `<w:defaultTabStop w:val="2000"/>`}, "default tab stops 2000"},
		"usual tab stops":  {parts{}, parts{settings: `<w:defaultTabStop w:val="720"/>`}, "none"},
		"hyphenation": {
			parts{}, parts{settings: `<w:autoHyphenation/><w:hyphenationZone w:val="425"/>`}, "hyphenation, hyphenation zone 425",
		},
		"its details only": {parts{}, parts{settings: `<w:hyphenationZone w:val="425"/>`}, "none"},
		"protection":       {parts{}, parts{settings: `<w:documentProtection w:edit="forms" w:enforcement="1"/>`}, "protected: only forms"},
		"no enforcement":   {parts{}, parts{settings: `<w:documentProtection w:edit="forms" w:enforcement="0"/>`}, "none"},
		"footnotes":        {parts{}, parts{settings: `<w:footnotePr><w:numFmt w:val="chicago"/></w:footnotePr>`}, "footnote numbers chicago"},
		"Word's own":       {parts{}, parts{settings: `<w:zoom w:percent="50"/><w:compat/><w:rsids/><w:trackRevisions/>` + on}, "none"},
		"background":       {parts{settings: on}, parts{on, `<w:background w:color="ff0000"/>`, ""}, "page background FF0000"},
		"one not shown":    {parts{}, parts{background: `<w:background w:color="FF0000"/>`}, "none"},
		"gradient": {
			parts{on, `<w:background w:color="FF0000"/>`, ""},
			parts{on, `<w:background w:color="FF0000"><v:background><v:fill type="gradient" color2="#00F"/></v:background></w:background>`, ""},
			"fill gradient #00F",
		},
		"inserted file":    {parts{}, parts{chunk: "text"}, "added: /word/document.xml, the document: This embedded file"},
		"another one":      {parts{chunk: "text"}, parts{chunk: "other"}, "The format of the embedded file differs."},
		"the same content": {parts{chunk: "text"}, parts{chunk: "text"}, "none"},
	} {
		of := func(p parts) []expect.Line {
			return outline(t, rewrite(t, document(t, `<w:p><w:r><w:t>text</w:t></w:r></w:p>`), p.settings, p.background, p.chunk))
		}
		if got := formatDifferences(expect.Compare(of(test.want), of(test.got))); !strings.Contains(got, test.found) {
			t.Errorf("%s: the differences are\n%s", name, got)
		}
	}
}

// rewrite adds settings, a page background, and a text file that Word inserts at the end to a document.
func rewrite(t *testing.T, file []byte, settings, background, chunk string) []byte {
	t.Helper()
	files := ooxmltest.Unpack(t, file)
	files["word/settings.xml"] = `<w:settings ` + compiletest.Namespaces + `>` + settings + `</w:settings>`
	insert(files, "word/_rels/document.xml.rels", "</Relationships>",
		`<Relationship Id="rIdS" Type="`+relationship+`settings" Target="settings.xml"/>`)
	insert(files, "word/document.xml", "<w:body>", background)
	if chunk != "" {
		files["word/chunk.txt"] = chunk
		insert(files, "[Content_Types].xml", "<Override", `<Default Extension="txt" ContentType="text/plain"/>`)
		insert(files, "word/_rels/document.xml.rels", "</Relationships>",
			`<Relationship Id="rIdC" Type="`+relationship+`aFChunk" Target="chunk.txt"/>`)
		insert(files, "word/document.xml", "</w:body>", `<w:altChunk r:id="rIdC"/>`)
	}
	return compiletest.Pack(t, files)
}
