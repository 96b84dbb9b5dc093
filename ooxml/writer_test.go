package ooxml_test

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"

	"platen/ooxml"
	"platen/ooxml/deflate"
)

// TestWriterWritesPlainZip reads each kind of entry back with archive/zip, which checks the sums.
func TestWriterWritesPlainZip(t *testing.T) {
	sketch := new(deflate.Sketch)
	piece := sketch.Piece([]byte("<known/>"))
	plan := deflate.NewPlan(sketch)
	var out bytes.Buffer
	w := ooxml.NewWriter(&out)
	planned, err := w.CreatePlanned("/word/planned.xml", plan)
	if err != nil {
		t.Fatal(err)
	}
	planned.Piece(piece, len("<known/>"))
	planned.Fresh([]byte("fresh"))
	for _, name := range []string{"/word/größe.xml", "/empty.xml"} {
		part, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if name != "/empty.xml" {
			if _, err := io.WriteString(part, "bytes"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	zr, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ name, content string }{{"word/planned.xml", "<known/>fresh"}, {"word/größe.xml", "bytes"}, {"empty.xml", ""}}
	if len(zr.File) != len(want) {
		t.Fatalf("%d entries, want %d", len(zr.File), len(want))
	}
	for i, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil || f.Name != want[i].name || string(content) != want[i].content || f.NonUTF8 {
			t.Errorf("entry %d is %q: %q, %v; want %q", i, f.Name, content, err, want[i])
		}
	}
}
