package locale_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"platen/docx/locale"
)

// The blanks and marks in what CLDR gives, so that they can be seen.
var marks = strings.NewReplacer("~", "\u00a0", "_", "\u202f", "<", "\u200f", ">", "\u200e", "^", "\u061c")

func find(t testing.TB, tag string) *locale.Locale {
	t.Helper()
	l, ok := locale.Find(tag)
	if !ok {
		t.Fatalf("there is no locale %s", tag)
	}
	return l
}

// TestCustoms compares with CLDR 48.
func TestCustoms(t *testing.T) {
	for _, tt := range []struct{ tag, number, small, percent, euro, dollar, yen, franc string }{
		{"en", "-1,234,567.5", "1,234.5", "-25.6%", "€1,234.50", "-$12,345.60", "-¥12,346", "-CHF~12,345.60"},
		{"en-GB", "-1,234,567.5", "1,234.5", "-25.6%", "€1,234.50", "-US$12,345.60", "-JP¥12,346", "-CHF~12,345.60"},
		{"en-IN", "-12,34,567.5", "1,234.5", "-25.6%", "€1,234.50", "-$12,345.60", "-JP¥12,346", "-CHF~12,345.60"},
		{"de", "-1.234.567,5", "1.234,5", "-25,6~%", "1.234,50~€", "-12.345,60~$", "-12.346~¥", "-12.345,60~CHF"},
		{"de-AT", "-1~234~567,5", "1~234,5", "-25,6~%", "€~1.234,50", "-$~12.345,60", "-¥~12.346", "-CHF~12.345,60"},
		{"de-CH", "-1'234'567.5", "1'234.5", "-25.6%", "EUR~1'234.50", "$-12'345.60", "¥-12'346", "CHF-12'345.60"},
		{"fr", "-1_234_567,5", "1_234,5", "-25,6~%", "1_234,50~€", "-12_345,60~$US", "-12_346~JPY", "-12_345,60~CHF"},
		{"fr-CH", "-1'234'567,5", "1'234,5", "-25,6%", "1'234.50~€", "-12'345.60~$US", "-12'346~JPY", "-12'345.60~CHF"},
		{"fr-CA", "-1~234~567,5", "1~234,5", "-25,6~%", "1~234,50~€", "-12~345,60~$~US", "-12~346~¥", "-12~345,60~CHF"},
		{"es", "-1.234.567,5", "1234,5", "-25,6~%", "1234,50~€", "-12.345,60~US$", "-12.346~JPY", "-12.345,60~CHF"},
		{"es-MX", "-1,234,567.5", "1,234.5", "-25.6%", "EUR~1,234.50", "-USD~12,345.60", "-JPY~12,346", "-CHF~12,345.60"},
		{"it", "-1.234.567,5", "1234,5", "-25,6%", "1234,50~€", "-12.345,60~USD", "-12.346~JPY", "-12.345,60~CHF"},
		{"pt", "-1.234.567,5", "1.234,5", "-25,6%", "€~1.234,50", "-US$~12.345,60", "-JP¥~12.346", "-CHF~12.345,60"},
		{"pt-PT", "-1~234~567,5", "1234,5", "-25,6%", "1234,50~€", "-12~345,60~US$", "-12~346~JP¥", "-12~345,60~CHF"},
		{"nl", "-1.234.567,5", "1.234,5", "-25,6%", "€~1.234,50", "US$~-12.345,60", "JP¥~-12.346", "CHF~-12.345,60"},
		{"pl", "-1~234~567,5", "1234,5", "-25,6%", "1234,50~€", "-12~345,60~USD", "-12~346~JPY", "-12~345,60~CHF"},
		{"sv", "−1~234~567,5", "1~234,5", "−25,6~%", "1~234,50~€", "−12~345,60~US$", "−12~346~JPY", "−12~345,60~CHF"},
		{"ja", "-1,234,567.5", "1,234.5", "-25.6%", "€1,234.50", "-$12,345.60", "-￥12,346", "-CHF~12,345.60"},
		{"zh", "-1,234,567.5", "1,234.5", "-25.6%", "€1,234.50", "-US$12,345.60", "-JP¥12,346", "-CHF~12,345.60"},
		{"zh-TW", "-1,234,567.5", "1,234.5", "-25.6%", "€1,234.50", "-US$12,345.60", "-¥12,346", "-CHF~12,345.60"},
		{"ar", ">-1,234,567.5", "1,234.5", ">-25.6>%>", "<1,234.50~€", "<>-12,345.60~US$", "<>-12,346~JP¥", "<>-12,345.60~CHF"},
		{"ar-EG", "^-١٬٢٣٤٬٥٦٧٫٥", "١٬٢٣٤٫٥", "^-٢٥٫٦٪^", "<١٬٢٣٤٫٥٠~€", "^-<١٢٬٣٤٥٫٦٠~US$", "^-<١٢٬٣٤٦~JP¥", "^-<١٢٬٣٤٥٫٦٠~CHF"},
	} {
		t.Run(tt.tag, func(t *testing.T) {
			l := find(t, tt.tag)
			money := func(amount, iso string) string {
				s, err := l.Currency(dec(amount), iso)
				if err != nil {
					t.Error(err)
				}
				return s
			}
			for _, c := range [][3]string{
				{"number", l.Decimal(dec("-1234567.5"), 0, 3), tt.number},
				{"small number", l.Decimal(dec("1234.5"), 0, 3), tt.small},
				{"percent", l.Percent(dec("-0.256"), 0, 1), tt.percent},
				{"euro", money("1234.5", "EUR"), tt.euro},
				{"dollar", money("-12345.6", "usd"), tt.dollar},
				{"yen", money("-12345.6", "JPY"), tt.yen},
				{"franc", money("-12345.6", "CHF"), tt.franc},
			} {
				if want := marks.Replace(c[2]); c[1] != want {
					t.Errorf("%s: %+q, want %+q", c[0], c[1], want)
				}
			}
		})
	}
}

