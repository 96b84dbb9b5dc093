package compile

import (
	"cmp"
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// edit replaces src[pos:end] by an operation, by nothing, or by inserted XML. All edits of a part, sorted, are its
// program in another form.
type edit struct {
	pos, end int
	phase    phase
	order    int // of the mark, among borders at one place
	kind     editKind
	mark     *mark  // of borders and values
	closing  string // XML before a border
	opening  string // XML behind a border; what editInsert inserts
	block    *block // of borders, if it is not that of the mark
	columns  *columns
	picture  *placeholder
	link     *program.Link
	control  *boundControl
	note     *program.Note
	header   *program.Header
	toc      *toc
	levels   []int // of editHeading: in each table of contents
	cell     int   // of cells: what their kind says
	over     bool  // of editWidth: the cell reaches over the repeated columns
	slot     int   // of ids and of what comes only once
	space    program.IDSpace
	half     *half
	region   *region // that begins or ends here
}

// phase orders edits at one place.
type phase int

const (
	phaseHeadingStart phase = iota // behind the properties, before all of the text
	phaseAloneEnd
	phaseHeadingEnd
	phaseGuardEnd
	phaseBorder
	phaseGuard
	phaseHeading
	phaseAlone
	phaseYield
	phaseParagraph
	phaseReplace
)

type editKind int

const (
	editDelete      editKind = iota
	editInsert               // opening
	editValue                // the value of mark, or the source if there is none
	editTail                 // the source, if the last value was missing
	editOpen                 // the border before a block
	editPart                 // the border between its parts
	editClose                // the border behind it
	editGuard                // from here on, output counts only if something yields
	editGuardEnd             //
	editYield                // something is there
	editParagraph            // an empty paragraph, unless one was last
	editApart                // an empty paragraph, if a table was last
	editID                   // the source's id once, then fresh ones
	editSameID               // the id that editID of the same slot gave last
	editName                 // the source's name once, then fresh ones
	editNameBehind           // the name that editName of the same slot gave last
	editNameAhead            // the name that editName of the same slot will give next
	editHalf                 // a mark of a range that may come elsewhere
	editOnce                 // the source, the first time only
	editAlone                // from here to editAloneEnd is the paragraph of a value that may be more than text
	editAloneEnd             //
	editHeading              // from here to editHeadingEnd is a heading
	editHeadingEnd           //
	editHeadingMark          // the start or end of a heading's bookmark, whose name is opening
	editPicture              // from here to editGuardEnd is a drawing whose picture the value of mark replaces
	editShown                // from here to editGuardEnd is one in a content control, which goes if there is none
	editPicturePart          // what of it changes, by slot
	editChart                // from here to editGuardEnd is a drawing with the chart of picture
	editNote                 // from here to editGuardEnd is a note that is written where it is referred to
	editNoteID               // its id
	editReference            // the id of the note that a reference leads to
	editHeader               // the id of the relationship to a header of a section
	editLink                 // the id of the relationship that a link leads to
	editControl              // from here to editGuardEnd is a content control that takes the value of mark
	editControlPart          // what of it changes, by slot
	editMerge                // whether the cell of mark is one with that above; cell is the slot of such a cell to its left, and 1
	editCellSpan             // how many columns the cell of mark covers, at most cell
	editCovered              // from here to editGuardEnd is a cell of cell columns that may be covered
	editGrid                 // the grid of a table with repeated columns
	editWidth                // the width of a cell of such a table
	editSpan                 // how many columns a cell covers that reaches over the repeated ones
	editTOC                  // a table of contents
	editNumber               // the id of a list in opening, or of another with its look in later rounds of a loop
)

func (c *compiler) add(e edit) { c.edits = append(c.edits, e) }

func (c *compiler) replace(pos, end int, kind editKind) {
	if pos < end {
		c.add(edit{pos: pos, end: end, phase: phaseReplace, kind: kind})
	}
}

// editTexts writes the edits of what tags replace in the texts.
func (c *compiler) editTexts() {
	for n := range c.gone {
		c.deleteNode(n)
	}
	for _, p := range c.pars {
		if len(p.marks) == 0 || c.isGone(p.node) {
			continue
		}
		for from := 0; from < len(p.pieces); {
			to := from + 1
			for to < len(p.pieces) && p.pieces[to].run == p.pieces[from].run {
				to++
			}
			c.deleteInRun(p, p.pieces[from:to])
			from = to
		}
		for _, m := range p.marks {
			if m.leavesSomething() {
				c.editValue(m)
			}
			if m.tag.Kind == lang.Print {
				c.editAlone(m)
			}
		}
		c.preserveSpaces(p)
	}
}

// isGone tells whether the paragraph, or a row around it, is to vanish.
func (c *compiler) isGone(n *wml.Node) bool {
	return n.Ancestor(func(n *wml.Node) bool { return c.gone[n] }) != nil
}

// deleteNode removes a paragraph or row but for the ends of ranges in it.
func (c *compiler) deleteNode(n *wml.Node) {
	at := n.Start
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		if n.IsRangeMarkup() {
			c.replace(at, n.Start, editDelete)
			at = n.End
			return
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(n)
	c.replace(at, n.End, editDelete)
}

// deleteInRun removes what is deleted of a run's pieces: the run, if nothing is left of it.
func (c *compiler) deleteInRun(p *paragraph, pieces []piece) {
	run := pieces[0].run
	from, to := pieces[0].from, pieces[len(pieces)-1].to
	if run == nil || from == to || p.deleted == nil || int(p.kept[to]-p.kept[from]) == to-from {
		return
	}
	if !p.anyKept(from, to) && onlyPieces(run, len(pieces)) && !c.holdsBorder(run) {
		c.replace(run.Start, run.End, editDelete)
		return
	}
	for i := range pieces {
		c.deleteInPiece(p, &pieces[i])
	}
}

func (c *compiler) deleteInPiece(p *paragraph, piece *piece) {
	if piece.from < piece.to && !p.anyKept(piece.from, piece.to) && !c.pinned[piece.node] {
		c.replace(piece.node.Start, piece.node.End, editDelete)
		return
	}
	for from := piece.from; from < piece.to; {
		to := from
		for to < piece.to && p.deleted[to] {
			to++
		}
		if to > from {
			c.replace(piece.source(from), piece.source(to), editDelete)
			piece.touched = true
		}
		from = to + 1
	}
}

// holdsBorder tells whether a block has its borders between the children of the run, or in a text of it.
func (c *compiler) holdsBorder(run *wml.Node) bool {
	return c.pinned[run] || slices.ContainsFunc(run.Children, func(n *wml.Node) bool { return c.pinned[n] })
}

// invisible are elements of a run that are nothing without its text.
var invisible = map[string]bool{"w:rPr": true, "w:lastRenderedPageBreak": true, "w:proofErr": true}

// onlyPieces tells whether the run holds nothing but n pieces of text and what is invisible.
func onlyPieces(run *wml.Node, n int) bool {
	for _, c := range run.Children {
		if !invisible[c.Name] {
			n--
		}
	}
	return n == 0
}

// editValue replaces a value's tag: the value goes where its first character is, the pieces in other elements go only
// if there is a value.
func (c *compiler) editValue(m *mark) {
	p := m.par
	m.first.touched = true
	c.add(edit{pos: m.first.source(m.from), end: m.first.source(min(m.to, m.first.to)), phase: phaseReplace, kind: editValue, mark: m})
	for i := p.pieceAt(m.from) + 1; i < len(p.pieces) && p.pieces[i].from < m.to; {
		next := i + 1
		for next < len(p.pieces) && p.pieces[next].run == p.pieces[i].run {
			next++
		}
		c.editTail(p.pieces[i:next], m)
		i = next
	}
}

// editTail has the pieces of one run left out as far as they belong to a value's tag.
// editAlone has the paragraph of a value that is alone in it give way to a value that is paragraphs and tables.
func (c *compiler) editAlone(m *mark) {
	if par := m.par.node; c.mayTakeParagraph(m) {
		c.add(edit{pos: par.Start, end: par.Start, phase: phaseAlone, kind: editAlone, mark: m})
		c.add(edit{pos: par.End, end: par.End, phase: phaseAloneEnd, kind: editAloneEnd})
	}
}

func (c *compiler) editTail(pieces []piece, m *mark) {
	run := pieces[0].run
	if run != m.first.run && pieces[len(pieces)-1].to <= m.to && onlyPieces(run, len(pieces)) {
		c.replace(run.Start, run.End, editTail)
		return
	}
	for i := range pieces {
		piece := &pieces[i]
		switch {
		case piece.from >= m.to:
			return
		case piece.to <= m.to:
			c.replace(piece.node.Start, piece.node.End, editTail)
		default:
			c.replace(piece.source(piece.from), piece.source(m.to), editTail)
			piece.touched = true
		}
	}
}

// preserveSpaces marks the texts that were changed so that blanks at their ends count. Blanks that did not count
// before are removed.
func (c *compiler) preserveSpaces(p *paragraph) {
	for i := range p.pieces {
		piece := &p.pieces[i]
		t := piece.node
		if !piece.touched || t.Void() || t.Name != "w:t" { // DrawingML keeps blanks as they are
			continue
		}
		space := t.Attr("xml:space")
		if space != nil {
			if string(c.src[space.ValueStart:space.ValueEnd]) == "preserve" {
				continue
			}
			c.replace(space.Start, space.End, editDelete)
		}
		c.add(edit{pos: t.OpenEnd - 1, end: t.OpenEnd - 1, phase: phaseReplace, kind: editInsert, opening: wml.Preserve})
		from, to := piece.from, piece.to
		for from < to && isXMLSpace(p.text[from]) {
			from++
		}
		for to > from && isXMLSpace(p.text[to-1]) {
			to--
		}
		c.replace(piece.source(piece.from), piece.source(from), editDelete)
		c.replace(piece.source(to), piece.source(piece.to), editDelete)
	}
}

func isXMLSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// guardContainers sees to what the containers of paragraphs need when some of these vanish.
func (c *compiler) guardContainers() {
	for _, n := range c.changedContainers() {
		end, last := n.CloseStart, (*wml.Node)(nil)
		for _, child := range n.Children {
			switch child.Name {
			case "w:tbl":
				c.keepApart(last, child)
				last = child
			case "w:sdt":
				c.keepApart(last, child)
				last = child
			case "w:p":
				last = child
			case "w:sectPr":
				end = child.Start
			}
		}
		if last != nil && n.NeedsParagraph() && c.mayVanish(last) {
			c.add(edit{pos: end, end: end, phase: phaseParagraph, kind: editParagraph, opening: c.emptied(last)})
		}
	}
}

// keepApart puts an empty paragraph before what begins with a table if the one that kept it from another is gone, or stands
// only before the first round of a loop: Word would show the two as one.
func (c *compiler) keepApart(before, n *wml.Node) {
	if before == nil || before.Name != "w:p" || !beginsWithTable(n) {
		return
	}
	if c.mayVanish(before) || slices.ContainsFunc(c.blocks, func(b *block) bool { return b.openAt >= before.End && b.openAt <= n.Start && b.isLoop() }) {
		c.add(edit{pos: n.Start, end: n.Start, phase: phaseParagraph, kind: editApart, opening: "<" + n.Prefix(c.src) + "p/>"})
	}
}

// beginsWithTable tells whether n is a table, or a content control that begins with one.
func beginsWithTable(n *wml.Node) bool {
	for n != nil && n.Name == "w:sdt" {
		content := n.Child("w:sdtContent")
		if content == nil || len(content.Children) == 0 {
			return false
		}
		n = content.Children[0]
	}
	return n.Name == "w:tbl"
}

// emptied is an empty paragraph in place of n, with its properties if n is a paragraph; of a list, it would show as an
// item.
func (c *compiler) emptied(n *wml.Node) string {
	name := n.Prefix(c.src) + "p"
	props := n.Child("w:pPr")
	if props == nil || n.Name != "w:p" || props.Child("w:sectPr") != nil || props.Child("w:numPr") != nil {
		return "<" + name + "/>"
	}
	return "<" + name + ">" + string(c.src[props.Start:props.End]) + "</" + name + ">"
}

// changedContainers returns what holds the paragraphs with tags and the tables with such.
func (c *compiler) changedContainers() []*wml.Node {
	var all []*wml.Node
	seen := map[*wml.Node]bool{}
	note := func(n *wml.Node) {
		if !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	for _, m := range c.marks {
		note(m.par.node.Parent)
		if table := m.par.node.Ancestor(wml.Named("w:tbl")); table != nil {
			note(table.Parent)
		}
	}
	return all
}

// mayVanish tells whether a paragraph or table need not be there in the output.
func (c *compiler) mayVanish(n *wml.Node) bool {
	return c.gone[n] || c.guarded[n] || slices.ContainsFunc(c.blocks, func(b *block) bool {
		return b.level == paragraphs && b.at == n.Parent && b.openAt <= n.Start && n.End <= b.closeAt
	})
}

// sortEdits puts the edits into the order the assembler takes them in.
func (c *compiler) sortEdits() {
	slices.SortStableFunc(c.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.phase, b.phase), cmp.Compare(a.order, b.order))
	})
}
