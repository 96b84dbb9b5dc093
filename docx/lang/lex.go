package lang

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokEnd    tokenKind = iota // after the last token
	tokWord                    // a name or a keyword
	tokKey                     // a name in backquotes, without them, or a key after a dot
	tokNumber                  // as typed
	tokString                  // the value of the literal
	tokOp                      // an operator or a bracket, in its ASCII spelling
)

type token struct {
	kind tokenKind
	pos  int // bytes into the tag
	text string
}

// is reports whether t is the operator or bracket op.
func (t token) is(op string) bool { return t.kind == tokOp && t.text == op }

// place describes, for an error message, the place where t is instead of something missing.
func (t token) place() string {
	if t.kind == tokEnd {
		return "at the end of the tag"
	}
	return fmt.Sprintf("before %q", t.text)
}

// lexer cuts the content of one tag into tokens. It is driven by state functions: each reads one token and returns
// the state that reads the next.
type lexer struct {
	text   string // the tag up to its closing braces
	pos    int
	tokens []token
	err    *SyntaxError
}

type stateFn func(*lexer) stateFn

// lex returns the tokens between the braces of a tag, with a tokEnd after them.
func lex(tag string) ([]token, *SyntaxError) {
	l := &lexer{text: tag[:len(tag)-len("}}")], pos: len("{{")}
	for state := stateFn(lexAny); state != nil; {
		state = state(l)
	}
	if l.err != nil {
		l.err.Text = tag
	}
	return l.tokens, l.err
}

func (l *lexer) fail(pos int, hint, format string, args ...any) stateFn {
	l.err = &SyntaxError{Offset: pos, Message: fmt.Sprintf(format, args...), Hint: hint}
	return nil
}

// emit appends the token that starts at pos and ends at the current position.
func (l *lexer) emit(kind tokenKind, pos int, text string) {
	l.tokens = append(l.tokens, token{kind, pos, text})
}

// peek returns the next character and its width; width 0 at the end.
func (l *lexer) peek() (rune, int) { return utf8.DecodeRuneInString(l.text[l.pos:]) }

// skip passes over the characters for which f holds.
func (l *lexer) skip(f func(rune) bool) {
	for {
		r, n := l.peek()
		if n == 0 || !f(r) {
			return
		}
		l.pos += n
	}
}

func lexAny(l *lexer) stateFn {
	l.skip(isBlank)
	r, n := l.peek()
	switch {
	case n == 0:
		l.emit(tokEnd, l.pos, "")
		return nil
	case r == '`':
		return lexKey
	case quoteFamily(r) != notQuote:
		return lexString
	case '0' <= r && r <= '9':
		return lexNumber
	case isNameStart(r):
		return lexWord
	}
	return lexOp
}

func lexWord(l *lexer) stateFn {
	start := l.pos
	l.emit(tokWord, start, l.name())
	return lexAny
}

// name passes over the characters of a name and returns them without the invisible marks in it.
func (l *lexer) name() string {
	start, end, marked := l.pos, l.pos, false
	for {
		r, n := l.peek()
		switch {
		case n > 0 && isNamePart(r):
			marked = marked || end < l.pos
			l.pos += n
			end = l.pos
			continue
		case n > 0 && isInvisible(r) && end > start:
			l.pos += n
			continue
		}
		l.pos = end
		name := l.text[start:end]
		if marked {
			name = withoutMarks(name)
		}
		return name
	}
}

// lexKey reads a key after a dot, where a name may start with a digit and keywords mean nothing, or a name in
// backquotes anywhere.
func lexKey(l *lexer) stateFn {
	l.skip(isBlank)
	start := l.pos
	if strings.HasPrefix(l.text[start:], "`") {
		end := stringEnd(l.text, start)
		if end < 0 {
			return l.fail(start, "add the closing ` after the key", "the key in backquotes is not closed")
		}
		l.pos = end
		l.emit(tokKey, start, l.text[start+1:end-1])
		return lexAny
	}
	key := l.name()
	if key == "" {
		return l.fail(start, "", "a key is missing after the dot")
	}
	l.emit(tokKey, start, key)
	return lexAny
}

