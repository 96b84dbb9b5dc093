package locale

import (
	"slices"
	"strings"
)

// spelling is how a locale says numbers.
type spelling struct {
	minus, point string                          // with the blanks around them
	gap          string                          // between the decimals, which are said digit by digit
	say          func(n uint64, g gender) string // 0 to maxWords
}

// alone is the gender of numbers that do not count anything.
const alone gender = 0

// ownSpelling is a language whose numbers this package says with its own code.
type ownSpelling struct {
	minus, point, gap string
	say               func(l *Locale, n uint64, g gender) string
}

var ownSpellings = map[string]ownSpelling{
	"nl": {"min", "komma", " ", dutch},
	"fr": {"moins", "virgule", " ", french},
	"it": {"meno", "virgola", " ", italian},
	"pt": {"menos", "vírgula", " ", portuguese},
	"ro": {"minus", "virgulă", " ", romanian},
	"ja": {"マイナス", "・", "", japanese},
	"zh": {"负", "点", "", chinese},
	"ar": {"ناقص", "فاصلة", " ", arabic},
}

func (l *Locale) newSpelling() *spelling {
	own, ok := ownSpellings[l.language]
	if !ok {
		return l.spellingOfRules()
	}
	if l.inherits("zh-Hant") {
		own.minus, own.point = "負", "點"
	}
	return &spelling{own.minus + own.gap, own.gap + own.point + own.gap, own.gap, func(n uint64, g gender) string { return own.say(l, n, g) }}
}

// setsOf are the sets of rules for a gender, the best one first.
func setsOf(g gender) []string {
	common := []string{
		"%spellout-cardinal-masculine", "%spellout-cardinal-reale", "%spellout-cardinal-sinokorean", "%spellout-cardinal",
		"%spellout-cardinal-neuter",
	}
	switch g {
	case feminine:
		return append([]string{"%spellout-cardinal-feminine"}, common...)
	case neuter:
		return append([]string{"%spellout-cardinal-neuter"}, common...)
	case masculine:
		return common
	}
	return []string{"%spellout-cardinal-sinokorean", "%spellout-numbering"}
}

// spellingOfRules returns how the rules of CLDR say numbers.
func (l *Locale) spellingOfRules() *spelling {
	rules, special := l.rules()
	s := &spelling{point: " запятая ", gap: " "} // the rules of Russian say decimals as fractions
	for _, set := range append(setsOf(alone), setsOf(feminine)...) {
		if minus, _, ok := strings.Cut(special[set+" -x"], "→"); ok && s.minus == "" {
			s.minus = minus
		}
		for _, rule := range []string{special[set+" x,x"], special[set+" x.x"]} {
			rest, simple := strings.CutPrefix(rule, "←")
			_, rest, _ = strings.Cut(rest, "←")
			point, _, _ := strings.Cut(rest, "→")
			if simple && (rule == special[set+" x.x"] || l.decimal == ",") {
				s.point, s.gap = point, point[len(strings.TrimRight(point, " ")):]
				break
			}
		}
	}
	s.say = func(n uint64, g gender) string {
		set := setsOf(g)[slices.IndexFunc(setsOf(g), rules.has)]
		if l.language == "en" && !l.american() {
			set = "%spellout-cardinal-verbose"
		}
		return l.adapt(rules, set, n, g)
	}
	return s
}

// american reports whether the English of the locale has no "and" below a hundred.
func (l *Locale) american() bool { return !l.inherits("en-001") }

// rules returns the rules of the locale, with those of its parents, and what special numbers are called.
func (l *Locale) rules() (*spellout, map[string]string) {
	var text string
	for at := l; at != nil; at = at.parent {
		text = spelloutRules(at.tag) + text
	}
	if l.tag == "de-LI" { // CLDR has the Swiss spelling for Switzerland only
		text = spelloutRules("de-CH")
	}
	return parseSpellout(l, text)
}

// adapt says n by a set of rules, in the form that is customary in documents.
func (l *Locale) adapt(rules *spellout, set string, n uint64, g gender) string {
	counts := g != alone
	switch l.language {
	case "en": // rules have commas between thousands
		return strings.ReplaceAll(rules.say(set, n), ",", "")
	case "hu":
		text := hungarian(rules, set, n)
		if before, ok := strings.CutSuffix(text, "kettő"); ok && counts {
			return before + "két"
		}
		return text
	case "da": // the set for the common gender lacks the one of a million
		text := rules.say("%spellout-cardinal-neuter", n)
		if before, ok := strings.CutSuffix(" "+text, " et"); ok && counts && g != neuter {
			return strings.TrimPrefix(before+" en", " ")
		}
		return text
	case "sv": // the set for the common gender has it for thousands too
		text := rules.say("%spellout-numbering", n)
		if before, ok := strings.CutSuffix(text, "ett"); ok && counts && g != neuter {
			return before + "en"
		}
		return text
	}
	return rules.say(set, n)
}

// hungarian writes hyphens between the thousands of numbers above 2000.
func hungarian(rules *spellout, set string, n uint64) string {
	if n <= 2000 {
		return rules.say(set, n)
	}
	var parts []string
	for _, g := range groupsOf(n, 1000) {
		value := uint64(g.n)
		for range g.power {
			value *= 1000
		}
		parts = append(parts, rules.say(set, value))
	}
	return strings.Join(parts, "-")
}

// group is three (or six) digits of a number and the power of thousand (or million) they count.
type group struct {
	n     int
	power int
}

// groupsOf splits n into its groups that are not 0, the greatest first.
func groupsOf(n, size uint64) []group {
	var groups []group
	for power := 0; n > 0; power++ {
		if g := int(n % size); g > 0 {
			groups = append([]group{{g, power}}, groups...)
		}
		n /= size
	}
	return groups
}
