package docx

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A table of contents (ISO 29500-1 §17.16.5.68) is a field whose result Word keeps in the document and renews only when it
// is asked to. What loops and values make of the headings would not be in it. So it is written anew: a first pass over the
// document collects its headings, a second one writes them where the table stands. Word puts page numbers behind the
// entries when it renews its fields, LibreOffice at once; until then an entry shows the number it had in the template,
// if it was there.

const (
	// maxHeadings is how many entries a table of contents may have.
	maxHeadings = 20_000
	// tocLevels is how many levels a table of contents can show.
	tocLevels = 9
)

// toc is a table of contents of a part.
type toc struct {
	first, last *node // the paragraphs that the field begins and ends in
	separate    *node // the run behind which its result begins
	end         *node // the run that ends it

	levels  [2]int         // of the outline that it shows, from and to; 0 for none
	styles  map[string]int // levels of more paragraph styles, by name
	outline bool           // paragraphs with an outline level of their own count
	plain   bool           // entries are no links
	noPages [2]int         // levels without page numbers, from and to

	entries [tocLevels + 1][]byte // the properties of an entry's paragraph, by level
	look    []byte                // the properties of an entry's text
	pages   map[string]string     // page numbers in the template, by the text of the entry
}

// heading is an entry of a table of contents.
type heading struct {
	level    int
	text     string
	bookmark string
}

// findTOC finds the table of contents of a part, the first if there are several. One that shows other things than
// headings, or that is not made of whole paragraphs, is left alone.
func (c *compiler) findTOC() *toc {
	var found *toc
	over := false
	var walk func(n *node)
	walk = func(n *node) {
		for i := 0; i < len(n.children) && !over; i++ {
			if child := n.children[i]; child.name == "w:p" {
				found, over = c.tocAt(n.children[i:])
			} else {
				walk(child)
			}
		}
	}
	walk(c.root)
	return found
}

// tocAt reads a table of contents that begins in the first of some siblings. over tells that no other need be looked for:
// this is one, or it has no end.
func (c *compiler) tocAt(siblings []*node) (found *toc, over bool) {
	t := &toc{first: siblings[0]}
	code, depth := "", 0
	for _, par := range siblings {
		if par.name != "w:p" {
			return nil, true
		}
		for _, top := range par.children {
			for _, run := range runsOf(top) {
				for _, mark := range run.children {
					switch {
					case mark.name == "w:instrText" && depth == 1 && t.separate == nil:
						code += entities(c.src[mark.openEnd:mark.closeStart])
					case mark.name != "w:fldChar":
					case attrValue(c.src, mark, "w:fldCharType") == "begin":
						depth++
					case attrValue(c.src, mark, "w:fldCharType") == "separate" && depth == 1:
						if t.separate = run; top != run || !t.instruct(code) {
							return nil, false
						}
					case attrValue(c.src, mark, "w:fldCharType") == "end":
						if depth--; depth > 0 {
							continue
						}
						if t.last, t.end = par, run; t.separate == nil || top != run {
							return nil, false
						}
						return t, true
					}
				}
			}
		}
		if depth == 0 || t.separate == nil {
			return nil, false // no field with a result goes on from this paragraph
		}
	}
	return nil, true
}

// runsOf returns the runs in a child of a paragraph.
func runsOf(n *node) []*node {
	if n.name == "w:r" {
		return []*node{n}
	}
	var all []*node
	if !textless[n.name] {
		for _, child := range n.children {
			all = append(all, runsOf(child)...)
		}
	}
	return all
}

// entities returns the text that XML without elements spells.
func entities(raw []byte) string {
	var f flattener
	f.decode(raw, 0)
	return f.text.String()
}

