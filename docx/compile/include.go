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
	"platen/ooxml/scan"
)

// inclusion is a tag that includes a file.
type inclusion struct {
	Name  string
	at    *program.Error // its place
	Place include.Place

	tag    []byte // its paragraph, without the ranges that begin or end there
	chosen bool   // by the data
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
		c.addInclusions(m)
	}
}

// The tags that divide and end the files from which a tag chooses. They are inserted with the contents of the files. A file with variables
// ends in the same way, because they end with it.
const (
	nextFile = "{{else}}"
	noFile   = "{{endif}}"
)

// addInclusions records the files that a tag includes. If the data chooses one of several, all of them are inserted after the tag, which
// then begins a block: see [program.Choice].
func (c *compiler) addInclusions(m *mark) {
	par := m.par.node
	at := c.where(m.par, m.from, m.from)
	at.Tag = m.tag.Text
	place := include.Place{
		Part: c.part, Source: c.src, Start: par.Start, End: par.End, TableBefore: c.isBehindTable(par), NoParagraph: c.needsParagraphBehind(par),
		NoSections: !endsSections(par), Section: c.sectionAbove(par),
	}
	if pageBreak := par.Child("w:pPr").Child("w:pageBreakBefore"); pageBreak != nil {
		place.PageBreak = scan.IsOn(wml.AttrValue(c.src, pageBreak, "w:val"))
	}
	tag := c.keepRanges(&place, m)
	if !m.tag.Chooses() {
		c.inclusions = append(c.inclusions, &inclusion{Name: m.tag.Included()[0], at: at, Place: place, tag: tag})
		return
	}
	files := m.tag.Included()
	for i, name := range files {
		one := keepTag(place, tag)
		if i > 0 {
			one.Start, one.Opening, one.Tag, one.Before = one.End, nil, nil, nextFile
		}
		if i == len(files)-1 {
			one.After = noFile
		} else {
			one.Closing = nil
		}
		c.inclusions = append(c.inclusions, &inclusion{Name: name, at: at, Place: one, chosen: true})
	}
}

// keepRanges has the ranges that begin or end in the paragraph of a tag kept around the content, and the runs that refer to comments. It
// returns the paragraph without them.
func (c *compiler) keepRanges(place *include.Place, m *mark) (tag []byte) {
	par := m.par.node
	at := par.Start
	for _, n := range par.Children {
		xml := c.src[n.Start:n.End]
		switch {
		case rangeMarks[n.Name] != nil && n.Start < m.start():
			place.Opening = append(place.Opening, xml...)
		case rangeMarks[n.Name] != nil:
			place.Closing = append(place.Closing, xml...)
		case n.Name == "w:r" && n.Child("w:commentReference") != nil && onlyPieces(n, 1):
			place.References = append(place.References, xml...)
		default:
			continue
		}
		tag = append(tag, c.src[at:n.Start]...)
		at = n.End
	}
	return append(tag, c.src[at:par.End]...)
}

// sectionAbove returns a paragraph that ends the section of the text above a paragraph, with the properties of the section that this is
// in; nil if no text of that section is above.
func (c *compiler) sectionAbove(par *wml.Node) []byte {
	if !endsSections(par) {
		return nil
	}
	above, found := false, (*wml.Node)(nil)
	for _, n := range c.root.Child("w:body").Children {
		section := n.Child("w:pPr").Child("w:sectPr")
		if n.Name == "w:sectPr" {
			section = n
		}
		switch {
		case n.End <= par.Start:
			above = section == nil
		case n.Start >= par.End && section != nil && found == nil:
			found = section
		}
	}
	if !above || found == nil || holdsTrackedChange(found) {
		return nil
	}
	p := par.Prefix(c.src)
	return slices.Concat([]byte("<"+p+"p><"+p+"pPr>"), c.src[found.Start:found.End], []byte("</"+p+"pPr></"+p+"p>"))
}

// keepTag returns the place after the paragraph of a tag, which stays in the document as the tag of a block.
func keepTag(place include.Place, tag []byte) include.Place {
	place.Tag, place.TableBefore, place.NoParagraph = tag, false, false
	return place
}

// Enclose makes the content of a file a block, in which its variables end, unless the data chooses the file.
func (in *inclusion) Enclose() {
	if !in.chosen {
		in.Place = keepTag(in.Place, in.tag)
		in.Place.After = noFile
	}
}

// choice returns what a tag does that chooses one of the files in its block.
func (c *compiler) choice(m *mark) *program.Choice {
	p, run := m.par.node, m.first.run
	prefix := p.Prefix(c.src)
	text := []byte("<" + prefix + "p>" + c.kept(p.Child("w:pPr")) + "<" + prefix + "r>" + c.kept(run.Child("w:rPr")) +
		"<" + prefix + "t" + wml.Preserve + ">")
	text = program.AppendEscaped(text, m.tag.Text)
	text = append(text, "</"+prefix+"t></"+prefix+"r></"+prefix+"p>"...)
	return &program.Choice{Tag: m.tag, Stays: []program.Step{&program.Literal{Text: text, After: program.IsParagraph}}}
}

// kept returns the XML of the properties of a paragraph or of a run for a copy: without sections and tracked changes.
func (c *compiler) kept(props *wml.Node) string {
	if props == nil {
		return ""
	}
	var kept []byte
	for _, child := range props.Children {
		if child.Name != "w:sectPr" && !holdsTrackedChange(child) {
			kept = append(kept, c.src[child.Start:child.End]...)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	name := props.RawName(c.src)
	return "<" + name + ">" + string(kept) + "</" + name + ">"
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
	i := par.Index()
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
