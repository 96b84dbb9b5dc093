package richtext

import (
	"cmp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// maxTables is how deep tables may nest; deeper ones dissolve into their cells' content.
const maxTables = 6

// maxJoined is the largest length of a text that is joined with the next one, so that the cost of many texts stays linear.
const maxJoined = 256

// style has the formatting that an element passes to its content.
type style struct {
	format
	shape
	kind      blockKind // of the paragraphs
	level     int       // of headings
	keepSpace bool      // as in pre
	tables    int       // around
}

// builder makes blocks of HTML's nodes, one container's at a time.
type builder struct {
	blocks    []block
	par       *block // that is open
	keepSpace bool   // of the open paragraph's text
	space     bool   // a blank would collapse with the one before it, or begins the line

	// Of the last paragraph: what was cut off, and whether it had no element.
	cutBefore, cutAfter, cutBreak, anonymous bool
}

// build makes the blocks of a whole document. If it is nothing but a stretch of a line, blanks at its ends count.
func build(nodes []*html.Node) []block {
	var b builder
	for _, n := range nodes {
		b.node(n, style{})
	}
	return b.finish()
}

func (b *builder) finish() []block {
	b.closePar()
	if len(b.blocks) == 1 && b.blocks[0].kind == paragraph && b.anonymous {
		p := &b.blocks[0]
		if b.cutBefore {
			p.text = append([]inline{{text: " "}}, p.text...)
		}
		if b.cutBreak {
			p.text = append(p.text, inline{kind: lineBreak})
		} else if b.cutAfter && len(p.text) > 0 {
			p.text = append(p.text, inline{text: " ", format: p.text[len(p.text)-1].format})
		}
	}
	return b.blocks
}

// within returns the blocks in an element that is a container.
func within(n *html.Node, s style) []block {
	var b builder
	b.children(n, s)
	b.closePar()
	return b.blocks
}

func (b *builder) children(n *html.Node, s style) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.node(c, s)
	}
}

func (b *builder) node(n *html.Node, s style) {
	switch n.Type {
	case html.TextNode:
		if b.par == nil && !s.keepSpace && isBlank(n.Data) {
			b.cutBefore = true
			return
		}
		b.open(s)
		b.text(n.Data, s.format)
	case html.ElementNode:
		if !vanishing[n.Data] {
			b.element(n, s)
		}
	default: // comments
	}
}

// open begins a paragraph unless one is open.
func (b *builder) open(s style) {
	if b.par == nil {
		b.par = &block{kind: s.kind, level: s.level, shape: s.shape}
		b.space, b.cutAfter, b.cutBreak, b.anonymous = true, false, false, true
		if len(b.blocks) > 0 {
			b.cutBefore = false
		}
	}
	b.keepSpace = s.keepSpace
}

// closePar ends the open paragraph: blanks at its end vanish, and a last line break does not begin another line.
func (b *builder) closePar() {
	p := b.par
	if b.par = nil; p == nil {
		return
	}
	if !b.keepSpace {
		b.cutBlank(p)
	}
	if n := len(p.text); n > 0 && p.text[n-1].kind == lineBreak {
		p.text, b.cutBreak = p.text[:n-1], true
	}
	if len(p.text) > 0 || b.cutBreak {
		b.blocks = append(b.blocks, *p)
	}
}

// cutBlank takes away the blank that a line would end with.
func (b *builder) cutBlank(p *block) {
	n := len(p.text)
	if n == 0 || p.text[n-1].kind != text || !strings.HasSuffix(p.text[n-1].text, " ") {
		return
	}
	b.cutAfter = true
	if last := &p.text[n-1]; last.text == " " {
		p.text = p.text[:n-1]
	} else {
		last.text = last.text[:len(last.text)-1]
	}
}

// text adds text to the open paragraph.
func (b *builder) text(s string, f format) {
	if b.par == nil {
		b.open(style{format: f, keepSpace: b.keepSpace})
	}
	if b.keepSpace {
		for i, line := range strings.Split(strings.ReplaceAll(s, "\r", ""), "\n") {
			if i > 0 {
				b.lineBreak(f)
			}
			b.add(inline{text: line, format: f})
		}
		b.space = false
		return
	}
	b.add(inline{text: b.collapse(s), format: f})
}

// collapse makes one blank of each stretch of blanks (CSS Text §4.1.1).
func (b *builder) collapse(s string) string {
	var t strings.Builder
	for i := range len(s) {
		switch {
		case !isSpace(s[i]):
			t.WriteByte(s[i])
			b.space = false
		case !b.space:
			t.WriteByte(' ')
			b.space = true
		case len(b.par.text) == 0 && t.Len() == 0 && len(b.blocks) == 0:
			b.cutBefore = true
		}
	}
	return t.String()
}

// add adds an inline to the open paragraph. It joins texts with the same format.
func (b *builder) add(in inline) {
	n := len(b.par.text)
	switch {
	case in.kind != text:
	case in.text == "":
		return
	case n > 0 && b.par.text[n-1].kind == text && b.par.text[n-1].format == in.format && len(b.par.text[n-1].text) < maxJoined:
		b.par.text[n-1].text += in.text
		return
	}
	b.par.text = append(b.par.text, in)
}

