package locale

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	units "golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// currency is how a locale writes amounts of one currency.
type currency struct {
	places             int
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
		return c.positive.prefix + l.exponential(d) + c.positive.suffix, nil
	}
	n = n.round(c.places)
	around := &c.positive
	if n.negative {
		around = &c.negative
	}
	b := l.customary(c.places, c.places)
	return l.write(&n, &b, around, point, group), nil
}

func (l *Locale) compileCurrency(iso string) (*currency, error) {
	code := iso
	if len(code) == 3 {
		code = strings.ToUpper(code)
	}
	unit, err := units.ParseISO(code)
	if len(code) != 3 || strings.Contains(code, " ") || err != nil && !strings.Contains(newCurrencies, code) {
		return nil, fmt.Errorf("%.20q is not a currency; use a three-letter code of ISO 4217, such as EUR or USD", iso)
	}
	symbol := code
	if err == nil {
		symbol = message.NewPrinter(language.Make(l.tag)).Sprint(units.Symbol(unit))
	}
	for _, s := range l.symbols {
		if s[0] == code {
			symbol = s[1]
		}
	}
	return &currency{
		places:   minorDigits(code),
		positive: l.money.around(symbol),
		negative: l.negativeMoney.around(symbol),
	}, nil
}

// newCurrencies are the currencies that are newer than the data in golang.org/x/text.
const newCurrencies = "VES VED SLE XCG ZWG UYW"

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