func lexNumber(l *lexer) stateFn {
	start := l.pos
	l.skip(isDigit)
	if rest := l.text[l.pos:]; len(rest) > 1 && rest[0] == '.' && isDigit(rune(rest[1])) {
		l.pos++
		l.skip(isDigit)
	}
	if n := exponentLen(l.text[l.pos:]); n > 0 {
		l.pos += n
		l.skip(isDigit)
	}
	if r, n := l.peek(); n > 0 && isNamePart(r) {
		number, hint := l.text[start:l.pos], hintBackquotes
		if unit := l.text[l.pos:]; lengthUnit(unit) != "" {
			hint = "put a length in quotes: " + quote(number+lengthUnit(unit))
		}
		return l.fail(start+len(number), hint, "unexpected %q in a number", r)
	}
	l.emit(tokNumber, start, l.text[start:l.pos])
	return lexAny
}

// lengthUnit returns the unit of length that a text begins with, or "".
func lengthUnit(text string) string {
	for _, unit := range []string{"cm", "mm", "in", "pt", "px"} {
		if next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(text, unit)); strings.HasPrefix(text, unit) && !isNamePart(next) {
			return unit
		}
	}
	return ""
}

// exponentLen returns the length of e, sign and first digit at the start of s, or 0.
func exponentLen(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	n := 1
	if len(s) > n && (s[n] == '+' || s[n] == '-') {
		n++
	}
	if len(s) > n && isDigit(rune(s[n])) {
		return n
	}
	return 0
}

func lexString(l *lexer) stateFn {
	start := l.pos
	end := stringEnd(l.text, start)
	if end < 0 {
		return l.fail(start, "add the closing quote", "the text in quotes is not closed")
	}
	l.pos = end
	l.emit(tokString, start, unquote(l.text[start:end]))
	return lexAny
}

// operators has all spellings of operators and brackets with their ASCII forms, the longer ones first.
var operators = []struct{ typed, op string }{
	{"::", "::"}, {"==", "=="}, {"!=", "!="}, {"<=", "<="}, {">=", ">="}, {"≠", "!="}, {"≤", "<="}, {"≥", ">="},
	{".", "."}, {",", ","}, {"(", "("}, {")", ")"}, {"[", "["}, {"]", "]"}, {"<", "<"}, {">", ">"},
	{"=", "="}, {"+", "+"}, {"-", "-"}, {"−", "-"}, {"–", "-"}, {"*", "*"}, {"×", "*"}, {"/", "/"}, {"÷", "/"}, {"%", "%"},
}

// notOperators are habits from other languages, with what to write here.
var notOperators = map[rune]string{
	'=': "to compare, write ==; to name a value, write {{let name = value}}",
	'!': "write not before the condition, or != between two values",
	'&': "write and between conditions; to join strings, write $string(a, b)",
	';': "separate arguments with commas",
	'|': "write or between conditions, and :: before a filter",
	':': "a filter comes after ::",
	'?': "write {{if …}} … {{else}} … {{endif}}",
	'#': "write {{for x in list}} or {{if condition}}, without #",
	'@': hintBackquotes,
	'{': "write the name without braces, as in {{if paid}}",
}

func lexOp(l *lexer) stateFn {
	for _, o := range operators {
		if !strings.HasPrefix(l.text[l.pos:], o.typed) {
			continue
		}
		l.emit(tokOp, l.pos, o.op)
		l.pos += len(o.typed)
		if o.op == "." {
			return lexKey
		}
		return lexAny
	}
	r, _ := l.peek()
	return l.fail(l.pos, notOperators[r], "unexpected %q", r)
}

// hintBackquotes explains how to write a key with special characters.
const hintBackquotes = "put a key with spaces or special characters in backquotes, as in a.`odd key`"

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isBlank reports whether r separates words: any white space, or an invisible mark that editors insert, such as
// direction marks in and around right-to-left text.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || isInvisible(r)
}

// isInvisible reports whether r is a mark that editors insert and nobody sees: a zero-width space, a place where a word may break, or a
// direction mark.
func isInvisible(r rune) bool {
	return r == '\u00AD' || r == '\u200B' || r == '\u2060' || r == '\uFEFF' || isDirectionMark(r)
}

// isDirectionMark reports whether r is one of the invisible marks that editors insert for right-to-left text.
func isDirectionMark(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// withoutMarks returns a name without invisible marks.
func withoutMarks(name string) string {
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, name)
}

func isNameStart(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r)
}

// isNamePart allows marks and joiners besides letters and digits: many scripts write with them.
func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\u200C' || r == '\u200D'
}
