package importer

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString
	tokTemplate // `…${…}…` of JavaScript
	tokOperator
)

type token struct {
	kind tokenKind
	text string
	pos  int
}

// quotes maps opening quotes to the quotes that close them. Word replaces straight quotes while authors type.
var quotes = map[rune]string{'"': `"”“`, '“': `"”“`, '”': `"”“`, '„': `"”“`, '\'': `'’‘`, '‘': `'’‘`, '’': `'’‘`, '`': "`"}

// operators of the languages, the longer ones first.
var operatorTokens = []string{
	"===", "!==", "...", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "**", "//", "+", "-", "*", "/", "%", "<", ">",
	"!", "?", ":", "|", "~", ".", ",", "(", ")", "[", "]", "{", "}", "=", ";", "&",
}

// lex returns the tokens of an expression, with tokEnd at the end.
func lex(text string) ([]token, *cannot) {
	var tokens []token
	for i := 0; ; {
		for i < len(text) {
			r, n := utf8.DecodeRuneInString(text[i:])
			if !unicode.IsSpace(r) && r != '\u200B' && r != '\uFEFF' {
				break
			}
			i += n
		}
		if i >= len(text) {
			return append(tokens, token{tokEnd, "", i}), nil
		}
		t, end := lexOne(text, i)
		if end < 0 {
			return nil, &cannot{reason: "the expression cannot be read at " + strconv.Quote(shorten(text[i:]))}
		}
		tokens = append(tokens, t)
		i = end
	}
}

// lexOne returns the token at i and its end, or -1.
func lexOne(text string, i int) (token, int) {
	r, n := utf8.DecodeRuneInString(text[i:])
	switch {
	case quotes[r] != "":
		return lexQuoted(text, i, i+n, quotes[r])
	case '0' <= r && r <= '9':
		end := i
		for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.' && end+1 < len(text) && isDigit(text[end+1])) {
			end++
		}
		return token{tokNumber, text[i:end], i}, end
	case isNameStart(r):
		end := i
		for end < len(text) {
			c, size := utf8.DecodeRuneInString(text[end:])
			if !isNameStart(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) {
				break
			}
			end += size
		}
		return token{tokName, text[i:end], i}, end
	}
	for _, op := range operatorTokens {
		if strings.HasPrefix(text[i:], op) {
			return token{tokOperator, op, i}, i + len(op)
		}
	}
	return token{}, -1
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(r rune) bool { return r == '_' || r == '$' || r == '@' || unicode.IsLetter(r) }

// lexQuoted reads a string that starts at i, with its content at from.
func lexQuoted(text string, i, from int, closing string) (token, int) {
	var b strings.Builder
	kind := tokString
	for j := from; j < len(text); {
		r, n := utf8.DecodeRuneInString(text[j:])
		switch {
		case strings.ContainsRune(closing, r):
			return token{kind, b.String(), i}, j + n
		case r == '\\' && j+n < len(text):
			j += n
			r, n = utf8.DecodeRuneInString(text[j:])
			switch r {
			case 'n':
				r = '\n'
			case 't':
				r = '\t'
			}
		case r == '$' && closing == "`" && strings.HasPrefix(text[j:], "${"):
			kind = tokTemplate
		}
		b.WriteRune(r)
		j += n
	}
	return token{}, -1
}

// literalIndex returns the whole number or the string that an index is.
func literalIndex(e *expr) (n int, key string, isIndex bool) {
	if e.op != opLiteral {
		return 0, "", false
	}
	switch v := e.val.(type) {
	case string:
		return 0, v, false
	case json.Number:
		n, err := strconv.Atoi(v.String())
		return n, "", err == nil
	}
	return 0, "", false
}
