package chart_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"platen/docx/chart"
	"platen/ooxml/ooxmltest"
)

// Each file of testdata is a chart, its data, and the result: the part and the sheet of the workbook, or the error.
func TestFill(t *testing.T) { ooxmltest.Golden(t, fillGolden) }

func fillGolden(t *testing.T, archive *txtar.Archive) *txtar.Archive {
	var src []byte
	var data chart.Data
	for _, f := range archive.Files[:2] {
		switch f.Name {
		case "chart.xml":
			src = f.Data
		case "data.json":
			if err := json.Unmarshal(f.Data, &data); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := &txtar.Archive{Comment: archive.Comment, Files: slices.Clone(archive.Files[:2])}
	section := func(name, content string) {
		got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(strings.TrimSuffix(content, "\n") + "\n")})
	}
	filled, err := chart.Fill(src, &data, "rIdW")
	if err != nil {
		section("error", err.Error())
		return got
	}
	if filled.Doubt != "" {
		section("doubt", filled.Doubt)
	}
	wellFormed(t, filled.Part)
	section("want.xml", string(filled.Part))
	section("sheet.xml", strings.ReplaceAll(sheetOf(t, filled.Workbook), "<row", "\n<row"))
	return got
}

func wellFormed(t *testing.T, src []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(src))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, src)
		}
	}
}

// sheetOf returns the sheet of a workbook, all parts of which must be well formed.
func sheetOf(t *testing.T, book []byte) (sheet string) {
	t.Helper()
	for name, part := range ooxmltest.Unpack(t, book) {
		wellFormed(t, []byte(part))
		if name == "xl/worksheets/sheet1.xml" {
			sheet = part
		}
	}
	return sheet
}

const bars = `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:plotArea><c:barChart>` +
	`<c:ser><c:idx val="0"/><c:order ` +
	`val="0"/><c:val><c:numRef><c:f>Sheet1!$B$2</c:f><c:numCache><c:formatCode>0.00%</c:formatCode></c:numCache></c:numRef></c:val></c:ser>` +
	`</c:barChart></c:plotArea></c:chart></c:chartSpace>`

func TestTooMuch(t *testing.T) {
	many := func(series, points int) *chart.Data {
		return &chart.Data{Categories: make([]string, points), Series: make([]chart.Series, series)}
	}
	for want, d := range map[string]*chart.Data{
		"has no data series":                                 many(0, 1),
		"has 256 series; the limit for a chart is 255":       many(256, 1),
		"has 32001 points; the limit for a series is 32000":  many(1, 32_001),
		"has 256000 values; the limit for a chart is 250000": many(8, 32_000),
	} {
		if _, err := chart.Fill([]byte(bars), d, "rId1"); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if _, err := chart.Fill([]byte(bars), many(7, 32_000), "rId1"); err != nil {
		t.Error(err)
	}
}

// Whatever the part is, the result is well formed and has the values of the data.
func FuzzFill(f *testing.F) {
	for _, archive := range ooxmltest.Archives(f, "testdata") {
		f.Add(archive.Files[0].Data, 2, 3, "x & y")
	}
	f.Fuzz(func(t *testing.T, src []byte, series, points int, text string) {
		d := &chart.Data{}
		for i := range max(min(points, 40), 0) {
			d.Categories = append(d.Categories, text+strconv.Itoa(i))
		}
		for i := range max(min(series, 20), 0) {
			s := chart.Series{Name: text}
			for j := range d.Categories {
				s.Values = append(s.Values, strconv.Itoa(i*j))
			}
			d.Series = append(d.Series, s)
		}
		if !isWellFormed(src) {
			return
		}
		filled, err := chart.Fill(src, d, "rId1")
		if err != nil {
			return
		}
		wellFormed(t, filled.Part)
		if rows := strings.Count(sheetOf(t, filled.Workbook), "<row"); rows != len(d.Categories)+1 {
			t.Errorf("the sheet has %d rows, for %d points", rows, len(d.Categories))
		}
	})
}

// isWellFormed reports whether the package would give a document to Fill.
func isWellFormed(src []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(src))
	for {
		if _, err := d.Token(); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}
