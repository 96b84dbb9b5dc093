package richtext

import (
	"strings"
)

// known are the elements by which a text is recognized as HTML. Phrase elements must be closed somewhere.
var (
	phrases = setOf("a b strong i em cite dfn var u ins s strike del sub sup code kbd samp tt mark small big font span q abbr " +
		"label time bdo bdi button nobr")
	known = setOf("p div section article header footer main aside nav figure figcaption center h1 h2 h3 h4 h5 h6 pre blockquote ul " +
		"ol li dl dt dd table thead tbody tfoot tr td th br hr img html body input wbr")
)

// LooksLikeHTML reports whether a text has markup of HTML in it: a known element with nothing but attributes before its ">" and,
// if it is one of phrases such as b, its end tag. "a < b", "x<b and y>c" and "<name>" have none, nor have entities alone.
func LooksLikeHTML(s string) bool {
	var unclosed map[string]bool
	for {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			return false
		}
		s = s[open+1:]
		name := tagName(s)
		if name == "" {
			continue
		}
		rest := s[len(name):]
		name = strings.ToLower(name)
		switch {
		case !phrases[name] && !known[name] || unclosed[name] || !endsLikeTag(rest):
		case known[name] || hasEndTag(rest, name):
			return true
		case unclosed == nil:
			unclosed = map[string]bool{name: true} // nor will it be further on
		default:
			unclosed[name] = true
		}
	}
}

// maxTagName is longer than the name of any known element.
const maxTagName = 12

// tagName returns the letters and digits that s begins with, "" if it begins with no letter.
func tagName(s string) string {
	n := 0
	for n < len(s) && n < maxTagName && (isLetter(s[n]) || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return s[:n]
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// maxAttributeText is the number of bytes of attributes that are read before a quoted value.
const maxAttributeText = 200

// endsLikeTag reports whether a tag's name is followed by ">", "/>" or an attribute with a value.
func endsLikeTag(s string) bool {
	trimmed := strings.TrimLeft(s[:min(len(s), maxAttributeText)], " \t\r\n")
	if strings.HasPrefix(trimmed, ">") || strings.HasPrefix(trimmed, "/>") {
		return true
	}
	if len(trimmed) == len(s) {
		return false // nothing after the name
	}
	n := 0
	for n < len(trimmed) && (isLetter(trimmed[n]) || n > 0 && strings.IndexByte("-_:0123456789", trimmed[n]) >= 0) {
		n++
	}
	return n > 0 && strings.HasPrefix(strings.TrimLeft(trimmed[n:], " "), "=")
}

// hasEndTag reports whether the end tag of an element is in s.
func hasEndTag(s, name string) bool {
	for {
		at := strings.Index(s, "</")
		if at < 0 {
			return false
		}
		s = s[at+2:]
		if end := tagName(s); strings.EqualFold(end, name) && strings.HasPrefix(s[len(end):], ">") {
			return true
		}
	}
}
