package docx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"platen/docx"
	"platen/docx/lang"
)

// fragments are fragments of WordprocessingML that are accepted.
var fragments = []string{
	`<w:r><w:rPr><w:rFonts w:ascii="Arial" w:hint="cs" w:asciiTheme="minorHAnsi"/><w:b w:val="0"/>` +
		`<w:color w:val="auto" w:themeColor="accent1" w:themeTint="99"/>` +
		`<w:spacing w:val="-5"/><w:w w:val="90"/>` +
		`<w:sz w:val="20"/><w:u w:val="wave" w:color="FF0000"/><w:bdr w:val="single" w:sz="4"/>` +
		`<w:shd w:val="pct10" w:fill="CCCCCC" w:themeFill="text2" w:themeFillShade="BF"/>` +
		`<w:lang w:val="de-CH"/></w:rPr><w:t>a</w:t><w:tab/><w:br w:type="page"/><w:sym w:font="Wingdings" w:char="F0A7"/></w:r>`,
	`<w:p><w:pPr><w:pBdr><w:top w:val="single" w:sz="4" w:space="1" w:color="auto"/></w:pBdr><w:tabs>` +
		`<w:tab w:val="right" w:pos="9000"/></w:tabs>` +
		`<w:spacing w:before="10" w:line="240" w:lineRule="auto"/><w:ind w:left="10" w:hanging="5"/>` +
		`<w:jc w:val="both"/><w:outlineLvl w:val="1"/>` +
		`<w:rPr><w:i/></w:rPr></w:pPr><w:r><w:t>b</w:t></w:r></w:p>`,
	`<w:tbl><w:tblPr><w:tblW w:w="5000" w:type="pct"/><w:jc w:val="center"/><w:tblBorders>` +
		`<w:insideH w:val="dotted"/></w:tblBorders>` +
		`<w:tblCellMar><w:left w:w="10" w:type="dxa"/></w:tblCellMar><w:tblLook w:val="04A0" w:firstRow="1"/></w:tblPr><w:tblGrid>` +
		`<w:gridCol w:w="10"/><w:gridCol/></w:tblGrid><w:tr><w:trPr><w:cantSplit/>` +
		`<w:trHeight w:val="5" w:hRule="exact"/></w:trPr><w:tc>` +
		`<w:tcPr><w:tcW w:w="0" w:type="auto"/><w:gridSpan w:val="2"/><w:vMerge w:val="restart"/><w:tcMar>` +
		`<w:top w:w="1" w:type="dxa"/></w:tcMar>` +
		`<w:vAlign w:val="center"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>`,
	"<!-- a comment --><w:p/>\n<w:p/>", `<w:p xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>`,
}

// FuzzWordML inserts fragments at every kind of place: what is accepted makes a valid document.
func FuzzWordML(f *testing.F) {
	for _, fragment := range fragments {
		f.Add(fragment)
	}
	for _, fragment := range []string{"</w:body><w:body>", "<w:p><w:r><w:t>&#1;</w:t></w:r></w:p>", "<![CDATA[x]]>",
		"<?x?><w:p/>", "<w:r><w:t><!--", ""} {
		f.Add(fragment)
	}
	file := build(f, map[string]string{"document.xml": `<w:p><w:r><w:t xml:space="preserve">a {{x :: wordml}} b</w:t></w:r></w:p>` +
		`<w:p><w:r><w:t>{{x :: wordml}}</w:t></w:r></w:p><w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr>` +
		`<w:tc><w:p><w:r><w:t>` +
		`{{x :: wordml}}</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p><w:hyperlink w:anchor="x"><w:r>` +
		`<w:t>{{x :: wordml}}</w:t></w:r></w:hyperlink></w:p>`})
	template, err := parse(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, fragment string) {
		data := withFragment(t, fragment)
		var out bytes.Buffer
		_, err := template.Execute(t.Context(), &out, data, docx.Options{WordML: true})
		if err != nil {
			if _, exceeded := errors.AsType[*docx.BudgetError](err); !exceeded {
				t.Errorf("%q: %v", fragment, err)
			}
			return
		}
		for _, problem := range newProblems(file, out.Bytes()) {
			t.Errorf("%q: %v", fragment, &problem)
		}
	})
}

// TestWordMLIsAccepted checks that the fragments are inserted without an error.
func TestWordMLIsAccepted(t *testing.T) {
	template := mustParse(t, map[string]string{"document.xml": `<w:p><w:r><w:t>{{x :: wordml}}</w:t></w:r></w:p><w:p/>`})
	for _, fragment := range fragments {
		var out bytes.Buffer
		report, err := template.Execute(t.Context(), &out, withFragment(t, fragment), docx.Options{WordML: true})
		if err != nil || len(report.Errors) > 0 {
			t.Errorf("%s: %v, %v", fragment, report.Errors, err)
		}
		report, err = template.Execute(t.Context(), &out, withFragment(t, fragment), docx.Options{})
		if err != nil || len(report.Errors) != 1 || !strings.Contains(report.Errors[0], "--allow-wordml") {
			t.Errorf("without permission: %v, %v", report.Errors, err)
		}
	}
}

// withFragment returns data whose x is a fragment.
func withFragment(t *testing.T, fragment string) lang.Value {
	t.Helper()
	data, err := json.Marshal(map[string]string{"x": fragment})
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(data))
}
