package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// addNumbers adds the symbols and patterns of numbers, percentages, and amounts of money.
func addNumbers(f *fields, d *data, tag string) error {
	v, err := mainFile[struct{ Numbers map[string]json.RawMessage }](d, "cldr-numbers-full", tag, "numbers.json")
	if err != nil {
		return err
	}
	n := v.Numbers
	var system, least string
	if err := decode(n, "defaultNumberingSystem", &system); err != nil {
		return err
	}
	if err := decode(n, "minimumGroupingDigits", &least); err != nil {
		return err
	}
	var symbols map[string]string
	if err := decode(n, "symbols-numberSystem-"+system, &symbols); err != nil {
		return err
	}
	for _, s := range [][2]string{
		{"decimal", "decimal"}, {"group", "group"}, {"minus", "minusSign"}, {"percentSign", "percentSign"},
		{"moneyDecimal", "currencyDecimal"}, {"moneyGroup", "currencyGroup"},
	} {
		f.text(s[0], symbols[s[1]])
	}
	systems, err := supplemental[struct {
		NumberingSystems map[string]map[string]string
	}](d, "numberingSystems.json")
	if err != nil {
		return err
	}
	zero, _ := utf8.DecodeRuneInString(systems.NumberingSystems[system]["_digits"])
	f.text("zero", string(zero))
	f.text("minGroup", least)
	return addPatterns(f, n, system)
}

func decode(m map[string]json.RawMessage, key string, v any) error {
	if err := json.Unmarshal(m[key], v); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// addPatterns adds the patterns, with # for the digits.
func addPatterns(f *fields, n map[string]json.RawMessage, system string) error {
	var number, percent, money struct{ Standard string }
	for key, v := range map[string]any{"decimalFormats": &number, "percentFormats": &percent, "currencyFormats": &money} {
		if err := decode(n, key+"-numberSystem-"+system, v); err != nil {
			return err
		}
	}
	if _, groups, ok := strings.Cut(number.Standard, ","); ok && strings.Contains(groups, ",") {
		f.text("secondary", strconv.Itoa(strings.IndexByte(groups, ',')))
	} else {
		f.text("secondary", "3")
	}
	positive, negative, _ := strings.Cut(money.Standard, ";")
	f.text("percent", mark(percent.Standard))
	f.text("money", mark(positive))
	f.text("negativeMoney", mark(negative))
	var units map[string]json.RawMessage
	if err := decode(n, "currencyFormats-numberSystem-"+system, &units); err != nil {
		return err
	}
	var unit string
	if err := decode(units, "unitPattern-count-other", &unit); err != nil {
		return err
	}
	between := strings.TrimSuffix(strings.TrimPrefix(unit, "{0}"), "{1}")
	f.text("unitGap", between)
	return nil
}

// mark replaces the digits of a pattern with one #.
func mark(pattern string) string {
	digits := strings.IndexAny(pattern, "#0")
	if digits < 0 {
		return ""
	}
	end := strings.LastIndexAny(pattern, "#0") + 1
	return pattern[:digits] + "#" + pattern[end:]
}
