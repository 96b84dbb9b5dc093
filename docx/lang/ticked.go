package lang

import (
	"slices"
	"strings"
)

// The words that check or clear a box, in lower case: what programs write for true and false, and yes and no in the languages in which
// numbers are spelled out. Numbers are not among them: 0 clears a box, and every other number checks it.
var (
	tickedWords = wordSet(`true t on yes y x checked ticked selected enabled active ☑ ☒ ✓ ✔
		ja j oui sí si sì sim tak ano da да так ναι igen evet kyllä כן हाँ हां 예 네 はい 是 نعم`)
	untickedWords = wordSet(`false f off no n unchecked unticked unselected disabled inactive none null ☐
		nein nee nej nei non não nie ne nu нет ні όχι nem hayır hayir ei לא नहीं 아니요 아니오 いいえ 否 لا`)
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// Ticked reports whether a value of the current tag ticks a check box. It is like Truth, but a word for no, in any of the languages in
// which numbers are spelled out, does not tick the box. A string that is neither a word for yes nor one for no ticks the box, with a
// warning, and so does a list of true and false.
func (e *Env) Ticked(v Value) bool {
	switch v := v.(type) {
	case string:
		word := strings.ToLower(strings.TrimSpace(v))
		if x, ok := parseNumber(word); ok {
			return !x.IsZero()
		}
		if word != "" && !tickedWords[word] && !untickedWords[word] {
			e.doubtTick("is text that means neither yes nor no")
		}
		return word != "" && !untickedWords[word]
	case []any:
		if slices.ContainsFunc(v, isBool) {
			e.doubtTick("is a list of several values")
		}
	}
	return truth(v)
}

// doubtTick warns that a box was ticked because of a value that hardly means it.
func (e *Env) doubtTick(why string) {
	e.doubtAbout(e.subject, "The value of '"+e.subject.String()+"' "+why+", so its box is checked.")
}
