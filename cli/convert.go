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

	"platen/ooxml"
)

type convertCmd struct {
	In  []string `arg:"" name:"in" placeholder:"IN.docx" help:"Word documents, or folders: then all .docx in them and in the folders below. - is standard input."`
	Out string   `short:"o" placeholder:"OUT" help:"The PDF to write if it ends in .pdf, otherwise the folder for PDFs; - for standard output. Without it, one document is named like IN in the current folder."`
	pdfFlags
	pdfConfig
	JSON bool `name:"json" help:"Print a report as JSON: for each document its file, or why there is none."`
}

// Help is what platen convert --help adds.
func (*convertCmd) Help() string {
	return "Documents are converted all at once, as many as --pdf-workers says. Below OUT, the PDFs of a folder lie as the documents " +
		"do in it. One that fails stops no other; in the end it is said which did and why, and the exit code is 1."
}

// conversion is a document to be converted.
type conversion struct{ in, out string }

// convertReport is what --json prints.
type convertReport struct {
	Documents []convertedDocument `json:"documents"`
	Written   int                 `json:"written"`
	Failed    int                 `json:"failed"`
	Merged    string              `json:"merged,omitempty"` // the PDF of all that were written
	Seconds   float64             `json:"seconds"`
}

// convertedDocument is how one document came out.
type convertedDocument struct {
	Input    string   `json:"input"`
	File     string   `json:"file,omitempty"` // empty when there is none
	Failure  string   `json:"failure,omitempty"`
	Kept     string   `json:"kept,omitempty"` // where a copy is that LibreOffice broke down over
	Warnings []string `json:"warnings"`       // of fonts
	converted
}

// Run converts the documents and says which could not be.
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

// convertTo makes the PDF of a file.
func (c *converter) convertTo(ctx context.Context, s *streams, what conversion, release func()) convertedDocument {
	document := convertedDocument{Input: what.in, Warnings: []string{}}
	content, err := readWord(what.in, s.in)
	if err != nil {
		document.Failure = err.Error()
		return document
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

// readWord returns what a file holds, or standard input, if that is a Word document. LibreOffice would make a PDF of
// anything, and of a text or a web page one that nobody wants.
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

// makeOut writes a file, in a folder that is made when missing, or standard output for "-".
func makeOut(s *streams, path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeOut(s, path, content)
}

// conversions are the documents that the arguments name, and where their PDFs go.
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

// single is the conversion of one document to one file, or nil if PDFs go into a folder.
func (c *convertCmd) single() (*conversion, error) {
	in := c.In[0]
	info, err := os.Stat(in)
	one := len(c.In) == 1 && (in == "-" || err == nil && !info.IsDir())
	switch {
	case len(c.In) == 1 && in != "-" && err != nil:
		return nil, err
	case isWord(c.Out):
		return nil, usagef("%s is the name of a Word document: name a file that ends in %s, or a folder", c.Out, pdfExtension)
	case c.Out == "-" && c.JSON:
		return nil, usagef("standard output cannot take both the PDF and the report: give a file with -o")
	case one && c.Out == "":
		return &conversion{in, nameOfPDF(in)}, nil
	case one && (c.Out == "-" || isPDF(c.Out)):
		return &conversion{in, c.Out}, nil
	case one:
		return nil, nil
	case c.Out == "":
		return nil, usagef("name with -o the folder for the PDFs")
	case c.Out == "-" || isPDF(c.Out):
		return nil, usagef("several documents become several PDFs, in a folder: name one with -o, in place of %s", c.Out)
	}
	return nil, nil
}

// nameOfPDF is the name, without folders, of the PDF of a document.
func nameOfPDF(in string) string { return stem(in) + pdfExtension }

// stem is the name of a file without folders and extension; of standard input, one for what is made of it.
func stem(path string) string {
	if path == "-" {
		return "output"
	}
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// find returns the conversions of an argument into the folder of the output.
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

// ofOpenDocument tells whether a file is one that Word keeps beside a document as long as somebody has it open.
func ofOpenDocument(name string) bool { return strings.HasPrefix(name, "~$") }

// distinct leaves out what is named twice, and refuses two documents for one PDF.
func distinct(all []conversion) ([]conversion, error) {
	from := map[string]string{}
	var kept []conversion
	for _, each := range all {
		in := filepath.Clean(each.in)
		before, taken := from[each.out]
		if taken && before != in {
			return nil, usagef("%s and %s would both become %s: convert one of them into another folder, or name the folder above both, whose folders are kept",
				before, in, each.out)
		}
		if !taken {
			from[each.out] = in
			kept = append(kept, each)
		}
	}
	return kept, nil
}

// report prints what came out, and decides the exit code.
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

// print says which documents failed and which look other than in Word, and how many there are.
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
