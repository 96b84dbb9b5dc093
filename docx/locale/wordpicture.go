package locale

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Numeric pictures of Word (ISO 29500-1 §17.16.4.2). They differ from number formats: each character stands for one place, and there is
// a section for each sign.

// maxSections is the number of sections of a picture: for positive numbers, for negative ones, and for zero.
const maxSections = 3

// wordPicture is a compiled picture.
type wordPicture struct{ sections []wordSection }

// wordSection is the layout of numbers of a sign.
type wordSection struct {
	items       []wordItem
	whole, frac int  // the number of places before and after the decimal point
	grouped     bool // groups of thousands are separated
	drops       bool // digits to the left of the first place are dropped
	signed      bool // an item shows the sign
	optional    bool // all places are #
}

// wordItem is a part of a section: a place ('0', '#', or 'x'), a separator ('.' or ','), a sign ('+' or '-'), or text (0).
type wordItem struct {
	kind byte
	text string
}

func (i wordItem) isPlace() bool     { return i.kind == '0' || i.kind == '#' || i.kind == 'x' }
func (i wordItem) isSeparator() bool { return i.kind == '.' || i.kind == ',' }

// CheckPicture returns the mistake in a numeric picture of Word that no locale can read.
func CheckPicture(picture string) error {
	_, err := Default().compilePicture(picture)
	if err == nil {
		return nil
	}
	for _, tag := range []string{"de", "fr"} { // with a decimal comma, and other groups
		if l, ok := Find(tag); ok {
			if _, other := l.compilePicture(picture); other == nil {
				return nil
			}
		}
	}
	return err
}

// compilePicture reads a picture of Word.
func (l *Locale) compilePicture(text string) (*wordPicture, error) {
	if len(text) > maxPatternBytes {
		return nil, &PatternError{text[:maxPatternBytes], "it is longer than 256 bytes"}
	}
	p, reason := l.readPicture(straightQuotes.Replace(text))
	if reason != "" {
		return nil, &PatternError{text, reason}
	}
	return p, nil
}

var straightQuotes = strings.NewReplacer("‘", "'", "’", "'")

// readPicture returns a picture, or the mistake in it.
func (l *Locale) readPicture(text string) (p *wordPicture, reason string) {
	var sections [][]wordItem
	for more := true; more; {
		var section string
		section, text, more = cutOutsideQuotes(text, ';')
		items, reason := lexSection(section)
		if reason != "" {
			return nil, reason
		}
		sections = append(sections, l.spaceGroups(items))
	}
	if len(sections) > maxSections {
		return nil, "it has more than three sections, which are for positive numbers, negative numbers, and zero"
	}
	point, reason := l.pointOf(sections)
	if reason != "" {
		return nil, reason
	}
	p, places := &wordPicture{}, 0
	for _, items := range sections {
		s := wordSection{}
		if reason := s.layOut(items, point); reason != "" {
			return nil, reason
		}
		p.sections, places = append(p.sections, s), places+s.whole+s.frac
	}
	if places == 0 && strings.ContainsFunc(unquotedText(sections), unicode.IsLetter) {
		return nil, "it shows no digit; write 0 or # where the number is to stand, such as #,##0.00, and text between apostrophes"
	}
	return p, ""
}

// lexSection splits a section into items.
func lexSection(s string) (items []wordItem, reason string) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		rest := s[i+size:]
		item := wordItem{text: s[i : i+size]}
		switch r {
		case '\'':
			end := strings.IndexByte(rest, '\'')
			if end < 0 {
				return nil, "text goes between two apostrophes, and one of them is missing"
			}
			item.text, size = s[i:i+end+2], size+end+1
		case '`':
			return nil, "numbers of captions, between grave accents, are not supported"
		case '0', '#', '+', '-':
			item.kind = byte(r)
		case 'x', 'X':
			if item.kind = 'x'; isLetterAround(s, i) {
				return nil, "the letter x drops digits; put text between apostrophes"
			}
		case '.', ',':
			if next := strings.TrimLeft(rest, ".,"); next != "" && strings.IndexByte("0#xX", next[0]) >= 0 {
				item.kind = byte(r)
			}
		}
		items, i = append(items, item), i+size
	}
	return items, ""
}

// isLetterAround reports whether a letter other than x is next to the x at i.
func isLetterAround(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	isOther := func(r rune) bool { return unicode.IsLetter(r) && r != 'x' && r != 'X' }
	return isOther(before) || isOther(after)
}

// spaceGroups makes separators of the blanks that separate groups in French: # ##0,00.
func (l *Locale) spaceGroups(items []wordItem) []wordItem {
	if !isSpace(l.group) {
		return items
	}
	for i := range items {
		if i == 0 || !items[i-1].isPlace() || items[i].kind != 0 || !isSpace(items[i].text) {
			continue
		}
		if n := placesFrom(items, i+1); n == minGroupDigits {
			items[i].kind = ' '
		}
	}
	return items
}

func isSpace(s string) bool { return s == " " || s == nbsp || s == nnbsp }

// placesFrom returns the number of places in a row.
func placesFrom(items []wordItem, from int) (n int) {
	for from+n < len(items) && items[from+n].isPlace() {
		n++
	}
	return n
}

// layOut reads the items of a section. point is the decimal separator. It returns the mistake in them.
func (s *wordSection) layOut(items []wordItem, point byte) (reason string) {
	first, last := -1, -1
	for i, item := range items {
		if item.isPlace() {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	inFraction, kinds := false, [2]string{} // the places before and after the point
	for i, item := range items {
		switch {
		case item.isPlace() && inFraction:
			s.frac, kinds[1] = s.frac+1, kinds[1]+string(item.kind)
		case item.isPlace():
			s.whole, kinds[0] = s.whole+1, kinds[0]+string(item.kind)
		case item.kind == point && inFraction:
			return "it has two decimal points"
		case item.kind == point:
			inFraction, item.kind = true, '.'
		case item.isSeparator() || item.kind == ' ':
			if inFraction {
				return "it separates groups after the decimal point"
			}
			s.grouped = true
			continue
		case item.kind != 0 && first < i && i < last:
			item.kind = 0
		case item.kind != 0:
			s.signed = true
		default:
			item.text = strings.Trim(item.text, "'")
		}
		s.items = append(s.items, item)
	}
	s.drops, s.optional = strings.HasPrefix(kinds[0], "x"), strings.Trim(kinds[0]+kinds[1], "#") == ""
	return s.mistake(kinds[0], kinds[1])
}

// mistake returns the mistake in the places before and after the decimal point.
func (s *wordSection) mistake(whole, frac string) string {
	switch {
	case strings.Contains(strings.TrimPrefix(whole, "x"), "x"):
		return "before the decimal point, x must be the first place, such as x##"
	case !s.drops && strings.Contains(strings.TrimLeft(whole, "#"), "#"):
		return "before the decimal point, write # before 0, such as #,##0"
	case strings.ContainsAny(strings.TrimLeft(frac, "0x"), "0x"):
		return "after the decimal point, write 0 before #, such as 0.0#"
	case s.frac > maxFraction:
		return "it has more than 100 decimals"
	}
	return ""
}

// unquotedText returns the texts of sections that are not between apostrophes.
func unquotedText(sections [][]wordItem) string {
	var b strings.Builder
	for _, items := range sections {
		for _, item := range items {
			if item.kind == 0 && !strings.HasPrefix(item.text, "'") {
				b.WriteString(item.text)
			}
		}
	}
	return b.String()
}
