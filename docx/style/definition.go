package style

import (
	"cmp"
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
)

// Definition has the name of a style, and the structure that it gives to paragraphs: headings and lists (§17.7.4.17).
type Definition struct {
	Name    string // such as "heading 1"; Word writes the names of its own styles in English and lower case
	Kind    string // "paragraph", "character", "table", "numbering"
	Heading int    // the level, of "heading 1" and the like; 0 for others
	Outline int    // the outline level from 1, of the style or of those that it is based on; 0 if they state none
	List    List   // of the style or of those that it is based on
	Tabs    []Tab  // of the style and of those that it is based on
}

// Tab is a tab stop (§17.3.1.37).
type Tab struct {
	Kind string // such as "left", "right", or "clear", which removes a tab stop
	Pos  int    // in twentieths of a point
}

// List is the list that a paragraph is an item of, and the level of the item. The zero value means no list.
type List struct{ Num, Level string }

// IsHeading reports whether the style's paragraphs are headings, which describe a location.
func (d Definition) IsHeading() bool {
	return d.Heading > 0 || d.Outline > 0 || strings.EqualFold(d.Name, "title")
}

// Definitions returns the definitions of the styles of a document by their ids. A document whose styles exceed a limit of the reader has
// none: its text is readable without them.
func Definitions(pkg *ooxml.Package, main *ooxml.Part) (map[string]Definition, error) {
	part, err := wml.RelatedPart(pkg, main, names.RelStyles)
	if part == nil || err != nil {
		return nil, err
	}
	src, err := pkg.ReadXML(part)
	if err != nil {
		return nil, err
	}
	var s styles
	if err := s.read(src); err != nil {
		return nil, nil //nolint:nilerr // as the comment says
	}
	own := make(map[string]Definition, len(s.byID))
	for id, d := range s.byID {
		own[id] = s.define(d)
	}
	all := make(map[string]Definition, len(own))
	for id, definition := range own {
		for _, base := range slices.Backward(s.basis(s.byID[id])) {
			definition.Outline = cmp.Or(definition.Outline, own[base.id].Outline)
			if definition.List.Num == "" {
				definition.List = own[base.id].List
			}
			definition.Tabs = withTabs(own[base.id].Tabs, definition.Tabs)
		}
		all[id] = definition
	}
	return all, nil
}

// withTabs returns the tab stops of a style that is based on another one.
func withTabs(base, own []Tab) []Tab {
	all := slices.Clone(own)
	for _, t := range base {
		if !slices.ContainsFunc(own, func(o Tab) bool { return o.Pos == t.Pos }) {
			all = append(all, t)
		}
	}
	return all
}

// define returns the definition of a style without those that it is based on.
func (s *styles) define(d *style) Definition {
	definition := Definition{Name: d.name, Kind: d.kind}
	if level, ok := strings.CutPrefix(strings.ToLower(d.name), "heading "); ok {
		definition.Heading = min(wml.IDNumber(level), wml.HeadingLevels)
	}
	if !s.r.Enter(d.parts[partKey{element: "w:pPr"}]...) {
		return definition
	}
	for range s.r.Children {
		switch s.r.Name() {
		case "w:outlineLvl":
			definition.Outline = wml.IDNumber(s.r.Attr("w:val")) + 1
		case "w:tabs":
			for range s.r.Children {
				if s.r.Name() == "w:tab" {
					definition.Tabs = append(definition.Tabs, Tab{s.r.Attr("w:val"), wml.IDNumber(s.r.Attr("w:pos"))})
				}
			}
		case "w:numPr":
			definition.List.Level = "0"
			for range s.r.Children {
				switch s.r.Name() {
				case "w:numId":
					definition.List.Num = s.r.Attr("w:val")
				case "w:ilvl":
					definition.List.Level = cmp.Or(s.r.Attr("w:val"), "0")
				}
			}
		}
	}
	return definition
}
