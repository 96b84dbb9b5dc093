// Package style resolves the formatting of Word documents: the effective value of any property of a run, a paragraph, a list number, a
// table, a row, or a cell, and where the value comes from.
//
// It follows the hierarchy of styles in ISO/IEC 29500-1 §17.7.2: the document's defaults, the table style with the conditional formats
// for the cell's position (§17.7.6), the level of the list (§17.9), the paragraph style, the character style, and direct formatting.
// Toggle properties combine as in §17.7.3, and fonts of the theme are resolved (§17.3.2.26). Where Word differs from the standard, the
// package follows Word, and the comment says so.
//
// There are two ways to use it. [Sheet.In] resolves the elements of a tree (docx/wml) by themselves. A reader that streams a part
// reads what the elements state with [Sheet.Stated], follows the tables with [Sheet.Table], and asks [Sheet.Run] and the others.
package style

import (
	"errors"
	"fmt"
	"slices"

	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
	"platen/ooxml/scan"
)

const (
	maxPart   = 16 << 20 // bytes of a part that defines formatting
	maxStyles = 20_000
	maxLists  = 20_000
	// maxChain is how many styles a style is based on, one on the other; more are not read.
	maxChain = 20
	// maxCached is how many results of a kind are kept.
	maxCached = 10_000
)

// Sheet is what a document defines of its formatting: defaults, styles, lists, and theme. It is not for several goroutines at once.
type Sheet struct {
	Theme Theme

	styles          styles
	lists           lists
	strictHierarchy bool // w:compatSetting overrideTableStyleFontSizeAndJustification
	run, paragraph  Properties
	chains          map[chainKey]Properties
	bases           map[baseKey]Properties
	paragraphs      map[baseKey]Properties
}

// Read reads the formatting that a document defines.
func Read(pkg *ooxml.Package, main *ooxml.Part) (*Sheet, error) {
	s := &Sheet{chains: map[chainKey]Properties{}, bases: map[baseKey]Properties{}, paragraphs: map[baseKey]Properties{}}
	for _, step := range []struct {
		relType string
		read    func(part []byte) error
	}{
		{names.RelSettings, s.readSettings}, {names.RelTheme, s.Theme.read}, {names.RelStyles, s.styles.read}, {names.RelNumbering, s.lists.read},
	} {
		part, err := wml.RelatedPart(pkg, main, step.relType)
		if err != nil {
			return nil, err
		}
		if part == nil {
			continue
		}
		if part.Size > maxPart {
			return nil, fmt.Errorf("%s has more than %d bytes", part.Name, maxPart)
		}
		src, err := pkg.Read(part)
		if err == nil {
			err = step.read(src)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.Name, err)
		}
	}
	s.run = s.styles.defaultsOf("w:rPr", &s.Theme)
	s.paragraph = s.styles.defaultsOf("w:pPr", &s.Theme)
	return s, nil
}

// limitOf returns the error of a Reader if it reached a limit. A part that is not well formed counts as far as it could be read.
func limitOf(r *scan.Reader) error {
	if errors.Is(r.Err(), scan.ErrLimit) {
		return r.Err()
	}
	return nil
}

func (s *Sheet) readSettings(part []byte) error {
	r := scan.New(part)
	for range r.All {
		switch r.Name() {
		case "w:themeFontLang":
			s.Theme.eastAsia, s.Theme.bidi = r.Attr("w:eastAsia"), r.Attr("w:bidi")
		case "w:compatSetting":
			if r.Attr("w:name") == "overrideTableStyleFontSizeAndJustification" {
				s.strictHierarchy = isOn(r)
			}
		}
	}
	return limitOf(r)
}

// styles are the styles of a document (§17.7.4). What they state is read when it is needed.
type styles struct {
	r        *scan.Reader // of their part; nil if there is none
	byID     map[string]*style
	ids      []string          // in the order of the part
	standard map[string]string // by kind: the id of the style of what names none
	defaults map[string][]int  // by the element of properties: where it is in w:docDefaults
}

// style is a style as its element has it. It knows where the elements of its properties are.
type style struct {
	id, name, kind, basedOn string
	parts                   map[partKey][]int
	conditional             bool // it has conditional formats
}

