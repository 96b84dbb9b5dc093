package wml

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"platen/ooxml"
)

// BenchmarkParseTree reads the main parts of an invoice and of a real document of 46 pages. Its floor is counting the tags.
func BenchmarkParseTree(b *testing.B) {
	for name, pattern := range map[string]string{
		"invoice": "../../examples/invoice/*.docx",
		"manual":  "../../../shared/corpus/word-pdfs/windows/docx4j-getting-started.docx",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			b.Logf("%s is not there", pattern)
			continue
		}
		src := mainPart(b, files[0])
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := ParseTree("/word/document.xml", src); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/floor", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				bytes.Count(src, []byte("<"))
			}
		})
	}
}

func mainPart(b *testing.B, file string) []byte {
	b.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	pkg, err := ooxml.OpenBytes(content, ooxml.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	main, err := pkg.WordMain()
	if err != nil {
		b.Fatal(err)
	}
	src, err := pkg.ReadXML(main)
	if err != nil {
		b.Fatal(err)
	}
	return bytes.Clone(src)
}
