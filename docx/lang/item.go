package lang

import (
	"encoding/json"
	"slices"
)

// itemName is what an item is called in what is computed for it, unless it has a key of that name.
const itemName = "item"

// inItem returns the value of n with the keys of an item as the innermost names.
func (e *Env) inItem(n Node, item Value) (Value, error) {
	e.items = append(e.items, item)
	v, err := e.eval(n)
	e.items = e.items[:len(e.items)-1]
	return v, err
}

// itemValues returns the value of n for each item, nil where it is missing. If it is missing for every item, the paths of the
// first count as missing in the tag.
func (e *Env) itemValues(n Node, items []Value) ([]Value, error) {
	before, first, found := len(e.missing), 0, len(items) == 0
	values := make([]Value, len(items))
	for i, item := range items {
		v, err := e.inItem(n, item)
		if err != nil {
			return nil, err
		}
		if first == 0 {
			first = len(e.missing)
		}
		e.missing = e.missing[:first]
		values[i], found = v, found || v != nil
	}
	if found {
		e.missing = e.missing[:before]
	}
	return values, nil
}

// inItems looks for the first name of a path among the keys of the items, the innermost first.
func (e *Env) inItems(p *Path) (v Value, ok bool) {
	for _, item := range slices.Backward(e.items) {
		if v, ok := keyOf(item, p.Steps[0].Key); ok {
			return e.descend(v, p.Steps[1:]), true
		}
		if p.Steps[0].Key == itemName {
			return e.descend(item, p.Steps[1:]), true
		}
	}
	return nil, false
}

// keyOf returns what an object has at a key; ok is false if it has no such key or v is no object.
func keyOf(v Value, key string) (at Value, ok bool) {
	object, is := v.(*Object)
	if !is || !object.Has(key) {
		return nil, false
	}
	return object.Get(key), true
}

// listOf returns the items of a list. An object or a single value counts as a list of itself alone, as many exports write it
// that way, and the empty text as a list of none.
func (e *Env) listOf(v Value) ([]Value, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return v, e.spend(len(v), e.tag.Expr)
	case string:
		if v == "" {
			return nil, nil
		}
	}
	return []Value{v}, nil
}

// plain returns a computed value as [Decode] would give it.
func plain(v Value) Value {
	switch v := v.(type) {
	case number:
		return json.Number(v.text())
	case moment:
		return v.text()
	case []any:
		if !slices.ContainsFunc(v, isComputed) {
			return v
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	}
	return v
}

// isComputed tells whether v is, or may hold, what Decode does not give.
func isComputed(v Value) bool {
	switch v.(type) {
	case number, moment, []any:
		return true
	}
	return false
}
