package font

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"platen/docx/style/styletest"
)

// BenchmarkOpen measures the start of a server with a few hundred fonts.
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
	// The floor is the time to open each file and read its first 4 kB.
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

func BenchmarkReport(b *testing.B) {
	l, d := installed(b), read(b, styletest.Contract(b))
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
