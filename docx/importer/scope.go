package importer

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// scope is what a loop or a condition makes known.
type scope struct {
	name     string // of the loop variable in the other language; "" for loops that change the context
	variable string // of the loop in Platen; "" for a condition
	value    string // the variable of the values, in a loop over keys, in the other language
	key      string // of an object, in Platen, in a loop that changes the context to the values
	keyName  string // the variable for the key in the other language

	valueVariable string // the variable of the values in Platen
	path          string // what the context is, if it is not a loop; "" for a condition
	samples       []any  // of the item
	lengths       []int  // of the lists, in a loop over columns

	positions map[string]string // what the variables for positions are, if that is special
}

// prefix is the text of the context that a scope makes; "" for a condition.
func (s *scope) prefix() string {
	if s.variable != "" {
		return s.variable
	}
	return s.path
}

// samplesOf returns what the sample data has for a path; nil for none.
func (w *writer) samplesOf(e *expr) []any {
	path, ok := e.steps()
	if !ok || w.data == nil {
		return nil
	}
	_, samples := w.find(path)
	return samples
}

// find returns the scope that a path begins in, or nil for the input, and what the sample data has there.
func (w *writer) find(path []step) (*scope, []any) {
	key := path[0].key
	if w.strict { // the parameters of all blocks come before the keys of any item
		for _, s := range slices.Backward(w.scopes) {
			if p := s.parameter(key); p != nil {
				return p, descend(p.samples, path[1:])
			}
		}
	}
	for _, s := range slices.Backward(w.scopes) {
		if s.prefix() == "" {
			continue
		}
		if p := s.parameter(key); p != nil {
			return p, descend(p.samples, path[1:])
		}
		switch {
		case s.name != "" && !w.sections:
		case isSelf(path[0]):
			return s, descend(s.samples, path[1:])
		case anyHas(s.samples, key) || w.strict:
			return s, descend(s.samples, path)
		}
	}
	return nil, descend(w.data, path)
}

