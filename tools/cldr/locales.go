package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// writeLocales writes the table of the conventions. Locales with equal conventions share a row.
func writeLocales(d *data) (string, error) {
	tags, parent, err := d.tags()
	if err != nil {
		return "", err
	}
	weeks, err := readWeeks(d)
	if err != nil {
		return "", err
	}
	t := table{d: d, parent: parent, own: map[string]string{"": ""}, all: map[string]*fields{"": {}}}
	for _, tag := range tags {
		if err := t.add(tag, weeks); err != nil {
			return "", fmt.Errorf("%s: %w", tag, err)
		}
	}
	return t.String(), nil
}

// table is the table of the conventions on its way.
type table struct {
	d      *data
	parent map[string]string
	all    map[string]*fields // the conventions of every locale
	own    map[string]string  // the name of the row that a locale has
	rows   []tableRow
}

type tableRow struct {
	tags   []string
	parent string
	text   string
}

// add adds a locale: to the row that it inherits from if it does not differ from that, or as a row with the differences.
func (t *table) add(tag string, weeks *weekData) error {
	f := &fields{values: map[string]string{}}
	for _, add := range []func(*fields, *data, string) error{addNumbers, addDates, addLists} {
		if err := add(f, t.d, tag); err != nil {
			return err
		}
	}
	first, least := weeks.of(tag)
	f.text("weekStart", first)
	f.text("weekDays", least)
	t.all[tag] = f
	parent := t.own[t.parent[tag]]
	text := f.without(t.all[t.parent[tag]])
	currencies, err := t.d.ownCurrencies(tag, t.parent)
	if err != nil {
		return err
	}
	spellout, err := t.d.ownSpellout(tag)
	if err != nil {
		return err
	}
	if parent != "" && text+currencies+spellout == "" {
		i := slices.IndexFunc(t.rows, func(r tableRow) bool { return r.tags[0] == parent })
		t.rows[i].tags = append(t.rows[i].tags, tag)
		t.own[tag] = parent
		return nil
	}
	t.rows = append(t.rows, tableRow{[]string{tag}, parent, text})
	t.own[tag] = tag
	return nil
}

func (t *table) String() string {
	var b strings.Builder
	b.WriteString("// conventionsTable holds what the conventions of every locale add to those of its parent, which precedes it.\n")
	b.WriteString("var conventionsTable = [...]conventions{\n")
	for _, r := range t.rows {
		fmt.Fprintf(&b, "{\ntags: %q,\n", strings.Join(r.tags, " "))
		if r.parent != "" {
			fmt.Fprintf(&b, "parent: %q,\n", r.parent)
		}
		b.WriteString(r.text + "},\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// fields are the fields of a row, in order.
type fields struct {
	names  []string
	values map[string]string
}

func (f *fields) text(name, value string) {
	f.names = append(f.names, name)
	f.values[name] = value
}

func (f *fields) list(name string, values []string) { f.text(name, strings.Join(values, "|")) }

// without returns the fields as Go, without those that the parent has as well. A field that only the parent has gets the value none.
func (f *fields) without(parent *fields) string {
	var b strings.Builder
	for _, name := range f.names {
		switch value := f.values[name]; value {
		case parent.values[name]:
		case "":
			fmt.Fprintf(&b, "%s: none,\n", name)
		default:
			fmt.Fprintf(&b, "%s: %q,\n", name, value)
		}
	}
	return b.String()
}

// addLists adds how the items of a list are joined.
func addLists(f *fields, d *data, tag string) error {
	v, err := mainFile[struct {
		ListPatterns map[string]map[string]string
	}](d, "cldr-misc-full", tag, "listPatterns.json")
	if err != nil {
		return err
	}
	p := v.ListPatterns["listPattern-type-standard"]
	for _, part := range [][2]string{{"comma", "middle"}, {"lastAnd", "end"}, {"pairAnd", "2"}} {
		between, ok := strings.CutPrefix(p[part[1]], "{0}")
		between, ok2 := strings.CutSuffix(between, "{1}")
		if !ok || !ok2 {
			return fmt.Errorf("list pattern %q has text around its items", p[part[1]])
		}
		f.text(part[0], between)
	}
	return nil
}

// weekData holds the first day of the week, and the least number of days of the first week, by region.
type weekData struct {
	first, least map[string]string
	regions      map[string]string // the most likely region of a language
}

func readWeeks(d *data) (*weekData, error) {
	v, err := supplemental[struct {
		WeekData struct{ FirstDay, MinDays map[string]string }
	}](d, "weekData.json")
	if err != nil {
		return nil, err
	}
	likely, err := supplemental[struct{ LikelySubtags map[string]string }](d, "likelySubtags.json")
	if err != nil {
		return nil, err
	}
	w := &weekData{v.WeekData.FirstDay, v.WeekData.MinDays, map[string]string{}}
	for tag, full := range likely.LikelySubtags {
		w.regions[tag] = full[strings.LastIndexByte(full, '-')+1:]
	}
	return w, nil
}

// of returns the first day of the week, as a number from 0 for Sunday, and the least number of days.
func (w *weekData) of(tag string) (first, least string) {
	region := tag[strings.LastIndexByte(tag, '-')+1:]
	if region == strings.ToLower(region) || len(region) == 4 {
		region = w.regions[tag]
	}
	day := cmp.Or(w.first[region], w.first["001"])
	number := slices.Index([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, day)
	return strconv.Itoa(number), cmp.Or(w.least[region], w.least["001"])
}