// instruct reads the instruction of the field; it is false if this is no table of headings.
func (t *toc) instruct(code string) bool {
	words := fieldWords(code)
	if len(words) == 0 || !strings.EqualFold(words[0], "TOC") {
		return false
	}
	t.styles = map[string]int{}
	for i := 1; i < len(words); i++ {
		argument := ""
		if i+1 < len(words) && !strings.HasPrefix(words[i+1], `\`) {
			argument = words[i+1]
		}
		switch strings.ToLower(words[i]) {
		case `\o`:
			t.levels = levelRange(argument)
		case `\n`:
			t.noPages = levelRange(argument)
		case `\u`:
			t.outline = true
		case `\t`:
			list := strings.FieldsFunc(argument, func(r rune) bool { return r == ',' || r == ';' })
			for j := 0; j+1 < len(list); j += 2 {
				t.styles[strings.ToLower(strings.TrimSpace(list[j]))] = min(max(idNumber(strings.TrimSpace(list[j+1])), 1), tocLevels)
			}
		case `\b`, `\c`, `\f`, `\a`, `\l`: // a part of the document, figures, or marked entries
			return false
		}
	}
	t.plain = !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, `\h`) })
	return t.levels[0] > 0 || t.outline || len(t.styles) > 0
}

// fieldWords divides the instruction of a field into words; those in quotes come without them.
func fieldWords(code string) []string {
	var words []string
	for code = strings.TrimSpace(code); code != ""; code = strings.TrimSpace(code) {
		if rest, quoted := strings.CutPrefix(code, `"`); quoted {
			word, behind, _ := strings.Cut(rest, `"`)
			words, code = append(words, word), behind
			continue
		}
		end := strings.IndexFunc(code, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
		if end < 0 {
			end = len(code)
		}
		words, code = append(words, code[:end]), code[end:]
	}
	return words
}

// levelRange reads "1-3"; nothing is all levels.
func levelRange(s string) [2]int {
	from, to, _ := strings.Cut(s, "-")
	r := [2]int{idNumber(strings.TrimSpace(from)), idNumber(strings.TrimSpace(to))}
	if r[0] == 0 {
		return [2]int{1, tocLevels}
	}
	return [2]int{min(r[0], tocLevels), min(max(r[0], r[1]), tocLevels)}
}

// levelOf returns the level at which the table shows a paragraph, 0 for none.
func (t *toc) levelOf(c *compiler, par *node) int {
	props := par.child("w:pPr")
	style := c.styles[attrValue(c.src, props.child("w:pStyle"), "w:val")]
	if level := t.styles[strings.ToLower(style.name)]; level > 0 {
		return level
	}
	level := style.heading
	if own := attrValue(c.src, props.child("w:outlineLvl"), "w:val"); own != "" && t.outline {
		level = idNumber(own) + 1
	} else if level == 0 && t.outline {
		level = style.outline
	}
	if level < max(t.levels[0], 1) || level > t.levels[1] && !t.outline || level > tocLevels {
		return 0
	}
	return level
}

// readEntries learns from the entries that are there how entries look.
func (t *toc) readEntries(c *compiler) {
	t.pages = map[string]string{}
	siblings := t.first.parent.children
	from, to := slices.Index(siblings, t.first), slices.Index(siblings, t.last)
	var tabs []byte // to the page numbers, of levels that have no entry yet
	for _, par := range siblings[from : to+1] {
		props := par.child("w:pPr")
		style := c.styles[attrValue(c.src, props.child("w:pStyle"), "w:val")]
		level, isEntry := strings.CutPrefix(strings.ToLower(style.name), "toc ")
		if n := idNumber(level); isEntry && n >= 1 && n <= tocLevels && t.entries[n] == nil {
			t.entries[n] = c.without(props, "w:sectPr", "w:pPrChange", "w:rPr")
			if own := props.child("w:tabs"); own != nil && tabs == nil {
				tabs = c.src[own.start:own.end]
			}
		}
		f := flattener{src: c.src, p: &paragraph{node: par}}
		f.content(par)
		text := strings.TrimLeft(f.text.String(), string(object))
		title, page, ok := strings.Cut(text, "\t")
		if page = strings.Trim(page, string(object)+" "); ok && idNumber(page) > 0 {
			t.pages[strings.TrimSpace(title)] = page
		}
		if link := par.child("w:hyperlink"); link != nil && t.look == nil {
			t.look = c.inner(link.child("w:r").child("w:rPr"))
		}
	}
	for level := range t.entries {
		if t.entries[level] != nil || level == 0 {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(c.styles)) {
			if strings.EqualFold(c.styles[id].name, "toc "+strconv.Itoa(level)) {
				t.entries[level] = fmt.Appendf(nil, `<%[1]spStyle %[1]sval="%[2]s"/>%[3]s`, t.first.prefix(c.src), id, tabs)
				break
			}
		}
	}
}

// editTOC has the table of contents written anew, and the headings collected for it.
func (c *compiler) editTOC() {
	t := c.toc
	if t == nil || slices.ContainsFunc(c.blocks, func(b *block) bool { return b.openAt <= t.first.start && t.end.end <= b.closeAt }) {
		c.toc = nil
		return
	}
	t.readEntries(c)
	c.add(edit{pos: t.first.start, end: t.end.start, phase: phaseReplace, kind: editTOC})
	for _, p := range c.pars {
		par := p.node
		level := t.levelOf(c, par)
		if level == 0 || par.void() || c.isGone(par) || c.pinned[par] || c.streams(p) || par.ancestor(named("w:txbxContent")) != nil {
			continue
		}
		at := par.openEnd
		if props := par.child("w:pPr"); props != nil {
			at = props.end
		}
		c.add(edit{pos: par.start, end: par.start, phase: phaseHeading, kind: editHeading, slot: level})
		c.add(edit{pos: at, end: at, phase: phaseReplace, kind: editHeadingMark, opening: par.prefix(c.src) + "bookmarkStart"})
		c.add(edit{pos: par.closeStart, end: par.closeStart, phase: phaseReplace, kind: editHeadingMark, opening: par.prefix(c.src) + "bookmarkEnd"})
		c.add(edit{pos: par.end, end: par.end, phase: phaseHeadingEnd, kind: editHeadingEnd})
	}
}

// streams tells whether a block of paragraphs begins or ends within the paragraph.
func (c *compiler) streams(p *paragraph) bool {
	return slices.ContainsFunc(p.marks, func(m *mark) bool { return m.block != nil && m.block.stream })
}

// isInTOC tells whether a paragraph is an entry of the table of contents: what it says is of no interest.
func (c *compiler) isInTOC(par *node) bool {
	return c.toc != nil && c.toc.first.start <= par.start && par.end <= c.toc.last.end
}

// contents are the headings of one execution.
type contents struct {
	collecting bool      // in the first pass
	found      []heading // of the first pass
	entries    []heading // for the second one
	count      int       // of headings that have begun
	id         int       // of the bookmark of the heading that is written
	name       string
}

// collect runs the main part for its headings alone.
func (x *execution) collect() ([]heading, error) {
	x.contents.collecting, x.part = true, x.t.main
	err := x.run(x.t.programs[x.t.main].ops)
	return x.contents.found, err
}

// heading runs a paragraph that is a heading.
func (x *execution) heading(o *op) error {
	c := &x.contents
	c.count++
	c.id = x.fresh(bookmarkIDs)
	c.name = x.freeBookmark("_Toc" + strconv.Itoa(firstHeading+c.count))
	if !c.collecting {
		return x.run(o.body)
	}
	from, name := len(x.out.buf), c.name
	x.out.holds++
	err := x.run(o.body)
	x.out.holds--
	if text := textOf(x.out.buf[from:]); text != "" && len(c.found) < maxHeadings {
		c.found = append(c.found, heading{o.slot, text, name})
	}
	return err
}

// firstHeading makes the numbers of bookmarks as long as Word's own.
const firstHeading = 100_000_000

// freeBookmark returns the name, or one like it that no bookmark of the template has.
func (x *execution) freeBookmark(name string) string {
	for x.t.ids.bookmarks[name] {
		name += "_"
	}
	return name
}

// headingMark writes the start or the end of the bookmark that an entry leads to.
func (x *execution) headingMark(o *op) {
	prefix, _, _ := strings.Cut(string(o.text), "bookmark")
	x.out.buf = fmt.Appendf(x.out.buf, `<%s %sid="%d"`, o.text, prefix, x.contents.id)
	if bytes.HasSuffix(o.text, []byte("Start")) {
		x.out.buf = fmt.Appendf(x.out.buf, ` %sname="%s"`, prefix, x.contents.name)
	}
	x.out.buf = append(x.out.buf, "/>"...)
}

// textOf returns the text of the w:t elements in XML of our own making, on one line, with entities as they are.
func textOf(xml []byte) string {
	var b strings.Builder
	for len(xml) > 0 {
		i := bytes.IndexByte(xml, '<')
		if i < 0 {
			break
		}
		end := bytes.IndexByte(xml[i:], '>')
		if end < 0 {
			break
		}
		name, _, _ := bytes.Cut(bytes.TrimSuffix(xml[i+1:i+end], []byte("/")), []byte(" "))
		xml = xml[i+end+1:]
		switch _, local, _ := strings.Cut(string(name), ":"); local {
		case "t":
			text := xml[:max(bytes.IndexByte(xml, '<'), 0)]
			b.Write(text)
		case "tab", "br", "cr":
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// tocOp is a table of contents as an operation.
type tocOp struct {
	prefix  string
	entries [tocLevels + 1][]byte
	look    []byte
	pages   map[string]string
	noPages [2]int
	plain   bool
	open    []byte // the start tag of a paragraph
	begin   []byte // of the field, what stands before its result
	end     []byte // the start of the paragraph that it ends in
}

func (c *compiler) tocOp() *tocOp {
	t := c.toc
	o := &tocOp{prefix: t.first.prefix(c.src), entries: t.entries, look: t.look, pages: t.pages, noPages: t.noPages, plain: t.plain}
	o.open = []byte("<" + o.prefix + "p>")
	from := t.first.openEnd
	if props := t.first.child("w:pPr"); props != nil {
		from = props.end
	}
	o.begin = slices.Clone(c.src[from:t.separate.end])
	o.end = slices.Clone(o.open)
	if t.last != t.first {
		if props := t.last.child("w:pPr"); props != nil {
			o.end = append(o.end, c.src[props.start:props.end]...)
		}
	}
	return o
}

// writeTOC writes the table of contents up to the run that ends its field.
func (x *execution) writeTOC(o *tocOp) {
	for i, h := range x.contents.entries {
		x.out.buf = append(x.out.buf, o.open...)
		if props := o.entries[h.level]; props != nil {
			x.out.buf = fmt.Appendf(x.out.buf, "<%[1]spPr>%[2]s</%[1]spPr>", o.prefix, props)
		}
		if i == 0 {
			x.out.buf = append(x.out.buf, o.begin...)
		}
		x.out.buf = o.appendEntry(x.out.buf, h)
		x.out.buf = append(x.out.buf, "</"+o.prefix+"p>"...)
	}
	x.out.buf = append(x.out.buf, o.end...)
	if len(x.contents.entries) == 0 {
		x.out.buf = append(x.out.buf, o.begin...)
	}
	x.yield()
}

// appendEntry appends the runs of an entry: its text and, behind a tab, a field that gives the page.
func (o *tocOp) appendEntry(dst []byte, h heading) []byte {
	run := func(content string) string {
		return "<" + o.prefix + "r>" + content + "</" + o.prefix + "r>"
	}
	field := func(kind string) string {
		return run(fmt.Sprintf(`<%[1]sfldChar %[1]sfldCharType="%[2]s"/>`, o.prefix, kind))
	}
	look := ""
	if len(o.look) > 0 {
		look = fmt.Sprintf("<%[1]srPr>%[2]s</%[1]srPr>", o.prefix, o.look)
	}
	entry := run(fmt.Sprintf(`%s<%[2]st%[3]s>%[4]s</%[2]st>`, look, o.prefix, preserve, h.text))
	if o.noPages[0] == 0 || h.level < o.noPages[0] || h.level > o.noPages[1] {
		entry += run("<"+o.prefix+"tab/>") + field("begin") +
			run(fmt.Sprintf(`<%[1]sinstrText%[2]s> PAGEREF %[3]s \h </%[1]sinstrText>`, o.prefix, preserve, h.bookmark)) + field("separate") +
			run(fmt.Sprintf(`<%[1]st>%[2]s</%[1]st>`, o.prefix, cmp.Or(o.pages[entities([]byte(h.text))], "–"))) + field("end")
	}
	if !o.plain {
		entry = fmt.Sprintf(`<%[1]shyperlink %[1]sanchor="%[2]s" %[1]shistory="1">%[3]s</%[1]shyperlink>`, o.prefix, h.bookmark, entry)
	}
	return append(dst, entry...)
}
