package program

import (
	"cmp"
	"strings"

	"platen/docx/locale"
	"platen/docx/wml"
)

// Entries of a table of contents begin with the numbers of their headings. Word computes these from the paragraphs of a list, and stores
// them nowhere (ISO 29500-1 §17.9). So the first pass records the paragraphs of lists that have headings in them, and counts them at its
// end, when it is known which of them are in the document.

// NumberedList is a list of the template whose items have numbers.
type NumberedList struct {
	Shared   string // the id of the w:abstractNum, whose numbers all its lists share
	levels   [ListLevels]numberedLevel
	language *locale.Locale // of numbers in words; nil if it is not known
}

// numberedLevel is a level of a list (ISO 29500-1 §17.9.6).
type numberedLevel struct {
	start, override int    // override is -1 if the list does not begin again
	format, text    string // text has %1 to %9 in place of numbers
	suffix          string // between the number and the text: "tab", "space", or "nothing"
	isLegal         bool   // the numbers of all levels are Arabic
	restart         int    // a level from 1 after which the level restarts; 0 for never, -1 for each
}

// Numbered returns a list by the id of its w:num, or nil if there is none. styleList returns the list that a numbering style names.
func (n *Numbering) Numbered(num string, styleList func(style string) string) *NumberedList {
	definition := n.nums[num]
	if definition == nil {
		return nil
	}
	_, abstract := n.level(definition, "")
	if linked := abstract.Child("w:numStyleLink"); linked != nil {
		if other := n.nums[styleList(n.Value(linked, "w:val"))]; other != nil {
			_, abstract = n.level(other, "")
		}
	}
	if abstract == nil {
		return nil
	}
	l := &NumberedList{Shared: n.Value(abstract, "w:abstractNumId"), language: n.language}
	for i := range l.levels {
		l.levels[i] = numberedLevel{start: 1, override: -1, format: "none", restart: -1}
	}
	for _, lvl := range abstract.Children {
		if lvl.Name == "w:lvl" {
			n.readLevel(l, lvl, n.Value(lvl, "w:ilvl"))
		}
	}
	for _, o := range definition.Children {
		if o.Name != "w:lvlOverride" {
			continue
		}
		at := n.Value(o, "w:ilvl")
		if lvl := o.Child("w:lvl"); lvl != nil {
			n.readLevel(l, lvl, at)
		}
		if start := o.Child("w:startOverride"); start != nil && isListLevel(at) {
			l.levels[wml.IDNumber(at)].override = wml.IDNumber(n.Value(start, "w:val"))
		}
	}
	return l
}

func isListLevel(s string) bool { return len(s) == 1 && '0' <= s[0] && s[0] < '0'+ListLevels }

func (n *Numbering) readLevel(l *NumberedList, lvl *wml.Node, at string) {
	if !isListLevel(at) {
		return
	}
	value := func(name string) string { return n.Value(lvl.Child(name), "w:val") }
	level := &l.levels[wml.IDNumber(at)]
	level.format, level.text = cmp.Or(value("w:numFmt"), "decimal"), value("w:lvlText")
	level.suffix = cmp.Or(value("w:suff"), "tab")
	level.isLegal = lvl.Child("w:isLgl") != nil && isOn([]byte(`"`+value("w:isLgl")+`"`))
	if start := lvl.Child("w:start"); start != nil {
		level.start = wml.IDNumber(n.Value(start, "w:val"))
	}
	if restart := lvl.Child("w:lvlRestart"); restart != nil {
		level.restart = wml.IDNumber(n.Value(restart, "w:val"))
	}
}

// ListItem is a paragraph of a numbered list.
type ListItem struct {
	List  *NumberedList
	Level int
	Num   int // the id of the list in the template
	Slot  int // 1 + the slot of a list that restarts in loops; 0 for others
}

// Counted records a paragraph that is not a heading, but counts in a list of headings.
type Counted struct{ Item ListItem }

func (o *Counted) run(x *execution) error {
	if !x.toc.collecting {
		return nil
	}
	return x.find(heading{item: o.Item, num: x.listID(&o.Item)})
}

// listID returns the id of the list that an item has just been written in.
func (x *execution) listID(item *ListItem) int {
	if item.Slot > 0 {
		return x.lists.current[item.Slot-1]
	}
	return item.Num
}

