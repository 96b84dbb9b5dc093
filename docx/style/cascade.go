package style

import "platen/ooxml/scan"

// Stated reads what the element of properties that has just started states, such as w:rPr or w:pPr. It goes to the element's end.
func (s *Sheet) Stated(r *scan.Reader) Properties { return stated(r, &s.Theme, Origin{Level: Direct}) }

// baseKey is what the formatting of text goes by that states nothing itself: the cell it is in and its styles.
type baseKey struct {
	cell                 Cell
	paragraph, character string
}

// Run returns the run properties of text: in a cell, the zero value of which is outside of tables; in a paragraph of a style, ""
// for the default one; with what the run states itself.
func (s *Sheet) Run(in Cell, paragraphStyle string, direct Properties) Properties {
	character, _ := direct.Get("w:rStyle")
	return direct.over(s.runBase(baseKey{in, paragraphStyle, character}))
}

func (s *Sheet) runBase(key baseKey) Properties {
	if known, ok := s.bases[key]; ok {
		return known
	}
	part := partKey{element: "w:rPr"}
	table, paragraph := s.table(key.cell, "w:rPr"), s.chain(s.named("paragraph", key.paragraph), part)
	character := s.chain(s.named("character", key.character), part)
	base := cascade(s.run, table, s.yielding(paragraph, table), character)
	if len(s.bases) < maxCached {
		s.bases[key] = base
	}
	return base
}

// yielding returns paragraph without what yields to the table style. Unless a setting says that the hierarchy is that of the
// standard, a size of 11 or 12 points and an alignment to the left give way to those of the table style where the default paragraph
// style states them ([MS-DOCX] §2.3.1).
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

// Paragraph returns the paragraph properties of a paragraph in a cell with what its w:pPr states itself.
func (s *Sheet) Paragraph(in Cell, direct Properties) Properties {
	id, _ := direct.Get("w:pStyle")
	base := s.paragraphBase(baseKey{cell: in, paragraph: id})
	if num, _ := direct.Get("w:numPr/w:numId"); num != "" {
		// The standard puts the list below the paragraph style. Word does so only for a list that the style names.
		base = s.listProperties(s.listOf(direct, Properties{}, "")).over(base)
	}
	return direct.over(base)
}

func (s *Sheet) paragraphBase(key baseKey) Properties {
	if known, ok := s.paragraphs[key]; ok {
		return known
	}
	table := s.table(key.cell, "w:pPr")
	var own Properties
	for _, d := range s.styles.basis(s.named("paragraph", key.paragraph)) {
		stated := s.statedBy(d, partKey{element: "w:pPr"})
		if num, _ := stated.Get("w:numPr/w:numId"); num != "" {
			own = s.listProperties(s.listOf(Properties{}, stated.over(own), d.id)).over(own)
		}
		own = stated.over(own)
	}
	base := cascade(s.paragraph, table, s.yielding(own, table))
	if len(s.paragraphs) < maxCached {
		s.paragraphs[key] = base
	}
	return base
}

// ParagraphStyle returns the id of the style that a paragraph has: the one that its w:pPr names, or the default one.
func (s *Sheet) ParagraphStyle(direct Properties) string {
	id, _ := direct.Get("w:pStyle")
	if d := s.named("paragraph", id); d != nil {
		return d.id
	}
	return ""
}

// TableProperties returns the properties of a table with what its w:tblPr states itself.
func (s *Sheet) TableProperties(direct Properties) Properties {
	return direct.over(s.table(Cell{style: s.tableStyle(direct)}, "w:tblPr"))
}

// RowProperties returns the properties of the row of a cell with what its w:trPr states itself.
func (s *Sheet) RowProperties(in Cell, direct Properties) Properties {
	return direct.over(s.table(in, "w:trPr"))
}

// CellProperties returns the properties of a cell with what its w:tcPr states itself.
func (s *Sheet) CellProperties(in Cell, direct Properties) Properties {
	return direct.over(s.table(in, "w:tcPr"))
}