func TestNumber(t *testing.T) {
	for _, tt := range []struct{ tag, number, format, want string }{
		{"en", "1234.5", "#,##0.00", "1,234.50"},
		{"en", "1234.5", "0.0#", "1234.5"},
		{"en", "1234.567", "0.0#", "1234.57"},
		{"en", "7", "000", "007"},
		{"en", "0.5", "#.##", ".5"},
		{"en", "0", "#", "0"},
		{"en", "-1234", "#,##0;(#,##0)", "(1,234)"},
		{"en", "-1234", "#,##0.00 CR;#,##0.00 DR", "1,234.00 DR"},
		{"en", "0.256", "0%", "26%"},
		{"en", "0.256", "0.0‰", "256.0‰"},
		{"en", "12345678", "#,##,##0", "1,23,45,678"},
		{"en", "123456789", "#,###0", "1,2345,6789"},
		{"en", "5", "'#'0", "#5"},
		{"en", "5", "0 'o''clock'", "5 o'clock"},
		{"en", "1234.5", "€ #,##0.00 each", "€ 1,234.50 each"},
		{"en", "0.5", "0", "1"}, {"en", "-0.5", "0", "-1"}, {"en", "2.5", "0", "3"}, {"en", "2.4999999999999999999999", "0", "2"},
		{"en", "-0.001", "0.00", "0.00"},
		{"en", "999.995", "0.00", "1000.00"},
		{"en", "0.06", "0.0", "0.1"}, {"en", "0.04", "0.0", "0.0"}, {"en", "0.004", "0.0", "0.0"},
		{"en", "12345678901234567890.12", "#,##0.00", "12,345,678,901,234,567,890.12"},
		{"en", "1e3", "#,##0", "1,000"},
		{"en", "-1e2000", "#,##0", "-1E2000"}, {"en", "1e-2000", "0.0#", "0.0"},
		{"de", "1234.5", "#,##0.00", "1.234,50"},
		{"es", "1234.5", "#,##0.00", "1.234,50"},
		{"fr", "1234.5", "#,##0.00", "1_234,50"},
		{"sv", "-5", "0", "−5"},
		{"ar-EG", "0.256", "0.0%", "٢٥٫٦٪^"},
	} {
		got, err := find(t, tt.tag).Number(dec(tt.number), tt.format)
		if want := marks.Replace(tt.want); got != want || err != nil {
			t.Errorf("%s: %s as %q is %q, %v; want %q", tt.tag, tt.number, tt.format, got, err, want)
		}
	}
}

func TestNumberFormatsThatCannotBeRead(t *testing.T) {
	for format, want := range map[string]string{
		"":                              "write 0 or #",
		"abc":                           "write 0 or #",
		"#.##0,00":                      "the point always separates decimals",
		"0,00":                          "write the point for the decimal sign",
		"# ##0,00":                      "in two places",
		"0.#0":                          "write 0 before #",
		"0#":                            "write # before 0",
		"#,,##0":                        "write commas between digits",
		"0E0":                           "exponent",
		"0;minus":                       "after the semicolon",
		"#,##0.00;[Red]-#,##0.00":       `[Red] is a code of Excel; for a color, write the filter color`,
		"[Color 10]0":                   "[Color 10] is a code of Excel",
		"[Rot]0":                        "[Rot] is a code of Excel",
		"[>=100]0":                      "write $if(condition, value, otherwise)",
		"[$€-407] #,##0":                "write the sign of the currency itself",
		strings.Repeat("0", 300):        "longer than 256 bytes",
		"0." + strings.Repeat("0", 101): "more than 100 decimals",
	} {
		got, err := locale.Default().Number(decimal.NewFromInt(1), format)
		var wrong *locale.PatternError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %q, %v; want an error with %q", format, got, err, want)
		}
	}
}

