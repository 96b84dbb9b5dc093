package fonts

import (
	"platen/docx/style"
)

// format is the formatting of text that determines its font.
type format struct {
	fonts           [style.Slots]*Asked
	hidden, capital bool
	complex         bool   // the text is in a complex script, or right to left
	hint            string // the font for ambiguous characters
	language        string // of East Asian text
	cell            style.Cell
	paragraph       string // ID of the paragraph style
}

// formatKey determines the format of text without formatting of its own.
type formatKey struct {
	cell      style.Cell
	paragraph string
}

// maxFormats is the maximum number of formats of a kind that are cached.
const maxFormats = 10_000

// format returns the format of text in paragraphs of a style in a cell.
func (d *reader) format(cell style.Cell, paragraph string) *format {
	key := formatKey{cell, paragraph}
	if f := d.formats[key]; f != nil {
		return f
	}
	f := d.formatOf(d.sheet.Run(cell, paragraph, style.Properties{}))
	f.cell, f.paragraph = cell, paragraph
	if len(d.formats) < maxFormats {
		d.formats[key] = f
	}
	return f
}

// formatOf returns the format that run properties define.
func (d *reader) formatOf(p style.Properties) *format {
	f := &format{
		hidden: p.On("w:vanish"), capital: p.On("w:caps") || p.On("w:smallCaps"), complex: p.On("w:cs") || p.On("w:rtl"),
	}
	for slot := range style.Slots {
		name, _ := d.sheet.Font(p, slot)
		f.fonts[slot] = d.font(name)
	}
	f.hint, _ = p.Get("w:rFonts/@w:hint")
	f.language, _ = p.Get("w:lang/@w:eastAsia")
	return f
}
