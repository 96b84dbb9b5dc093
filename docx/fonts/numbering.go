package fonts

import (
	"strconv"
	"strings"

	"platen/docx/style"
)

// numberKey identifies the appearance of a paragraph's number: its level, and the format around it. It does not apply if the paragraph's
// mark states properties.
type numberKey struct {
	level  string
	format *format
}

// number records the characters of a paragraph's number or bullet.
func (d *reader) number(f *format, l *style.ListLevel, mark style.Properties) {
	key := numberKey{l.ID, f}
	plain := mark.IsZero()
	if plain && d.numbers[key] {
		return
	}
	if plain && len(d.numbers) < maxFormats {
		d.numbers[key] = true
	}
	looks := d.formatOf(d.sheet.Number(f.cell, f.paragraph, mark, l))
	if !looks.hidden {
		d.note(looks, []byte(symbol(l)))
	}
}

// symbol returns the characters of a level: its text, with all digits that numbers may contain in place of %1 to %9. It does not know how
// numbers are spelled out in a language.
func symbol(l *style.ListLevel) string {
	if l.Format == "none" {
		return ""
	}
	if l.Format == "bullet" {
		return l.Text
	}
	text, numbers := l.Text, ""
	for i := range 9 {
		number := "%" + strconv.Itoa(i+1)
		if strings.Contains(text, number) {
			text, numbers = strings.ReplaceAll(text, number, ""), numerals(l.Format)
		}
	}
	return text + numbers
}

func numerals(format string) string {
	switch format {
	case "lowerRoman":
		return "ivxlcdm"
	case "upperRoman":
		return "IVXLCDM"
	case "lowerLetter":
		return "abcdefghijklmnopqrstuvwxyz"
	case "upperLetter":
		return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	}
	return "0123456789"
}
