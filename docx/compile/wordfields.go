package compile

import (
	"bytes"
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// Fields that take their values from the input, so that templates for Word's mail merge work (ISO 29500-1 §17.16.5): MERGEFIELD, IF with
// merge fields in it, NEXT, and DOCPROPERTY. Each becomes a tag, whose value replaces the field. Fields with tags in their code, and fields
// that are not within one paragraph, are left alone.

// records is the key of the list whose items are the records of a template with the field NEXT.
const records = "records"

// wordFields are the fields of a part that are filled.
type wordFields struct {
	*compiler
	found   []filledField
	forms   []*formField
	hasNext bool
	record  int // the number of fields NEXT so far
}

// filledField is a field that the value of a tag replaces, or that is removed if it has no tag.
type filledField struct {
	field *wordField
	tag   *lang.Tag
}

// wordField is a field within one paragraph.
type wordField struct {
	begin, end *wml.Node   // the first and the last run, or twice the w:fldSimple
	code       []codePiece // its instruction
	result     *wml.Node   // the first run of its result; nil if it has none
	separate   *wml.Node   // the run that ends the code; nil if there is none
	isOpen     bool
}

// codePiece is text in the code of a field, or a field in it.
type codePiece struct {
	text  string
	run   *wml.Node
	field *wordField
}

// valueKinds are the fields without which no field of a part is filled.
var valueKinds = wml.SetOf("MERGEFIELD DOCPROPERTY ADDRESSBLOCK GREETINGLINE FORMTEXT FORMCHECKBOX FORMDROPDOWN")

// find finds the fields.
func (c *wordFields) find() {
	var all []*wordField
	for _, p := range c.pars {
		if p.fields && p.node.Name == "w:p" && !c.tocs.holds(p.node) {
			all = append(all, c.fieldsOf(p.node)...)
		}
	}
	if !slices.ContainsFunc(all, (*wordField).takesValue) {
		return
	}
	for _, f := range all {
		c.hasNext = c.hasNext || f.name() == "NEXT"
	}
	for _, f := range all {
		if formKinds[f.name()] {
			c.findForm(f)
		} else {
			c.fill(f)
		}
	}
}

// takesValue reports whether a field, or one in its code, is one of valueKinds.
func (f *wordField) takesValue() bool {
	return valueKinds[f.name()] || slices.ContainsFunc(f.code, func(p codePiece) bool { return p.field != nil && p.field.takesValue() })
}

// fieldsOf returns the outer fields of a paragraph.
func (c *wordFields) fieldsOf(par *wml.Node) []*wordField {
	var all, open []*wordField
	for _, child := range par.Children {
		if child.Name == "w:fldSimple" {
			f := &wordField{begin: child, end: child, result: child.Child("w:r"), separate: child}
			f.code = []codePiece{{text: scan.Value([]byte(wml.AttrValue(c.src, child, "w:instr")))}}
			if len(open) == 0 {
				all = append(all, f)
			}
			continue
		}
		for _, run := range runsOf(child) {
			for _, n := range run.Children {
				last := len(open) - 1
				switch {
				case n.Name == "w:fldChar" && wml.AttrValue(c.src, n, "w:fldCharType") == "begin":
					f := &wordField{begin: run, isOpen: true}
					if last >= 0 && open[last].separate == nil {
						open[last].code = append(open[last].code, codePiece{field: f})
					} else if last < 0 {
						all = append(all, f)
					}
					open = append(open, f)
				case last < 0:
				case n.Name == "w:fldChar" && wml.AttrValue(c.src, n, "w:fldCharType") == "separate":
					open[last].separate = run
				case n.Name == "w:fldChar":
					open[last].end, open[last].isOpen = run, false
					open = open[:last]
				case n.Name == "w:instrText" && open[last].separate == nil:
					open[last].code = append(open[last].code, codePiece{text: scan.Text(c.src[n.OpenEnd:n.CloseStart]), run: run})
				case n.Name == "w:t" && open[last].separate != nil && open[last].result == nil:
					open[last].result = run
				}
			}
		}
	}
	return all
}

// name returns the kind of a field, in capital letters.
func (f *wordField) name() string {
	for _, piece := range f.code {
		if words := strings.Fields(piece.text); len(words) > 0 {
			return strings.ToUpper(words[0])
		}
	}
	return ""
}

// isWhole reports whether the field is complete, and consists of whole runs next to each other.
func (f *wordField) isWhole() bool {
	if f.isOpen || f.end == nil || f.begin.Parent != f.end.Parent {
		return false
	}
	siblings := f.begin.Parent.Children
	for _, n := range siblings[slices.Index(siblings, f.begin) : slices.Index(siblings, f.end)+1] {
		if n.Name != "w:r" && n.Name != "w:proofErr" && n != f.begin {
			return false
		}
	}
	for _, run := range []*wml.Node{f.begin, f.end} {
		for _, n := range run.Children {
			if run.Name == "w:r" && !invisible[n.Name] && n.Name != "w:fldChar" && n.Name != "w:instrText" {
				return false
			}
		}
	}
	return true
}

// mergeKinds are the fields that are filled, or that a warning is about because they are not.
var mergeKinds = wml.SetOf("MERGEFIELD IF NEXT DOCPROPERTY ADDRESSBLOCK GREETINGLINE NEXTIF SKIPIF MERGEREC MERGESEQ")

// fill has a field filled or removed, if it is one of those.
func (c *wordFields) fill(f *wordField) {
	kind := f.name()
	if !mergeKinds[kind] || !f.isWhole() || c.hasTags(f) {
		return
	}
	switch kind {
	case "NEXT":
		c.record++
		c.found = append(c.found, filledField{field: f})
		return
	case "IF":
		if !f.holds("MERGEFIELD") {
			return
		}
	}
	text, problem := c.tagFor(f)
	if problem == "" {
		tag, err := lang.ParseTag(text)
		if err != nil {
			problem = "it cannot be read: " + err.Error()
		} else {
			text = tag.String() // without needless backquotes
		}
	}
	if problem != "" {
		c.warnAside(f.begin, "", "a field", "The field "+kind+" stays as it is: "+problem+".")
		return
	}
	if a := c.asideIn(f.begin, text, "the field "+kind); a != nil {
		c.asides = append(c.asides, a)
		c.found = append(c.found, filledField{f, a.mark.tag})
	}
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

// hasTags reports whether there are tags in the field.
func (c *wordFields) hasTags(f *wordField) bool {
	return bytes.Contains(c.src[f.begin.Start:f.end.End], []byte("{{"))
}

// edit writes the edits of the fields.
func (c *wordFields) edit() {
	for _, f := range c.forms {
		if !c.isGone(f.field.begin) {
			c.editForm(f)
		}
	}
	for _, f := range c.found {
		begin, end := f.field.begin, f.field.end
		if f.tag == nil {
			c.remove(begin.Start, end.End)
			continue
		}
		props := c.formatOf(f.field)
		prefix := begin.Prefix(c.src)
		step := &program.Field{Tag: f.tag, Source: c.copy(begin.Start, end.End), Breaks: textBreaks(prefix),
			MayStay: f.field.name() == "DOCPROPERTY"}
		step.Open = []byte("<" + prefix + "r>" + props + "<" + prefix + "t" + wml.Preserve + ">")
		step.Close = []byte("</" + prefix + "t></" + prefix + "r>")
		c.add(edit{pos: begin.Start, end: end.End, rank: rankReplace, action: emitted{step}})
	}
}

// formatOf returns the properties of the run of a field's value: those of its result or, with \* CHARFORMAT, of its code.
func (c *wordFields) formatOf(f *wordField) string {
	run := f.result
	for _, piece := range f.code {
		if piece.run != nil && (run == nil || strings.Contains(strings.ToUpper(f.text()), "CHARFORMAT")) {
			run = piece.run
			break
		}
	}
	if props := run.Child("w:rPr"); props != nil {
		return string(c.src[props.Start:props.End])
	}
	return ""
}

// text returns the text of the code, without that of fields in it.
func (f *wordField) text() string {
	var b strings.Builder
	for _, piece := range f.code {
		b.WriteString(piece.text)
	}
	return b.String()
}
