package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// oldest is the year since which currencies have names. Older ones have a symbol only.
const oldest = "1999"

// writeCurrencies writes the symbols and names of currencies: what every locale has that its parent has not.
func writeCurrencies(d *data) (string, error) {
	tags, parent, err := d.tags()
	if err != nil {
		return "", err
	}
	english, err := d.currencies("en")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("// currencyCodes are the codes of ISO 4217 that were ever used.\n")
	fmt.Fprintf(&b, "const currencyCodes = %q\n\n", strings.Join(slices.Sorted(maps.Keys(english)), " "))
	b.WriteString("// currencyRows returns the currencies of a locale that differ from those of its parent, each in a line: its code, its\n" +
		"// symbol, and its names by plural category, such as \"EUR|€|one euro|other euros\".\n")
	b.WriteString("func currencyRows(tag string) string {\nswitch tag {\n")
	for _, tag := range tags {
		rows, err := d.ownCurrencies(tag, parent)
		if err != nil {
			return "", err
		}
		if rows != "" {
			fmt.Fprintf(&b, "case %q:\nreturn %s\n", tag, lines(rows))
		}
	}
	b.WriteString("}\nreturn \"\"\n}\n")
	return b.String(), nil
}

// lines writes a text as a Go string of one line each.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%q +\n", line)
	}
	return strings.TrimSuffix(b.String(), " +\n")
}

// currencies returns the row of every currency of a locale.
func (d *data) currencies(tag string) (map[string]string, error) {
	v, err := mainFile[struct {
		Numbers struct {
			Currencies map[string]map[string]string
		}
	}](d, "cldr-numbers-full", tag, "currencies.json")
	if err != nil {
		return nil, err
	}
	recent, err := recentCurrencies(d)
	if err != nil {
		return nil, err
	}
	language, _, _ := strings.Cut(tag, "-")
	categories, err := integerCategories(d, language)
	if err != nil {
		return nil, err
	}
	rows := map[string]string{}
	for code, names := range v.Numbers.Currencies {
		if code == "XXX" || code == "XTS" { // no currency, and one for tests
			continue
		}
		symbol := names["symbol"]
		if symbol == code {
			symbol = ""
		}
		row := []string{code, symbol}
		if recent[code] {
			row = append(row, pluralNames(names, categories)...)
		}
		rows[code] = strings.Join(row, "|")
	}
	return rows, nil
}

// pluralNames returns the names of a currency for the categories that whole numbers have. A name that is also the last one is left out.
func pluralNames(names map[string]string, categories []string) []string {
	other := names["displayName-count-other"]
	if !slices.Contains(categories, "other") {
		other = names["displayName-count-many"]
	}
	if other == "" {
		other = names["displayName"]
	}
	var all []string
	for _, c := range categories {
		if name := names["displayName-count-"+c]; name != "" && name != other && c != "other" {
			all = append(all, c+" "+name)
		}
	}
	return append(all, "other "+other)
}

// ownCurrencies returns the rows of a locale that its parent does not have.
func (d *data) ownCurrencies(tag string, parent map[string]string) (string, error) {
	rows, err := d.currencies(tag)
	if err != nil {
		return "", err
	}
	inherited := map[string]string{}
	if p := parent[tag]; p != "" {
		if inherited, err = d.currencies(p); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for _, code := range slices.Sorted(maps.Keys(rows)) {
		if row := rows[code]; row != inherited[code] && row != code+"|" {
			b.WriteString(row + "\n")
		}
	}
	return b.String(), nil
}

// recentCurrencies returns the currencies that were legal tender since the oldest year.
func recentCurrencies(d *data) (map[string]bool, error) {
	v, err := supplemental[struct {
		CurrencyData struct {
			Region map[string][]map[string]map[string]string
		}
	}](d, "currencyData.json")
	if err != nil {
		return nil, err
	}
	recent := map[string]bool{}
	for _, region := range v.CurrencyData.Region {
		for _, entry := range region {
			for code, use := range entry {
				if use["_tender"] != "false" && (use["_to"] == "" || use["_to"] >= oldest) {
					recent[code] = true
				}
			}
		}
	}
	return recent, nil
}