// counters are the numbers of the lists that share a definition.
type counters struct {
	now   [ListLevels]int
	begun [ListLevels]bool
}

// Numbers counts the paragraphs of the lists of a document, in its order. The zero value has counted none.
type Numbers struct {
	lists map[string]*counters
	seen  map[int]bool // the lists that have begun
}

// Next counts an item of a list, and returns its number and what is between the number and the text: "tab", "space", or "nothing". num is
// the id of the list in the document. Bullets have no number.
func (n *Numbers) Next(item ListItem, num int) (number, suffix string) {
	if n.lists == nil {
		n.lists, n.seen = map[string]*counters{}, map[int]bool{}
	}
	l := item.List
	c := n.lists[l.Shared]
	if c == nil {
		c = new(counters)
		n.lists[l.Shared] = c
	}
	c.count(l, item.Level, !n.seen[num], num != item.Num)
	n.seen[num] = true
	return c.text(l, item.Level), l.levels[item.Level].suffix
}

// numberHeadings sets the numbers of the headings, and returns them without the other paragraphs.
func numberHeadings(found []heading) []heading {
	var numbers Numbers
	headings := found[:0]
	for _, h := range found {
		if h.item.List != nil {
			h.number, h.suffix = numbers.Next(h.item, h.num)
		}
		if h.levels != nil {
			headings = append(headings, h)
		}
	}
	return headings
}

// count counts a paragraph. isFirst reports whether it is the first of its list, and isNew whether a loop began the list again.
func (c *counters) count(l *NumberedList, at int, isFirst, isNew bool) {
	if isFirst {
		for i := range l.levels {
			if isNew || l.levels[i].override >= 0 {
				c.begun[i] = false
			}
		}
	}
	start := func(i int) int {
		if override := l.levels[i].override; override >= 0 {
			return override
		}
		return l.levels[i].start
	}
	for i := range at { // Word shows the start of levels that have no item yet
		if !c.begun[i] {
			c.now[i], c.begun[i] = start(i), true
		}
	}
	if c.begun[at] {
		c.now[at]++
	} else {
		c.now[at], c.begun[at] = start(at), true
	}
	for i := at + 1; i < ListLevels; i++ {
		if after := l.levels[i].restart; after < 0 || after > at {
			c.begun[i] = false
		}
	}
}

// text returns the number of the paragraph that was counted last, or "" for a bullet.
func (c *counters) text(l *NumberedList, at int) string {
	level := &l.levels[at]
	if level.format == "bullet" || level.format == "none" && !strings.Contains(level.text, "%") {
		return ""
	}
	var b strings.Builder
	level.pieces(func(text string, shown int) {
		if shown < 0 {
			b.WriteString(text)
			return
		}
		b.WriteString(formatNumber(c.now[shown], l.formatOf(level, shown), l.language))
	})
	return b.String()
}

// pieces yields the texts between the numbers of a level, and the levels that the numbers are of; -1 for a text.
func (level *numberedLevel) pieces(yield func(text string, shown int)) {
	from := 0
	for i := 0; i+1 < len(level.text); i++ {
		if level.text[i] != '%' || level.text[i+1] < '1' || '9' < level.text[i+1] {
			continue
		}
		yield(level.text[from:i], -1)
		yield("", int(level.text[i+1]-'1'))
		i++
		from = i + 1
	}
	yield(level.text[from:], -1)
}

// formatOf returns the format of the number of a level within that of another.
func (l *NumberedList) formatOf(level *numberedLevel, shown int) string {
	if level.isLegal {
		return "decimal"
	}
	return l.levels[shown].format
}

// UnknownFormat returns the format of a level whose numbers are written in digits instead, because they are not known, or "".
func (l *NumberedList) UnknownFormat(at int) (unknown string) {
	level := &l.levels[at]
	level.pieces(func(_ string, shown int) {
		if shown < 0 || level.format == "bullet" {
			return
		}
		if format := l.formatOf(level, shown); !knowsFormat(format, l.language) {
			unknown = format
		}
	})
	return unknown
}

// key is the text of an entry in the template up to its page number.
func (h *heading) key(text string) string {
	switch {
	case h.number == "":
		return text
	case h.suffix == "tab":
		return h.number + "\t" + text
	case h.suffix == "space":
		return h.number + " " + text
	}
	return h.number + text
}
