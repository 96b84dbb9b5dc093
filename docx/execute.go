package docx

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"platen/docx/lang"
	"platen/docx/opc"
)

// Report is what an execution has to say, in the words of Box Doc Gen.
type Report struct {
	Errors   []string // what keeps the document from being complete: the document is there, with those tags in it
	Warnings []string
	Details  []*Error // the same, as far as it is about a tag, each with its place
}

// ErrIncomplete is returned by [Template.Execute] for data that is not complete, if the options do not allow that.
var ErrIncomplete = errors.New("the data is not complete")

// Execute writes the document that the template gives for data, which [lang.Decode] gave. The same template, data and options
// give the same bytes. It writes as it goes: on an error, which is w's, a limit that was passed or ErrIncomplete, what was
// written is no document. To end it early, let w fail.
func (t *Template) Execute(w io.Writer, data lang.Value, opt Options) (Report, error) {
	x := t.execution(data, opt)
	defer t.keepOutput(&x.out)
	if t.hasTOC {
		headings, err := t.headings(data, opt)
		if err != nil {
			return Report{}, err
		}
		x.contents.entries = headings
	}
	x.beginCheck()
	if err := x.write(opc.NewWriter(w)); err != nil {
		return Report{}, x.refuse(err)
	}
	return x.report()
}

// report says what the document lacks, and whether it may.
func (x *execution) report() (Report, error) {
	r := Report{Errors: x.env.Errors(), Warnings: slices.Concat(x.warnings, x.t.warnings, x.env.Warnings())}
	for _, f := range x.faults {
		r.Errors = append(r.Errors, f.text)
	}
	if len(r.Errors)+len(r.Warnings) > 0 {
		r.Details = x.details()
	}
	if x.opt.Strict && len(r.Errors)+len(r.Warnings) > 0 {
		r.Errors, r.Warnings = append(r.Errors, r.Warnings...), nil
		return r, ErrIncomplete
	}
	if x.env.Err() != nil {
		return r, ErrIncomplete
	}
	return r, nil
}

// details gives the problems of tags their places.
func (x *execution) details() []*Error {
	var all []*Error
	for _, p := range x.env.TagProblems() {
		at := x.t.places[p.Tag]
		if at == nil {
			continue
		}
		e := *at
		e.Message, e.Hint, e.Path, e.Nearest, e.Warning = p.Message, p.Hint, p.Path, p.Nearest, p.Warning && !x.opt.Strict
		all = append(all, &e)
	}
	for _, f := range x.faults {
		if at := x.t.places[f.tag]; at != nil {
			e := *at
			e.Message = f.text
			all = append(all, &e)
		}
	}
	return all
}

func (t *Template) execution(data lang.Value, opt Options) *execution {
	x := &execution{t: t, opt: opt, env: lang.NewEnv(data, opt.forTags(t)), slots: make([]int, t.ids.slots), nextID: t.firstID, added: opc.NewAdditions(t.pkg)}
	x.out = t.takeOutput()
	if t.ids.tables+t.ids.merges > 0 {
		x.columns, x.merges = make([]repeatedColumns, t.ids.tables), make([]merged, t.ids.merges)
	}
	return x
}

// headings returns the headings that the document will have.
func (t *Template) headings(data lang.Value, opt Options) ([]heading, error) {
	x := t.execution(data, opt)
	defer t.keepOutput(&x.out)
	return x.collect()
}

// write writes the package: the parts with text as they are executed, at the end those that list what was added.
func (x *execution) write(pw *opc.Writer) error {
	if x.t.types != nil {
		x.added.Replace(opc.ContentTypesName, x.t.types)
	}
	var late []*opc.Part
	for _, part := range x.t.inOrder() {
		switch {
		case x.added.Deferred(part):
		case x.t.lists.isIn(part), x.t.isChartPart(part):
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
func (t *Template) inOrder() []*opc.Part {
	parts := t.pkg.Parts()
	isLater := func(part *opc.Part) bool { p := t.programs[part.Name]; return p != nil && p.hasNotes }
	if len(t.notes) == 0 || !slices.ContainsFunc(parts, isLater) {
		return parts
	}
	var first, later []*opc.Part
	for _, part := range parts {
		if isLater(part) {
			later = append(later, part)
		} else {
			first = append(first, part)
		}
	}
	return append(first, later...)
}

func (x *execution) writePart(pw *opc.Writer, part *opc.Part) error {
	p := x.t.programs[part.Name]
	if p == nil {
		return pw.Copy(part)
	}
	w, err := pw.CreatePlanned(part.Name, p.plan())
	if err != nil {
		return err
	}
	x.out.w, x.part = w, part.Name
	x.out.check.Part(part.Name, p.segments)
	if err := x.run(p.ops); err != nil {
		return fmt.Errorf("%s: %w", part.Name, err)
	}
	if err := x.out.flush(); err != nil {
		return err
	}
	return x.out.check.End()
}
