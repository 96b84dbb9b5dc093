package lang

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"platen/docx/locale"
)

const (
	// percentPlaces is the maximum number of decimals of percent without an argument.
	percentPlaces = 2
	// maxPercentPlaces is the maximum argument of percent.
	maxPercentPlaces = 20
	// maxWritten is the largest number of digits before the decimal point of a number that a locale formats.
	maxWritten = MaxDigits
)

// numberFilters write numbers, as in the locale but for Box's own formats.
var numberFilters = map[string]*filter{
	"format": {
		usage: `format("dd-mm-yyyy"), format("#,##0.00"), format("US-Number") or format("xxx-xxxx")`, arity: arity{1, 1},
		also: []string{"number"}, takesFor: formatTakes, args: []takes{like(aText, "xxx-xxxx")}, check: checkFormat, formats: true,
		apply: eachScalar(format),
	},
	"currency": {
		usage: `currency("EUR") or currency("EUR", 0)`, arity: arity{1, 2}, also: []string{"money"},
		takes: takes{want: aNumber}, args: []takes{like(aText, "EUR"), likeNumber("2")}, formats: true, check: checkCurrency,
		apply: eachScalar(currency),
	},
	"words": {
		usage: `words or words("EUR")`, arity: arity{0, 1}, also: []string{"spell"},
		takes: takes{want: aNumber}, args: []takes{like(aText, "EUR")}, formats: true, check: checkCurrency, apply: eachScalar(words),
	},
	"ordinal": {usage: "ordinal", takes: like(aNumber, json.Number("3"), json.Number("1")), formats: true, apply: eachScalar(ordinal)},
	"percent": {
		usage: "percent or percent(1)", arity: arity{0, 1},
		takes: takes{want: aNumber}, args: []takes{likeNumber("1")}, formats: true, apply: eachScalar(percent),
	},
}

// formatTakes returns what format takes its value for: by its pattern a text, a number, or a date.
func formatTakes(f *Filter) takes {
	l, ok := f.Args[0].(*Literal)
	if !ok {
		return takes{want: aScalar}
	}
	pattern, _ := l.Value.(string)
	switch {
	case isMask(pattern):
		return takes{want: aScalar}
	case strings.ContainsAny(pattern, "#0"), strings.HasSuffix(strings.ToLower(pattern), "-number"):
		return takes{want: aNumber}
	case strings.ContainsAny(pattern, "hH"):
		return takes{want: aTime}
	}
	return takes{want: aDate}
}

// currency writes an amount with the symbol of the currency whose ISO 4217 code is its argument, and with the decimals that the
// currency has or the second argument says.
func currency(e *Env, f *Filter, v Value) (Value, error) {
	d, err := e.decimal(v)
	if err != nil {
		return nil, err
	}
	code, err := e.currencyCode(f)
	if err != nil {
		return nil, err
	}
	var s string
	if len(f.Args) == 2 {
		places, placesErr := e.whole(f.Args[1], 0, maxPercentPlaces)
		if placesErr != nil {
			return nil, placesErr
		}
		s, err = e.locale().CurrencyPlaces(d, code, places)
	} else {
		s, err = e.locale().Currency(d, code)
	}
	if err != nil {
		return nil, &fault{node: f.Args[0], message: "is not a currency: " + err.Error()}
	}
	return e.made(s)
}

// currencyCode returns the first argument of a filter as the code of a currency.
func (e *Env) currencyCode(f *Filter) (string, error) {
	code, err := e.text(f.Args[0])
	if err != nil {
		return "", err
	}
	if message := checkCurrency(f, code); message != "" {
		return "", &fault{node: f.Args[0], message: message}
	}
	return strings.ToUpper(code), nil
}

// checkCurrency returns the mistake in a literal that is not a currency code.
func checkCurrency(_ *Filter, code string) string {
	if len(code) == 3 && locale.IsCurrency(strings.ToUpper(code)) {
		return ""
	}
	left, meant := maxSearch, locale.MeantCurrency(code)
	if len(code) != 3 { // other codes differ in one letter
		meant = cmp.Or(meant, nearest(code, slices.Values(locale.Currencies()), &left))
	}
	if meant == "" {
		return `is not a currency code of three letters, like "EUR"`
	}
	return `is not a currency code of three letters; did you mean "` + meant + `"?`
}

