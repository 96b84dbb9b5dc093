package docx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"platen/docx/include"
	"platen/docx/opc"
)

const (
	// MaxFile is how many bytes a template may have, and a file that it includes.
	MaxFile = opc.DefaultPackageBytes

	// MaxIncludeDepth is how deep included files may include others.
	MaxIncludeDepth = 5
	// MaxIncludes is how many tags of a template and of the files that it includes may include a file.
	MaxIncludes = 100
)

// ParseOptions are what reading a template may need.
type ParseOptions struct {
	// Include returns the file that {{include "name"}} names; nil: there are none to be had. Its error completes a sentence whose
	// subject is the file.
	Include func(name string) ([]byte, error)
}

// inclusion is a tag that includes a file.
type inclusion struct {
	name  string
	at    *Error // its place
	place include.Place
}

// stretch is the content of an included file in a part: src[start:end], where the part had from:to before.
type stretch struct {
	name                 string
	start, end, from, to int
}

// noteInclusion notes a tag that includes a file, if one can stand there.
func (c *compiler) noteInclusion(m *mark) {
	p, par := m.par, m.par.node
	rest := strings.TrimFunc(p.text[:m.from], isBlank) + strings.TrimFunc(p.text[m.to:], isBlank)
	switch {
	case !c.mayInclude:
		c.fail(m, "files cannot be included here", "put the text of the file in the place of the tag")
	case par.name != "w:p" || rest != "" || par.child("w:pPr").child("w:sectPr") != nil:
		c.fail(m, "a file is included between paragraphs, and something else is in the paragraph of this tag", "give the tag a paragraph of its own, without a section break")
	default:
		at := c.where(p, m.from, m.from)
		at.Tag = m.tag.Text
		c.inclusions = append(c.inclusions, &inclusion{name: m.tag.Included(), at: at, place: include.Place{
			Part: c.part, Source: c.src, Start: par.start, End: par.end, TableBefore: c.isBehindTable(par), NoParagraph: c.needsParagraphBehind(par),
		}})
	}
}

// isBehindTable tells whether a table is right before a paragraph.
func (c *compiler) isBehindTable(par *node) bool {
	if par.parent == nil {
		return false
	}
	i := slices.Index(par.parent.children, par)
	return i > 0 && par.parent.children[i-1].name == "w:tbl"
}

// includer compiles a template with all that it includes.
type includer struct {
	open  func(name string) ([]byte, error)
	files map[string]*Template // those that were compiled, by name
	names []string             // of those that are being compiled, each in the one before
	count int
}

// parse compiles a file. What it includes is put into it, and the whole is compiled anew.
func (p *includer) parse(file []byte) (*Template, error) {
	t, err := compileFile(file, p.open != nil, nil)
	if err != nil || len(t.inclusions) == 0 {
		return t, err
	}
	var problems Errors
	places := make([]include.Place, len(t.inclusions))
	for i, in := range t.inclusions {
		places[i] = in.place
		included, err := p.file(in.name)
		if err != nil {
			problems = append(problems, in.failed(err)...)
			continue
		}
		places[i].Document = included.pkg
	}
	if len(problems) > 0 {
		return nil, problems[:min(len(problems), maxErrors)]
	}
	whole, stretches, err := include.Into(t.pkg, places, include.Taken{
		FirstID: t.firstID[bookmarkIDs], FirstDrawing: t.firstID[drawingIDs], Bookmarks: t.ids.bookmarks,
	})
	if refused, ok := errors.AsType[*include.Error](err); ok {
		return nil, t.inclusions[refused.Place].failed(refused.Err)
	}
	if err != nil {
		return nil, err
	}
	included := map[string][]stretch{}
	for i, in := range t.inclusions {
		at := &in.place
		included[at.Part] = append(included[at.Part], stretch{in.name, stretches[i].Start, stretches[i].End, at.Start, at.End})
	}
	for _, in := range included {
		slices.SortFunc(in, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	}
	return compileFile(whole, false, included)
}

// file returns an included file, compiled by itself: its blocks begin and end in it.
func (p *includer) file(name string) (*Template, error) {
	if p.count++; p.count > MaxIncludes {
		return nil, fmt.Errorf("is one of more than %d that are included", MaxIncludes)
	}
	if t := p.files[name]; t != nil {
		return t, nil
	}
	way := strings.Join(append(slices.Clone(p.names), name), " → ")
	if slices.Contains(p.names, name) {
		return nil, fmt.Errorf("includes itself: %s", way)
	}
	if len(p.names) == MaxIncludeDepth {
		return nil, fmt.Errorf("is included too deep, by more than %d files one in the other: %s", MaxIncludeDepth, way)
	}
	file, err := p.open(name)
	if err != nil {
		return nil, err
	}
	p.names = append(p.names, name)
	defer func() { p.names = p.names[:len(p.names)-1] }()
	t, err := p.parse(file)
	if err != nil {
		return nil, err
	}
	p.files[name] = t
	return t, nil
}

// failed are the problems of a tag whose file cannot be included: those of the file itself, each with its place there.
func (in *inclusion) failed(err error) Errors {
	if mistakes, ok := errors.AsType[Errors](err); ok {
		all := make(Errors, len(mistakes))
		for i, m := range mistakes {
			e := *m
			e.File, e.pos = cmp.Or(m.File, in.name), in.at.pos
			all[i] = &e
		}
		return all
	}
	e := *in.at
	e.Message = fmt.Sprintf("the file %q %s", in.name, err)
	if unreadable, ok := errors.AsType[*opc.Error](err); ok {
		e.Message, e.Hint = fmt.Sprintf("the file %q cannot be read: %s", in.name, unreadable.Message), unreadable.Remedy
	}
	return Errors{&e}
}

// original returns which file a place of a part comes from, "" for the template itself, and where in the template it is, or
// the tag that includes the file.
func (c *compiler) original(pos int) (file string, at int) {
	for _, s := range c.stretches {
		switch {
		case pos < s.start:
			return "", pos + at
		case pos < s.end:
			return s.name, s.from
		}
		at = s.to - s.end
	}
	return "", pos + at
}
