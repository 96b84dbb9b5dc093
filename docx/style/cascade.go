package style

import "platen/ooxml/scan"

// Stated reads the properties that the element of the last start tag states, such as w:rPr or w:pPr. It moves r to the element's end.
func (s *Sheet) Stated(r *scan.Reader) Properties { return stated(r, &s.Theme, Origin{Level: Direct}) }

// baseKey determines the formatting of text that states nothing itself: the cell it is in, and its styles.
type baseKey struct {
	cell                 Cell
	paragraph, character string
	unlisted             bool // without the list of the paragraph style
}

// Run returns the run properties of text in a cell, in a paragraph of a style ("" for the default style), with the properties that the
// run states itself.
func (s *Sheet) Run(in Cell, paragraphStyle string, direct Properties) Properties {
	character, _ := direct.Get("w:rStyle")
	return direct.over(s.runBase(baseKey{cell: in, paragraph: paragraphStyle, character: character}))
}

func (s *Sheet) runBase(key baseKey) Properties {
	if known, ok := s.runs[key]; ok {
		return known
	}
	part := partKey{element: "w:rPr"}
	table, paragraph := s.table(key.cell, "w:rPr"), s.chain(s.named("paragraph", key.paragraph), part)
	character := s.chain(s.named("character", key.character), part)
	base := cascade(s.run, table, s.yielding(paragraph, table), character)
	if s.keeps(base) {
		s.runs[key] = base
	}
	return base
}

// yielding returns the properties of a paragraph style without those that yield to the table style. A size of 11 or 12 points and an
// alignment to the left yield if the default paragraph style states them, unless a setting asks for the hierarchy of the standard
// ([MS-DOCX], overrideTableStyleFontSizeAndJustification).
func (s *Sheet) yielding(paragraph, table Properties) Properties {
	if s.strictHierarchy || len(table.list) == 0 {
		return paragraph
	}
	standard := s.styles.standard["paragraph"]
	return paragraph.without(func(p *property) bool {
		if p.origin.Style != standard || !table.states(p.unit) {
			return false
		}
		switch p.name {
		case "w:sz", "w:szCs":
			return p.value == "22" || p.value == "24"
		case "w:jc":
			return p.value == "left" || p.value == "start"
		}
		return false
	})
}

// Paragraph returns the paragraph properties of a paragraph in a cell, with the properties that its w:pPr states itself. A list that the
// w:pPr names overrides the paragraph style and its list (§17.7.2).
func (s *Sheet) Paragraph(in Cell, direct Properties) Properties {
	id, _ := direct.Get("w:pStyle")
	key := baseKey{cell: in, paragraph: id, unlisted: namesList(direct)}
	base := s.paragraphBase(key)
	if key.unlisted {
		base = s.Level(direct).properties().over(base)
	}
	return direct.over(base)
}

func (s *Sheet) paragraphBase(key baseKey) Properties {
	if known, ok := s.paragraphs[key]; ok {
		return known
	}
	own := s.paragraphStyle(s.named("paragraph", key.paragraph))
	styled := own.listed
	if key.unlisted {
		styled = own.plain
	}
	table := s.table(key.cell, "w:pPr")
	base := cascade(s.paragraph, table, s.yielding(styled, table))
	if s.keeps(base) {
		s.paragraphs[key] = base
	}
	return base
}

// ParagraphStyle returns the ID of the style of a paragraph: the one that its w:pPr names, or the default style, as in Word, if that is
// missing.
func (s *Sheet) ParagraphStyle(direct Properties) string {
	id, _ := direct.Get("w:pStyle")
	if d := s.named("paragraph", id); d != nil {
		return d.id
	}
	return ""
}

// TableProperties returns the properties of a table, with those that its w:tblPr states itself.
func (s *Sheet) TableProperties(direct Properties) Properties {
	return direct.over(s.table(Cell{style: s.tableStyle(direct)}, "w:tblPr"))
}

// RowProperties returns the properties of the row of a cell, with those that its w:trPr states itself.
func (s *Sheet) RowProperties(in Cell, direct Properties) Properties {
	in.conditions &= WholeTable | OddRows | EvenRows | FirstRow | LastRow
	return direct.over(s.table(in, "w:trPr"))
}

// CellProperties returns the properties of a cell, with those that its w:tcPr states itself.
func (s *Sheet) CellProperties(in Cell, direct Properties) Properties {
	return direct.over(s.table(in, "w:tcPr"))
}
