package fonts

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"platen/docx/style/styletest"

	"github.com/google/go-cmp/cmp"
)

// XML that the tests' documents share.
const (
	four = `<w:rFonts w:ascii="A" w:hAnsi="H" w:eastAsia="E" w:cs="C"/>`
)

// read reads a document that must be valid.
func read(t testing.TB, docx []byte) *Document {
	t.Helper()
	d, err := Read(bytes.NewReader(docx), int64(len(docx)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFontsOfRuns(t *testing.T) {
	const normal = `<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:rPr><w:rFonts w:ascii="Normal" ` +
		`w:hAnsi="Normal"/></w:rPr></w:style>`
	tests := []struct {
		name  string
		parts styletest.Parts
		want  map[string]string // the characters of each font
	}{
		{"nothing is said", styletest.Parts{"document": styletest.Paragraph("", `<w:r><w:t>ab é 中</w:t></w:r>`)},
			map[string]string{"Times New Roman": "abé中"}},
		{"by kind of character", styletest.Parts{"document": styletest.Paragraph("", styletest.Run(four, "aé–中אش\U0001F600"))},
			map[string]string{"A": "aאش", "H": "é–", "E": "中\U0001F600"}},
		{"a hint", styletest.Parts{"document": styletest.Paragraph("",
			styletest.Run(`<w:rFonts w:ascii="A" w:hAnsi="H" w:eastAsia="E" w:hint="eastAsia"/>`, "a“×éβ"))},
			map[string]string{"A": "a", "H": "é", "E": "×β“"}},
		{"a hint in Chinese", styletest.Parts{"document": styletest.Paragraph("",
			styletest.Run(`<w:rFonts w:ascii="A" w:hAnsi="H" w:eastAsia="E" w:hint="eastAsia"/><w:lang w:eastAsia="zh-CN"/>`, "aéāö"))},
			map[string]string{"A": "a", "H": "ö", "E": "éā"}},
		{"a complex script", styletest.Parts{"document": styletest.Paragraph("", styletest.Run(four+`<w:rtl/>`, "aب")+styletest.Run(four+
			`<w:cs/>`, "é")+styletest.Run(four+`<w:rtl w:val="0"/>`, "b"))}, map[string]string{"A": "b", "C": "aéب"}},
		{"Times New Roman is no font of East Asia",
			styletest.Parts{"document": styletest.Paragraph("",
				styletest.Run(`<w:rFonts w:ascii="A" w:hAnsi="A" w:eastAsia="Times New Roman" w:hint="eastAsia"/>`, "a“中"))},
			map[string]string{"A": "a“中"}},
		{"the theme", styletest.Parts{"theme": styletest.Theme, "styles": styletest.Defaults,
			"document": styletest.Paragraph("", `<w:r><w:t>a中</w:t></w:r>`+styletest.Run(`<w:rFonts w:asciiTheme="majorAscii" w:ascii="X"/>`,
				"b")+styletest.Run(`<w:rtl/>`, "ב"))},
			map[string]string{"Minor": "a", "Major": "b", "MinorComplex": "ב", "Times New Roman": "中"}},
		{"the theme's languages", styletest.Parts{"theme": styletest.Theme,
			"settings": `<w:themeFontLang w:val="en-US" w:eastAsia="ja-JP" w:bidi="ar-SA"/>`, "styles": styletest.Defaults,
			"document": styletest.Paragraph("", `<w:r><w:t>中</w:t></w:r>`+styletest.Run(`<w:rFonts w:cstheme="majorBidi"/><w:rtl/>`, "ش"))},
			map[string]string{"MinorJapanese": "中", "MajorArabic": "ش"}},
		{"Korean", styletest.Parts{"theme": styletest.Theme, "settings": `<w:themeFontLang w:eastAsia="ko-KR"/>`,
			"styles": styletest.Defaults, "document": styletest.Paragraph("", `<w:r><w:t>한</w:t></w:r>`)}, map[string]string{"MinorKorean": "한"}},
		{"Chinese of Taiwan", styletest.Parts{"theme": styletest.Theme, "settings": `<w:themeFontLang w:eastAsia="zh-TW"/>`,
			"styles": styletest.Defaults, "document": styletest.Paragraph("", `<w:r><w:t>中</w:t></w:r>`)}, map[string]string{"MinorTaiwan": "中"}},
		{"a named font goes before the theme of the defaults", styletest.Parts{"theme": styletest.Theme, "styles": styletest.Defaults,
			"document": styletest.Paragraph("", styletest.Run(styletest.Face("X"), "a"))}, map[string]string{"X": "a"}},
		{"styles", styletest.Parts{"styles": normal + styletest.Style("paragraph", "P", "N", "") + styletest.Style("paragraph", "Q", "P",
			styletest.Styled("Q")) + styletest.Style("character", "C", "", styletest.Styled("C")) + styletest.Style("character", "D", "C", ""),
			"document": styletest.Paragraph("", styletest.Run("", "a")) + styletest.Paragraph(`<w:pStyle w:val="P"/>`,
				styletest.Run("", "b")) + styletest.Paragraph(`<w:pStyle w:val="Q"/>`,
				styletest.Run("", "c")+styletest.Run(`<w:rStyle w:val="D"/>`, "d")+styletest.Run(`<w:rStyle w:val="D"/>`+styletest.Face("X"),
					"e")) + styletest.Paragraph(`<w:pStyle w:val="gone"/>`, styletest.Run("", "f"))},
			map[string]string{"Normal": "abf", "Q": "c", "C": "d", "X": "e"}},
		{"a style based on itself", styletest.Parts{"styles": styletest.Style("paragraph", "P", "Q", styletest.Styled("P")) +
			styletest.Style("paragraph", "Q", "P", ""), "document": styletest.Paragraph(`<w:pStyle w:val="Q"/>`, styletest.Run("", "a"))},
			map[string]string{"P": "a"}},
		{"tables", styletest.Parts{"styles": styletest.Style("table", "T", "S", "") + styletest.Style("table", "S", "",
			styletest.Styled("T")), "document": `<w:tbl><w:tblPr><w:tblStyle w:val="T"/></w:tblPr><w:tr><w:tc>` +
			styletest.Paragraph("", styletest.Run("", "a")) + `</w:tc></w:tr></w:tbl>` + styletest.Paragraph("", styletest.Run("", "b"))},
			map[string]string{"T": "a", "Times New Roman": "b"}},
		{"hidden text", styletest.Parts{"styles": styletest.Style("paragraph", "P", "", `<w:rPr><w:vanish/></w:rPr>`) +
			styletest.Style("character", "C", "", `<w:rPr><w:vanish/></w:rPr>`),
			"document": styletest.Paragraph(`<w:pStyle w:val="P"/>`, styletest.Run(styletest.Face("X"), "a")+
				styletest.Run(`<w:rStyle w:val="C"/>`+styletest.Face("Y"), "b")+styletest.Run(styletest.Face("Z")+`<w:vanish w:val="false"/>`,
				"c")) + styletest.Paragraph("", styletest.Run(styletest.Face("X")+`<w:vanish/>`, "d"))},
			map[string]string{"Y": "b", "Z": "c"}},
		{"capitals", styletest.Parts{"document": styletest.Paragraph("", styletest.Run(styletest.Face("X")+`<w:caps/>`, "aß")+
			styletest.Run(styletest.Face("Y")+`<w:smallCaps/>`, "é"))}, map[string]string{"X": "Aß", "Y": "É"}},
		{"blanks ask for nothing", styletest.Parts{"document": styletest.Paragraph("",
			styletest.Run(styletest.Face("X"), " \u00A0\u200B\u200D\u00AD")+`<w:r><w:rPr>`+styletest.Face("Y")+
				`</w:rPr><w:tab/><w:br/></w:r>`)}, map[string]string{}},
		{"entities and CDATA", styletest.Parts{"document": styletest.Paragraph("", styletest.Run(styletest.Face("X"), "&lt;&#xE9;&#65;")+
			styletest.Run(styletest.Face("Y"), "<![CDATA[&x]]>"))}, map[string]string{"X": "<Aé", "Y": "&x"}},
		{"marks are put together", styletest.Parts{"document": styletest.Paragraph("", styletest.Run(styletest.Face("X"), "e\u0301"))},
			map[string]string{"X": "é"}},
		{"signs", styletest.Parts{"document": styletest.Paragraph("", `<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r><w:r><w:rPr>`+
			styletest.Face("X")+`</w:rPr><w:noBreakHyphen/><w:footnoteReference w:id="2"/></w:r>`)},
			map[string]string{"Wingdings": "\uF0FC", "X": "-1"}},
		{"tracked changes and fields", styletest.Parts{"document": styletest.Paragraph("", `<w:ins>`+
			styletest.Run(styletest.Face("X"), "a")+`</w:ins><w:del>`+styletest.Run(styletest.Face("Y"), "b")+`</w:del><w:moveFrom>`+
			styletest.Run(styletest.Face("Y"), "c")+`</w:moveFrom><w:r><w:rPr>`+styletest.Face("Z")+
			`</w:rPr><w:instrText>PAGE</w:instrText></w:r><w:hyperlink>`+styletest.Run(styletest.Face("L"), "l")+`</w:hyperlink>`)},
			map[string]string{"X": "a", "L": "l"}},
		{"former formats", styletest.Parts{"document": styletest.Paragraph("", styletest.Run(styletest.Face("X")+`<w:rPrChange><w:rPr>`+
			styletest.Face("Y")+`</w:rPr></w:rPrChange>`, "a"))}, map[string]string{"X": "a"}},
		{"content controls", styletest.Parts{"document": `<w:sdt><w:sdtPr><w:rPr>` + styletest.Face("Y") +
			`</w:rPr></w:sdtPr><w:sdtContent>` + styletest.Paragraph("", styletest.Run(styletest.Face("X"), "a")) + `</w:sdtContent></w:sdt>`},
			map[string]string{"X": "a"}},
		{"a text box stands in both alternatives",
			styletest.Parts{"document": styletest.Paragraph("", `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:txbxContent>`+
				styletest.Paragraph("", styletest.Run(styletest.Face("X"), "a"))+`</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>`+
				styletest.Paragraph("", styletest.Run(styletest.Face("Y"), "a"))+`</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>`)},
			map[string]string{"X": "a"}},
		{"an alternative of tomorrow", styletest.Parts{"document": styletest.Paragraph("", `<w:r><w:rPr>`+styletest.Face("X")+
			`</w:rPr><mc:AlternateContent><mc:Choice `+
			`Requires="w16se"><w:t>a</w:t></mc:Choice><mc:Fallback><w:t>b</w:t></mc:Fallback></mc:AlternateContent></w:r>`)},
			map[string]string{"X": "b"}},
		{"a watermark", styletest.Parts{"document": styletest.Paragraph("",
			`<w:r><w:pict><v:shape><v:textpath style="font-family:&quot;Mark&quot;;font-size:1pt" string="DRAFT"/></v:shape></w:pict></w:r>`)},
			map[string]string{"Mark": "ADFRT"}},
		{"a formula", styletest.Parts{"document": styletest.Paragraph("", `<m:oMath><m:r><m:rPr/><w:rPr>`+styletest.Face("Cambria Math")+
			`</w:rPr><m:t>x</m:t></m:r></m:oMath>`)}, map[string]string{"Cambria Math": "x"}},
		{"headers, footers and notes", styletest.Parts{
			"document": styletest.Paragraph("", styletest.Run(styletest.Face("X"), "a")) +
				`<w:sectPr><w:headerReference w:type="default" r:id="header1"/><w:headerReference w:type="first" ` +
				`r:id="header2"/><w:footerReference w:type="even" r:id="footer1"/></w:sectPr>`,
			"header1":   styletest.Paragraph("", styletest.Run(styletest.Face("H1"), "a")),
			"header2":   styletest.Paragraph("", styletest.Run(styletest.Face("H2"), "a")),
			"header3":   styletest.Paragraph("", styletest.Run(styletest.Face("H3"), "a")),
			"footer1":   styletest.Paragraph("", styletest.Run(styletest.Face("F"), "a")),
			"footnotes": `<w:footnote>` + styletest.Paragraph("", styletest.Run(styletest.Face("Foot"), "a")) + `</w:footnote>`,
			"endnotes":  `<w:endnote>` + styletest.Paragraph("", styletest.Run(styletest.Face("End"), "a")) + `</w:endnote>`,
		}, map[string]string{"X": "a", "H1": "a", "Foot": "a", "End": "a"}},
		{"first and even pages", styletest.Parts{
			"document": styletest.Paragraph(`<w:sectPr><w:titlePg/><w:headerReference w:type="first" r:id="header1"/><w:footerReference `+
				`w:type="even" r:id="footer1"/></w:sectPr>`, ""),
			"settings": `<w:evenAndOddHeaders/>`,
			"header1":  styletest.Paragraph("", styletest.Run(styletest.Face("H"), "a")),
			"footer1":  styletest.Paragraph("", styletest.Run(styletest.Face("F"), "a")),
		}, map[string]string{"H": "a", "F": "a"}},
		{"a chart", styletest.Parts{"document": "", "theme": styletest.Theme, "settings": `<w:themeFontLang w:eastAsia="ja-JP"/>`,
			"chart1": `<c:cat><c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>A &amp; ` +
				`中</c:v></c:pt></c:strCache></c:cat><c:tx><c:rich><a:p><a:r><a:t>t</a:t></a:r></a:p></c:rich></c:tx>`},
			map[string]string{"Minor": "A&t", "MinorJapanese": "中"}},
		{"a chart with fonts", styletest.Parts{"document": "", "theme": styletest.Theme,
			"chart1": `<c:v>1</c:v><a:defRPr><a:latin typeface="+mj-lt"/></a:defRPr><a:rPr><a:latin typeface="X"/><a:ea ` +
				`typeface="Y"/></a:rPr>`}, map[string]string{"Major": "1", "X": "1"}},
		{"the same family in two spellings",
			styletest.Parts{"document": styletest.Paragraph("", styletest.Run(styletest.Face("My Font"), "a")+
				styletest.Run(styletest.Face("@my font"), "b"))}, map[string]string{"My Font": "ab"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkAsked(t, read(t, tt.parts.Docx(t, nil)), tt.want)
		})
	}
}

func checkAsked(t *testing.T, d *Document, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, f := range d.Fonts() {
		got[f.Name] = f.Characters.String()
	}
	for name, characters := range want {
		want[name] = string(slices.Sorted(slices.Values([]rune(characters))))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fonts and their characters (-want +got):\n%s", diff)
	}
}

func TestFontsOfNumbers(t *testing.T) {
	level := func(i, format, text, more string) string {
		return `<w:lvl w:ilvl="` + i + `"><w:numFmt w:val="` + format + `"/><w:lvlText w:val="` + text + `"/>` + more + `</w:lvl>`
	}
	numbering := `<w:abstractNum w:abstractNumId="7">` + level("0", "bullet", "\uF0B7", styletest.Styled("Symbol")) + level("1",
		"lowerRoman", "(%2)", "") + level("2", "none", "x", "") + `</w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="8"><w:styleLink w:val="ListStyle"/>` + level("0", "decimal", "§%1", `<w:pStyle w:val="Head"/>`+
		styletest.Styled("Numbers")) + `</w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="9"><w:numStyleLink w:val="ListStyle"/></w:abstractNum>` +
		`<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num><w:num ` +
		`w:numId="3"><w:abstractNumId w:val="9"/></w:num>` +
		`<w:num w:numId="4"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0">` + level("0", "bullet", "o", styletest.Styled("Other")) +
		`</w:lvlOverride></w:num>`
	list := func(id, level string) string {
		return `<w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + id + `"/></w:numPr>`
	}
	mark := `<w:rPr>` + styletest.Face("Mark") + `</w:rPr>`
	tests := []struct {
		name, document string
		want           map[string]string
	}{
		{"a bullet has the font of its level", styletest.Paragraph(list("1", "0")+mark, ""), map[string]string{"Symbol": "\uF0B7"}},
		{"a number has that of the paragraph's end", styletest.Paragraph(list("1", "1")+mark, ""), map[string]string{"Mark": "(ivxlcdm)"}},
		{"no number", styletest.Paragraph(list("1", "2")+mark, "") + styletest.Paragraph(list("0", "0"), "") +
			styletest.Paragraph(list("1", "8"), "") + styletest.Paragraph(list("99", "0"), ""), map[string]string{}},
		{"a style has a list", styletest.Paragraph(`<w:pStyle w:val="Head"/>`, ""), map[string]string{"Numbers": "§0123456789"}},
		{"a style has no list here", styletest.Paragraph(`<w:pStyle w:val="Head"/>`+list("0", "0"), ""), map[string]string{}},
		{"a list of a style", styletest.Paragraph(list("3", "0"), ""), map[string]string{"Numbers": "§0123456789"}},
		{"a level that is changed", styletest.Paragraph(list("4", "0"), ""), map[string]string{"Other": "o"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := styletest.Parts{"document": tt.document, "numbering": numbering, "styles": styletest.Style("paragraph", "Head", "",
				`<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>`)}
			checkAsked(t, read(t, p.Docx(t, nil)), tt.want)
		})
	}
}

// TestOtherPrefixes checks that namespaces may have any prefixes, or be those of the strict form.
func TestOtherPrefixes(t *testing.T) {
	docx := styletest.Parts{"document": "", "styles": ""}.Docx(t, nil)
	for name, text := range map[string]string{
		"prefix": `<x:document xmlns:x="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><x:body><x:p><x:r>` +
			`<x:rPr><x:rFonts x:ascii="X"/></x:rPr><x:t>a</x:t></x:r></x:p></x:body></x:document>`,
		"default": `<document xmlns="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
			`xmlns:q="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><body><p><r><rPr><rFonts ` +
			`q:ascii="X"/></rPr><t>a</t></r></p></body></document>`,
		"strict": `<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:body><w:p><w:r><w:rPr><w:rFonts ` +
			`w:ascii="X"/></w:rPr><w:t>a</w:t></w:r></w:p></w:body></w:document>`,
		"foreign": `<y:document xmlns:y="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
			`xmlns:w="urn:other"><y:body><y:p><y:r><y:rPr><y:rFonts y:ascii="X"/></y:rPr><y:t>a</y:t><w:t>b</w:t></y:r></y:p></y:body></y:document>`,
	} {
		t.Run(name, func(t *testing.T) {
			checkAsked(t, read(t, styletest.Replace(t, docx, "word/document.xml", text)), map[string]string{"X": "a"})
		})
	}
}

func TestNoDocuments(t *testing.T) {
	docx := styletest.Parts{"document": ""}.Docx(t, nil)
	const more = 1001 // more than the XML reader allows
	deep := strings.Repeat("<w:p>", more)
	for name, b := range map[string][]byte{
		"empty": nil,
		"text":  []byte("Dear Sir"),
		"cut":   docx[:len(docx)-30],
		"no parts": styletest.Replace(t, docx, "_rels/.rels",
			`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>`),
		"deep":   styletest.Replace(t, docx, "word/document.xml", deep),
		"wide":   styletest.Replace(t, docx, "word/document.xml", "<w:p"+strings.Repeat(" a='b'", more)+"/>"),
		"large":  styletest.Lying(t, docx, maxPart+1),
		"a bomb": styletest.Lying(t, docx, maxPart),
	} {
		if _, err := Read(bytes.NewReader(b), int64(len(b))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
