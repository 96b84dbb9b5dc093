package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxPad is the maximum length that the filter pad fills up to, in characters.
const MaxPad = 10_000

// textFilters change texts; a number is its digits to them, and of a list they change each item.
var textFilters = map[string]*filter{
	"uppercase": {
		usage: "uppercase", takes: takes{want: aScalar}, respells: true, also: []string{"upper", "upcase"},
		apply: letters((*Env).upper),
	},
	"lowercase": {
		usage: "lowercase", takes: takes{want: aScalar}, respells: true, also: []string{"lower", "downcase"},
		apply: letters((*Env).lower),
	},
	"titlecase": {usage: "titlecase", takes: takes{want: aScalar}, respells: true, also: []string{"title"}, apply: letters((*Env).title)},
	"capitalize": {
		usage: `capitalize or capitalize("words")`, arity: arity{0, 1}, takes: takes{want: aScalar}, args: []takes{like(aText, "words")},
		respells: true, check: checkCapitalized, apply: capitalize,
	},
	"trim": {usage: "trim", takes: takes{want: aScalar}, same: true, also: []string{"strip"}, apply: letters(trim)},
	"truncate": {
		usage: `truncate(20) or truncate(20, "…")`, arity: arity{1, 2}, also: []string{"shorten"},
		takes: takes{want: aScalar}, args: []takes{likeNumber("20"), like(aText, "…")}, apply: eachText(truncate),
	},
	"replace": {
		usage: `replace("old", "new")`, arity: arity{2, 2},
		takes: takes{want: aScalar}, args: []takes{{want: aScalar}}, check: checkReplaced, apply: eachText(replace),
	},
	"pad": {
		usage: `pad(6, "0") or pad(20, " ", "right")`, arity: arity{1, 3},
		takes: takes{want: aScalar}, args: []takes{likeNumber("8"), like(aText, "0"), like(aText, "right")}, apply: eachText(pad),
	},
	"split": {
		usage: `split(",")`, arity: arity{1, 1},
		takes: takes{want: aScalar}, args: []takes{like(aText, ",")}, apply: split,
	},
}

// letters returns a filter that changes the letters of texts. Other values stay unchanged.
func letters(change func(*Env, string) string) func(*Env, *Filter, Value) (Value, error) {
	return eachScalar(func(e *Env, _ *Filter, v Value) (Value, error) {
		s, ok := v.(string)
		if !ok {
			return v, nil
		}
		return e.made(change(e, s))
	})
}

// eachText returns a filter that changes the text of values, given their characters.
func eachText(change func(*Env, *Filter, string) (Value, error)) func(*Env, *Filter, Value) (Value, error) {
	return eachScalar(func(e *Env, f *Filter, v Value) (Value, error) {
		s, ok := scalarText(v)
		if !ok {
			return nil, &fault{node: e.subject, message: "is " + kindOf(v) + ", not text"}
		}
		if err := e.spend(len(s)/bytesPerStep, e.subject); err != nil {
			return nil, err
		}
		return change(e, f, s)
	})
}

// capitalize makes the first letter, or that of each word, a capital one and leaves the others.
func capitalize(e *Env, f *Filter, v Value) (Value, error) {
	change := (*Env).capitalize
	which, err := e.textOr(f, 0, "")
	switch {
	case err != nil:
		return nil, err
	case which == ofWords:
		change = (*Env).initials
	case len(f.Args) > 0:
		return nil, &fault{node: f.Args[0], message: checkCapitalized(f, which)}
	}
	return letters(change)(e, f, v)
}

// ofWords is the argument of capitalize for the first letter of each word.
const ofWords = "words"

// checkCapitalized returns the mistake in the argument of capitalize, or "".
func checkCapitalized(_ *Filter, which string) string {
	if which != ofWords {
		return `is not "` + ofWords + `", which capitalizes each word`
	}
	return ""
}

func (e *Env) capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return e.upper(s[:n]) + s[n:]
}

func trim(_ *Env, s string) string { return strings.TrimFunc(s, isBlank) }

