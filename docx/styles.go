package docx

import (
	"cmp"
	"strings"

	"platen/docx/opc"
)

// style is what the engine needs to know of a style of a template (ISO 29500-1 §17.7.4.17).
type style struct {
	name    string // as people know it, "heading 1"; Word writes its own in English and lower case
	kind    string // "paragraph", "character", "table", "numbering"
	heading int    // the level, of "heading 1" and the like; 0 for others
	outline int    // the outline level from 1, of the style or of those that it is based on; 0 for none
	list    listOfPara
}

// isHeading tells whether the style's paragraphs are headings, to describe a place by.
func (s style) isHeading() bool {
	return s.heading > 0 || s.outline > 0 || strings.EqualFold(s.name, "title")
}

// definition is a style as its element has it.
type definition struct {
	style
	basedOn          string
	outlineLvl       *node
	numID, listLevel string
}

// looks are elements of styles that say how something looks, which counts for Word alone.
var looks = map[string]bool{
	"w:docDefaults": true, "w:latentStyles": true, "w:rPr": true, "w:tblPr": true, "w:trPr": true, "w:tcPr": true, "w:tblStylePr": true,
}

// readStyles returns the styles of a document by their ids. A document whose styles cannot be read has none: its text is
// there without them.
func readStyles(pkg *opc.Package, main *opc.Part) (map[string]style, error) {
	part, err := relatedPart(pkg, main, opc.RelStyles)
	if part == nil || err != nil {
		return nil, err
	}
	src, err := pkg.ReadXML(part)
	if err != nil {
		return nil, err
	}
	root, err := parseOutline(part.Name, src, looks)
	if err != nil { // well formed, but of another shape
		return nil, nil //nolint:nilerr // as the comment says
	}
	definitions := definitions(src, root)
	all := make(map[string]style, len(definitions))
	for id, own := range definitions {
		s := own.style
		if level, ok := strings.CutPrefix(strings.ToLower(s.name), "heading "); ok {
			s.heading = min(idNumber(level), tocLevels)
		}
		for d, steps := own, 0; d != nil && steps < maxStyleDepth; d, steps = definitions[d.basedOn], steps+1 {
			if d.outlineLvl != nil && s.outline == 0 {
				s.outline = idNumber(attrValue(src, d.outlineLvl, "w:val")) + 1
			}
			if d.numID != "" && s.list.num == "" {
				s.list = listOfPara{num: d.numID, level: cmp.Or(d.listLevel, "0")}
			}
		}
		all[id] = s
	}
	return all, nil
}

// definitions returns the styles of a part by their ids.
func definitions(src []byte, root *node) map[string]*definition {
	text := func(n *node, attribute string) string { return entities([]byte(attrValue(src, n, attribute))) }
	all := map[string]*definition{}
	for _, n := range root.children {
		if n.name != "w:style" {
			continue
		}
		props := n.child("w:pPr")
		num := props.child("w:numPr")
		d := &definition{basedOn: text(n.child("w:basedOn"), "w:val"), outlineLvl: props.child("w:outlineLvl"),
			numID: text(num.child("w:numId"), "w:val"), listLevel: text(num.child("w:ilvl"), "w:val")}
		d.name, d.kind = text(n.child("w:name"), "w:val"), text(n, "w:type")
		all[text(n, "w:styleId")] = d
	}
	return all
}

// maxStyleDepth is how many styles a style may be based on, one on the other; more are not asked.
const maxStyleDepth = 20
