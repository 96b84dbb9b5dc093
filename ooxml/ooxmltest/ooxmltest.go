// Package ooxmltest helps to test packages that read or write Office files: it runs tests with golden archives, and unpacks documents.
package ooxmltest

import (
	"archive/zip"
	"bytes"
	"flag"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the tests get into their golden files")

// Archives returns the golden archives of a folder, by the names of their files.
func Archives(t testing.TB, dir string) iter.Seq2[string, *txtar.Archive] {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files in %s: %v", dir, err)
	}
	return func(yield func(string, *txtar.Archive) bool) {
		for _, name := range files {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(name, archive) {
				return
			}
		}
	}
}

// Golden runs a test for each archive testdata/*.txtar. An archive has inputs, and the outputs that they must give: run returns it with
// those that they do give. With the flag -update, Golden replaces the archive.
func Golden(t *testing.T, run func(t *testing.T, archive *txtar.Archive) *txtar.Archive) {
	t.Helper()
	for name, archive := range Archives(t, "testdata") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			got := run(t, archive)
			if *update {
				if err := os.WriteFile(name, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("run with -update to accept (-want +got):\n%s", diff)
			}
		})
	}
}

// Unpack returns the contents of the entries of a file, by their names.
func Unpack(t testing.TB, file []byte) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		files[f.Name] = string(content)
	}
	return files
}
