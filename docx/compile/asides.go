package compile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// Tags are also allowed outside paragraphs: in alt texts, in the addresses of links, in the names of content controls,
// and in the properties of the document. There they can only be values.

// aside is a tag outside of the text of paragraphs.
type aside struct {
	mark  *mark // in the paragraph that it belongs to
	pos   int   // in the part
	place string
	alt   []*wml.Attr // those that hold it, of alt texts

	reads    func(use *lang.Use, t *lang.Tag, s *lang.Scope) // records the data that it reads; nil for usual values
	kind     string                                          // in a listing; "": that of its tag
	isWithin func(blocks []*lang.Tag)                        // takes the tags of the blocks that are open around it; nil: unused
}

// whereAside describes the place of a tag outside of paragraphs.
func (c *compiler) whereAside(a *aside) *program.Error {
	e := c.where(a.mark.par, a.mark.from, a.mark.from)
	e.Tag, e.Place = a.mark.tag.Text, e.Place+", "+a.place
	if a.mark.par.pieces[0].to == len(a.mark.par.text) && !a.mark.first.isText() { // nothing but the picture
		e.Text, e.Column = e.Tag, 0
	}
	return e
}

// hintTooManyTags says what to do about a part with more than maxTags tags.
const hintTooManyTags = "divide the template, or write a loop for what repeats"

// errTooManyTags means that a part has more than maxTags tags outside of the text of paragraphs. Fields that take values count as tags.
var errTooManyTags = &lang.SyntaxError{
	Message: fmt.Sprintf("this part of the document has more than %d fields with values, and tags outside of its text", maxTags),
	Hint:    hintTooManyTags,
}

// failAside reports a tag outside paragraphs that cannot be parsed.
func (c *compiler) failAside(a *aside, text string, err error) {
	if len(c.errors) >= MaxErrors {
		return
	}
	syntax, ok := errors.AsType[*lang.SyntaxError](err)
	if !ok {
		syntax = &lang.SyntaxError{Message: err.Error()}
	}
	e := c.where(a.mark.par, a.mark.from, a.mark.from)
	e.Place += ", " + a.place
	e.Tag, e.Text, e.Column, e.Message, e.Hint = text, text, len([]rune(text[:syntax.Offset])), syntax.Message, syntax.Hint
	if slices.ContainsFunc(c.errors, func(o *program.Error) bool { return isSame(o, e) && o.Offset == e.Offset }) {
		return // the alt text was read as a picture's already
	}
	c.errors = append(c.errors, e)
}

// warnAside notes something that the author may want to know of a text outside of paragraphs, which belongs to a node.
func (c *compiler) warnAside(n *wml.Node, text, place, message string) {
	if len(c.warnings) >= maxWarnings {
		return
	}
	e := &program.Error{Part: c.part, Place: c.locate(n)}
	if p, piece := c.pieceNear(n); p != nil {
		e = c.where(p, piece.from, piece.from)
	} else {
		e.File, e.Offset = c.original(n.Start)
	}
	e.Place += ", " + place
	e.Tag, e.Text, e.Column, e.Message, e.Warning = text, text, 0, message, true
	c.warnings = append(c.warnings, e)
}

// parseAside parses a tag that belongs to a node in a paragraph or around one. If the tag has a mistake, it reports that and returns nil.
func (c *compiler) parseAside(n *wml.Node, text, place string) *aside {
	p, piece := c.pieceNear(n)
	if p == nil {
		return nil
	}
	a := &aside{mark: &mark{par: p, from: piece.from, to: piece.to, first: piece, last: piece}, pos: n.Start, place: place}
	if len(c.asides) >= maxTags {
		c.failAside(a, text, errTooManyTags)
		return nil
	}
	tag, err := lang.ParseTag(strings.Clone(text))
	if err != nil {
		c.failAside(a, text, err)
		return nil
	}
	a.mark.tag = tag
	return a
}

// asideIn parses a value's tag that belongs to a node in a paragraph. If the tag is not allowed there, it reports that and returns nil.
func (c *compiler) asideIn(n *wml.Node, text, place string) *aside {
	a := c.parseAside(n, text, place)
	if a == nil {
		return nil
	}
	if a.mark.tag.Kind != lang.Print {
		c.warnAside(n, text, place, "The tag '"+text+"' stays text: only values are allowed in this place ("+place+").")
		return nil
	}
	if a.mark.tag.Filter("wordml") != nil {
		c.failAside(a, text, &lang.SyntaxError{Message: "WordprocessingML cannot be inserted here",
			Hint: "put the tag into the text of a paragraph"})
		return nil
	}
	if a.mark.tag.Filter("chart") != nil {
		c.failAside(a, text, &lang.SyntaxError{Message: "there is no chart for the data here",
			Hint: "insert a chart in Word (Insert, Chart), and use only the tag as its alt text"})
		return nil
	}
	return a
}

