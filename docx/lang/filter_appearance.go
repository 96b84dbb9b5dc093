package lang

import (
	"slices"
	"strconv"
	"strings"
)

// appearanceFilters set the appearance of what is around a tag: its cell, row, or paragraph, the entries of its content control, and the
// rotation of its image.
var appearanceFilters = map[string]*filter{
	"shade": {
		usage: `shade, shade(condition) or shade("row", condition)`, arity: arity{0, 2},
		takes: like(aText, "red"), args: []takes{{}}, when: 2, sole: true, check: shadeTarget, checkValue: colorMistake, apply: shade,
	},
	"rotate": {usage: "rotate(90)", arity: arity{1, 1}, same: true, args: []takes{likeNumber("90")}, note: rotate},
	"options": {
		usage: `options(names) or options(items.name, items.key)`, arity: arity{1, 2},
		same: true, args: []takes{{want: aList}}, apply: options, check: func(*Filter, string) string { return "is not a list" },
	},
}

// shadeTargets are what the filter shade can color.
var shadeTargets = []string{"cell", "row", "paragraph"}

func shadeTarget(_ *Filter, s string) string {
	if slices.Contains(shadeTargets, s) {
		return ""
	}
	return "is not one of " + strings.Join(shadeTargets, ", ")
}

// notAColor completes a sentence about a value that is not a color.
const notAColor = `is not a color like "#C00000" or "red"`

// colorMistake returns the mistake in a color; an empty text sets none.
func colorMistake(s string) string {
	if _, ok := parseColor(s); ok || s == "" {
		return ""
	}
	return notAColor
}

// Shades returns what the filter shade of a tag colors: "cell", "row", or "paragraph". It returns "" if the filter does not say. ok is
// false if the tag has no such filter.
func (t *Tag) Shades() (target string, ok bool) {
	f := t.Filter("shade")
	if f == nil {
		return "", false
	}
	return f.target(), true
}

// target returns the first argument of the filter if that is a literal text.
func (f *Filter) target() string {
	if len(f.Args) == 0 {
		return ""
	}
	l, ok := f.Args[0].(*Literal)
	if !ok {
		return ""
	}
	s, _ := l.Value.(string)
	return s
}

// checkValue reports a literal value that its first filter does not take.
func (p *parser) checkValue(f *Filter, before []Filter, value Node) {
	l, ok := value.(*Literal)
	if !ok || f.fn.checkValue == nil || len(before) > 0 {
		return
	}
	s, _ := l.Value.(string)
	if message := f.fn.checkValue(s); message != "" {
		p.fail(l.Position(), "write a name such as \"red\", or \"#\" and six hexadecimal digits", "%s %s", l, message)
	}
}

// shade makes the value the color of what is around the tag, if the condition is true, and leaves no text. An empty value sets no color.
func shade(e *Env, f *Filter, v Value) (Value, error) {
	if v == nil {
		return nil, nil
	}
	s, _ := v.(string)
	if err := e.spend(len(s)/bytesPerStep, e.subject); err != nil {
		return nil, err
	}
	color, ok := parseColor(s)
	if !ok && v != "" {
		return nil, &fault{node: e.subject, message: notAColor}
	}
	conditions := f.Args
	if f.target() != "" {
		conditions = f.Args[1:]
	}
	for _, condition := range conditions {
		holds, err := e.eval(condition)
		if err != nil {
			return nil, err
		}
		if !e.isTrue(condition, holds) {
			return "", nil
		}
	}
	e.presenting().Shade = color
	return "", nil
}

// maxDegrees is the largest angle in a tag, in degrees.
const maxDegrees = 360

// rotate sets the rotation of an image. A missing angle leaves the image upright.
func rotate(p *Present, f *Filter, args []Value) error {
	if args[0] == nil {
		return nil
	}
	degrees, err := wholeNumber(f.Args[0], args[0], -maxDegrees, maxDegrees)
	p.Rotation = (degrees + maxDegrees) % maxDegrees
	return err
}

// Entry is an entry of a list control.
type Entry struct{ Text, Value string }

// options sets the entries of a list control: their texts and, if there is a second list, their values. Without a list, the value is
// missing.
func options(e *Env, f *Filter, v Value) (Value, error) {
	lists, err := e.optionLists(f)
	if err != nil || lists[0] == nil {
		return nil, err
	}
	entries, err := newEntries(f, lists[0], lists[len(lists)-1])
	if err != nil {
		return nil, err
	}
	e.presenting().Entries = entries
	return v, nil
}

