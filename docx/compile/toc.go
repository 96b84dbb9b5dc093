package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"platen/docx/program"
	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// toc is a table of contents of a part.
type toc struct {
	number      int       // among the tables of contents of the part, from 0
	first, last *wml.Node // the paragraphs that the field begins and ends in
	begin       *wml.Node // the run that begins it
	separate    *wml.Node // the run after which its result begins
	end         *wml.Node // the run that ends it
	other       bool      // left as it is

	levels  [2]int         // of headings that it shows, from and to; 0 for none
	styles  map[string]int // levels of more paragraph styles, by name
	between string         // what is between an entry and its page number instead of a tab; "" for a tab
	outline bool           // paragraphs of these levels count also if they have no style of a heading
	plain   bool           // entries are not links
	noPages [2]int         // levels without page numbers, from and to

	entries [wml.HeadingLevels + 1][]byte // the properties of an entry's paragraph, by level, with program.TabsMark
	tabs    [wml.HeadingLevels + 1]program.EntryTabs
	look    []byte            // the properties of an entry's text
	pages   map[string]string // page numbers in the template, by the text of the entry
}

// maxTOCs bounds the tables of contents that are looked at.
const maxTOCs = 50

// tocs are the tables of contents of a part.
type tocs struct {
	*compiler
	own    []*toc // tables of contents of headings, which are rewritten
	others []*toc // those left alone, because they show other things or do not consist of whole paragraphs
	lists  map[string]*program.NumberedList
	styled program.HeadingStyles // once [tocs.styledHeadings] has found them
	shared map[string]bool       // once [tocs.headingLists] has found them
}

// find finds the tables of contents. Only the main part has any.
func (c *tocs) find() {
	if !c.isMain {
		return
	}
	count := 0
	var walk func(n *wml.Node)
	walk = func(n *wml.Node) {
		for i := 0; i < len(n.Children) && count < maxTOCs; i++ {
			if n.Children[i].Name != "w:p" {
				walk(n.Children[i])
				continue
			}
			t := c.tocAt(n.Children[i:])
			if t == nil {
				continue
			}
			count++
			switch {
			case t.last == nil:
				continue
			case t.other || c.opt.Contents == ContentsKeep:
				c.others = append(c.others, t)
			default:
				c.own = append(c.own, t)
			}
			i = t.last.Index()
		}
	}
	walk(c.root)
}

// tocAt reads a table of contents that begins in the first of some siblings, nil if none does. It has no last paragraph if it
// does not end in one of them.
func (c *tocs) tocAt(siblings []*wml.Node) *toc {
	t := toc{first: siblings[0]} // on the stack, because few paragraphs begin a table
	code, depth := "", 0
	for _, par := range siblings {
		if par.Name != "w:p" {
			return new(t)
		}
		for _, top := range par.Children {
			for _, run := range runsOf(top) {
				for _, mark := range run.Children {
					switch {
					case mark.Name == "w:instrText" && depth == 1 && t.separate == nil:
						code += scan.Text(c.src[mark.OpenEnd:mark.CloseStart])
					case mark.Name != "w:fldChar":
					case wml.AttrValue(c.src, mark, "w:fldCharType") == "begin":
						if depth++; depth == 1 {
							t.begin = run
						}
					case wml.AttrValue(c.src, mark, "w:fldCharType") == "separate" && depth == 1:
						words := fieldWords(code)
						if len(words) == 0 || !strings.EqualFold(words[0], "TOC") {
							return nil
						}
						t.separate, t.other = run, !t.instruct(words[1:]) || top != run
					case wml.AttrValue(c.src, mark, "w:fldCharType") == "end":
						if depth--; depth > 0 {
							continue
						}
						if t.separate == nil {
							return nil
						}
						t.last, t.end, t.other = par, run, t.other || top != run
						return new(t)
					}
				}
			}
		}
		if depth == 0 || t.separate == nil {
			return nil // no field with a result continues after this paragraph
		}
	}
	return new(t)
}

// runsOf returns the runs in a child of a paragraph.
func runsOf(n *wml.Node) []*wml.Node {
	if n.Name == "w:r" {
		return []*wml.Node{n}
	}
	var all []*wml.Node
	if !n.IsTextless() {
		for _, child := range n.Children {
			all = append(all, runsOf(child)...)
		}
	}
	return all
}

// instruct parses the instruction of the field after its name. It returns false if this is not a table of headings.
func (t *toc) instruct(words []string) bool {
	t.styles = map[string]int{}
	for i := range words {
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
		case `\p`:
			t.between = argument
		case `\t`:
			list := strings.FieldsFunc(argument, func(r rune) bool { return r == ',' || r == ';' })
			for j := 0; j+1 < len(list); j += 2 {
				t.styles[strings.ToLower(strings.TrimSpace(list[j]))] = min(max(wml.IDNumber(strings.TrimSpace(list[j+1])), 1), wml.HeadingLevels)
			}
		case `\b`, `\c`, `\f`, `\a`, `\l`: // a part of the document, figures, or marked entries
			return false
		}
	}
	if t.outline && t.levels[0] == 0 {
		t.levels = levelRange("")
	}
	t.plain = !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, `\h`) })
	return t.levels[0] > 0 || len(t.styles) > 0
}

