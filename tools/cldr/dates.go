package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// calendar is the Gregorian calendar of a locale.
type calendar struct {
	Months, Days, Quarters, DayPeriods map[string]map[string]map[string]string
	DateFormats, TimeFormats           map[string]string
}

// addDates adds the names of months, days, quarters, and day periods, and the styles of dates and times.
func addDates(f *fields, d *data, tag string) error {
	v, err := mainFile[struct {
		Dates struct {
			Calendars struct{ Gregorian calendar }
		}
	}](d, "cldr-dates-full", tag, "ca-gregorian.json")
	if err != nil {
		return err
	}
	c := v.Dates.Calendars.Gregorian
	f.list("dates", styles(c.DateFormats))
	f.list("times", styles(c.TimeFormats))
	months := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}
	days := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	for _, width := range []string{"wide", "abbreviated", "narrow"} {
		addNames(f, "months", width, c.Months, months)
		addNames(f, "days", width, c.Days, days)
	}
	quarters := []string{"1", "2", "3", "4"}
	f.list("quarters", values(c.Quarters["format"]["wide"], quarters))
	f.list("shortQuarters", values(c.Quarters["format"]["abbreviated"], quarters))
	half := c.DayPeriods["format"]["abbreviated"]
	f.text("am", half["am"])
	f.text("pm", half["pm"])
	return addPeriods(f, d, tag, half)
}

// styles returns the patterns from short to full. Some have a narrow space, which many fonts lack. For these, CLDR has a second form, with
// a plain space.
func styles(formats map[string]string) []string {
	var all []string
	for _, style := range []string{"short", "medium", "long", "full"} {
		pattern := formats[style]
		if plain := strings.ReplaceAll(pattern, "\u202f", " "); plain == formats[style+"-alt-ascii"] {
			pattern = plain
		}
		all = append(all, pattern)
	}
	return all
}

// fieldNames names the fields of a row by the width that CLDR has.
var fieldNames = map[string]string{"wide": "", "abbreviated": "short", "narrow": "narrow"}

// addNames adds names as they are in a date, and on their own if these differ.
func addNames(f *fields, what, width string, names map[string]map[string]map[string]string, keys []string) {
	inDate, alone := values(names["format"][width], keys), values(names["stand-alone"][width], keys)
	f.list(camel(fieldNames[width], what), inDate)
	switch {
	case width == "narrow":
	case slices.Equal(inDate, alone):
		f.text(camel("alone", fieldNames[width], what), "")
	default:
		f.list(camel("alone", fieldNames[width], what), alone)
	}
}

// camel joins words to a name in camel case.
func camel(words ...string) string {
	name := ""
	for _, w := range words {
		if name != "" && w != "" {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		name += w
	}
	return name
}

func values(m map[string]string, keys []string) []string {
	var all []string
	for _, k := range keys {
		all = append(all, m[k])
	}
	return all
}

// addPeriods adds the parts of the day (B) with the hours that they begin at, such as "0 凌晨|5 清晨".
func addPeriods(f *fields, d *data, tag string, names map[string]string) error {
	v, err := supplemental[struct {
		DayPeriodRuleSet map[string]map[string]map[string]string
	}](d, "dayPeriods.json")
	if err != nil {
		return err
	}
	language, _, _ := strings.Cut(tag, "-")
	hours := make([]string, 24)
	for name, rule := range v.DayPeriodRuleSet[language] {
		from, before := hour(rule["_from"]), hour(rule["_before"])
		if _, ok := rule["_at"]; ok { // noon and midnight are moments, and B is for parts of the day
			continue
		}
		for h := from; h != before%24 || hours[h] == ""; h = (h + 1) % 24 {
			hours[h] = names[name]
		}
	}
	var all []string
	for h, name := range hours {
		if name == "" {
			return fmt.Errorf("no part of the day has the hour %d", h)
		}
		if h == 0 || name != hours[h-1] {
			all = append(all, fmt.Sprintf("%d %s", h, name))
		}
	}
	f.list("periods", all)
	return nil
}

func hour(clock string) int {
	h, _, _ := strings.Cut(clock, ":")
	n, _ := strconv.Atoi(h)
	return n
}
