// Package docx is the template engine: it compiles a Word document with tags, and generates documents from it with
// data. The language of the tags is in docx/lang, the container format in ooxml, and the elements of documents in docx/wml.
//
// Parse compiles each part with text into a program of literal bytes and operations (docx/compile), and Execute runs the programs
// (docx/program). An execution touches only what changes: parts without tags are copied in compressed form, and in other parts every byte
// outside tags stays the same. The output is not kept in memory.
package docx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"platen/budget"
	"platen/docx/compile"
	"platen/docx/lang"
	"platen/docx/program"
	"platen/ooxml"
)

// The types of other packages for problems, reports, and options.
type (
	// Options are the settings of an execution.
	Options = program.Options
	// Report has the problems of an execution.
	Report = program.Report
	// Error is one problem of a template, with its place.
	Error = program.Error
	// Errors is every problem of a template at once.
	Errors = program.Errors //nolint:errname // as in go/scanner's ErrorList, these are many
	// Limits are the limits of a document's budgets.
	Limits = budget.Limits
	// BudgetError means that a document exceeds a budget.
	BudgetError = budget.Error
	// Contents says which tables of contents are rewritten.
	Contents = compile.Contents
	// Tag is a tag as a template's listing shows it.
	Tag = compile.Tag
	// Mark is a marked value of a document.
	Mark = program.Mark
)

const (
	// MarkAddress is what the addresses of the links that mark values begin with.
	MarkAddress = program.MarkAddress
	// MaxMarks is the largest number of marked values of a document.
	MaxMarks = program.MaxMarks
)

// The ways to treat tables of contents.
const (
	ContentsAuto   = compile.ContentsAuto
	ContentsUpdate = compile.ContentsUpdate
	ContentsKeep   = compile.ContentsKeep
)

// ErrIncomplete is returned by [Template.Execute] for data that is not complete, if the options do not allow that.
var ErrIncomplete = program.ErrIncomplete

// Template is a compiled document. It serves many executions at once.
type Template struct{ compiled *compile.Compiled }

// Parse compiles a Word document (.docx, .dotx, .docm or .dotm) of size bytes. It reads all of r and does not keep
// it. The error is an *ooxml.Error if the file cannot be read, and Errors, with all problems at once and
// the warnings among them, if its tags cannot.
func Parse(r io.ReaderAt, size int64) (*Template, error) {
	return ParseWith(context.Background(), r, size, ParseOptions{})
}

// Identify checks whether a file of size bytes may be a Word document. It reads only the first bytes and the
// directory, so it is fast, and Parse may still fail. The error is an *ooxml.Error with the actual type of the file, or an error of r.
func Identify(r io.ReaderAt, size int64) error { return ooxml.Identify(r, size, compile.Limits) }

// ParseWith is Parse with options. It returns soon after ctx ends, with the reason. A template that takes too much work or time to compile
// is a [*BudgetError].
func ParseWith(ctx context.Context, r io.ReaderAt, size int64, opt ParseOptions) (*Template, error) {
	if size > ooxml.DefaultPackageBytes { // before it is taken into memory; ooxml says it properly
		_, err := ooxml.Open(r, size, compile.Limits)
		return nil, err
	}
	file := make([]byte, max(size, 0))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read template: %w", err)
	}
	p := includer{open: opt.Include, contents: opt.Contents, meter: budget.ForTemplate(ctx, opt.Time), files: map[string]*compile.Compiled{}}
	made, err := p.parse(file)
	if err != nil {
		return nil, err
	}
	return &Template{made}, nil
}

// Execute writes the document for data, which is the result of [lang.Decode]. The same template, data, and options
// result in the same bytes. If Execute returns an error, the bytes written to w so far are not a document. The error
// is that of w, a [*BudgetError], the cause of the end of ctx, ErrIncomplete, or Errors for a document that would be
// damaged. Execute returns soon after ctx ends.
func (t *Template) Execute(ctx context.Context, w io.Writer, data lang.Value, opt Options) (Report, error) {
	return t.compiled.Document.Execute(ctx, w, data, opt)
}

// Tags lists the opening and value tags in document order: the main part, then headers, footers, and notes. A tag that
// occurs several times in the same loops is listed once.
func (t *Template) Tags() []Tag { return t.compiled.Tags }

// Schema returns a new schema of the input that the template reads.
func (t *Template) Schema() *lang.Schema { return t.compiled.Document.Use.Schema() }

// Sample returns input that the template takes, as indented JSON, with a value for everything that it reads.
func (t *Template) Sample() ([]byte, error) { return t.Schema().Sample() }

// Warnings returns the warnings about the template, each with its place: for instance about braces that do not belong to a tag, and about
// loop variables outside of their loops.
func (t *Template) Warnings() Errors {
	d := t.compiled.Document
	return slices.Concat(d.Warnings, d.Doubts)
}

// Size returns the approximate memory of the template in bytes.
func (t *Template) Size() int { return t.compiled.Size }
