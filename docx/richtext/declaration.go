package richtext

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
	"golang.org/x/net/html"
)

// maxDeclarations is the number of declarations that are read from one style attribute.
const maxDeclarations = 100

// declaration is a property and its value.
type declaration struct {
	name  string // in lower case
	value string // without comments, URLs, and !important; escapes are resolved
	first string // the value up to the first comma, with strings without their quotes
}

// declarations returns the declarations of the style attribute. Those that are not well formed are skipped, as browsers do.
func declarations(n *html.Node) []declaration {
	text := attr(n, "style")
	if text == "" {
		return nil
	}
	lexer := css.NewLexer(parse.NewInputString(text))
	var all []declaration
	for more := true; more && len(all) < maxDeclarations; {
		var d declaration
		if d, more = readDeclaration(lexer); d.name != "" {
			all = append(all, d)
		}
	}
	return all
}

// declared returns the value of a property of the element itself, in lower case.
func declared(n *html.Node, name string) string {
	for _, d := range slices.Backward(declarations(n)) {
		if d.name == name {
			return strings.ToLower(d.value)
		}
	}
	return ""
}

// readDeclaration reads up to a semicolon outside brackets, or to the end. more reports whether it found a semicolon.
// The name is "" if there is no declaration.
func readDeclaration(lexer *css.Lexer) (d declaration, more bool) {
	r := declarationReader{}
	for {
		switch kind, data := lexer.Next(); {
		case kind == css.ErrorToken:
			return r.declaration(), false
		case kind == css.SemicolonToken && r.depth == 0:
			return r.declaration(), true
		case !r.colon:
			r.takeName(kind, data)
		default:
			r.takeValue(kind, data)
		}
	}
}

// declarationReader gathers the tokens of one declaration.
type declarationReader struct {
	name         string
	colon        bool // was read
	invalid      bool
	depth        int  // of brackets
	ended        bool // the value has, with a ! outside brackets
	comma        bool // was read outside brackets
	value, first strings.Builder
}

func (r *declarationReader) declaration() declaration {
	if r.invalid || !r.colon {
		return declaration{}
	}
	return declaration{r.name, strings.TrimSpace(r.value.String()), strings.TrimSpace(r.first.String())}
}

func (r *declarationReader) takeName(kind css.TokenType, data []byte) {
	switch {
	case kind == css.WhitespaceToken || kind == css.CommentToken:
	case kind == css.IdentToken && r.name == "":
		r.name = strings.ToLower(unescape(data))
	case kind == css.ColonToken && r.name != "":
		r.colon = true
	default:
		r.invalid = true
		r.nest(kind)
	}
}

// nest counts brackets.
func (r *declarationReader) nest(kind css.TokenType) {
	switch kind {
	case css.FunctionToken, css.LeftParenthesisToken, css.LeftBracketToken, css.LeftBraceToken:
		r.depth++
	case css.RightParenthesisToken, css.RightBracketToken, css.RightBraceToken:
		r.depth = max(r.depth-1, 0)
	}
}

func (r *declarationReader) takeValue(kind css.TokenType, data []byte) {
	r.nest(kind)
	r.ended = r.ended || r.depth == 0 && kind == css.DelimToken && data[0] == '!'
	r.comma = r.comma || r.depth == 0 && kind == css.CommaToken
	if r.ended {
		return
	}
	var text, bare string
	switch kind {
	case css.URLToken, css.BadURLToken: // no property uses one
		return
	case css.WhitespaceToken, css.CommentToken:
		text, bare = " ", " "
	case css.StringToken:
		text, bare = string(data), unescape(bytes.TrimSuffix(data[1:], data[:1]))
	default:
		text = unescape(data)
		bare = text
	}
	r.value.WriteString(text)
	if !r.comma {
		r.first.WriteString(bare)
	}
}

// unescape resolves the escapes of a token (CSS Syntax, section 4.3.7).
func unescape(data []byte) string {
	before, rest, escaped := strings.Cut(string(data), "\\")
	if !escaped {
		return before
	}
	var b strings.Builder
	for {
		b.WriteString(before)
		if !escaped {
			return b.String()
		}
		digits := 0
		for digits < min(len(rest), 6) && strings.IndexByte("0123456789abcdefABCDEF", rest[digits]) >= 0 {
			digits++
		}
		if digits == 0 { // the character after the backslash is literal, but a line break vanishes
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(strings.Trim(rest[:n], "\n\r\f"))
			rest = rest[n:]
		} else {
			code, err := strconv.ParseUint(rest[:digits], 16, 32)
			if err != nil || code == 0 || !utf8.ValidRune(rune(code)) {
				code = utf8.RuneError
			}
			b.WriteRune(rune(code))
			if rest = rest[digits:]; rest != "" && strings.IndexByte(" \t\n\r\f", rest[0]) >= 0 {
				rest = rest[1:]
			}
		}
		before, rest, escaped = strings.Cut(rest, "\\")
	}
}
