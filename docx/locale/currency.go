package locale

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// currency is how a locale writes amounts of one currency.
type currency struct {
	code               string
	places             int
	names              []string // by plural category, such as "one euro"; nil if it has none
	positive, negative affixes
}

// Currency returns an amount of money in the currency of that ISO 4217 code ("EUR", in any letter case), as the region
// writes it, with the decimals the currency has (JPY none, KWD three): "€1,234.50", "1.234,50 €", "-1 234,50 €". A
// code that is not one is an error.
func (l *Locale) Currency(d decimal.Decimal, iso string) (string, error) {
	c, err := l.currencies.get(iso, l.compileCurrency)
	if err != nil {
		return "", err
	}
	return l.amount(d, c, c.places), nil
}

// CurrencyPlaces is [Locale.Currency] with another number of decimals.
func (l *Locale) CurrencyPlaces(d decimal.Decimal, iso string, places int) (string, error) {
	c, err := l.currencies.get(iso, l.compileCurrency)
	if err != nil {
		return "", err
	}
	return l.amount(d, c, min(max(places, 0), maxFraction)), nil
}

func (l *Locale) amount(d decimal.Decimal, c *currency, places int) string {
	point, group := l.decimal, l.group
	if l.moneyDecimal != "" {
		point = l.moneyDecimal
	}
	if l.moneyGroup != "" {
		group = l.moneyGroup
	}
	var buf [64]byte
	n, ok := digitsOf(d, 0, buf[:])
	if !ok {
		return c.positive.prefix + l.exponential(d) + c.positive.suffix
	}
	n = n.round(places)
	around := &c.positive
	if n.negative {
		around = &c.negative
	}
	b := l.customary(places, places)
	return l.write(&n, &b, around, point, group)
}

func (l *Locale) compileCurrency(iso string) (*currency, error) {
	code := iso
	if len(code) == 3 {
		code = strings.ToUpper(code)
	}
	if !IsCurrency(code) {
		return nil, fmt.Errorf("%.20q is not a currency; use a three-letter code of ISO 4217, such as EUR or USD", iso)
	}
	row := l.currencyRow(code)
	symbol := cmp.Or(row[1], code)
	return &currency{
		code:     code,
		names:    l.inSentence(code, row[2:]),
		places:   minorDigits(code),
		positive: l.money.around(symbol),
		negative: l.negativeMoney.around(symbol),
	}, nil
}

// IsCurrency reports whether a text in capitals is a code of ISO 4217.
func IsCurrency(code string) bool {
	return len(code) == 3 && !strings.Contains(code, " ") && strings.Contains(currencyCodes, code)
}

// currencyRow returns the code of a currency, its symbol in the locale, which may be empty, and its names by plural category.
func (l *Locale) currencyRow(code string) []string {
	for at := l; at != nil; at = at.parent {
		rows := "\n" + currencyRows(at.tag)
		if _, rest, ok := strings.Cut(rows, "\n"+code+"|"); ok {
			row, _, _ := strings.Cut(rest, "\n")
			return strings.Split(code+"|"+row, "|")
		}
	}
	return []string{code, ""}
}

// inSentence returns the names of a currency as they are after a number. CLDR has capitals in Portuguese, and for German adjectives, and in
// Chinese the name of the money instead of its unit.
func (l *Locale) inSentence(code string, names []string) []string {
	if l.language == "zh" && code == "CNY" {
		return []string{"other 元"}
	}
	if l.language != "pt" && l.language != "de" {
		return names
	}
	var small []string
	for _, entry := range names {
		category, name, _ := strings.Cut(entry, " ")
		first, rest, _ := strings.Cut(name, " ")
		if l.language == "pt" || rest != "" && strings.Contains(first, "isch") { // Britische Pfund, but Schweizer Franken and US-Dollar
			first = l.Lower(first)
		}
		if l.language == "pt" {
			rest = l.Lower(rest)
		}
		small = append(small, category+" "+strings.TrimSpace(first+" "+rest))
	}
	return small
}

// minorDigits returns the number of decimals of a currency according to ISO 4217. (CLDR has 0 for some currencies whose cents are no longer
// used.)
func minorDigits(code string) int {
	switch code {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	case "CLF", "UYW":
		return 4
	}
	return 2
}

// splitMoney returns the text around a positive and a negative amount, with ¤ for the symbol. Without a pattern of
// its own a negative amount is a positive one with a minus in front.
func splitMoney(positive, negative, minus string) (p, n affixes) {
	p.prefix, p.suffix, _ = strings.Cut(positive, "#")
	if negative == "" {
		return p, affixes{minus + p.prefix, p.suffix}
	}
	n.prefix, n.suffix, _ = strings.Cut(strings.ReplaceAll(negative, "-", minus), "#")
	return p, n
}

// around replaces ¤ with the symbol. It adds a space between digits and a symbol of letters.
func (a affixes) around(symbol string) affixes {
	last, _ := utf8.DecodeLastRuneInString(symbol)
	if strings.HasSuffix(a.prefix, "¤") && unicode.IsLetter(last) {
		a.prefix += nbsp
	}
	return affixes{strings.ReplaceAll(a.prefix, "¤", symbol), strings.ReplaceAll(a.suffix, "¤", symbol)}
}
