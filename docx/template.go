// Package docx is the template engine: it compiles a Word document with tags and fills it with data. The language of
// the tags is docx/lang's, the container ooxml's, the elements docx/wml's.
//
// Parse has docx/compile turn each part that holds text into a program of literal bytes and operations, which docx/program
// executes. So an execution touches only what changes: parts without tags are copied as they are compressed, and of the others
// every byte that no tag concerns comes out as it was. Nothing of the output is held in memory.
package docx

import (
	"context"
	"errors"
	"fmt"
	"io"

	"platen/budget"
	"platen/docx/compile"
	"platen/docx/lang"
	"platen/docx/program"
	"platen/ooxml"
)

// What is said of templates and of executions, by the names that callers know.
type (
	// Options are the settings of an execution.
	Options = program.Options
	// Report is what an execution has to say.
	Report = program.Report
	// Error is one problem of a template, with its place.
	Error = program.Error
	// Errors is every problem of a template at once.
	Errors = program.Errors //nolint:errname // as in go/scanner's ErrorList, these are many
	// Limits are the limits of a document's budgets.
	Limits = budget.Limits
	// BudgetError says that a document exceeds a budget.
	BudgetError = budget.Error
	// Tag is a tag as a template's listing shows it.
	Tag = compile.Tag
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

// Identify reports whether a file of size bytes may be a Word document, from its first bytes and its directory alone: it is fast,
// and Parse may still fail. The error is an *ooxml.Error that says what else the file is, or one of r's.
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
	p := includer{open: opt.Include, meter: budget.ForTemplate(ctx, opt.Time), files: map[string]*compile.Compiled{}}
	made, err := p.parse(file)
	if err != nil {
		return nil, err
	}
	return &Template{made}, nil
}

// Execute writes the document that the template gives for data, which [lang.Decode] gave. The same template, data and options
// give the same bytes. It writes as it goes: on an error, what was written is no document. The error is w's, a [*BudgetError], why ctx
// ended, ErrIncomplete, or Errors for a document that would be damaged. Execute returns soon after ctx ends.
func (t *Template) Execute(ctx context.Context, w io.Writer, data lang.Value, opt Options) (Report, error) {
	return t.compiled.Document.Execute(ctx, w, data, opt)
}

// Tags lists the opening and value tags in document order: the main part, then headers, footers and notes. A tag that
// stands twice in the same loops is listed once.
func (t *Template) Tags() []Tag { return t.compiled.Tags }

// Schema returns a new schema of the input that the template reads.

func (t *Template) Schema() *lang.Schema { return t.compiled.Document.Use.Schema() }

// Sample returns input that the template takes, as indented JSON, with a value for everything that it reads.
func (t *Template) Sample() ([]byte, error) { return t.Schema().Sample() }

// Warnings are what the author may want to know whatever the data, each with its place: braces that belong to no tag, and the
// like.
func (t *Template) Warnings() Errors { return t.compiled.Document.Warnings }

// Size is about how many bytes of memory the template holds.
func (t *Template) Size() int { return t.compiled.Size }
