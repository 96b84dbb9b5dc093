package fonts

import (
	"archive/zip"
	"bytes"
	"testing"

	"platen/docx/style/styletest"
	"platen/ooxml"
)

func BenchmarkRead(b *testing.B) {
	docx := styletest.Contract(b)
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
	// The floor is the time to decompress the document.
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			pkg, err := ooxml.Peek(bytes.NewReader(docx), int64(len(docx)), limits)
			if err != nil {
				b.Fatal(err)
			}
			for _, part := range pkg.Parts() {
				if _, err := pkg.Read(part); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
