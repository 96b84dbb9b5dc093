package wordml

import (
	"errors"
	"strings"
	"testing"

	"platen/budget"
)

func table(cells string) string {
	return "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr>" + cells + "</w:tr></w:tbl>"
}

func paragraph(content string) string { return "<w:p><w:r><w:t>" + content + "</w:t></w:r></w:p>" }

func TestRejected(t *testing.T) {
	columns := strings.Repeat("<w:gridCol/>", 64)
	const cell, wide = "<w:tc><w:p/></w:tc>", `<w:tc><w:tcPr><w:gridSpan w:val="3"/></w:tcPr><w:p/></w:tc>`
	for fragment, want := range map[string]string{
		table(strings.Repeat(cell, 63)):        "",
		table(strings.Repeat(cell, 64)):        "w:tr has 64 columns, more than the limit of Word, which is 63",
		table(strings.Repeat(cell, 60) + wide): "",
		table(strings.Repeat(cell, 61) + wide): "w:tr has 64 columns, more than the limit of Word, which is 63",
		"<w:tbl><w:tblPr/><w:tblGrid>" + columns + "</w:tblGrid><w:tr>" + cell + "</w:tr></w:tbl>": "w:tblGrid has 64 columns, more than " +
			"the limit of Word, which is 63",
		`<!DOCTYPE x [<!ENTITY a "b">]>` + paragraph("&a;"): "it has a document type (<!DOCTYPE), which a fragment cannot have",
		paragraph("a&name;"):  "a text has an unreadable character (U+FFFD), or a reference such as &name; that XML does not have",
		paragraph("a\uFFFDb"): "a text has an unreadable character (U+FFFD), or a reference such as &name; that XML does not have",
		paragraph("a&#1;b"):   "a text has control characters, which are not allowed in a document",
		paragraph("&#xFFFF;"): "a text has U+FFFF, which is not a character",
		paragraph("a & b"):    "",
	} {
		got := ""
		if _, err := Parse(budget.New(t.Context(), budget.Limits{}), fragment); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.80s: %q, want %q", fragment, got, want)
		}
	}
}

// TestMemory checks that the elements of a fragment count as memory of the document while it is read.
func TestMemory(t *testing.T) {
	fragment := strings.Repeat("<w:p/>", 10_000)
	meter := budget.New(t.Context(), budget.Limits{Memory: 1 << 20})
	if _, err := Parse(meter, fragment); err == nil {
		t.Error("10,000 elements fit into 1 MiB")
	} else if e, ok := errors.AsType[*budget.Error](err); !ok || e.Budget != budget.Memory {
		t.Error(err)
	}
	meter = budget.New(t.Context(), budget.Limits{})
	if _, err := Parse(meter, fragment); err != nil {
		t.Fatal(err)
	}
	if held := meter.Used().Memory; held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
}
