package expect_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"platen/docx/compile/compiletest"
	"platen/docx/expect"
)

// What a reader sees is reported in plain words, where it is.
func TestVisibleDifferences(t *testing.T) {
	p := func(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }
	run := func(properties string) string {
		return "<w:p><w:r><w:rPr>" + properties + "</w:rPr><w:t>text</w:t></w:r></w:p>"
	}
	par := func(properties string) string {
		return "<w:p><w:pPr>" + properties + "</w:pPr><w:r><w:t>text</w:t></w:r></w:p>"
	}
	table := func(table, row, cell string) string {
		return `<w:tbl><w:tblPr>` + table + `</w:tblPr><w:tblGrid><w:gridCol w:w="100"/></w:tblGrid><w:tr><w:trPr>` + row +
			`</w:trPr><w:tc><w:tcPr>` +
			cell + `</w:tcPr>` + p("a") + `</w:tc><w:tc>` + p("b") + `</w:tc></w:tr></w:tbl>` + p("end")
	}
	section := func(properties string) string { return p("text") + "<w:sectPr>" + properties + "</w:sectPr>" }
	field := func(code, result string) string {
		return `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>` + code + `</w:instrText></w:r><w:r>` +
			`<w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>` + result +
			`</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`
	}
	for _, test := range []struct{ name, want, got, found string }{
		{"text", p("Total 5"), p("Total 6"),
			`changed_text: /word/document.xml, the document: The text of the paragraph .*want: Total 5.*got: +Total 6`},
		{"a blank", p("Total 5"), p("Total  5"), `want: "Total 5".*got: +"Total  5"`},
		{"a quote", p("it's"), p("it’s"), `want: it's.*got: +it’s`},
		{"a paragraph", p("a"), p("a") + p(""), `added: .*This paragraph is not in`},
		{"bold", run(""), run("<w:b/>"), `"text" plain.*"text" bold`},
		{"font", run(`<w:rFonts w:ascii="Arial"/>`), run(`<w:rFonts w:ascii="Georgia"/>`), `font Arial.*font Georgia`},
		{"size", run(`<w:sz w:val="20"/>`), run(`<w:sz w:val="21"/>`), `"text" size 10\n.*"text" size 10.5`},
		{"color", run(`<w:color w:val="FF0000"/>`), run(`<w:color w:val="FF0001"/>`), `color FF0000.*color FF0001`},
		{"color of an underline", run(`<w:u w:val="single"/>`), run(`<w:u w:val="single" w:color="FF0000"/>`), `u color FF0000`},
		{"hidden text", run(""), run("<w:vanish/>"), `"text" hidden`},
		{"border of text", run(""), run(`<w:bdr w:val="single" w:sz="4"/>`), `bdr single`},
		{"alignment", par(""), par(`<w:jc w:val="right"/>`), `format of the paragraph differs.*got: +alignment right`},
		{"indent", par(`<w:ind w:left="100"/>`), par(`<w:ind w:left="103"/>`), `left indent 100.*left indent 103`},
		{"negative indent", par(""), par(`<w:ind w:left="-5"/>`), `left indent -5`},
		{"tab stop", par(`<w:tabs><w:tab w:val="left" w:pos="100"/></w:tabs>`),
			par(`<w:tabs><w:tab w:val="right" w:pos="100"/></w:tabs>`),
			`tabs tab\[100\] left.*tabs tab\[100\] right`},
		{"leader", par(`<w:tabs><w:tab w:val="left" w:pos="100"/></w:tabs>`),
			par(`<w:tabs><w:tab w:val="left" w:leader="dot" w:pos="100"/></w:tabs>`), `leader dot`},
		{"shading", par(""), par(`<w:shd w:val="clear" w:fill="FFFF00"/>`), `shading FFFF00`},
		{"pattern", par(`<w:shd w:val="clear" w:fill="FFFF00"/>`), par(`<w:shd w:val="pct50" w:color="FF0000" w:fill="FFFF00"/>`),
			`shd pct50`},
		{"border", par(`<w:pBdr><w:top w:val="single" w:sz="4"/></w:pBdr>`), par(`<w:pBdr><w:top w:val="single" w:sz="8"/></w:pBdr>`),
			`top sz 4.*top sz 8`},
		{"table border", table(`<w:tblBorders><w:top w:val="single" w:sz="4"/></w:tblBorders>`, "", ""), table("", "", ""),
			`table 1: The format of the table differs.*tblBorders top single`},
		{"width of a table", table(`<w:tblW w:w="5000" w:type="dxa"/>`, "", ""), table(`<w:tblW w:w="5000" w:type="pct"/>`, "", ""),
			`tblW w 5000.*tblW w 100%`},
		{"cell margins", table("", "", ""), table(`<w:tblCellMar><w:left w:w="0" w:type="dxa"/></w:tblCellMar>`, "", ""),
			`tblCellMar left w 0`},
		{"height of a row", table("", "", ""), table("", `<w:trHeight w:val="900" w:hRule="exact"/>`, ""), `row 1: .*height 900`},
		{"header row", table("", "", ""), table("", `<w:tblHeader/>`, ""), `header row`},
		{"columns of a cell", table("", "", ""), table("", "", `<w:gridSpan w:val="2"/>`), `row 1, cell 1: .*columns 2`},
		{"rows of a cell", table("", "", `<w:vMerge w:val="restart"/>`), table("", "", `<w:vMerge/>`), `merged vertically restart`},
		{"width of a cell", table("", "", `<w:tcW w:w="100" w:type="dxa"/>`), table("", "", `<w:tcW w:w="200" w:type="dxa"/>`),
			`width 100.*width 200`},
		{"shading of a cell", table("", "", ""), table("", "", `<w:shd w:val="clear" w:fill="00FF00"/>`), `cell 1: .*shading 00FF00`},
		{"border of a cell", table("", "", `<w:tcBorders><w:top w:val="nil"/></w:tcBorders>`), table("", "", ""), `tcBorders top nil`},
		{"page size", section(`<w:pgSz w:w="11906" w:h="16838"/>`), section(""),
			`section 1: The format of the section .*page width 11906, page height 16838.*page width 12240, page height 15840`},
		{"default page size", p("text"), section(`<w:pgSz w:w="11906" w:h="16838"/>`), `section 1: .*page width 11906`},
		{"margin", section(`<w:pgMar w:left="1440"/>`), section(`<w:pgMar w:left="1000"/>`), `left margin 1440.*left margin 1000`},
		{"columns of text", section(""), section(`<w:cols w:num="2" w:space="500"/>`), `text columns 2, cols space 500`},
		{"lines", section(""), section(`<w:docGrid w:type="lines" w:linePitch="300"/>`), `docGrid linePitch 300, docGrid type lines`},
		{"section break", section(""), `<w:p><w:pPr><w:sectPr/></w:pPr></w:p>` + section(""),
			`added: .*section 1: This section is not in`},
		{"link to a bookmark", `<w:p><w:hyperlink w:anchor="a"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>`,
			`<w:p><w:hyperlink w:anchor="b"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>`, `link #a.*link #b`},
		{"link of a field", field(`HYPERLINK "http://a.example/"`, "x"), field(`HYPERLINK "http://b.example/"`, "x"),
			`link http://a.*link http://b`},
		{"bookmark of a field", field(`HYPERLINK \l "a"`, "x"), field(`HYPERLINK \l "b"`, "x"), `link #a.*link #b`},
		{"result of a field", field(" REF a ", "1"), field(" REF a ", "2"), `The text of the paragraph differs.*want: 1.*got: +2`},
		{"kind of a field", field(" PAGE ", "1"), field(" NUMPAGES ", "1"), `want: «PAGE».*got: +«NUMPAGES»`},
		{"format of a field", field(" PAGE ", "1"), field(` PAGE \* roman `, "1"), `«PAGE».*«PAGE \\\* roman»`},
		{"text around a field", strings.Replace(field("PAGE", "1"), "<w:p>", "<w:p><w:r><w:t>Page</w:t></w:r>", 1),
			strings.Replace(field("PAGE", "1"), "<w:p>", "<w:p><w:r><w:t>Seite</w:t></w:r>", 1), `want: Page«PAGE».*got: +Seite«PAGE»`},
		{"inserted text", `<w:p><w:ins w:id="1"><w:r><w:t>a</w:t></w:r></w:ins></w:p>`,
			`<w:p><w:del w:id="1"><w:r><w:delText>a</w:delText></w:r></w:del></w:p>`,
			`want: a`},
		{"a deleted mark", p("a") + p("b"), `<w:p><w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p>` + p("b"),
			`ab`},
		{"check box",
			`<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r></w:p>`,
			`<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox/></w:ffData></w:fldChar></w:r></w:p>`, `☒.*☐`},
		{"list of a control",
			`<w:p><w:sdt><w:sdtPr><w:dropDownList><w:listItem w:value="a"/></w:dropDownList></w:sdtPr><w:sdtContent><w:r><w:t>a</w:t></w:r>` +
				`</w:sdtContent></w:sdt></w:p>`,
			`<w:p><w:sdt><w:sdtPr><w:dropDownList><w:listItem w:value="b"/></w:dropDownList></w:sdtPr><w:sdtContent><w:r><w:t>a` +
				`</w:t></w:r></w:sdtContent></w:sdt></w:p>`, `entries a.*entries b`},
		{"equation",
			`<w:p><m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></w:p>`,
			`<w:p><m:oMath><m:r><m:t>1</m:t></m:r><m:r><m:t>2</m:t></m:r></m:oMath></w:p>`, `\(1\)/\(2\).*12`},
		{"symbol", `<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r></w:p>`,
			`<w:p><w:r><w:sym w:font="Wingdings" w:char="F0A8"/></w:r></w:p>`,
			`The text of the paragraph differs`},
		{"font of a symbol", `<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r></w:p>`,
			`<w:p><w:r><w:sym w:font="Symbol" w:char="F0FE"/></w:r></w:p>`,
			`symbol of Wingdings.*symbol of Symbol`},
		{"page break", p("a"), `<w:p><w:r><w:t>a</w:t><w:br w:type="page"/></w:r></w:p>`, `The text of the paragraph differs`},
	} {
		checkDifference(t, test.name, map[string]string{"document.xml": test.want}, map[string]string{"document.xml": test.got},
			test.found)
	}
}