// newEntries returns the entries with these texts and values. Equal entries count once. In Word, two others may have neither the same text
// nor the same value.
func newEntries(f *Filter, texts, values []string) ([]Entry, error) {
	last := f.Args[len(f.Args)-1]
	if len(values) != len(texts) {
		return nil, &fault{node: last, message: "does not have a value for each entry"}
	}
	entries, ofText, ofValue := make([]Entry, 0, len(texts)), map[string]int{}, map[string]int{} // places from 1
	for i, text := range texts {
		entry, same, other := Entry{text, values[i]}, ofText[text], ofValue[values[i]]
		switch {
		case text == "" && (entry.Value == "" || len(f.Args) == 1), same > 0 && same == other:
			continue
		case text == "":
			return nil, &fault{node: f.Args[0], message: "has no text for the entry with the value " + strconv.Quote(entry.Value)}
		case same > 0:
			return nil, &fault{node: f.Args[0], message: "contains " + strconv.Quote(text) + " twice, with different values"}
		case other > 0:
			return nil, &fault{node: last, message: "contains " + strconv.Quote(entry.Value) + " for two entries, " +
				strconv.Quote(entries[other-1].Text) + " and " + strconv.Quote(text)}
		}
		entries = append(entries, entry)
		ofText[text], ofValue[entry.Value] = len(entries), len(entries)
	}
	return entries, nil
}

// optionLists returns the texts of the lists in the arguments of options. The first is nil if a list is missing. If the arguments are keys
// of the items of one list, each item must have both.
func (e *Env) optionLists(f *Filter) (lists [][]string, err error) {
	if list, keys := commonList(f.Args); list != nil {
		if err := e.requireKeys(f, list, keys); err != nil {
			return nil, err
		}
	}
	lists = make([][]string, len(f.Args))
	for i, arg := range f.Args {
		if lists[i], err = e.textsOf(arg); err != nil || lists[i] == nil {
			return make([][]string, 1), err
		}
	}
	return lists, nil
}

// commonList returns the path that two paths, the arguments of a filter, begin with, and the remaining steps of each;
// nil for other arguments.
func commonList(args []Node) (list *Path, keys [2][]Step) {
	if len(args) != len(keys) {
		return nil, keys
	}
	names, isPath := args[0].(*Path)
	values, isPath2 := args[1].(*Path)
	if !isPath || !isPath2 {
		return nil, keys
	}
	n := 0
	for n < min(len(names.Steps), len(values.Steps))-1 && names.Steps[n] == values.Steps[n] {
		n++
	}
	if n == 0 || names.Steps[n].IsIndex || values.Steps[n].IsIndex {
		return nil, keys
	}
	common := *names
	common.Steps, common.text = names.Steps[:n], pathText(names.Steps[:n])
	return &common, [2][]Step{names.Steps[n:], values.Steps[n:]}
}

// requireKeys returns an error if an item of a list lacks what an argument of f reads from it.
func (e *Env) requireKeys(f *Filter, list *Path, keys [2][]Step) error {
	items, _ := e.lookup(list).([]any)
	if err := e.spend(len(items), list); err != nil {
		return err
	}
	for i, item := range items {
		for j, steps := range keys {
			if e.descend(item, steps) != nil {
				continue
			}
			missing := &fault{node: f.Args[j], message: "is missing in item " + strconv.Itoa(i+1) + " of the list"}
			if datum := e.datum(list); datum != "" {
				missing.datum = datum + "[" + strconv.Itoa(i) + "]." + pathText(steps)
			}
			return missing
		}
	}
	return nil
}

// textsOf returns the texts of a list; of a missing list, nil.
func (e *Env) textsOf(n Node) ([]string, error) {
	v, err := e.eval(n)
	if err != nil || v == nil {
		return nil, err
	}
	if v == "" {
		return []string{}, nil
	}
	items, err := e.listOf(v)
	if err != nil {
		return nil, err
	}
	if err := e.makeItems(len(items), n); err != nil {
		return nil, err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		s, ok := scalarText(item)
		if !ok {
			if item == nil {
				return nil, &fault{node: n, message: "contains null, not text"}
			}
			return nil, &fault{node: n, message: "contains " + kindOf(item) + ", not text"}
		}
		texts[i] = s
	}
	return texts, nil
}

// Present returns the presentation of the value of the tag that was evaluated last.
func (e *Env) Present() Present { return e.present }
