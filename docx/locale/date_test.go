package locale_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"platen/docx/locale"
)

var afternoon = time.Date(2026, time.March, 5, 14, 7, 9, 250e6, time.UTC)

// TestStyles compares with CLDR 48.
func TestStyles(t *testing.T) {
	for _, tt := range []struct{ tag, short, medium, long, full, clock string }{
		{"en", "3/5/26", "Mar 5, 2026", "March 5, 2026", "Thursday, March 5, 2026", "2:07 PM"},
		{"en-GB", "05/03/2026", "5 Mar 2026", "5 March 2026", "Thursday, 5 March 2026", "14:07"},
		{"de", "05.03.26", "05.03.2026", "5. März 2026", "Donnerstag, 5. März 2026", "14:07"},
		{"de-CH", "05.03.26", "05.03.2026", "5. März 2026", "Donnerstag, 5. März 2026", "14:07"},
		{"fr", "05/03/2026", "5 mars 2026", "5 mars 2026", "jeudi 5 mars 2026", "14:07"},
		{"fr-CA", "2026-03-05", "5 mars 2026", "5 mars 2026", "jeudi 5 mars 2026", "14 h 07"},
		{"es", "5/3/26", "5 mar 2026", "5 de marzo de 2026", "jueves, 5 de marzo de 2026", "14:07"},
		{"it", "05/03/26", "5 mar 2026", "5 marzo 2026", "giovedì 5 marzo 2026", "14:07"},
		{"pt-BR", "05/03/2026", "5 de mar. de 2026", "5 de março de 2026", "quinta-feira, 5 de março de 2026", "14:07"},
		{"pt-PT", "05/03/26", "05/03/2026", "5 de março de 2026", "quinta-feira, 5 de março de 2026", "14:07"},
		{"nl", "05-03-2026", "5 mrt 2026", "5 maart 2026", "donderdag 5 maart 2026", "14:07"},
		{"pl", "5.03.2026", "5 mar 2026", "5 marca 2026", "czwartek, 5 marca 2026", "14:07"},
		{"sv", "2026-03-05", "5 mars 2026", "5 mars 2026", "torsdag 5 mars 2026", "14:07"},
		{"ja", "2026/03/05", "2026/03/05", "2026年3月5日", "2026年3月5日木曜日", "14:07"},
		{"zh", "2026/3/5", "2026年3月5日", "2026年3月5日", "2026年3月5日星期四", "14:07"},
		{"zh-Hant", "2026/3/5", "2026年3月5日", "2026年3月5日", "2026年3月5日 星期四", "下午2:07"},
		{"ar", "5</3</2026", "05</03</2026", "5 مارس 2026", "الخميس، 5 مارس 2026", "2:07 م"},
		{"ar-EG", "٥</٣</٢٠٢٦", "٠٥</٠٣</٢٠٢٦", "٥ مارس ٢٠٢٦", "الخميس، ٥ مارس ٢٠٢٦", "٢:٠٧ م"},
	} {
		l := find(t, tt.tag)
		for style, want := range map[string]string{"short": tt.short, "medium": tt.medium, "long": tt.long, "full": tt.full} {
			if got, err := l.Date(afternoon, style); got != marks.Replace(want) || err != nil {
				t.Errorf("%s %s: %+q, %v; want %+q", tt.tag, style, got, err, want)
			}
		}
		if got, err := l.Time(afternoon, "short"); got != tt.clock || err != nil {
			t.Errorf("%s clock: %q, %v; want %q", tt.tag, got, err, tt.clock)
		}
	}
}

func TestDate(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	kolkata := time.FixedZone("", 5*3600+1800)
	for _, tt := range []struct {
		tag, pattern string
		at           time.Time
		want         string
	}{
		{"de", "e", afternoon, "4"},
		{"en", "z zzzz Z ZZZZZ XXX X O VV", afternoon.In(paris), "CET GMT+01:00 +0100 +01:00 +01:00 +01 GMT+1 Europe/Paris"},
		{"en", "z zzzz XXX X x O", afternoon.In(kolkata), "GMT+5:30 GMT+05:30 +05:30 +0530 +0530 GMT+5:30"},
		{"en", "XXX|ZZZZZ|O", afternoon, "Z|Z|GMT"},
		{"es", "d 'de' MMMM 'de' y", afternoon, "5 de marzo de 2026"},
		{"fr", "d MMMM y 'à' HH 'h' mm", afternoon, "5 mars 2026 à 14 h 07"},
		{"en", "''yy 'o''clock'", afternoon, "'26 o'clock"},
		{"pl", "QQQ", afternoon, "I kw."},
		{"ja", "y年M月d日", afternoon, "2026年3月5日"},
		{"de-AT", "MMMM", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "Jänner"},
		{"de", "w Y", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), "53 2026"},
		{"de", "w Y", time.Date(2024, 12, 30, 0, 0, 0, 0, time.UTC), "1 2025"},
		{"en", "w Y", time.Date(2026, 12, 27, 0, 0, 0, 0, time.UTC), "1 2027"},
		{"en", "w Y", time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC), "1 2027"},
	} {
		if got, err := find(t, tt.tag).Date(tt.at, tt.pattern); got != tt.want || err != nil {
			t.Errorf("%s: %q is %q, %v; want %q", tt.tag, tt.pattern, got, err, tt.want)
		}
	}
}

