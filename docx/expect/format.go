package expect

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"platen/docx/style"
	"platen/docx/wml"
)

// labels names properties for people. Those that are not listed have the names of their elements and attributes.
var labels = map[string]string{
	"w:b": "bold", "w:i": "italic", "w:u": "underline", "w:strike": "strikethrough", "w:dstrike": "double strikethrough",
	"w:caps": allCaps, "w:smallCaps": "small caps", "w:vanish": hidden, "w:color": "color", "w:highlight": "highlight",
	"w:vertAlign": "", "w:rFonts/@w:ascii": "font",
	"w:shd/@w:fill": "shading", "w:sz": "size", "w:jc": "alignment", "w:ind/@w:left": "left indent",
	"w:ind/@w:right": "right indent", "w:ind/@w:firstLine": "first line indent", "w:ind/@w:hanging": "hanging indent",
	"w:spacing/@w:before": "space before", "w:spacing/@w:after": "space after", "w:spacing/@w:line": "line spacing",
	"w:spacing/@w:lineRule": "line rule", "w:keepNext": "keep with next", "w:keepLines": "keep lines together",
	"w:suppressAutoHyphens": noHyphens,
	"w:contextualSpacing":   "no space between paragraphs of the style", "w:widowControl": "widow control", "w:snapToGrid": "snap to grid",
	"w:pageBreakBefore": "page break before", "w:outlineLvl": "outline level", "w:gridSpan": "columns", "w:vMerge": "merged vertically",
	"w:tcW/@w:w": "width", "w:tblHeader": "header row", "w:cantSplit": "no break in row", "w:trHeight": "height",
	"w:vAlign": "vertical alignment",
	"w:rtl":    "right to left", "w:bidi": "right to left", "w:pgSz/@w:orient": "orientation", "w:cols/@w:num": "text columns",
	"w:type":    "starts on",
	"w:titlePg": "different first page", "w:pgNumType/@w:start": "first page number", "w:pgNumType/@w:fmt": "page number format",
}

// immaterial are properties that a reader does not see, or that other lines have.
var immaterial = wml.SetOf("w:noProof w:rStyle w:pStyle w:tblStyle w:numPr/w:numId w:numPr/w:ilvl w:numPr w:tblLook w:divId w:webHidden " +
	"w:specVanish w:hideMark w:headerReference w:footerReference w:autoSpaceDE w:autoSpaceDN w:adjustRightInd " +
	"w:cs w:kern w:w14 w:tblCaption w:tblDescription w:gridBefore w:gridAfter w:printerSettings w:sectPr w:rPr w:oMath " +
	"w:pgSz/@w:code w:pgSz/@w:w w:pgSz/@w:h w:pgMar/@w:top w:pgMar/@w:right w:pgMar/@w:bottom w:pgMar/@w:left w:pgMar/@w:header " +
	"w:pgMar/@w:footer w:footnotePr w:endnotePr")

// immaterialParts are the attributes of such properties, in any element.
var immaterialParts = []string{"/@w:themeColor", "/@w:themeFill", "/@w:themeShade", "/@w:themeTint",
	"w:lang", "w:tblLook/", "/@w:rsid", "w:headerReference", "w:footerReference", "w:footnotePr/w:footnote", "w:endnotePr/w:endnote",
	"w:printerSettings"}

