package style_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// noted has the conditional formats by the bits of w:cnfStyle (§17.3.1.8), from the highest.
var noted = [...]style.Condition{
	style.FirstRow, style.LastRow, style.FirstColumn, style.LastColumn, style.OddColumns, style.EvenColumns, style.OddRows, style.EvenRows,
	style.TopRight, style.TopLeft, style.BottomRight, style.BottomLeft,
}

// edges are the formats that Word notes whether the style has them or not.
const edges = style.FirstRow | style.LastRow | style.FirstColumn | style.LastColumn

// TestPositionsAsNotedByWord compares the conditional formats of cells with those that Word noted in w:cnfStyle. Word leaves out bands and
// corners that the style lacks.
func TestPositionsAsNotedByWord(t *testing.T) {
	documents, err := filepath.Glob("../../../shared/corpus/*/*.docx")
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) == 0 {
		t.Skip("the shared corpus is missing")
	}
	cells, agree, used := 0, 0, 0
	for _, file := range documents {
		pkg, err := ooxml.OpenBytes(read(t, file), ooxml.Limits{})
		if err != nil {
			continue // some are broken on purpose
		}
		main, err := pkg.WordMain()
		if err != nil {
			continue
		}
		before := cells
		for cell, want := range notes(t, pkg, main) {
			cells++
			if got := cell.got; got&want == want && (got^want)&edges == 0 {
				agree++
			} else {
				t.Logf("%s at %d: %s, but Word noted %s", filepath.Base(file), cell.start, got, want)
			}
		}
		if cells > before {
			used++
		}
	}
	t.Logf("%d of %d cells of %d documents agree", agree, cells, used)
	if percent := 100 * agree / max(cells, 1); percent < leastPositions {
		t.Errorf("the conditional formats of %d %% of the cells agree", percent)
	}
}

// leastPositions is the share of cells that must agree, in percent: in a few, only the row is noted.
const leastPositions = 98

// located is a cell at an offset, with its conditional formats.
type located struct {
	start int
	got   style.Condition
}

// notes returns the conditional formats that are noted in the cells of a document.
func notes(t *testing.T, pkg *ooxml.Package, main *ooxml.Part) map[located]style.Condition {
	t.Helper()
	sheet, err := style.Read(pkg, main)
	if err != nil {
		t.Fatal(err)
	}
	src, err := pkg.ReadXML(main)
	if err != nil {
		return nil // broken on purpose
	}
	root, err := wml.ParseTree(main.Name, src)
	if err != nil {
		t.Fatal(err)
	}
	resolver := sheet.In(src)
	all := map[located]style.Condition{}
	for _, cell := range root.All("w:tc") {
		ofRow, rowNoted := noteIn(src, above(cell, "w:tr").Child("w:trPr"))
		ofCell, cellNoted := noteIn(src, cell.Child("w:tcPr"))
		if got := resolver.Conditions(cell); got != 0 && (rowNoted || cellNoted) {
			all[located{cell.Start, got}] = ofRow | ofCell
		}
	}
	return all
}

// noteIn reads the w:cnfStyle in properties.
func noteIn(src []byte, properties *wml.Node) (style.Condition, bool) {
	n := properties.Child("w:cnfStyle")
	if n == nil {
		return 0, false
	}
	r := scan.New([]byte(`<a xmlns:w="` + names.Namespace("w", false) + `">` + string(src[n.Start:n.End])))
	for range 2 {
		r.Next()
	}
	bits, err := strconv.ParseUint(r.Attr("w:val"), 2, len(noted)+1)
	if err != nil {
		return 0, false
	}
	all := style.Condition(0)
	for i, condition := range noted {
		if bits>>(len(noted)-1-i)&1 != 0 {
			all |= condition
		}
	}
	return all, true
}
