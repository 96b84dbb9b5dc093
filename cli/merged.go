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

// checkMerged refuses a merged PDF that cannot be.
func (f *pdfFlags) checkMerged() error {
	switch {
	case f.Merged == "":
		return nil
	case !isPDF(f.Merged):
		return fmt.Errorf("--merged %s must be the name of a file that ends in %s", f.Merged, pdfExtension)
	case f.Standard != "":
		return fmt.Errorf("--merged does not go with --pdf-standard: of several %s becomes a PDF that is none", f.Standard)
	}
	return nil
}

// checkDistinct refuses a merged PDF that would be written in the place of one of the documents, which are to be at these paths.
func (f *pdfFlags) checkDistinct(documents []string) error {
	switch {
	case f.Merged == "":
		return nil
	case slices.Contains(documents, "-"):
		return usagef("--merged is made of files, and the document goes to standard output: name a file with -o")
	case slices.ContainsFunc(documents, func(path string) bool { return filepath.Clean(path) == filepath.Clean(f.Merged) }):
		return usagef("%s would be one of the documents, and that of all: name another file with --merged", f.Merged)
	}
	return nil
}

// merge makes the merged PDF of those of the documents that were made, if one is asked for by its name, which it returns then. A path
// is empty where a document was not made.
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
		return "", fmt.Errorf("make %s of the documents: %w", name, err)
	}
	return name, nil
}

// pathsOf are the paths of documents.
func pathsOf[T any](documents []T, path func(T) string) []string {
	paths := make([]string, len(documents))
	for i := range documents {
		paths[i] = path(documents[i])
	}
	return paths
}

// alsoIn is what a summary says of a merged PDF.
func alsoIn(merged string) string {
	if merged == "" {
		return ""
	}
	return ", all in " + merged
}
