package font

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platen/docx/fonts"
)

const corpus = "../../../shared/corpus"

// corpusFiles returns the real documents by path below the corpus. It skips the test if there is no corpus.
func corpusFiles(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(corpus, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".docx") {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, corpus+"/")] = b
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the corpus of real files is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCorpus checks that every document of the corpus is read or rejected.
func TestCorpus(t *testing.T) {
	l := installed(t)
	files, documents, asked := corpusFiles(t), 0, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b := files[name]
		d, err := fonts.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			continue
		}
		documents++
		report := l.Report(d)
		for _, f := range report.Fonts {
			asked[f.Name] = true
			if f.Used == "" || f.Characters == 0 {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	t.Logf("%d documents of %d ask for %d fonts", documents, len(files), len(asked))
	if documents < 300 || len(asked) < 40 {
		t.Errorf("only %d documents of %d, which ask for %d fonts", documents, len(files), len(asked))
	}
}

// read reads a document that must be valid.
func read(t testing.TB, docx []byte) *fonts.Document {
	t.Helper()
	d, err := fonts.Read(bytes.NewReader(docx), int64(len(docx)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