// fieldWords returns the words in the instruction of a field, without quotes around them.
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
	r := [2]int{wml.IDNumber(strings.TrimSpace(from)), wml.IDNumber(strings.TrimSpace(to))}
	if r[0] == 0 {
		return [2]int{1, wml.HeadingLevels}
	}
	return [2]int{min(r[0], wml.HeadingLevels), min(max(r[0], r[1]), wml.HeadingLevels)}
}

// levelOf returns the level at which the table shows a paragraph, 0 for none.
func (t *toc) levelOf(c *tocs, par *wml.Node) int {
	props := par.Child("w:pPr")
	id, own := wml.AttrValue(c.src, props.Child("w:pStyle"), "w:val"), wml.AttrValue(c.src, props.Child("w:outlineLvl"), "w:val")
	return t.levelOfStyle(c.styles[id], own)
}

// levelOfStyle returns the level at which the table shows paragraphs with a style and an outline level of their own, "" for none.
func (t *toc) levelOfStyle(style style.Definition, own string) int {
	if level := t.styles[strings.ToLower(style.Name)]; level > 0 {
		return level
	}
	level := style.Heading
	if own != "" && t.outline {
		level = wml.IDNumber(own) + 1
	} else if level == 0 && t.outline {
		level = style.Outline
	}
	if level < t.levels[0] || level > t.levels[1] {
		return 0
	}
	return level
}

// readEntries learns from the entries that are there how entries look.
func (t *toc) readEntries(c *tocs) {
	t.pages = map[string]string{}
	siblings := t.first.Parent.Children
	from, to := slices.Index(siblings, t.first), slices.Index(siblings, t.last)
	var tabs *wml.Node // of levels that have no entry yet
	for _, par := range siblings[from : to+1] {
		props := par.Child("w:pPr")
		style := c.styles[wml.AttrValue(c.src, props.Child("w:pStyle"), "w:val")]
		level, isEntry := strings.CutPrefix(strings.ToLower(style.Name), "toc ")
		if n := wml.IDNumber(level); isEntry && n >= 1 && n <= wml.HeadingLevels && t.entries[n] == nil {
			t.entries[n] = c.entryProperties(props)
			t.tabs[n] = t.entryTabs(c, n, style, props.Child("w:tabs"))
			if tabs == nil {
				tabs = props.Child("w:tabs")
			}
		}
		f := flattener{src: c.src, p: &paragraph{node: par}}
		f.content(par)
		text := strings.TrimLeft(f.text.String(), string(wml.Object))
		t.notePage(text)
		if link := par.Child("w:hyperlink"); link != nil && t.look == nil {
			t.look = c.inner(link.Child("w:r").Child("w:rPr"))
		}
	}
	for level := range t.entries {
		if t.entries[level] != nil || level == 0 {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(c.styles)) {
			if strings.EqualFold(c.styles[id].Name, "toc "+strconv.Itoa(level)) {
				t.entries[level] = fmt.Appendf(nil, `<%[1]spStyle %[1]sval="%[2]s"/>%[3]s`, t.first.Prefix(c.src), id, program.TabsMark)
				t.tabs[level] = t.entryTabs(c, level, c.styles[id], tabs)
				break
			}
		}
	}
}

// notePage records the page number of an entry with this text. Entries of numbered headings have a tab after the number.
func (t *toc) notePage(text string) {
	at := strings.LastIndexByte(text, '\t')
	if at < 0 {
		return
	}
	title, page := strings.TrimSpace(text[:at]), strings.Trim(text[at:], string(wml.Object)+" \t")
	if wml.IDNumber(page) == 0 {
		return
	}
	t.pages[title] = page
	if _, words, ok := strings.Cut(title, "\t"); ok && t.pages[words] == "" {
		t.pages[words] = page
	}
}

// beforeTabs are the properties of a paragraph that precede w:tabs (ISO 29500-1 §17.3.1.26).
var beforeTabs = wml.SetOf("w:pStyle w:keepNext w:keepLines w:pageBreakBefore w:framePr w:widowControl w:numPr w:suppressLineNumbers " +
	"w:pBdr w:shd")

// entryProperties returns the properties of the paragraph of an entry, with a mark in place of its tab stops.
func (c *tocs) entryProperties(props *wml.Node) []byte {
	var before, after []byte
	for _, child := range props.Children {
		switch xml := c.src[child.Start:child.End]; child.Name {
		case "w:sectPr", "w:pPrChange", "w:rPr", "w:tabs":
		default:
			if beforeTabs[child.Name] {
				before = append(before, xml...)
			} else {
				after = append(after, xml...)
			}
		}
	}
	return slices.Concat(before, []byte(program.TabsMark), after)
}

// numberWidth is the distance of the text of an entry from its number in each level, as in Word, in twentieths of a point.
const numberWidth = 440

