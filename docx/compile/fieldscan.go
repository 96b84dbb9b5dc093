package compile

import (
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// fieldScan finds fields from their marks, which may be in several paragraphs of a story.
type fieldScan struct {
	src  []byte
	all  []*wordField // the outer ones
	open []*wordField
}

// findFields returns the outer fields of the part.
func (c *wordFields) findFields() []*wordField {
	all, ok := c.scanFields(true)
	if !ok { // a field has no end: it must not swallow those after it
		all, _ = c.scanFields(false)
	}
	return all
}

// scanFields returns the outer fields of the part. If across, fields may end in a later paragraph; ok is false if one has no end.
func (c *wordFields) scanFields(across bool) (all []*wordField, ok bool) {
	s := fieldScan{src: c.src}
	var last *wml.Node // the paragraph with the marks of s.open
	for _, p := range c.pars {
		if !p.fields || p.node.Name != "w:p" || c.tocs.holds(p.node) {
			continue
		}
		if len(s.open) > 0 && p.node.Start < last.End { // in a text box
			box := fieldScan{src: c.src}
			box.walk(p.node)
			s.all = append(s.all, box.all...)
			continue
		}
		if len(s.open) > 0 && (!across || storyOf(p.node) != storyOf(last)) {
			if across {
				return nil, false
			}
			s.open = nil
		}
		s.walk(p.node)
		last = p.node
	}
	return s.all, len(s.open) == 0
}

// storyOf returns the element whose fields are its own that a node is in; nil for the part itself.
func storyOf(n *wml.Node) *wml.Node {
	return n.Ancestor(func(n *wml.Node) bool { return stories[n.Name] })
}

// walk finds the fields in the content of a paragraph, or of an element in one.
func (s *fieldScan) walk(n *wml.Node) {
	for _, child := range n.Children {
		if child.Name != "w:r" && child.Name != "w:proofErr" {
			s.part()
		}
		switch {
		case child.Name == "w:r":
			s.run(child)
		case child.Name == "w:fldSimple":
			s.simple(child)
		case !child.IsTextless() && !isParagraphOf(child):
			s.walk(child)
		}
	}
}

// add adds a field where it begins.
func (s *fieldScan) add(f *wordField) {
	if len(s.open) == 0 {
		s.all = append(s.all, f)
	} else if outer := s.open[len(s.open)-1]; outer.separate == nil {
		outer.code = append(outer.code, codePiece{field: f})
	} else {
		outer.inner = append(outer.inner, f)
	}
	s.open = append(s.open, f)
}

// part notes that something other than a run is in the innermost open field.
func (s *fieldScan) part() {
	if last := len(s.open) - 1; last >= 0 {
		s.open[last].isParted = true
	}
}

// end ends the innermost open field in a run.
func (s *fieldScan) end(run *wml.Node) (f *wordField) {
	last := len(s.open) - 1
	f = s.open[last]
	f.end, s.open = run, s.open[:last]
	if f.isParted {
		s.part()
	}
	return f
}

// simple reads a w:fldSimple.
func (s *fieldScan) simple(n *wml.Node) {
	around := len(s.open)
	f := &wordField{begin: n, end: n, result: n.Child("w:r"), separate: n}
	f.code = []codePiece{{text: scan.Value([]byte(wml.AttrValue(s.src, n, "w:instr")))}}
	s.add(f)
	s.walk(n)
	s.open = s.open[:min(around, len(s.open))]
}

// run reads the marks, the codes, and the texts of a run.
func (s *fieldScan) run(run *wml.Node) {
	var ended *wordField // by the last child
	anything, content := false, false
	for _, n := range run.Children {
		if invisible[n.Name] {
			continue
		}
		if ended != nil {
			ended.sharesRun, ended = true, nil
		}
		last := len(s.open) - 1
		switch {
		case n.Name == "w:fldChar" && wml.AttrValue(s.src, n, "w:fldCharType") == "begin":
			s.add(&wordField{begin: run, sharesRun: anything})
		case n.Name != "w:fldChar" && n.Name != "w:instrText":
			if content = true; last >= 0 {
				s.content(n, run, s.open[last])
			}
		case last < 0:
		case n.Name == "w:fldChar" && wml.AttrValue(s.src, n, "w:fldCharType") == "separate":
			s.open[last].separate = run
		case n.Name == "w:fldChar":
			ended = s.end(run)
			ended.sharesRun = ended.sharesRun || content
		case s.open[last].separate == nil:
			s.open[last].code = append(s.open[last].code, codePiece{text: scan.Text(s.src[n.OpenEnd:n.CloseStart]), run: run})
		}
		anything = true
	}
}

// content reads an element of a run in a field that is neither a mark nor code.
func (s *fieldScan) content(n, run *wml.Node, f *wordField) {
	f.sharesRun = f.sharesRun || f.begin == run
	if n.Name == "w:t" && f.separate != nil && f.result == nil {
		f.result = run
	}
}
