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

// Document is a compiled document: its package, and the programs that write its parts anew. It serves many executions at
// once.
type Document struct {
	Package   *ooxml.Package
	Parts     map[string]*Part   // by part name; parts without tags have none
	Main      string             // name of the main part
	Types     []byte             // [Content_Types].xml, if it is another than the template's
	Charts    map[string]*Chart  // by part name
	Headers   map[string]*Header // that are written for each round of a loop, by part name
	Lists     *Numbering         // nil if the template has no numbered lists
	StyleIDs  map[string]string  // by kind and name in lower case, with a blank between
	HasTOC    bool               // the headings must be known before the document is written
	Use       lang.Use
	Places    map[*lang.Tag]*Error // where each tag stands
	Bookmarks map[string]bool      // their names
	FirstID   [IDSpaceCount]int    // that is free
	Slots     Slots
	Warnings  Errors
	Sound     Soundness
	outputs   sync.Pool // of *output, for executions
}

// NewDocument returns a document without programs, whose parts all stay as they are.
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

	// What the steps of each feature know.
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
}

// Execute writes the document for data, which [lang.Decode] gave. The same data and options give the same bytes. It writes as
// it goes: on an error, which is w's, a [*budget.Error], why ctx ended, or ErrIncomplete, what was written is no document.
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

// allocate makes room for the variables of the steps.
func (x *execution) allocate(slots *Slots) {
	x.ids.next = x.d.FirstID
	x.ids.given = make([]int, slots.IDs)
	x.ids.names = make([]*roundName, slots.Names)
	x.ids.once = make([]bool, slots.Once)
	x.ranges = make(ranges, slots.Ranges)
	x.lists.current = make([]int, slots.Lists)
	x.tables = tables{merges: make([]merged, slots.Merges), columns: make([]repeatedColumns, slots.Columns), covered: make([]int, slots.Spans)}
}

// readHeadings learns which headings the document will have, by an execution whose output is thrown away: it costs work, but no
// content, and its memory is given back but for the headings. The pictures that this one has made are not made again.
func (x *execution) readHeadings(data lang.Value) error {
	first := x.d.execution(data, x.opt, x.meter)
	defer x.d.keepOutput(&first.out)
	before := x.meter.Used()
	err := first.collect()
	if err != nil {
		x.env = first.env // which knows where that was
		return err
	}
	used := x.meter.Used()
	x.meter.Release(int(used.Memory - before.Memory))
	x.meter.Unwrite(int(used.Content - before.Content))
	x.toc.entries, x.pictures.prepared = first.toc.found, first.reusable()
	return x.meter.Hold(first.toc.bytes)
}

// write writes the package: the parts with text as they are executed, at the end those that list what was added.
func (x *execution) write(pw *ooxml.Writer) error {
	if x.d.Types != nil {
		x.added.Replace(ooxml.ContentTypesName, x.d.Types)
	}
	var late []*ooxml.Part
	for _, part := range x.d.inOrder() {
		switch {
		case x.added.Deferred(part):
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

// inOrder returns the parts in the order in which they are written: as they came, but notes that are written where they are referred to
// behind those that do so.
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
	if err := x.run(p.Steps); err != nil {
		return fmt.Errorf("%s: %w", part.Name, err)
	}
	if err := x.out.flush(); err != nil {
		return err
	}
	return x.out.check.End()
}
