package compile

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"platen/docx/lang"
)

// Formulas (ISO 29500-1 §17.16.3): calculations with numbers, merge fields, and a few functions. Those with cells of tables, comparisons,
// and other functions stay as they are.

// formulaFunctions are the functions of formulas. They take one or two arguments, or any number (0), which the texts surround in
// expressions.
var formulaFunctions = map[string]struct {
	arguments     int
	before, after string
}{
	"ABS": {1, "$abs(", ")"}, "ROUND": {2, "$round(", ")"}, "MOD": {2, "", ""},
	"SUM": {0, "$sum([", "])"}, "AVERAGE": {0, "$average([", "])"}, "MIN": {0, "$min([", "])"}, "MAX": {0, "$max([", "])"},
}

// cellNames matches formulas with cells of tables.
var cellNames = regexp.MustCompile(`(?i)\b(ABOVE|BELOW|LEFT|RIGHT|[A-Z]{1,2}\d{1,3})\b`)

// readsCells reports whether a field, or one in its code, is a formula with cells of a table.
func (f *wordField) readsCells() bool {
	if f.name() == "=" {
		if formula, _, _ := strings.Cut(f.textWithoutTags(), `\`); cellNames.MatchString(formula) {
			return true
		}
	}
	return slices.ContainsFunc(f.code, func(p codePiece) bool { return p.field != nil && p.field.readsCells() })
}

// showsCells reports whether a field, or one in its result, is computed from cells of a table.
func (f *wordField) showsCells() bool {
	return f.readsCells() || slices.ContainsFunc(f.inner, (*wordField).showsCells)
}

// formulaReader reads a formula into an expression.
type formulaReader struct {
	fields    *wordFields
	pieces    []codePiece // what is left
	separator rune        // of arguments
	depth     int         // of parentheses
	size      int         // of the operands so far, in bytes
	problem   string
}

// formula returns the expression for a formula. Without a numeric picture, Word shows up to two decimals.
func (c *wordFields) formula(f *wordField) (expr, problem string) {
	pieces, switches := f.formulaCode()
	r := formulaReader{fields: c, pieces: pieces, separator: ','}
	for _, piece := range pieces {
		if strings.Contains(piece.text, ";") {
			r.separator = ';'
		}
	}
	expr = r.sum()
	if next := r.peek(); r.problem == "" && next == '\uFFFC' {
		r.problem = "an operator is missing before the field " + r.pieces[0].field.name() + " in its formula"
	} else if r.problem == "" && next != 0 {
		r.problem = "Platen does not compute " + string(next) + " in formulas; write a tag instead"
	}
	if r.problem != "" {
		return "", r.problem
	}
	for _, s := range switches {
		if s.name == `\#` {
			return formatted("("+expr+")", switches)
		}
	}
	return formatted("$round("+expr+", 2)", switches)
}

