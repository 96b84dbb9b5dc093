package lang

import (
	"encoding/json"
	"errors"
	"slices"
)

// itemName is the name of an item in expressions for items, unless it has a key of that name.
const itemName = "item"

// itemScope is a list whose items an expression is computed for.
type itemScope struct {
	name  string // of the item, besides "item": the variable of a loop
	items []Value
	item  Value           // the one it is computed for now
	entry *entry          // whose value that is, in a loop over keys
	keys  map[string]bool // whether any item has a key, as far as that was asked
	paths map[*Path]bool  // whether any item has what a path names, as far as that was asked
}

// isOwn reports whether a name is that of a variable of the loop.
func (s *itemScope) isOwn(e *Env, name string) bool {
	return s.name != "" && (name == s.name || name == e.tag.KeyVar)
}

// has reports whether any item has a key.
func (s *itemScope) has(e *Env, key string) bool {
	found, known := s.keys[key]
	if !known {
		e.meter.Count(len(s.items))
		found = slices.ContainsFunc(s.items, func(item Value) bool {
			_, ok := keyOf(item, key)
			return ok
		})
		if s.keys == nil {
			s.keys = map[string]bool{}
		}
		s.keys[key] = found
	}
	return found
}

// enter makes the keys of items the innermost names for [Env.inItem], until leave.
func (e *Env) enter(items []Value) { e.items = append(e.items, itemScope{items: items}) }

// enterFiltered is enter for a filter. In the filters of a loop, its variable is the item.
func (e *Env) enterFiltered(items []Value) {
	e.items = append(e.items, itemScope{items: items, name: e.tag.Var})
}

func (e *Env) leave() { e.items = e.items[:len(e.items)-1] }

// leaveFiltered is leave for a filter. It warns about an argument that is the same for all items, because no item has its keys, but the top
// of the input has them.
func (e *Env) leaveFiltered(f *Filter) {
	if len(e.items[len(e.items)-1].items) > 0 {
		for _, arg := range f.Args {
			if p := e.outsideItems(arg); p != nil {
				e.doubt("'" + p.text + "' in " + f.String() + " is the same for all items: no item has that key, but the top of the input has it. " +
					"Name a key of the items.")
			}
		}
	}
	e.leave()
}

// outsideItems returns the first path in an expression for items if all paths in it are of the top of the input, or nil.
func (e *Env) outsideItems(n Node) *Path {
	var first *Path
	outside := true
	reads(n, true, func(p *Path, _ bool) {
		if !outside {
			return
		}
		if first == nil {
			first = p
		}
		outside = e.isTop(p)
	})
	if outside {
		return first
	}
	return nil
}

// isTop reports whether a path in an expression for items is of the top of the input.
func (e *Env) isTop(p *Path) bool {
	if _, isItem := e.inItems(p); isItem || p.loop && e.loops > 0 {
		return false
	}
	return !e.hasVariable(p.Steps[0].Key) && e.down(e.data, p.Steps) != nil
}

// inItem returns the value of n for one of the items.
func (e *Env) inItem(n Node, item Value) (Value, error) {
	s := &e.items[len(e.items)-1]
	s.item = item
	if entry, ok := item.(*entry); ok {
		s.item, s.entry = entry.value, entry
	}
	v, err := e.eval(n)
	if f, ok := errors.AsType[*fault](err); ok {
		e.locate(f)
	}
	return v, err
}

// itemValues returns the values of n for the items, with nil for missing ones. If all are missing, the paths of the first item count as
// missing in the tag.
func (e *Env) itemValues(n Node, items []Value) ([]Value, error) {
	if err := e.hold(len(items)*itemBytes, n); err != nil {
		return nil, err
	}
	before, first, found := len(e.missing), 0, len(items) == 0 // first is where the paths of the first item end
	values := make([]Value, len(items))
	e.enter(items)
	defer e.leave()
	for i, item := range items {
		known := len(e.missing)
		v, err := e.inItem(n, item)
		switch {
		case err != nil:
			return nil, err
		case v != nil:
			e.overlooked(known)
		case first == 0:
			first = len(e.missing)
		default:
			e.missing = e.missing[:first]
		}
		values[i], found = v, found || v != nil
	}
	if found {
		e.missing = e.missing[:before]
	}
	return values, nil
}

// inItems looks up the first name of a path among the keys of the items, the innermost first. A key of any item counts
// as a key of all items: the value is missing in an item without the key, and is not taken from an outer name.
func (e *Env) inItems(p *Path) (v Value, ok bool) {
	key := p.Steps[0].Key
	for i := range slices.Backward(e.items) {
		s := &e.items[i]
		if s.entry != nil {
			if v, steps, ok := s.inEntry(e, p); ok {
				return e.descend(v, steps), true
			}
			continue
		}
		if v, ok := keyOf(s.item, key); ok {
			return e.descend(v, p.Steps[1:]), true
		}
		if s.has(e, key) {
			return nil, true
		}
		if key == itemName || p.own && s.isOwn(e, key) {
			return e.descend(s.item, p.Steps[1:]), true
		}
	}
	return nil, false
}

// inEntry returns where a path begins in a loop over keys, and the steps from there. The variables of the loop come first. The names key
// and value come before the keys of the values of an object, and after those of the items of a list.
func (s *itemScope) inEntry(e *Env, p *Path) (v Value, steps []Step, ok bool) {
	key, below := p.Steps[0].Key, p.Steps[1:]
	isName := key == entryKey || key == entryValue
	switch {
	case p.own && s.isOwn(e, key):
		if key == e.tag.KeyVar {
			return s.entry.key, below, true
		}
		return s.item, below, true
	case !(isName && s.entry.isNamed()) && s.has(e, key):
		return s.item, p.Steps, true
	case key == entryKey:
		return s.entry.key, below, true
	case key == entryValue || key == itemName:
		return s.item, below, true
	}
	return nil, nil, false
}

// keyOf returns the value of an object at a key. ok is false if it does not have the key, or if v is not an object.
func keyOf(v Value, key string) (at Value, ok bool) {
	object, is := ofEntry(v).(*Object)
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
		return v, e.spend(len(v), e.subject)
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

// isComputed reports whether v is, or may hold, what Decode does not give.
func isComputed(v Value) bool {
	switch v.(type) {
	case number, moment, []any:
		return true
	}
	return false
}