// checkDifference checks that the differences of two documents match a pattern.
func checkDifference(t *testing.T, name string, want, got map[string]string, found string) {
	t.Helper()
	differences := formatDifferences(expect.Compare(outline(t, compiletest.Build(t, want)), outline(t, compiletest.Build(t, got))))
	if !regexp.MustCompile(`(?s)` + found).MatchString(differences) {
		t.Errorf("%s: the differences are\n%s", name, differences)
	}
}

// Differences in other parts than the main one are found too.
func TestVisibleDifferencesOfOtherParts(t *testing.T) {
	p := func(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }
	list := func(level string) string {
		return `<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0">` + level + `</w:lvl></w:abstractNum><w:num w:numId="1">` +
			`<w:abstractNumId w:val="1"/></w:num>`
	}
	const item = `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>`
	chart := func(title, kind, value string) string {
		return `<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>` + title + `</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:` +
			kind +
			`><c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>Sales</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat>` +
			`<c:strRef><c:strCache>` +
			`<c:pt idx="0"><c:v>May</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>` +
			value +
			`</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:` + kind + `></c:plotArea></c:chart>`
	}
	const drawnChart = `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="914400"/><a:graphic ` +
		`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><c:chart ` +
		`xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="rId0"/></a:graphicData></a:graphic>` +
		`</wp:inline></w:drawing></w:r></w:p>`
	const styled = `<w:p><w:pPr><w:pStyle w:val="S"/></w:pPr><w:r><w:t>text</w:t></w:r></w:p>`
	style := func(properties string) string {
		return `<w:style w:type="paragraph" w:styleId="S"><w:name w:val="Own"/>` + properties + `</w:style>`
	}
	for _, test := range []struct{ name, document, part, want, got, found string }{
		{"header", p("a") + `<w:sectPr><w:headerReference w:type="default" r:id="rId1"/></w:sectPr>`, "header1.xml", p("Top"), p("Tip"),
			`changed_text: /word/header1.xml, the header: The text .*want: Top.*got: +Tip`},
		{"footer", p("a") + `<w:sectPr><w:footerReference w:type="default" r:id="rId1"/></w:sectPr>`, "footer1.xml", p("Bottom"),
			p("Button"),
			`/word/footer1.xml, the footer: The text`},
		{"footnote", `<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>`, "footnotes.xml", `<w:footnote w:id="1">` + p("One") +
			`</w:footnote>`,
			`<w:footnote w:id="1">` + p("Two") + `</w:footnote>`, `/word/footnotes.xml, a footnote: The text .*want: One.*got: +Two`},
		{"endnote", `<w:p><w:r><w:endnoteReference w:id="1"/></w:r></w:p>`, "endnotes.xml", `<w:endnote w:id="1">` + p("One") +
			`</w:endnote>`,
			`<w:endnote w:id="1">` + p("Two") + `</w:endnote>`, `/word/endnotes.xml, an endnote: The text`},
		{"number", item, "numbering.xml", list(`<w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>`),
			list(`<w:start w:val="4"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>`), `The text .*want: 1. item.*got: +4. item`},
		{"bullet", item, "numbering.xml", list(`<w:numFmt w:val="bullet"/><w:lvlText w:val="-"/>`),
			list(`<w:numFmt w:val="bullet"/><w:lvlText w:val="*"/>`), `bullet -.*bullet \*`},
		{"color of a number", item, "numbering.xml", list(`<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>`),
			list(`<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/><w:rPr><w:color w:val="FF0000"/></w:rPr>`), `number color FF0000`},
		{"alignment of a number", item, "numbering.xml", list(`<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>`),
			list(`<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/><w:lvlJc w:val="right"/>`), `number alignment right`},
		{"style", styled, "styles.xml", style(""), style(`<w:rPr><w:b/></w:rPr>`), `"text" plain.*"text" bold`},
		{"spacing of a style", styled, "styles.xml", style(""), style(`<w:pPr><w:spacing w:after="200"/></w:pPr>`), `space after 200`},
		{"default font", p("text"), "styles.xml", ``,
			`<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Arial"/></w:rPr></w:rPrDefault></w:docDefaults>`,
			`"text" font Arial`},
		{"data of a chart", drawnChart, "chart1.xml", chart("T", "barChart", "5"), chart("T", "barChart", "6"),
			`/word/chart1.xml, the document: The text of the series .*want: Sales: May 5.*got: +Sales: May 6`},
		{"title of a chart", drawnChart, "chart1.xml", chart("T", "barChart", "5"), chart("U", "barChart", "5"), `want: T.*got: +U`},
		{"kind of a chart", drawnChart, "chart1.xml", chart("T", "barChart", "5"), chart("T", "lineChart", "5"),
			`want: barChart.*got: +lineChart`},
		{"address of a link", `<w:p><w:hyperlink r:id="L"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>`, "links", "L http://a.example/x",
			"L http://a.example/y", `link http://a.example/x.*link http://a.example/y`},
		{"title", p("text"), "core.xml", `<dc:title>A</dc:title>`, `<dc:title>B</dc:title>`,
			`document property title: .*want: A.*got: +B`},
	} {
		want := map[string]string{"document.xml": test.document, test.part: test.want}
		got := maps.Clone(want)
		got[test.part] = test.got
		checkDifference(t, test.name, want, got, test.found)
	}
}
