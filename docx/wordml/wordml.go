// Package wordml reads fragments of WordprocessingML that come from data: runs, or paragraphs and tables. It accepts only the elements and
// attributes of its tables (elements.go), which are those of text, its formatting, and tables. Nothing in them refers to other parts of
// the document, has an id, or starts anything. What it accepts is valid (ISO 29500-1 §17) wherever runs or blocks are.
package wordml

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"platen/budget"
	"platen/docx/richtext"
	"platen/ooxml/scan"
)

// Limits of a fragment.
const (
	maxSize     = 4 << 20 // bytes
	maxElements = 200_000
	maxDepth    = 50
	maxColumns  = 63 // of a table, in Word
)

// nodeBytes is the approximate memory of an element.
const nodeBytes = 300

// stepBytes is the number of bytes of a fragment that count as a step of the meter.
const stepBytes = 2

// Doc is a fragment. It does not change.
type Doc struct {
	root   *node
	styles []Style
}

// Style is a style that a fragment names.
type Style struct{ Kind, Name string } // Kind is "paragraph", "character", or "table"

// node is an element with its properties, its other content, and, in w:t, its text.
type node struct {
	name     string // without prefix
	attrs    []attr
	children []*node
	text     string
}

type attr struct{ name, value string }

// Parse reads a fragment, in which the prefix w need not be declared. Its error is about the fragment, as the end of a sentence, or one of
// the meter, which the work is taken from.
func Parse(m *budget.Meter, fragment string) (*Doc, error) {
	if err := m.Spend(len(fragment) / stepBytes); err != nil {
		return nil, err
	}
	if len(fragment) > maxSize {
		return nil, fmt.Errorf("it has %d bytes, more than the limit of %d", len(fragment), maxSize)
	}
	if strings.Contains(fragment, "<!DOCTYPE") {
		return nil, errors.New("it has a document type (<!DOCTYPE), which a fragment cannot have")
	}
	memory := nodeBytes * min(strings.Count(fragment, "<")-strings.Count(fragment, "</"), maxElements)
	if err := m.Hold(memory); err != nil {
		return nil, err
	}
	defer m.Release(memory)
	src := []byte(begin + fragment + "</w:body>")
	p := &parser{src: src, r: scan.New(src)}
	p.r.Next()
	root, err := p.element("", "body", 0)
	if err != nil {
		return nil, err
	}
	if p.r.Next() {
		return nil, errors.New("it ends an element that it does not begin")
	}
	if err := p.r.Err(); err != nil {
		return nil, fmt.Errorf("it is not well-formed XML: %w", err)
	}
	doc := &Doc{root: root}
	doc.findStyles(root)
	if err := doc.check(); err != nil {
		return nil, err
	}
	return doc, nil
}

// begin is the start of the element that a fragment is read in.
const begin = `<w:body xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">`

type parser struct {
	src   []byte
	r     *scan.Reader
	count int
}

// element reads the element of the last start tag.
func (p *parser) element(parent, name string, depth int) (*node, error) {
	if p.count++; p.count > maxElements || depth > maxDepth {
		return nil, errors.New("it has too many elements, or elements nested too deeply")
	}
	spec := specOf(parent, name)
	n := &node{name: name}
	var err error
	if depth > 0 {
		if n.attrs, err = p.attributes(name, spec); err != nil {
			return nil, err
		}
	}
	if p.r.Kind != scan.Open {
		return n, spec.complete(n)
	}
	inner := p.r.Depth()
	for p.r.Next() && p.r.Depth() >= inner {
		if text := string(p.r.Text()); name == "t" {
			n.text += text
		} else if strings.TrimSpace(text) != "" {
			return nil, fmt.Errorf("there is text outside of w:t, in w:%s", name)
		}
		if p.r.Kind == scan.Close {
			break
		}
		child := p.r.Name()
		if !strings.HasPrefix(child, "w:") || !spec.allows(child[2:]) {
			return nil, fmt.Errorf("the element %s is not allowed in w:%s", shortened(p.r.RawName()), name)
		}
		c, err := p.element(name, child[2:], depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, c)
	}
	if err := p.r.Err(); err != nil {
		return nil, fmt.Errorf("it is not well-formed XML: %w", err)
	}
	if err := cmp.Or(checkText(n.text), checkColumns(n)); err != nil {
		return nil, err
	}
	return n, spec.complete(n)
}

