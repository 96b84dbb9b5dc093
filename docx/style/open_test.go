package style_test

import (
	"os"
	"testing"

	"platen/ooxml"
)

// open opens a document and returns its main part.
func open(t testing.TB, file string) (*ooxml.Package, *ooxml.Part) {
	t.Helper()
	return openBytes(t, read(t, file))
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func openBytes(t testing.TB, content []byte) (*ooxml.Package, *ooxml.Part) {
	t.Helper()
	pkg, err := ooxml.OpenBytes(content, ooxml.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	main, err := pkg.WordMain()
	if err != nil {
		t.Fatal(err)
	}
	return pkg, main
}
