package font

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server of a few hundred fonts starts no slower for them.
func BenchmarkOpen(b *testing.B) {
	faces, dir := installed(b).Faces(), b.TempDir()
	for i := range 400 {
		source := faces[i%len(faces)].File
		if err := os.Symlink(source, filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(source)))); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("400 files", func(b *testing.B) {
		for b.Loop() {
			open(b, Folders{System: []string{dir}})
		}
	})
	// The floor: opening each file and reading its first 4 kB.
	b.Run("floor", func(b *testing.B) {
		buf := make([]byte, 4096)
		for b.Loop() {
			for _, name := range fileNames(b, dir) {
				f, err := os.Open(name)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Read(buf); err != nil {
					b.Fatal(err)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func fileNames(b *testing.B, dir string) []string {
	b.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		b.Fatal(err)
	}
	return all
}

// contract is a document of some fifty pages: numbered clauses, some words set apart, a table.
func contract(tb testing.TB) []byte {
	tb.Helper()
	var text strings.Builder
	for i := range 50 {
		text.WriteString(para(`<w:pStyle w:val="Head"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>`, runs("", fmt.Sprintf("Clause %d: Duties of the parties", i))))
		for range 14 {
			text.WriteString(para(`<w:pStyle w:val="Body"/>`, runs(`<w:lang w:val="en-GB"/>`, "The Supplier shall, at its own cost and within the time set out in Schedule 2, deliver the “Services” to the ")+
				runs(`<w:rStyle w:val="Term"/><w:b/>`, "Customer")+runs(`<w:rFonts w:ascii="Georgia" w:hAnsi="Georgia"/><w:i/>`, " – inter alia –")+
				runs("", " and shall keep all information confidential that it receives in connection with this Agreement, whether or not it is marked as such.")))
		}
	}
	return parts{
		"document": text.String(), "theme": themeFonts,
		"styles":    defaults + styleOf("paragraph", "Body", "", styled("Calibri")) + styleOf("paragraph", "Head", "Body", styled("Cambria")) + styleOf("character", "Term", "", styled("Arial")),
		"numbering": `<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>`,
	}.docx(tb, nil)
}

func BenchmarkRead(b *testing.B) {
	docx := contract(b)
	zr, err := zip.NewReader(bytes.NewReader(docx), int64(len(docx)))
	if err != nil {
		b.Fatal(err)
	}
	size := int64(0)
	for _, f := range zr.File {
		size += int64(f.UncompressedSize64)
	}
	b.Run("contract", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Read(bytes.NewReader(docx), int64(len(docx))); err != nil {
				b.Fatal(err)
			}
		}
	})
	// The floor: unpacking.
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			c, err := openContainer(bytes.NewReader(docx), int64(len(docx)))
			if err != nil {
				b.Fatal(err)
			}
			for name := range c.entries {
				if _, err := c.part(name, maxPartBytes); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkReport(b *testing.B) {
	l, d := installed(b), read(b, contract(b))
	for b.Loop() {
		l.Report(d).Warnings()
	}
}

func BenchmarkUsed(b *testing.B) {
	pdf := bytes.Repeat([]byte("\x00\xff stream / not a font /B \n"), 1<<20/30)
	pdf = append(pdf, "<</BaseFont/BAAAAA+Carlito>>"...)
	b.Run("1 MB", func(b *testing.B) {
		b.SetBytes(int64(len(pdf)))
		for b.Loop() {
			if got, err := Used(bytes.NewReader(pdf)); err != nil || len(got) != 1 {
				b.Fatal(got, err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(int64(len(pdf)))
		for b.Loop() {
			if _, err := io.Copy(io.Discard, struct{ io.Reader }{bytes.NewReader(pdf)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
