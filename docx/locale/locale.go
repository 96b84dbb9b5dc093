// Package locale formats and parses numbers, amounts of money, dates, and words by the conventions of a language and region. The results
// depend only on the arguments.
//
// The conventions are those of Unicode's CLDR, in tables that tools/cldr generates. Letter case and sorting come from
// golang.org/x/text. Numbers are exact decimals throughout.
//
// It differs from CLDR in two ways, because a document is not a screen: -0.001 with two decimals is 0.00 and not -0.00; and amounts
// have the decimals of ISO 4217, where CLDR has none for cents that are no longer in use.
//
// Arabic has Latin digits for the language alone, the Maghreb, and the Emirates, and Arabic-Indic digits for Egypt, Saudi
// Arabia, and most of the Middle East, as in CLDR.
//
// All functions are safe for concurrent use, never panic, and return the same result for the same arguments.
package locale

import (
	"slices"
	"strings"
	"sync"

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
	language string  // "de" of "de-CH"
	parent   *Locale // nil for a language

	zero                                 rune // the digit zero; 0 means '0'
	secondary, minGroup                  int
	dates, times                         [4]string
	months, shortMonths, narrowMonths    months12
	aloneMonths, aloneShortMonths        months12
	days, shortDays, narrowDays          [7]string
	aloneDays, aloneShortDays            [7]string
	quarters, shortQuarters              [4]string
	periods                              []period
	weekStart, weekDays                  int
	readMonths, readDays                 []calendarName // that dates may contain
	spacedMonths                         bool           // some names of months have several words, as in Iraq
	monthFirst                           bool           // 3/5/2026 is the fifth of March
	money, negativeMoney, percentAffixes affixes
	currencies                           cache[currency]
	formats                              cache[numberFormat]
	pictures                             cache[wordPicture]
	patterns                             cache[pattern]
	casers, collators                    sync.Pool
	spelling                             func() *spelling
	ordinals                             func() *spellout
}

// Find returns the locale of a BCP 47 tag such as "de-CH", "pt_BR", or "zh-Hant-HK", in any letter case. A region
// without separate conventions has the locale of its language: "de" for "de-LU". The result is false if the language is unknown.
func Find(tag string) (*Locale, bool) {
	if len(tag) > maxTagBytes {
		return nil, false
	}
	name := canonical(tag)
	for name != "" {
		if find, ok := all()[name]; ok {
			return find(), true
		}
		name = name[:max(strings.LastIndexByte(name, '-'), 0)]
	}
	return nil, false
}

// canonical returns a tag in lower case, with the code that CLDR has for its language, and the script that its region implies.
func canonical(tag string) string {
	name := strings.ReplaceAll(strings.ToLower(tag), "_", "-")
	code, rest, _ := strings.Cut(name, "-")
	switch {
	case code == "no":
		code = "nb"
	case code == "iw":
		code = "he"
	case code == "zh" && (rest == "tw" || rest == "hk" || rest == "mo"):
		code = "zh-hant"
	case code == "zh" && (rest == "sg" || rest == "my"):
		code = "zh-hans"
	}
	return strings.TrimSuffix(code+"-"+rest, "-")
}

// Default returns the default locale: en, with the conventions of the United States.
func Default() *Locale { return defaultLocale() }

var defaultLocale = sync.OnceValue(func() *Locale { return all()["en"]() })

// Names returns the tags of all locales with separate conventions, sorted.
func Names() []string {
	var names []string
	for i := range conventionsTable {
		name, _, _ := strings.Cut(conventionsTable[i].tags, " ")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Languages returns the tags of all languages, sorted.
func Languages() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return strings.Contains(name, "-") })
}

// all returns a function for every locale by its tag in lower case. It builds the locale when it is first called.
var all = sync.OnceValue(func() map[string]func() *Locale {
	known := map[string]func() *Locale{}
	for i := range conventionsTable {
		row := &conventionsTable[i]
		tags := strings.Fields(row.tags)
		parent := known[strings.ToLower(row.parent)]
		build := sync.OnceValue(func() *Locale {
			if parent == nil {
				return newLocale(tags[0], *row, nil)
			}
			return newLocale(tags[0], row.inherit(&parent().conventions), parent())
		})
		for _, tag := range tags {
			known[strings.ToLower(tag)] = build
		}
	}
	return known
})

