package compile

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"platen/budget"
	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml"
)

// bytesPerStep is how many bytes of XML are read for one step.
const bytesPerStep = 10

// maxOrphans is how many warnings about braces that belong to no tag one paragraph gives.
const maxOrphans = 10

// compiler turns one part into a program. It finds the tags in the flattened text of the paragraphs, pairs the blocks,
// decides which bytes of the source each of them concerns, and writes that down as edits; assemble does the rest.
type compiler struct {
	meter        *budget.Meter
	ended        error // of the meter
	part         string
	src          []byte
	width        int // of the text; 0 until it is asked for
	root         *wml.Node
	styles       map[string]wml.Style // by id
	ids          *IDs
	slots        *program.Slots
	lists        *program.Numbering // nil if the template has none
	isMain       bool
	mayInclude   bool
	stretches    []Stretch // of included files
	isProperties bool
	tocs         []*toc // of the main part, which are written anew
	otherTOCs    []*toc
	pkg          *ooxml.Package
	rels         []ooxml.Relationship      // of the part
	charts       map[string]*program.Chart // of the document, by the names of their parts
	headers      map[string]*boundHeader   // of sections in loops, by the names of their parts
	notes        map[string]*boundNote     // of the document, by what they have in common with their references
	use          *lang.Use

	dialects map[string]bool // other languages that were found

	pars         []*paragraph
	marks        []*mark
	asides       []*aside // tags outside of the text of paragraphs
	inclusions   []*inclusion
	placeholders []*placeholder
	links        []*boundLink
	controls     []*boundControl
	plain        []*mark            // in attributes and the codes of fields
	blocks       []*block           // inner before outer
	gone         map[*wml.Node]bool // paragraphs and rows that only held block tags
	guarded      map[*wml.Node]bool // paragraphs and tables that vanish if they come out empty
	pinned       map[*wml.Node]bool // runs and texts that borders stand in
	edits        []edit

	ordinals    map[*wml.Node]int // of tables, rows and cells, for people
	hasHeadings bool              // the paragraphs know the headings before them

	listing  map[*mark]listed             // of the tags that a listing shows
	places   map[*lang.Tag]*program.Error // where each tag stands
	errors   program.Errors
	warnings program.Errors
}

// compile returns the program of a part, or nil if it holds no tag. Problems are in c.errors and c.warnings.
func (c *compiler) compile() (*program.Part, error) {
	if c.spend(len(c.src) / bytesPerStep) {
		return nil, c.ended
	}
	root, err := wml.ParseTree(c.part, c.src)
	if err != nil {
		return nil, err
	}
	c.root, c.gone, c.guarded, c.pinned = root, make(map[*wml.Node]bool), make(map[*wml.Node]bool), make(map[*wml.Node]bool)
	if c.isMain {
		c.findTOCs()
	}
	c.pars = slices.DeleteFunc(flatten(c.src, root), func(p *paragraph) bool { return c.isInTOC(p.node) && len(c.besideTOC(p)) == 0 })
	c.ids.collect(c.src, root)
	switch {
	case c.isProperties:
		c.pars = c.leafTexts(func(*wml.Node) bool { return true })
	case root.Name == "c:chartSpace":
		c.pars = append(c.pars, c.leafTexts(isChartName)...)
		slices.SortStableFunc(c.pars, func(a, b *paragraph) int { return cmp.Compare(a.node.Start, b.node.Start) })
	}
	c.findDialects(c.dialects)
	if err := c.inTurn(c.findTags, c.findPlaceholders, c.findLinks, c.findControls, c.findPlain); err != nil {
		return nil, err
	}
	if len(c.marks)+len(c.asides)+len(c.ownNotes()) == 0 {
		return nil, nil
	}
	if err := c.inTurn(c.matchBlocks, c.forgetCopies, c.removeTags, c.countTexts, c.removeLines, c.countTexts, c.findGone, c.findBorders, c.checkFields); err != nil {
		return nil, err
	}
	if len(c.errors) > 0 {
		return nil, nil
	}
	const usual = 2 // edits for a tag
	c.edits = slices.Grow(c.edits, usual*(len(c.marks)+len(c.asides)))
	if err := c.inTurn(
		c.findReferences, c.findHeaders, c.readScopes, c.notePlaces, c.editTexts, c.guardParagraphs, c.guardTables, c.guardContainers, c.editBound,
		c.editLists, c.editNotes, c.editHeaders, c.editCells, c.editPlaceholders, c.editLinks, c.editControls, c.editPlain, c.editTOCs, c.editIDs,
	); err != nil {
		return nil, err
	}
	made := c.assemble()
	return made, c.ended
}

