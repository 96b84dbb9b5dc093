package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// writePlurals writes the plural rules of whole numbers as Go code.
func writePlurals(d *data) (string, error) {
	var b strings.Builder
	for _, kind := range []struct{ file, key, name, what string }{
		{"plurals.json", "plurals-type-cardinal", "pluralOf", "n things"},
		{"ordinals.json", "plurals-type-ordinal", "ordinalOf", "the n-th thing"},
	} {
		rules, err := supplemental[map[string]any](d, kind.file)
		if err != nil {
			return "", err
		}
		all, _ := rules[kind.key].(map[string]any)
		fmt.Fprintf(&b, "// %s returns the plural category of %s in a language.\n", kind.name, kind.what)
		fmt.Fprintf(&b, "func %s(language string, n uint64) string {\nswitch language {\n", kind.name)
		for _, language := range languages {
			own, _ := all[language].(map[string]any)
			cases, err := pluralCases(own)
			if err != nil {
				return "", fmt.Errorf("%s: %w", language, err)
			}
			if cases != "" {
				fmt.Fprintf(&b, "case %q:\nswitch {\n%s}\n", language, cases)
			}
		}
		b.WriteString("}\nreturn \"other\"\n}\n\n")
	}
	return b.String(), nil
}

var categoryOrder = []string{"zero", "one", "two", "few", "many", "other"}

// pluralCases returns the cases of a switch for the rules of a language.
func pluralCases(rules map[string]any) (string, error) {
	var b strings.Builder
	for _, category := range categoryOrder[:5] {
		rule, _ := rules["pluralRule-count-"+category].(string)
		condition, _, _ := strings.Cut(rule, "@")
		goCondition, err := pluralCondition(strings.TrimSpace(condition))
		if err != nil {
			return "", err
		}
		if goCondition != "" {
			fmt.Fprintf(&b, "case %s:\nreturn %q\n", goCondition, category)
		}
	}
	return b.String(), nil
}

// integerCategories returns the plural categories that whole numbers have in a language.
func integerCategories(d *data, language string) ([]string, error) {
	rules, err := supplemental[map[string]any](d, "plurals.json")
	if err != nil {
		return nil, err
	}
	all, _ := rules["plurals-type-cardinal"].(map[string]any)
	own, _ := all[language].(map[string]any)
	return slices.DeleteFunc(slices.Clone(categoryOrder), func(category string) bool {
		rule, _ := own["pluralRule-count-"+category].(string)
		return !strings.Contains(rule, "@integer")
	}), nil
}

// pluralCondition returns a condition of CLDR as a Go expression about the whole number n, or "" if it is never true.
func pluralCondition(condition string) (string, error) {
	if condition == "" {
		return "", nil
	}
	var either []string
	for alternative := range strings.SplitSeq(condition, " or ") {
		var all []string
		never := false
		for relation := range strings.SplitSeq(alternative, " and ") {
			text, err := pluralRelation(strings.TrimSpace(relation))
			if err != nil {
				return "", err
			}
			never = never || text == "false"
			if text != "true" {
				all = append(all, text)
			}
		}
		if !never {
			either = append(either, strings.Join(all, " && "))
		}
	}
	return strings.Join(either, " || "), nil
}

var relationSyntax = regexp.MustCompile(`^([nivftwce])(?: % (\d+))? (!?=) ([\d.,]+)$`)

// pluralRelation returns a relation as a Go expression. A whole number has no decimals (v, w, f, t), and no exponent (c, e).
func pluralRelation(relation string) (string, error) {
	m := relationSyntax.FindStringSubmatch(relation)
	if m == nil {
		return "", fmt.Errorf("plural rule %q cannot be read", relation)
	}
	var either []string
	zero := false
	for values := range strings.SplitSeq(m[4], ",") {
		low, high, isRange := strings.Cut(values, "..")
		zero = zero || low == "0"
		operand := "n"
		if m[2] != "" {
			operand += "%" + m[2]
		}
		switch {
		case isRange && low == "0":
			either = append(either, operand+" <= "+high)
		case isRange:
			either = append(either, low+" <= "+operand+" && "+operand+" <= "+high)
		default:
			either = append(either, operand+" == "+values)
		}
	}
	if m[1] != "n" && m[1] != "i" {
		return fmt.Sprint(zero == (m[3] == "=")), nil
	}
	text := strings.Join(either, " || ")
	switch {
	case m[3] == "!=":
		return "!(" + text + ")", nil
	case len(either) > 1:
		return "(" + text + ")", nil
	}
	return text, nil
}