// checkText returns the first character of a text that cannot be in a document (XML 1.0, section 2.2).
func checkText(text string) error {
	for _, r := range text {
		switch {
		case r < ' ' && r != '\t' && r != '\n' && r != '\r':
			return errors.New("a text has control characters, which are not allowed in a document")
		case r == utf8.RuneError:
			return errors.New("a text has an unreadable character (U+FFFD), or a reference such as &name; that XML does not have")
		case r == 0xFFFE || r == 0xFFFF:
			return fmt.Errorf("a text has U+%X, which is not a character", r)
		}
	}
	return nil
}

// checkColumns reports a table with more columns than Word reads.
func checkColumns(n *node) error {
	columns := 0
	for _, child := range n.children {
		switch child.name {
		case "gridCol":
			columns++
		case "tc":
			columns += child.span()
		}
	}
	if columns > maxColumns {
		return fmt.Errorf("w:%s has %d columns, more than the limit of Word, which is %d", n.name, columns, maxColumns)
	}
	return nil
}

// span returns the number of columns of a cell.
func (n *node) span() int {
	for _, props := range n.children {
		for _, p := range props.children {
			if props.name == "tcPr" && p.name == "gridSpan" {
				columns, _ := strconv.Atoi(p.attrs[0].value) // the value has been checked
				return columns
			}
		}
	}
	return 1
}

// attributes reads the attributes of the last start tag.
func (p *parser) attributes(name string, spec *element) ([]attr, error) {
	var attrs []attr
	for i := range p.r.Attributes() {
		a := &p.r.Attributes()[i]
		canonical, value := p.r.AttributeName(a), scan.Value(p.r.Value(a))
		raw := p.raw(a)
		if raw == "xmlns" || strings.HasPrefix(raw, "xmlns:") || raw == "xml:space" {
			continue
		}
		local, isOurs := strings.CutPrefix(canonical, "w:")
		if strings.HasPrefix(local, "rsid") && isOurs { // Word's record of editing sessions, which shows nothing
			continue
		}
		kind, known := spec.attrs[local]
		if !isOurs || !known {
			return nil, fmt.Errorf("the attribute %s is not allowed in w:%s", shortened(raw), name)
		}
		if !kind.accepts(value) {
			return nil, fmt.Errorf("%q is not a value of the attribute w:%s of w:%s, which is %s", shortened(value), local, name, kind)
		}
		if slices.ContainsFunc(attrs, func(a attr) bool { return a.name == local }) {
			return nil, fmt.Errorf("the attribute w:%s of w:%s is there twice", local, name)
		}
		attrs = append(attrs, attr{local, value})
	}
	for _, local := range slices.Sorted(maps.Keys(spec.attrs)) {
		if spec.attrs[local].required && !slices.ContainsFunc(attrs, func(a attr) bool { return a.name == local }) {
			return nil, fmt.Errorf("w:%s lacks the attribute w:%s", name, local)
		}
	}
	return attrs, nil
}

// raw returns the name of an attribute as it is written.
func (p *parser) raw(a *scan.Attribute) string { return string(p.src[a.NameStart:a.NameEnd]) }

// shortened returns the beginning of a text from the data.
func shortened(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return text
}

// check reports whether the fragment is either inline or consists of blocks.
func (d *Doc) check() error {
	for _, n := range d.root.children {
		if (n.name == "r") != d.Inline() {
			return errors.New("it has runs and paragraphs or tables; put the runs into a paragraph")
		}
	}
	return nil
}

func (d *Doc) findStyles(n *node) {
	if kind := styleElements[n.name]; kind != "" {
		d.styles = append(d.styles, Style{kind, n.attrs[0].value})
	}
	for _, child := range n.children {
		d.findStyles(child)
	}
}

// Styles returns the styles that the fragment names, by id or by name. Those that the document does not have are left out.
func (d *Doc) Styles() []Style { return d.styles }

