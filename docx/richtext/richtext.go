// Package richtext reads HTML and Markdown, and writes them as WordprocessingML (ISO 29500-1 §17): native paragraphs,
// lists, tables, links, and pictures, never an altChunk.
//
// Any input results in a document. Whitespace collapses as in a browser, unknown elements are replaced with their
// content, and scripts, styles, and comments are removed. The only supported form of CSS is the attribute style, with
// the properties in css.go. The package does no I/O: the [Host] provides
// links, pictures, lists, and styles.
package richtext

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	render "github.com/yuin/goldmark/renderer/html"

	"platen/budget"
)

const (
	// MaxHTML is the longest text that is read as HTML, in bytes. Pictures may be within it.
	MaxHTML = 16 << 20
	// MaxMarkdown is the longest text that is read as Markdown, in bytes.
	MaxMarkdown = 1 << 20
)

// Doc is the content of a text. It does not change.
type Doc struct {
	blocks  []block
	reduced bool
}

// stepBytes is the number of bytes of parsed markup that count as a step. The tree has at most a few nodes for each byte.
const stepBytes = 2

// HTML reads a fragment of HTML or a whole page. The error is one of the meter, which the work is taken from.
func HTML(m *budget.Meter, s string) (*Doc, error) {
	if err := m.Spend(len(s) / stepBytes); err != nil {
		return nil, err
	}
	count, ok := countNodes(s)
	if !ok {
		return plainDoc(m, stripTags(s))
	}
	if err := m.Hold(count * nodeBytes); err != nil {
		return nil, err
	}
	defer m.Release(count * nodeBytes)
	nodes, ok := parseHTML(m, s)
	if err := m.Check(); err != nil {
		return nil, err
	}
	if !ok {
		return plainDoc(m, stripTags(s))
	}
	return &Doc{blocks: build(nodes)}, nil
}

// markdown is CommonMark with tables, struck text, tasks and bare addresses; it may contain HTML.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify, extension.TaskList),
	goldmark.WithRendererOptions(render.WithUnsafe()), // HTML is where the unsafe is left out
)

// Markdown reads CommonMark with GitHub's tables, ~~struck~~ text, tasks, and bare addresses. It converts the text to
// HTML, by which CommonMark is defined. The error is like that of [HTML].
func Markdown(m *budget.Meter, s string) (*Doc, error) {
	if err := m.Spend(len(s) / stepBytes); err != nil {
		return nil, err
	}
	if len(s) > MaxMarkdown || costsTooMuch(s) {
		return plainDoc(m, s)
	}
	memory := markdownMemory(s)
	if err := m.Hold(memory); err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err := markdown.Convert([]byte(s), &page)
	m.Release(memory)
	if err != nil {
		return plainDoc(m, s)
	}
	return HTML(m, page.String())
}

const (
	// maxMarkers is the largest number of markers of quotes and lists at the start of a line, and of open brackets in a line. Each is a level
	// of the parser's recursion.
	maxMarkers = 100
	// maxReferences is the largest number of link reference definitions, whose cost is quadratic.
	maxReferences = 2_000
)

// costsTooMuch reports whether a Markdown text is deeper than any is that is meant to be read.
func costsTooMuch(s string) bool {
	if strings.Count(s, "]:") > maxReferences || countCells(s) > maxCells || emphasisCost(s) > maxEmphasisCost {
		return true
	}
	markers, brackets, atStart := 0, 0, true
	for _, c := range []byte(s) {
		switch {
		case c == '\n':
			markers, brackets, atStart = 0, 0, true
		case atStart && strings.IndexByte(">-*+", c) >= 0:
			markers++
		case c == '[':
			brackets++
		case atStart && strings.IndexByte(" \t.)0123456789", c) < 0:
			atStart = false
		}
		if markers > maxMarkers || brackets > maxMarkers {
			return true
		}
	}
	return false
}

// countCells returns at least the number of cells in the tables of a Markdown text. Rows are filled up to the columns of the table.
func countCells(s string) int {
	cells, columns := 0, 0
	for line := range strings.Lines(s) {
		switch line = strings.TrimSpace(line); {
		case line == "":
			columns = 0
		case strings.Trim(line, "|-: \t>") == "" && strings.Contains(line, "-"): // between the head of a table and its body
			columns = max(columns, strings.Count(line, "|")+1)
			cells += columns
		}
		cells += columns
	}
	return cells
}