// pieceNear returns the paragraph around a node, or the first in it, with a piece of its text.
func (c *compiler) pieceNear(n *wml.Node) (*paragraph, *piece) {
	par := n.Ancestor(isParagraphOf)
	for _, p := range c.parsWithin(cmp.Or(par, n)) {
		if len(p.pieces) > 0 && (p.node == par || par == nil) {
			i := sort.Search(len(p.pieces), func(i int) bool { return p.pieces[i].node.End > n.Start })
			if i == len(p.pieces) {
				i = 0
			}
			return p, &p.pieces[i]
		}
		if par != nil {
			break
		}
	}
	return nil, nil
}

// plainAttributes returns the attributes of an element that readers see: alt texts, the tooltips of links, and the text of watermarks and
// WordArt.
func plainAttributes(name string) []string {
	switch name {
	case "wp:docPr", "pic:cNvPr":
		return []string{"descr", "title"}
	case "w:hyperlink":
		return []string{"w:tooltip", "w:anchor"}
	case "v:textpath":
		return []string{"string"}
	}
	return nil
}

// plainContent returns what an element is for people whose runs hold only text, and the name of the texts in it: equations, and the two
// texts of phonetic guides (ruby). For others, it returns "".
func plainContent(name string) (place, text string) {
	switch name {
	case "m:oMath":
		return "equation", "m:t"
	case "w:rt", "w:rubyBase":
		return "phonetic guide", "w:t"
	}
	return "", ""
}

// plainTexts are the texts of a part in which only text can be.
type plainTexts struct {
	*compiler
	values []*mark
	dirty  []*wml.Node // marks of fields whose result is to be updated
}

// plainText is a text that consists of attributes or of the content of elements.
type plainText struct {
	owner *wml.Node // in a paragraph
	nodes []*wml.Node
	attrs []*wml.Attr // of the nodes; nil if the text is their content
	place string      // for people
	code  bool        // it is the code of a field
	link  bool        // of a link
	field *wml.Node   // the mark or the element that begins the field
}

