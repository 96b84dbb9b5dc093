package expect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"platen/docx/program"
	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// inline reads the text of one paragraph.
type inline struct {
	*outliner
	node    *wml.Node // of the paragraph
	start   start
	written *formatted
	objects []object                  // in the text
	base    map[string]*runProperties // by the content of w:rPr
}

// object is an element in the text that has lines of its own.
type object struct {
	at    int // bytes of text before it
	write func(depth int, position []string)
}

// paragraph writes a paragraph, and what is in it.
func (o *outliner) paragraph(n *wml.Node, depth int) {
	in := &inline{outliner: o, node: n, written: new(formatted)}
	o.continueIn(in)
	in.content(n, "")
	if o.joinsNext(n) {
		o.joining = in
		return
	}
	in.write(depth)
	if section := n.Child("w:pPr").Child("w:sectPr"); section != nil && o.err == nil {
		o.section(section)
	}
}

// finish writes a paragraph that no other one continues.
func (o *outliner) finish(depth int) {
	if in := o.joining; in != nil {
		o.joining = nil
		in.write(depth)
	}
}

// write writes the lines of a paragraph.
func (in *inline) write(depth int) {
	o := in.outliner
	l := o.line(Paragraph, in.node, depth)
	l.Text, l.Formats = in.written.text.String(), in.written.formats()
	if id := o.styleOf(in.node); o.styles[id].IsHeading() || in.node.Child("w:pPr").Child("w:outlineLvl") != nil {
		if text := shorten(l.Text); text != "" {
			o.heading, l.Heading = text, text
		}
	}
	l.Format = o.paragraphFormat(in.node, &l)
	if in.start.style != "" {
		l.Format = append(l.Format, "begins in style "+in.start.style)
	}
	l.Number = cmp.Or(in.start.number, l.Number)
	o.add(l)
	in.writeObjects(depth + 1)
}

// start is what a paragraph that begins with another one has from that.
type start struct{ number, style string }

// joinsNext reports whether the text of a paragraph continues in the next one, because the mark that ends it is deleted by a tracked
// change, or hidden. A hidden mark that also ends a section stays.
func (o *outliner) joinsNext(n *wml.Node) bool {
	props := n.Child("w:pPr")
	mark := props.Child("w:rPr")
	if mark.Child("w:del") != nil || mark.Child("w:moveFrom") != nil {
		return true
	}
	return props.Child("w:sectPr") == nil && o.resolver.Mark(n).On("w:vanish")
}

// continueIn puts the text before a paragraph into it. One whose mark is hidden, and that a reader sees, keeps its number and its style.
func (o *outliner) continueIn(in *inline) {
	first := o.joining
	if first == nil {
		return
	}
	o.joining = nil
	in.start, in.objects, in.written = first.start, first.objects, first.written
	if mark := first.node.Child("w:pPr").Child("w:rPr"); mark.Child("w:del") != nil || mark.Child("w:moveFrom") != nil {
		return
	}
	if !first.written.isSeen || in.start != (start{}) {
		return
	}
	l := o.line(Paragraph, first.node, 0)
	o.paragraphFormat(first.node, &l)
	in.start.number = l.Number
	if style := o.styleOf(first.node); style != o.styleOf(in.node) {
		in.start.style = o.styles[style].Name
	}
}

func (o *outliner) styleOf(n *wml.Node) string {
	return o.sheet.ParagraphStyle(o.stated(n.Child("w:pPr")))
}

// noHyphens is the property of a paragraph whose words are not divided. It has no effect where no words are.
const noHyphens = "no hyphenation"

// paragraphFormat returns the format of a paragraph, and sets the number of a list item.
func (o *outliner) paragraphFormat(n *wml.Node, l *Line) []string {
	format := formatOf(o.resolver.Paragraph(n))
	o.hyphenated = o.hyphenated || l.Text != "" && !slices.Contains(format, noHyphens)
	if name := styleName(o.styles[o.styleOf(n)].Name); name != "" {
		format = slices.Insert(format, 0, "style "+name)
	}
	level, run := o.resolver.Number(n)
	if level == nil {
		return format
	}
	num, at, _ := strings.Cut(level.ID, "/")
	item := program.ListItem{List: o.list(num), Level: wml.IDNumber(at), Num: wml.IDNumber(num)}
	if item.List == nil || item.Level >= program.ListLevels {
		return format
	}
	var suffix string
	l.Number, suffix = o.numbers.Next(item, item.Num)
	mark := cmp.Or(l.Number, level.Text)
	if l.Number == "" {
		format = append(format, "bullet "+level.Text)
	}
	format = append(format, "list level "+strconv.Itoa(item.Level+1))
	if mark == "" {
		return format
	}
	if suffix != "tab" {
		format = append(format, "followed by "+suffix)
	}
	if align := propertyText("w:jc", level.Align); align != "" && level.Align != "" {
		format = append(format, "number "+align)
	}
	first, _ := utf8.DecodeRuneInString(mark)
	for _, property := range textFormat(run, scripterOf(run).scriptOf(first), &o.sheet.Theme) {
		format = append(format, "number "+property)
	}
	return format
}

