package lang

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// arity is the number of arguments of a filter or function. max is many if it has no limit.
type arity struct{ min, max int }

const (
	many = MaxNodes
	// maxWholeDigits is the largest number of digits of a whole number in an argument.
	maxWholeDigits = 18
)

func (a arity) String() string {
	switch {
	case a.max == 0:
		return "no arguments"
	case a.min == a.max && a.min == 1:
		return "1 argument"
	case a.min == a.max:
		return fmt.Sprintf("%d arguments", a.min)
	case a.max == many && a.min == 1:
		return "at least 1 argument"
	case a.max == many:
		return fmt.Sprintf("at least %d arguments", a.min)
	case a.min == 0 && a.max == 1:
		return "at most 1 argument"
	}
	return fmt.Sprintf("%d to %d arguments", a.min, a.max)
}

// filter is the definition of a filter. Filters that change the value have apply, and those that only set its presentation have note.
type filter struct {
	arity
	usage string   // how it is written, for hints
	also  []string // what other tools call it

	takes    takes                 // the use of its value
	takesFor func(f *Filter) takes // the same, if that depends on its arguments
	args     []takes               // the uses of its arguments; the last one is for all further arguments
	same     bool                  // the result is still the same value, so that the use by the next filter also applies to it
	optional bool                  // the value may be missing
	ofTag    bool                  // sets something for the whole tag
	when     int                   // the number of the argument that is a condition; 0 for none
	formats  bool                  // returns text for people: see formatted.go
	respells bool                  // changes only the letter case
	sole     bool                  // makes something else of the value, so that a tag has only one of them

	// apply returns the result for v, or nil if it is missing.
	apply func(e *Env, f *Filter, v Value) (Value, error)
	// note sets the presentation of the value in p. args are the values of the arguments.
	note func(p *Present, f *Filter, args []Value) error
	// check returns the mistake in the first argument if that is a literal text, or "".
	check func(f *Filter, s string) string
	// checkValue returns the mistake in the value if that is a literal text, or "".
	checkValue func(s string) string
	// perItem means that the arguments are computed for each item of the value, with the item's keys as innermost names.
	perItem bool
}

// filterTable holds every filter by its name.
var filterTable = filterTables(missingFilters, checkFilters, textFilters, numberFilters, dateFilters, listFilters, presentFilters,
	appearanceFilters, wordFilters)

func filterTables(tables ...map[string]*filter) map[string]*filter {
	all := map[string]*filter{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// Filters returns the names of all filters, sorted.
func Filters() []string { return slices.Sorted(maps.Keys(filterTable)) }

// missingFilters replace a missing value.
var missingFilters = map[string]*filter{
	"optional": {usage: "optional", same: true, optional: true, apply: optional},
	"default":  {usage: `default("n/a")`, arity: arity{1, 1}, same: true, optional: true, also: []string{"ifempty"}, apply: defaultTo},
}

// checkFilters reject values.
var checkFilters = map[string]*filter{
	"oneof": {
		usage: `oneof("a", "b")`, arity: arity{1, many}, same: true, also: []string{"enum"},
		takesFor: oneOfTakes, args: []takes{{want: aScalar}}, apply: eachScalar(oneOf),
	},
}

// optional replaces a missing value with the empty text.
func optional(e *Env, _ *Filter, v Value) (Value, error) {
	if v == nil {
		e.excuse(e.handled)
		return "", nil
	}
	return v, nil
}

// defaultTo replaces a missing value with its argument.
func defaultTo(e *Env, f *Filter, v Value) (Value, error) {
	if v != nil {
		return v, nil
	}
	v, err := e.eval(f.Args[0])
	if v != nil {
		e.excuse(e.handled)
	}
	return v, err
}

// eachScalar returns a filter that changes one value, or each value in a list. Missing values, the empty text, and nulls in a list stay
// unchanged, so that optional may precede or follow it.
func eachScalar(change func(e *Env, f *Filter, v Value) (Value, error)) func(*Env, *Filter, Value) (Value, error) {
	return func(e *Env, f *Filter, v Value) (Value, error) {
		list, ok := v.([]any)
		if !ok {
			return changeOne(e, f, v, change)
		}
		if err := e.makeItems(len(list), e.subject); err != nil {
			return nil, err
		}
		changed := make([]any, len(list))
		for i, item := range list {
			var err error
			if changed[i], err = changeOne(e, f, item, change); err != nil {
				return nil, err
			}
		}
		return changed, nil
	}
}

func changeOne(e *Env, f *Filter, v Value, change func(*Env, *Filter, Value) (Value, error)) (Value, error) {
	if v == nil || v == "" {
		return v, nil
	}
	if of, ok := v.(*entry); ok {
		changed, err := changeOne(e, f, of.value, change)
		return &entry{of.key, changed}, err
	}
	return change(e, f, v)
}

// text returns the text of an argument, "" if it is missing.
func (e *Env) text(n Node) (string, error) {
	v, err := e.eval(n)
	if err != nil || v == nil {
		return "", err
	}
	s, ok := scalarText(v)
	if !ok {
		return "", &fault{node: n, message: "is " + kindOf(v) + ", not text"}
	}
	return s, e.spend(len(s)/bytesPerStep, n)
}

// textOr returns the text of argument i of a filter, or other if there is none.
func (e *Env) textOr(f *Filter, i int, other string) (string, error) {
	if i >= len(f.Args) {
		return other, nil
	}
	return e.text(f.Args[i])
}

// whole returns the value of an argument that is a whole number from low to high.
func (e *Env) whole(n Node, low, high int) (int, error) {
	v, err := e.eval(n)
	if err != nil {
		return 0, err
	}
	return wholeNumber(n, v, low, high)
}

// wholeNumber returns v, the value of n, as a whole number from low to high.
func wholeNumber(n Node, v Value, low, high int) (int, error) {
	x, err := operand(n, v)
	if err != nil {
		return 0, err
	}
	if d := x.shown(); x.fits() && x.magnitude() <= maxWholeDigits && d.IsInteger() && d.IntPart() >= int64(low) &&
		d.IntPart() <= int64(high) {
		return int(d.IntPart()), nil
	}
	return 0, &fault{node: n, message: "is not a whole number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high)}
}

// made counts a text that a filter or function has created against the limits, and returns it.
func (e *Env) made(s string) (Value, error) { return s, e.grow(len(s)) }

// grow counts n bytes of text against the limits before they are created.
func (e *Env) grow(n int) error {
	if e.grown += n; n > MaxText || e.grown > maxGrown {
		return e.tooLong(e.subject)
	}
	if err := e.hold(n, e.subject); err != nil {
		return err
	}
	return e.spend(n/bytesPerStep, e.subject)
}

// makeItems counts n items of a list against the limits before it is created.
func (e *Env) makeItems(n int, at Node) error {
	if err := e.hold(n*itemBytes, at); err != nil {
		return err
	}
	return e.spend(n, at)
}
