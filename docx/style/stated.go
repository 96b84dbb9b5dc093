package style

import (
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// onOffElements are the elements whose value is on or off (CT_OnOff in Annex A).
var onOffElements = wml.SetOf("w:b w:bCs w:i w:iCs w:caps w:smallCaps w:strike w:dstrike w:outline w:shadow w:emboss w:imprint w:noProof " +
	"w:snapToGrid w:vanish w:webHidden w:rtl w:cs w:specVanish w:oMath w:keepNext w:keepLines w:pageBreakBefore w:widowControl " +
	"w:suppressLineNumbers w:suppressAutoHyphens w:kinsoku w:wordWrap w:overflowPunct w:topLinePunct w:autoSpaceDE w:autoSpaceDN " +
	"w:bidi w:adjustRightInd w:contextualSpacing w:mirrorIndents w:suppressOverlap w:bidiVisual w:cantSplit w:tblHeader w:hidden " +
	"w:noWrap w:tcFitText w:hideMark")

// byAttribute are the elements of which each attribute is a property.
var byAttribute = wml.SetOf("w:rFonts w:lang w:spacing w:ind")

// byChild are the elements of which each child is a property.
var byChild = wml.SetOf("w:pBdr w:tabs w:numPr w:tblBorders w:tblCellMar w:tcBorders w:tcMar")

// ignored are the elements in w:rPr and the like that state properties of something else, tracked changes, or a summary of the
// conditional formats that Word applied.
var ignored = wml.SetOf("w:rPr w:sectPr w:rPrChange w:pPrChange w:tblPrChange w:trPrChange w:tcPrChange w:tblPrExChange " +
	"w:numberingChange w:ins w:del w:moveFrom w:moveTo w:cellIns w:cellDel w:cellMerge w:cnfStyle")

// sameUnit are attributes that override one another (§17.3.2.26, §17.3.1.12).
var sameUnit = map[string]string{
	"w:asciiTheme": "w:ascii", "w:hAnsiTheme": "w:hAnsi", "w:eastAsiaTheme": "w:eastAsia", "w:cstheme": "w:cs", "w:hanging": "w:firstLine",
	"w:hangingChars": "w:firstLineChars",
}

// logical maps names of the strict form to those of the transitional form.
var logical = map[string]string{
	"w:start": "w:left", "w:end": "w:right", "w:startChars": "w:leftChars", "w:endChars": "w:rightChars",
}

// maxNesting is the depth of the elements that are read in a property.
const maxNesting = 4

// statement reads the properties that an element states.
type statement struct {
	r      *scan.Reader
	theme  *Theme
	origin Origin
	list   []property
}

// stated reads the properties that the element of the last start tag states, such as w:rPr. A theme font that the theme does not have
// is not stated.
func stated(r *scan.Reader, theme *Theme, origin Origin) Properties {
	s := statement{r: r, theme: theme, origin: origin}
	for range r.Children {
		name := r.Name()
		switch {
		case name == "" || ignored[name]:
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
	slices.SortStableFunc(s.list, func(a, b property) int { return strings.Compare(a.unit, b.unit) })
	return Properties{s.list}
}

func orSame(names map[string]string, name string) string {
	if other := names[name]; other != "" {
		return other
	}
	return name
}

// element reads an element that is a property.
func (s *statement) element(path string, nesting int) {
	if path == "w:tabs/w:tab" {
		path += "[" + s.r.Attr("w:pos") + "]"
	}
	if onOffElements[path] {
		s.add(path, path, onOff(scan.IsOn(s.r.RawAttr("w:val"))))
		return
	}
	s.attributes(path, path)
	s.nested(path, path, nesting)
}

// nested reads the elements in an element that is one property as a whole.
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
	if len(s.list) < maxProperties {
		s.list = append(s.list, property{unit, name, value, s.origin})
	}
}
