package locale

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

// million is the number whose multiples are nouns in Romance languages: un million d'euros.
const million = 1_000_000

// moneyAnd is what precedes the cents of an amount, where it is not what joins two items of a list.
var moneyAnd = map[string]string{"cs": " a ", "es": " con ", "ja": "", "ko": " ", "ru": " ", "tr": " ", "uk": " ", "zh": ""}

// CurrencyWords spells out an amount of money in the currency of an ISO 4217 code: "twelve euros and five cents", "minus one Japanese yen",
// "zero euros". It is rounded to the decimals that the currency has. Cents that are zero are left out. If the language has no word for the
// cents of the currency, they are a fraction: "twelve Polish zlotys and 05/100". The limit is that of [Locale.Words].
func (l *Locale) CurrencyWords(d decimal.Decimal, iso string) (string, error) {
	c, err := l.currencies.get(iso, l.compileCurrency)
	if err != nil {
		return "", err
	}
	if len(c.names) == 0 {
		return "", fmt.Errorf("the currency %s has no name in the language %s", c.code, l.language)
	}
	var buf [64]byte
	n, ok := digitsOf(d, 0, buf[:])
	if !ok || n.whole > fastDigits {
		return "", tooLarge()
	}
	if n = n.round(c.places); n.whole > fastDigits {
		return "", tooLarge()
	}
	text := l.count(n.part(n.whole-1, 0), c.names)
	if cents := n.part(-1, -c.places); cents > 0 {
		text += l.moneyAnd() + l.countCents(cents, c)
	}
	if n.negative {
		text = l.spelling().minus + text
	}
	return text, nil
}

func (l *Locale) moneyAnd() string {
	if and, ok := moneyAnd[l.language]; ok {
		return and
	}
	return l.pairAnd
}

// countCents spells out the cents of an amount, or writes them as a fraction.
func (l *Locale) countCents(cents uint64, c *currency) string {
	if c.code == "CNY" && l.language == "zh" {
		return l.jiaoAndFen(cents)
	}
	if names := l.centsOf(c.code); names != nil {
		return l.count(cents, names)
	}
	text := fmt.Sprintf("%0*d", c.places, cents)
	var out []byte
	for i := range len(text) {
		out = l.appendDigit(out, text[i])
	}
	out = append(out, '/')
	hundred := uint64(1)
	for range c.places {
		hundred *= 10
	}
	return string(l.appendWhole(out, hundred))
}

// jiaoAndFen spells out the tenths and hundredths of a yuan.
func (l *Locale) jiaoAndFen(cents uint64) string {
	var text strings.Builder
	for _, part := range []struct {
		n    uint64
		name string
	}{{cents / 10, "角"}, {cents % 10, "分"}} {
		if part.n > 0 {
			text.WriteString(l.spelling().say(part.n, masculine) + part.name)
		}
	}
	return text.String()
}

// count spells out how many there are of what has these names by plural category.
func (l *Locale) count(n uint64, names []string) string {
	one := nameFor("one", names)
	number := l.spelling().say(n, l.genderOf(one))
	category := pluralOf(l.language, n)
	name := nameFor(category, names)
	switch {
	case l.language == "ar" && n == 2 && name != nameFor("other", names): // the dual says the number
		return name
	case l.RightToLeft() && n == 1, l.language == "ar" && n == 2: // the number follows, as an adjective
		return name + " " + number
	}
	gap := l.unitGap
	if l.language == "zh" { // Traditional Chinese has a space after digits only
		gap = ""
	}
	if category != "other" { // Romanian: doisprezece lei, but douăzeci de lei
		gap = strings.Replace(gap, " de ", " ", 1)
	}
	if n > 0 && n%million == 0 {
		gap = l.afterMillion(name, gap)
	}
	return number + gap + name
}

// nameFor returns the name for a plural category.
func nameFor(category string, names []string) string {
	other := ""
	for _, entry := range names {
		of, name, _ := strings.Cut(entry, " ")
		if of == category {
			return name
		}
		other = name
	}
	return other
}

// afterMillion returns what joins a full number of millions and a name, usually what joins other numbers with it.
func (l *Locale) afterMillion(name, usual string) string {
	switch l.language {
	case "es", "pt":
		return " de "
	case "it":
		return " di "
	case "fr":
		if strings.ContainsAny(name[:1], "aeiou") {
			return " d’"
		}
		return " de "
	}
	return usual
}
