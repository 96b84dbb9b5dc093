package chart

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"platen/ooxml/names"
)

const (
	sheetName     = "Sheet1" // of the only sheet of a workbook
	generalFormat = "General"
	header        = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
)

// sheet is the sheet of a workbook: the first column has the categories, and each other column a series, with its name in the first row.
type sheet struct {
	columns  []column
	from1904 bool // the numbers of dates count from then
}

type column struct {
	name    string
	values  []string
	format  string // of numbers
	numeric bool
}

func (c *column) set(values []string, format string, numeric bool) {
	c.values, c.format, c.numeric = values, format, numeric
}

// cells names a range of cells of the workbook: of a column from 0, between two rows from 1.
func cells(column, from, to int) string {
	if from == to {
		return fmt.Sprintf("%s!$%s$%d", sheetName, columnName(column), from)
	}
	return fmt.Sprintf("%s!$%s$%d:$%s$%d", sheetName, columnName(column), from, columnName(column), to)
}

func columnName(column int) string {
	name := ""
	for column++; column > 0; column = (column - 1) / 26 {
		name = string(rune('A'+(column-1)%26)) + name
	}
	return name
}

// formats are the number formats of the columns, each once.
func (s *sheet) formats() []string {
	all := []string{generalFormat}
	for i := range s.columns {
		if c := &s.columns[i]; c.numeric && !slices.Contains(all, c.format) {
			all = append(all, c.format)
		}
	}
	return all
}

// workbook returns an Excel workbook (.xlsx) of the sheet.
func (s *sheet) workbook() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	types, rels := root("Types", "ct"), root("Relationships", "rel")
	for _, part := range [][2]string{
		{
			"[Content_Types].xml", types + `<Default Extension="rels" ContentType="` + names.TypeRelationships + `"/>` +
				`<Default Extension="xml" ContentType="application/xml"/>` +
				`<Override PartName="/xl/workbook.xml" ContentType="` + names.TypeWorkbookMain + `"/>` +
				`<Override PartName="/xl/styles.xml" ContentType="` + names.TypeSheetStyles + `"/>` +
				`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + names.TypeWorksheet + `"/></Types>`,
		},
		{"_rels/.rels", rels + relationship(1, names.RelOfficeDocument, "xl/workbook.xml") + `</Relationships>`},
		{
			"xl/workbook.xml", `<workbook xmlns="` + names.Namespace("x", false) + `" xmlns:r="` + names.Namespace("r", false) + `">` +
				s.properties() + `<sheets><sheet name="` + sheetName + `" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		},
		{
			"xl/_rels/workbook.xml.rels", rels + relationship(1, names.RelWorksheet, "worksheets/sheet1.xml") +
				relationship(2, names.RelStyles, "styles.xml") + `</Relationships>`,
		},
		{"xl/styles.xml", s.styles()},
		{"xl/worksheets/sheet1.xml", s.xml()},
	} {
		w, err := z.Create(part[0])
		if err != nil {
			return nil, fmt.Errorf("cannot get a new workbook: %w", err)
		}
		if _, err := w.Write([]byte(header + part[1])); err != nil {
			return nil, fmt.Errorf("cannot get a new workbook: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("cannot get a new workbook: %w", err)
	}
	return out.Bytes(), nil
}

// root returns the start tag of a part whose elements have no prefix.
func root(name, namespace string) string {
	return `<` + name + ` xmlns="` + names.Namespace(namespace, false) + `">`
}

func relationship(id int, relType, target string) string {
	return fmt.Sprintf(`<Relationship Id="rId%d" Type="%s" Target="%s"/>`, id, relType, target)
}

// properties returns the element with the epoch of dates.
func (s *sheet) properties() string {
	if s.from1904 {
		return `<workbookPr date1904="1"/>`
	}
	return ""
}

// firstFormat is the first id for a custom number format of a workbook (ISO 29500-1 §18.8.30).
const firstFormat = 164

// styles is the part with the number formats, the style of each having its place among them.
func (s *sheet) styles() string {
	formats := s.formats()
	var numbers, styles strings.Builder
	for i, format := range formats {
		id := 0
		if i > 0 {
			id = firstFormat + i
			fmt.Fprintf(&numbers, `<numFmt numFmtId="%d" formatCode="%s"/>`, id, escape(format))
		}
		fmt.Fprintf(&styles, `<xf numFmtId="%d" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`, id)
	}
	own := ""
	if len(formats) > 1 {
		own = fmt.Sprintf(`<numFmts count="%d">%s</numFmts>`, len(formats)-1, numbers.String())
	}
	return root("styleSheet", "x") + own +
		`<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		fmt.Sprintf(`<cellXfs count="%d">%s</cellXfs>`, len(formats), styles.String()) +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
}

// xml is the part of the sheet.
func (s *sheet) xml() string {
	formats, rows := s.formats(), 0
	var b strings.Builder
	b.WriteString(root("worksheet", "x") + `<sheetData><row r="1">`)
	for i := range s.columns {
		b.WriteString(textCell(i, 1, s.columns[i].name))
		rows = max(rows, len(s.columns[i].values))
	}
	b.WriteString("</row>")
	for row := range rows {
		fmt.Fprintf(&b, `<row r="%d">`, row+2)
		for i := range s.columns {
			switch c := &s.columns[i]; {
			case row >= len(c.values) || c.values[row] == "":
			case c.numeric:
				fmt.Fprintf(&b, `<c r="%s%d" s="%d"><v>%s</v></c>`, columnName(i), row+2, slices.Index(formats, c.format), escape(c.values[row]))
			default:
				b.WriteString(textCell(i, row+2, c.values[row]))
			}
		}
		b.WriteString("</row>")
	}
	b.WriteString("</sheetData></worksheet>")
	return b.String()
}

func textCell(column, row int, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(`<c r="%s%d" t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, columnName(column), row, escape(text))
}
