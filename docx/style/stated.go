package style

import (
	"platen/ooxml/scan"
)

// onOffElements are the elements whose value is on or off (CT_OnOff in Annex A).
var onOffElements = setOf("w:b w:bCs w:i w:iCs w:caps w:smallCaps w:strike w:dstrike w:outline w:shadow w:emboss w:imprint w:noProof " +
	"w:snapToGrid w:vanish w:webHidden w:rtl w:cs w:specVanish w:oMath w:keepNext w:keepLines w:pageBreakBefore w:widowControl " +
	"w:suppressLineNumbers w:suppressAutoHyphens w:kinsoku w:wordWrap w:overflowPunct w:topLinePunct w:autoSpaceDE w:autoSpaceDN " +
	"w:bidi w:adjustRightInd w:contextualSpacing w:mirrorIndents w:suppressOverlap w:bidiVisual w:cantSplit w:tblHeader w:hidden " +
	"w:noWrap w:tcFitText w:hideMark")

// byAttribute are the elements of which each attribute is a property for itself.
var byAttribute = setOf("w:rFonts w:lang w:spacing w:ind")

// byChild are the elements of which each child is a property for itself.
var byChild = setOf("w:pBdr w:tabs w:numPr w:tblBorders w:tblCellMar w:tcBorders w:tcMar")

// noProperties are elements among properties that are none: properties of something else, and tracked changes.
var noProperties = setOf("w:rPr w:sectPr w:rPrChange w:pPrChange w:tblPrChange w:trPrChange w:tcPrChange w:tblPrExChange " +
	"w:numberingChange w:ins w:del w:moveFrom w:moveTo w:cellIns w:cellDel w:cellMerge w:cnfStyle")

// sameUnit are attributes that override one another (§17.3.2.26, §17.3.1.12).
var sameUnit = map[string]string{
	"w:asciiTheme": "w:ascii", "w:hAnsiTheme": "w:hAnsi", "w:eastAsiaTheme": "w:eastAsia", "w:cstheme": "w:cs", "w:hanging": "w:firstLine",
	"w:hangingChars": "w:firstLineChars",
}

// logical are names of the strict form, and what they are called in the transitional one.
var logical = map[string]string{
	"w:start": "w:left", "w:end": "w:right", "w:startChars": "w:leftChars", "w:endChars": "w:rightChars",
}

// maxNesting is how deep elements are read that are in a property.
const maxNesting = 4

// statement reads what an element of properties states.
type statement struct {
	r      *scan.Reader
	theme  *Theme
	origin Origin
	list   []property
}

// stated reads the element of properties that has just started, such as w:rPr. A font of the theme that the theme does not have is
// not stated.
func stated(r *scan.Reader, theme *Theme, origin Origin) Properties {
	s := statement{r: r, theme: theme, origin: origin}
	for range r.Children {
		name := r.Name()
		switch {
		case name == "" || noProperties[name]:
		case byChild[name]:
			for range r.Children {
				if child := r.Name(); child != "" {
					s.element(name+"/"+orSame(logical, child), 1)
				}
			}
		default:
			s.element(name, 0)
		}
	}
	return Properties{s.list}
}

func orSame(names map[string]string, name string) string {
	if other := names[name]; other != "" {
		return other
	}
	return name
}

// element reads an element that is a property by itself.
func (s *statement) element(path string, nesting int) {
	if path == "w:tabs/w:tab" {
		path += "[" + s.r.Attr("w:pos") + "]"
	}
	if onOffElements[path] {
		s.add(path, path, onOff(isOn(s.r)))
		return
	}
	s.attributes(path, path)
	s.nested(path, path, nesting)
}

// nested reads the elements in one that is a property as a whole.
func (s *statement) nested(unit, path string, nesting int) {
	for range s.r.Children {
		if name := s.r.Name(); name != "" && nesting < maxNesting {
			s.attributes(unit, path+"/"+name)
			s.nested(unit, path+"/"+name, nesting+1)
		}
	}
}

func (s *statement) attributes(unit, path string) {
	found := false
	for i := range s.r.Attributes() {
		a := &s.r.Attributes()[i]
		name := s.r.AttributeName(a)
		if name == "" || name == "xmlns" {
			continue
		}
		found = true
		value := scan.Value(s.r.Value(a))
		switch {
		case name == "w:val":
			s.add(unit, path, value)
		case !byAttribute[path]:
			s.add(unit, path+"/@"+name, value)
		case path != "w:rFonts" || !isThemeFont(name) || s.theme.Font(value) != "":
			name = orSame(logical, name)
			s.add(path+"/@"+orSame(sameUnit, name), path+"/@"+name, value)
		}
	}
	if !found {
		s.add(unit, path, "")
	}
}

func isThemeFont(attribute string) bool { return attribute != "w:hanging" && sameUnit[attribute] != "" }

func (s *statement) add(unit, name, value string) {
	s.list = append(s.list, property{unit, name, value, s.origin})
}

// isOn is the value of the element that has just started and that turns something on unless it says otherwise (§17.17.4).
func isOn(r *scan.Reader) bool {
	switch string(r.RawAttr("w:val")) {
	case "0", "false", "off":
		return false
	}
	return true
}
