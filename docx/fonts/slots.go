package fonts

import (
	"strings"

	"platen/docx/style"
)

// fontOf returns the font of a run that applies to a character (ISO 29500-1 §17.3.2.26, with the details in [MS-OI29500] 2.1.88).
func (f *format) fontOf(r rune) *Asked {
	if f.complex {
		return f.fonts[style.ComplexScript]
	}
	slot := f.slotOf(r)
	east := f.fonts[style.EastAsia]
	if slot == style.EastAsia && east != nil && f.fonts[style.ASCII] == f.fonts[style.HighANSI] && fold(east.Name) == "timesnewroman" {
		slot = style.ASCII
	}
	return f.fonts[slot]
}

func (f *format) slotOf(r rune) style.Slot {
	if r < 0x80 {
		return style.ASCII
	}
	block := blockOf(r)
	if f.hint != "eastAsia" {
		return block.slot
	}
	switch {
	case block.hinted, r <= 0xFF && strings.ContainsRune(hintedLatin, r):
		return style.EastAsia
	case block.hintedChinese, r <= 0xFF && strings.ContainsRune(hintedPinyin, r):
		if strings.HasPrefix(f.language, "zh") {
			return style.EastAsia
		}
	}
	return block.slot
}

// hintedLatin has the characters of Latin-1 that East Asian fonts contain too, and hintedPinyin the letters that only Pinyin needs.
const (
	hintedLatin  = "¡¤§¨ª\u00AD¯°±²³´¶·¸¹º¼½¾¿×÷"
	hintedPinyin = "àáèéêìíòóùúü"
)

// block is a row of the table in [MS-OI29500], which ends where the next row begins.
type block struct {
	first         rune
	slot          style.Slot
	hinted        bool // a hint selects the East Asian font
	hintedChinese bool // a hint selects the East Asian font in Chinese text
}

var blocks = []block{
	{first: 0x0080, slot: style.HighANSI},
	{first: 0x0100, slot: style.HighANSI, hintedChinese: true}, // Latin Extended, IPA
	{first: 0x02B0, slot: style.HighANSI, hinted: true},        // modifiers, marks, Greek, Cyrillic
	{first: 0x0500, slot: style.HighANSI},
	{first: 0x0590, slot: style.ASCII}, // Hebrew, Arabic, Syriac, Thaana
	{first: 0x07C0, slot: style.HighANSI},
	{first: 0x1100, slot: style.EastAsia}, // Hangul Jamo
	{first: 0x1200, slot: style.HighANSI},
	{first: 0x1E00, slot: style.HighANSI, hintedChinese: true}, // Latin Extended Additional
	{first: 0x1F00, slot: style.HighANSI},
	{first: 0x2000, slot: style.HighANSI, hinted: true}, // punctuation to dingbats
	{first: 0x27C0, slot: style.HighANSI},
	{first: 0x2E80, slot: style.EastAsia}, // radicals to Yi
	{first: 0xA4D0, slot: style.HighANSI},
	{first: 0xAC00, slot: style.EastAsia}, // Hangul
	{first: 0xD7B0, slot: style.HighANSI},
	{first: 0xD800, slot: style.EastAsia},
	{first: 0xE000, slot: style.HighANSI, hinted: true}, // private use
	{first: 0xF900, slot: style.EastAsia},               // compatibility ideographs
	{first: 0xFB00, slot: style.HighANSI, hinted: true}, // Latin and Armenian ligatures
	{first: 0xFB1D, slot: style.ASCII},                  // Hebrew and Arabic presentation forms
	{first: 0xFE00, slot: style.HighANSI},
	{first: 0xFE30, slot: style.EastAsia}, // vertical forms and small form variants
	{first: 0xFE70, slot: style.ASCII},    // Arabic presentation forms
	{first: 0xFEFF, slot: style.EastAsia}, // half-width and full-width forms
	{first: 0xFFF0, slot: style.HighANSI},
	{first: 0x10000, slot: style.EastAsia}, // two UTF-16 units
}

func blockOf(r rune) block {
	low, high := 0, len(blocks)
	for high-low > 1 {
		if middle := (low + high) / 2; blocks[middle].first <= r {
			low = middle
		} else {
			high = middle
		}
	}
	return blocks[low]
}
