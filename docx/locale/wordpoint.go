package locale

import "strings"

// Word reads the separators in a picture as its system writes numbers, so #.##0,00 is as frequent as #,##0.00. Most pictures can only be
// meant in one way, whatever the locale.

// pointOf returns the decimal separator of a picture, or says why it is not known.
func (l *Locale) pointOf(sections [][]wordItem) (point byte, reason string) {
	unsure := false
	for _, items := range sections {
		separator, decimals, groups := separatorOf(items)
		switch {
		case separator == 0:
			continue
		case decimals && groups && l.decimal == ",":
			unsure = true
			continue
		case decimals && groups:
			separator = '.'
		case groups:
			separator = otherSeparator(separator)
		case !decimals:
			return 0, "its separators cannot be read; write #,##0.00"
		case separator == ',' && l.decimal != "," && !hasBoth(items):
			return 0, "the comma separates groups and not decimals in this language; write the point for the decimal sign, such as 0.00"
		}
		if point != 0 && point != separator {
			return 0, "its sections have different decimal separators"
		}
		point = separator
	}
	switch {
	case point == 0 && unsure:
		return 0, "its separator can be meant for decimals and for groups in this language; write #,##0 or #.##0 for groups, and " +
			"#,##0.000 or #.##0,000 for decimals"
	case point == 0:
		point = '.'
	}
	return point, ""
}

func otherSeparator(separator byte) byte {
	if separator == '.' {
		return ','
	}
	return '.'
}

// hasBoth reports whether a section has points and commas.
func hasBoth(items []wordItem) bool {
	return hasKind(items, '.') && hasKind(items, ',')
}

func hasKind(items []wordItem, kind byte) bool {
	for _, item := range items {
		if item.kind == kind {
			return true
		}
	}
	return false
}

// separatorOf returns the last separator of a section, or 0, and whether it may be meant for decimals and for groups.
func separatorOf(items []wordItem) (separator byte, decimals, groups bool) {
	at, count := -1, 0
	for i, item := range items {
		if item.isSeparator() {
			at, count = i, count+1
		}
	}
	if at < 0 {
		return 0, false, false
	}
	separator = items[at].kind
	if hasBoth(items) || hasKind(items, ' ') {
		return separator, true, false
	}
	if count > 1 {
		return separator, false, true
	}
	var b strings.Builder
	for _, item := range items[at:] {
		if item.isPlace() {
			b.WriteByte(item.kind)
		}
	}
	places := b.String()
	leads := placesFrom(items, max(at-1, 0)) == 0
	decimals = strings.Trim(strings.TrimLeft(places, "0x"), "#") == ""
	groups = !strings.Contains(places, "x") && (len(places) == minGroupDigits || leads && len(places) == 1)
	return separator, decimals, groups
}
