package compile

import (
	"regexp"
	"strconv"
	"strings"

	"platen/docx/lang"
)

// The codes of Word's fields as expressions of Platen (ISO 29500-1 §17.16.4 and §17.16.5).

// codeWord is a word of a field's code: an argument, an operator, or a switch such as \*.
type codeWord struct {
	pieces []codePiece // of text and fields
	quoted bool
}

// words splits the code of a field. Quotes and backslashes in text are as in Word: \" is a quote in an argument.
func (f *wordField) words() []codeWord {
	var s codeSplitter
	text := ""
	for _, piece := range f.code {
		if piece.field == nil {
			text += piece.text // which Word may have split anywhere
			continue
		}
		s.text([]rune(text))
		s.field(piece)
		text = ""
	}
	s.text([]rune(text))
	s.end()
	return s.words
}

// codeSplitter splits the code of a field into words.
type codeSplitter struct {
	words    []codeWord
	word     *codeWord // that is being read, or nil
	inQuotes bool
}

// end ends the word.
func (s *codeSplitter) end() {
	if s.word != nil {
		s.words = append(s.words, *s.word)
		s.word = nil
	}
}

// endIf ends the word if there is one that a character cannot be part of.
func (s *codeSplitter) endIf(apart bool) {
	if apart {
		s.end()
	}
}

// add adds a character to the word.
func (s *codeSplitter) add(r rune) {
	if s.word == nil {
		s.word = new(codeWord)
	}
	if n := len(s.word.pieces); n > 0 && s.word.pieces[n-1].field == nil {
		s.word.pieces[n-1].text += string(r)
	} else {
		s.word.pieces = append(s.word.pieces, codePiece{text: string(r)})
	}
}

// field adds a field to the word.
func (s *codeSplitter) field(piece codePiece) {
	s.endIf(s.word != nil && !s.word.quoted && isOperator(s.word.plain()))
	if s.word == nil {
		s.word = new(codeWord)
	}
	s.word.pieces = append(s.word.pieces, piece)
}

func (s *codeSplitter) text(text []rune) {
	for i := 0; i < len(text); i++ {
		switch r := text[i]; {
		case r == '\\' && s.inQuotes && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			s.add(text[i])
		case r == '"' || r == '“' || r == '”':
			s.end()
			if s.inQuotes = !s.inQuotes; s.inQuotes {
				s.word = &codeWord{quoted: true}
			}
		case s.inQuotes:
			s.add(r)
		case r == ' ' || r == '\t' || r == '\u00A0' || r == '\n':
			s.end()
		case strings.ContainsRune("=<>", r):
			s.endIf(s.word != nil && (len(s.word.pieces) > 1 || s.word.pieces[0].field != nil || !isOperator(s.word.plain()+string(r))))
			s.add(r)
		default:
			s.endIf(s.word != nil && isOperator(s.word.plain()))
			s.add(r)
		}
	}
}

// plain returns the text of a word without fields in it.
func (w *codeWord) plain() string {
	var b strings.Builder
	for _, piece := range w.pieces {
		if piece.field == nil {
			b.WriteString(piece.text)
		}
	}
	return b.String()
}

