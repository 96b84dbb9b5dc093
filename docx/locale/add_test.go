package locale_test

import (
	"strings"
	"testing"
	"time"

	"platen/docx/locale"
)

func TestAdd(t *testing.T) {
	for _, tt := range []struct{ from, amount, want string }{
		{"2026-01-31 14:07", "+1 month", "2026-02-28 14:07"},
		{"2024-01-31 14:07", "1 month", "2024-02-29 14:07"},
		{"2024-02-29 00:00", "+1 year", "2025-02-28 00:00"},
		{"2026-03-31 00:00", "-1 month", "2026-02-28 00:00"},
		{"2026-01-15 00:00", "-2 months", "2025-11-15 00:00"},
		{"2026-03-05 14:07", "-2 weeks", "2026-02-19 14:07"},
		{"2026-03-05 14:07", "+2weeks", "2026-03-19 14:07"},
		{"2026-03-05 14:07", "+ 90 days", "2026-06-03 14:07"},
		{"2026-03-05 14:07", "1 year 6 months", "2027-09-05 14:07"},
		{"2026-03-05 14:07", "+1 month, end of month", "2026-04-30 00:00"},
		{"2026-03-05 14:07", "3 days ago", "2026-03-02 14:07"},
		{"2026-03-05 14:07", "a week", "2026-03-12 14:07"},
		{"2026-03-05 14:07", "+1 quarter", "2026-06-05 14:07"},
		{"2026-03-05 14:07", "+10 hours 3 minutes 60 seconds", "2026-03-06 00:11"},
		{"2026-03-05 14:07", "end of month", "2026-03-31 00:00"},
		{"2026-01-31 14:07", "end of the month", "2026-01-31 00:00"},
		{"2026-03-05 14:07", "the last day of the month", "2026-03-31 00:00"},
		{"2026-03-05 14:07", "last day of quarter", "2026-03-31 00:00"},
		{"2026-03-05 14:07", "first day of quarter", "2026-01-01 00:00"},
		{"2026-03-05 14:07", "Start of Year", "2026-01-01 00:00"},
		{"2026-03-05 14:07", "end of year", "2026-12-31 00:00"},
		{"2026-03-05 14:07", "beginning of week", "2026-03-02 00:00"},
		{"2026-03-08 14:07", "start of week", "2026-03-02 00:00"},
		{"2026-03-05 14:07", "end of week", "2026-03-08 00:00"},
		{"2026-03-05 14:07", "end of day", "2026-03-05 00:00"},
		{"2026-03-05 14:07", "next monday", "2026-03-09 14:07"},
		{"2026-03-09 14:07", "next monday", "2026-03-16 14:07"},
		{"2026-03-05 14:07", "last Fri", "2026-02-27 14:07"},
		{"2026-03-05 14:07", "next thursday", "2026-03-12 14:07"},
		{"2026-03-05 14:07", "last thursday", "2026-02-26 14:07"},
		{"2026-03-31 14:07", "next month", "2026-04-30 14:07"},
		{"2026-03-05 14:07", "last year", "2025-03-05 14:07"},
		{"2026-03-05 14:07", "tomorrow", "2026-03-06 00:00"},
		{"2026-03-05 14:07", "yesterday", "2026-03-04 00:00"},
		{"2026-03-05 14:07", "today", "2026-03-05 00:00"},
		{"2026-03-05 14:07", "+2 business days", "2026-03-09 14:07"},
		{"2026-03-05 14:07", "10 working days", "2026-03-19 14:07"},
		{"2026-03-07 14:07", "+1 weekday", "2026-03-09 14:07"},
		{"2026-03-08 14:07", "+5 weekdays", "2026-03-13 14:07"},
		{"2026-03-08 14:07", "-1 business day", "2026-03-06 14:07"},
		{"2026-03-09 14:07", "-1 business day", "2026-03-06 14:07"},
		{"2026-03-05 14:07", "0 days", "2026-03-05 14:07"},
	} {
		from, err := time.Parse("2006-01-02 15:04", tt.from)
		if err != nil {
			t.Fatal(err)
		}
		got, err := locale.Add(from, tt.amount)
		if err != nil || got.Format("2006-01-02 15:04") != tt.want {
			t.Errorf("%s, %s, is %s, %v; want %s", tt.from, tt.amount, got.Format("2006-01-02 15:04"), err, tt.want)
		}
	}
}

// A day later is the same time of day, also when the clocks change in the night.
func TestAddKeepsTheTimeOfDay(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, time.March, 28, 12, 0, 0, 0, berlin)
	for amount, want := range map[string]string{"+1 day": "2026-03-29T12:00:00+02:00", "+24 hours": "2026-03-29T13:00:00+02:00"} {
		if got, err := locale.Add(noon, amount); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s is %s, %v; want %s", amount, got.Format(time.RFC3339), err, want)
		}
	}
}

func TestAmountsThatCannotBeRead(t *testing.T) {
	for amount, want := range map[string]string{
		"":                        "write it like",
		"soon":                    `"soon" cannot be read`,
		"+1":                      `"+1" cannot be read`,
		"1 fortnight":             "cannot be read",
		"+1 month or so":          `"or so" cannot be read`,
		"end of":                  "cannot be read",
		"end of the":              "cannot be read",
		"next":                    "cannot be read",
		"+2000000 days":           "cannot be read",
		"+9000 years":             "the years 1 to 9999",
		"-3000 years":             "the years 1 to 9999",
		"+1000000 years":          "the years 1 to 9999",
		"-1000000 years":          "the years 1 to 9999",
		"1 business":              "cannot be read",
		"1 business month":        "cannot be read",
		strings.Repeat("1 d", 50): "longer than 100 bytes",
	} {
		if got, err := locale.Add(afternoon, amount); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %s, %v; want an error with %q", amount, got, err, want)
		}
	}
}

func FuzzAdd(f *testing.F) {
	for _, seed := range []string{"+1 month", "end of the month", "last day of quarter, next monday", "3 business days ago", "+ - 1", "the"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, amount string) {
		got, err := locale.Add(afternoon, amount)
		if err == nil && (got.Year() < 1 || got.Year() > 9999) {
			t.Errorf("%q leads to %s", amount, got)
		}
	})
}
