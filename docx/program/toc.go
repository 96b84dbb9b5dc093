package program

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// A table of contents (ISO 29500-1 §17.16.5.68) is a field whose result is stored in the document. Word updates it only on request, so the
// stored result would not have the headings that loops and values create. Therefore it is rewritten: a first pass over the document
// collects the headings, and a second one writes them as entries. Word adds the page numbers when it updates the fields. Until then an
// entry shows its number in the template, if it had one.
//
// LibreOffice imports the field as an index with unchanged text, and does not update the fields in it. Without the field, it updates the
// fields for the page numbers immediately. A document that is only converted to PDF therefore has the entries without the field.

// maxHeadings is the largest number of entries of a table of contents, including other paragraphs of the lists that the headings are in.
const maxHeadings = 40_000

// heading is an entry of tables of contents.
type heading struct {
	levels   []int // by the number of the table; 0 if the table does not show it. Nil for a paragraph that only counts
	text     string
	bookmark string

	item           ListItem // the list that it is an item of; zero for none
	num            int      // the id of that list in the document
	number, suffix string   // the number, and the separator after it; see numberedLevel
}

// contents are the headings of one execution.
type contents struct {
	collecting bool        // in the first pass
	bytes      int         // memory of the headings of the first pass
	found      []heading   // in the first pass
	entries    []heading   // for the second pass
	count      int         // of headings that have begun
	now        *nowHeading // the last one that has begun; nil before
}

// nowHeading is the paragraph of a [Heading] that is being written.
type nowHeading struct {
	levels []int
	item   ListItem
	styles HeadingStyles // while a tag may set the style
	style  string        // the id of the style that a tag has set
	id     int           // of the bookmark
	name   string
}

// collect runs the main part only to find its headings.
func (x *execution) collect() error {
	x.toc.collecting, x.part = true, x.d.Main
	return x.run(x.d.Parts[x.d.Main].Steps)
}

// headingBytes is the approximate memory of a heading without its text.
const headingBytes = 100

// find records a heading of the first pass.
func (x *execution) find(h heading) error {
	c := &x.toc
	if len(c.found) >= maxHeadings {
		return nil
	}
	c.found = append(c.found, h)
	c.bytes += headingBytes + len(h.text)
	return x.meter.Hold(headingBytes + len(h.text))
}

// mark and takeBack forget the headings that were found since a guard began.
func (c *contents) mark() int         { return len(c.found) }
func (c *contents) takeBack(mark int) { c.found = c.found[:mark] }

// StyledHeading is what a paragraph style makes of its paragraphs.
type StyledHeading struct {
	Levels []int    // in each table of contents; nil if no table shows them
	Item   ListItem // of a list that has headings in it
}

// HeadingStyles are the styles whose paragraphs are in tables of contents, or count in lists of headings, by their ids.
type HeadingStyles map[string]StyledHeading

// Heading runs a paragraph that is a heading, or becomes one if a tag sets its style.
type Heading struct {
	Levels  []int // in each table of contents; 0 if the table does not show it
	Item    ListItem
	Styles  HeadingStyles // if a tag may set the style
	OwnList bool          // the list is that of the paragraph, not of its style
	Body    []Step
}

func (o *Heading) sketch(s *sketcher) { s.steps(o.Body) }

func (o *Heading) run(x *execution) error {
	c := &x.toc
	if c.now == nil {
		c.now = new(nowHeading)
	}
	*c.now = nowHeading{levels: o.Levels, item: o.Item, styles: o.Styles}
	if !c.collecting {
		return x.run(o.Body)
	}
	from := len(x.out.buf)
	x.out.holds++
	err := x.run(o.Body)
	x.out.holds--
	if err != nil {
		return err
	}
	if err := x.meter.Spend((len(x.out.buf) - from) / bytesPerStep); err != nil {
		return err
	}
	now := c.now
	if o.OwnList {
		now.item = o.Item
	}
	h := heading{levels: now.levels, text: textOf(x.out.buf[from:]), bookmark: now.name, item: now.item, num: x.listID(&now.item)}
	if h.text == "" { // which no table shows, but which counts
		h.levels = nil
	}
	if h.levels == nil && h.item.List == nil {
		return nil
	}
	return x.find(h)
}

// bytesPerStep is the number of bytes of XML that are searched for one step.
const bytesPerStep = 100

// firstHeading makes the numbers in names of bookmarks as long as in Word.
const firstHeading = 100_000_000

