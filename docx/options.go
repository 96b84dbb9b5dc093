package docx

import (
	"fmt"
	"strings"
	"time"

	_ "time/tzdata" // for machines without a time zone database

	"platen/docx/lang"
	"platen/docx/locale"
)

// Settings are options as people write them.
type Settings struct {
	Locale   string // a language tag such as "de-CH"; empty: "en"
	TimeZone string // a name of the IANA time zone database, such as "Europe/Paris"; empty: times stay in their own
	Missing  string // "tag", "blank" or "error"; empty: "tag"
	Strict   bool
}

// SettingError is an invalid setting, with the valid values in its message.
type SettingError struct{ Name, Message string } // Name is "locale", "time_zone" or "missing"

// Error returns the message.
func (e *SettingError) Error() string { return e.Message }

// maxSetting is the largest length of a setting, in bytes.
const maxSetting = 100

// Options returns the options for the settings, and an error for every invalid one.
func (s Settings) Options() (Options, []*SettingError) {
	o := Options{Strict: s.Strict}
	var wrong []*SettingError
	fail := func(name, format string, args ...any) {
		wrong = append(wrong, &SettingError{name, fmt.Sprintf(format, args...)})
	}
	if s.Locale != "" {
		var ok bool
		if o.Locale, ok = locale.Find(s.Locale); !ok {
			hint := "use a tag such as de or de-CH, of one of these languages: " + strings.Join(locale.Languages(), ", ")
			if meant := locale.Meant(s.Locale); meant != "" {
				hint = "did you mean " + meant + "?"
			}
			fail("locale", "there is no locale %.*q; %s", maxSetting, s.Locale, hint)
		}
	}
	if s.TimeZone != "" {
		location, err := time.LoadLocation(s.TimeZone[:min(len(s.TimeZone), maxSetting)])
		if o.Location = location; err != nil || s.TimeZone == "Local" {
			fail("time_zone", "there is no time zone %.*q; use a name such as Europe/Paris", maxSetting, s.TimeZone)
		}
	}
	switch s.Missing {
	case "", "tag":
	case "blank":
		o.Missing = lang.MissingBlank
	case "error":
		o.Missing = lang.MissingError
	default:
		fail("missing", "missing is tag, blank or error, not %.*q", maxSetting, s.Missing)
	}
	return o, wrong
}
