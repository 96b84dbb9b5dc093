package expect

import (
	"cmp"
	"strings"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// locks are the values of w:lock (ISO 29500-1 §17.18.50), and what they mean to people who fill in the document.
var locks = map[string]string{
	"sdtLocked": "control not deletable", "contentLocked": "locked", "sdtContentLocked": "locked, control not deletable",
}

// controls returns the properties of the content controls around a run.
func (o *outliner) controls(run *wml.Node) []string {
	var properties []string
	for n := run.Parent; n != nil; n = n.Parent {
		if n.Name != "w:sdt" {
			continue
		}
		own, known := o.part.controlsRead[n]
		if !known {
			own = o.control(n.Child("w:sdtPr"))
			o.part.controlsRead[n] = own
		}
		properties = append(properties, own...)
	}
	return properties
}

// control returns what people who fill in the document notice of a content control: its lock, and the entries of a list.
func (o *outliner) control(n *wml.Node) []string {
	if n == nil || !o.enter(n) {
		return nil
	}
	var properties []string
	for range o.reader.Children {
		switch name := o.reader.Name(); name {
		case "w:lock":
			if lock := locks[o.reader.Attr("w:val")]; lock != "" {
				properties = append(properties, lock)
			}
		case "w:dropDownList", "w:comboBox":
			properties = append(properties, map[string]string{"w:dropDownList": "entries ", "w:comboBox": "suggested entries "}[name]+
				strings.Join(entriesOf(o.reader), "; "))
		}
	}
	return properties
}

// entriesOf returns the entries of the list of a content control.
func entriesOf(r *scan.Reader) []string {
	var entries []string
	for range r.Children {
		if r.Name() == "w:listItem" {
			entries = append(entries, cmp.Or(r.Attr("w:displayText"), r.Attr("w:value")))
		}
	}
	return entries
}
