package lang

import (
	"fmt"
	"strings"
)

// arity is how many arguments a filter or function takes.
type arity struct{ min, max int }

func (a arity) String() string {
	switch {
	case a.max == 0:
		return "no arguments"
	case a.min == a.max && a.min == 1:
		return "1 argument"
	case a.min == a.max:
		return fmt.Sprintf("%d arguments", a.min)
	}
	return fmt.Sprintf("%d to %d arguments", a.min, a.max)
}

// filter is what a name behind :: does: apply gives the value that follows from v, nil if that is missing.
type filter struct {
	arity
	apply func(e *Env, f *Filter, v Value) (Value, error)
}

// filterTable holds every filter by its name.
var filterTable = map[string]*filter{
	"optional":      {arity{0, 0}, optional},
	"default":       {arity{1, 1}, defaultTo},
	"uppercase":     {arity{0, 0}, eachText(strings.ToUpper)},
	"lowercase":     {arity{0, 0}, eachText(strings.ToLower)},
	"delimiter":     {arity{1, 1}, delimiter},
	"lastdelimiter": {arity{1, 1}, lastDelimiter},
}

// optional makes what is missing the empty text.
func optional(_ *Env, _ *Filter, v Value) (Value, error) {
	if v == nil {
		return "", nil
	}
	return v, nil
}

// defaultTo puts its argument in the place of what is missing.
func defaultTo(e *Env, f *Filter, v Value) (Value, error) {
	if v != nil {
		return v, nil
	}
	return e.eval(f.Args[0])
}

// eachText returns a filter that changes a text, or the texts in a list; all else stays as it is.
func eachText(change func(string) string) func(*Env, *Filter, Value) (Value, error) {
	return func(e *Env, _ *Filter, v Value) (Value, error) {
		switch v := v.(type) {
		case string:
			return change(v), e.spend(len(v)/bytesPerStep, e.tag.Expr)
		case []any:
			changed := make([]any, len(v))
			size := len(v)
			for i, item := range v {
				if s, ok := item.(string); ok {
					item = change(s)
					size += len(s) / bytesPerStep
				}
				changed[i] = item
			}
			return changed, e.spend(size, e.tag.Expr)
		}
		return v, nil
	}
}

// delimiter sets what comes behind each item but the last: of the list that is printed, or of the loop.
func delimiter(e *Env, f *Filter, v Value) (Value, error) {
	s, err := e.text(f.Args[0])
	e.list.between = &s
	return v, err
}

// lastDelimiter sets what comes between the last two items.
func lastDelimiter(e *Env, f *Filter, v Value) (Value, error) {
	s, err := e.text(f.Args[0])
	e.list.last = &s
	return v, err
}

// text returns the text of an argument, "" if it is missing.
func (e *Env) text(n Node) (string, error) {
	v, err := e.eval(n)
	if err != nil || v == nil {
		return "", err
	}
	s, ok := scalarText(v)
	if !ok {
		return "", &fault{n, "is " + kindOf(v) + ", not text"}
	}
	return s, nil
}