// entryTabs returns the tab stops of the entries of a level: those that an entry of the template has, or else those that its style lacks.
func (t *toc) entryTabs(c *tocs, level int, of style.Definition, own *wml.Node) program.EntryTabs {
	prefix := "w:"
	var left, right string
	if own != nil {
		prefix = own.Prefix(c.src)
		for _, tab := range own.Children {
			xml := string(c.src[tab.Start:tab.End])
			switch wml.AttrValue(c.src, tab, "w:val") {
			case "left", "start", "num":
				left = cmp.Or(left, xml)
			default:
				right += xml
			}
		}
	}
	has := func(kinds ...string) bool {
		return slices.ContainsFunc(of.Tabs, func(t style.Tab) bool { return slices.Contains(kinds, t.Kind) })
	}
	stop := func(kind, leader string, pos int) string {
		return fmt.Sprintf(`<%[1]stab %[1]sval="%[2]s"%[3]s %[1]spos="%[4]d"/>`, prefix, kind, leader, pos)
	}
	hasPage := t.noPages[0] == 0 || level < t.noPages[0] || level > t.noPages[1]
	if right == "" && hasPage && !has("right", "end") {
		right = stop("right", " "+prefix+`leader="dot"`, c.textWidth())
	}
	if left == "" && !has("left", "start", "num") {
		left = stop("left", "", numberWidth*level)
	}
	tabs := func(stops string) []byte {
		if stops == "" {
			return nil
		}
		return []byte("<" + prefix + "tabs>" + stops + "</" + prefix + "tabs>")
	}
	return program.EntryTabs{Numbered: tabs(left + right), Plain: tabs(right)}
}

// keepThoseInLoops leaves tables of contents in loops alone.
func (c *tocs) keepThoseInLoops() {
	c.own = slices.DeleteFunc(c.own, func(t *toc) bool {
		inLoop := slices.ContainsFunc(c.blocks, func(b *block) bool { return b.isLoop() && b.openAt <= t.first.Start && t.end.End <= b.closeAt })
		if inLoop {
			c.warnAside(t.first, "", "table of contents", "A table of contents in a loop stays unchanged until Word updates it (F9).")
		}
		return inLoop
	})
}

// edit has the tables of contents written again, and the headings collected for them.
func (c *tocs) edit() {
	if len(c.own) == 0 {
		return
	}
	for i, t := range c.own {
		t.number = i
		if t.next(c) != nil { // which is not rewritten
			c.warnAside(t.last, "", "table of contents",
				"A table of contents that begins in the paragraph in which another one ends stays unchanged until Word updates it (F9).")
		}
		t.readEntries(c)
		c.add(edit{pos: t.first.Start, end: t.end.End, rank: rankReplace, bound: whole, action: emitted{c.step(t)}})
	}
	c.editHeadings()
}

// streams returns the blocks of paragraphs that begin or end within one.
func (c *compiler) streams() []*block {
	return slices.DeleteFunc(slices.Clone(c.blocks), func(b *block) bool { return !b.stream })
}

// parting returns a tag in the paragraph that begins, divides, or ends one of the blocks, or nil if there is none.
func parting(par *wml.Node, streams []*block) *mark {
	for _, b := range streams {
		for _, m := range b.marks {
			if b.at == par.Parent && par.Start < m.border && m.border < par.End {
				return m
			}
		}
	}
	return nil
}

// step returns the step that writes a table of contents.
func (c *tocs) step(t *toc) *program.TOC {
	o := &program.TOC{Number: t.number, Prefix: t.first.Prefix(c.src), Entries: t.entries, Look: t.look, Pages: t.pages,
		Tabs: t.tabs, NoPages: t.noPages, Plain: t.plain, Between: t.between}
	o.Open = []byte("<" + o.Prefix + "p>")
	from := t.first.OpenEnd
	if props := t.first.Child("w:pPr"); props != nil {
		from = props.End
	}
	o.Begin, o.BareBegin = c.fieldAndBare(t.first, from, t.separate.End)
	o.Close, o.BareClose = c.fieldAndBare(t.last, t.end.Start, t.end.End)
	torn := c.tornRanges(t.separate.End, t.end.Start)
	o.Close, o.BareClose = slices.Concat(torn, o.Close), slices.Concat(torn, o.BareClose)
	o.End = slices.Clone(o.Open)
	if t.last != t.first {
		if props := t.last.Child("w:pPr"); props != nil {
			o.End = append(o.End, c.src[props.Start:props.End]...)
		}
	}
	return o
}

// fieldAndBare returns a part of a paragraph, and the same part without the marks and codes of fields.
func (c *tocs) fieldAndBare(par *wml.Node, from, to int) (field, bare []byte) {
	at := from
	for _, top := range par.Children {
		for _, run := range runsOf(top) {
			for _, n := range run.Children {
				if (n.Name == "w:fldChar" || n.Name == "w:instrText") && n.Start >= from && n.End <= to {
					bare = append(bare, c.src[at:n.Start]...)
					at = n.End
				}
			}
		}
	}
	return slices.Clone(c.src[from:to]), append(bare, c.src[at:to]...)
}