// defaults are the values that mean the same as an absent property.
var defaults = map[string][]string{
	"w:u": {"none"}, "w:color": {"auto"}, "w:shd/@w:fill": {"auto"}, "w:shd/@w:color": {"auto"}, "w:shd": {"clear"}, "w:jc": {"left", "start"},
	"w:vertAlign": {"baseline"}, "w:ind/@w:left": {"0"}, "w:ind/@w:right": {"0"}, "w:ind/@w:firstLine": {"0"}, "w:ind/@w:hanging": {"0"},
	"w:spacing/@w:before": {"0"}, "w:spacing/@w:after": {"0"}, "w:spacing/@w:line": {"240"}, "w:spacing/@w:lineRule": {"auto"},
	"w:spacing": {"0"}, "w:position": {"0"}, "w:gridSpan": {"1"}, "w:highlight": {"none"}, "w:outlineLvl": {"9"}, "w:type": {"nextPage"},
	"w:pgSz/@w:orient": {"portrait"}, "w:textAlignment": {"auto"}, "w:effect": {"none"}, "w:w": {"100"},
	"w:textDirection": {"lrTb"}, "w:docGrid/@w:type": {"default"}, "w:docGrid/@w:charSpace": {"0"}, "w:pgNumType/@w:fmt": {"decimal"},
	"w:cols/@w:num": {"1"}, "w:cols/@w:space": {"720"}, "w:pgMar/@w:gutter": {"0"}, "w:tblLayout/@w:type": {"autofit"},
	"w:trHeight/@w:hRule": {"auto", "atLeast"}, "w:vAlign": {"top"}, "w:tblInd/@w:w": {"0"},
	"w:tblCellMar/w:top/@w:w": {"0"}, "w:tblCellMar/w:bottom/@w:w": {"0"}, "w:tblCellMar/w:left/@w:w": {"108"},
	"w:tblCellMar/w:right/@w:w": {"108"}, "w:tblCellSpacing/@w:w": {"0"},
	"w:footnotePr/w:pos": {"pageBottom"}, "w:footnotePr/w:numFmt": {"decimal"}, "w:footnotePr/w:numStart": {"1"},
	"w:footnotePr/w:numRestart": {"continuous"}, "w:endnotePr/w:pos": {"docEnd"}, "w:endnotePr/w:numFmt": {"lowerRoman"},
	"w:endnotePr/w:numStart": {"1"}, "w:endnotePr/w:numRestart": {"continuous"},
}

// defaultOn are the properties that are on where nothing states them.
var defaultOn = wml.SetOf("w:widowControl w:snapToGrid w:kinsoku w:wordWrap w:overflowPunct")

// properties are visible properties of an element as text, by their names.
type properties map[string]string

// list returns the properties in the order of their names. The order of the attributes of an element does not matter.
func (p properties) list() []string {
	var format []string
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if text := p[name]; !seen[text] {
			seen[text] = true
			format = append(format, text)
		}
	}
	return format
}

// formatOf returns the properties of an element that a reader sees, each as text.
func formatOf(p style.Properties) []string {
	visible, stated := properties{}, valuesOf(p)
	for name, value := range stated {
		if isVoid(stated, name) {
			continue
		}
		if text := propertyText(name, inUnit(stated, name, value)); text != "" {
			visible[name] = text
		}
	}
	return visible.list()
}

// unlabeled makes the label of a property that has none in labels.
var unlabeled = strings.NewReplacer("/@", " ", "/", " ", "w:", "")

// propertyText returns one property as text; "" if it does not matter.
func propertyText(name, value string) string {
	if value = canonical(name, value); !isMaterial(name, value) {
		return ""
	}
	label, known := labels[name]
	if !known {
		label = unlabeled.Replace(name)
	}
	switch {
	case name == "w:sz":
		value = halfPoints(value)
	case defaultOn[name]:
		return "no " + label
	case name == "w:jc" && value == "both":
		value = "justify"
	case name == "w:jc" && value == "end":
		value = "right"
	case name == "w:outlineLvl":
		value = strconv.Itoa(wml.IDNumber(value) + 1)
	case value == "true", name == "w:u" && value == "single", value == "":
		return label
	}
	return strings.TrimSpace(label + " " + value)
}

// isMaterial reports whether a reader can see that an element has a property.
func isMaterial(name, value string) bool {
	_, attribute, _ := strings.Cut(name, "/@w:")
	return !immaterial[name] && !slices.Contains(attributeDefaults[attribute], value) && value != onOffText(defaultOn[name]) &&
		!slices.Contains(defaults[name], value) &&
		!slices.ContainsFunc(immaterialParts, func(part string) bool { return strings.Contains(name, part) })
}

// onOffText returns the value of a property that is only on or off.
func onOffText(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

// emuPerPoint is the number of English metric units in a point.
const emuPerPoint = 12_700

// sizeText returns a size in points.
func sizeText(width, height string) string {
	return pointsOf(width) + " × " + pointsOf(height) + " pt"
}

// pointsOf returns a length in points.
func pointsOf(emu string) string {
	return strconv.FormatFloat(float64(number(emu))/emuPerPoint, 'f', 1, 64)
}