// inTurn does the steps one after the other until the meter ends them.
func (c *compiler) inTurn(steps ...func()) error {
	for _, step := range steps {
		if step(); c.spend(len(c.pars) + len(c.marks) + len(c.edits)) {
			return c.ended
		}
	}
	return nil
}

// spend takes n steps from the meter. Once it is true the compiler must not go on, and c.ended tells why.
func (c *compiler) spend(n int) (ended bool) {
	if c.ended == nil {
		c.ended = c.meter.Spend(n)
	}
	return c.ended != nil
}

// findBorders finds where the blocks begin and end.
func (c *compiler) findBorders() {
	for _, b := range slices.Clone(c.blocks) { // to which repeated columns add
		if c.spend(1 + len(c.pars)/bytesPerStep) {
			return
		}
		c.border(b)
	}
}

// findTags reads the tags of all paragraphs, in the order of the source.
func (c *compiler) findTags() {
	for _, p := range c.pars {
		if c.spend(1) {
			return
		}
		if c.isInTOC(p.node) {
			c.refuseBesideTOC(p)
			continue
		}
		tags, orphans := lang.Find(p.text)
		for _, span := range orphans[:min(len(orphans), maxOrphans)] {
			text, _ := excerpt(p.text, span.Start)
			c.warn(p, span, "The braces '"+p.text[span.Start:span.End]+"' in \""+text+"\" belong to no tag and are left as text.",
				"a tag begins with {{ and ends with }} in the same paragraph")
		}
		for _, span := range tags {
			c.addMark(p, span)
		}
		if len(c.errors) >= MaxErrors {
			break
		}
	}
	slices.SortStableFunc(c.marks, func(a, b *mark) int { return cmp.Compare(a.start(), b.start()) })
	for i, m := range c.marks {
		m.order = i
	}
}

func (c *compiler) addMark(p *paragraph, span lang.Span) {
	text := p.text[span.Start:span.End]
	if at := strings.IndexRune(text, wml.Object); at >= 0 {
		c.failAt(p, span.Start, span.End, at, "a picture, a field or a note stands inside this tag", "type the tag again without it")
		return
	}
	tag, err := lang.ParseTag(strings.Clone(text)) // lest the program keep the whole paragraph
	if err != nil && isForeign(text) {
		return // findDialects has something to say of it
	}
	if err != nil {
		syntax, ok := errors.AsType[*lang.SyntaxError](err)
		if !ok {
			syntax = &lang.SyntaxError{Message: err.Error()}
		}
		c.failAt(p, span.Start, span.End, syntax.Offset, syntax.Message, syntax.Hint)
		tag = unreadable(text)
	}
	if p.pieces[0].plain && tag.Kind != lang.Print && tag.Kind != lang.Comment {
		c.failAt(p, span.Start, span.End, 0, "only values can stand here", "in a property of the document or a name in a chart there is no room for a block")
		return
	}
	if len(c.marks) >= maxTags {
		c.failAt(p, span.Start, span.End, 0, "the document has too many tags", "")
		return
	}
	m := &mark{tag: tag, par: p, from: span.Start, to: span.End, unreadable: err != nil}
	m.first, m.last = &p.pieces[p.pieceAt(span.Start)], &p.pieces[p.pieceAt(span.End-1)]
	p.marks = append(p.marks, m)
	c.marks = append(c.marks, m)
}