// fieldOperators are the operators of IF in the form of Platen.
var fieldOperators = map[string]string{"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

func isOperator(s string) bool { return fieldOperators[s] != "" }

// expressionOf returns the expression whose value replaces a field. problem says why there is none.
func (c *wordFields) expressionOf(f *wordField) (expr, problem string) {
	switch f.name() {
	case "IF":
		return c.condition(f)
	case "MERGEFIELD", "DOCPROPERTY":
		return c.merged(f, "")
	case "INCLUDEPICTURE":
		return "", "Platen does not read other files; insert an image, and write a tag as its alt text"
	case "ADDRESSBLOCK", "GREETINGLINE", "NEXTIF", "SKIPIF", "MERGEREC", "MERGESEQ", "MERGEBARCODE":
		return "", "Platen does not fill it; write tags instead"
	}
	return "", "Platen does not compute it from merge fields; write tags instead"
}

// textFilters are the filters for the formats of \* that change text, in lower case. Formats without a filter change nothing here.
var textFilters = map[string]string{
	"upper": "uppercase", "lower": "lowercase", "firstcap": "capitalize", "caps": "titlecase", "cardtext": "words", "ordinal": "ordinal",
	"mergeformat": "", "charformat": "", "arabic": "",
}

// merged returns the expression for a field MERGEFIELD or DOCPROPERTY. absent is its value if it is missing; "" means that this is an
// error.
func (c *wordFields) merged(f *wordField, absent string) (expr, problem string) {
	words := f.words()
	if len(words) < 2 {
		return "", "it names no value"
	}
	expr = c.pathOf(words[1].plain())
	if expr == "" {
		return "", "its name has a backquote"
	}
	if f.name() == "DOCPROPERTY" { // the field stays without a value
		absent = `""`
	}
	filters, before, after := "", "", ""
	for i := 2; i < len(words); i++ {
		argument := ""
		if i+1 < len(words) {
			argument = words[i+1].plain()
		}
		switch option := strings.ToLower(words[i].plain()); option {
		case `\*`:
			filter, known := textFilters[strings.ToLower(argument)]
			if !known {
				return "", `the format \* ` + argument + " is not supported"
			}
			if filter != "" {
				filters += " :: " + filter
			}
			i++
		case `\#`:
			format, problem := numberFormat(argument)
			if problem != "" {
				return "", problem
			}
			filters += " :: format(" + quoted(format) + ")"
			i++
		case `\@`:
			filters += " :: date(" + quoted(wordDate(argument)) + ")"
			i++
		case `\b`:
			before = argument
			i++
		case `\f`:
			after = argument
			i++
		case `\m`, `\v`:
		default:
			return "", "its option " + option + " is not supported"
		}
	}
	if c.hasNext && absent == "" { // there may be fewer records than fields
		absent = `""`
	}
	if before+after != "" {
		return "$if(" + expr + ", $string(" + quoted(before) + ", " + expr + filters + ", " + quoted(after) + `), "")`, ""
	}
	if absent != "" {
		filters = " :: default(" + absent + ")" + filters
	}
	return expr + filters, ""
}

// shortGroups matches the digits of a numeric picture that begin with a comma, which there groups thousands.
var shortGroups = regexp.MustCompile(`(^|[^#0.,]),([#0]+)`)

// numberFormat returns the number format of a numeric picture (§17.16.4.2), or why there is none. In a picture, % is only text, and a comma
// anywhere groups thousands.
func numberFormat(picture string) (format, problem string) {
	if strings.Count(picture, ";") > 1 {
		return "", `the numeric picture ` + picture + " has a section for zero, which is not supported; use IF"
	}
	format = shortGroups.ReplaceAllStringFunc(picture, func(digits string) string {
		at := strings.IndexByte(digits, ',')
		whole := digits[at+1:]
		return digits[:at] + "#," + strings.Repeat("#", max(3-len(whole), 0)) + whole
	})
	if !strings.Contains(format, "'") {
		format = strings.ReplaceAll(format, "%", "'%'")
	}
	return format, ""
}

// pathOf returns the path of a merge field, which may have dots; "" if there is none.
func (c *wordFields) pathOf(name string) string {
	if name == "" || strings.Contains(name, "`") {
		return ""
	}
	path := ""
	if c.hasNext {
		path = records + "[" + strconv.Itoa(c.record) + "]."
	}
	return path + "`" + strings.ReplaceAll(name, ".", "`.`") + "`"
}

// condition returns the expression for a field IF.
func (c *wordFields) condition(f *wordField) (expr, problem string) {
	words := f.words()
	if len(words) < 5 {
		return "", "its condition is not complete"
	}
	operator := fieldOperators[words[2].plain()]
	if operator == "" {
		return "", "its operator " + words[2].plain() + " is unknown"
	}
	absent := `""`
	if _, err := strconv.ParseFloat(words[3].plain(), 64); err == nil && len(words[3].pieces) == 1 {
		absent = "0"
	}
	left, problem := c.operand(&words[1], absent)
	if problem != "" {
		return "", problem
	}
	right, problem := c.operand(&words[3], absent)
	if problem != "" {
		return "", problem
	}
	test := left + " " + operator + " " + right
	if pattern := words[3].plain(); strings.ContainsAny(pattern, "*?") && (operator == "==" || operator == "!=") && len(words[3].pieces) == 1 {
		test = left + " matches " + quoted(wildcard(pattern))
		if operator == "!=" {
			test = "not (" + test + ")"
		}
	}
	results := []string{test}
	for i := 4; i < min(len(words), 6); i++ {
		result, problem := c.operand(&words[i], `""`)
		if problem != "" {
			return "", problem
		}
		results = append(results, result)
	}
	return "$if(" + strings.Join(results, ", ") + ")", ""
}

// operand returns the expression for a word of the code of IF. absent is the value of a missing field in it.
func (c *wordFields) operand(w *codeWord, absent string) (expr, problem string) {
	var parts []string
	for _, piece := range w.pieces {
		switch {
		case piece.field == nil:
			if _, err := strconv.ParseFloat(piece.text, 64); err == nil && !w.quoted && len(w.pieces) == 1 {
				return piece.text, ""
			}
			parts = append(parts, quoted(piece.text))
		case piece.field.name() == "MERGEFIELD":
			expr, problem := c.merged(piece.field, absent)
			if problem != "" {
				return "", problem
			}
			parts = append(parts, "("+expr+")")
		case piece.field.name() == "IF":
			expr, problem := c.condition(piece.field)
			if problem != "" {
				return "", problem
			}
			parts = append(parts, expr)
		default:
			return "", "the field " + piece.field.name() + " in it is not supported"
		}
	}
	switch len(parts) {
	case 0:
		return `""`, ""
	case 1:
		return parts[0], ""
	}
	return "$string(" + strings.Join(parts, ", ") + ")", ""
}

// wildcard returns the regular expression for a text with * and ?.
func wildcard(s string) string {
	return "^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(s)) + "$"
}

// wordDate returns the pattern of a date in the letters of Platen: in Word, ddd and dddd are names of days.
func wordDate(pattern string) string {
	if strings.Contains(strings.ToUpper(pattern), "AM/PM") { // which date knows too
		return pattern
	}
	return strings.NewReplacer("dddd", "EEEE", "ddd", "EEE", "DDDD", "EEEE", "DDD", "EEE").Replace(pattern)
}

// quoted returns a literal string of the language.
func quoted(s string) string { return (&lang.Literal{Value: s}).String() }
