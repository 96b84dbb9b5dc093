package richtext

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// listLevels is the number of levels of a list in Word (ISO 29500-1 §17.9.6).
	listLevels = 9
	// listIndent is the indentation of each level, and hanging that of the mark to the left, in twentieths of a point.
	listIndent = 720
	hanging    = 360
)

// List has the properties of the marks of a list.
type List struct {
	Format string // as w:numFmt names it: "bullet", "decimal", "lowerLetter", "upperRoman", …, "none"
	Bullet string // the mark; "" for the usual one of the level
	Start  int    // the first number
	Level  int    // the number of lists around it, up to 8
}

// Numbered reports whether the items have numbers, so that another list must be another w:num.
func (l List) Numbered() bool { return l.Format != "bullet" && l.Format != "none" }

// Key is the same for lists whose levels look the same.
func (l List) Key() string { return l.Format + l.Bullet }

// usualBullets are the marks of the levels.
var usualBullets = []string{"•", "◦", "▪"}

// AppendLevels appends the w:lvl of all levels, for a w:abstractNum.
func (l List) AppendLevels(dst []byte, prefix string, strict bool) []byte {
	left := "left"
	if strict {
		left = "start"
	}
	for i := range listLevels {
		mark := "%" + strconv.Itoa(i+1) + "."
		switch {
		case l.Format == "none":
			mark = ""
		case l.Bullet != "":
			mark = l.Bullet
		case l.Format == "bullet":
			mark = usualBullets[i%len(usualBullets)]
		}
		dst = fmt.Appendf(dst, `<%[1]slvl %[1]silvl="%[2]d"><%[1]sstart %[1]sval="1"/><%[1]snumFmt %[1]sval="%[3]s"/><%[1]slvlText `+
			`%[1]sval="%[4]s"/>`+
			`<%[1]slvlJc %[1]sval="%[5]s"/><%[1]spPr><%[1]sind %[1]s%[5]s="%[6]d" %[1]shanging="%[7]d"/></%[1]spPr></%[1]slvl>`,
			prefix, i, l.Format, mark, left, listIndent*(i+1), hanging)
	}
	return dst
}

// mark is the mark of the item with that number, where a list is only text.
func (l List) mark(n int) string {
	switch l.Format {
	case "none":
		return ""
	case "bullet":
		if l.Bullet != "" {
			return l.Bullet
		}
		return usualBullets[0]
	}
	return FormatNumber(n, l.Format) + "."
}

// FormatNumber returns a number in a format of lists (ISO 29500-1 §17.18.59): letters, Roman, or else Arabic numerals. It is empty for
// "none".
func FormatNumber(n int, format string) string {
	switch format {
	case "none":
		return ""
	case "lowerLetter":
		return strings.ToLower(letters(n))
	case "upperLetter":
		return letters(n)
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "decimalZero":
		return fmt.Sprintf("%02d", n)
	}
	return strconv.Itoa(n)
}

// letters counts A to Z, then AA, BB, … as Word does.
func letters(n int) string {
	if n < 1 {
		return strconv.Itoa(n)
	}
	const most = 10
	return strings.Repeat(string(rune('A'+(n-1)%26)), min((n-1)/26+1, most))
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	values := []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}
	signs := []string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}
	var b strings.Builder
	for i, value := range values {
		for ; n >= value; n -= value {
			b.WriteString(signs[i])
		}
	}
	return b.String()
}
