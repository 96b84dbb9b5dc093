package locale_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"platen/docx/locale"
)

// TestWordNumber has the examples of ISO 29500-1 §17.16.4.2 first, and then the rest of its rules.
func TestWordNumber(t *testing.T) {
	for _, tt := range []struct{ tag, picture, number, want string }{
		{"en", "00.00", "9", "09.00"},
		{"en", "$###", "15", "$ 15"},
		{"en", "x##", "222492", "492"},
		{"en", "0.00x", "0.125", "0.125"},
		{"en", ".x", "0.75", ".8"},
		{"en", ".x", "1234.75", "1234.8"},
		{"en", "$###.00", "95.4", "$ 95.40"},
		{"en", "$#,###,###", "2456800", "$2,456,800"},
		{"en", "-##", "-10", "-10"},
		{"en", "-##", "10", " 10"},
		{"en", "+##", "10", "+10"},
		{"en", "+##", "-10", "-10"},
		{"en", "##%", "33", "33%"},
		{"en", "$##0.00 'is the sales tax'", "3.98", "$  3.98 is the sales tax"},

		// Digits
		{"en", "0", "12.5", "13"},
		{"en", "#,##0.00", "1234567.5", "1,234,567.50"},
		{"en", "#,##0.00", "5", "   5.00"},
		{"en", "#,##0.00", "-5", "-   5.00"},
		{"en", ",0.00", "1234.5", "1,234.50"},
		{"en", "$,0", "1234567", "$1,234,567"},
		{"en", "$,#.00", "0.5", "$ .50"},
		{"en", "0.##", "1.5", "1.5 "},
		{"en", "0.0#", "1.256", "1.26"},
		{"en", "#", "0", "0"},
		{"en", "#,###", "0", "   0"},
		{"en", "0,000", "5", "0,005"},
		{"en", "0", "12345678901234567890123", "12345678901234567890123"},
		{"en", "x##", "5", "  5"},
		{"en", "x##", "1000", "000"},
		{"en", "x00", "7", " 07"},

		// Signs and sections
		{"en", "0.00", "-12.5", "-12.50"},
		{"en", "$0.00", "-12.5", "-$12.50"},
		{"en", "-0.00", "-12.5", "-12.50"},
		{"en", "+0", "-13", "-13"},
		{"en", "+0", "0", " 0"},
		{"en", "0-", "-3", "3-"},
		{"en", "0.00;(0.0)", "-12.56", "(12.6)"},
		{"en", "0.00;-$0.0", "-12.56", "-$12.6"},
		{"en", "0.00;0.00", "-1", "1.00"},
		{"en", "0.00;-0.00;'nil'", "0", "nil"},
		{"en", "0.00;-0.00;nil", "0.004", "nil"},
		{"en", "0.00;(0.00)", "-0.001", "0.00"},
		{"en", "0;-0;", "0", ""},
		{"en", "0;(0);0.0", "0", "0.0"},
		{"en", "'yes';'no'", "-1", "no"},

		// Text
		{"en", "000-00-0000", "123456789", "123-45-6789"},
		{"en", "(###) ###-####", "5551234567", "(555) 123-4567"},
		{"en", "00000'-'0000", "123456789", "12345-6789"},
		{"en", "0.00 'x#0;'", "2", "2.00 x#0;"},
		{"en", "EUR 0.00", "2", "EUR 2.00"},
		{"en", "0.00‘ net’", "2", "2.00 net"},
		{"en", "Nr. 0", "2", "Nr. 2"},
		{"en", "0;[Red]0", "-2", "[Red]2"},
		{"en", "0.", "2", "2."},

		// Separators
		{"de", "#,##0.00", "1234.5", "1.234,50"},
		{"de", "#.##0,00", "1234.5", "1.234,50"},
		{"de", "0,00", "1234.5", "1234,50"},
		{"de", "0.00", "1234.5", "1234,50"},
		{"de", "#.##0", "1234.5", "1.235"},
		{"de", "#,##0", "1234.5", "1.235"},
		{"de", "#.##0 €;-#.##0 €", "-1234", "-1.234 €"},
		{"de", "#.###.##0", "1234", "   1.234"},
		{"de", "0,00;0,000", "-1", "1,000"},
		{"en", "#.##0,00", "1234.5", "1,234.50"},
		{"en", "#.##0", "1234.5", "1,235"},
		{"en", "0.000", "1234.5", "1234.500"},
		{"en", "#,###", "1234.5", "1,235"},
		{"fr", "# ##0,00 €", "1234567.5", "1_234_567,50 €"},
		{"fr", "## ## ## ## ##", "0612345678", " 6 12 34 56 78"},
		{"ar-EG", "#,##0.0", "1234.5", "١٬٢٣٤٫٥"},
	} {
		got, err := find(t, tt.tag).WordNumber(dec(tt.number), tt.picture)
		if got = marks.Replace(got); err != nil || got != marks.Replace(tt.want) && got != tt.want {
			t.Errorf("%s in %q, %s: %q, %v, not %q", tt.number, tt.picture, tt.tag, got, err, tt.want)
		}
	}
}