// unreadable stands for a tag that cannot be read: it opens or closes what its first words say, so that one mistake
// is not reported as two.
func unreadable(text string) *lang.Tag {
	tag := &lang.Tag{Kind: lang.Comment, Text: text}
	if kind, _ := lang.Meant(text); kind >= lang.For && kind <= lang.EndIf {
		tag.Kind = kind
	}
	return tag
}

// removeTags takes the text of all tags that leave nothing in their place out of their paragraphs.
func (c *compiler) removeTags() {
	for _, m := range c.marks {
		if !m.leavesSomething() {
			m.par.remove(m.from, m.to)
		}
	}
}

func (c *compiler) countTexts() {
	for _, p := range c.pars {
		if len(p.marks) > 0 && (p.visible == nil || p.dirty) {
			p.count()
		}
	}
}

// findGone finds the paragraphs and rows that vanish because they held nothing but tags of blocks made of more than
// themselves.
func (c *compiler) findGone() {
	left := map[*wml.Node]int{} // blocks that are not gone, by cell
	for _, p := range c.pars {
		if c.holdsOnlyTags(p) && sectionOf(p.node) == nil && !c.neededInCell(p, left) {
			c.gone[p.node] = true
			left[p.node.Parent]--
		}
	}
	for _, b := range c.blocks {
		if b.level != rows {
			continue
		}
		first, last := b.open().par.node.Under(b.at), b.close().par.node.Under(b.at)
		if first == last {
			continue
		}
		for _, m := range b.marks {
			if row := m.par.node.Under(b.at); c.isTagRow(row) {
				c.gone[row] = true
			}
		}
	}
}

// holdsOnlyTags tells whether nothing would be left of the paragraph, and no block begins or ends within it.
func (c *compiler) holdsOnlyTags(p *paragraph) bool {
	if len(p.marks) == 0 || p.anyVisible(0, len(p.text)) {
		return false
	}
	return !slices.ContainsFunc(p.marks, func(m *mark) bool { return m.block != nil && m.block.level == inline })
}

// neededInCell tells whether the paragraph is all that is left of its cell, and only tags of rows stand in it.
func (c *compiler) neededInCell(p *paragraph, left map[*wml.Node]int) bool {
	cell := p.node.Parent
	if cell.Name != "w:tc" {
		return false
	}
	if _, ok := left[cell]; !ok {
		for _, n := range cell.Children {
			if n.Name == "w:p" || n.Name == "w:tbl" || n.Name == "w:sdt" {
				left[cell]++
			}
		}
	}
	return left[cell] == 1 && !slices.ContainsFunc(p.marks, func(m *mark) bool { return m.block != nil && m.block.level < rows })
}

// isTagRow tells whether a row holds nothing but tags of blocks of rows.
func (c *compiler) isTagRow(row *wml.Node) bool {
	return !slices.ContainsFunc(c.parsWithin(row), func(p *paragraph) bool {
		return p.shows() || slices.ContainsFunc(p.marks, func(m *mark) bool { return m.block != nil && m.block.level != rows })
	})
}

// parsWithin returns the paragraphs inside n.
func (c *compiler) parsWithin(n *wml.Node) []*paragraph {
	byStart := func(p *paragraph, at int) int { return cmp.Compare(p.node.Start, at) }
	from, _ := slices.BinarySearchFunc(c.pars, n.Start, byStart)
	to, _ := slices.BinarySearchFunc(c.pars, n.End, byStart)
	return c.pars[from:to]
}

