package importer

import (
	"bytes"
	"io"
	"slices"

	"platen/docx"
	"platen/docx/wml"
)

// tagAt returns the converted tag that a problem of the converted template is about, or nil.
func (i *importer) tagAt(problem *docx.Error) *tag {
	var found, aside *tag
	for _, p := range i.parts {
		for _, t := range p.tags {
			if t.failed != nil || t.out == "" || p.name != problem.Part && !t.isIn(problem.Part) {
				continue
			}
			if t.par.aside != nil {
				if aside == nil && t.out == problem.Tag {
					aside = t
				}
				continue
			}
			near := p.position(t) <= problem.Offset && (found == nil || p.position(t) >= p.position(found))
			if near || found == nil && t.added && t.out == problem.Tag {
				found = t
			}
		}
	}
	if aside != nil && (found == nil || found.out != problem.Tag) {
		return aside
	}
	return found
}

// isIn reports whether a tag is in a part that another shows.
func (t *tag) isIn(part string) bool {
	return t.par.aside != nil && t.par.aside.in != nil && t.par.aside.in.name == part
}

// report says what became of the tags. Those in the fallback of a text box are left out, because they repeat others.
func (i *importer) report() (*Report, error) {
	r := &Report{From: i.dialect.name, Results: []Result{}, Notes: append([]string{}, i.dialect.notes...)}
	for _, p := range i.parts {
		places := wml.NewLocator(p.root)
		for _, t := range p.tags {
			if t.par.twin || t.added {
				continue
			}
			r.Tags++
			result := Result{
				Part: p.name, Heading: t.par.heading, Place: t.location(places), Text: shorten(t.par.text), Original: t.original(),
			}
			if t.failed != nil {
				c := asCannot(t.failed)
				r.Commented++
				result.Reason, result.Advice = c.reason, c.advice
			} else {
				r.Converted++
				result.Converted, result.Notes, result.Removed = t.out, t.notes, t.out == ""
			}
			r.Results = append(r.Results, result)
		}
	}
	asides, err := i.elsewhere()
	if err != nil {
		return nil, err
	}
	r.Elsewhere = len(asides)
	r.Tags += len(asides)
	r.Results = append(r.Results, asides...)
	r.explain()
	return r, nil
}

// location describes where a tag is.
func (t *tag) location(places *wml.Locator) string {
	if at := t.par.aside; at != nil {
		return places.Locate(t.par.node) + ", " + titles[at.place]
	}
	return places.Locate(t.par.node)
}

// explain adds the meaning of the notes on tags.
func (r *Report) explain() {
	for _, e := range explanations {
		if slices.ContainsFunc(r.Results, func(t Result) bool { return slices.Contains(t.Notes, e.note) }) {
			r.Notes = append(r.Notes, e.text)
		}
	}
}

// annotate writes the file with a comment at each tag that stays.
func (i *importer) annotate(w io.Writer, file []byte) error {
	var problems docx.Errors
	for _, p := range i.parts {
		places := wml.NewLocator(p.root)
		for _, t := range p.tags {
			if t.failed == nil || t.par.twin || t.added {
				continue
			}
			c := asCannot(t.failed)
			hint := c.advice
			if hint != "" {
				hint = "In Platen: " + hint + "."
			}
			problems = append(problems, &docx.Error{
				Part: p.name, Place: t.location(places), Tag: t.original(), Message: "This tag was not converted: " + c.reason + ".",
				Hint:   hint,
				Offset: p.position(t),
			})
		}
	}
	if len(problems) == 0 {
		_, err := w.Write(file)
		return err
	}
	return docx.Annotate(w, bytes.NewReader(file), int64(len(file)), problems)
}
