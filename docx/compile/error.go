package compile

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// MaxErrors is the largest number of problems that are reported for a template.
const MaxErrors = 200

// maxWarnings is the largest number of warnings about places outside of paragraphs that are kept of a part. The first MaxErrors of them
// by their places are reported.
const maxWarnings = 10 * MaxErrors

// findings are the problems of a part, and the data for describing their places.
type findings struct {
	errors      program.Errors
	warnings    program.Errors
	doubts      program.Errors               // warnings that the input of a document can refute
	placesOf    map[*lang.Tag]*program.Error // where each tag is
	ordinals    *wml.Locator                 // nil until a place is asked for
	hasHeadings bool                         // the paragraphs know the headings above them
}

// fail reports a problem at the start of a tag, unless the tag has been reported as unreadable.
func (c *compiler) fail(m *mark, message, hint string) {
	if m.unreadable {
		return
	}
	c.failAt(m.par, m.from, m.to, 0, message, hint)
}

// failAt reports a problem of the tag p.text[from:to], at an offset in bytes.
func (c *compiler) failAt(p *paragraph, from, to, offset int, message, hint string) {
	if len(c.errors) >= MaxErrors {
		return
	}
	e := c.where(p, from, from+offset)
	e.Tag, e.Message, e.Hint = plainLine(p.text[from:to], "□"), message, hint
	known := func(o *program.Error) bool { return isSame(o, e) && o.Text == e.Text && o.Column == e.Column }
	if c.isTwin(p) && slices.ContainsFunc(c.errors, known) {
		return
	}
	c.errors = append(c.errors, e)
}

// isSame reports whether two problems have the same tag and message.
func isSame(a, b *program.Error) bool { return a.Tag == b.Tag && a.Message == b.Message }

// warn notes something that the author may want to know of a stretch of text.
func (c *compiler) warn(p *paragraph, at lang.Span, message, hint string) {
	if c.isTwin(p) {
		return
	}
	e := c.where(p, at.Start, at.Start)
	e.Tag, e.Message, e.Hint, e.Warning = p.text[at.Start:at.End], message, hint, true
	c.warnings = append(c.warnings, e)
}

// doubt is warn for what a document's input can refute.
func (c *compiler) doubt(m *mark, message, hint string) {
	if c.isTwin(m.par) {
		return
	}
	e := c.where(m.par, m.from, m.from)
	e.Tag, e.Message, e.Hint, e.Warning = m.tag.Text, message, hint, true
	c.doubts = append(c.doubts, e)
}

// warnTag is warn for a tag.
func (c *compiler) warnTag(m *mark, message string) {
	c.warn(m.par, lang.Span{Start: m.from, End: m.to}, message, "")
}

// isTwin reports whether a paragraph belongs to the fallback of a text box, for programs that do not know that kind of box, and
// repeats the text of the box itself. The author sees only one of them.
func (c *compiler) isTwin(p *paragraph) bool {
	fallback := p.node.Ancestor(wml.Named("mc:Fallback"))
	if fallback == nil {
		return false
	}
	choice := fallback.Parent.Child("mc:Choice")
	return choice != nil && slices.ContainsFunc(c.parsWithin(choice), func(q *paragraph) bool { return q.text == p.text })
}

// where describes a place in the text of a paragraph, in the tag that begins at from.
func (c *compiler) where(p *paragraph, from, at int) *program.Error {
	text, column := excerpt(p.text, at)
	piece := &p.pieces[min(p.pieceAt(from), len(p.pieces)-1)] // of a text without characters the last
	file, pos := c.original(piece.source(from))
	return &program.Error{Part: c.part, Heading: c.headingBefore(p), Place: c.locate(p.node), File: file, Text: text, Column: column,
		Offset: pos}
}

// notePlaces records the place of each tag, for problems with data.
func (c *compiler) notePlaces() {
	c.placesOf = make(map[*lang.Tag]*program.Error, len(c.marks))
	for _, m := range c.marks {
		if (m.tag.Kind == lang.Print || m.tag.Kind == lang.Let || m.block != nil && m.tag.Expr != nil) && !c.isTwin(m.par) {
			e := c.where(m.par, m.from, m.from)
			e.Tag = m.tag.Text
			c.placesOf[m.tag] = e
		}
	}
	for _, a := range c.asides {
		c.placesOf[a.mark.tag] = c.whereAside(a)
	}
}

// excerptWidth is the number of characters of a paragraph that an error shows on each side of its place, and excerptBytes is the number of
// bytes in which they are looked for. Objects, such as the marks of fields, are not shown.
const excerptWidth, excerptBytes = 60, 2000

// excerpt returns the surroundings of an offset on one line, and its column there.
func excerpt(text string, at int) (line string, column int) {
	from, to := at, at
	for from > 0 && column < excerptWidth && at-from < excerptBytes {
		r, size := utf8.DecodeLastRuneInString(text[:from])
		if from -= size; r != wml.Object {
			column++
		}
	}
	for i := 0; to < len(text) && i < excerptWidth && to-at < excerptBytes; {
		r, size := utf8.DecodeRuneInString(text[to:])
		if to += size; r != wml.Object {
			i++
		}
	}
	before, object, after := "", "", ""
	if from > 0 {
		before, column = "…", column+1
	}
	if strings.HasPrefix(text[at:], string(wml.Object)) { // which the problem is about
		object = "□"
	}
	if to < len(text) {
		after = "…"
	}
	return before + plainLine(text[from:at], "") + object + plainLine(text[at:to], "") + after, column
}

// plainLine returns a text on one line, with replacements for objects.
func plainLine(s, object string) string {
	if strings.ContainsRune(s, wml.Object) {
		s = strings.ReplaceAll(s, string(wml.Object), object)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
}

// locate describes the place of a paragraph, from outside inward: "table 2, row 3, cell 1".
func (c *compiler) locate(n *wml.Node) string {
	if n.Parent != nil && len(n.Children) == 0 && c.isProperties {
		return "document property " + n.RawName(c.src)
	}
	if place := c.locator().Locate(n); place != "" {
		return place
	}
	return "text of " + path.Base(c.part) // a chart or a diagram
}

// ordinal returns the number of a table, row, or cell; see [wml.Locator.Ordinal].
func (c *compiler) ordinal(n *wml.Node) int { return c.locator().Ordinal(n) }

func (c *compiler) locator() *wml.Locator {
	if c.ordinals == nil {
		c.ordinals = wml.NewLocator(c.root)
	}
	return c.ordinals
}

// headingBefore returns the text of the nearest paragraph up to p that has an outline level or a heading's style.
func (c *compiler) headingBefore(p *paragraph) string {
	if !c.hasHeadings {
		c.hasHeadings = true
		heading := ""
		for _, q := range c.pars {
			if c.isHeading(q.node) && strings.TrimSpace(q.text) != "" {
				heading, _ = excerpt(q.text, 0)
			}
			q.heading = heading
		}
	}
	return p.heading
}

func (c *compiler) isHeading(p *wml.Node) bool {
	props := p.Child("w:pPr")
	if props.Child("w:outlineLvl") != nil {
		return true
	}
	return c.styles[wml.AttrValue(c.src, props.Child("w:pStyle"), "w:val")].IsHeading()
}
