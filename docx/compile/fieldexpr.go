package compile

import (
	"regexp"
	"strconv"
	"strings"

	"platen/docx/lang"
)

// Fields of Word as expressions of Platen (ISO 29500-1 §17.16.5).

// maxFieldDepth is the largest number of fields in each other that become an expression.
const maxFieldDepth = 30

// blankText is the literal of the empty text.
const blankText = `""`

// tooLong is the problem of a code that is longer than maxFieldCode, or whose expression is longer than a tag may be.
const tooLong = "its code is too long"

// expressionOf returns the expression whose value replaces a field. problem says why there is none.
func (c *wordFields) expressionOf(f *wordField) (expr, problem string) { return c.nested(f, "") }

// nested returns the expression for a field. absent is the value of a missing merge field in it; "" means that this is an error.
func (c *wordFields) nested(f *wordField, absent string) (expr, problem string) {
	if c.depth++; c.depth > maxFieldDepth {
		return "", "more than " + strconv.Itoa(maxFieldDepth) + " fields are in each other"
	}
	defer func() { c.depth-- }()
	if f.isLong() {
		return "", tooLong
	}
	words := f.words()
	switch kind := f.name(); {
	case f.isTag():
		return tagExpression(kind)
	case kind == "=":
		return c.formula(f)
	case kind == "MERGEREC" || kind == "MERGESEQ":
		return c.recordNumber(words)
	case kind == "MERGEFIELD" || kind == "DOCPROPERTY":
		return c.merged(f, absent)
	case kind == "IF":
		return c.choice(words)
	case kind == "COMPARE":
		return c.comparison(words)
	case kind == "QUOTE":
		return c.quote(words, absent)
	case c.variableOf(f) != "":
		return c.reference(f)
	}
	return "", problemOf(f.name())
}

// problemOf says why a field is not filled.
func problemOf(kind string) string {
	switch kind {
	case "INCLUDEPICTURE":
		return "Platen does not read other files; insert an image, and write a tag as its alt text"
	case "ASK", "FILLIN":
		return "Platen does not ask for input; write a tag for the answer"
	case "NEXTIF", "SKIPIF":
		return "Platen does not choose records; leave them out of the data, or write {{for}} and {{if}}"
	case "ADDRESSBLOCK", "GREETINGLINE", "MERGEBARCODE":
		return "Platen does not fill it; write tags instead"
	}
	return "Platen does not compute it from merge fields; write tags instead"
}

// textFilters are the filters for the formats of \* that change text, in lower case. Formats without a filter change nothing here.
var textFilters = map[string]string{
	"upper": "uppercase", "lower": "lowercase", "firstcap": "capitalize", "caps": `capitalize("words")`, "cardtext": "words",
	"ordinal": "ordinal", "mergeformat": "", "charformat": "", "arabic": "",
}

// harmless are switches that do not change the value of a field.
var harmless = map[string]bool{`\m`: true, `\v`: true, `\h`: true}

// formatted adds the filters for switches to an expression. Those for pictures come first, as in Word.
func formatted(expr string, switches []fieldSwitch) (result, problem string) {
	pictures, texts := "", ""
	for _, s := range switches {
		switch s.name {
		case `\*`:
			filter, known := textFilters[strings.ToLower(s.argument)]
			if !known {
				return "", `the format \* ` + s.argument + " is not supported"
			}
			if filter != "" {
				texts += " :: " + filter
			}
		case `\#`:
			if s.argument == "" {
				return "", `its switch \# has no numeric picture`
			}
			pictures += " :: wordformat(" + quoted(s.argument) + ")"
		case `\@`:
			filter, problem := wordDate(s.argument)
			if problem != "" {
				return "", problem
			}
			pictures += " :: " + filter
		case `\b`, `\f`:
		default:
			if !harmless[s.name] {
				return "", "its option " + s.name + " is not supported"
			}
		}
	}
	return expr + pictures + texts, ""
}

// merged returns the expression for a field MERGEFIELD or DOCPROPERTY.
func (c *wordFields) merged(f *wordField, absent string) (expr, problem string) {
	words, switches := cutSwitches(f.words())
	if len(words) < 2 {
		return "", "it names no value"
	}
	if words[1].hasField() {
		return "", "another field is in its name"
	}
	path, problem := pathOf(words[1].plain())
	if problem != "" {
		return "", problem
	}
	if f.name() == "DOCPROPERTY" { // the field stays without a value
		absent = blankText
	}
	if path = c.inRecord(path); absent != "" {
		path += " :: default(" + absent + ")"
	}
	if expr, problem = formatted(path, switches); problem != "" {
		return "", problem
	}
	return aroundValue(path, expr, switches), ""
}

// aroundValue adds the texts before and after a value that is not empty.
func aroundValue(path, expr string, switches []fieldSwitch) string {
	before, after := "", ""
	for _, s := range switches {
		switch s.name {
		case `\b`:
			before = s.argument
		case `\f`:
			after = s.argument
		}
	}
	if before+after == "" {
		return expr
	}
	value := "(" + expr + ")"
	if expr == path && !strings.Contains(path, " ") {
		value = expr
	}
	return "$if(" + value + ` == "", "", $string(` + quoted(before) + ", " + value + ", " + quoted(after) + "))"
}

