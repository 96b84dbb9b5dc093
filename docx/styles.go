package docx

import (
	"cmp"
	"encoding/xml"
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

// readStyles returns the styles of a document by their ids. A document whose styles cannot be read has none: its text is
// there without them.
func readStyles(pkg *opc.Package, main *opc.Part) (map[string]style, error) {
	type val struct {
		Val string `xml:"val,attr"`
	}
	type definition struct {
		ID      string `xml:"styleId,attr"`
		Kind    string `xml:"type,attr"`
		Name    val    `xml:"name"`
		BasedOn val    `xml:"basedOn"`
		Outline *val   `xml:"pPr>outlineLvl"`
		Num     val    `xml:"pPr>numPr>numId"`
		Level   val    `xml:"pPr>numPr>ilvl"`
	}
	var doc struct {
		Style []definition `xml:"style"`
	}
	part, err := relatedPart(pkg, main, opc.RelStyles)
	if part == nil || err != nil {
		return nil, err
	}
	src, err := pkg.ReadXML(part)
	if err != nil {
		return nil, err
	}
	if xml.Unmarshal(src, &doc) != nil { // well formed, but of another shape
		return nil, nil
	}
	all := make(map[string]style, len(doc.Style))
	definitions := make(map[string]*definition, len(doc.Style))
	for i := range doc.Style {
		definitions[doc.Style[i].ID] = &doc.Style[i]
	}
	for id, own := range definitions {
		s := style{name: own.Name.Val, kind: own.Kind}
		if level, ok := strings.CutPrefix(strings.ToLower(s.name), "heading "); ok {
			s.heading = min(idNumber(level), tocLevels)
		}
		for d, steps := own, 0; d != nil && steps < maxStyleDepth; d, steps = definitions[d.BasedOn.Val], steps+1 {
			if d.Outline != nil && s.outline == 0 {
				s.outline = idNumber(d.Outline.Val) + 1
			}
			if d.Num.Val != "" && s.list.num == "" {
				s.list = listOfPara{num: d.Num.Val, level: cmp.Or(d.Level.Val, "0")}
			}
		}
		all[id] = s
	}
	return all, nil
}

// maxStyleDepth is how many styles a style may be based on, one on the other; more are not asked.
const maxStyleDepth = 20
