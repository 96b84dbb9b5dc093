package compile

import (
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// mark is a tag in its place.
type mark struct {
	tag         *lang.Tag
	par         *paragraph
	from, to    int    // the stretch of par.text
	first, last *piece // with its first and its last character
	block       *block // of the tags that open, part or close one
	merge       int    // if its cell merges, the slot for that, and 1
	stylesPar   bool   // it may set the style of its paragraph
	border      int    // where the tag's border is in the source, if it has a block, or where a variable is computed
	order       int    // among the marks of the part
	unreadable  bool   // its tag cannot be parsed, which has been reported
	code        program.CodeForm
}

// leavesSomething reports whether something may take the tag's place in its text.
func (m *mark) leavesSomething() bool {
	return m.tag.Kind == lang.Print || m.tag.Kind == lang.PageBreak
}

// start is where the mark begins in the source.
func (m *mark) start() int { return m.first.source(m.from) }

// block is an opening tag, its closing tag, and the tags that divide it, such as {{else}}. Its borders are between children of
// one node. Its content is therefore balanced XML, and can be omitted or repeated.
type block struct {
	marks  []*mark
	level  level
	at     *wml.Node // the borders are between its children, or in its text if it is a w:t
	stream bool      // a block of paragraphs that begins or ends within one: its borders are inside paragraphs

	between string    // XML between two rounds of a loop
	kept    *wml.Node // the properties of a section that ends also when the block gives nothing; nil for none
	columns *columns  // that are repeated
	perRow  bool      // the part of a block of columns that is in one row
	lists   []int     // slots of lists that restart in each round of a loop
	merges  []int     // slots of cells that merge within a loop
	item    *wml.Node // of the repeating section that the block is; nil for tags in text

	openAt, closeAt int // where the borders are
}

// level is the kind of elements that a block consists of.
type level int

const (
	inline       level = iota // pieces of one paragraph
	paragraphs                // whole paragraphs and tables
	rows                      // rows of a table
	tableColumns              // columns of a table
)

func (b *block) open() *mark  { return b.marks[0] }
func (b *block) close() *mark { return b.marks[len(b.marks)-1] }

func (b *block) isLoop() bool {
	return b.open().tag.Kind.IsLoop()
}

// maxBlockDepth bounds blocks in blocks, as the execution is recursive.
const maxBlockDepth = 100

// closers maps opening tags to closing tags.
var closers = map[lang.Kind]lang.Kind{
	lang.For: lang.EndFor, lang.TableRow: lang.EndTableRow, lang.TableColumn: lang.EndTableColumn, lang.If: lang.EndIf,
	lang.Paragraph: lang.EndParagraph, lang.Include: lang.EndIf,
}

// matcher pairs the block tags of a part, in the order of the source.
type matcher struct {
	c       *compiler
	open    []*openBlock
	crossed []crossing // blocks that were open when a block around them ended
	columns *block     // repeated columns that are open: they cross the rows and the blocks in these
	stray   []closing  // tags that end no open block
}

// crossing is a block that was still open when a tag ended the block around it.
type crossing struct {
	*block
	end *mark
}

// closing is a tag that ends no open block, and the innermost block that was open at it, or nil.
type closing struct {
	*mark
	within *block
}

type openBlock struct {
	*block
	inner []*block // already closed
	last  *mark    // an else, after which no other branch may follow
}

func (c *compiler) matchBlocks() {
	m := matcher{c: c}
	for _, mark := range c.marks {
		switch mark.tag.Kind {
		case lang.For, lang.TableRow, lang.Paragraph, lang.If:
			m.begin(mark)
		case lang.ElseIf, lang.Else:
			m.part(mark)
		case lang.EndFor, lang.EndTableRow, lang.EndParagraph, lang.EndIf:
			m.end(mark)
		case lang.TableColumn:
			m.beginColumns(mark)
		case lang.EndTableColumn:
			m.endColumns(mark)
		case lang.Print:
			if mark.tag.Filter("chart") != nil {
				c.fail(mark, "a chart cannot be inserted into text", "insert a chart in Word, and use the tag as its alt text")
			}
		case lang.Include:
			if m.c.opt.Included != nil { // its files have been inserted
				m.begin(mark)
			} else {
				m.c.noteInclusion(mark)
			}
		}
	}
	m.reportUnmatched()
}

func (m *matcher) begin(at *mark) {
	if len(m.open) == maxBlockDepth {
		m.c.fail(at, "too many blocks are nested here", "")
	}
	b := &block{marks: []*mark{at}}
	at.block = b
	m.open = append(m.open, &openBlock{block: b})
}

func (m *matcher) beginColumns(at *mark) {
	if m.columns != nil {
		m.c.fail(at, "repeated columns cannot contain repeated columns", "close the first with {{endtablecolumn}} before the second")
		return
	}
	m.columns = &block{marks: []*mark{at}}
	at.block = m.columns
}

func (m *matcher) endColumns(at *mark) {
	b := m.columns
	if b == nil {
		m.strays(at)
		return
	}
	m.columns = nil
	at.block = b
	b.marks = append(b.marks, at)
	if m.c.placeColumns(b) {
		m.c.blocks = append(m.c.blocks, b)
	}
}

func (m *matcher) part(at *mark) {
	if len(m.open) == 0 || m.open[len(m.open)-1].isLoop() && at.tag.Kind == lang.ElseIf {
		m.c.fail(at, "there is no {{if}} open here", "put it between {{if …}} and its {{endif}}")
		return
	}
	b := m.open[len(m.open)-1]
	if b.open().tag.Kind == lang.Paragraph {
		m.c.fail(at, "a repeated paragraph has no {{else}}", "use {{for …}} and {{endfor}} in separate paragraphs")
		return
	}
	if b.last != nil {
		end := "{{" + closers[b.open().tag.Kind].String() + "}}"
		m.c.fail(at, "this follows the {{else}} of the same block", "{{else}} is the last part before "+end)
		return
	}
	if at.tag.Kind == lang.Else && b.open().tag.Kind != lang.Include {
		b.last = at
	}
	at.block = b.block
	b.marks = append(b.marks, at)
}

func (m *matcher) end(at *mark) {
	i := len(m.open) - 1
	for i >= 0 && closers[m.open[i].open().tag.Kind] != at.tag.Kind {
		i--
	}
	if i < 0 {
		m.unopened(at)
		return
	}
	for _, b := range m.open[i+1:] {
		m.crossed = append(m.crossed, crossing{b.block, at})
	}
	b := m.open[i]
	m.open = m.open[:i]
	at.block = b.block
	b.marks = append(b.marks, at)
	if !m.c.place(b.block, b.inner) {
		return
	}
	m.c.blocks = append(m.c.blocks, b.block)
	if i > 0 {
		m.open[i-1].inner = append(m.open[i-1].inner, b.block)
	}
}

// unopened reports a tag that ends no open block. If it ends a block that another one crosses, it names both.
func (m *matcher) unopened(at *mark) {
	ends := func(b crossing) bool { return closers[b.open().tag.Kind] == at.tag.Kind }
	for i, b := range slices.Backward(m.crossed) {
		if !ends(b) {
			continue
		}
		m.crossed = slices.Delete(m.crossed, i, i+1)
		outer := b.end.block.open().tag.Text
		m.c.fail(at, "this ends "+b.open().tag.Text+", which begins inside "+outer+", after "+b.end.tag.Text+" has ended that block",
			"put "+at.tag.Text+" before "+b.end.tag.Text+", or "+b.open().tag.Text+" before "+outer)
		return
	}
	m.strays(at)
}

// place determines the level of a block from the places of its tags and from the blocks in it.
func (c *compiler) place(b *block, inner []*block) bool {
	var common *wml.Node
	for _, m := range b.marks {
		common = wml.CommonAncestor(wml.CommonAncestor(common, m.first.node), m.last.node)
	}
	for _, in := range inner {
		common = wml.CommonAncestor(common, in.at)
	}
	onePar := !slices.ContainsFunc(b.marks, func(m *mark) bool { return m.par != b.open().par })
	switch {
	case b.open().tag.Kind == lang.TableRow:
		b.level, b.at = rows, rowsAround(common)
		if b.at == nil {
			c.fail(b.open(), "{{tablerow}} is outside a table", "put it and {{endtablerow}} into the same table, or use {{for …}} … {{endfor}}")
			return false
		}
	case b.open().tag.Kind == lang.Paragraph:
		b.level, b.at = paragraphs, b.open().par.node.Parent
	case onePar && common.Ancestor(isParagraphOf) == b.open().par.node:
		b.level, b.at = inline, common
		c.pinned[common] = true
	default:
		b.level, b.at = containerOf(common)
	}
	for _, m := range b.marks {
		if !b.fits(m) {
			c.straddles(b)
			return false
		}
	}
	return true
}

// rowsAround returns the node whose children are the rows around n, or nil.
func rowsAround(n *wml.Node) *wml.Node {
	n = n.Ancestor(func(n *wml.Node) bool { return n.Name == "w:tr" || holdsRows(n) })
	if n != nil && n.Name == "w:tr" {
		return n.Parent
	}
	return n
}

// holdsRows reports whether n is a table, or a content control of rows in one.
func holdsRows(n *wml.Node) bool {
	return n.Name == "w:tbl" || (n.Name == "w:sdtContent" || n.Name == "w:customXml") && n.Child("w:tr") != nil
}

// containerOf climbs from n to what holds rows or paragraphs; to no container if it would have to leave a paragraph.
func containerOf(n *wml.Node) (level, *wml.Node) {
	for ; n != nil && n.Name != "w:p"; n = n.Parent {
		switch {
		case n.Name == "w:tr":
			return rows, n.Parent
		case holdsRows(n):
			return rows, n
		case holdsParagraphs(n):
			return paragraphs, n
		}
	}
	return paragraphs, nil
}

func holdsParagraphs(n *wml.Node) bool { return n.Child("w:p") != nil }

// fits reports whether the mark is directly in the paragraphs of the block, or in a cell of its rows.
func (b *block) fits(m *mark) bool {
	switch {
	case b.at == nil:
		return false
	case b.level == inline:
		return true
	case b.level == paragraphs:
		return m.par.node.Parent == b.at
	}
	row := m.par.node.Under(b.at)
	if row == nil || row.Name != "w:tr" {
		return false
	}
	return b.open().tag.Kind == lang.TableRow || m.par.node.Ancestor(wml.Named("w:tr")) == row
}

func (c *compiler) straddles(b *block) {
	open, end := b.open(), b.close()
	message := "this block begins and ends in different content controls, text boxes or tracked changes"
	if from, to := c.locate(open.par.node), c.locate(end.par.node); from != to {
		message = "this block begins in " + from + " and ends in " + to
	}
	c.fail(open, message+", which would split one of them",
		"put "+open.tag.Text+" and "+end.tag.Text+" into the same cell, text box or content control, or both outside of it")
}
