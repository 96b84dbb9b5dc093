package importer

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"platen/docx"
	"platen/docx/wml"
)

// located is a converted tag with its position in the changed part.
type located struct {
	at  int
	tag *tag
}

// locate returns the converted tags in the text of a part, in the order of their positions.
func (p *part) locate() []located {
	var all []located
	for _, t := range p.tags {
		if t.failed == nil && t.out != "" && t.par.aside == nil {
			all = append(all, located{p.position(t), t})
		}
	}
	slices.SortStableFunc(all, func(a, b located) int { return cmp.Compare(a.at, b.at) })
	return all
}

// tagAt returns the converted tag that a problem of the converted template is about, or nil. places are the tags in the texts of the parts.
func (i *importer) tagAt(problem *docx.Error, places map[string][]located) *tag {
	var found *tag
	all := places[problem.Part]
	after, _ := slices.BinarySearchFunc(all, problem.Offset+1, func(l located, at int) int { return cmp.Compare(l.at, at) })
	if after > 0 {
		found = all[after-1].tag
	} else if at := slices.IndexFunc(all, func(l located) bool { return l.tag.added && l.tag.out == problem.Tag }); at >= 0 {
		found = all[at].tag
	}
	if found != nil && found.out == problem.Tag {
		return found
	}
	for _, p := range i.parts {
		for _, t := range p.tags {
			isThere := t.par.aside != nil && (p.name == problem.Part || t.isIn(problem.Part))
			if isThere && t.failed == nil && t.out != "" && t.out == problem.Tag {
				return t
			}
		}
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