// percent writes 0.256 as 25.6 %: with as many decimals as its argument says or, without an argument, as there are, up to two.
func percent(e *Env, f *Filter, v Value) (Value, error) {
	d, err := e.decimal(v)
	if err != nil {
		return nil, err
	}
	if len(f.Args) == 0 {
		return e.made(e.locale().Percent(d, 0, percentPlaces))
	}
	places, err := e.whole(f.Args[0], 0, maxPercentPlaces)
	if err != nil {
		return nil, err
	}
	return e.made(e.locale().Percent(d, places, places))
}

// words spells out a number or, with the code of a currency, an amount of money.
func words(e *Env, f *Filter, v Value) (Value, error) {
	d, err := e.decimal(v)
	if err != nil {
		return nil, err
	}
	var s string
	if len(f.Args) == 0 {
		s, err = e.locale().Words(d)
	} else {
		code, codeErr := e.currencyCode(f)
		if codeErr != nil {
			return nil, codeErr
		}
		s, err = e.locale().CurrencyWords(d, code)
	}
	if err != nil {
		return nil, &fault{node: e.subject, message: "cannot be spelled out: " + err.Error()}
	}
	return e.made(s)
}

// ordinal writes 3 as 3rd.
func ordinal(e *Env, _ *Filter, v Value) (Value, error) {
	n, err := wholeNumber(e.subject, v, -maxWhole, maxWhole)
	if err != nil {
		return nil, err
	}
	s, err := e.locale().Ordinal(int64(n))
	if err != nil {
		return nil, &fault{node: e.subject, message: "has no ordinal: " + err.Error()}
	}
	return e.made(s)
}

// decimal returns a value that a filter is to write as a number.
func (e *Env) decimal(v Value) (decimal.Decimal, error) {
	x, err := operand(e.subject, v)
	if err == nil && (x.magnitude() > maxWritten || x.Exponent() < -maxWritten) {
		err = &fault{node: e.subject, message: "is a number with too many digits"}
	}
	return x.shown(), err
}

// writeNumber writes a number in a format such as #,##0.00.
func (e *Env) writeNumber(f *Filter, v Value, pattern string) (Value, error) {
	d, err := e.decimal(v)
	if err != nil {
		return nil, err
	}
	s, err := e.locale().Number(d, pattern)
	if unusable, ok := errors.AsType[*locale.PatternError](err); ok {
		return nil, &fault{node: f.Args[0], message: notANumberFormat + unusable.Reason}
	}
	if err != nil {
		return nil, err
	}
	return e.made(s)
}

const notANumberFormat = "is not a number format: "

// numberMistake returns the mistake in a number format, which is the same in all locales, or "".
func numberMistake(pattern string) string {
	_, err := locale.Default().Number(decimal.Zero, pattern)
	if unusable, ok := errors.AsType[*locale.PatternError](err); ok {
		return notANumberFormat + unusable.Reason
	}
	return ""
}

// groupThousands writes a number as Box does: the digits it came with, in groups of three, whatever the locale.
func (e *Env) groupThousands(v Value, group, point string) (Value, error) {
	x, err := operand(e.subject, v)
	if err != nil {
		return nil, err
	}
	s := x.text()
	if n, ok := v.(json.Number); ok {
		s, _ = numberText(n)
	} else if t, ok := v.(string); ok && exponentAt(t) < 0 {
		s = strings.TrimPrefix(strings.TrimSpace(t), "+")
	}
	sign := ""
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		sign, s = "-", rest
	}
	whole, decimals, fraction := strings.Cut(s, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(group)
		}
		b.WriteByte(whole[i])
	}
	if fraction {
		b.WriteString(point + decimals)
	}
	return e.made(b.String())
}