// parameter returns the scope whose variable has a name in the other language, or nil.
func (s *scope) parameter(name string) *scope {
	switch {
	case s.value != "" && s.value == name:
		return &scope{name: s.value, variable: s.valueVariable}
	case s.keyName != "" && s.keyName == name:
		return &scope{name: s.keyName, variable: s.key}
	case s.name != "" && s.name == name:
		return s
	}
	return nil
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

func isSelf(s step) bool { return s.key == "." || s.key == "this" }

func anyHas(values []any, key string) bool {
	return slices.ContainsFunc(values, func(v any) bool {
		m, ok := v.(map[string]any)
		if !ok {
			return false
		}
		return m[key] != nil
	})
}

// hasKey reports whether the sample data has a path, such as a key named length.
func (w *writer) hasKey(path []step) bool {
	if w.data == nil {
		return false
	}
	_, samples := w.find(path)
	return len(samples) > 0
}

// counts reports whether a path is the position in a loop.
func (w *writer) counts(path []step) bool {
	text, err := w.resolve(w, path)
	return err == nil && strings.HasPrefix(text, "loop.")
}

// descend returns what steps lead to from any of some values.
func descend(values []any, path []step) []any {
	for _, s := range path {
		var next []any
		if s.isLoop() || strings.HasPrefix(s.key, firstItem) {
			values = append(items(slices.DeleteFunc(slices.Clone(values), isObject)), valuesOf(values)...)
			continue
		}
		for _, v := range values {
			switch v := v.(type) {
			case map[string]any:
				if inner, ok := v[s.key]; ok && !s.isIndex {
					next = append(next, inner)
				}
			case []any:
				if i := s.index; s.isIndex && i < len(v) && i >= -len(v) {
					next = append(next, v[(i+len(v))%len(v)])
				}
			}
		}
		values = next
	}
	return values
}

// items returns the items of lists among some values, and the values that are no lists.
func items(values []any) []any {
	var all []any
	for _, v := range values {
		if list, ok := v.([]any); ok {
			all = append(all, list...)
		} else if v != nil {
			all = append(all, v)
		}
	}
	return all
}

// contextual resolves a path in languages whose loops change the context: in the innermost context that has the key.
func contextual(w *writer, path []step) (string, error) {
	s, samples := w.find(path)
	if s != nil {
		if isSelf(path[0]) || s.name == path[0].key {
			return pathText(s.prefix(), path[1:])
		}
		return w.inherited(s, path)
	}
	inner := w.innermost()
	if inner == nil || len(samples) > 0 || isSelf(path[0]) {
		if isSelf(path[0]) {
			return "", &cannot{"the current item is used outside a loop", "name the key to print"}
		}
		return pathText("", path)
	}
	w.note(noteKey)
	return pathText(inner.prefix(), path)
}

// inherited writes a key of an item. If some items lack it, it can be a key of what is around them.
func (w *writer) inherited(s *scope, path []step) (string, error) {
	text, err := pathText(s.prefix(), path)
	if err != nil || w.strict || !anyLacks(s.samples, path[0].key) {
		return text, err
	}
	outer := *w
	outer.scopes = w.scopes[:slices.Index(w.scopes, s)]
	if _, samples := outer.find(path); kindsOfValues(samples)&^aNull == 0 {
		return text, nil
	}
	other, err := contextual(&outer, path)
	return "$if(" + text + " isPresent, " + text + ", " + other + ")", err
}

// anyLacks reports whether one of several values has no value for a key.
func anyLacks(values []any, key string) bool {
	return slices.ContainsFunc(values, func(v any) bool {
		m, _ := v.(map[string]any)
		return m[key] == nil
	})
}

// The notes on what only the data can decide.
const (
	noteLoop      = "taken to be a loop"
	noteCondition = "taken to be a condition"
	noteKey       = "taken to be a key of the item"
)

// explanations say what the notes on tags mean, once for a template.
var explanations = []struct{ note, text string }{
	{noteLoop,
		"Only the data says whether a section is a loop or a condition. Without sample data (--data), a section with tags in it is " +
			"taken to be a loop, unless its name begins as those of conditions do: is, has, show, …"},
	{noteCondition,
		"Only the data says whether a section is a loop or a condition. Without sample data (--data), a section without tags in " +
			"it, and one whose name begins as those of conditions do (is, has, show, …), is taken to be a condition."},
	{noteKey,
		"Only the data says whether a key in a loop is one of the item, or one outside the loop. Without sample data (--data), it is " +
			"taken to be one of the item."},
}

// innermost returns the innermost scope that is a context, or nil.
func (w *writer) innermost() *scope {
	for _, s := range slices.Backward(w.scopes) {
		if s.prefix() != "" {
			return s
		}
	}
	return nil
}

// named resolves a path in languages whose loops have variables.
func named(w *writer, path []step) (string, error) {
	if s, _ := w.find(path); s != nil {
		return pathText(s.variable, path[1:])
	}
	return pathText("", path)
}

// variableFor returns a name for the items of a list. A fresh name is not used elsewhere in the template.
func (w *writer) variableFor(wanted string, fresh bool) string {
	isTaken := func(name string) bool {
		return fresh && (w.taken[name] || w.taken[outward+name]) || name == "loop" || w.isVariable(name)
	}
	name := wanted
	for n := 2; isTaken(name) || !isWord(name) || !isPath(name); n++ {
		if !isWord(wanted) || !isPath(wanted) && n == 2 {
			wanted = "entry"
			name = wanted
			continue
		}
		name = wanted + strconv.Itoa(n)
	}
	return name
}

func (w *writer) isVariable(name string) bool {
	return slices.ContainsFunc(w.scopes, func(s *scope) bool { return s.variable == name || s.key == name })
}

// singular guesses the name of one item of a list.
func singular(list string) string {
	lower := strings.ToLower(list)
	switch {
	case strings.HasSuffix(lower, "ies") && len(list) > 4:
		return list[:len(list)-3] + "y"
	case endsWithAny(lower, "sses", "xes", "ches", "shes"):
		return list[:len(list)-2]
	case strings.HasSuffix(lower, "s") && !strings.HasSuffix(lower, "ss") && len(list) > 2:
		return list[:len(list)-1]
	}
	return "entry"
}

func endsWithAny(s string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(s, end) })
}

// valuesOf returns the values in objects.
func valuesOf(objects []any) []any {
	var all []any
	for _, o := range objects {
		if m, ok := o.(map[string]any); ok {
			for _, key := range slices.Sorted(maps.Keys(m)) {
				all = append(all, m[key])
			}
		}
	}
	return all
}
