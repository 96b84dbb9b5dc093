package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"platen/docx"
)

// maxShown is how many problems of documents are printed; --json has them all.
const maxShown = 20

type renderCmd struct {
	Template string `arg:"" placeholder:"TEMPLATE.docx" help:"Word template."`
	Data     string `arg:"" placeholder:"DATA.json" help:"JSON: an object for one document, an array of objects for a batch; - for standard input."`
	Out      string `short:"o" placeholder:"OUT" help:"The document to write, - for standard output; for a batch the folder. Without it, named like DATA in the current folder. One that ends in .pdf is a PDF."`
	Name     string `placeholder:"NAME" help:"Name of each document of a batch, with tags: '{{ invoice.number }}.docx', or .pdf for PDFs. Without it, 1.docx, 2.docx and so on."`
	PDF      bool   `name:"pdf" help:"Make PDFs, also where no name says so."`
	ForPDF   bool   `name:"for-pdf" help:"Write Word documents that LibreOffice is to make PDFs of: it then numbers the pages in their tables of contents."`
	engineFlags
	pdfFlags
	pdfConfig
	JSON bool `name:"json" help:"Print a report as JSON: for each document its file, what it lacks and what is odd."`
}

// renderReport is what --json prints.
type renderReport struct {
	Documents  []renderedDocument `json:"documents"`
	Written    int                `json:"written"`
	Incomplete int                `json:"incomplete"` // of those written
	Failed     int                `json:"failed"`
	Merged     string             `json:"merged,omitempty"` // the PDF of all that were written
	Seconds    float64            `json:"seconds"`
}

// renderedDocument is how one document came out.
type renderedDocument struct {
	File     string   `json:"file,omitempty"` // empty when there is none
	Failure  string   `json:"failure,omitempty"`
	Kept     string   `json:"kept,omitempty"` // where a copy is that LibreOffice broke down over
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	converted
}

// Run makes the documents and says what they lack.
func (c *renderCmd) Run(ctx context.Context, s *streams) (err error) {
	options, err := c.options()
	if err != nil {
		return err
	}
	inputs, batch, err := readData(c.Data, s.in)
	if err != nil {
		return err
	}
	if err := c.checkOut(batch); err != nil {
		return err
	}
	template, err := parseTemplate(c.Template)
	if err != nil {
		return err
	}
	options.ForPDF = c.ForPDF || c.asPDF()
	paths, err := c.paths(batch, inputs, options)
	if err != nil {
		return err
	}
	r := &rendering{template: template, options: options, streams: s}
	if c.asPDF() {
		if r.converter, err = newConverter(&c.pdfConfig, &c.pdfFlags, c.Template, len(inputs)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.converter.engine.Close()) }()
	}
	began := time.Now()
	documents, err := c.renderAll(ctx, r, batch, inputs, paths)
	if err != nil {
		return err
	}
	merged := ""
	if r.converter != nil {
		files := pathsOf(documents, func(d renderedDocument) string { return d.File })
		if merged, err = r.converter.merge(c.Merged, files); err != nil {
			return err
		}
	}
	return c.report(s, renderReport{Documents: documents, Merged: merged, Seconds: time.Since(began).Seconds()})
}

// asPDF tells whether PDFs are to be made.
func (c *renderCmd) asPDF() bool { return c.PDF || isPDF(c.Out) || isPDF(c.Name) }

// extension is that of the documents.
func (c *renderCmd) extension() string {
	if c.asPDF() {
		return pdfExtension
	}
	return wordExtension
}

// out is where the output goes, for a batch a folder: what was asked for, or the name of the data.
func (c *renderCmd) out(extension string) string {
	return cmp.Or(c.Out, stem(c.Data)+extension)
}

// checkOut refuses outputs that cannot be.
func (c *renderCmd) checkOut(batch bool) error {
	out := c.out("")
	info, err := os.Stat(out)
	switch {
	case c.asPDF() && (isWord(c.Out) || isWord(c.Name)):
		return usagef("a PDF is asked for, and a name that ends in %s: leave one of them away", wordExtension)
	case !c.asPDF() && c.pdfFlags != defaultPDFFlags:
		return usagef("a flag for PDFs is given, but Word documents are asked for: name them .pdf, or add --pdf")
	case out == "-" && c.JSON:
		return usagef("standard output cannot take both the document and the report: give a file with -o")
	case batch && out == "-":
		return usagef("the data is an array: its documents go into a folder, not to standard output")
	case batch && isPDF(c.Out):
		return usagef("the data is an array: its documents go into a folder, but %s is the name of a PDF; for PDFs in a folder add --pdf, and for one of them all --merged %s", out, out)
	case batch && err == nil && !info.IsDir():
		return usagef("the data is an array: its documents go into a folder, but %s is a file", out)
	case !batch && c.Name != "":
		return usagef("--name is for an array of data; name the one document with -o")
	case !batch && c.Out != "" && err == nil && info.IsDir():
		return usagef("the data is one object: its document is a file, but %s is a folder", out)
	}
	return nil
}

