package expect

import (
	"strconv"
	"strings"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// formField is a field of a form that Word draws itself: a check box or a list. Its result has no text.
type formField struct {
	text       string   // what Word shows
	properties []string // what people who fill in the form notice
}

// The boxes that Word draws.
const boxOff, boxOn = "☐", "☒"

// readFormField reads the form field of a w:fldChar; nil if there is none, or if its result is text.
func (o *outliner) readFormField(n *wml.Node) *formField {
	data := n.Child("w:ffData")
	if data == nil || !o.enter(data) {
		return nil
	}
	var f *formField
	disabled := false
	for range o.reader.Children {
		switch o.reader.Name() {
		case "w:enabled":
			disabled = !scan.IsOn(o.reader.RawAttr("w:val"))
		case "w:checkBox":
			f = readCheckBox(o.reader)
		case "w:ddList":
			f = readFormList(o.reader)
		}
	}
	if f != nil && disabled {
		f.properties = append(f.properties, "disabled")
	}
	return f
}

func readCheckBox(r *scan.Reader) *formField {
	f := &formField{text: boxOff, properties: []string{fieldOf + "FORMCHECKBOX"}}
	values := map[string]bool{}
	for range r.Children {
		switch name := r.Name(); name {
		case "w:checked", "w:default":
			values[name] = scan.IsOn(r.RawAttr("w:val"))
		case "w:size":
			f.properties = append(f.properties, "box size "+halfPoints(r.Attr("w:val")))
		}
	}
	on, isSet := values["w:checked"]
	if on || !isSet && values["w:default"] {
		f.text = boxOn
	}
	return f
}

func readFormList(r *scan.Reader) *formField {
	var entries []string
	values := map[string]string{}
	for range r.Children {
		switch name := r.Name(); name {
		case "w:listEntry":
			entries = append(entries, r.Attr("w:val"))
		case "w:result", "w:default":
			values[name] = r.Attr("w:val")
		}
	}
	chosen, isSet := values["w:result"]
	if !isSet {
		chosen = values["w:default"]
	}
	f := &formField{properties: []string{fieldOf + "FORMDROPDOWN", "entries " + strings.Join(entries, "; ")}}
	if i := wml.IDNumber(chosen); i >= 0 && i < len(entries) {
		f.text = entries[i]
	}
	return f
}

// halfPoints returns a size in half points as one in points.
func halfPoints(value string) string {
	halves, err := strconv.Atoi(value)
	if err != nil {
		return value
	}
	return decimal(float64(halves) / 2)
}

// decimal returns a number with the decimals that it has.
func decimal(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// number returns the number that a value spells; 0 if it spells none.
func number(value string) int {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0
	}
	return n
}
