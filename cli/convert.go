package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"platen/docx"
	"platen/ooxml"
)

type convertCmd struct {
	In  []string `arg:"" name:"in" placeholder:"IN.docx" help:"Word documents, or folders with .docx files, including subfolders; - for standard input."`
	Out string   `short:"o" placeholder:"OUT" help:"The PDF file if OUT ends in .pdf, otherwise the folder for PDFs; - for standard output (default for one document: the name of IN, in the current folder)."`
	contentsFlags
	pdfFlags
	pdfConfig
	JSON bool `name:"json" help:"Print a report as JSON: the file of each document, or why there is none."`
}

// Help is the additional text of platen convert --help.
func (*convertCmd) Help() string {
	return "Converts up to --pdf-workers documents at the same time. The PDFs of a folder keep its structure below OUT. If a document " +
		"fails, the others are still converted. The command then lists the failures with their reasons, and the exit code is 1."
}

// conversion is a document to convert.
type conversion struct{ in, out string }

// convertReport is the output with --json.
type convertReport struct {
	Documents []convertedDocument `json:"documents"`
	Written   int                 `json:"written"`
	Failed    int                 `json:"failed"`
	Merged    string              `json:"merged,omitempty"` // the merged PDF of all converted documents
	Seconds   float64             `json:"seconds"`
}

// convertedDocument is the result of one conversion.
type convertedDocument struct {
	Input    string   `json:"input"`
	File     string   `json:"file,omitempty"` // empty if it failed
	Failure  string   `json:"failure,omitempty"`
	Kept     string   `json:"kept,omitempty"` // copy of a document that crashed LibreOffice
	Warnings []string `json:"warnings"`       // about fonts
	converted
}

// Run converts the documents and reports failures.
func (c *convertCmd) Run(ctx context.Context, s *streams) (err error) {
	conversions, err := c.conversions()
	if err != nil {
		return err
	}
	if err := c.checkDistinct(pathsOf(conversions, func(each conversion) string { return each.out })); err != nil {
		return err
	}
	converter, err := newConverter(&c.pdfConfig, &c.pdfFlags, "", len(conversions))
	if err != nil {
		return err
	}
	converter.contents = c.contents()
	defer func() { err = errors.Join(err, converter.engine.Close()) }()
	began := time.Now()
	report := convertReport{Documents: make([]convertedDocument, len(conversions))}
	bar := newProgress(s.err, len(conversions), "Converting")
	err = several(ctx, len(conversions), converter.atOnce(), bar, func(ctx context.Context, i int, release func()) {
		report.Documents[i] = converter.convertTo(ctx, s, conversions[i], release)
	})
	if err != nil {
		return err
	}
	files := pathsOf(report.Documents, func(d convertedDocument) string { return d.File })
	if report.Merged, err = converter.merge(c.Merged, files); err != nil {
		return err
	}
	report.Seconds = time.Since(began).Seconds()
	return c.report(s, &report)
}

// convertTo converts a document to a PDF file.
func (c *converter) convertTo(ctx context.Context, s *streams, what conversion, release func()) convertedDocument {
	document := convertedDocument{Input: what.in, Warnings: []string{}}
	content, err := readWord(what.in, s.in)
	if err != nil {
		document.Failure = plainPaths(err)
		return document
	}
	if updated, err := docx.UpdateContents(ctx, content, c.contents); err == nil {
		content = updated
	} else {
		document.Warnings = append(document.Warnings, "The tables of contents were not updated: "+err.Error())
	}
	made, about, warnings, err := c.convert(ctx, content, release)
	if err == nil {
		err = makeOut(s, what.out, made)
	}
	if err != nil {
		document.Failure, document.Kept = whyNot(err)
		return document
	}
	document.File, document.converted = what.out, about
	document.Warnings = append(document.Warnings, warnings...)
	return document
}

