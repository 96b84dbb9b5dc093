package expect_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"platen/docx/compile/compiletest"
	"platen/docx/expect"
)

func document(t *testing.T, body string) []byte {
	t.Helper()
	return compiletest.Build(t, map[string]string{"document.xml": body})
}

func paragraphs(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<w:p><w:r><w:t>%s %d</w:t></w:r></w:p>", text, i)
	}
	return b.String()
}

// tabbed returns paragraphs with as many properties as are read.
func tabbed(n int, kind string) string {
	var tabs strings.Builder
	for i := range 200 {
		fmt.Fprintf(&tabs, `<w:tab w:val="%s" w:pos="%d"/>`, kind, 1+i)
	}
	return strings.Repeat(`<w:p><w:pPr><w:tabs>`+tabs.String()+`</w:tabs></w:pPr><w:r><w:t>text</w:t></w:r></w:p>`, n)
}

// Documents that have nothing in common, or everything but their order, are compared within the limits.
func TestCompareOfLargeDocuments(t *testing.T) {
	const n = 5000
	one := outline(t, document(t, paragraphs(n, "one")))
	two := outline(t, document(t, paragraphs(n, "other "+strings.Repeat("word ", 40))))
	tables := outline(t, document(t, strings.Repeat("<w:tbl><w:tblPr/><w:tblGrid/>"+strings.Repeat(
		"<w:tr><w:tc><w:p/></w:tc></w:tr>", 50)+"</w:tbl><w:p/>", 100)))
	many := outline(t, document(t, paragraphs(100_000, "many")))
	left, right := outline(t, document(t, tabbed(300, "left"))), outline(t, document(t, tabbed(300, "right")))
	for name, pair := range map[string][2][]expect.Line{
		"different": {one, two}, "none": {one, nil}, "tables": {one, tables}, "rotated": {one, append(one[n/2:len(one):len(one)], one[:n/2]...)},
		"many": {many, one}, "properties": {left, right},
	} {
		found := expect.Compare(pair[0], pair[1])
		if last := len(found) - 1; last != 100 || found[last].Kind != expect.TooMany {
			t.Errorf("%s: %d differences, want 100 and the number of those that were left out", name, len(found))
		}
	}
}

func TestOutlineIsLimited(t *testing.T) {
	deep := strings.Repeat("<w:tbl><w:tr><w:tc>", 100) + paragraphs(1, strings.Repeat("text ", 100_000)) +
		strings.Repeat("<w:p/></w:tc></w:tr></w:tbl>", 100)
	var colored strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&colored, `<w:r><w:rPr><w:color w:val="%06X"/></w:rPr><w:t>a</w:t></w:r>`, uint32(i)*2_654_435_761>>8)
	}
	for name, body := range map[string]string{
		"nested tables that repeat their formats": strings.Repeat("<w:tbl><w:tr><w:tc>", 150) + "<w:p>" + colored.String() + "</w:p>" +
			strings.Repeat("<w:p/></w:tc></w:tr></w:tbl>", 150) + "<w:p/>",
		"nested tables that repeat their text": deep + "<w:p/>",
		"very many paragraphs":                 strings.Repeat("<w:p/>", 600_000),
	} {
		file := document(t, body)
		if _, err := expect.Outline(bytes.NewReader(file), int64(len(file))); !errors.Is(err, expect.ErrTooLarge) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Fields that never end, notes that contain themselves, and lost parts are no reason to fail.
func TestOutlineOfDamagedDocuments(t *testing.T) {
	for name, parts := range map[string]map[string]string{
		"fields": {"document.xml": strings.Repeat(`<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:t>a</w:t></w:r></w:p>`, 5000)},
		"notes": {
			"document.xml":  `<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>`,
			"footnotes.xml": `<w:footnote w:id="1"><w:p><w:r><w:footnoteReference w:id="1"/><w:t>note</w:t></w:r></w:p></w:footnote>`,
		},
		"parts": {"document.xml": `<w:p><w:hyperlink r:id="no"><w:r><w:t>a</w:t></w:r></w:hyperlink></w:p><w:sectPr>` +
			`<w:headerReference w:type="default" r:id="no"/></w:sectPr>`},
	} {
		if lines := outline(t, compiletest.Build(t, parts)); len(lines) == 0 {
			t.Errorf("%s: no lines", name)
		}
	}
}

// The memory that an outline takes grows with the document, also for a text of many runs or of many paragraphs that continue one another.
func TestOutlineTakesLinearMemory(t *testing.T) {
	for name, element := range map[string]string{
		"runs":           `<w:r><w:t>text</w:t></w:r>`,
		"deleted marks":  `</w:p><w:p><w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr><w:r><w:t>text</w:t></w:r>`,
		"hidden marks":   `</w:p><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>text</w:t></w:r>`,
		"hidden text":    `</w:p><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:rPr><w:vanish/></w:rPr><w:t>text</w:t></w:r>`,
		"two formats":    `<w:r><w:t>a</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>b</w:t></w:r>`,
		"computed field": `<w:fldSimple w:instr="PAGE"><w:r><w:t>1</w:t></w:r></w:fldSimple>`,
	} {
		allocated := func(n int) uint64 {
			file := document(t, "<w:p>"+strings.Repeat(element, n)+"</w:p><w:p/>")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			outline(t, file)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		const n, factor = 2000, 5
		if one, more := allocated(n), allocated(factor*n); more > 2*factor*one {
			t.Errorf("%s: %d bytes for %d, %d bytes for %d", name, one, n, more, factor*n)
		}
	}
}