func TestWordNumberMistakes(t *testing.T) {
	for _, tt := range []struct{ tag, picture, reason string }{
		{"en", "0,00", "the comma separates groups and not decimals"},
		{"en", "$,00", "the comma separates groups and not decimals"},
		{"de", "0,000", "can be meant for decimals and for groups"},
		{"de", "0.000", "can be meant for decimals and for groups"},
		{"de", "#,###", "can be meant for decimals and for groups"},
		{"de", ",0", "can be meant for decimals and for groups"},
		{"en", "0.0,0,0", "two decimal points"},
		{"en", "0.00;0,00", "the comma separates groups"},
		{"de", "0.00;0,00", "different decimal separators"},
		{"en", "0,0#0", "write # before 0"},
		{"en", "#x#", "x must be the first place"},
		{"en", "0#", "write # before 0"},
		{"en", "0.#0", "cannot be read"},
		{"en", "0 ex VAT", "the letter x drops digits"},
		{"en", "0 'net", "one of them is missing"},
		{"de-CH", "#'##0.00", "one of them is missing"},
		{"en", "0 `table`", "numbers of captions"},
		{"en", "0;0;0;0", "more than three sections"},
		{"en", "d MMMM yyyy", "it shows no digit"},
		{"en", "0." + strings.Repeat("0", 101), "more than 100 decimals"},
		{"en", strings.Repeat("0", 257), "longer than 256 bytes"},
	} {
		got, err := find(t, tt.tag).WordNumber(dec("1"), tt.picture)
		mistake, ok := errors.AsType[*locale.PatternError](err)
		if !ok || !strings.Contains(mistake.Reason, tt.reason) {
			t.Errorf("%q, %s: %q, %v, not %q", tt.picture, tt.tag, got, err, tt.reason)
		}
	}
}

func TestCheckPicture(t *testing.T) {
	for picture, ok := range map[string]bool{"0,00": true, "#,###": true, "# ##0,00": true, "0#": false, "xy": false} {
		if err := locale.CheckPicture(picture); (err == nil) != ok {
			t.Errorf("%q: %v", picture, err)
		}
	}
}

// TestWordNumberIsTotal checks that no picture makes it panic or write without limit.
func TestWordNumberIsTotal(t *testing.T) {
	parts := rapid.SampledFrom([]string{"0", "#", "x", ".", ",", ";", "'", "-", "+", " ", "a", "%", "`", "é", "\u00a0"})
	rapid.Check(t, func(t *rapid.T) {
		picture := strings.Join(rapid.SliceOfN(parts, 0, 20).Draw(t, "picture"), "")
		number := dec(rapid.SampledFrom([]string{"0", "-0.04", "5", "-1234567.895", "1e40", "1e-40", "1e2000"}).Draw(t, "number"))
		for _, tag := range []string{"en", "de", "fr", "ar-EG"} {
			l, _ := locale.Find(tag)
			if s, err := l.WordNumber(number, picture); err == nil && len(s) > 2000 {
				t.Fatalf("%q is %d bytes long", picture, len(s))
			}
		}
	})
}

func TestReadNumber(t *testing.T) {
	for _, tt := range []struct {
		tag, text, want string
		percent         bool
	}{
		{"en", "1,234.50", "1234.50", false},
		{"en", " 12 ", "12", false},
		{"en", "007", "7", false},
		{"en", "0", "0", false},
		{"en", "$1,234", "1234", false},
		{"en", "-$5.00", "-5.00", false},
		{"en", "$-5.00", "-5.00", false},
		{"en", "($1,234.50)", "-1234.50", false},
		{"en", "+3", "3", false},
		{"en", "USD 12", "12", false},
		{"en", "12 EUR", "12", false},
		{"en", "12.5%", "12.5", true},
		{"en", ".5", "0.5", false},
		{"en", "1,23", "", false},
		{"en", "12,34,567", "", false},
		{"en-IN", "12,34,567", "1234567", false},
		{"en", "1234,567", "", false},
		{"en", "12 pcs", "", false},
		{"en", "1-2", "", false},
		{"en", "--1", "", false},
		{"en", "$%1", "", false},
		{"en", "5.", "", false},
		{"en", "", "", false},
		{"en", "$", "", false},
		{"en", "(5", "", false},
		{"en", "2026-03-05", "", false},
		{"de", "1.234,50 €", "1234.50", false},
		{"de", "1.234", "1234", false},
		{"de", "1234.5", "", false},
		{"de", "12,5 %", "12.5", true},
		{"fr", "1 234 567,5", "1234567.5", false},
		{"fr", "1\u202f234,5", "1234.5", false},
		{"de-CH", "1'234.5", "1234.5", false},
		{"de-CH", "1’234.5", "1234.5", false},
		{"sv", "−5,5", "-5.5", false},
		{"ar-EG", "١٬٢٣٤٫٥", "1234.5", false},
	} {
		got, percent, ok := find(t, tt.tag).ReadNumber(tt.text)
		if ok != (tt.want != "") || ok && (got != tt.want || percent != tt.percent) {
			t.Errorf("%q, %s: %q, %v, %v", tt.text, tt.tag, got, percent, ok)
		}
	}
}
