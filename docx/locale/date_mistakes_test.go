package locale_test

import (
	"strings"
	"testing"
	"time"

	"platen/docx/locale"
)

func TestPatternsThatSpellWords(t *testing.T) {
	at := time.Date(2026, 3, 5, 14, 30, 45, 0, time.UTC)
	for pattern, want := range map[string]string{
		"d de MMMM de yyyy":           `"de" is text; put it between apostrophes: d 'de' MMMM 'de' yyyy`,
		"dd. MMMM yyyy um HH:mm":      `"um" is text; put it between apostrophes: dd. MMMM yyyy 'um' HH:mm`,
		"dd. MMMM yyyy um HH:mm Uhr":  `put text between apostrophes: dd. MMMM yyyy 'um' HH:mm 'Uhr'`,
		"HHhmm":                       `HH and h both show the hour; remove one of them, or put text between apostrophes, such as HH'h'mm`,
		"HH h mm":                     `such as HH 'h' mm`,
		"d MMMM yyyy às HH:mm":        `"às" is text`,
		"am d.M.yyyy":                 `"am" is text; put it between apostrophes: 'am' d.M.yyyy`,
		"d du MMMM":                   `"du" is text`,
		"d 'de' MMMM da yyyy":         `d 'de' MMMM 'da' yyyy`,
		"MMMM es yyyy":                `"es" is text`,
		"dd.MM.yyyy dd":               `dd and dd both show the day`,
		"yyyy-MM-dd YYYY":             `yyyy and YYYY both show the year`,
		"H:mm h":                      `H and h both show the hour`,
		"d MMMM yyyy y":               `yyyy and y both show the year`,
		"mm:ss:mm":                    `mm and mm both show the minute`,
		"MM/dd MM":                    `MM and MM both show the month`,
		"EEEE (EEE)":                  `EEEE and EEE both show the weekday`,
		"d. MMMM yyyy, HH:mm '":       `has no partner`,
		"d 'of MMMM":                  `has no partner`,
		"d MMMM yyyy 'um' HH:mm um":   `"um" is text; put it between apostrophes: d MMMM yyyy 'um' HH:mm 'um'`,
		"dd-MM-yyyy HHhmm'm'ss des":   `"des" is text`,
		"yyyy年M月d日 de":                `"de" is text`,
		"MMMM (MMM)":                  `MMMM and MMM both show the month`,
		"hhmmssHH":                    `is text`,
		"EEEE, le d":                  `'le' d`,
		"QQQ q":                       `both show the quarter`,
		"dd/MM/yyyy hh:mm:ss a B":     `both show the half of the day`,
		"d MMM, HH:mm 'bis' HH:mm":    `HH and HH both show the hour`,
		"sd":                          `"sd" is text`,
		"d. M. yyyy v HH:mm":          `put text between apostrophes: d. M. yyyy 'v' HH:mm`,
		"yyyyMMddTHHmmss":             `put text between apostrophes`,
		"yyyy-MM-dd'T'HH:mm:ss.SSSSu": `"SSSSu" is text`,
	} {
		_, err := locale.Default().Date(at, pattern)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", pattern, err, want)
		}
	}
	for pattern := range strings.SplitSeq("yyyyMMdd|HHmmss|h:mma|yyyyMMddHHmmssSSS|ddMMMyyyy|ah:mm|aK:mm|yyyy年M月d日|a h時m分|yQQQ|yyyyww|"+
		"hmma|ha|HHmmZ|"+
		"EEEEd|EEE, dd MMM yyyy HH:mm:ss z|d 'de' MMMM 'de' yyyy|HH'h'mm|d MMMM yyyy à HH:mm|MMMM (MM)|"+
		"yyyy-MM-dd'T'HH:mm:ssXXX|HHmmssddMMyyyy|HH:mm z (XXX)|w/Y|E|"+
		"yyyy'''s' MMMM|mm:ss|D|ddMMyy|h:mm a z|MMM d, y", "|") {
		if _, err := locale.Default().Date(at, pattern); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