// find finds the tags in attributes, equations, phonetic guides, and field codes. Each text is treated like a separate paragraph.
func (c *plainTexts) find() {
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		if c.pictures.isFallback(n) {
			return
		}
		for _, name := range plainAttributes(n.Name) {
			if a := n.Attr(name); a != nil && !c.pictures.isPlaceholder(a) {
				place := "alt text or tooltip"
				if n.Name == "v:textpath" {
					place = "watermark or WordArt"
				}
				c.read(plainText{owner: n, nodes: []*wml.Node{n}, attrs: []*wml.Attr{a}, place: place})
			}
		}
		if place, text := plainContent(n.Name); place != "" {
			c.read(plainText{owner: n, nodes: n.All(text), place: place})
		}
		if a := n.Attr("w:instr"); a != nil && n.Name == "w:fldSimple" {
			c.read(plainText{owner: n, nodes: []*wml.Node{n}, attrs: []*wml.Attr{a}, code: true, field: n})
		}
		if n.Name == "w:p" {
			c.fieldCodes(n)
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(c.root)
}

// fieldCodes finds the tags in the codes of a paragraph's fields.
func (c *plainTexts) fieldCodes(par *wml.Node) {
	type field struct {
		begin *wml.Node
		codes []*wml.Node
	}
	var open []field
	for _, child := range par.Children {
		for _, run := range runsOf(child) {
			for _, n := range run.Children {
				last := len(open) - 1
				switch {
				case n.Name == "w:fldChar" && wml.AttrValue(c.src, n, "w:fldCharType") == "begin":
					open = append(open, field{begin: n})
				case n.Name == "w:fldChar" && last >= 0:
					if codes := open[last].codes; len(codes) > 0 {
						c.read(plainText{owner: codes[0], nodes: codes, code: true, field: open[last].begin})
					}
					if open[last].codes = nil; wml.AttrValue(c.src, n, "w:fldCharType") == "end" {
						open = open[:last]
					}
				case n.Name == "w:instrText" && last >= 0:
					open[last].codes = append(open[last].codes, n)
				}
			}
		}
	}
}

// fetching are the fields that read other files or start programs. Data must not decide which.
var fetching = wml.SetOf("INCLUDETEXT INCLUDEPICTURE INCLUDE IMPORT LINK DDE DDEAUTO DATABASE EMBED MACROBUTTON GOTOBUTTON RD AUTOTEXT " +
	"AUTOTEXTLIST CONTROL HTMLCONTROL ADDIN PRINT PRIVATE")

// read reads the tags of a text.
func (c *plainTexts) read(t plainText) {
	if t.code && (c.fields.claimed[t.field] || c.fields.claimed[t.field.Parent]) {
		return
	}
	p := c.flattened(&t)
	spans, orphans := lang.Find(p.text)
	for _, braces := range orphans[:min(len(orphans), maxOrphans)] {
		c.warnAside(t.owner, p.text[braces.Start:braces.End], cmp.Or(t.place, "code of a field"), strayBraces(p.text, braces))
	}
	if len(spans) == 0 || t.code && !c.mayFill(&t, p, spans) {
		return
	}
	var before quotes
	at := 0
	for _, span := range spans {
		before.read(p.text[at:span.Start])
		at = span.End
		a := c.asideIn(t.owner, p.text[span.Start:span.End], t.place)
		if a == nil {
			continue
		}
		c.asides = append(c.asides, a)
		m := &mark{tag: a.mark.tag, par: p, from: span.Start, to: span.End, code: codeOf(&t, &before)}
		m.first, m.last = &p.pieces[p.pieceAt(span.Start)], &p.pieces[p.pieceAt(span.End-1)]
		c.values = append(c.values, m)
	}
}

// flattened returns a text as a paragraph.
func (c *plainTexts) flattened(t *plainText) *paragraph {
	p := &paragraph{node: t.owner}
	f := flattener{src: c.src, p: p}
	for i, n := range t.nodes {
		from, to := n.OpenEnd, n.CloseStart
		if t.attrs != nil {
			from, to = t.attrs[i].ValueStart, t.attrs[i].ValueEnd
		}
		piece := piece{node: n, plain: true, from: f.text.Len()}
		if t.attrs == nil {
			piece.run = n.Parent
		}
		piece.offsets = scan.Decode(&f.text, c.src[from:to], from)
		piece.to = f.text.Len()
		p.pieces = append(p.pieces, piece)
	}
	p.text = f.text.String()
	return p
}

// codeOf returns the form of a value in the code of a field, after the text that was read; 0 for a value elsewhere.
func codeOf(t *plainText, before *quotes) program.CodeForm {
	var form program.CodeForm
	if t.code {
		form = program.InCode
		if !before.open {
			form |= program.Bare
		}
		if t.link {
			form |= program.InLink
		}
	}
	return form
}

// mayFill reports whether values may be part of the code of a field. The result of the field is then updated by Word, unless it is a link.
func (c *plainTexts) mayFill(t *plainText, p *paragraph, spans []lang.Span) bool {
	name := ""
	if words := fieldWords(p.text); len(words) > 0 {
		name = strings.ToUpper(words[0])
	}
	if strings.HasPrefix(name, "=") { // a formula
		name = "="
	}
	if name == "HYPERLINK" {
		t.place, t.link = "address of a link", true
		return true
	}
	if t.place = "code of the field " + name; fetching[name] || strings.Contains(name, "{{") {
		text := p.text[spans[0].Start:spans[0].End]
		c.warnAside(t.owner, text, "code of a field", "The tag '"+text+
			"' stays text: values are not allowed in the code of this field, because it may read other files.")
		return false
	}
	c.dirty = append(c.dirty, t.field)
	return true
}

// edit writes the edits of the values, and has the fields with values in their code updated when Word opens the document (ISO 29500-1
// §17.16.18, dirty).
func (c *plainTexts) edit() {
	for _, m := range c.values {
		c.editValue(m)
	}
	for _, n := range c.dirty {
		if n.Attr("w:dirty") == nil {
			at := n.Start + len("<") + len(n.RawName(c.src))
			c.insert(at, " "+n.Prefix(c.src)+`dirty="true"`)
		}
	}
}

// leafTexts returns the texts of the elements that hold nothing else and that are wanted, each as a paragraph.
func (c *compiler) leafTexts(wanted func(*wml.Node) bool) []*paragraph {
	var all []*paragraph
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		if len(n.Children) == 0 && !n.Void() && wanted(n) {
			p := &paragraph{node: n}
			f := flattener{src: c.src, p: p}
			offsets := scan.Decode(&f.text, c.src[n.OpenEnd:n.CloseStart], n.OpenEnd)
			p.text = f.text.String()
			p.pieces = []piece{{node: n, plain: true, to: len(p.text), offsets: offsets}}
			if p.text != "" {
				all = append(all, p)
			}
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(c.root)
	return all
}

// isChartName reports whether an element contains the name of a series or category of a chart.
func isChartName(n *wml.Node) bool {
	return n.Name == "c:v" && n.Ancestor(wml.Named("c:strCache")) != nil
}

// propertyParts returns the parts with properties of the document: the standard ones, such as the title, and custom ones.
func propertyParts(pkg *ooxml.Package) ([]*ooxml.Part, error) {
	rels, err := pkg.Rels("/")
	if err != nil {
		return nil, err
	}
	var parts []*ooxml.Part
	for _, kind := range []string{names.RelCoreProperties, names.RelExtendedProperties, names.RelCustomProperties} {
		for _, r := range rels {
			if part := pkg.Part(r.Target); r.Type == kind && !r.External && part != nil && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return parts, nil
}
