package compile

import (
	"slices"
	"strconv"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// Legacy form fields (ISO 29500-1 §17.16.17): FORMTEXT, FORMCHECKBOX, and FORMDROPDOWN. A field whose name is a key of the input gets its
// value, and stays a field. All others stay as they are, because people may fill them in later.

// formKinds are the form fields that take values.
var formKinds = wml.SetOf("FORMTEXT FORMCHECKBOX FORMDROPDOWN")

// formField is a form field that takes a value.
type formField struct {
	field *wordField
	tag   *lang.Tag
	name  *wml.Node
	data  *wml.Node // the w:textInput, w:checkBox, or w:ddList
	form  *program.FormField
}

// findForm has a form field filled, if it has a name, and a place for the value.
func (c *wordFields) findForm(f *wordField) {
	var data *wml.Node
	for _, n := range f.begin.Children {
		if n.Name == "w:fldChar" {
			data = n.Child("w:ffData")
		}
	}
	name := c.valueOf(data.Child("w:name"))
	path, problem := pathOf(name)
	if problem != "" || f.end != nil && c.hasTags(f) {
		return
	}
	form := &formField{field: f, name: data.Child("w:name"), form: &program.FormField{}}
	filters := ""
	switch f.name() {
	case "FORMTEXT":
		form.data = data.Child("w:textInput")
		if filters = c.formText(form); filters == noFormValue {
			return
		}
		if f.separate == nil || !f.isWhole() || slices.ContainsFunc(f.separate.Children, isResult) {
			c.warnAside(f.begin, "", "a form field", "The form field '"+name+
				"' does not take a value, because its text is in several paragraphs; put it into one, or use a tag.")
			return
		}
	case "FORMCHECKBOX":
		form.form.Kind, form.data = program.FormCheckBox, data.Child("w:checkBox")
	case "FORMDROPDOWN":
		form.form.Kind, form.data = program.FormList, data.Child("w:ddList")
		for _, entry := range form.data.All("w:listEntry") {
			form.form.Entries = append(form.form.Entries, c.valueOf(entry))
		}
	}
	if form.data == nil && form.form.Kind != program.FormText || form.data != nil && form.form.Kind != program.FormText && form.data.Void() {
		return // nothing says what its values are
	}
	text := "{{" + path + " :: optional" + filters + "}}"
	if tag, err := lang.ParseTag(text); err == nil {
		text = tag.String() // without needless backquotes
	}
	if a := c.asideIn(f.begin, text, "the form field "+name); a != nil {
		a.reads = form.form.AddTo
		c.asides = append(c.asides, a)
		form.tag = a.mark.tag
		form.tag.FromField()
		c.forms = append(c.forms, form)
	}
}

// isResult reports whether an element of a run shows something of a field.
func isResult(n *wml.Node) bool { return n.Name == "w:t" || n.Name == "w:br" || n.Name == "w:tab" }

// valueOf returns the attribute w:val of an element, which may be nil.
func (c *wordFields) valueOf(n *wml.Node) string {
	return scan.Value([]byte(wml.AttrValue(c.src, n, "w:val")))
}

// noFormValue is the result of formText for a field that Word computes.
const noFormValue = "none"

// caseFormats are the formats of texts (§17.16.33), in lower case, with their filters.
var caseFormats = map[string]string{
	"uppercase": "uppercase", "lowercase": "lowercase", "first capital": "capitalize", "title case": "titlecase",
}

// formText reads the properties of a text field (§17.16.33), and returns the filters for its format.
func (c *wordFields) formText(form *formField) (filters string) {
	format := c.valueOf(form.data.Child("w:format"))
	if most, err := strconv.Atoi(c.valueOf(form.data.Child("w:maxLength"))); err == nil && most > 0 {
		form.form.Most = most
	}
	switch kind := c.valueOf(form.data.Child("w:type")); {
	case kind == "currentDate" || kind == "currentTime" || kind == "calculated":
		return noFormValue
	case format == "":
	case kind == "number":
		return " :: wordformat(" + quoted(format) + ")" // which reports what it cannot use
	case kind == "date":
		form.form.IsDate = true
		filter, problem := wordDate(format)
		if problem != "" {
			c.warnAside(form.field.begin, "", "a form field", "The form field '"+c.valueOf(form.name)+"' does not take a value: "+problem+".")
			return noFormValue
		}
		return " :: " + filter
	case caseFormats[strings.ToLower(format)] != "":
		return " :: " + caseFormats[strings.ToLower(format)]
	}
	return ""
}

// editForm writes the edit of a form field.
func (c *wordFields) editForm(f *formField) {
	form := f.form
	form.Tag, form.Prefix = f.tag, f.field.begin.Prefix(c.src)
	pos, end := 0, 0
	switch form.Kind {
	case program.FormText:
		pos, end = f.field.separate.End, f.field.end.Start
		form.Breaks = textBreaks(form.Prefix)
		form.Open = []byte("<" + form.Prefix + "r>" + c.formatOf(f.field) + "<" + form.Prefix + "t" + wml.Preserve + ">")
		form.Close = []byte("</" + form.Prefix + "t></" + form.Prefix + "r>")
	case program.FormCheckBox:
		pos, end = f.data.CloseStart, f.data.CloseStart
		if n := f.data.Child("w:checked"); n != nil {
			pos, end = n.Start, n.End
		}
	case program.FormList:
		pos, end = f.data.OpenEnd, f.data.OpenEnd
		if n := f.data.Child("w:result"); n != nil {
			pos, end = n.Start, n.End
		}
	}
	form.Source = c.copy(pos, end)
	c.add(edit{pos: pos, end: end, rank: rankReplace, action: emitted{form}})
}