// Inline reports whether the fragment consists of runs, or is empty.
func (d *Doc) Inline() bool { return len(d.root.children) == 0 || d.root.children[0].name == "r" }

// Shaped reports whether the fragment gives the paragraph of its tag another form, which it never does.
func (d *Doc) Shaped() bool { return false }

// Reduced reports whether formatting was left out, which never happens.
func (d *Doc) Reduced() bool { return false }

// EndsWithTable reports whether the last block is a table.
func (d *Doc) EndsWithTable() bool {
	n := len(d.root.children)
	return n > 0 && d.root.children[n-1].name == "tbl"
}

// Text returns the text of the fragment.
func (d *Doc) Text() string {
	var b strings.Builder
	d.root.appendText(&b)
	return b.String()
}

func (n *node) appendText(b *strings.Builder) {
	if n.name == "tab" || n.name == "br" || n.name == "cr" {
		b.WriteByte(' ')
	}
	b.WriteString(n.text)
	for _, child := range n.children {
		child.appendText(b)
	}
}

// AppendInline appends the runs.
func (d *Doc) AppendInline(dst []byte, c richtext.Context, h richtext.Host) []byte {
	w := writer{prefix: c.Prefix, host: h}
	for _, n := range d.root.children {
		dst = w.append(dst, n)
	}
	return dst
}

// AppendBlocks appends the paragraphs and tables.
func (d *Doc) AppendBlocks(dst []byte, c richtext.Context, h richtext.Host) []byte {
	w := writer{prefix: c.Prefix, host: h}
	afterTable := c.AfterTable
	for _, n := range d.root.children {
		if n.name == "tbl" && afterTable { // Word would join the two
			dst = fmt.Appendf(dst, "<%sp/>", c.Prefix)
		}
		afterTable = n.name == "tbl"
		dst = w.append(dst, n)
	}
	if c.MustEndWithParagraph && (afterTable || len(d.root.children) == 0) {
		dst = fmt.Appendf(dst, "<%sp/>", c.Prefix)
	}
	return dst
}

// writer writes the elements with the prefix of the document.
type writer struct {
	prefix string
	host   richtext.Host
}

func (w *writer) append(dst []byte, n *node) []byte {
	style := ""
	if kind := styleElements[n.name]; kind != "" {
		var ok bool
		if style, ok = w.host.Style(kind, n.attrs[0].value); !ok {
			return dst
		}
	}
	dst = append(append(append(dst, '<'), w.prefix...), n.name...)
	for _, a := range n.attrs {
		value := cmp.Or(style, a.value)
		dst = append(append(append(dst, ' '), w.prefix...), a.name...)
		dst = append(append(append(dst, `="`...), escaper.Replace(value)...), '"')
	}
	if n.name == "t" {
		dst = append(append(append(dst, ` xml:space="preserve">`...), escaper.Replace(n.text)...), "</"...)
		return append(append(append(dst, w.prefix...), n.name...), '>')
	}
	if len(n.children) == 0 {
		return append(dst, "/>"...)
	}
	dst = append(dst, '>')
	after := ""
	for i, child := range n.children {
		if dst = w.append(dst, child); i == 0 && n.name == "p" && child.name == "pPr" {
			before, end := w.heading(n, child)
			dst, after = append(dst, before...), end
		}
	}
	dst = append(dst, after...)
	return append(append(append(append(dst, "</"...), w.prefix...), n.name...), '>')
}

// heading returns the elements before and after the text of a paragraph that its style or its outline level may make a heading.
func (w *writer) heading(par, props *node) (before, after string) {
	h := richtext.Heading{}
	for _, child := range props.children {
		switch child.name {
		case "pStyle":
			h.Style, _ = w.host.Style("paragraph", child.attrs[0].value)
		case "outlineLvl":
			if level := int(child.attrs[0].value[0] - '0'); level < bodyText {
				h.Outline = level + 1
			}
		}
	}
	if h.Style == "" && h.Outline == 0 {
		return "", ""
	}
	var b strings.Builder
	par.appendText(&b)
	h.Text = b.String()
	return w.host.Heading(h)
}

// bodyText is the outline level of text that is not a heading (ISO 29500-1 §17.3.1.20).
const bodyText = 9

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;")