// paths are where the documents go: a batch's into a folder, one other to standard output if that is "-".
func (c *renderCmd) paths(batch bool, inputs []input, options docx.Options) ([]string, error) {
	if !batch {
		paths := []string{c.out(c.extension())}
		return paths, c.checkDistinct(paths)
	}
	paths, err := batchNames(c.Name, c.extension(), inputs, options)
	if err != nil {
		return nil, err
	}
	for i, name := range paths {
		paths[i] = filepath.Join(c.out(""), name)
	}
	return paths, c.checkDistinct(paths)
}

// renderAll makes the documents, those of a batch on all cores.
func (c *renderCmd) renderAll(ctx context.Context, r *rendering, batch bool, inputs []input, paths []string) ([]renderedDocument, error) {
	bar, atOnce := newProgress(io.Discard, 1, ""), cores
	if batch {
		if err := os.MkdirAll(c.out(""), 0o755); err != nil {
			return nil, err
		}
		bar = newProgress(r.streams.err, len(inputs), "Rendering")
	}
	if r.converter != nil {
		atOnce = r.converter.atOnce()
	}
	documents := make([]renderedDocument, len(inputs))
	err := several(ctx, len(inputs), atOnce, bar, func(ctx context.Context, i int, release func()) {
		documents[i] = r.render(ctx, &inputs[i], paths[i], release)
	})
	return documents, err
}

// rendering makes documents of one template.
type rendering struct {
	template  *docx.Template
	options   docx.Options
	converter *converter // nil for Word documents
	streams   *streams
}

// render makes one document at a path, or on standard output for "-".
func (r *rendering) render(ctx context.Context, in *input, path string, release func()) renderedDocument {
	document := renderedDocument{File: path, Errors: []string{}, Warnings: []string{}}
	execute := func(w io.Writer) error {
		data, err := in.decode()
		if err != nil {
			return err
		}
		result, err := r.template.Execute(ctx, w, data, r.options)
		document.Errors, document.Warnings = append(document.Errors, result.Errors...), append(document.Warnings, result.Warnings...)
		return err
	}
	var err error
	switch {
	case r.converter != nil:
		err = r.renderPDF(ctx, execute, &document, release)
	case path == "-":
		err = execute(r.streams.out)
	default:
		err = writeAtomically(path, execute)
	}
	if err != nil {
		document.File = ""
		document.Failure, document.Kept = whyNot(err)
	}
	return document
}

// renderPDF makes the PDF of a document.
func (r *rendering) renderPDF(ctx context.Context, execute func(io.Writer) error, document *renderedDocument, release func()) error {
	var word bytes.Buffer
	if err := execute(&word); err != nil {
		return err
	}
	made, about, warnings, err := r.converter.convert(ctx, word.Bytes(), release)
	if err != nil {
		return err
	}
	document.converted, document.Warnings = about, append(document.Warnings, warnings...)
	return writeOut(r.streams, document.File, made)
}

// report prints what came out, and decides the exit code.
func (c *renderCmd) report(s *streams, total renderReport) error {
	documents := total.Documents
	total.Written = len(documents)
	for _, d := range documents {
		switch {
		case d.Failure != "":
			total.Failed++
			total.Written--
		case len(d.Errors) > 0:
			total.Incomplete++
		}
	}
	if c.JSON {
		if err := printJSON(s.out, total); err != nil {
			return err
		}
	} else {
		c.printProblems(s, documents)
		if len(documents) > 1 {
			fmt.Fprintf(s.err, "%d %s in %s%s, %.1f s\n", total.Written, plural(total.Written, "document"), c.out(""), alsoIn(total.Merged), total.Seconds)
		}
	}
	switch {
	case total.Failed > 0:
		return errReported
	case total.Incomplete > 0:
		return errIncomplete
	}
	return nil
}

// printProblems prints what went wrong, and what is odd, document by document.
func (c *renderCmd) printProblems(s *streams, documents []renderedDocument) {
	var lines []string
	for i, d := range documents {
		which := ""
		if len(documents) > 1 {
			which = "document " + strconv.Itoa(i+1) + ": "
		}
		if d.Failure != "" {
			lines = append(lines, which+d.Failure)
		}
		if d.Kept != "" {
			lines = append(lines, which+"a copy is kept in "+d.Kept)
		}
		for _, text := range d.Errors {
			lines = append(lines, which+text)
		}
		for _, text := range d.Warnings {
			lines = append(lines, which+"warning: "+text)
		}
	}
	printSome(s.err, lines)
}

// printSome prints lines about documents, but not too many.
func printSome(w io.Writer, lines []string) {
	for _, line := range lines[:min(len(lines), maxShown)] {
		fmt.Fprintf(w, "platen: %s\n", line)
	}
	if more := len(lines) - maxShown; more > 0 {
		fmt.Fprintf(w, "platen: and %d more; --json prints all\n", more)
	}
}