func (b *builder) lineBreak(f format) {
	if !b.keepSpace {
		b.cutBlank(b.par)
	}
	b.add(inline{kind: lineBreak, format: f})
	b.space = true
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func isBlank(s string) bool { return strings.Trim(s, " \n\t\r\f") == "" }

// paragraphs are the elements that begin on a new line.
var paragraphs = setOf("p div section article header footer main aside nav address figure figcaption center fieldset legend form " +
	"details summary dl dt dd hgroup h1 h2 h3 h4 h5 h6 pre listing xmp plaintext caption dir optgroup option thead tbody tfoot tr td th")

func (b *builder) element(n *html.Node, s style) {
	outer := s
	s.apply(n)
	if s.hidden(n) {
		return
	}
	switch n.Data {
	case "br":
		b.open(s)
		b.lineBreak(s.format)
	case "wbr":
	case "hr":
		b.closePar()
		b.blocks = append(b.blocks, block{kind: rule})
	case "img":
		b.picture(n, s)
	case "input":
		b.checkbox(n, s)
	case "q":
		b.open(s)
		b.text("“", s.format)
		b.children(n, s)
		b.open(s)
		b.text("”", s.format)
	case "ul", "ol", "menu":
		b.list(n, s)
	case "li":
		b.closePar()
		b.blocks = append(b.blocks, block{kind: list, list: lookOf(n), items: []item{s.item(n)}})
	case "blockquote":
		b.quote(n, s, 0)
	case "dd":
		b.quote(n, s, 1)
	case "table":
		b.table(n, s, outer)
	default:
		b.other(n, s)
	}
}

// quote indents its content; at level 1 it does only that.
func (b *builder) quote(n *html.Node, s style, level int) {
	b.closePar()
	if blocks := within(n, s); len(blocks) > 0 {
		b.blocks = append(b.blocks, block{kind: quote, level: level, blocks: blocks})
	}
}

// other handles an element that only changes the formatting of its content, or puts it on separate lines.
func (b *builder) other(n *html.Node, s style) {
	if !paragraphs[n.Data] {
		b.children(n, s)
		return
	}
	b.closePar()
	before := len(b.blocks)
	b.children(n, s)
	b.closePar()
	if len(b.blocks) > before {
		b.anonymous = false
	}
}

func (b *builder) picture(n *html.Node, s style) {
	p := Picture{Source: strings.TrimSpace(attr(n, "src")), Alt: strings.Join(strings.Fields(attr(n, "alt")), " ")}
	if p.Source == "" {
		return
	}
	p.Width, p.Height = pictureSize(n)
	b.open(s)
	b.add(inline{kind: picture, text: p.Alt, format: s.format, picture: p})
	b.space = false
}

func (b *builder) checkbox(n *html.Node, s style) {
	if attr(n, "type") != "checkbox" {
		return
	}
	box := "☐"
	if hasAttr(n, "checked") {
		box = "☒"
	}
	b.open(s)
	b.text(box, s.format)
}

// list makes a list of the items in n. Other content belongs to the item before it.
func (b *builder) list(n *html.Node, s style) {
	b.closePar()
	l := block{kind: list, list: lookOf(n)}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.ElementNode && c.Data == "li":
			l.items = append(l.items, s.item(c))
			continue
		case c.Type == html.TextNode && isBlank(c.Data):
			continue
		}
		var rest builder
		rest.node(c, s)
		rest.closePar()
		if len(rest.blocks) == 0 {
			continue
		}
		if len(l.items) == 0 {
			l.items = append(l.items, item{})
		}
		last := &l.items[len(l.items)-1]
		last.blocks = append(last.blocks, rest.blocks...)
	}
	if len(l.items) > 0 {
		b.blocks = append(b.blocks, l)
	}
}

func (s style) item(n *html.Node) item {
	s.apply(n)
	it := item{blocks: within(n, s), marked: true}
	if v, err := strconv.Atoi(attr(n, "value")); err == nil && v > 0 && v <= maxStart {
		it.value = v
	}
	return it
}

// maxStart is the largest number a list may start with: as Word has it.
const maxStart = 32_767

// formats are the kinds of numbers that lists have, as HTML's type and CSS's list-style-type name them.
var formats = map[string]string{
	"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman",
	"decimal": "decimal", "decimal-leading-zero": "decimalZero", "lower-alpha": "lowerLetter", "lower-latin": "lowerLetter",
	"upper-alpha": "upperLetter", "upper-latin": "upperLetter", "lower-roman": "lowerRoman", "upper-roman": "upperRoman", "none": "none",
}

// bullets are the marks of lists that are not numbered.
var bullets = map[string]string{"disc": "•", "circle": "◦", "square": "▪"}

// lookOf returns how the items of a list are marked.
func lookOf(n *html.Node) List {
	kind := cmp.Or(declared(n, "list-style-type"), declared(n, "list-style"), attr(n, "type"))
	look := List{Format: "bullet", Start: 1}
	if n.Data == "ol" {
		look.Format = "decimal"
	}
	for word := range strings.FieldsSeq(kind) {
		if f := formats[word]; f != "" {
			look.Format = f
		} else if mark := bullets[strings.ToLower(word)]; mark != "" {
			look.Format, look.Bullet = "bullet", mark
		}
	}
	if start, err := strconv.Atoi(attr(n, "start")); err == nil && start >= 0 && start <= maxStart {
		look.Start = start
	}
	return look
}
