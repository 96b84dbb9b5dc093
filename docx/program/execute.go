package program

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"platen/budget"
	"platen/docx/lang"
	"platen/ooxml"
)

// Document is a compiled document: its package, and the programs of its parts. It is safe for concurrent use.
type Document struct {
	Package   *ooxml.Package
	Parts     map[string]*Part // by part name; parts without tags have none
	Main      string           // name of the main part
	Forms     [formCount]Form
	Charts    map[string]*Chart  // by part name
	Headers   map[string]*Header // that are written in each round of a loop, by part name
	Lists     *Numbering         // nil if the template has no numbered lists
	StyleIDs  map[string]string  // by kind and lower-case name, separated by a space
	HasTOC    bool               // the headings must be known before the document is written
	Use       lang.Use
	Places    map[*lang.Tag]*Error // the location of each tag
	Bookmarks map[string]bool      // names of the template's bookmarks
	FirstID   [IDSpaceCount]int    // the lowest unused ids
	Slots     Slots
	Warnings  Errors
	Doubts    Errors // warnings that the input can refute, which are not about a document
	Sound     Soundness
	outputs   sync.Pool // of *output, for executions
}

// NewDocument returns a document without programs. Executions copy all of its parts.
func NewDocument(pkg *ooxml.Package) *Document {
	return &Document{
		Package: pkg, Parts: map[string]*Part{}, Charts: map[string]*Chart{}, Headers: map[string]*Header{}, StyleIDs: map[string]string{},
		Places: map[*lang.Tag]*Error{}, Bookmarks: map[string]bool{},
	}
}

// execution is one run of a template's programs.
type execution struct {
	d     *Document
	opt   Options
	env   *lang.Env
	meter *budget.Meter

	out   output
	part  string // that is being written
	added *ooxml.Additions

	faults, warnings findings

	// The state of each feature.
	flow     flow
	values   values
	rich     rich
	ids      ids
	ranges   ranges
	lists    lists
	tables   tables
	pictures pictures
	filled   *filledControl // the content control that is being written
	headers  headers
	notes    notes
	toc      contents
	marks    marks
}

// Execute writes the document for data, which is the result of [lang.Decode]. The same data and options result in the same bytes. If it
// returns an error, the bytes written to w so far are not a document. The error is that of w, a [*budget.Error], the cause of the end of
// ctx, or [ErrIncomplete].
func (d *Document) Execute(ctx context.Context, w io.Writer, data lang.Value, opt Options) (Report, error) {
	meter := budget.New(ctx, opt.Limits)
	x := d.execution(data, opt, meter)
	defer d.keepOutput(&x.out)
	if d.HasTOC {
		if err := x.readHeadings(data); err != nil {
			return x.exceeded(err)
		}
	}
	x.beginCheck()
	if err := x.beginMarks(); err != nil {
		return x.exceeded(err)
	}
	if err := x.write(ooxml.NewWriter(meter.Output(w))); err != nil {
		return x.exceeded(x.refuse(err))
	}
	return x.report()
}

func (d *Document) execution(data lang.Value, opt Options, meter *budget.Meter) *execution {
	x := &execution{
		d: d, opt: opt, meter: meter, env: lang.NewEnv(data, opt.forTags(&d.Use, meter)), added: ooxml.NewAdditions(d.Package, meter),
	}
	x.allocate(&d.Slots)
	x.out = d.takeOutput()
	x.out.meter = meter
	return x
}

// allocate creates the variables of the steps.
func (x *execution) allocate(slots *Slots) {
	x.ids.next = x.d.FirstID
	x.ids.given = make([]int, slots.IDs)
	x.ids.names = make([]*roundName, slots.Names)
	x.ids.once = make([]bool, slots.Once)
	x.ranges = make(ranges, slots.Ranges)
	x.lists.current = make([]int, slots.Lists)
	x.tables = tables{merges: make([]merged, slots.Merges), columns: make([]repeatedColumns, slots.Columns), covered: make([]int, slots.Spans)}
}

// readHeadings finds the headings of the document in an execution whose output is discarded. That costs work, but no content, and its
// memory is released, apart from that of the headings. The pictures that it has prepared are used again.
func (x *execution) readHeadings(data lang.Value) error {
	opt := x.opt
	opt.Marks = 0
	first := x.d.execution(data, opt, x.meter)
	defer x.d.keepOutput(&first.out)
	before := x.meter.Used()
	err := first.collect()
	if err != nil {
		x.env = first.env // which knows the tag of the error
		return err
	}
	used := x.meter.Used()
	x.meter.Release(int(used.Memory - before.Memory))
	x.meter.Unwrite(int(used.Content - before.Content))
	x.toc.entries, x.pictures.prepared = numberHeadings(first.toc.found), first.reusable()
	return x.meter.Hold(first.toc.bytes)
}

// write writes the package. The parts that list added lists, charts, and parts come last.
func (x *execution) write(pw *ooxml.Writer) error {
	form := x.form()
	for name, content := range form.Listings {
		x.added.Replace(name, content)
	}
	late, err := x.changedStyles()
	if err != nil {
		return err
	}
	for _, part := range x.d.inOrder() {
		switch {
		case form.Omitted[part]:
			x.added.Omit(part)
		case x.added.Deferred(part), slices.Contains(late, part):
		case x.d.Lists.isIn(part), x.d.isChartPart(part), x.d.isHeaderOfRounds(part):
			late = append(late, part)
		default:
			if err := x.writePart(pw, part); err != nil {
				return err
			}
		}
	}
	if err := x.finishLists(); err != nil {
		return err
	}
	if err := x.checkAdded(); err != nil {
		return err
	}
	if err := x.added.WriteTo(pw, late...); err != nil {
		return err
	}
	return pw.Close()
}

// inOrder returns the parts in the order in which they are written: that of the template, but with notes that are written with their
// references at the end.
func (d *Document) inOrder() []*ooxml.Part {
	parts := d.Package.Parts()
	isLater := func(part *ooxml.Part) bool { p := d.Parts[part.Name]; return p != nil && p.HasNotes }
	if !slices.ContainsFunc(parts, isLater) {
		return parts
	}
	var first, later []*ooxml.Part
	for _, part := range parts {
		if isLater(part) {
			later = append(later, part)
		} else {
			first = append(first, part)
		}
	}
	return append(first, later...)
}

func (x *execution) writePart(pw *ooxml.Writer, part *ooxml.Part) error {
	p := x.d.Parts[part.Name]
	if p == nil {
		return pw.Copy(part)
	}
	w, err := pw.CreatePlanned(part.Name, p.plan())
	if err != nil {
		return err
	}
	x.out.w, x.part = w, part.Name
	x.out.check.Part(part.Name, p.segments)
	if err := x.block(p.Steps); err != nil {
		return fmt.Errorf("%s: %w", part.Name, err)
	}
	if err := x.out.flush(); err != nil {
		return err
	}
	return x.out.check.End()
}
