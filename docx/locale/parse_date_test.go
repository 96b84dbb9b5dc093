package locale_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"platen/docx/locale"
)

func TestParseTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text, tag string
		loc       *time.Location
		want      string // date only when it is one
	}{
		{"2026-03-05", "en", nil, "2026-03-05"},
		{" 2026/3/5 ", "en", nil, "2026-03-05"},
		{"2026.03.05", "de", nil, "2026-03-05"},
		{"20260305", "en", nil, "2026-03-05"},
		{"13-03-2023", "en", nil, "2023-03-13"},
		{"05-03-2026", "en", nil, "2026-03-05"},
		{"5.3.2026", "en", nil, "2026-03-05"},
		{"03/05/2026", "en", nil, "2026-03-05"},
		{"03/05/2026", "en-US", nil, "2026-03-05"},
		{"03/05/2026", "en-GB", nil, "2026-05-03"},
		{"03/05/2026", "fr", nil, "2026-05-03"},
		{"5 March 2026", "en", nil, "2026-03-05"},
		{"March 5, 2026", "en", nil, "2026-03-05"},
		{"March 5th, 2026", "en", nil, "2026-03-05"},
		{"Thu, 05 Mar 2026 14:07:09 GMT", "en", nil, "2026-03-05T14:07:09Z"},
		{"5-Sept-2026", "en", nil, "2026-09-05"},
		{"5. März 2026", "de", nil, "2026-03-05"},
		{"Donnerstag, 5. März 2026", "de", nil, "2026-03-05"},
		{"March 5, 2026", "de", nil, "2026-03-05"},
		{"jeudi 5 mars 2026", "fr", nil, "2026-03-05"},
		{"1er févr. 2026", "fr", nil, "2026-02-01"},
		{"5 de marzo de 2026", "es", nil, "2026-03-05"},
		{"quinta-feira, 5 de março de 2026", "pt", nil, "2026-03-05"},
		{"5 marca 2026", "pl", nil, "2026-03-05"},
		{"2026年3月5日", "ja", nil, "2026-03-05"},
		{"5 مارس 2026", "ar", nil, "2026-03-05"},
		{"2026-03-05T14:07:09Z", "en", nil, "2026-03-05T14:07:09Z"},
		{"2026-03-05T14:07:09.25+01:00", "en", nil, "2026-03-05T14:07:09.25+01:00"},
		{"2026-03-05T23:30:00Z", "en", berlin, "2026-03-06T00:30:00+01:00"},
		{"2026-03-05 14:07", "en", berlin, "2026-03-05T14:07:00+01:00"},
		{"2026-07-05 14:07", "en", berlin, "2026-07-05T14:07:00+02:00"},
		{"2026-03-05 14:07:09 +0530", "en", nil, "2026-03-05T14:07:09+05:30"},
		{"20260305T140709Z", "en", nil, ""},
		{"05-03-2026, 2:07 PM", "en", nil, "2026-03-05T14:07:00Z"},
		{"2026-03-05 12:00 a.m.", "en", nil, "2026-03-05T00:00:00Z"},
		{"1772719629", "en", nil, "2026-03-05T14:07:09Z"},
		{"1772719629250", "en", nil, "2026-03-05T14:07:09.25Z"},
		{"-100000000", "en", nil, "1966-10-31T14:13:20Z"},
		{"1772719629", "en", berlin, "2026-03-05T15:07:09+01:00"},
	} {
		got, dateOnly, err := locale.ParseTime(tt.text, tt.loc, find(t, tt.tag))
		layout := time.RFC3339Nano
		if dateOnly {
			layout = time.DateOnly
		}
		if tt.want == "" {
			if err == nil {
				t.Errorf("%q is read as %s", tt.text, got)
			}
			continue
		}
		if err != nil || got.Format(layout) != tt.want {
			t.Errorf("%s: %q is read as %s, %v; want %s", tt.tag, tt.text, got.Format(layout), err, tt.want)
		}
	}
}

