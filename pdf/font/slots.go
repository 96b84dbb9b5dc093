package font

import "strings"

// fontOf is the font of a run that a character is set in (ISO 29500-1 §17.3.2.26, and what [MS-OI29500] 2.1.88 says of it).
func (p *runProperties) fontOf(r rune) *asked {
	if p.complex {
		return p.fonts[complexScript]
	}
	s := p.slotOf(r)
	east := p.fonts[eastAsia]
	if s == eastAsia && east != nil && p.fonts[ascii] == p.fonts[hAnsi] && fold(east.name) == "timesnewroman" {
		s = ascii
	}
	return p.fonts[s]
}

func (p *runProperties) slotOf(r rune) slot {
	if r < 0x80 {
		return ascii
	}
	block := blockOf(r)
	if p.hint != "eastAsia" {
		return block.slot
	}
	switch {
	case block.hinted, r <= 0xFF && strings.ContainsRune(hintedLatin, r):
		return eastAsia
	case block.hintedChinese, r <= 0xFF && strings.ContainsRune(hintedPinyin, r):
		if strings.HasPrefix(p.lang, "zh") {
			return eastAsia
		}
	}
	return block.slot
}

// Signs and letters of Latin-1 that East Asian fonts have as well, and those of them that Pinyin needs.
const (
	hintedLatin  = "¡¤§¨ª\u00AD¯°±²³´¶·¸¹º¼½¾¿×÷"
	hintedPinyin = "àáèéêìíòóùúü"
)

// block is a row of the table in [MS-OI29500]: from its first character to the next row's.
type block struct {
	first         rune
	slot          slot
	hinted        bool // a hint makes it East Asian
	hintedChinese bool // a hint does so in Chinese
}

var blocks = []block{
	{first: 0x0080, slot: hAnsi},
	{first: 0x0100, slot: hAnsi, hintedChinese: true}, // Latin Extended, IPA
	{first: 0x02B0, slot: hAnsi, hinted: true},        // modifiers, marks, Greek, Cyrillic
	{first: 0x0500, slot: hAnsi},
	{first: 0x0590, slot: ascii}, // Hebrew, Arabic, Syriac, Thaana
	{first: 0x07C0, slot: hAnsi},
	{first: 0x1100, slot: eastAsia}, // Hangul Jamo
	{first: 0x1200, slot: hAnsi},
	{first: 0x1E00, slot: hAnsi, hintedChinese: true}, // Latin Extended Additional
	{first: 0x1F00, slot: hAnsi},
	{first: 0x2000, slot: hAnsi, hinted: true}, // punctuation to dingbats
	{first: 0x27C0, slot: hAnsi},
	{first: 0x2E80, slot: eastAsia}, // radicals to Yi
	{first: 0xA4D0, slot: hAnsi},
	{first: 0xAC00, slot: eastAsia}, // Hangul
	{first: 0xD7B0, slot: hAnsi},
	{first: 0xD800, slot: eastAsia},
	{first: 0xE000, slot: hAnsi, hinted: true}, // private use
	{first: 0xF900, slot: eastAsia},            // compatibility ideographs
	{first: 0xFB00, slot: hAnsi, hinted: true}, // ligatures of Latin and Armenian
	{first: 0xFB1D, slot: ascii},               // forms of Hebrew and Arabic
	{first: 0xFE00, slot: hAnsi},
	{first: 0xFE30, slot: eastAsia}, // forms for vertical text and of other widths
	{first: 0xFE70, slot: ascii},    // forms of Arabic
	{first: 0xFEFF, slot: eastAsia}, // full and half width
	{first: 0xFFF0, slot: hAnsi},
	{first: 0x10000, slot: eastAsia}, // what takes two units of UTF-16
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
