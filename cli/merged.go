package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"platen/pdf/finish"
)

// checkMerged rejects invalid options for a merged PDF.
func (f *pdfFlags) checkMerged() error {
	switch {
	case f.Merged == "":
		return nil
	case !isPDF(f.Merged):
		return fmt.Errorf("--merged %s must be the name of a file that ends in %s", f.Merged, pdfExtension)
	case f.Standard != "":
		return fmt.Errorf("--merged cannot be combined with --pdf-standard: a merged PDF would not conform to %s", f.Standard)
	}
	return nil
}

// checkDistinct rejects a merged PDF that would overwrite one of the documents at the given paths.
func (f *pdfFlags) checkDistinct(documents []string) error {
	switch {
	case f.Merged == "":
		return nil
	case slices.Contains(documents, "-"):
		return usagef("--merged needs files, but the document goes to standard output: select a file with -o")
	case slices.ContainsFunc(documents, func(path string) bool { return filepath.Clean(path) == filepath.Clean(f.Merged) }):
		return usagef("%s would be both a document and the merged PDF: select another file with --merged", f.Merged)
	}
	return nil
}

// merge merges the generated documents if name is not empty, and returns the path of the merged PDF. The paths of documents that failed
// are empty.
func (c *converter) merge(name string, paths []string) (merged string, err error) {
	made := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == "" })
	if name == "" || len(made) == 0 {
		return "", nil
	}
	documents := make([]finish.Document, len(made))
	for i, path := range made {
		documents[i] = finish.Document{
			Name: stem(path),
			Open: func() (io.ReadCloser, error) { return os.Open(path) },
		}
		if c.protection != nil {
			documents[i].Password = c.protection.UserPassword
		}
	}
	err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), writeAtomically(name, func(w io.Writer) error {
		return finish.Merge(w, documents, c.protection)
	}))
	if err != nil {
		return "", fmt.Errorf("merge the documents into %s: %w", name, err)
	}
	return name, nil
}

// pathsOf returns the paths of documents.
func pathsOf[T any](documents []T, path func(T) string) []string {
	paths := make([]string, len(documents))
	for i := range documents {
		paths[i] = path(documents[i])
	}
	return paths
}

// alsoIn returns the part of a summary about a merged PDF.
func alsoIn(merged string) string {
	if merged == "" {
		return ""
	}
	return ", merged in " + merged
}
