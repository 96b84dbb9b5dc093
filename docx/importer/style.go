package importer

import (
	"regexp"
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/wml"
)

// The helper docxStyle of jsreport colors the text between its tags, or the paragraph, cell, row, or shape that they are in. In Platen,
// only values have colors that the data chooses, so the text between the tags becomes values.

// coloring is what the tags of such a block do.
type coloring struct {
	text       string // the color of the text, as an expression; "" for none
	background string // the same of the background of text
	target     string // "text", "paragraph", "shape", "cell", or "row"
}

// targets are the elements that a block can color, and the arguments of the filter shade for their background.
var targets = map[string]struct{ element, shade string }{
	"text": {}, "paragraph": {"w:p", `shade("paragraph")`}, "cell": {"w:tc", "shade"}, "row": {"w:tr", `shade("row")`},
	"shape": {"w:txbxContent", ""},
}

// readStyle reads the opening tag of a block that colors text.
func readStyle(argument string) command {
	c := command{kind: kStyle, closes: "docxStyle"}
	h, err := readCall("docxStyle " + argument)
	if err == nil {
		err = h.only("textColor", "backgroundColor", "target")
	}
	if target := h.named["target"]; err == nil && target != nil && h.text("target") == "" {
		err = &cannot{"only the data says what it colors", "write {{x :: color(…)}} or {{color :: shade(…)}}"}
	}
	if c.err = err; err == nil {
		c.style, c.uses = h, h.values()
	}
	return c
}

// openStyle writes the opening tag of a block that colors text.
func (p *part) openStyle(w *writer, t *tag) error {
	b := t.block
	b.scope = &scope{}
	b.coloring = &coloring{target: t.style.text("target")}
	if b.coloring.target == "" {
		b.coloring.target = "text"
	}
	at, ok := targets[b.coloring.target]
	if !ok {
		return &cannot{"it colors something unknown", "write {{x :: color(…)}} or {{color :: shade(…)}}"}
	}
	last := b.last()
	owner := func(t *tag) *wml.Node { return t.par.node.Ancestor(wml.Named(at.element)) }
	if at.element != "" && (owner(t) == nil || owner(t) != owner(last)) {
		return &cannot{"its tags are not in one " + b.coloring.target, "write a tag for each of them"}
	}
	if e := t.style.named["textColor"]; e != nil {
		c, err := w.colorOf(e)
		if b.coloring.text = c; err != nil {
			return err
		}
	}
	e := t.style.named["backgroundColor"]
	if e == nil {
		return nil
	}
	c, err := w.colorOf(e)
	switch {
	case b.coloring.target == "text":
		b.coloring.background = c
	case at.shade == "":
		return &cannot{"it colors the background of a shape", "write {{color :: shade}} for a cell or a paragraph"}
	default:
		t.out = "{{" + c + " :: " + at.shade + "}}"
	}
	return err
}

// filter returns the filter for a value with the color; "" if it cannot have it.
func (c *coloring) filter() string {
	if c.background != "" {
		return ""
	}
	return "color(" + c.text + ")"
}

var unevenBlanks = regexp.MustCompile(`^\s|\s\s`)

// colored returns the tag for text with the color; "" if there is none.
func (c *coloring) colored(text string) string {
	if strings.Contains(text, "{{") || strings.Contains(text, "}}") {
		return ""
	}
	if c.background == "" {
		raw := ""
		if likeHTML.MatchString(text) {
			raw = " :: raw"
		}
		return "{{" + quote(text) + raw + " :: " + c.filter() + "}}"
	}
	if unevenBlanks.MatchString(text) { // HTML does not keep them
		return ""
	}
	css := quote("<span style='background-color:") + ", " + c.background
	if c.text != "" {
		css += ", " + quote(";color:") + ", " + c.text
	}
	return "{{$string(" + css + ", " + quote("'>"+escaper.Replace(text)+"</span>") + ") :: html}}"
}

var sixDigits = regexp.MustCompile(`^[0-9A-Fa-f]{6}$`)

// colorOf returns an expression for a color, which is six digits without a number sign in the other language.
func (w *writer) colorOf(e *expr) (string, error) {
	texts := w.textsOf(e)
	if w.data != nil && (len(texts) == 0 || slices.ContainsFunc(texts, func(s string) bool { return !sixDigits.MatchString(s) })) {
		return "", &cannot{"its color is not always six digits", "send colors such as \"#C00000\", and write {{x :: color(…)}}"}
	}
	if e.op == opLiteral && len(texts) == 1 {
		return quote("#" + texts[0]), nil
	}
	o, err := w.operand(e)
	if err == nil && strings.Contains(o.text, "loop.") {
		err = &cannot{"its color depends on the position in the loop", "add a key with the color to the data"}
	}
	return `$string("#", ` + o.text + ")", err
}

// colored is a stretch of text with a color.
type colored struct {
	stretch
	in *block
}

