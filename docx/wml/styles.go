package wml

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

// HeadingLevels is how many levels headings have, and a table of contents can show.
const HeadingLevels = 9

// Style is what the engine needs to know of a style of a template (ISO 29500-1 §17.7.4.17).
type Style struct {
	Name    string // as people know it, "heading 1"; Word writes its own in English and lower case
	Kind    string // "paragraph", "character", "table", "numbering"
	Heading int    // the level, of "heading 1" and the like; 0 for others
	Outline int    // the outline level from 1, of the style or of those that it is based on; 0 for none
	List    List
}

// List is the list that a paragraph is an item of.
type List struct {
	Num, Level string
	ID         *Attr // where the paragraph names the list; nil if its style does
}

// IsHeading tells whether the style's paragraphs are headings, to describe a place by.
func (s Style) IsHeading() bool {
	return s.Heading > 0 || s.Outline > 0 || strings.EqualFold(s.Name, "title")
}

// definition is a style as its element has it.
type definition struct {
	Style
	basedOn          string
	outlineLvl       *Node
	numID, listLevel string
}

// looks are elements of styles that say how something looks, which counts for Word alone.
var looks = map[string]bool{
	"w:docDefaults": true, "w:latentStyles": true, "w:rPr": true, "w:tblPr": true, "w:trPr": true, "w:tcPr": true, "w:tblStylePr": true,
}

// stated are elements of styles that are void and say something.
var stated = map[string]bool{
	"w:style": true, "w:name": true, "w:basedOn": true, "w:pPr": true, "w:outlineLvl": true, "w:numPr": true, "w:numId": true, "w:ilvl": true,
}

// ReadStyles returns the styles of a document by their ids. A document whose styles cannot be read has none: its text is
// there without them.
func ReadStyles(pkg *ooxml.Package, main *ooxml.Part) (map[string]Style, error) {
	part, err := RelatedPart(pkg, main, names.RelStyles)
	if part == nil || err != nil {
		return nil, err
	}
	src, err := pkg.ReadXML(part)
	if err != nil {
		return nil, err
	}
	root, err := parseOutline(part.Name, src, outline{looks, stated})
	if err != nil { // well formed, but of another shape
		return nil, nil //nolint:nilerr // as the comment says
	}
	definitions := definitions(src, root)
	all := make(map[string]Style, len(definitions))
	for id, own := range definitions {
		s := own.Style
		if level, ok := strings.CutPrefix(strings.ToLower(s.Name), "heading "); ok {
			s.Heading = min(IDNumber(level), HeadingLevels)
		}
		for d, steps := own, 0; d != nil && steps < maxStyleDepth; d, steps = definitions[d.basedOn], steps+1 {
			if d.outlineLvl != nil && s.Outline == 0 {
				s.Outline = IDNumber(AttrValue(src, d.outlineLvl, "w:val")) + 1
			}
			if d.numID != "" && s.List.Num == "" {
				s.List = List{Num: d.numID, Level: cmp.Or(d.listLevel, "0")}
			}
		}
		all[id] = s
	}
	return all, nil
}

// definitions returns the styles of a part by their ids.
func definitions(src []byte, root *Node) map[string]*definition {
	text := func(n *Node, attribute string) string {
		value := AttrValue(src, n, attribute)
		if strings.IndexByte(value, '&') < 0 {
			return value
		}
		return scan.Text([]byte(value))
	}
	all := map[string]*definition{}
	for _, n := range root.Children {
		if n.Name != "w:style" {
			continue
		}
		props := n.Child("w:pPr")
		num := props.Child("w:numPr")
		d := &definition{basedOn: text(n.Child("w:basedOn"), "w:val"), outlineLvl: props.Child("w:outlineLvl"),
			numID: text(num.Child("w:numId"), "w:val"), listLevel: text(num.Child("w:ilvl"), "w:val")}
		d.Name, d.Kind = text(n.Child("w:name"), "w:val"), text(n, "w:type")
		all[text(n, "w:styleId")] = d
	}
	return all
}

// maxStyleDepth is how many styles a style may be based on, one on the other; more are not asked.
const maxStyleDepth = 20

// RelatedPart returns the part that a relationship of that type leads to, or nil.
func RelatedPart(pkg *ooxml.Package, from *ooxml.Part, relType string) (*ooxml.Part, error) {
	rels, err := pkg.Rels(from.Name)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rels, func(r ooxml.Relationship) bool { return r.Type == relType && !r.External })
	if i < 0 {
		return nil, nil
	}
	return pkg.Part(rels[i].Target), nil
}

// MaxID is the largest id that Word takes.
const MaxID = 1<<31 - 2

// IDNumber is the number an id spells; what is none counts as 0.
func IDNumber(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil || n > MaxID {
		return 0
	}
	return n
}