// Brackets with other text, and codes between apostrophes, are text.
func TestNumberFormatsWithBrackets(t *testing.T) {
	for format, want := range map[string]string{"0 [net]": "1 [net]", "'[Red]' 0": "[Red] 1", "[0]": "[1]", "0 '[' [x": "1 [ [x"} {
		if got, err := locale.Default().Number(decimal.NewFromInt(1), format); got != want || err != nil {
			t.Errorf("%q gives %q, %v; want %q", format, got, err, want)
		}
	}
}

func TestCurrencyDigits(t *testing.T) {
	for iso, want := range map[string]string{
		"JPY": "¥1,235", "KWD": "KWD~1,234.568", "CLF": "CLF~1,234.5679", "ISK": "ISK~1,235", "HUF": "HUF~1,234.57", "VES": "VES~1,234.57",
	} {
		got, err := locale.Default().Currency(dec("1234.56789"), iso)
		if got != marks.Replace(want) || err != nil {
			t.Errorf("%s: %q, %v; want %q", iso, got, err, want)
		}
	}
	for _, iso := range []string{"", "EU", "EURO", "€", "QQQ", "E R", "ES "} {
		if got, err := locale.Default().Currency(decimal.NewFromInt(1), iso); err == nil || !strings.Contains(err.Error(), "ISO 4217") {
			t.Errorf("%q gives %q, %v; want an error that tells what to write", iso, got, err)
		}
	}
}

// A number that is written and read back is the same, whatever the language.
func TestNumbersKeepTheirDigits(t *testing.T) {
	names := locale.Names()
	rapid.Check(t, func(t *rapid.T) {
		l, _ := locale.Find(rapid.SampledFrom(names).Draw(t, "locale"))
		d := decimal.New(rapid.Int64().Draw(t, "coefficient"), rapid.Int32Range(-30, 30).Draw(t, "exponent"))
		written := l.Decimal(d, 0, 100)
		point := strings.Trim(l.Decimal(dec("0.5"), 1, 1), "05٠٥")
		text := digitsOnly(written, point)
		back, err := decimal.NewFromString(text)
		if err != nil || !back.Equal(d) {
			t.Fatalf("%s writes %s as %q, which is read as %s, %v", l.Tag(), d, written, text, err)
		}
	})
}

// digitsOnly returns a written number in plain digits.
func digitsOnly(written, point string) string {
	whole, fraction, _ := strings.Cut(written, point)
	if !strings.Contains(written, point) {
		whole, fraction = written, ""
	}
	keep := func(r rune) rune {
		switch {
		case '٠' <= r && r <= '٩':
			return r - '٠' + '0'
		case r == '−':
			return '-'
		case '0' <= r && r <= '9' || r == '-':
			return r
		}
		return -1
	}
	return strings.Map(keep, whole) + "." + strings.Map(keep, fraction) + "0"
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{
		"#,##0.00", "0.0#", "#,##0;(#)", "0;(0);-", "0%", "'x'0", "#,##,##0.###", "0;-0", "....", ",0,", "0'", "‰0",
	} {
		f.Add("de-CH", seed, int64(-1234567), int32(-3))
	}
	f.Fuzz(func(t *testing.T, tag, format string, coefficient int64, exponent int32) {
		l, ok := locale.Find(tag)
		if !ok {
			l = locale.Default()
		}
		d := decimal.New(coefficient, exponent)
		first, err := l.Number(d, format)
		again, _ := l.Number(d, format)
		if err == nil && first != again || len(first) > 10000 {
			t.Errorf("%q gives %q and %q", format, first, again)
		}
		l.Decimal(d, int(exponent), int(coefficient))
		l.Percent(d, 0, int(exponent))
		if _, err := l.Currency(d, "EUR"); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkNumber(b *testing.B) {
	l, d := find(b, "de"), dec("1234567.891")
	b.Run("format", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := l.Number(d, "#,##0.00"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("currency", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := l.Currency(d, "EUR"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func dec(s string) decimal.Decimal { return decimal.RequireFromString(s) }
