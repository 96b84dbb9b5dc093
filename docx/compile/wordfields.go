package compile

import (
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// Fields that take their values from the input, so that templates for Word's mail merge work (ISO 29500-1 §17.16.5): MERGEFIELD, IF,
// COMPARE, QUOTE, and formulas with merge fields in them, NEXT, and DOCPROPERTY. Each becomes a tag, whose value replaces the field. Merge
// fields in the code of HYPERLINK and SET become tags in its code. A warning says which other fields with merge fields stay as they are.

// wordFields are the fields of a part that are filled.
type wordFields struct {
	*compiler
	found []filledField
	forms []*formField
	depth int // of the fields that become an expression

	hasNext bool
	record  int // the number of fields NEXT so far
	shown   int // the number of records with fields

	braces  []int              // the positions of {{ in the part; nil until they are asked for
	claimed map[*wml.Node]bool // the first runs of the fields with tags in their code that a value replaces

	variables map[string]string // the expressions of the bookmarks, in lower case, that SET has given a value so far
}

// filledField is a field that the value of a tag replaces, or that is removed if it has no tag.
type filledField struct {
	field *wordField
	tag   *lang.Tag
	form  program.CodeForm // of a field in the code of another one; 0 for others
}

// wordField is a field.
type wordField struct {
	begin, end *wml.Node    // the first and the last run, or twice the w:fldSimple
	code       []codePiece  // its instruction
	inner      []*wordField // the fields in its result
	result     *wml.Node    // the first run of its result; nil if it has none
	separate   *wml.Node    // the run that ends the code; nil if there is none
	isParted   bool         // something other than runs is between its marks
	sharesRun  bool         // its first or last run has something that is not of its marks and its code

	kind    string     // the result of name, once that has been called
	split   []codeWord // the result of words, if isSplit
	isSplit bool
}

// codePiece is text in the code of a field, or a field in it.
type codePiece struct {
	text  string
	run   *wml.Node
	field *wordField
}

// valueKinds are the fields without which no field of a part is filled.
var valueKinds = wml.SetOf("MERGEFIELD DOCPROPERTY ADDRESSBLOCK GREETINGLINE NEXT NEXTIF SKIPIF MERGEREC MERGESEQ MERGEBARCODE " +
	"FORMTEXT FORMCHECKBOX FORMDROPDOWN")

// find finds the fields.
func (c *wordFields) find() {
	all := c.findFields()
	changesCells := len(c.marks)+len(c.asides) > 0 // tags may
	if len(c.settable) == 0 && !slices.ContainsFunc(all, func(f *wordField) bool {
		return f.takesValue() || c.isTagged(f) || changesCells && f.showsCells()
	}) {
		return
	}
	for _, f := range all {
		c.hasNext = c.hasNext || f.has("NEXT")
		c.findSet(f)
	}
	for _, f := range all {
		c.visit(f)
	}
}

// has reports whether a field, or one in its result, is of a kind.
func (f *wordField) has(kind string) bool {
	return f.name() == kind || slices.ContainsFunc(f.inner, func(f *wordField) bool { return f.has(kind) })
}

// visit has a field filled, or else those in its result.
func (c *wordFields) visit(f *wordField) {
	if formKinds[f.name()] {
		forms := len(c.forms)
		if c.findForm(f); len(c.forms) > forms {
			return
		}
	} else if c.fill(f) {
		return
	}
	for _, inner := range f.inner {
		c.visit(inner)
	}
}

// takesValue reports whether a field, or one in it, is one of valueKinds.
func (f *wordField) takesValue() bool {
	return valueKinds[f.name()] || slices.ContainsFunc(f.inner, (*wordField).takesValue) ||
		slices.ContainsFunc(f.code, func(p codePiece) bool { return p.field != nil && p.field.takesValue() })
}

// maxKind is the largest length of the code of a field in which its name is looked for, in bytes.
const maxKind = 200

// name returns the kind of a field, in capital letters; "=" for a formula.
func (f *wordField) name() string {
	if f.kind != "" {
		return f.kind
	}
	var b strings.Builder
	for _, piece := range f.code {
		if piece.field != nil || b.Len() > maxKind {
			break
		}
		b.WriteString(piece.text)
		if text := strings.TrimLeft(b.String(), fieldSpace); strings.ContainsAny(text, fieldSpace) {
			break
		}
	}
	words := strings.Fields(b.String())
	switch {
	case len(words) == 0:
	case words[0][0] == '=':
		f.kind = "="
	default:
		f.kind = strings.ToUpper(words[0])
	}
	return f.kind
}

// fieldSpace are the characters between the words of a code.
const fieldSpace = " \t\n\u00A0"

// isWhole reports whether the field is complete, and consists of whole runs next to each other.
func (f *wordField) isWhole() bool {
	if f.end == nil || f.begin.Parent != f.end.Parent {
		return false
	}
	return f.begin.Name == "w:fldSimple" || !f.isParted && !f.sharesRun
}

// whyParted says why a field is not whole.
func (f *wordField) whyParted() string {
	if f.end != nil && f.begin.Parent == f.end.Parent && !f.isParted {
		return "it shares a run with other text or another field; insert it again in Word, or write a tag instead"
	}
	return "it is not in one paragraph, or something other than text is in it; put it into one paragraph, or write tags instead"
}

// mergeKinds are the fields that are filled, or that a warning is about because they are not.
var mergeKinds = wml.SetOf("MERGEFIELD NEXT DOCPROPERTY ADDRESSBLOCK GREETINGLINE NEXTIF SKIPIF MERGEREC MERGESEQ MERGEBARCODE ASK FILLIN")

// fill has a field filled or removed, if it is one of those, or has a merge field in its code. It returns false if the field stays as it
// is, and nothing is to be said about it.
func (c *wordFields) fill(f *wordField) bool {
	kind, tagged := f.name(), c.isTagged(f)
	switch {
	case f.end != nil && f.readsCells():
		c.warnStays(f, "it computes with cells of a table; update it in Word (F9), or write a tag such as {{$sum(items.price)}}")
		return true
	case !mergeKinds[kind] && !f.holds("MERGEFIELD") && !c.readsVariable(f) && !tagged:
		return false
	case kind == "HYPERLINK":
		if !tagged || f.holds("MERGEFIELD") {
			c.fillCode(f, program.InLink)
		}
		return false
	case kind == "SET":
		c.set(f)
		return true
	case f.isLong():
		c.warnStays(f, tooLong)
		return true
	case tagged && (!mergeKinds[kind] || kind == "DOCPROPERTY"):
		return c.fillTagged(f)
	case c.hasTags(f):
		if tagged || !c.hasTagsInResult(f) {
			c.warnStays(f, "it has tags in its code; write tags for its merge fields too")
		}
		return true
	case !f.isWhole():
		if kind != "DOCPROPERTY" {
			c.warnStays(f, f.whyParted())
		}
		return kind != "DOCPROPERTY"
	case kind == "NEXT":
		c.record++
		c.found = append(c.found, filledField{field: f})
		return true
	}
	expr, problem := c.expressionOf(f)
	if tag := c.tagOf(f, expr, problem); tag != nil {
		tag.FoldNames()
		c.found = append(c.found, filledField{field: f, tag: tag})
	}
	return true
}

// fillCode has the merge fields in the code of a field filled. more is added to the form of their values.
func (c *wordFields) fillCode(link *wordField, more program.CodeForm) {
	var before quotes
	for _, piece := range link.code {
		f := piece.field
		switch {
		case f == nil:
			before.read(piece.text)
		case f.name() != "MERGEFIELD" || !f.isWhole() || c.hasTags(f):
			c.warnStays(link, "the field "+f.name()+" in its code cannot be filled; write a tag in its place")
		default:
			expr, problem := c.merged(f, "")
			if tag := c.tagOf(f, expr, problem); tag != nil {
				tag.FoldNames()
				form := program.InCode | more
				if !before.open {
					form |= program.Bare
				}
				c.found = append(c.found, filledField{f, tag, form})
			}
		}
	}
}

// tagOf returns the tag for the expression of a field. If there is none, it warns of that.
func (c *wordFields) tagOf(f *wordField, expr, problem string) *lang.Tag {
	text := "{{" + expr + "}}"
	if problem == "" {
		if tag, err := lang.ParseTag(text); err != nil {
			problem = unreadableField(err)
		} else {
			text = tag.String() // without needless backquotes
		}
	}
	if par, _ := c.pieceNear(f.begin); par == nil && problem == "" {
		problem = "it shows nothing, and neither does its paragraph; update it in Word (F9)"
	}
	if problem != "" {
		c.warnStays(f, problem)
		return nil
	}
	a := c.asideIn(f.begin, text, "the field "+f.name())
	if a == nil {
		return nil // which is reported
	}
	a.mark.tag.FromField()
	c.asides = append(c.asides, a)
	return a.mark.tag
}

// warnStays warns that a field is not filled.
func (c *wordFields) warnStays(f *wordField, problem string) {
	c.warnAside(f.begin, "", "a field", "The field "+f.name()+" stays as it is: "+problem+".")
}

// holds reports whether a field of a kind is in the code of the field.
func (f *wordField) holds(kind string) bool {
	for _, piece := range f.code {
		if piece.field != nil && (piece.field.name() == kind || piece.field.holds(kind)) {
			return true
		}
	}
	return false
}

// edit writes the edits of the fields.
func (c *wordFields) edit() {
	for _, f := range c.forms {
		if !c.isGone(f.field.begin) {
			c.editForm(f)
		}
	}
	records := c.record
	for _, f := range c.found {
		begin, end := f.field.begin, f.field.end
		if f.tag == nil {
			if records--; records == 0 { // the last NEXT
				c.add(edit{pos: begin.Start, end: end.End, rank: rankReplace, action: emitted{c.recordsStep()}})
			} else {
				c.remove(begin.Start, end.End)
			}
			continue
		}
		props := c.formatOf(f.field)
		prefix := begin.Prefix(c.src)
		step := &program.Field{Tag: f.tag, Source: c.copy(begin.Start, end.End), Breaks: textBreaks(prefix),
			MayStay: f.field.name() == "DOCPROPERTY"}
		text := prefix + "t"
		if f.form == 0 {
			step.Place = &program.Place{
				Prefix: prefix, InLink: begin.Ancestor(holdsNoLink) != nil,
				Unmarkable: c.places.inField(begin) || begin.Parent.Ancestor(hidesLinks) != nil,
			}
		} else {
			text, step.Breaks = prefix+"instrText", &program.Breaks{Plain: true, Code: f.form}
		}
		step.Open = []byte("<" + prefix + "r>" + props + "<" + text + wml.Preserve + ">")
		step.Close = []byte("</" + text + "></" + prefix + "r>")
		c.add(edit{pos: begin.Start, end: end.End, rank: rankReplace, action: emitted{step}})
	}
}

// formatOf returns the properties of the run of a field's value: those of its result or, with \* CHARFORMAT, of its code.
func (c *wordFields) formatOf(f *wordField) string {
	run := f.result
	if run == nil || strings.Contains(strings.ToUpper(f.text()), "CHARFORMAT") {
		for _, piece := range f.code {
			if piece.run != nil {
				run = piece.run
				break
			}
		}
	}
	if props := run.Child("w:rPr"); props != nil {
		return string(c.src[props.Start:props.End])
	}
	return ""
}

// textWithoutTags returns the text of the code, without that of tags and fields in it.
func (f *wordField) textWithoutTags() string {
	var b strings.Builder
	for _, piece := range f.joinedCode() {
		b.WriteString(piece.text)
	}
	return b.String()
}

// text returns the text of the code, without that of fields in it.
func (f *wordField) text() string {
	var b strings.Builder
	for _, piece := range f.code {
		b.WriteString(piece.text)
	}
	return b.String()
}