// formulaCode returns the code of a formula after the equals sign, and its switches.
func (f *wordField) formulaCode() (pieces []codePiece, switches []fieldSwitch) {
	_, switches = cutSwitches(f.words())
	started := false
	for _, piece := range f.joinedCode() {
		if piece.field == nil {
			if !started {
				_, piece.text, started = strings.Cut(piece.text, "=")
			}
			if before, _, found := strings.Cut(piece.text, `\`); found {
				return append(pieces, codePiece{text: before}), switches
			}
		}
		pieces = append(pieces, piece)
	}
	return pieces, switches
}

// peek returns the next character that is no blank, '\uFFFC' for a field, or 0 at the end.
func (r *formulaReader) peek() rune {
	for len(r.pieces) > 0 {
		p := &r.pieces[0]
		if p.field != nil {
			return '\uFFFC'
		}
		if p.text = strings.TrimLeftFunc(p.text, unicode.IsSpace); p.text != "" {
			return []rune(p.text[:min(len(p.text), 4)])[0]
		}
		r.pieces = r.pieces[1:]
	}
	return 0
}

// accept reads one of some characters, or returns 0.
func (r *formulaReader) accept(marks string) rune {
	c := r.peek()
	if c == 0 || !strings.ContainsRune(marks, c) {
		return 0
	}
	r.pieces[0].text = r.pieces[0].text[len(string(c)):]
	return c
}

// fail notes the first problem. It returns an expression in place of the one with the problem.
func (r *formulaReader) fail(problem string) string {
	if r.problem == "" {
		r.problem = problem
	}
	r.pieces = nil
	return "0"
}

func (r *formulaReader) sum() string { return r.chain("+-", r.product) }

func (r *formulaReader) product() string { return r.chain("*/", r.operand) }

// chain reads operands with operators between them.
func (r *formulaReader) chain(operators string, operand func() string) string {
	var b strings.Builder
	b.WriteString(operand())
	for {
		op := r.accept(operators)
		if op == 0 {
			return b.String()
		}
		b.WriteString(" " + string(op) + " " + operand())
	}
}

// operand reads a number, a field, a function, or a sum in parentheses, with a sign or a percent sign.
func (r *formulaReader) operand() string {
	if r.depth++; r.depth > maxFieldDepth {
		return r.fail("its formula is too deeply nested")
	}
	defer func() { r.depth-- }()
	var expr string
	switch c := r.peek(); {
	case r.accept("-") != 0:
		expr = "-" + r.operand()
	case r.accept("+") != 0:
		expr = r.operand()
	case r.accept("(") != 0:
		if expr = "(" + r.sum() + ")"; r.accept(")") == 0 {
			return r.fail("a parenthesis in its formula is not closed")
		}
	case c == '\uFFFC':
		f := r.pieces[0].field
		r.pieces = r.pieces[1:]
		value, problem := r.fields.nested(f, "")
		if problem != "" {
			return r.fail("the field " + f.name() + " in it cannot be filled: " + problem)
		}
		expr = r.sized("$value(" + value + ")")
	case '0' <= c && c <= '9' || c == '.':
		expr = r.sized(r.number())
	case unicode.IsLetter(c) || c == '_':
		expr = r.name()
	default:
		return r.fail("its formula cannot be read; write a tag instead")
	}
	if r.accept("%") != 0 {
		expr = "(" + expr + " / 100)"
	}
	return expr
}

// sized returns an operand, unless all operands together are too long.
func (r *formulaReader) sized(operand string) string {
	if r.size += len(operand); r.size > lang.MaxTag {
		return r.fail(tooLong)
	}
	return operand
}

// number reads a number.
func (r *formulaReader) number() string {
	marks := "0123456789."
	if r.depth == 1 || r.separator == ';' {
		marks += ","
	}
	text := r.word(func(c rune) bool { return strings.ContainsRune(marks, c) })
	if plainNumber.MatchString(text) || strings.HasPrefix(text, "0.") && strings.Count(text, ".") == 1 && !strings.Contains(text, ",") {
		return text
	}
	return "$value(" + quoted(text) + ")" // as the language of the batch writes it
}

// word reads the characters for which isPart is true.
func (r *formulaReader) word(isPart func(rune) bool) string {
	text := r.pieces[0].text
	rest := strings.TrimLeftFunc(text, isPart)
	r.pieces[0].text = rest
	return text[:len(text)-len(rest)]
}

// name reads a bookmark, or a function with its arguments.
func (r *formulaReader) name() string {
	name := r.word(func(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) })
	if v := r.fields.variables[strings.ToLower(name)]; v != "" {
		return r.sized("$value(" + v + ")")
	}
	fn, known := formulaFunctions[strings.ToUpper(name)]
	if !known || r.accept("(") == 0 {
		return r.fail("Platen does not compute " + name + " in formulas; write a tag instead")
	}
	arguments := []string{r.sum()}
	for r.accept(string(r.separator)) != 0 {
		arguments = append(arguments, r.sum())
	}
	switch {
	case r.accept(")") == 0:
		return r.fail("a parenthesis in its formula is not closed")
	case fn.arguments > 0 && fn.arguments != len(arguments):
		return r.fail("the function " + name + " in its formula has the wrong number of arguments")
	case fn.before == "":
		return "((" + arguments[0] + ") % (" + arguments[1] + "))"
	}
	return fn.before + strings.Join(arguments, ", ") + fn.after
}