// guardParagraphs has the paragraphs that hold nothing but inline blocks dropped when these give nothing.
func (c *compiler) guardParagraphs() {
	streams := c.streams()
	for _, p := range c.pars {
		if len(p.marks) == 1 && p.marks[0].tag.Kind == lang.PageBreak && c.mayTakeParagraph(p.marks[0]) {
			c.guard(p.node)
			continue
		}
		if parting(p.node, streams) != nil || c.isGone(p.node) || !c.isAllBlocks(p) {
			continue
		}
		c.guard(p.node)
		c.yieldWhereVisible(p)
	}
}

// isAllBlocks tells whether all the visible text of a paragraph, and there is some, is inside inline blocks.
func (c *compiler) isAllBlocks(p *paragraph) bool {
	if len(p.marks) == 0 || sectionOf(p.node) != nil {
		return false
	}
	at, found := 0, false
	for _, m := range p.marks {
		if m.block != nil && m.block.stream {
			return false
		}
		if m.block == nil || m.block.level != inline || m.from < at {
			continue
		}
		if p.anyVisible(at, m.from) {
			return false
		}
		at, found = m.block.close().to, true
	}
	return found && !p.anyVisible(at, len(p.text))
}

// yieldWhereVisible puts a sign before each stretch of visible text that is no value; values are one themselves.
func (c *compiler) yieldWhereVisible(p *paragraph) {
	at := 0
	for i := range len(p.marks) + 1 {
		next, until := len(p.text), len(p.text)
		if i < len(p.marks) {
			next, until = p.marks[i].from, p.marks[i].to
		}
		if p.anyVisible(at, next) {
			pos := at
			for !p.anyVisible(pos, pos+1) {
				pos++
			}
			c.edits = append(c.edits, c.yieldAt(p, pos))
		}
		at = until
	}
}

func (c *compiler) yieldAt(p *paragraph, offset int) edit {
	piece := &p.pieces[p.pieceAt(offset)]
	pos := piece.node.Start
	if piece.isText() {
		pos = piece.source(offset)
	}
	return edit{pos: pos, end: pos, phase: phaseYield, kind: editYield}
}

// guardTables has the tables whose rows are all in blocks dropped when no row is left, and content controls around rows
// likewise.
func (c *compiler) guardTables() {
	seen := map[*wml.Node]bool{}
	for _, b := range c.blocks {
		if b.level != rows {
			continue
		}
		for n := b.at; n != nil && n.Name != "w:tc"; n = n.Parent {
			if (n.Name == "w:tbl" || n.Name == "w:sdt") && !seen[n] {
				seen[n] = true
				c.guardRows(n)
			}
			if n.Name == "w:tbl" {
				break
			}
		}
	}
}

func (c *compiler) guardRows(holder *wml.Node) {
	held := rowsOf(holder)
	if slices.ContainsFunc(held, func(row *wml.Node) bool { return c.spend(len(c.blocks)) || !c.gone[row] && !c.inRowBlock(row) }) {
		return
	}
	c.guard(holder)
	for _, row := range held {
		if !c.gone[row] && !c.guarded[row] {
			c.add(edit{pos: row.Start, end: row.Start, phase: phaseYield, kind: editYield})
		}
	}
}

// guard has a node left out if nothing in it yields.
func (c *compiler) guard(n *wml.Node) {
	c.guarded[n] = true
	c.add(edit{pos: n.Start, end: n.Start, phase: phaseGuard, kind: editGuard})
	c.add(edit{pos: n.End, end: n.End, phase: phaseGuardEnd, kind: editGuardEnd})
}

// inRowBlock tells whether a block of rows of the same table holds this one.
func (c *compiler) inRowBlock(row *wml.Node) bool {
	return slices.ContainsFunc(c.blocks, func(b *block) bool {
		return b.level == rows && b.openAt <= row.Start && row.End <= b.closeAt &&
			b.at.Ancestor(wml.Named("w:tbl")) == row.Ancestor(wml.Named("w:tbl"))
	})
}
