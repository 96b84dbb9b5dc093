package style_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"platen/docx/style"
	"platen/docx/style/styletest"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/scan"
)

// Limits of the resolver that tests reach.
const (
	deepest    = 20  // styles based on one another
	properties = 400 // of one element
)

func sheetOf(t testing.TB, parts styletest.Parts) *style.Sheet {
	t.Helper()
	pkg, main := openBytes(t, parts.Docx(t, nil))
	sheet, err := style.Read(pkg, main)
	if err != nil {
		t.Fatal(err)
	}
	return sheet
}

// Only the nearest of 10,000 styles based on one another count.
func TestStylesTooDeep(t *testing.T) {
	const depth = 10_000
	var styles strings.Builder
	for i := range depth {
		content := ""
		switch i {
		case deepest - 1:
			content = `<w:rPr><w:sz w:val="1"/></w:rPr>`
		case deepest:
			content = `<w:rPr><w:sz w:val="2"/><w:kern w:val="2"/></w:rPr>`
		}
		styles.WriteString(styletest.Style("paragraph", fmt.Sprint("S", i), fmt.Sprint("S", i+1), content))
	}
	sheet := sheetOf(t, styletest.Parts{"document": "", "styles": styles.String()})
	p := sheet.Run(style.Cell{}, "S0", style.Properties{})
	if size, origin := p.Get("w:sz"); size != "1" || origin.Style != fmt.Sprint("S", deepest-1) {
		t.Errorf("the size is %q of %q", size, origin.Style)
	}
	if _, origin := p.Get("w:kern"); origin.Level != style.Unset {
		t.Errorf("a property of style %q counts", origin.Style)
	}
	for i := range depth {
		sheet.Run(style.Cell{}, fmt.Sprint("S", i), style.Properties{})
	}
	if err := sheet.Err(); err != nil {
		t.Error(err)
	}
}

// Combining styles takes a limited amount of work.
func TestStylesTooComplex(t *testing.T) {
	var styles, tabs strings.Builder
	for i := range properties {
		fmt.Fprintf(&tabs, `<w:tab w:pos="%d"/>`, i)
	}
	for i := range deepest - 1 {
		styles.WriteString(styletest.Style("paragraph", fmt.Sprint("S", i), fmt.Sprint("S", i+1), "<w:pPr><w:tabs>"+tabs.String()+
			"</w:tabs></w:pPr>"))
	}
	const leaves = 4_000
	for i := range leaves {
		styles.WriteString(styletest.Style("paragraph", fmt.Sprint("L", i), "S0", ""))
	}
	sheet := sheetOf(t, styletest.Parts{"document": "", "styles": styles.String()})
	for i := range leaves {
		direct := stated(t, sheet, "w:pPr", fmt.Sprintf(`<w:pStyle w:val="L%d"/>`, i))
		sheet.Paragraph(style.Cell{}, direct)
	}
	if err := sheet.Err(); !errors.Is(err, style.ErrLimit) {
		t.Errorf("the error is %v", err)
	}
}

