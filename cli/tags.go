package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"platen/docx"
)

type tagsCmd struct {
	Template string `arg:"" placeholder:"TEMPLATE.docx" help:"Word template."`
	JSON     bool   `name:"json" help:"Print JSON: the tags, as in the API, or the errors with exit code 1."`
}

// Run lists the tags of the template, or all of its errors.
func (c *tagsCmd) Run(s *streams) error {
	template, err := parseTemplate(c.Template)
	if err != nil {
		return c.printErrors(s, err)
	}
	for _, warning := range template.Warnings() {
		fmt.Fprintf(s.err, "platen: %s: warning: %s\n", c.Template, warning)
	}
	tags := template.Tags()
	if c.JSON {
		return printJSON(s.out, append([]docx.Tag{}, tags...))
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TYPE\tTAG\tREADS")
	for _, t := range tags {
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Type, t.Content, strings.Join(whole(t.Paths), ", "))
	}
	return w.Flush()
}

// whole removes paths that only lead to others.
func whole(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(paths, func(other string) bool { return strings.HasPrefix(other, path+".") })
	})
}

// printErrors prints the errors of a template as JSON if programs need it.
func (c *tagsCmd) printErrors(s *streams, err error) error {
	if mistaken, ok := errors.AsType[*templateError](err); ok && c.JSON {
		return errors.Join(printJSON(s.out, map[string]any{"errors": mistaken.problems.Mistakes()}), errReported)
	}
	return err
}

// templateError is the error for a template whose tags cannot be read.
type templateError struct {
	path     string
	problems docx.Errors // errors, and then warnings
}

// Error lists every error with its location.
func (m *templateError) Error() string {
	var b strings.Builder
	mistakes := m.problems.Mistakes()
	fmt.Fprintf(&b, "%s: %d %s", m.path, len(mistakes), plural(len(mistakes), "mistake"))
	for _, mistake := range mistakes {
		fmt.Fprintf(&b, "\n\n%s", mistake)
	}
	return b.String()
}

// parseTemplate reads and compiles a template.
func parseTemplate(path string) (*docx.Template, error) {
	return parseTemplateWith(path, docx.ContentsAuto)
}

// parseTemplateWith is parseTemplate with a choice of the tables of contents to rewrite.
func parseTemplateWith(path string, contents docx.Contents) (*docx.Template, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	if err != nil {
		return nil, err
	}
	return compileTemplate(path, f, info.Size(), contents, func(string) {})
}

// compileTemplate compiles a template of size bytes, and calls opened with the name of each file that it includes, before the file is read.
// The included files are found next to path.
func compileTemplate(path string, r io.ReaderAt, size int64, contents docx.Contents, opened func(name string)) (*docx.Template, error) {
	template, err := docx.ParseWith(context.Background(), r, size, docx.ParseOptions{
		Time: -1, Contents: contents, Include: func(name string) ([]byte, error) {
			opened(name)
			return included(filepath.Dir(path))(name)
		},
	})
	if problems, ok := errors.AsType[docx.Errors](err); ok {
		return nil, &templateError{path, problems}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return template, nil
}

// included returns a function that opens the files that a template includes, from the template's folder and its subfolders.
func included(folder string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return nil, notOpened(folder, name, err)
		}
		defer f.Close()
		info, err := f.Stat()
		switch {
		case err != nil:
			return nil, notOpened(folder, name, err)
		case info.IsDir():
			return nil, errors.New("is a folder, not a file")
		case !info.Mode().IsRegular():
			return nil, errors.New("is not a file")
		case info.Size() > docx.MaxFile:
			return nil, fmt.Errorf("has %d bytes, more than the %d allowed", info.Size(), int64(docx.MaxFile))
		}
		data, err := io.ReadAll(f)
		if err != nil {
			return nil, fmt.Errorf("cannot be read: %w", err)
		}
		return data, nil
	}
}

// notOpened returns why a file cannot be included that cannot be opened. The error completes a sentence whose subject is the file.
func notOpened(folder, name string, err error) error {
	where := "the folder of the template"
	if folder != "." {
		where += ", " + folder
	}
	_, there := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
	failed, isPath := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)+".docx")); err == nil {
			return fmt.Errorf("was not found in %s; did you mean %q?", where, name+".docx")
		}
		return fmt.Errorf("was not found in %s", where)
	case errors.Is(err, fs.ErrPermission):
		return errors.New("cannot be opened: permission denied")
	case there == nil:
		return fmt.Errorf("is a link to a file outside of %s; copy the file to that folder", where)
	case isPath:
		return fmt.Errorf("cannot be opened: %w", failed.Err) // without the name, which the sentence has
	}
	return fmt.Errorf("cannot be opened: %w", err)
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
