package lang

import "strings"

// meantWords are how other languages spell the words of blocks.
var meantWords = map[string]Kind{
	"end if": EndIf, "end for": EndFor, "end foreach": EndFor, "end tablerow": EndTableRow, "end tablecolumn": EndTableColumn,
	"endunless": EndIf, "end unless": EndIf, "unless": If,
	"foreach": For, "elif": ElseIf, "elsif": ElseIf,
	"set": Let, "assign": Let, "var": Let,
}

// Meant returns the kind of block tag that a text in braces was probably meant to be, or Print, and the rest after its words.
func Meant(text string) (kind Kind, rest string) {
	words := strings.Fields(strings.TrimRight(strings.TrimLeft(text, "{"), "}"))
	for _, n := range []int{2, 1} {
		if len(words) < n {
			continue
		}
		first := strings.ToLower(strings.Join(words[:n], " "))
		for _, known := range []map[string]Kind{blockWords, meantWords} {
			if kind, ok := known[first]; ok {
				return kind, strings.Join(words[n:], " ")
			}
		}
	}
	return Print, ""
}

// hintMeant returns a hint for a tag in the syntax of another language, or "".
func hintMeant(text string) string {
	kind, rest := Meant(text)
	switch {
	case kind == Print:
		return ""
	case kind == Paragraph:
		return "write {{paragraph item in list}}"
	case kind == For && !strings.Contains(rest, " in "):
		return "write {{for item in list}}"
	case kind == Let:
		return "write {{let name = value}}"
	case kind.closes():
		return "write {{" + kind.String() + "}}"
	case kind == If && isUnless(text):
		return "write {{if not " + inParentheses(rest) + "}}"
	}
	return "write {{" + kind.String() + " " + rest + "}}"
}

// isUnless reports whether the text of a tag begins with the word of other languages for a condition that must be false.
func isUnless(text string) bool {
	words := strings.Fields(strings.TrimLeft(text, "{"))
	return len(words) > 0 && strings.EqualFold(words[0], "unless")
}

// inParentheses returns a condition in parentheses if it has several words.
func inParentheses(condition string) string {
	if strings.Contains(condition, " ") {
		return "(" + condition + ")"
	}
	return condition
}