func (c *colored) text() string { return c.par.text[c.span.from:c.span.to] }

// arrangeStyles writes the text in blocks that color it as values.
func arrangeStyles(p *part) {
	var blocks []*block
	for _, t := range p.tags {
		if b := t.block; b != nil && b.coloring != nil && t == b.tags[0] && t.failed == nil &&
			b.coloring.text+b.coloring.background != "" {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return
	}
	var texts []colored
	for _, par := range p.pars {
		if par.aside == nil {
			texts = append(texts, p.coloredIn(par, blocks)...)
		}
	}
	for _, c := range texts {
		if c.in.coloring.colored(c.text()) == "" {
			c.in.fail(&cannot{"the text in it has braces, or blanks that HTML does not keep", "write {{x :: color(…)}}"})
		}
	}
	p.colorValues(blocks)
	for _, c := range texts {
		if c.in.tags[0].failed != nil {
			continue
		}
		p.replace(c.par, c.span.from, c.span.to, c.in.coloring.colored(c.text()))
	}
}

// colorValues adds the color to the values in blocks. A block with values that cannot have one stays.
func (p *part) colorValues(blocks []*block) {
	for _, t := range p.tags {
		if t.failed != nil || t.par.aside != nil || t.kind == kStyle || t.out == "" {
			continue
		}
		b := blockAt(blocks, t.par, t.span.from)
		if b == nil {
			continue
		}
		out := t.out
		spans, _ := lang.Find(t.out)
		for _, s := range slices.Backward(spans) {
			tag, err := lang.ParseTag(t.out[s.Start:s.End])
			if err != nil || tag.Kind != lang.Print {
				continue
			}
			if tag.Filter("image") != nil {
				continue
			}
			if b.coloring.filter() == "" || tag.Filter("html") != nil || tag.Filter("wordml") != nil || tag.Filter("shade") != nil {
				b.fail(&cannot{"a value in it cannot have this color", "write the color into the data"})
				continue
			}
			out = out[:s.End-len("}}")] + " :: " + b.coloring.filter() + out[s.End-len("}}"):]
		}
		if b.tags[0].failed == nil {
			t.out = out
		}
	}
}

// coloredIn returns the stretches of text in a paragraph that blocks color: without tags, and with the same formatting throughout.
func (p *part) coloredIn(par *paragraph, blocks []*block) []colored {
	var all []colored
	format := ""
	for i := range par.pieces {
		piece := &par.pieces[i]
		if !piece.isText() {
			format = ""
			continue
		}
		own := "run" + p.formatOf(piece)
		for from := piece.from; from < piece.to; {
			to := p.untilTag(par, from, piece.to)
			b := blockAt(blocks, par, from)
			last := len(all) - 1
			switch {
			case to == from:
				to = p.afterTag(par, from, piece.to)
				format = ""
			case b == nil:
				format = ""
			case last >= 0 && format == own && all[last].in == b && all[last].span.to == from:
				all[last].span.to = to
			default:
				all = append(all, colored{stretch{par, span{from, to}}, b})
				format = own
			}
			from = to
		}
	}
	return slices.DeleteFunc(all, func(c colored) bool { return strings.TrimSpace(par.text[c.span.from:c.span.to]) == "" })
}

// formatOf returns the properties of the run of a piece.
func (p *part) formatOf(piece *piece) string {
	props := piece.node.Parent.Child("w:rPr")
	if props == nil {
		return ""
	}
	return string(p.src[props.Start:props.End])
}

// untilTag returns where the text at an offset ends: at a tag, or at the end.
func (p *part) untilTag(par *paragraph, from, end int) int {
	for _, t := range p.tags {
		if t.par == par && t.span.to > from && t.span.from < end {
			return max(from, t.span.from)
		}
	}
	return end
}

// afterTag returns where the tag at an offset ends, or the end if that is before.
func (p *part) afterTag(par *paragraph, from, end int) int {
	for _, t := range p.tags {
		if t.par == par && t.span.from <= from && from < t.span.to {
			return min(t.span.to, end)
		}
	}
	return end
}

// blockAt returns the innermost block that colors the text at an offset of a paragraph, or nil.
func blockAt(blocks []*block, par *paragraph, offset int) *block {
	var found *block
	for _, b := range blocks {
		if b.tags[0].failed == nil && b.colors(par, offset) {
			found = b
		}
	}
	return found
}

// colors reports whether a block colors the text at an offset of a paragraph.
func (b *block) colors(par *paragraph, offset int) bool {
	first, last := b.tags[0], b.last()
	if element := targets[b.coloring.target].element; element != "" {
		return par.node.Ancestor(wml.Named(element)) == first.par.node.Ancestor(wml.Named(element))
	}
	switch {
	case par == first.par && offset < first.span.to || par == last.par && offset >= last.span.from:
		return false
	case par == first.par || par == last.par:
		return true
	}
	return first.par.node.Start < par.node.Start && par.node.Start < last.par.node.Start
}