// Styles and list levels may state a limited number of properties together.
func TestTooManyStated(t *testing.T) {
	const elements = 600
	element := "<w:rPr>" + strings.Repeat("<w:b/>", properties) + "</w:rPr>"
	var styles, levels strings.Builder
	for i := range elements {
		styles.WriteString(styletest.Style("paragraph", fmt.Sprint("S", i), "", element))
		fmt.Fprintf(&levels, `<w:abstractNum w:abstractNumId="%d"><w:lvl w:ilvl="0">%s</w:lvl></w:abstractNum>`, i, element)
	}
	for i := range elements {
		fmt.Fprintf(&levels, `<w:num w:numId="%d"><w:abstractNumId w:val="%[1]d"/></w:num>`, i)
	}
	parts := styletest.Parts{"document": "", "styles": styles.String(), "numbering": levels.String()}
	for name, use := range map[string]func(*style.Sheet, int){
		"styles": func(s *style.Sheet, i int) { s.Run(style.Cell{}, fmt.Sprint("S", i), style.Properties{}) },
		"lists": func(s *style.Sheet, i int) {
			s.Level(stated(t, s, "w:pPr", fmt.Sprintf(`<w:numPr><w:numId w:val="%d"/></w:numPr>`, i)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			sheet := sheetOf(t, parts)
			for i := range elements {
				use(sheet, i)
				if err := sheet.Err(); i == elements/2 && err != nil {
					t.Errorf("after %d elements: %v", i, err)
				}
			}
			if err := sheet.Err(); !errors.Is(err, style.ErrLimit) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// stated reads an element of properties.
func stated(t testing.TB, sheet *style.Sheet, element, content string) style.Properties {
	t.Helper()
	r := scan.New([]byte(`<` + element + ` ` + styletest.Namespaces + `>` + content + `</` + element + `>`))
	if !r.Next() {
		t.Fatal(r.Err())
	}
	return sheet.Stated(r)
}

// An element states a limited number of properties, of any size.
func TestStatementsTooLong(t *testing.T) {
	sheet := sheetOf(t, styletest.Parts{"document": ""})
	value := strings.Repeat("9", 5<<20)
	direct := stated(t, sheet, "w:rPr", `<w:sz w:val="`+value+`"/>`)
	if got, _ := direct.Get("w:sz"); got != value {
		t.Errorf("a value of %d bytes has %d", len(value), len(got))
	}
	var tabs strings.Builder
	for i := range 10 * properties {
		fmt.Fprintf(&tabs, `<w:tab w:pos="%d" w:val="left"/>`, i)
	}
	direct = stated(t, sheet, "w:pPr", `<w:tabs>`+tabs.String()+`</w:tabs>`)
	count := 0
	for range direct.All() {
		count++
	}
	if count != properties {
		t.Errorf("the element states %d properties", count)
	}
	nested := strings.Repeat(`<w:x w:val="1">`, 500) + strings.Repeat(`</w:x>`, 500)
	if got, _ := stated(t, sheet, "w:pPr", nested+`<w:keepNext/>`).Get("w:keepNext"); got != "true" {
		t.Errorf("after nested elements, the value is %q", got)
	}
}

// Parts that are not well formed count as far as they can be read, and those that are too large not at all.
func TestBrokenParts(t *testing.T) {
	docx := styletest.Parts{"document": "", "styles": "", "numbering": ""}.Docx(t, nil)
	half := `<w:styles ` + styletest.Namespaces + `>` + styletest.Style("paragraph", "P", "", `<w:rPr><w:sz w:val="20"/></w:rPr>`) +
		`<w:style w:sty`
	pkg, main := peek(t, styletest.Replace(t, docx, "word/styles.xml", half))
	sheet, err := style.Read(pkg, main)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := sheet.Run(style.Cell{}, "P", style.Properties{}).Get("w:sz"); got != "20" {
		t.Errorf("the size is %q", got)
	}
	for name, part := range map[string]string{
		"large": strings.Repeat(" ", 16<<20+1),
		"wide":  `<a` + strings.Repeat(` b=""`, 1001) + `/>`,
	} {
		pkg, main := peek(t, styletest.Replace(t, docx, "word/numbering.xml", part))
		if _, err := style.Read(pkg, main); err == nil {
			t.Errorf("a part that is too %s is read", name)
		}
	}
}

// peek opens a document whose parts need not be well formed.
func peek(t testing.TB, docx []byte) (*ooxml.Package, *ooxml.Part) {
	t.Helper()
	pkg, err := ooxml.Peek(strings.NewReader(string(docx)), int64(len(docx)), ooxml.Limits{Ratio: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	main, err := pkg.WordMain()
	if err != nil {
		t.Fatal(err)
	}
	return pkg, main
}

// Both forms of the standard, and any prefix, mean the same.
func TestStrictForm(t *testing.T) {
	const strict = `<s:styles xmlns:s="http://purl.oclc.org/ooxml/wordprocessingml/main"><s:style s:type="paragraph" s:styleId="P">` +
		`<s:pPr><s:ind s:start="7"/></s:pPr></s:style></s:styles>`
	docx := styletest.Replace(t, styletest.Parts{"document": "", "styles": ""}.Docx(t, nil), "word/styles.xml", strict)
	pkg, main := openBytes(t, docx)
	sheet, err := style.Read(pkg, main)
	if err != nil {
		t.Fatal(err)
	}
	p := sheet.Paragraph(style.Cell{}, stated(t, sheet, "w:pPr", `<w:pStyle w:val="P"/>`))
	if got, origin := p.Get("w:ind/@w:left"); got != "7" || origin.Style != "P" {
		t.Errorf("the indent is %q of %q", got, origin.Style)
	}
}

// FuzzResolve resolves everything in documents of any content. All results are within the limits, and sorted.
func FuzzResolve(f *testing.F) {
	f.Add(`<w:tbl><w:tblPr><w:tblStyle w:val="T"/></w:tblPr><w:tr><w:tc><w:p><w:pPr><w:pStyle `+
		`w:val="P"/></w:pPr><w:r/></w:p></w:tc></w:tr></w:tbl>`,
		styletest.Style("table", "T", "T", `<w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr>`), "")
	f.Add(`<w:p><w:pPr><w:pStyle w:val="P"/><w:rPr><w:i/></w:rPr></w:pPr></w:p>`,
		styletest.Style("paragraph", "P", "Q", `<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>`),
		`<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:pPr><w:ind w:start="1"/></w:pPr></w:lvl></w:abstractNum>`+
			`<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>`)
	empty := styletest.Parts{"document": "", "styles": "", "numbering": ""}.Docx(f, nil)
	f.Fuzz(func(t *testing.T, document, styles, numbering string) {
		docx := styletest.Replace(t, empty, "word/styles.xml", `<w:styles `+styletest.Namespaces+`>`+styles)
		docx = styletest.Replace(t, docx, "word/numbering.xml", `<w:numbering `+styletest.Namespaces+`>`+numbering)
		pkg, main := peek(t, docx)
		sheet, err := style.Read(pkg, main)
		if err != nil {
			return
		}
		src := []byte(`<w:document ` + styletest.Namespaces + `>` + document + `</w:document>`)
		root, err := wml.ParseTree("/a.xml", src)
		if err != nil {
			return
		}
		resolver := sheet.In(src)
		for _, result := range resolveAll(resolver, root) {
			count := 0
			for name := range result.All() {
				count++
				if _, origin := result.Get(name); origin.Level == style.Unset {
					t.Errorf("%s has no origin", name)
				}
			}
			if count > properties {
				t.Errorf("a result has %d properties", count)
			}
		}
	})
}

// resolveAll resolves all elements that have properties.
func resolveAll(resolver *style.Resolver, root *wml.Node) []style.Properties {
	var all []style.Properties
	for _, run := range root.All("w:r") {
		if above(run, "w:p") != nil {
			all = append(all, resolver.Run(run))
		}
	}
	for _, par := range root.All("w:p") {
		_, number := resolver.Number(par)
		all = append(all, resolver.Paragraph(par), resolver.Mark(par), number)
	}
	for _, table := range root.All("w:tbl") {
		all = append(all, resolver.Table(table))
		for _, row := range table.All("w:tr") {
			all = append(all, resolver.TableAt(row), resolver.Row(row))
		}
		for _, cell := range table.All("w:tc") {
			all = append(all, resolver.Cell(cell))
		}
	}
	return all
}
