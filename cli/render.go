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

// maxShown is the maximum number of problems that are printed; --json has all of them.
const maxShown = 20

type renderCmd struct {
	Template string `arg:"" placeholder:"TEMPLATE.docx" help:"Word template."`
	Data     string `arg:"" placeholder:"DATA.json" help:"JSON data: an object for one document, or an array of objects for a batch; - for standard input."`
	Out      string `short:"o" placeholder:"OUT" help:"The output file, or the output folder of a batch (default: the name of DATA, in the current folder); - for standard output. A name that ends in .pdf selects PDF. Macros of the template are kept only if the name ends in .docm."`
	Name     string `placeholder:"NAME" help:"Name pattern for the documents of a batch, with tags, such as '{{ invoice.number }}.docx', or .pdf for PDFs (default: 1.docx, 2.docx, and so on)."`
	PDF      bool   `name:"pdf" help:"Generate PDFs, even if no name ends in .pdf."`
	ForPDF   bool   `name:"for-pdf" help:"Prepare Word documents for conversion with LibreOffice, which then fills in the page numbers in tables of contents."`
	contentsFlags
	engineFlags
	pdfFlags
	pdfConfig
	renderOn
	JSON bool `name:"json" help:"Print a report as JSON: the file, errors, and warnings of each document."`
}

// renderReport is the output with --json.
type renderReport struct {
	Documents  []renderedDocument `json:"documents"`
	Written    int                `json:"written"`
	Incomplete int                `json:"incomplete"` // of the documents that were written
	Failed     int                `json:"failed"`
	Merged     string             `json:"merged,omitempty"` // the merged PDF of all documents that were written
	Seconds    float64            `json:"seconds"`
}

// renderedDocument is the result for one document.
type renderedDocument struct {
	File     string   `json:"file,omitempty"` // empty if it failed
	Failure  string   `json:"failure,omitempty"`
	Kept     string   `json:"kept,omitempty"` // copy of a document that crashed LibreOffice
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	// Details are the errors and warnings that have a location in the template.
	Details docx.Errors `json:"details,omitempty"`
	converted
}