// freeBookmark returns a name, or a similar one if the template has a bookmark with that name.
func (x *execution) freeBookmark(name string) string {
	for x.d.Bookmarks[name] {
		name += "_"
	}
	return name
}

// HeadingMark writes the start or the end of the bookmark of a heading, which an entry links to.
type HeadingMark struct {
	Prefix string // of the part
	End    bool
}

func (o *HeadingMark) run(x *execution) error {
	now := x.toc.now
	if !o.End {
		now.settle()
	}
	switch {
	case now.levels == nil:
	case o.End:
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]sbookmarkEnd %[1]sid="%[2]d"/>`, o.Prefix, now.id)
	default:
		now.id, now.name = x.headingBookmark()
		x.out.buf = fmt.Appendf(x.out.buf, `<%[1]sbookmarkStart %[1]sid="%[2]d" %[1]sname="%[3]s"/>`, o.Prefix, now.id, now.name)
	}
	return nil
}

// styleIsOpen reports whether a tag may still set the style of the heading.
func (h *nowHeading) styleIsOpen() bool { return h != nil && h.styles != nil }

// settle applies the style that a tag has set, when the properties of the paragraph are complete.
func (h *nowHeading) settle() {
	if h.style != "" {
		styled := h.styles[h.style]
		h.levels, h.item = styled.Levels, styled.Item
	}
	h.styles = nil
}

// headingBookmark returns the id and the name of the bookmark of another heading.
func (x *execution) headingBookmark() (id int, name string) {
	x.toc.count++
	return x.fresh(BookmarkIDs), x.freeBookmark("_Toc" + strconv.Itoa(firstHeading+x.toc.count))
}

// aside are the elements whose text does not belong to the heading around them: text boxes, their alternatives for other programs, text
// moved by a tracked change, and former properties.
var aside = map[string]bool{"txbxContent": true, "Fallback": true, "moveFrom": true, "rPrChange": true}

// textOf returns the text of the w:t elements in the XML of a paragraph, on one line, with entities as they are. Hidden text
// is left out.
func textOf(xml []byte) string {
	var b strings.Builder
	depth, hidden := 0, false // depth in elements of aside; in a hidden run
	for len(xml) > 0 {
		i := bytes.IndexByte(xml, '<')
		if i < 0 {
			break
		}
		end := bytes.IndexByte(xml[i:], '>')
		if end < 0 {
			break
		}
		tag := xml[i+1 : i+end]
		xml = xml[i+end+1:]
		name := localName(tag)
		switch {
		case aside[name] && tag[0] == '/':
			depth--
		case aside[name] && tag[len(tag)-1] != '/':
			depth++
		case depth > 0 || tag[0] == '/':
		case name == "r":
			hidden = false
		case name == "vanish":
			hidden = isOn(tag)
		case hidden:
		case name == "t":
			b.Write(xml[:max(bytes.IndexByte(xml, '<'), 0)])
		case name == "tab" || name == "br" || name == "cr":
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// localName returns the name in a tag without its prefix.
func localName(tag []byte) string {
	name, _, _ := bytes.Cut(bytes.Trim(tag, "/"), []byte(" "))
	return string(name[bytes.IndexByte(name, ':')+1:])
}

// isOn reports whether the tag of an on/off property (ISO 29500-1 §17.17.4) turns it on.
func isOn(tag []byte) bool {
	for _, off := range []string{`"0"`, `"false"`, `"off"`, `'0'`, `'false'`, `'off'`} {
		if bytes.Contains(tag, []byte(off)) {
			return false
		}
	}
	return true
}

// TOC writes a table of contents, up to the end of its field.
type TOC struct {
	Number  int // among those of the document, from 0
	Prefix  string
	Entries [wml.HeadingLevels + 1][]byte
	Look    []byte
	Pages   map[string]string
	Tabs    [wml.HeadingLevels + 1]EntryTabs
	NoPages [2]int
	Plain   bool
	Between string // what is between an entry and its page number; "" for a tab
	Open    []byte // the start tag of a paragraph
	Begin   []byte // the field before its result
	End     []byte // the start of the paragraph in which it ends
	Close   []byte // the run that ends it

	BareBegin, BareClose []byte // Begin and Close without the field
}

func (o *TOC) run(x *execution) error {
	if err := x.meter.Spend(len(x.toc.entries)); err != nil {
		return err
	}
	begun, begin, end := false, o.Begin, o.Close
	if x.opt.ForPDF {
		begin, end = o.BareBegin, o.BareClose
	}
	for _, h := range x.toc.entries {
		level := h.levels[o.Number]
		if level == 0 {
			continue
		}
		x.out.buf = append(x.out.buf, o.Open...)
		x.out.buf = o.appendProperties(x.out.buf, level, h.number != "" && h.suffix == "tab")
		if !begun {
			x.out.buf = append(x.out.buf, begin...)
			begun = true
		}
		x.out.buf = o.appendEntry(x.out.buf, h, level)
		x.out.buf = append(x.out.buf, "</"+o.Prefix+"p>"...)
		if x.out.isFull() {
			if err := x.out.flush(); err != nil {
				return err
			}
		}
	}
	x.out.buf = append(x.out.buf, o.End...)
	if !begun {
		x.out.buf = append(x.out.buf, begin...)
	}
	x.out.buf = append(x.out.buf, end...)
	x.yield()
	return nil
}

// EntryTabs is the XML of the tab stops in the entries of a level: with one for the number of the heading, and without.
type EntryTabs struct{ Numbered, Plain []byte }

// appendProperties appends the properties of the paragraph of an entry. The tab stops are after the other properties that may precede them
// (ISO 29500-1 §17.3.1.26).
func (o *TOC) appendProperties(dst []byte, level int, numbered bool) []byte {
	props, tabs := o.Entries[level], o.Tabs[level].Plain
	if numbered {
		tabs = o.Tabs[level].Numbered
	}
	if props == nil && tabs == nil {
		return dst
	}
	before, after, _ := bytes.Cut(props, []byte(TabsMark))
	return fmt.Appendf(dst, "<%[1]spPr>%[2]s%[3]s%[4]s</%[1]spPr>", o.Prefix, before, tabs, after)
}

// TabsMark is a character that stands for the tab stops in the properties of an entry. XML cannot contain it.
const TabsMark = "\x00"

// page returns the page number of a heading in the template, or a dash.
func (o *TOC) page(h *heading) string {
	text := scan.Text([]byte(h.text))
	return cmp.Or(o.Pages[h.key(text)], o.Pages[text], "–")
}

// appendEntry appends the runs of an entry: its text, a tab, and a field with the page number.
func (o *TOC) appendEntry(dst []byte, h heading, level int) []byte {
	run := func(content string) string {
		return "<" + o.Prefix + "r>" + content + "</" + o.Prefix + "r>"
	}
	field := func(kind string) string {
		return run(fmt.Sprintf(`<%[1]sfldChar %[1]sfldCharType="%[2]s"/>`, o.Prefix, kind))
	}
	look := ""
	if len(o.Look) > 0 {
		look = fmt.Sprintf("<%[1]srPr>%[2]s</%[1]srPr>", o.Prefix, o.Look)
	}
	text := func(s string) string {
		return run(fmt.Sprintf(`%s<%[2]st%[3]s>%[4]s</%[2]st>`, look, o.Prefix, wml.Preserve, s))
	}
	var entry string
	switch number := string(AppendEscaped(nil, h.number)); {
	case number == "":
		entry = text(h.text)
	case h.suffix == "tab":
		entry = text(number) + run(look+"<"+o.Prefix+"tab/>") + text(h.text)
	case h.suffix == "space":
		entry = text(number + " " + h.text)
	default:
		entry = text(number + h.text)
	}
	if o.NoPages[0] == 0 || level < o.NoPages[0] || level > o.NoPages[1] {
		between := run("<" + o.Prefix + "tab/>")
		if o.Between != "" {
			between = text(string(AppendEscaped(nil, o.Between)))
		}
		entry += between + field("begin") +
			run(fmt.Sprintf(`<%[1]sinstrText%[2]s> PAGEREF %[3]s \h </%[1]sinstrText>`, o.Prefix, wml.Preserve, h.bookmark)) + field("separate") +
			run(fmt.Sprintf(`<%[1]st>%[2]s</%[1]st>`, o.Prefix, o.page(&h))) + field("end")
	}
	if !o.Plain {
		entry = fmt.Sprintf(`<%[1]shyperlink %[1]sanchor="%[2]s" %[1]shistory="1">%[3]s</%[1]shyperlink>`, o.Prefix, h.bookmark, entry)
	}
	return append(dst, entry...)
}