// truncate shortens a text to the number of characters in its first argument, including the second argument or "…" at the end if it cuts
// anything off.
func truncate(e *Env, f *Filter, s string) (Value, error) {
	n, err := e.whole(f.Args[0], 0, MaxText)
	if err != nil {
		return nil, err
	}
	ending, err := e.textOr(f, 1, "…")
	if err != nil || utf8.RuneCountInString(s) <= n {
		return s, err
	}
	cut := runeOffset(s, max(n-utf8.RuneCountInString(ending), 0))
	kept := strings.TrimRightFunc(s[:wholeCharacter(s, cut)], isBlank)
	return e.made(kept + ending[:runeOffset(ending, n)])
}

// wholeCharacter returns the last position up to cut at which s can be cut without separating an accent or joiner from its character.
func wholeCharacter(s string, cut int) int {
	for cut > 0 {
		after, _ := utf8.DecodeRuneInString(s[cut:])
		before, n := utf8.DecodeLastRuneInString(s[:cut])
		if !unicode.IsMark(after) && after != joiner && before != joiner {
			break
		}
		cut -= n
	}
	return cut
}

// joiner makes one picture of those before and after it.
const joiner = '\u200D'

// runeOffset returns the offset of the n-th character of s, or the length of s if it has fewer.
func runeOffset(s string, n int) int {
	for i := range s {
		if n--; n < 0 {
			return i
		}
	}
	return len(s)
}

// checkReplaced returns the mistake in the text that replace looks for, or "".
func checkReplaced(_ *Filter, s string) string {
	switch slashed := inSlashes.FindStringSubmatch(s); {
	case s == "":
		return "is empty, so there is nothing to replace"
	case slashed != nil && slashed[2] != "":
		return "is text, not a pattern: replace looks for these characters"
	}
	return ""
}

// replace replaces its first argument with the second one everywhere.
func replace(e *Env, f *Filter, s string) (Value, error) {
	old, err := e.text(f.Args[0])
	if err != nil || old == "" {
		return s, err
	}
	by, err := e.text(f.Args[1])
	if err != nil {
		return nil, err
	}
	if err := e.grow(len(s) + strings.Count(s, old)*max(len(by)-len(old), 0)); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, old, by), nil
}

// pad fills a text up to so many characters with the second argument, or blanks, on the side that the third names: "left"
// unless it is "right" or "both".
func pad(e *Env, f *Filter, s string) (Value, error) {
	n, err := e.whole(f.Args[0], 0, MaxPad)
	if err != nil {
		return nil, err
	}
	fill, err := e.textOr(f, 1, " ")
	if err != nil {
		return nil, err
	}
	side, err := e.textOr(f, 2, "left")
	if err != nil {
		return nil, err
	}
	fill = fill[:runeOffset(fill, n)]
	short := n - utf8.RuneCountInString(s)
	if short <= 0 || fill == "" {
		return s, nil
	}
	left, right := short, 0
	switch side {
	case "left":
	case "right":
		left, right = 0, short
	case "both":
		left, right = short/2, short-short/2
	default:
		return nil, &fault{node: f.Args[2], message: `is not "left", "right" or "both"`}
	}
	return e.made(filling(fill, left) + s + filling(fill, right))
}

// filling returns n characters of fill, over and over.
func filling(fill string, n int) string {
	s := strings.Repeat(fill, n/utf8.RuneCountInString(fill)+1)
	return s[:runeOffset(s, n)]
}

// split returns the pieces of a text between the occurrences of its argument, as a list. The empty text results in an empty list.
func split(e *Env, f *Filter, v Value) (Value, error) {
	if v == nil {
		return nil, nil
	}
	s, ok := scalarText(v)
	if !ok {
		return nil, &fault{node: e.subject, message: "is " + kindOf(v) + ", not text"}
	}
	sep, err := e.text(f.Args[0])
	if err != nil {
		return nil, err
	}
	if sep == "" {
		return nil, &fault{node: f.Args[0], message: "is empty: give the text that separates the pieces"}
	}
	if s == "" {
		return []any{}, nil
	}
	if err := e.spend(len(s)/bytesPerStep, e.subject); err != nil {
		return nil, err
	}
	n := strings.Count(s, sep) + 1
	if err := e.makeItems(n, e.subject); err != nil {
		return nil, err
	}
	list := make([]any, 0, n)
	for piece := range strings.SplitSeq(s, sep) {
		list = append(list, piece)
	}
	return list, nil
}
