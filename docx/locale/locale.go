// Package locale formats and parses numbers, amounts of money, dates, and words by the conventions of a language and region. The results
// depend only on the arguments.
//
// The conventions are those of Unicode's CLDR. The names of months and days come from go-playground/locales, the symbols of
// currencies, letter case, and sorting from golang.org/x/text, and separators and patterns from tables of this package, which
// the tests compare with CLDR. Numbers are exact decimals throughout.
//
// It differs from CLDR in three ways, because a document is not a screen: -0.001 with two decimals is 0.00 and not -0.00; a
// plain space precedes AM and PM, since many fonts lack the narrow one; and Swiss German groups with ’, as in print, also where
// newer data has '.
//
// Arabic has Latin digits for the language alone, the Maghreb, and the Emirates, and Arabic-Indic digits for Egypt, Saudi
// Arabia, and most of the Middle East, as in CLDR.
//
// All functions are safe for concurrent use, never panic, and return the same result for the same arguments.
package locale

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-playground/locales"
	"golang.org/x/text/cases"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// maxTagBytes is the largest length of the name of a locale.
const maxTagBytes = 64

// A Locale writes and reads as people of one language and region do. Get one with [Find]; there is one of each, and it is
// never changed.
type Locale struct {
	conventions
	tag      string
	language string // "de" of "de-CH"
	names    locales.Translator

	months, shortMonths, narrowMonths [13]string // from 1
	days, shortDays, narrowDays       [7]string  // from Sunday

	money, negativeMoney affixes
	percentAffixes       affixes
	currencies           cache[currency]
	formats              cache[numberFormat]
	patterns             cache[pattern]
	casers, collators    sync.Pool
}

// Find returns the locale of a BCP 47 tag such as "de-CH", "pt_BR", or "zh-Hant-HK", in any letter case. A region
// without separate conventions has the locale of its language: "de" for "de-LU". The result is false if the language is unknown.
func Find(tag string) (*Locale, bool) {
	if len(tag) > maxTagBytes {
		return nil, false
	}
	known := all()
	name := strings.ReplaceAll(strings.ToLower(tag), "_", "-")
	if script, ok := impliedScript(name); ok {
		name = script
	}
	for name != "" {
		if l, ok := known[name]; ok {
			return l, true
		}
		if same, ok := sameAs[name]; ok {
			return known[same], true
		}
		name = name[:max(strings.LastIndexByte(name, '-'), 0)]
	}
	return nil, false
}

// impliedScript returns the tag for Chinese in a region that writes the traditional characters.
func impliedScript(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "zh-")
	switch rest {
	case "tw", "hk", "mo":
		return "zh-hant-" + rest, ok
	}
	return "", false
}

// Default returns the default locale: en, with the conventions of the United States.
func Default() *Locale { return all()["en"] }

// Names returns the tags of all locales with separate conventions, sorted.
func Names() []string {
	var names []string
	for l := range maps.Values(all()) {
		names = append(names, l.tag)
	}
	slices.Sort(names)
	return names
}

// all returns every locale by its tag in lower case.
var all = sync.OnceValue(func() map[string]*Locale {
	known := map[string]*Locale{}
	for _, b := range languages() {
		known[b.tag] = newLocale(b.tag, b.conventions)
	}
	for _, r := range regions() {
		c := known[strings.ToLower(r.parent)].conventions
		r.change(&c)
		known[strings.ToLower(r.tag)] = newLocale(r.tag, c)
	}
	return known
})

func newLocale(tag string, c conventions) *Locale {
	l := &Locale{conventions: c, tag: tag, names: c.source()}
	l.language, _, _ = strings.Cut(tag, "-")
	copy(l.months[1:], l.names.MonthsWide())
	copy(l.shortMonths[1:], l.names.MonthsAbbreviated())
	copy(l.narrowMonths[1:], l.names.MonthsNarrow())
	copy(l.days[:], l.names.WeekdaysWide())
	copy(l.shortDays[:], l.names.WeekdaysAbbreviated())
	copy(l.narrowDays[:], l.names.WeekdaysNarrow())
	l.money, l.negativeMoney = splitMoney(c.currency, c.negative, c.minus)
	l.percentAffixes = affixes{suffix: c.percentGap + c.percentSign}
	und := language.Make(tag)
	l.casers.New = func() any {
		return &caser{upper: cases.Upper(und), lower: cases.Lower(und), title: cases.Title(und)}
	}
	l.collators.New = func() any { return collate.New(und) }
	return l
}

// Tag returns the BCP 47 tag of the locale.
func (l *Locale) Tag() string { return l.tag }

// RightToLeft reports whether the language is written from right to left.
func (l *Locale) RightToLeft() bool { return l.language == "ar" }

// A caser changes letter case; one serves one call at a time.
type caser struct{ upper, lower, title cases.Caser }

func (l *Locale) recase(s string, by func(*caser) cases.Caser) string {
	c := l.casers.Get().(*caser)
	defer l.casers.Put(c)
	return by(c).String(s)
}

// Upper returns s in capitals.
func (l *Locale) Upper(s string) string {
	return l.recase(s, func(c *caser) cases.Caser { return c.upper })
}

// Lower returns s in small letters.
func (l *Locale) Lower(s string) string {
	return l.recase(s, func(c *caser) cases.Caser { return c.lower })
}

// Title returns s with a capital at the beginning of every word and small letters after (Dutch: IJsland).
func (l *Locale) Title(s string) string {
	return l.recase(s, func(c *caser) cases.Caser { return c.title })
}

// Compare orders two texts as a dictionary of the language does; it is negative, 0 or positive. Texts that differ are
// never equal: the order is total, so that a sorted list is always the same.
func (l *Locale) Compare(a, b string) int {
	c := l.collators.Get().(*collate.Collator)
	defer l.collators.Put(c)
	if order := c.CompareString(a, b); order != 0 {
		return order
	}
	return strings.Compare(a, b)
}

// List returns the items as an enumeration in a sentence: "a, b, and c" in the United States, "a, b and c" in Britain,
// "a, b und c", "a、b和c".
func (l *Locale) List(items []string) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	last := items[len(items)-1]
	and := l.lastAnd
	if len(items) == 2 {
		and = l.pairAnd
	}
	if l.language == "es" && soundsLikeI(last) {
		and = strings.ReplaceAll(and, " y ", " e ")
	}
	return strings.Join(items[:len(items)-1], l.comma) + and + last
}

// soundsLikeI reports whether a Spanish word begins with the sound i, before which "y" becomes "e".
func soundsLikeI(word string) bool {
	word = strings.ToLower(word)
	word, silent := strings.CutPrefix(word, "h")
	if silent && (strings.HasPrefix(word, "ie") || strings.HasPrefix(word, "ia")) {
		return false
	}
	return strings.HasPrefix(word, "i") || strings.HasPrefix(word, "í")
}
