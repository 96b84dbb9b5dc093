package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"platen/docx"
)

// maxShown is how many problems of documents are printed; --json has them all.
const maxShown = 20

type renderCmd struct {
	Template string `arg:"" placeholder:"TEMPLATE.docx" help:"Word template."`
	Data     string `arg:"" placeholder:"DATA.json" help:"JSON: an object for one document, an array of objects for a batch; - for standard input."`
	Out      string `short:"o" placeholder:"OUT" help:"The document to write, - for standard output; for a batch the folder. Without it, named like DATA in the current folder."`
	Name     string `placeholder:"NAME" help:"Name of each document of a batch, with tags: '{{ invoice.number }}.docx'. Without it, 1.docx, 2.docx and so on."`
	ForPDF   bool   `name:"for-pdf" help:"Write documents that LibreOffice is to make PDFs of: it then numbers the pages in their tables of contents."`
	engineFlags
	JSON bool `name:"json" help:"Print a report as JSON: for each document its file, what it lacks and what is odd."`
}

// renderReport is what --json prints.
type renderReport struct {
	Documents  []renderedDocument `json:"documents"`
	Written    int                `json:"written"`
	Incomplete int                `json:"incomplete"` // of those written
	Failed     int                `json:"failed"`
	Seconds    float64            `json:"seconds"`
}

// renderedDocument is how one document came out.
type renderedDocument struct {
	File     string   `json:"file,omitempty"` // empty when there is none
	Failure  string   `json:"failure,omitempty"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

// Run makes the documents and says what they lack.
func (c *renderCmd) Run(ctx context.Context, s *streams) error {
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
	options.ForPDF = c.ForPDF
	began := time.Now()
	var documents []renderedDocument
	if batch {
		documents, err = c.renderBatch(ctx, s, template, options, inputs)
		if err != nil {
			return err
		}
	} else {
		documents = []renderedDocument{renderTo(template, options, &inputs[0], c.out(".docx"), s.out)}
	}
	return c.report(s, documents, time.Since(began))
}

// out is where the output goes, for a batch a folder: what was asked for, or the name of the data.
func (c *renderCmd) out(extension string) string {
	name := strings.TrimSuffix(filepath.Base(c.Data), filepath.Ext(c.Data))
	if c.Data == "-" {
		name = "output"
	}
	return cmp.Or(c.Out, name+extension)
}

// checkOut refuses outputs that cannot be.
func (c *renderCmd) checkOut(batch bool) error {
	out := c.out("")
	info, err := os.Stat(out)
	switch {
	case strings.EqualFold(filepath.Ext(c.Out), ".pdf") || strings.EqualFold(filepath.Ext(c.Name), ".pdf"):
		return usagef("this build has no PDF engine: write .docx with --for-pdf, and convert it with soffice --headless --convert-to pdf")
	case out == "-" && c.JSON:
		return usagef("standard output cannot take both the document and the report: give a file with -o")
	case batch && out == "-":
		return usagef("the data is an array: its documents go into a folder, not to standard output")
	case batch && err == nil && !info.IsDir():
		return usagef("the data is an array: its documents go into a folder, but %s is a file", out)
	case !batch && c.Name != "":
		return usagef("--name is for an array of data; name the one document with -o")
	case !batch && c.Out != "" && err == nil && info.IsDir():
		return usagef("the data is one object: its document is a file, but %s is a folder", out)
	}
	return nil
}

// renderBatch makes the documents of a batch on all cores.
func (c *renderCmd) renderBatch(ctx context.Context, s *streams, template *docx.Template, options docx.Options, inputs []input) ([]renderedDocument, error) {
	names, err := batchNames(c.Name, inputs, options)
	if err != nil {
		return nil, err
	}
	folder := c.out("")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	documents := make([]renderedDocument, len(inputs))
	bar := newProgress(s.err, len(inputs), "Rendering")
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range inputs {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			documents[i] = renderTo(template, options, &inputs[i], filepath.Join(folder, names[i]), nil)
			return bar.Add(1)
		})
	}
	return documents, errors.Join(group.Wait(), bar.Exit())
}

// renderTo makes one document at a path, or on stdout for "-".
func renderTo(template *docx.Template, options docx.Options, in *input, path string, stdout io.Writer) renderedDocument {
	var result docx.Report
	execute := func(w io.Writer) error {
		data, err := in.decode()
		if err != nil {
			return err
		}
		result, err = template.Execute(w, data, options)
		return err
	}
	var err error
	if path == "-" {
		err = execute(stdout)
	} else {
		err = writeAtomically(path, execute)
	}
	document := renderedDocument{File: path, Errors: append([]string{}, result.Errors...), Warnings: append([]string{}, result.Warnings...)}
	if err != nil {
		document.File, document.Failure = "", err.Error()
	}
	return document
}

// report prints what came out, and decides the exit code.
func (c *renderCmd) report(s *streams, documents []renderedDocument, took time.Duration) error {
	total := renderReport{Documents: documents, Written: len(documents), Seconds: took.Seconds()}
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
			fmt.Fprintf(s.err, "%d %s in %s, %.1f s\n", total.Written, plural(total.Written, "document"), c.out(""), took.Seconds())
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
		for _, text := range d.Errors {
			lines = append(lines, which+text)
		}
		for _, text := range d.Warnings {
			lines = append(lines, which+"warning: "+text)
		}
	}
	for _, line := range lines[:min(len(lines), maxShown)] {
		fmt.Fprintf(s.err, "platen: %s\n", line)
	}
	if more := len(lines) - maxShown; more > 0 {
		fmt.Fprintf(s.err, "platen: and %d more; --json prints all\n", more)
	}
}