// The approximate memory of what the parsers make, in bytes.
const (
	nodeBytes = 400   // of an element or a text of HTML
	lineBytes = 1_000 // of a line of Markdown or plain text
	markBytes = 500   // of what a mark of Markdown begins or ends
)

// markdownMemory returns about the memory that the parser of Markdown takes.
func markdownMemory(s string) int {
	memory := countCells(s) * markBytes
	for _, c := range []byte(s) {
		switch c {
		case '\n':
			memory += lineBytes
		case '*', '_', '~', '[', '<', '`', '!', '&', '\\':
			memory += markBytes
		}
	}
	return memory
}

// plainDoc returns a text whose markup is beyond the limits.
func plainDoc(m *budget.Meter, s string) (*Doc, error) {
	memory := strings.Count(s, "\n") * lineBytes
	if err := m.Hold(memory); err != nil {
		return nil, err
	}
	defer m.Release(memory)
	var b builder
	b.keepSpace = true
	b.text(s, format{})
	return &Doc{blocks: b.finish(), reduced: true}, nil
}

// Reduced reports whether the markup was ignored because the text is too long, nests too deep, or would cost too much.
func (d *Doc) Reduced() bool { return d.reduced }

// Inline reports whether the document can be part of a paragraph, because it has at most one.
func (d *Doc) Inline() bool {
	return len(d.blocks) == 0 || len(d.blocks) == 1 && d.blocks[0].kind == paragraph
}

// Shaped reports whether the first paragraph has an alignment or a direction, for which it must be a separate paragraph.
func (d *Doc) Shaped() bool { return len(d.blocks) > 0 && d.blocks[0].shape != shape{} }

// EndsWithTable reports whether the last block, or the last one within it, is a table.
func (d *Doc) EndsWithTable() bool { return endsWithTable(d.blocks) }

func endsWithTable(blocks []block) bool {
	if len(blocks) == 0 {
		return false
	}
	switch last := &blocks[len(blocks)-1]; last.kind {
	case table:
		return true
	case quote:
		return endsWithTable(last.blocks)
	case list:
		return endsWithTable(last.items[len(last.items)-1].blocks)
	case paragraph, heading, preformatted, rule:
	}
	return false
}

// Text returns the text alone, with line breaks between paragraphs and rows, and tabs between cells.
func (d *Doc) Text() string {
	return textOf(flatten(d.blocks), "\n")
}

// textOf returns the text of inlines, with something for the line breaks.
func textOf(all []inline, lineEnd string) string {
	var b strings.Builder
	for _, in := range all {
		if in.kind == lineBreak {
			b.WriteString(lineEnd)
		} else {
			b.WriteString(in.text)
		}
	}
	return b.String()
}

// EMU is a length in English metric units, 914,400 to the inch.
type EMU int64

// Context describes the position that a document is written to.
type Context struct {
	Prefix       string // of the elements of WordprocessingML, with its colon
	RelNamespace string // of attributes that name a relationship
	Strict       bool   // the package is of the strict form (ISO 29500-1, not -4)
	InLink       bool   // within a link, where there can be no other
	Link         string // the id of a relationship for a link around all text, which takes the place of links in it; empty for none

	RunProps  []byte // the content of the run's w:rPr
	ParaProps []byte // the content of the paragraph's w:pPr
	Width     int    // of the text's column in twentieths of a point; 0: unknown

	AfterTable           bool // the element before is a table, which another would join
	MustEndWithParagraph bool
}

// Host provides the links, pictures, lists, and styles of a text.
type Host interface {
	// Link returns the id of a relationship to an address, or "" if the address is not allowed. The text is then not a link.
	Link(address string) (relID string)
	// Picture returns a w:r with the picture; if there can be none, its alternative text is used.
	Picture(p Picture) (run []byte, ok bool)
	// List returns the id of a w:num. Bulleted lists with the same levels may share one. Every other list gets a new one.
	List(l List) (numID int)
	// Heading returns the elements before and after the text of a paragraph that may be a heading, such as the anchor of a table of contents.
	Heading(h Heading) (before, after string)
	// Style returns the id of a style by kind ("paragraph", "character", "table") and name, if the template has it.
	Style(kind, name string) (styleID string, ok bool)
}

// Heading is a paragraph that may be a heading.
type Heading struct {
	Style   string // the id of its style; "" for none
	Outline int    // its own outline level, from 1; 0 for none
	InList  bool   // it is in a list of its own, not in that of its style
	Text    string
}

// Picture is a picture that a document refers to.
type Picture struct {
	Source        string // a data: URI or an address
	Alt           string
	Width, Height EMU // 0: not given
}