func TestDateFields(t *testing.T) {
	for _, tt := range []struct {
		tag, fields string
		at          time.Time
		want        string
	}{
		{"en", "y yy yyyy M MM MMM MMMM MMMMM d dd D", afternoon, "2026 26 2026 3 03 Mar March M 5 05 64"},
		{"en", "E EEEE EEEEE e Q QQ QQQ", afternoon, "Thu Thursday T 5 1 01 Q1"},
		{"en", "h hh H HH K k a m mm s ss S SSS", afternoon, "2 02 14 14 2 14 PM 7 07 9 09 2 250"},
		{"en", "h a k", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "12 AM 24"},
		{"pl", "LLLL,y d,MMMM", afternoon, "marzec,2026 5,marca"},
	} {
		var got []string
		for field := range strings.FieldsSeq(tt.fields) {
			s, err := find(t, tt.tag).Date(tt.at, field)
			if err != nil {
				t.Errorf("%s: %q: %v", tt.tag, field, err)
			}
			got = append(got, s)
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %q is %q; want %q", tt.tag, tt.fields, got, tt.want)
		}
	}
}

// In regions that count weeks as ISO 8601 does, they are those of package time.
func TestWeeksOfISO(t *testing.T) {
	l := find(t, "sv")
	for day := time.Date(1999, 12, 20, 0, 0, 0, 0, time.UTC); day.Year() < 2030; day = day.AddDate(0, 0, 1) {
		year, week := day.ISOWeek()
		got, err := l.Date(day, "YYYY w")
		if want := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006") + " " + itoa(week); got != want || err != nil {
			t.Fatalf("%s: %q, %v; want %q", day.Format(time.DateOnly), got, err, want)
		}
	}
}

func itoa(n int) string {
	return strings.TrimLeft(string([]byte{byte('0' + n/10), byte('0' + n%10)}), "0")
}

func TestDatePatternsThatCannotBeRead(t *testing.T) {
	for pattern, want := range map[string]string{
		"":          "1 to 256 bytes",
		"d of MMMM": "the letter o means nothing",
		"dd 'de":    "has no partner",
		"ddd":       "ddd is too long",
		"b":         "the letter b means nothing",
	} {
		got, err := locale.Default().Date(afternoon, pattern)
		var wrong *locale.PatternError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %q, %v; want an error with %q", pattern, got, err, want)
		}
	}
}

func FuzzDate(f *testing.F) {
	for _, seed := range []string{"d MMMM y", "short", "EEEE, d 'de' MMMM", "'", "''", "HH:mm:ss.SSSSSSSSS zzzz", "YYYY-'W'ww-e",
		"qqqq LLLLL"} {
		f.Add("pl", seed, int64(1772719629))
	}
	f.Fuzz(func(t *testing.T, tag, pattern string, seconds int64) {
		l, ok := locale.Find(tag)
		if !ok {
			l = locale.Default()
		}
		at := time.Unix(seconds, 0).UTC()
		first, err := l.Date(at, pattern)
		again, _ := l.Date(at, pattern)
		if err == nil && first != again {
			t.Errorf("%q gives %q and %q", pattern, first, again)
		}
		if ldml, ok := locale.BoxDate(pattern); ok {
			if _, err := l.Date(at, ldml); err != nil && strings.Contains(err.Error(), "means nothing in a date") {
				t.Errorf("BoxDate makes %q of %q: %v", ldml, pattern, err)
			}
		}
	})
}

func BenchmarkDate(b *testing.B) {
	l := find(b, "de")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Date(afternoon, "EEEE, d. MMMM y"); err != nil {
			b.Fatal(err)
		}
	}
}
