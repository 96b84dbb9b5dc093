package expect

import (
	"slices"
	"strings"

	"platen/docx/style"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// flags are the properties that are on or off, apart from those that style.Properties reads as such.
var flags = wml.SetOf("w:titlePg w:formProt w:noEndnote w:rtlGutter w:cols/@w:sep w:spacing/@w:beforeAutospacing " +
	"w:spacing/@w:afterAutospacing")

// attributeDefaults are the values of attributes, of any element, that mean the same as absent ones.
var attributeDefaults = map[string][]string{
	"color": {"auto"}, "leader": {"none"}, "shadow": {"0", "false", "off"}, "frame": {"0", "false", "off"},
	"leftChars": {"0"}, "rightChars": {"0"}, "firstLineChars": {"0"}, "hangingChars": {"0"}, "beforeLines": {"0"}, "afterLines": {"0"},
	"equalWidth": {"1", "true", "on"},
}

// canonical returns the value of a property as Word writes it.
func canonical(name, value string) string {
	element, attribute, _ := strings.Cut(name, "/@w:")
	switch {
	case flags[name]:
		return onOffText(scan.IsOn(value))
	case element == "w:color" && attribute == "", attribute == "color", attribute == "fill":
		if value != "auto" {
			return strings.ToUpper(value)
		}
	case strings.HasPrefix(element, "w:tabs/") && attribute == "":
		if same := map[string]string{"num": "left", "start": "left", "end": "right"}[value]; same != "" {
			return same
		}
	case name == "w:vMerge" && value == "continue", name == "w:hMerge" && value == "continue":
		return ""
	case strings.Contains(element, "Borders/") && value == "none":
		return "nil"
	}
	return value
}

// values are the properties of an element.
type values map[string]string

func valuesOf(p style.Properties) values {
	all := values{}
	for name, value := range p.All() {
		all[name] = value.Text
	}
	return all
}

// isVoid reports whether a property has no effect because of others of the same element.
func isVoid(p values, name string) bool {
	element, attribute, isAttribute := strings.Cut(name, "/@w:")
	own := p[element]
	isNone := own == "none" || own == "nil"
	switch {
	case strings.HasPrefix(element, "w:tabs/"):
		return own == "clear" || attribute == "pos" || strings.HasSuffix(element, "[0]")
	case element == "w:shd":
		return own == "nil" || own == "clear" && attribute == "color"
	case strings.HasPrefix(element, "w:tcBorders/"): // such a border overrides that of the table
		return isNone && isAttribute || attribute == "space"
	case strings.HasPrefix(element, "w:tblBorders/"):
		return isNone || attribute == "space"
	case strings.HasPrefix(element, "w:pBdr/"), strings.HasPrefix(element, "w:pgBorders/"), element == "w:bdr", element == "w:u":
		return isNone || attribute == "space" && p[name] == "0"
	case element == "w:docGrid":
		kind := p["w:docGrid/@w:type"]
		return kind == "" || kind == "default"
	case name == "w:cols/@w:space":
		return number(p["w:cols/@w:num"]) < 2
	case attribute == "w" || attribute == "type":
		return isVoidWidth(p, element, attribute)
	}
	return false
}

// isVoidWidth reports whether an attribute of a width has no effect: the width is automatic, or the attribute is its unit.
func isVoidWidth(p values, element, attribute string) bool {
	if _, isWidth := p[element+"/@w:w"]; !isWidth {
		return false
	}
	unit := p[element+"/@w:type"]
	return unit == "auto" || unit == "nil" || attribute == "type"
}

// inUnit returns the value of a property. That of a width is a percentage if its unit is one.
func inUnit(p values, name, value string) string {
	const parts = 50 // of a percent
	element, isWidth := strings.CutSuffix(name, "/@w:w")
	if !isWidth {
		return value
	}
	if p[element+"/@w:type"] != "pct" || strings.HasSuffix(value, "%") {
		return value
	}
	return decimal(float64(number(value))/parts) + "%"
}

// styleName returns the name of a style as Word writes it; "" for the standard styles, which need no mention.
func styleName(name string) string {
	lower := strings.ToLower(name)
	first, rest, _ := strings.Cut(lower, " ")
	switch {
	case slices.Contains([]string{"normal", "normal table", "table normal"}, lower):
		return ""
	case slices.Contains([]string{"heading", "toc", "index"}, first) && number(rest) > 0,
		slices.Contains([]string{"header", "footer", "caption", "footnote text", "endnote text"}, lower):
		return lower
	}
	return name
}