func newLocale(tag string, c conventions, parent *Locale) *Locale {
	l := &Locale{conventions: c, tag: tag, parent: parent}
	l.language, _, _ = strings.Cut(tag, "-")
	l.zero, l.secondary, l.minGroup = zeroOf(c.zero), digitsIn(c.secondary), digitsIn(c.minGroup)
	l.setDates(&c)
	prefix, suffix, _ := strings.Cut(strings.ReplaceAll(c.percent, "%", c.percentSign), "#")
	l.percentAffixes = affixes{prefix, suffix}
	l.money, l.negativeMoney = splitMoney(c.money, c.negativeMoney, c.minus)
	l.spelling = sync.OnceValue(l.newSpelling)
	l.ordinals = sync.OnceValue(func() *spellout {
		rules, _ := l.rules()
		return rules
	})
	und := language.Make(tag)
	l.casers.New = func() any {
		return &caser{upper: cases.Upper(und), lower: cases.Lower(und), title: cases.Title(und), initials: cases.Title(und, cases.NoLower)}
	}
	l.collators.New = func() any { return collate.New(und) }
	return l
}

// setDates sets what the locale needs for dates and times.
func (l *Locale) setDates(c *conventions) {
	l.dates, l.times = fourOf(c.dates), fourOf(c.times)
	l.months, l.shortMonths, l.narrowMonths = monthsOf(c.months), monthsOf(c.shortMonths), monthsOf(c.narrowMonths)
	l.aloneMonths, l.aloneShortMonths = l.months, l.shortMonths
	if c.aloneMonths != "" {
		l.aloneMonths = monthsOf(c.aloneMonths)
	}
	if c.aloneShortMonths != "" {
		l.aloneShortMonths = monthsOf(c.aloneShortMonths)
	}
	l.days, l.shortDays, l.narrowDays = daysOf(c.days), daysOf(c.shortDays), daysOf(c.narrowDays)
	l.aloneDays, l.aloneShortDays = l.days, l.shortDays
	if c.aloneDays != "" {
		l.aloneDays = daysOf(c.aloneDays)
	}
	if c.aloneShortDays != "" {
		l.aloneShortDays = daysOf(c.aloneShortDays)
	}
	l.readMonths = calendarNames(1, l.months[1:], l.shortMonths[1:], l.aloneMonths[1:], l.aloneShortMonths[1:])
	l.readDays = calendarNames(0, l.days[:], l.shortDays[:], l.aloneDays[:], l.aloneShortDays[:])
	l.spacedMonths = strings.Contains(c.months, " ")
	l.quarters, l.shortQuarters, l.periods = fourOf(c.quarters), fourOf(c.shortQuarters), periodsOf(c.periods)
	l.weekStart, l.weekDays = digitsIn(c.weekStart), digitsIn(c.weekDays)
	// Canadians write both 3/5/2026 and 2026-03-05, and mean the fifth of March.
	l.monthFirst = strings.HasPrefix(l.dates[0], "M") || l.tag == "en-CA"
}

// inherits reports whether the locale is that of a tag, or has its conventions from there.
func (l *Locale) inherits(tag string) bool {
	return l != nil && (l.tag == tag || l.parent.inherits(tag))
}

// Tag returns the BCP 47 tag of the locale.
func (l *Locale) Tag() string { return l.tag }

// RightToLeft reports whether the language is written from right to left.
func (l *Locale) RightToLeft() bool { return l.language == "ar" || l.language == "he" }

// A caser changes letter case; one serves one call at a time.
type caser struct{ upper, lower, title, initials cases.Caser }

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

// Initials returns s with a capital at the beginning of every word, and leaves the other letters.
func (l *Locale) Initials(s string) string {
	return l.recase(s, func(c *caser) cases.Caser { return c.initials })
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