// What a locale writes as a date, it also reads: every month, in the styles with the year in full.
func TestDatesAreReadBack(t *testing.T) {
	for _, tag := range locale.Names() {
		l := find(t, tag)
		styles := []string{"medium", "long", "full", "d MMMM y", "LLLL d, y"}
		if name, _ := l.Date(time.Time{}, "MMMM"); name[0] <= '9' { // 1月 would be a second number
			styles = styles[:3]
		}
		for month := time.January; month <= time.December; month++ {
			day := time.Date(2026, month, 5, 0, 0, 0, 0, time.UTC)
			for _, style := range styles {
				text, err := l.Date(day, style)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(text, "2026") && !strings.Contains(text, "٢٠٢٦") {
					continue // the style has two digits of the year
				}
				got, dateOnly, err := locale.ParseTime(text, nil, l)
				if err != nil || !dateOnly || !got.Equal(day) {
					t.Errorf("%s: %q is read as %s, %v; want %s", tag, text, got.Format(time.DateOnly), err, day.Format(time.DateOnly))
				}
			}
		}
	}
}

func TestTimesThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "write it like",
		"hello":                        `"hello" is not a month`,
		"31-04-2026":                   "April 2026 has no day 31",
		"2026-13-01":                   "there is no month 13",
		"25/12/2026":                   "there is no month 25",
		"29-02-2025":                   "February 2025 has no day 29",
		"05-03-26":                     "four digits",
		"0000-01-01":                   "the year 0",
		"2026-03":                      "numbers with - between them",
		"12345":                        "one day",
		"2026-03-05T25:00":             "a time such as",
		"2026-03-05 14:07 Paris":       "is too much",
		"2026-03-05 14:07+19:00":       "at most 15 hours",
		"2026-03-05 13:00 PM":          "1 to 12",
		"5 5 March 2026":               "one day",
		strings.Repeat("1", 101):       "write it like",
		"2026-03-05T14:07:09+01:00x":   "a zone is",
		"March 2026":                   "missing",
		"99999999":                     "there is no month 99",
		"\xff\xfe":                     "write it like",
		"2026-03-05 14:07:09.1.2":      "is too much",
		"2026-03-05 14:07:09,":         "is too much",
		strings.Repeat("Thursday ", 3): "missing",
	} {
		got, _, err := locale.ParseTime(text, nil, nil)
		if _, ok := errors.AsType[*locale.TimeError](err); !ok {
			t.Errorf("%q is read as %s, %v", text, got, err)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

// What ParseTime reads can be written and read again.
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{"2026-03-05", "13-03-2023", "March 5th, 2026", "2026-03-05T14:07:09.25+01:00", "1772719629",
		"2026年3月5日", "5 de marzo de 2026 2:07 p.m."} {
		f.Add(seed, "es")
	}
	f.Fuzz(func(t *testing.T, text, tag string) {
		l, _ := locale.Find(tag)
		got, dateOnly, err := locale.ParseTime(text, nil, l)
		if err != nil {
			return
		}
		written := got.Format(time.RFC3339Nano)
		again, _, err := locale.ParseTime(written, nil, l)
		if err != nil && got.Year() > 0 && got.Year() < 10000 || err == nil && !again.Equal(got) {
			t.Errorf("%q is %s, which is read as %s, %v", text, written, again, err)
		}
		if dateOnly && got.Format(time.TimeOnly) != "00:00:00" {
			t.Errorf("%q is a date at %s", text, got)
		}
	})
}

func TestBoxDate(t *testing.T) {
	for pattern, want := range map[string]string{
		"dd-mm-yyyy": "dd-MM-yyyy", "mm-dd-yyyy": "MM-dd-yyyy", "dd-mmm-yy": "dd-MMM-yy", "DD/MM/YYYY": "dd/MM/yyyy",
		"dd/mm/yyyy hh:mm": "dd/MM/yyyy HH:mm", "yyyy-mm-ddThh:mm:ss": "yyyy-MM-dd'T'HH:mm:ss", "HH:MM": "HH:mm",
		"h:mm AM/PM": "h:mm a", "h:mm a": "h:mm a", "mm:ss": "mm:ss", "dddd, d mmmm yyyy": "EEEE, d MMMM yyyy",
		"d 'at' hh:mm": "d 'at' HH:mm", "d MMMM yyyy": "d MMMM yyyy", "EEEE": "EEEE", "hh.mm": "HH.mm", "yyyy年m月d日": "yyyy年M月d日",
	} {
		if got, ok := locale.BoxDate(pattern); got != want || !ok {
			t.Errorf("BoxDate(%q) = %q, %v; want %q", pattern, got, ok, want)
		}
	}
	for _, pattern := range []string{"", "xxx-xxxx", "#,##0.00", "US-Number", "mmmmm", "ddddd", "'d", "a", "d of m",
		strings.Repeat("d-", 200)} {
		if got, ok := locale.BoxDate(pattern); ok {
			t.Errorf("BoxDate(%q) = %q", pattern, got)
		}
	}
}