// partKey is an element of properties in a style, such as w:rPr, for all of it or for a conditional format.
type partKey struct {
	element   string
	condition Condition
}

func (s *styles) read(part []byte) error {
	s.r = scan.New(part)
	s.byID, s.standard, s.defaults = map[string]*style{}, map[string]string{}, map[string][]int{}
	r := s.r
	r.Next()
	root := r.Start
	for range r.Children {
		switch r.Name() {
		case "w:docDefaults":
			s.readDefaults(root)
		case "w:style":
			if len(s.byID) < maxStyles {
				s.readStyle(root)
			}
		}
	}
	return limitOf(r)
}

func (s *styles) readDefaults(root int) {
	above := []int{root, s.r.Start}
	for range s.r.Children {
		level := s.r.Start
		for range s.r.Children {
			s.defaults[s.r.Name()] = append(above[:2:2], level, s.r.Start)
		}
	}
}

func (s *styles) readStyle(root int) {
	r := s.r
	d := &style{id: r.Attr("w:styleId"), kind: r.Attr("w:type"), parts: map[partKey][]int{}}
	if d.kind == "" {
		d.kind = "paragraph"
	}
	isDefault := r.RawAttr("w:default")
	if _, exists := s.byID[d.id]; !exists {
		s.ids = append(s.ids, d.id)
	}
	s.byID[d.id] = d
	if len(isDefault) > 0 && string(isDefault) != "0" && string(isDefault) != "false" {
		s.standard[d.kind] = d.id
	}
	path := []int{root, r.Start}
	for range r.Children {
		switch name := r.Name(); name {
		case "w:name":
			d.name = r.Attr("w:val")
		case "w:basedOn":
			d.basedOn = r.Attr("w:val")
		case "w:rPr", "w:pPr", "w:tblPr", "w:trPr", "w:tcPr":
			d.parts[partKey{name, 0}] = append(path[:2:2], r.Start)
		case "w:tblStylePr":
			condition, start := conditionOf[r.Attr("w:type")], r.Start
			d.conditional = true
			for range r.Children {
				if condition != 0 {
					d.parts[partKey{r.Name(), condition}] = append(path[:2:2], start, r.Start)
				}
			}
		}
	}
}

// defaultsOf reads the defaults of a kind of properties.
func (s *styles) defaultsOf(element string, theme *Theme) Properties {
	if s.r == nil || !s.r.Enter(s.defaults[element]...) {
		return Properties{}
	}
	return stated(s.r, theme, Origin{Level: Defaults})
}

// level is the one of a style of a kind.
func level(kind string) Level {
	switch kind {
	case "table":
		return TableStyle
	case "character":
		return CharacterStyle
	}
	return ParagraphStyle
}

// statedBy reads what a style itself states.
func (s *Sheet) statedBy(d *style, part partKey) Properties {
	if !s.styles.r.Enter(d.parts[part]...) {
		return Properties{}
	}
	return stated(s.styles.r, &s.Theme, Origin{Level: level(d.kind), Style: d.id, Condition: part.condition})
}

// named returns the style of an id and a kind; the default style of that kind if there is none; nil if there is none either.
func (s *Sheet) named(kind, id string) *style {
	if d := s.styles.byID[id]; d != nil && d.kind == kind {
		return d
	}
	if standard, ok := s.styles.standard[kind]; ok {
		return s.styles.byID[standard]
	}
	return nil
}

// basis returns a style and those it is based on, the last of them first.
func (s *styles) basis(d *style) []*style {
	var chain []*style
	for d != nil && len(chain) < maxChain {
		chain = append(chain, d)
		if d.basedOn == "" {
			break
		}
		d = s.byID[d.basedOn]
	}
	slices.Reverse(chain)
	return chain
}

type chainKey struct {
	id   string
	part partKey
}

// chain returns what a style and those it is based on state together.
func (s *Sheet) chain(d *style, part partKey) Properties {
	if d == nil {
		return Properties{}
	}
	key := chainKey{d.id, part}
	if known, ok := s.chains[key]; ok {
		return known
	}
	var all Properties
	for _, d := range s.styles.basis(d) {
		all = s.statedBy(d, part).over(all)
	}
	if len(s.chains) < maxCached {
		s.chains[key] = all
	}
	return all
}
