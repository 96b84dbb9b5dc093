package fonts

import (
	"bytes"
	"testing"

	"platen/docx/style/styletest"
)

// FuzzRead checks that any text is read, and that every character that needs a glyph is in exactly one font.
func FuzzRead(f *testing.F) {
	f.Add(styletest.Paragraph("", styletest.Run(four, "aé中")), styletest.Style("paragraph", "P", "P", styletest.Styled("X")))
	f.Add(`<w:tbl><w:tblPr><w:tblStyle w:val="T"/></w:tblPr>`+
		styletest.Paragraph(`<w:numPr><w:numId w:val="1"/></w:numPr><w:pStyle w:val="P"/>`,
			`<w:r><w:sym w:font="X" w:char="F041"/><w:t>&#x41;<![CDATA[x]]>`), "<w:rPrDefault><w:rPr>"+four)
	f.Add(`<mc:AlternateContent><mc:Choice Requires="wps"><w:p/><mc:Fallback xmlns:w="urn:x">`+
		`<y:t xmlns:y="http://schemas.openxmlformats.org/officeDocument/2006/relationships/">`,
		`<w:style w:styleId="P" w:type="paragraph" w:default="1"><w:basedOn w:val="Q"/></w:style><w:style w:styleId="Q">`+
			`<w:basedOn w:val="P"/></w:style>`)
	empty := styletest.Parts{"document": "", "styles": ""}.Docx(f, nil)
	f.Fuzz(func(t *testing.T, document, styles string) {
		docx := styletest.Replace(t, styletest.Replace(t, empty, "word/document.xml", `<w:document `+styletest.Namespaces+`><w:body>`+
			document), "word/styles.xml", `<w:styles `+styletest.Namespaces+`>`+styles)
		d, err := Read(bytes.NewReader(docx), int64(len(docx)))
		if err != nil {
			return
		}
		for _, font := range d.Fonts() {
			for r := range font.Characters.All() {
				if !visible(r) {
					t.Errorf("%q needs no glyph", r)
				}
			}
		}
	})
}

func TestSet(t *testing.T) {
	var s Set
	for _, r := range "ba中\U0001F600\U0010FFFFab\x00" {
		s.Add(r)
	}
	if got := s.String(); got != "\x00ab中\U0001F600\U0010FFFF" || s.Len() != 6 || !s.Has('中') || s.Has('c') || s.Has(0x4E00) {
		t.Errorf("the set is %q of %d", got, s.Len())
	}
	for range s.All() {
		break
	}
}