// readWord reads a Word document from a file or standard input. LibreOffice would convert anything, and nobody wants a PDF of a text file
// or a web page by accident.
func readWord(path string, stdin io.Reader) ([]byte, error) {
	var content []byte
	var err error
	if path == "-" {
		content, err = io.ReadAll(stdin)
	} else {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	if _, err := ooxml.OpenBytes(content, ooxml.Limits{}); err != nil {
		return nil, err
	}
	return content, nil
}

// makeOut writes a file, in a folder that it creates if missing, or to standard output for "-".
func makeOut(s *streams, path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeOut(s, path, content)
}

// conversions returns the documents that the arguments select, with the paths of their PDFs.
func (c *convertCmd) conversions() ([]conversion, error) {
	single, err := c.single()
	if err != nil {
		return nil, err
	}
	if single != nil {
		return []conversion{*single}, nil
	}
	var all []conversion
	for _, in := range c.In {
		found, err := c.find(in)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no %s files in %s", wordExtension, strings.Join(c.In, ", "))
	}
	return distinct(all)
}

// single returns the conversion of one document to one file, or nil if PDFs go to a folder.
func (c *convertCmd) single() (*conversion, error) {
	in := c.In[0]
	info, err := os.Stat(in)
	one := len(c.In) == 1 && (in == "-" || err == nil && !info.IsDir())
	switch {
	case len(c.In) == 1 && in != "-" && err != nil:
		return nil, err
	case isWord(c.Out):
		return nil, usagef("%s is the name of a Word document: use a name that ends in %s, or a folder", c.Out, pdfExtension)
	case c.Out == "-" && c.JSON:
		return nil, usagef("standard output cannot receive both the PDF and the report: select a file with -o")
	case one && c.Out == "":
		return &conversion{in, nameOfPDF(in)}, nil
	case one && (c.Out == "-" || isPDF(c.Out)):
		return &conversion{in, c.Out}, nil
	case one:
		return nil, nil
	case c.Out == "":
		return nil, usagef("select the folder for the PDFs with -o")
	case c.Out == "-" || isPDF(c.Out):
		return nil, usagef("several documents are written to a folder: select one with -o, instead of %s", c.Out)
	}
	return nil, nil
}

// nameOfPDF returns the name of the PDF of a document, without folders.
func nameOfPDF(in string) string { return stem(in) + pdfExtension }

// stem returns the name of a file without folders and extension; for standard input, a default.
func stem(path string) string {
	if path == "-" {
		return "output"
	}
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// find returns the conversions of an argument into the output folder.
func (c *convertCmd) find(in string) ([]conversion, error) {
	if in == "-" {
		return []conversion{{in, filepath.Join(c.Out, nameOfPDF(in))}}, nil
	}
	info, err := os.Stat(in)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []conversion{{in, filepath.Join(c.Out, nameOfPDF(in))}}, nil
	}
	var found []conversion
	err = filepath.WalkDir(in, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isWord(path) || ofOpenDocument(entry.Name()) {
			return err
		}
		relative, err := filepath.Rel(in, path)
		if err != nil {
			return err
		}
		found = append(found, conversion{path, filepath.Join(c.Out, filepath.Dir(relative), nameOfPDF(path))})
		return nil
	})
	return found, err
}

// ofOpenDocument reports whether a file is one of those that Word creates next to an open document.
func ofOpenDocument(name string) bool { return strings.HasPrefix(name, "~$") }

// distinct removes duplicates, and rejects two documents with the same PDF.
func distinct(all []conversion) ([]conversion, error) {
	from := map[string]string{}
	var kept []conversion
	for _, each := range all {
		in := filepath.Clean(each.in)
		before, taken := from[each.out]
		if taken && before != in {
			return nil, usagef("%s and %s would both become %s: convert one of them to another folder, or convert the folder above both, "+
				"which keeps subfolders",
				before, in, each.out)
		}
		if !taken {
			from[each.out] = in
			kept = append(kept, each)
		}
	}
	return kept, nil
}

// report prints the results, and returns the error for the exit code.
func (c *convertCmd) report(s *streams, report *convertReport) error {
	for _, d := range report.Documents {
		if d.Failure != "" {
			report.Failed++
		}
	}
	report.Written = len(report.Documents) - report.Failed
	if c.JSON {
		if err := printJSON(s.out, report); err != nil {
			return err
		}
	} else {
		report.print(s.err, c.Out)
	}
	if report.Failed > 0 {
		return errReported
	}
	return nil
}

// print lists the documents that failed or look different than in Word, with their numbers.
func (r *convertReport) print(w io.Writer, folder string) {
	var lines []string
	for _, d := range r.Documents {
		if d.Failure != "" {
			lines = append(lines, d.Input+": "+d.Failure)
		}
		if d.Kept != "" {
			lines = append(lines, d.Input+": a copy is kept in "+d.Kept)
		}
	}
	for _, d := range r.Documents {
		for _, text := range d.Warnings {
			lines = append(lines, d.Input+": warning: "+text)
		}
	}
	printSome(w, lines)
	if len(r.Documents) > 1 {
		fmt.Fprintf(w, "%d %s in %s%s, %.1f s\n", r.Written, plural(r.Written, "PDF"), folder, alsoIn(r.Merged), r.Seconds)
	}
}
