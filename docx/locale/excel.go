package locale

import (
	"regexp"
	"strings"
)

// excelCode matches the codes of Excel in number formats that have no meaning here: colors, also in the languages in which Excel shows
// them, conditions, and currencies. Other text in brackets, such as [net], is text.
var excelCode = regexp.MustCompile(`(?i)\[(black|blue|cyan|green|magenta|red|white|yellow|colou?r ?\d+|` +
	`schwarz|blau|grün|rot|weiss|weiß|gelb|farbe ?\d+|noir|bleu|vert|rouge|blanc|jaune|couleur ?\d+|` +
	`negro|azul|verde|rojo|blanco|amarillo|[<>=]+ ?-?[\d.,]+|\$[^\]]*)\]`)

// ExcelCode returns what is wrong with a number format that has a code of Excel outside of apostrophes, or "".
func ExcelCode(format string) string {
	if !strings.Contains(format, "[") { // as nearly always
		return ""
	}
	for i, text := range strings.Split(format, "'") {
		if i%2 > 0 { // between apostrophes
			continue
		}
		code := excelCode.FindString(text)
		switch {
		case code == "":
		case code[1] == '$':
			return code + " is a code of Excel; write the sign of the currency itself, or the filter currency(\"EUR\")"
		case strings.ContainsAny(code, "<>="):
			return code + " is a code of Excel; write $if(condition, value, otherwise) to choose a format"
		default:
			return code + " is a code of Excel; for a color, write the filter color, as in {{total :: color(\"red\", total < 0)}}, " +
				"and put text between apostrophes"
		}
	}
	return ""
}