// list returns a list by its id; nil if there is none.
func (o *outliner) list(num string) *program.NumberedList {
	if o.numbering == nil {
		return nil
	}
	l, known := o.lists[num]
	if !known {
		l = o.numbering.Numbered(num, func(style string) string { return o.styles[style].List.Num })
		o.lists[num] = l
	}
	return l
}

// writeObjects writes the elements in the text of a paragraph.
func (in *inline) writeObjects(depth int) {
	for _, object := range in.objects {
		var position []string
		switch length := in.written.text.Len(); {
		case in.err != nil:
			return
		case length == 0:
		case object.at == 0:
			position = []string{"before the text"}
		case object.at == length:
			position = []string{"after the text"}
		default:
			position = []string{"in the text"}
		}
		object.write(depth, position)
	}
}

func (in *inline) addObject(write func(depth int, position []string)) {
	in.objects = append(in.objects, object{in.written.text.Len(), write})
}

// content reads the text in an element of a paragraph, in a link to an address.
func (in *inline) content(n *wml.Node, link string) {
	for _, child := range n.Children {
		switch {
		case child.IsTextless():
		case child.Name == "w:r" || child.Name == "m:r":
			in.run(child, child, link)
		case child.Name == "w:hyperlink":
			in.content(child, in.target(child))
		case strings.HasPrefix(child.Name, "m:") && in.equation(child, link):
		case child.Name == "mc:AlternateContent":
			if branch := alternative(child); branch != nil {
				in.content(branch, link)
			}
		default:
			in.content(child, link)
		}
	}
}

// target returns the target of a w:hyperlink.
func (in *inline) target(n *wml.Node) string {
	to := in.rels[scan.Value([]byte(wml.AttrValue(in.src, n, "r:id")))].Target
	return linkTo(to, scan.Value([]byte(wml.AttrValue(in.src, n, "w:anchor"))))
}

// isHidden reports whether the text is in the code of a field.
func (in *inline) isHidden() bool { return in.codes > 0 }

// run reads the children of n, which is a run or a part of it.
func (in *inline) run(run, n *wml.Node, link string) {
	add := func(text string) {
		if !in.isHidden() {
			in.addRun(text, run, link)
		}
	}
	for _, child := range n.Children {
		switch child.Name {
		case "w:t", "m:t":
			text := scan.Text(in.src[child.OpenEnd:child.CloseStart])
			if child.Name == "w:t" && wml.AttrValue(in.src, child, "xml:space") != "preserve" {
				text = strings.Trim(text, " \t\r\n")
			}
			add(text)
		case "w:br":
			add(map[string]string{"page": "\f", "column": "\v"}[wml.AttrValue(in.src, child, "w:type")])
			if kind := wml.AttrValue(in.src, child, "w:type"); kind != "page" && kind != "column" {
				add("\n")
			}
		case "w:tab", "w:ptab":
			add("\t")
		case "w:cr", "w:noBreakHyphen", "w:softHyphen":
			add(string(wml.Characters[child.Name]))
		case "w:sym":
			in.symbol(child, run, link)
		case "mc:AlternateContent":
			if branch := alternative(child); branch != nil {
				in.run(run, branch, link)
			}
		case "w:ruby":
			in.ruby(child, link)
		case "w:fldChar":
			form := in.readFormField(child)
			if form != nil && !in.isHidden() {
				in.addRun(form.text, run, link, form.properties...)
			}
			in.fieldChar(run, wml.AttrValue(in.src, child, "w:fldCharType"), form != nil)
		case "w:instrText":
			in.instruction(scan.Text(in.src[child.OpenEnd:child.CloseStart]))
		case "w:footnoteReference":
			in.note(Footnote, wml.AttrValue(in.src, child, "w:id"))
		case "w:endnoteReference":
			in.note(Endnote, wml.AttrValue(in.src, child, "w:id"))
		case "w:drawing", "w:pict", "w:object":
			if !in.isHidden() {
				in.drawing(child)
			}
		}
	}
}

// addRun adds text of a run, with properties that the text has apart from those of the run.
func (in *inline) addRun(text string, run *wml.Node, link string, more ...string) {
	if text == "" {
		return
	}
	in.properties(run).each(text, func(text string, of script) {
		in.written.add(text, slices.Concat(in.runFormat(run, of, link), more))
	})
}

// symbol adds the character of a w:sym, which has a font of its own.
func (in *inline) symbol(n, run *wml.Node, link string) {
	if in.isHidden() || !in.enter(n) {
		return
	}
	font := in.reader.Attr("w:font")
	if code, err := strconv.ParseUint(in.reader.Attr("w:char"), 16, 16); err == nil {
		in.addRun(string(rune(code)), run, link, "symbol of "+font)
	}
}

