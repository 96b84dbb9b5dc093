package font

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the tests' documents have in common.
const (
	themeFonts = `<a:majorFont><a:latin typeface="Major"/><a:ea typeface=""/><a:cs typeface=""/><a:font script="Jpan" typeface="MajorJapanese"/><a:font script="Arab" typeface="MajorArabic"/></a:majorFont>` +
		`<a:minorFont><a:latin typeface="Minor"/><a:ea typeface=""/><a:cs typeface="MinorComplex"/><a:font script="Jpan" typeface="MinorJapanese"/><a:font script="Hang" typeface="MinorKorean"/><a:font script="Hant" typeface="MinorTaiwan"/></a:minorFont>`
	four     = `<w:rFonts w:ascii="A" w:hAnsi="H" w:eastAsia="E" w:cs="C"/>`
	defaults = `<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:asciiTheme="minorHAnsi" w:hAnsiTheme="minorHAnsi" w:eastAsiaTheme="minorEastAsia" w:cstheme="minorBidi"/></w:rPr></w:rPrDefault></w:docDefaults>`
)

func runs(properties, text string) string {
	return `<w:r><w:rPr>` + properties + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

func para(properties, content string) string {
	return `<w:p><w:pPr>` + properties + `</w:pPr>` + content + `</w:p>`
}

func face(name string) string { return `<w:rFonts w:ascii="` + name + `" w:hAnsi="` + name + `"/>` }

func styleOf(kind, id, base, content string) string {
	return `<w:style w:type="` + kind + `" w:styleId="` + id + `"><w:name w:val="` + id + `"/><w:basedOn w:val="` + base + `"/>` + content + `</w:style>`
}

func styled(name string) string { return `<w:rPr>` + face(name) + `</w:rPr>` }

func TestFontsOfRuns(t *testing.T) {
	const normal = `<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:rPr><w:rFonts w:ascii="Normal" w:hAnsi="Normal"/></w:rPr></w:style>`
	tests := []struct {
		name  string
		parts parts
		want  map[string]string // the characters of each font
	}{
		{"nothing is said", parts{"document": para("", `<w:r><w:t>ab é 中</w:t></w:r>`)}, map[string]string{"Times New Roman": "abé中"}},
		{"by kind of character", parts{"document": para("", runs(four, "aé–中אش\U0001F600"))}, map[string]string{"A": "aאش", "H": "é–", "E": "中\U0001F600"}},
		{"a hint", parts{"document": para("", runs(`<w:rFonts w:ascii="A" w:hAnsi="H" w:eastAsia="E" w:hint="eastAsia"/>`, "a“×éβ"))}, map[string]string{"A": "a", "H": "é", "E": "×β“"}},
		{"a hint in Chinese", parts{"document": para("", runs(`<w:rFonts w:ascii="A" w:hAnsi="H" w:eastAsia="E" w:hint="eastAsia"/><w:lang w:eastAsia="zh-CN"/>`, "aéāö"))}, map[string]string{"A": "a", "H": "ö", "E": "éā"}},
		{"a complex script", parts{"document": para("", runs(four+`<w:rtl/>`, "aب")+runs(four+`<w:cs/>`, "é")+runs(four+`<w:rtl w:val="0"/>`, "b"))}, map[string]string{"A": "b", "C": "aéب"}},
		{"Times New Roman is no font of East Asia", parts{"document": para("", runs(`<w:rFonts w:ascii="A" w:hAnsi="A" w:eastAsia="Times New Roman" w:hint="eastAsia"/>`, "a“中"))}, map[string]string{"A": "a“中"}},
		{"the theme", parts{"theme": themeFonts, "styles": defaults, "document": para("", `<w:r><w:t>a中</w:t></w:r>`+runs(`<w:rFonts w:asciiTheme="majorAscii" w:ascii="X"/>`, "b")+runs(`<w:rtl/>`, "ב"))},
			map[string]string{"Minor": "a", "Major": "b", "MinorComplex": "ב", "Times New Roman": "中"}},
		{"the theme's languages", parts{"theme": themeFonts, "settings": `<w:themeFontLang w:val="en-US" w:eastAsia="ja-JP" w:bidi="ar-SA"/>`, "styles": defaults, "document": para("", `<w:r><w:t>中</w:t></w:r>`+runs(`<w:rFonts w:cstheme="majorBidi"/><w:rtl/>`, "ش"))},
			map[string]string{"MinorJapanese": "中", "MajorArabic": "ش"}},
		{"Korean", parts{"theme": themeFonts, "settings": `<w:themeFontLang w:eastAsia="ko-KR"/>`, "styles": defaults, "document": para("", `<w:r><w:t>한</w:t></w:r>`)}, map[string]string{"MinorKorean": "한"}},
		{"Chinese of Taiwan", parts{"theme": themeFonts, "settings": `<w:themeFontLang w:eastAsia="zh-TW"/>`, "styles": defaults, "document": para("", `<w:r><w:t>中</w:t></w:r>`)}, map[string]string{"MinorTaiwan": "中"}},
		{"a named font goes before the theme of the defaults", parts{"theme": themeFonts, "styles": defaults, "document": para("", runs(face("X"), "a"))}, map[string]string{"X": "a"}},
		{"styles", parts{"styles": normal + styleOf("paragraph", "P", "N", "") + styleOf("paragraph", "Q", "P", styled("Q")) + styleOf("character", "C", "", styled("C")) + styleOf("character", "D", "C", ""),
			"document": para("", runs("", "a")) + para(`<w:pStyle w:val="P"/>`, runs("", "b")) + para(`<w:pStyle w:val="Q"/>`, runs("", "c")+runs(`<w:rStyle w:val="D"/>`, "d")+runs(`<w:rStyle w:val="D"/>`+face("X"), "e")) + para(`<w:pStyle w:val="gone"/>`, runs("", "f"))},
			map[string]string{"Normal": "abf", "Q": "c", "C": "d", "X": "e"}},
		{"a style based on itself", parts{"styles": styleOf("paragraph", "P", "Q", styled("P")) + styleOf("paragraph", "Q", "P", ""), "document": para(`<w:pStyle w:val="Q"/>`, runs("", "a"))}, map[string]string{"P": "a"}},
		{"tables", parts{"styles": styleOf("table", "T", "S", "") + styleOf("table", "S", "", styled("T")), "document": `<w:tbl><w:tblPr><w:tblStyle w:val="T"/></w:tblPr><w:tr><w:tc>` + para("", runs("", "a")) + `</w:tc></w:tr></w:tbl>` + para("", runs("", "b"))},
			map[string]string{"T": "a", "Times New Roman": "b"}},
		{"hidden text", parts{"styles": styleOf("paragraph", "P", "", `<w:rPr><w:vanish/></w:rPr>`) + styleOf("character", "C", "", `<w:rPr><w:vanish/></w:rPr>`),
			"document": para(`<w:pStyle w:val="P"/>`, runs(face("X"), "a")+runs(`<w:rStyle w:val="C"/>`+face("Y"), "b")+runs(face("Z")+`<w:vanish w:val="false"/>`, "c")) + para("", runs(face("X")+`<w:vanish/>`, "d"))},
			map[string]string{"Y": "b", "Z": "c"}},
		{"capitals", parts{"document": para("", runs(face("X")+`<w:caps/>`, "aß")+runs(face("Y")+`<w:smallCaps/>`, "é"))}, map[string]string{"X": "Aß", "Y": "É"}},
		{"blanks ask for nothing", parts{"document": para("", runs(face("X"), " \u00A0\u200B\u200D\u00AD")+`<w:r><w:rPr>`+face("Y")+`</w:rPr><w:tab/><w:br/></w:r>`)}, map[string]string{}},
		{"entities and CDATA", parts{"document": para("", runs(face("X"), "&lt;&#xE9;&#65;")+runs(face("Y"), "<![CDATA[&x]]>"))}, map[string]string{"X": "<Aé", "Y": "&x"}},
		{"marks are put together", parts{"document": para("", runs(face("X"), "e\u0301"))}, map[string]string{"X": "é"}},
		{"signs", parts{"document": para("", `<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r><w:r><w:rPr>`+face("X")+`</w:rPr><w:noBreakHyphen/><w:footnoteReference w:id="2"/></w:r>`)}, map[string]string{"Wingdings": "\uF0FC", "X": "-1"}},
		{"tracked changes and fields", parts{"document": para("", `<w:ins>`+runs(face("X"), "a")+`</w:ins><w:del>`+runs(face("Y"), "b")+`</w:del><w:moveFrom>`+runs(face("Y"), "c")+`</w:moveFrom><w:r><w:rPr>`+face("Z")+`</w:rPr><w:instrText>PAGE</w:instrText></w:r><w:hyperlink>`+runs(face("L"), "l")+`</w:hyperlink>`)}, map[string]string{"X": "a", "L": "l"}},
		{"former formats", parts{"document": para("", runs(face("X")+`<w:rPrChange><w:rPr>`+face("Y")+`</w:rPr></w:rPrChange>`, "a"))}, map[string]string{"X": "a"}},
		{"content controls", parts{"document": `<w:sdt><w:sdtPr><w:rPr>` + face("Y") + `</w:rPr></w:sdtPr><w:sdtContent>` + para("", runs(face("X"), "a")) + `</w:sdtContent></w:sdt>`}, map[string]string{"X": "a"}},
		{"a text box stands in both alternatives", parts{"document": para("", `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:txbxContent>`+para("", runs(face("X"), "a"))+`</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>`+para("", runs(face("Y"), "a"))+`</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>`)}, map[string]string{"X": "a"}},
		{"an alternative of tomorrow", parts{"document": para("", `<w:r><w:rPr>`+face("X")+`</w:rPr><mc:AlternateContent><mc:Choice Requires="w16se"><w:t>a</w:t></mc:Choice><mc:Fallback><w:t>b</w:t></mc:Fallback></mc:AlternateContent></w:r>`)}, map[string]string{"X": "b"}},
		{"a watermark", parts{"document": para("", `<w:r><w:pict><v:shape><v:textpath style="font-family:&quot;Mark&quot;;font-size:1pt" string="DRAFT"/></v:shape></w:pict></w:r>`)}, map[string]string{"Mark": "ADFRT"}},
		{"a formula", parts{"document": para("", `<m:oMath><m:r><m:rPr/><w:rPr>`+face("Cambria Math")+`</w:rPr><m:t>x</m:t></m:r></m:oMath>`)}, map[string]string{"Cambria Math": "x"}},
		{"headers, footers and notes", parts{
			"document": para("", runs(face("X"), "a")) + `<w:sectPr><w:headerReference w:type="default" r:id="header1"/><w:headerReference w:type="first" r:id="header2"/><w:footerReference w:type="even" r:id="footer1"/></w:sectPr>`,
			"header1":  para("", runs(face("H1"), "a")), "header2": para("", runs(face("H2"), "a")), "header3": para("", runs(face("H3"), "a")), "footer1": para("", runs(face("F"), "a")),
			"footnotes": `<w:footnote>` + para("", runs(face("Foot"), "a")) + `</w:footnote>`, "endnotes": `<w:endnote>` + para("", runs(face("End"), "a")) + `</w:endnote>`,
		}, map[string]string{"X": "a", "H1": "a", "Foot": "a", "End": "a"}},
		{"first and even pages", parts{
			"document": para(`<w:sectPr><w:titlePg/><w:headerReference w:type="first" r:id="header1"/><w:footerReference w:type="even" r:id="footer1"/></w:sectPr>`, ""),
			"settings": `<w:evenAndOddHeaders/>`,
			"header1":  para("", runs(face("H"), "a")), "footer1": para("", runs(face("F"), "a")),
		}, map[string]string{"H": "a", "F": "a"}},
		{"a chart", parts{"document": "", "theme": themeFonts, "settings": `<w:themeFontLang w:eastAsia="ja-JP"/>`, "chart1": `<c:cat><c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>A &amp; 中</c:v></c:pt></c:strCache></c:cat><c:tx><c:rich><a:p><a:r><a:t>t</a:t></a:r></a:p></c:rich></c:tx>`},
			map[string]string{"Minor": "A&t", "MinorJapanese": "中"}},
		{"a chart with fonts", parts{"document": "", "theme": themeFonts, "chart1": `<c:v>1</c:v><a:defRPr><a:latin typeface="+mj-lt"/></a:defRPr><a:rPr><a:latin typeface="X"/><a:ea typeface="Y"/></a:rPr>`}, map[string]string{"Major": "1", "X": "1"}},
		{"the same family in two spellings", parts{"document": para("", runs(face("My Font"), "a")+runs(face("@my font"), "b"))}, map[string]string{"My Font": "ab"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkAsked(t, read(t, tt.parts.docx(t, nil)), tt.want)
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
	numbering := `<w:abstractNum w:abstractNumId="7">` + level("0", "bullet", "\uF0B7", styled("Symbol")) + level("1", "lowerRoman", "(%2)", "") + level("2", "none", "x", "") + `</w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="8"><w:styleLink w:val="ListStyle"/>` + level("0", "decimal", "§%1", `<w:pStyle w:val="Head"/>`+styled("Numbers")) + `</w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="9"><w:numStyleLink w:val="ListStyle"/></w:abstractNum>` +
		`<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="9"/></w:num>` +
		`<w:num w:numId="4"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0">` + level("0", "bullet", "o", styled("Other")) + `</w:lvlOverride></w:num>`
	list := func(id, level string) string {
		return `<w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + id + `"/></w:numPr>`
	}
	mark := `<w:rPr>` + face("Mark") + `</w:rPr>`
	tests := []struct {
		name, document string
		want           map[string]string
	}{
		{"a bullet has the font of its level", para(list("1", "0")+mark, ""), map[string]string{"Symbol": "\uF0B7"}},
		{"a number has that of the paragraph's end", para(list("1", "1")+mark, ""), map[string]string{"Mark": "(ivxlcdm)"}},
		{"no number", para(list("1", "2")+mark, "") + para(list("0", "0"), "") + para(list("1", "8"), "") + para(list("99", "0"), ""), map[string]string{}},
		{"a style has a list", para(`<w:pStyle w:val="Head"/>`, ""), map[string]string{"Numbers": "§0123456789"}},
		{"a style has no list here", para(`<w:pStyle w:val="Head"/>`+list("0", "0"), ""), map[string]string{}},
		{"a list of a style", para(list("3", "0"), ""), map[string]string{"Numbers": "§0123456789"}},
		{"a level that is changed", para(list("4", "0"), ""), map[string]string{"Other": "o"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parts{"document": tt.document, "numbering": numbering, "styles": styleOf("paragraph", "Head", "", `<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>`)}
			checkAsked(t, read(t, p.docx(t, nil)), tt.want)
		})
	}
}

// Namespaces may have any prefixes, or be those of ISO's strict documents.
func TestOtherPrefixes(t *testing.T) {
	docx := parts{"document": "", "styles": ""}.docx(t, nil)
	for name, text := range map[string]string{
		"prefix":  `<x:document xmlns:x="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><x:body><x:p><x:r><x:rPr><x:rFonts x:ascii="X"/></x:rPr><x:t>a</x:t></x:r></x:p></x:body></x:document>`,
		"default": `<document xmlns="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:q="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><body><p><r><rPr><rFonts q:ascii="X"/></rPr><t>a</t></r></p></body></document>`,
		"strict":  `<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:body><w:p><w:r><w:rPr><w:rFonts w:ascii="X"/></w:rPr><w:t>a</w:t></w:r></w:p></w:body></w:document>`,
		"foreign": `<y:document xmlns:y="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:w="urn:other"><y:body><y:p><y:r><y:rPr><y:rFonts y:ascii="X"/></y:rPr><y:t>a</y:t><w:t>b</w:t></y:r></y:p></y:body></y:document>`,
	} {
		t.Run(name, func(t *testing.T) {
			checkAsked(t, read(t, replace(t, docx, "word/document.xml", text)), map[string]string{"X": "a"})
		})
	}
}

func TestNoDocuments(t *testing.T) {
	docx := parts{"document": ""}.docx(t, nil)
	deep := strings.Repeat("<w:p>", maxElementDepth+1)
	for name, b := range map[string][]byte{
		"empty":    nil,
		"text":     []byte("Dear Sir"),
		"cut":      docx[:len(docx)-30],
		"no parts": replace(t, docx, "_rels/.rels", relsStart+relsEnd),
		"deep":     replace(t, docx, "word/document.xml", deep),
		"wide":     replace(t, docx, "word/document.xml", "<w:p"+strings.Repeat(" a='b'", maxAttributes+1)+"/>"),
		"large":    lying(t, docx, maxPartBytes+1),
		"a bomb":   lying(t, docx, maxPartBytes),
	} {
		if _, err := Read(bytes.NewReader(b), int64(len(b))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
