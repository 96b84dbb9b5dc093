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
	"cmp"
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
	maxChain  = 20      // styles based on one another; others are ignored
	maxKept   = 500_000 // properties in results that are kept for later calls
	maxRead   = 200_000 // properties of styles and list levels that are read, and kept
	maxMerged = 8 << 20 // properties that combining styles may take
)

// ErrLimit means that the styles and lists of a document state too many properties, or take too much work to combine.
var ErrLimit = errors.New("the styles and lists of the document are too complex")

// Sheet has the definitions of formatting of a document: defaults, styles, lists, and theme. It must not be used by several goroutines
// at once.
type Sheet struct {
	Theme Theme

	styles          styles
	lists           lists
	strictHierarchy bool // w:compatSetting overrideTableStyleFontSizeAndJustification
	run, paragraph  Properties

	// Results, and the number of properties in them.
	elements        map[chainKey]Properties
	chains          map[chainKey]Properties
	runs            map[baseKey]Properties
	paragraphs      map[baseKey]Properties
	paragraphStyles map[string]*paragraphStyle
	kept, merged    int

	read int // the number of properties of styles and list levels that were read
}

// Read reads the definitions of formatting of a document. What is not well formed counts as far as it can be read.
func Read(pkg *ooxml.Package, main *ooxml.Part) (*Sheet, error) {
	s := &Sheet{
		elements: map[chainKey]Properties{}, chains: map[chainKey]Properties{}, runs: map[baseKey]Properties{},
		paragraphs: map[baseKey]Properties{}, paragraphStyles: map[string]*paragraphStyle{},
	}
	for _, step := range []struct {
		relType string
		read    func(part []byte) error
	}{
		{names.RelSettings, s.readSettings},
		{names.RelTheme, s.Theme.read},
		{names.RelStyles, s.styles.read},
		{names.RelNumbering, s.lists.readPart},
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

// Err returns ErrLimit if a result is incomplete because of a limit.
func (s *Sheet) Err() error {
	if s.read > maxRead || s.merged > maxMerged {
		return ErrLimit
	}
	return nil
}

// keeps reports whether a result may be kept, and counts it.
func (s *Sheet) keeps(p Properties) bool {
	if s.kept+len(p.list) > maxKept {
		return false
	}
	s.kept += 1 + len(p.list)
	return true
}

// readStated reads the properties that an element of a style or a list level states, within the limit on all of them.
func (s *Sheet) readStated(r *scan.Reader, origin Origin) Properties {
	if s.read > maxRead {
		return Properties{}
	}
	p := stated(r, &s.Theme, origin)
	s.read += len(p.list)
	return p
}

// merge is p.over(base) within the limit on work.
func (s *Sheet) merge(p, base Properties) Properties {
	if s.merged += 1 + len(p.list) + len(base.list); s.merged > maxMerged {
		return Properties{}
	}
	return p.over(base)
}

func (s *Sheet) readSettings(part []byte) error {
	r := scan.New(part)
	for range r.All {
		switch r.Name() {
		case "w:themeFontLang":
			s.Theme.eastAsia, s.Theme.bidi = r.Attr("w:eastAsia"), r.Attr("w:bidi")
		case "w:compatSetting":
			if r.Attr("w:name") == "overrideTableStyleFontSizeAndJustification" {
				s.strictHierarchy = scan.IsOn(r.RawAttr("w:val"))
			}
		}
	}
	return r.LimitErr()
}

// styles are the styles of a document (§17.7.4). Their properties are read when they are needed.
type styles struct {
	r        *scan.Reader // of their part; nil if there is none
	byID     map[string]*style
	standard map[string]string // by kind, the ID of the default style
	defaults map[string][]int  // by element of properties, its position in w:docDefaults
}

// style is a w:style, with the positions of its elements of properties.
type style struct {
	id, name, kind, basedOn string
	parts                   map[partKey][]int
	conditional             bool // it has conditional formats
}

// partKey identifies an element of properties in a style, such as w:rPr, of the whole style or of a conditional format.
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
	return r.LimitErr()
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

// readStyle reads a w:style. Of styles with the same ID, the first counts, of default styles of a kind the last (§17.7.4.17).
func (s *styles) readStyle(root int) {
	r := s.r
	d := &style{id: r.Attr("w:styleId"), kind: cmp.Or(r.Attr("w:type"), "paragraph"), parts: map[partKey][]int{}}
	if s.byID[d.id] != nil {
		return
	}
	s.byID[d.id] = d
	if standard := r.RawAttr("w:default"); len(standard) > 0 && scan.IsOn(standard) {
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

// defaultsOf reads the defaults of the document for an element of properties (§17.7.5).
func (s *styles) defaultsOf(element string, theme *Theme) Properties {
	if s.r == nil || !s.r.Enter(s.defaults[element]...) {
		return Properties{}
	}
	return stated(s.r, theme, Origin{Level: Defaults})
}

// level returns the level of the styles of a kind.
func level(kind string) Level {
	switch kind {
	case "table":
		return TableStyle
	case "character":
		return CharacterStyle
	}
	return ParagraphStyle
}

// chainKey identifies an element of properties in a style.
type chainKey struct {
	id   string
	part partKey
}

// statedBy returns the properties that a style itself states.
func (s *Sheet) statedBy(d *style, part partKey) Properties {
	path := d.parts[part]
	if path == nil {
		return Properties{}
	}
	key := chainKey{d.id, part}
	own, known := s.elements[key]
	if !known {
		if s.styles.r.Enter(path...) {
			own = s.readStated(s.styles.r, Origin{Level: level(d.kind), Style: d.id, Condition: part.condition})
		}
		s.elements[key] = own
	}
	return own
}

// named returns the style of a kind with an ID; if it is missing, the default style of that kind; nil if there is none either.
func (s *Sheet) named(kind, id string) *style {
	if d := s.styles.byID[id]; d != nil && d.kind == kind {
		return d
	}
	if standard, ok := s.styles.standard[kind]; ok {
		return s.styles.byID[standard]
	}
	return nil
}

// basis returns a style after those that it is based on. A style of another kind is not one (§17.7.4.3).
func (s *styles) basis(d *style) []*style {
	var chain []*style
	for base := d; base != nil && base.kind == d.kind && len(chain) < maxChain; base = s.byID[base.basedOn] {
		chain = append(chain, base)
		if base.basedOn == "" {
			break
		}
	}
	slices.Reverse(chain)
	return chain
}

// chain returns the properties that a style and those it is based on state.
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
		all = s.merge(s.statedBy(d, part), all)
	}
	if s.keeps(all) {
		s.chains[key] = all
	}
	return all
}