// pathOf returns the path of a field with a name, which may have dots.
func pathOf(name string) (path, problem string) {
	switch {
	case strings.TrimSpace(name) == "":
		return "", "its name is empty"
	case strings.Contains(name, "`"):
		return "", "its name has a backquote"
	}
	return "`" + strings.ReplaceAll(name, ".", "`.`") + "`", ""
}

// choice returns the expression for the words of a field IF.
func (c *wordFields) choice(words []codeWord) (expr, problem string) {
	words, switches := cutSwitches(words)
	if len(words) < 5 {
		return "", "its condition is not complete"
	}
	test, problem := c.condition(words, 2)
	if problem != "" {
		return "", problem
	}
	expr = "$if(" + test
	for i := 4; i < len(words); i++ {
		result, problem := c.operand(&words[i], blankText)
		if problem != "" {
			return "", problem
		}
		expr += ", " + result
	}
	return formatted(expr+")", switches)
}

// comparison returns the expression for the words of a field COMPARE.
func (c *wordFields) comparison(words []codeWord) (expr, problem string) {
	words, switches := cutSwitches(words)
	if len(words) < 4 {
		return "", "its condition is not complete"
	}
	test, problem := c.condition(words, 0)
	if problem != "" {
		return "", problem
	}
	return formatted("$if("+test+", 1, 0)", switches)
}

// condition returns the condition in the words of a field, which begin with its kind. At most texts may follow it.
func (c *wordFields) condition(words []codeWord, texts int) (expr, problem string) {
	operator, problem := operatorIn(words)
	if problem != "" {
		return "", problem
	}
	if len(words) > 4+texts {
		return "", surplusIn(words[4:], texts)
	}
	left, problem := c.compared(&words[1])
	if problem != "" {
		return "", problem
	}
	right, problem := c.compared(&words[3])
	if problem != "" {
		return "", problem
	}
	return "$compare(" + left + ", " + quoted(operator) + ", " + right + ")", ""
}

// meantOperators are the operators of Word for those of other languages.
var meantOperators = map[string]string{"==": "=", "!=": "<>", "><": "<>", "=>": ">=", "=<": "<="}

// operatorIn returns the operator of a condition. Word has none of three characters, nor of two words.
func operatorIn(words []codeWord) (operator, problem string) {
	operator = words[2].plain()
	if operator == "" || words[2].hasField() {
		return "", "there is no operator after its first value; a text with blanks needs quotes"
	}
	if next := &words[3]; !next.quoted && isOperator(next.plain()) {
		operator += next.plain()
	}
	if isOperator(operator) {
		return operator, ""
	}
	problem = "its operator " + operator + " is unknown"
	if meant := meantOperators[operator]; meant != "" {
		problem += "; write " + meant
	}
	return "", problem
}

// surplusIn says what is wrong with the words after a condition, which are more than there may be texts.
func surplusIn(words []codeWord, texts int) (problem string) {
	for i := range words {
		switch word := words[i].plain(); {
		case words[i].quoted:
		case strings.EqualFold(word, "AND") || strings.EqualFold(word, "OR"):
			return "it has " + word + ", and Word compares only two values; write tags such as {{if a > 1 and a < 5}}"
		case word == "," || word == ";":
			return "it has '" + word + "' between its texts; leave it out"
		}
	}
	if texts == 0 {
		return "it has more than two values; put texts with blanks in quotes"
	}
	return "it has more than two texts after its condition; put texts with blanks in quotes"
}

// plainNumber matches numbers that mean the same in every language.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.(\d{1,2}|\d{4,}))?$`)

// compared returns the expression for an operand of a comparison. A missing value there is empty.
func (c *wordFields) compared(w *codeWord) (expr, problem string) {
	if text := w.plain(); len(w.pieces) == 1 && w.pieces[0].field == nil {
		if plainNumber.MatchString(text) {
			return text, ""
		}
		if v := c.variables[strings.ToLower(text)]; v != "" && !w.quoted {
			return v, ""
		}
	}
	if len(w.pieces) == 1 {
		return c.operand(w, "")
	}
	return c.operand(w, blankText)
}

// operand returns the expression for a word of a code. absent is the value of a missing field in it.
func (c *wordFields) operand(w *codeWord, absent string) (expr, problem string) {
	var parts []string
	size := 0
	for _, piece := range w.pieces {
		if piece.field == nil {
			parts = append(parts, quoted(piece.text))
			continue
		}
		expr, problem := c.nested(piece.field, absent)
		if problem != "" {
			return "", "the field " + piece.field.name() + " in it cannot be filled: " + problem
		}
		if size += len(expr); size > lang.MaxTag {
			return "", tooLong
		}
		parts = append(parts, "("+expr+")")
	}
	return joined(parts), ""
}

// quote returns the expression for the words of a field QUOTE.
func (c *wordFields) quote(words []codeWord, absent string) (expr, problem string) {
	words, switches := cutSwitches(words)
	var parts []string
	for i := 1; i < len(words); i++ {
		part, problem := c.operand(&words[i], absent)
		if problem != "" {
			return "", problem
		}
		parts = append(parts, part)
	}
	return formatted(joined(parts), switches)
}

// joined returns the expression for several texts in sequence.
func joined(parts []string) string {
	switch len(parts) {
	case 0:
		return blankText
	case 1:
		return parts[0]
	}
	return "$string(" + strings.Join(parts, ", ") + ")"
}

// quoted returns a literal string of the language.
func quoted(s string) string { return (&lang.Literal{Value: s}).String() }
