package lang

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"platen/docx/locale"
)

// Fields of Word compare and format texts that look like numbers as numbers. These filters and functions do the same for any tag.

// wordFilters format as the switches of Word's fields do.
var wordFilters = map[string]*filter{
	"wordformat": {
		usage: `wordformat("$,0.00;($,0.00)")`, arity: arity{1, 1},
		takes: aWrittenNumber, args: []takes{like(aText, "#,##0.00")},
		check: checkPicture, apply: eachScalar(wordFormat),
	},
}

// wordFunctions read and compare numbers in texts.
var wordFunctions = map[string]*function{
	"$value": {
		usage: "$value(text)", arity: arity{1, 1}, takes: []takes{aWrittenNumber}, apply: valueOf,
	},
	"$compare": {
		usage: `$compare(text, ">", "1,000")`, arity: arity{3, 3}, takes: []takes{{want: aScalar}}, text: true, blanks: true,
		apply: compareLikeWord,
	},
}

// aWrittenNumber is the use of a number, or of a text with one.
var aWrittenNumber = like(aScalar, json.Number("12"))

// wordFormat writes a number in a numeric picture of Word. As in Word, a text without digits stays unchanged.
func wordFormat(e *Env, f *Filter, v Value) (Value, error) {
	picture, err := e.text(f.Args[0])
	if err != nil {
		return nil, err
	}
	if s, ok := v.(string); ok && !hasDigit(s) && !e.isReadNumber(v) {
		return v, nil
	}
	x, percent, err := e.readNumber(e.subject, v)
	if err != nil {
		return nil, err
	}
	if percent {
		return nil, &fault{node: e.subject, message: "is a percentage, not a number"}
	}
	d, err := e.decimal(x)
	if err != nil {
		return nil, err
	}
	s, err := e.locale().WordNumber(d, picture)
	if mistake, ok := errors.AsType[*locale.PatternError](err); ok {
		return nil, &fault{node: f.Args[0], message: "is not a numeric picture: " + mistake.Reason}
	}
	return e.made(s)
}

// checkPicture returns the mistake in a literal picture that no locale can read.
func checkPicture(_ *Filter, picture string) string {
	if mistake, ok := errors.AsType[*locale.PatternError](locale.CheckPicture(picture)); ok {
		return "is not a numeric picture: " + mistake.Reason
	}
	return ""
}

// readNumber returns the number that v, the value of n, is or spells, in JSON or as people of the locale write it. percent means that it
// counts hundredths. A number that has another value in JSON is a fault.
func (e *Env) readNumber(n Node, v Value) (x number, percent bool, err error) {
	s, isText := v.(string)
	if !isText {
		x, err = operand(n, v)
		return x, false, err
	}
	if err := e.spend(len(s)/bytesPerStep, n); err != nil {
		return number{}, false, err
	}
	plain, percent, isRead := e.locale().ReadNumber(s)
	x, isPlain := asNumber(v)
	if !isRead {
		if !isPlain {
			err = &fault{node: n, message: "is text, not a number"}
		}
		return x, false, err
	}
	read, ok := parseNumber(plain)
	switch {
	case isPlain && ok && !read.Equal(x.Decimal) && !isWordFormat(n):
		return x, false, &fault{node: n, message: "can be the number " + x.text() + " or " + read.text() + "; send a number instead of text"}
	case !ok:
		return x, false, &fault{node: n, message: "is a number with too many digits"}
	}
	return read, percent, nil
}

// isWordFormat reports whether a value always has the separators of the locale.
func isWordFormat(n Node) bool {
	f, ok := n.(*Filtered)
	return ok && f.Filters[len(f.Filters)-1].Name == "wordformat"
}

// valueOf returns the number that a text spells.
func valueOf(e *Env, c *Call, args []Value) (Value, error) {
	x, percent, err := e.readNumber(c.Args[0], args[0])
	if err == nil && percent {
		x = x.over(wholeOf(100))
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// fieldOperators are the operators of Word's field IF, with those of the language.
var fieldOperators = map[string]string{"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

// compareLikeWord compares two values as Word's field IF does: as numbers if both read as numbers, or else as texts, in which * and ? in
// the second one stand for any characters.
func compareLikeWord(e *Env, c *Call, args []Value) (Value, error) {
	op, err := e.operatorOf(c, args[1])
	if err != nil {
		return nil, err
	}
	s, err := e.comparedText(c.Args[0], args[0])
	if err != nil {
		return nil, err
	}
	t, err := e.comparedText(c.Args[2], args[2])
	if err != nil {
		return nil, err
	}
	equality := op == "==" || op == "!="
	left, right := e.isReadNumber(args[0]), e.isReadNumber(args[2])
	order := 0
	switch {
	case equality && strings.ContainsAny(t, "*?"):
		found, err := e.matchesWildcards(c, s, t)
		return found == (op == "=="), err
	case s != t && left && right:
		order, err = e.compareRead(c, args[0], args[2])
	case equality && s != t:
		order = 1
	case left && t != "" && !right, right && s != "" && !left:
		err = &fault{node: c, message: "compares text with a number"}
	default:
		order = e.compareTexts(s, t)
	}
	switch {
	case err != nil:
		return nil, err
	case equality:
		return (order == 0) == (op == "=="), nil
	}
	return holds(op, order), nil
}

// comparedText returns the text of v, the value of n.
func (e *Env) comparedText(n Node, v Value) (string, error) {
	s, ok := scalarText(v)
	if !ok {
		return "", &fault{node: n, message: "is " + kindOf(v) + ", not text or a number"}
	}
	return s, e.spend(len(s)/bytesPerStep, n)
}

// isReadNumber reports whether a value is a number, or a text that people of the locale read as one.
func (e *Env) isReadNumber(v Value) bool {
	s, isText := v.(string)
	if isText {
		if _, _, ok := e.locale().ReadNumber(s); ok {
			return true
		}
	}
	_, ok := asNumber(v)
	return ok && exponentAt(s) < 0
}

// operatorOf returns the second argument of $compare as an operator of the language.
func (e *Env) operatorOf(c *Call, v Value) (string, error) {
	text, _ := v.(string)
	op := fieldOperators[text]
	if op == "" {
		return "", &fault{node: c.Args[1], message: `is not one of "=", "<>", "<", "<=", ">", and ">="`}
	}
	return op, nil
}

// compareRead compares two values that are read as numbers.
func (e *Env) compareRead(c *Call, l, r Value) (order int, err error) {
	x, percent, err := e.readNumber(c.Args[0], l)
	if err != nil {
		return 0, err
	}
	y, other, err := e.readNumber(c.Args[2], r)
	if err != nil {
		return 0, err
	}
	if percent != other {
		return 0, &fault{node: c, message: "compares a percentage with a number"}
	}
	return x.compare(y), nil
}

// matchesWildcards reports whether a text matches a pattern with * and ?.
func (e *Env) matchesWildcards(c *Call, text, pattern string) (bool, error) {
	quoted := regexp.QuoteMeta(pattern)
	re, err := e.pattern(c.Args[2], "^(?s:"+strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(quoted)+")$")
	if err != nil {
		return false, err
	}
	return re.MatchString(text), e.spend(len(text)*re.size/instructionsPerStep, c)
}
