package compile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"platen/docx/include"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml"
)

// inclusion is a tag that includes a file.
type inclusion struct {
	Name  string
	at    *program.Error // its place
	Place include.Place
}

// Stretch is the content of an included file in a part: src[start:end], where the part had from:to before.
type Stretch struct {
	Name                 string
	Start, End, From, To int
}

// noteInclusion records a tag that includes a file, or reports that a file cannot be included there.
func (c *compiler) noteInclusion(m *mark) {
	p, par := m.par, m.par.node
	rest := strings.TrimFunc(p.text[:m.from], isBlank) + strings.TrimFunc(p.text[m.to:], isBlank)
	switch {
	case !c.opt.MayInclude:
		c.fail(m, "files cannot be included here", "replace the tag with the text of the file")
	case par.Name != "w:p" || rest != "" || par.Child("w:pPr").Child("w:sectPr") != nil:
		c.fail(m, "a file is included between paragraphs, and something else is in the paragraph of this tag",
			"put the tag into a separate paragraph without a section break")
	default:
		at := c.where(p, m.from, m.from)
		at.Tag = m.tag.Text
		c.inclusions = append(c.inclusions, &inclusion{Name: m.tag.Included(), at: at, Place: include.Place{
			Part: c.part, Source: c.src, Start: par.Start, End: par.End, TableBefore: c.isBehindTable(par), NoParagraph: c.needsParagraphBehind(par),
			NoSections: !endsSections(par),
		}})
	}
}

// endsSections reports whether a paragraph is where a section can end: directly in the body, or in content controls there.
func endsSections(par *wml.Node) bool {
	n := par.Parent
	for n.Name == "w:sdtContent" || n.Name == "w:sdt" || n.Name == "w:customXml" {
		n = n.Parent
	}
	return n.Name == "w:body"
}

// isBehindTable reports whether a table is right before a paragraph.
func (c *compiler) isBehindTable(par *wml.Node) bool {
	if par.Parent == nil {
		return false
	}
	i := slices.Index(par.Parent.Children, par)
	return i > 0 && par.Parent.Children[i-1].Name == "w:tbl"
}

// InFile are the problems of the file that a tag includes, each with its place there.
func (in *inclusion) InFile(problems program.Errors) program.Errors {
	all := make(program.Errors, len(problems))
	for i, p := range problems {
		e := *p
		e.File, e.Offset = cmp.Or(p.File, in.Name), in.at.Offset
		all[i] = &e
	}
	return all
}

// Failed returns the problems of a tag whose file cannot be included: those of the file itself, if it can be read.
func (in *inclusion) Failed(err error) program.Errors {
	if problems, ok := errors.AsType[program.Errors](err); ok {
		return in.InFile(problems)
	}
	e := *in.at
	e.Message = fmt.Sprintf("the file %q %s", in.Name, err)
	if unreadable, ok := errors.AsType[*ooxml.Error](err); ok {
		e.Message, e.Hint = fmt.Sprintf("the file %q cannot be read: %s", in.Name, unreadable.Message), unreadable.Remedy
	}
	return program.Errors{&e}
}

// original returns the file that a position of a part comes from, "" for the template itself, and the position in the
// template, which is that of the tag for an included file.
func (c *compiler) original(pos int) (file string, at int) {
	for _, s := range c.stretches {
		switch {
		case pos < s.Start:
			return "", pos + at
		case pos < s.End:
			return s.Name, s.From
		}
		at = s.To - s.End
	}
	return "", pos + at
}