// ruby adds text with a phonetic guide, which has a line of its own.
func (in *inline) ruby(n *wml.Node, link string) {
	if base := n.Child("w:rubyBase"); base != nil {
		from := in.written.text.Len()
		in.content(base, link)
		over := in.written.text.String()[from:]
		guide, o := n.Child("w:rt"), in.outliner
		if guide == nil || in.isHidden() {
			return
		}
		read := &inline{outliner: o, node: in.node, written: new(formatted)}
		read.content(guide, link)
		place := in.places.Locate(n)
		in.addObject(func(depth int, _ []string) {
			o.add(Line{
				Part: o.name, Heading: o.heading, Place: place, Kind: Guide, Depth: depth, Format: []string{"over " + strconv.Quote(over)},
				Text: read.written.text.String(), Formats: read.written.formats(),
			})
		})
	}
}

// fieldChar begins a field, its result, or ends it, with a character in a run. Word may draw the result of one that begins.
func (in *inline) fieldChar(run *wml.Node, kind string, isDrawn bool) {
	last := len(in.fields) - 1
	switch {
	case kind == "begin":
		in.fields = append(in.fields, field{drawn: isDrawn})
		in.codes++
	case last < 0:
	case kind == "separate" && !in.fields[last].showing && !in.fields[last].drawn:
		f := &in.fields[last]
		f.showing, f.from = true, in.written.text.Len()
		in.codes--
		if f.kind, f.link = codeOf(f.code); f.link == "" && last > 0 {
			f.link = in.fields[last-1].link
		}
	case kind == "end":
		f := &in.fields[last]
		if !f.showing {
			in.codes--
			f.kind, f.from = "", in.written.text.Len()
			if !f.drawn {
				f.kind, _ = codeOf(f.code)
			}
		}
		if name, _, _ := strings.Cut(f.kind, " "); computed[name] && f.from == in.written.text.Len() && !in.isHidden() {
			in.written.addEmpty(in.runFormat(run, ascii, "")) // its result is shown
		}
		in.fields = in.fields[:last]
	}
}

// instruction adds to the code of the innermost field.
func (in *inline) instruction(text string) {
	last := len(in.fields) - 1
	if last >= 0 && !in.fields[last].showing && len(in.fields[last].code)+len(text) <= maxInstruction {
		in.fields[last].code += text
	}
}

// runFormat returns the formatting of a run: what a reader sees, the field that it is the result of, and its link.
func (in *inline) runFormat(run *wml.Node, of script, link string) []string {
	format := in.formatOf(run, of)
	kind := ""
	if last := len(in.fields) - 1; last >= 0 {
		kind, link = in.fields[last].kind, cmp.Or(in.fields[last].link, link)
	}
	if simple := run.Ancestor(func(n *wml.Node) bool { return n.Name == "w:fldSimple" || n.Name == "w:p" }); simple != nil &&
		simple.Name == "w:fldSimple" {
		kind, _ = codeOf(scan.Value([]byte(wml.AttrValue(in.src, simple, "w:instr"))))
	}
	if kind != "" && kind != "HYPERLINK" {
		format = append(slices.Clip(format), fieldOf+kind)
	}
	if link != "" {
		format = append(slices.Clip(format), "link "+link)
	}
	return append(slices.Clip(format), in.controls(run)...)
}

// runProperties are the properties of a run, and those that are visible in its characters, by their groups.
type runProperties struct {
	style.Properties
	scripter
	known  [scripts]bool
	format [scripts][]string
}

// properties returns the properties of a run.
func (in *inline) properties(run *wml.Node) *runProperties {
	key := ""
	if props := run.Child("w:rPr"); props != nil {
		key = string(in.src[props.OpenEnd:props.CloseStart])
	}
	if math := run.Child("m:rPr"); run.Name == "m:r" {
		key += equationText
		if math != nil {
			key += string(in.src[math.OpenEnd:math.CloseStart])
		}
	}
	f, known := in.base[key]
	if !known {
		f = &runProperties{Properties: in.resolver.Run(run)}
		f.scripter = scripterOf(f.Properties)
		if in.base == nil {
			in.base = map[string]*runProperties{}
		}
		in.base[key] = f
	}
	return f
}

// formatOf returns the visible properties of characters of a run. Runs of the paragraph with the same w:rPr share them.
func (in *inline) formatOf(run *wml.Node, of script) []string {
	f := in.properties(run)
	if !f.known[of] {
		f.known[of], f.format[of] = true, textFormat(f.Properties, of, &in.sheet.Theme)
		if run.Name == "m:r" {
			f.format[of] = in.equationFormat(run, f.format[of])
		}
	}
	return f.format[of]
}

// note adds a footnote or endnote. Each is written once.
func (in *inline) note(kind LineKind, id string) {
	o, key := in.outliner, string(kind)+id
	in.addObject(func(depth int, position []string) {
		l := Line{Part: o.name, Heading: o.heading, Place: "a " + string(kind), Kind: kind, Depth: depth, Format: position}
		if kind == Endnote {
			l.Place = "an " + string(kind)
		}
		note := o.notes[key]
		delete(o.notes, key)
		if p := o.notesIn[kind]; p != nil && note != nil {
			l.Part = p.name
			o.add(l)
			o.within(p, func() { o.blocks(note, depth+1) })
			return
		}
		o.add(l)
	})
}