// Run generates the documents and reports what they lack.
func (c *renderCmd) Run(ctx context.Context, s *streams) (err error) {
	options, err := c.options()
	if err != nil {
		return err
	}
	inputs, batch, err := readData(c.Data, s.in)
	if err != nil {
		return err
	}
	if err := errors.Join(c.checkOut(batch), c.checkRemote()); err != nil {
		return err
	}
	if c.Server != "" {
		return c.runRemote(ctx, s, batch, inputs, options)
	}
	template, err := parseTemplateWith(c.Template, c.contents())
	if err != nil {
		return err
	}
	options.ForPDF, options.Macros = c.ForPDF || c.asPDF(), c.withMacros()
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
	atOnce := cores
	if r.converter != nil {
		atOnce = r.converter.atOnce()
	}
	documents, err := c.renderAll(ctx, s, batch, atOnce, inputs, paths, r.render)
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

// asPDF reports whether the output is PDF.
func (c *renderCmd) asPDF() bool { return c.PDF || isPDF(c.Out) || isPDF(c.Name) }

// withMacros reports whether the output is a Word document with the macros of the template.
func (c *renderCmd) withMacros() bool {
	return hasExtension(c.Out, macroExtension) || hasExtension(c.Name, macroExtension)
}

// extension returns the extension of the documents.
func (c *renderCmd) extension() string {
	if c.asPDF() {
		return pdfExtension
	}
	if c.withMacros() {
		return macroExtension
	}
	return wordExtension
}

// out returns the output path, a folder for a batch: the value of -o, or the name of the data.
func (c *renderCmd) out(extension string) string {
	return cmp.Or(c.Out, stem(c.Data)+extension)
}

// checkOut rejects invalid combinations of outputs.
func (c *renderCmd) checkOut(batch bool) error {
	out := c.out("")
	info, err := os.Stat(out)
	switch {
	case isWordTemplate(c.Out) || isWordTemplate(c.Name):
		return usagef("Platen generates documents, not templates: use a name that ends in %s, %s, or %s", wordExtension, macroExtension,
			pdfExtension)
	case hasExtension(c.Out, ".doc") || hasExtension(c.Name, ".doc"):
		return usagef("Platen cannot write Word's old format: use a name that ends in %s instead of .doc", wordExtension)
	case c.asPDF() && (isWord(c.Out) || isWord(c.Name)):
		return usagef("--pdf contradicts a name that ends in %s: remove one of them", wordExtension)
	case !c.asPDF() && c.pdfFlags != defaultPDFFlags:
		return usagef("flags for PDFs need PDF output: use a name that ends in .pdf, or add --pdf")
	case out == "-" && c.JSON:
		return usagef("standard output cannot receive both the document and the report: select a file with -o")
	case batch && out == "-":
		return usagef("the data is an array, so the output must be a folder, not standard output")
	case batch && isPDF(c.Out):
		return usagef("the data is an array, so the output must be a folder, but %s is the name of a PDF: for PDFs in a folder, use "+
			"--pdf; to merge them into one, use --merged %s", out, out)
	case batch && err == nil && !info.IsDir():
		return usagef("the data is an array, so the output must be a folder, but %s is a file", out)
	case !batch && c.Name != "":
		return usagef("--name needs an array of data; use -o to name a single document")
	case !batch && c.Out != "" && err == nil && info.IsDir():
		return usagef("the data is one object, so the output must be a file, but %s is a folder", out)
	}
	return nil
}

// paths returns the paths of the documents: in a folder for a batch, or "-" for standard output.
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

// renderAll generates the documents, several at once for a batch.
func (c *renderCmd) renderAll(ctx context.Context, s *streams, batch bool, atOnce int, inputs []input, paths []string,
	render func(ctx context.Context, in *input, path string, release func()) renderedDocument) ([]renderedDocument, error) {
	bar := newProgress(io.Discard, 1, "")
	if batch {
		if err := os.MkdirAll(c.out(""), 0o755); err != nil {
			return nil, err
		}
		bar = newProgress(s.err, len(inputs), "Rendering")
	}
	documents := make([]renderedDocument, len(inputs))
	err := several(ctx, len(inputs), atOnce, bar, func(ctx context.Context, i int, release func()) {
		documents[i] = render(ctx, &inputs[i], paths[i], release)
	})
	return documents, err
}

// rendering generates documents from one template.
type rendering struct {
	template  *docx.Template
	options   docx.Options
	converter *converter // nil for Word documents
	streams   *streams
}

// render generates one document at a path, or on standard output for "-".
func (r *rendering) render(ctx context.Context, in *input, path string, release func()) renderedDocument {
	document := renderedDocument{File: path, Errors: []string{}, Warnings: []string{}}
	execute := func(w io.Writer) error {
		data, err := in.decode()
		if err != nil {
			return err
		}
		result, err := r.template.Execute(ctx, w, data, r.options)
		document.Errors, document.Warnings = append(document.Errors, result.Errors...), append(document.Warnings, result.Warnings...)
		document.Details = result.Details
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

// renderPDF generates one PDF.
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

// report prints the results, and returns the error for the exit code.
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
			fmt.Fprintf(s.err, "%d %s in %s%s, %.1f s\n", total.Written, plural(total.Written, "document"), c.out(""), alsoIn(total.Merged),
				total.Seconds)
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

// printProblems prints the errors and warnings of each document.
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
			lines = append(lines, d.located(which, text, false)...)
		}
		for _, text := range d.Warnings {
			lines = append(lines, d.located(which+"warning: ", text, true)...)
		}
	}
	printSome(s.err, lines)
}

// located returns what to print about a problem: its details, one for each location, or the text if it has none.
func (d *renderedDocument) located(which, text string, warning bool) []string {
	var all []string
	for _, detail := range d.Details {
		if detail.Message == text && detail.Warning == warning {
			all = append(all, which+detail.Error())
		}
	}
	if len(all) == 0 {
		return []string{which + text}
	}
	return all
}

// printSome prints lines about documents, up to a maximum.
func printSome(w io.Writer, lines []string) {
	for _, line := range lines[:min(len(lines), maxShown)] {
		fmt.Fprintf(w, "platen: %s\n", line)
	}
	if more := len(lines) - maxShown; more > 0 {
		fmt.Fprintf(w, "platen: and %d more; --json prints all\n", more)
	}
}
