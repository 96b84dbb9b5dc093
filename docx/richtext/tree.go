package richtext

// A document consists of blocks, and blocks with text consist of inlines. build.go converts the tree of HTML to this tree, and write.go and
// table.go convert this tree to WordprocessingML.

type blockKind int

const (
	paragraph blockKind = iota
	heading             // level
	preformatted
	rule
	quote // blocks
	list  // items
	table // grid
)

type block struct {
	kind   blockKind
	level  int // of headings, 1 to 6
	shape  shape
	text   []inline
	blocks []block
	items  []item
	list   List
	grid   *grid
}

// shape is the formatting of a paragraph itself.
type shape struct {
	align       string // "left", "right", "center", "both"; "" for that of the place
	rightToLeft bool
}

// item is an item of a list, or the content between items.
type item struct {
	blocks []block
	marked bool // it has a bullet or number
	value  int  // given number; 0 for the next one
}

type inlineKind int

const (
	text inlineKind = iota
	lineBreak
	picture
)

// inline is a stretch of text of one format, a break of lines, or a picture.
type inline struct {
	kind    inlineKind
	text    string // of a picture, the alternative text, which replaces it if it cannot be shown
	format  format
	picture Picture
}

// toggle is a property that may be on, off, or inherited from the place.
type toggle int8

const (
	unsaid toggle = iota
	on
	off
)

// format is the look of a text.
type format struct {
	bold, italic, underline, strike toggle

	raised      int8   // 1: superscript, -1: subscript
	code        bool   // of one width
	marked      bool   // with a marker
	color, fill string // "RRGGBB"
	font        string
	size        int // in half-points; 0: as the place has it
	scale       int // in percent of the place's size; 0: 100
	rightToLeft bool
	link        string // the address it leads to
}

// grid is a table of cells.
type grid struct {
	rows    []row
	columns int
	widths  []length // of columns; may be incomplete
	width   length
	borders bool
	shape   shape // its align is the table's place
}

type row struct {
	cells  []cell
	header bool // it is repeated on every page
	short  int  // columns after the last cell that hold none
}

// cell is a cell of a row, or the part of one from a row above that reaches into the row.
type cell struct {
	blocks       []block
	column       int  // its first, from 0
	span         int  // columns
	above, below bool // the cell reaches into this row from above, from this row below
	fill         string
	vertical     string // "top", "center", "bottom"; "" as Word has it
}

// length is in twentieths of a point or in percent; the zero value is not given.
type length struct {
	twips, percent int
}

// flatten returns the blocks as inlines with line breaks between them and tabs between the cells of a row.
func flatten(blocks []block) []inline {
	var f flattener
	f.blocks(blocks)
	return f.out
}

type flattener struct{ out []inline }

// newLine begins a line unless the line is empty.
func (f *flattener) newLine() {
	if len(f.out) > 0 {
		f.out = append(f.out, inline{kind: lineBreak})
	}
}

func (f *flattener) blocks(all []block) {
	for i := range all {
		b := &all[i]
		switch b.kind {
		case quote:
			f.blocks(b.blocks)
		case list:
			f.items(b)
		case table:
			f.rows(b.grid)
		case rule:
			f.newLine()
		case paragraph, heading, preformatted:
			f.newLine()
			f.out = append(f.out, b.text...)
		}
	}
}

func (f *flattener) items(b *block) {
	n := b.list.Start - 1
	for _, it := range b.items {
		mark := ""
		if it.marked {
			if n++; it.value > 0 {
				n = it.value
			}
			mark = b.list.mark(n)
		}
		within := flatten(it.blocks)
		f.newLine()
		if mark != "" {
			f.out = append(f.out, inline{text: mark + " "})
		}
		f.out = append(f.out, within...)
	}
}

func (f *flattener) rows(g *grid) {
	for _, r := range g.rows {
		f.newLine()
		for i, c := range r.cells {
			if i > 0 {
				f.out = append(f.out, inline{text: "\t"})
			}
			if !c.above {
				f.out = append(f.out, flatten(c.blocks)...)
			}
		}
	}
}
