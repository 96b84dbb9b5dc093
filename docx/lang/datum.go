package lang

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A problem names the value that it is about twice: as the tag does (i.qty), and by its path in the input, as Schema.Check does
// (order.items[57].qty), so that people find it in the data.

// datum returns the path in the input of what p names, or "" if that is not a single value of the input.
func (e *Env) datum(p *Path) string {
	at, ok := e.origin(p)
	if !ok || !at.follow(e, false) {
		return ""
	}
	return at.path
}

// missingDatum is datum for a path whose value is missing. If it is missing in all items of a list, it is that of the first item.
func (e *Env) missingDatum(p *Path) string {
	at, ok := e.origin(p)
	if !ok || !at.follow(e, true) {
		return ""
	}
	return at.path
}

// Placed adds to a line about the value of a tag the path of the value in the input, if the line names the value. It also returns the
// path, or "" if the value is not a single one of the input. It must be called before the next round of a loop.
func (e *Env) Placed(t *Tag, line string) (placedLine, datum string) {
	p, ok := t.Expr.(*Path)
	if !ok || !strings.Contains(line, "'"+p.name()+"'") {
		return line, ""
	}
	datum = e.datum(p)
	return placed(line, p.name(), datum), datum
}

// DataPath returns the path in the input of the value of a tag, or "" if the value is not a single one of the input. It must be called
// before the next round of a loop.
func (e *Env) DataPath(t *Tag) string {
	p, ok := t.Expr.(*Path)
	if !ok {
		return ""
	}
	return e.datum(p)
}

// placed adds to a line the path in the input of what the line names, unless that is the same.
func placed(line, name, datum string) string {
	if datum == "" || datum == name {
		return line
	}
	return strings.Replace(line, "'"+name+"'", "'"+name+"' ("+datum+")", 1)
}

// located is a value of the input, its path, and the steps from there to what a path names.
type located struct {
	path  string // "" at the top
	v     Value
	steps []Step
}

// follow follows the steps. If they lead to several values, it follows them to the first, or returns false.
func (l *located) follow(e *Env, first bool) bool {
	for i := range l.steps {
		for isList(l.v) && !l.steps[i].IsIndex {
			if !first {
				return false
			}
			l.take(e, &Step{IsIndex: true})
		}
		l.take(e, &l.steps[i])
	}
	return true
}

// take follows one step from an object, or from a list to one of its items.
func (l *located) take(e *Env, step *Step) {
	if step.IsIndex {
		index := step.Index
		if list, ok := l.v.([]any); ok && index < 0 && index+len(list) >= 0 {
			index += len(list)
		}
		l.path += "[" + strconv.Itoa(index) + "]"
	} else {
		l.path = joinPath(l.path, step.Key)
	}
	l.v = e.descend(l.v, []Step{*step})
}

// origin returns where a path begins in the input: at the top, or at the value of a variable or an item. ok is false if that value is not
// one of the input.
func (e *Env) origin(p *Path) (at located, ok bool) {
	if p.isIndex {
		return located{}, false
	}
	key, below := p.Steps[0].Key, p.Steps[1:]
	from := func(path string, v Value, steps []Step) (located, bool) { return located{path, v, steps}, path != "" }
	if p.perItem {
		for i := len(e.items) - 1; i >= 0; i-- {
			s := &e.items[i]
			switch {
			case p.own && e.tag.KeyVar != "" && key == e.tag.KeyVar:
				return located{}, false
			case s.has(e, key):
				return from(e.itemDatum(p.list, s.item), s.item, p.Steps)
			case key == itemName, p.own && s.isOwn(e, key):
				return from(e.itemDatum(p.list, s.item), s.item, below)
			}
		}
	}
	for i := len(e.frames) - 1; i >= 0; i-- {
		f := &e.frames[i]
		switch key {
		case f.name:
			return from(e.frameDatum(i), f.item, below)
		case f.keyName:
			return located{}, false
		}
	}
	isOuter := keyIn(e.data, key) != nil
	if len(e.items) == 0 && p.list != nil && !p.ofEntry && !isOuter { // missing in all items
		if at, ok = e.origin(p.list); ok {
			at, _ = at.item(e, 0)
		}
		return from(at.path, at.v, p.itemSteps())
	}
	if p.loop && e.loops > 0 || p.perItem && !isOuter {
		return located{}, false
	}
	return located{"", e.data, p.Steps}, true
}

// frameDatum returns the path of the value of a variable.
func (e *Env) frameDatum(i int) string {
	f := &e.frames[i]
	around := &Env{data: e.data, meter: e.meter, frames: e.frames[:i]}
	list, ok := f.tag.Expr.(*Path)
	key, isKey := scalarText(f.key)
	switch {
	case !ok || f.keyName != "" && !isKey: // of a computed list, such as one of groups
		return e.search(f.item)
	case f.isLet && len(f.tag.Filters) == 0:
		return around.datum(list)
	case f.keyName == "" && len(f.tag.Filters) > 0:
		return around.itemDatum(list, f.item)
	case f.keyName == "":
		return cmp.Or(around.listItemDatum(list, f.index), e.search(f.item))
	}
	if i, err := strconv.Atoi(key); err == nil && isList(around.lookup(list)) {
		return cmp.Or(around.listItemDatum(list, i), e.search(f.item))
	}
	if base := around.datum(list); base != "" {
		return joinPath(base, key)
	}
	return e.search(f.item)
}

// isList reports whether a value is a list.
func isList(v Value) bool {
	_, ok := v.([]any)
	return ok
}

// itemDatum returns the path of an item of the list at a path, or of that value itself. Among equal strings and numbers, it is the first.
func (e *Env) itemDatum(p *Path, item Value) string {
	base := ""
	if p != nil {
		base = e.datum(p)
	}
	switch item.(type) {
	case *Object, string, json.Number, bool: // the others cannot be compared
	default:
		return ""
	}
	if base != "" {
		list := e.lookup(p)
		if all, ok := list.([]any); !ok && list == item {
			return base
		} else if i := slices.Index(all, item); i >= 0 {
			return base + "[" + strconv.Itoa(i) + "]"
		}
	}
	return e.search(item)
}

// maxSearched is the number of values of the input that are searched for an object.
const maxSearched = 100_000

// search returns the path of an object that is somewhere in the input, or "".
func (e *Env) search(item Value) string {
	object, ok := item.(*Object)
	if !ok {
		return ""
	}
	left := maxSearched
	var find func(v Value) (steps []Step, found bool)
	find = func(v Value) (steps []Step, found bool) {
		left--
		switch v := v.(type) {
		case *Object:
			if v == object {
				return nil, true
			}
			for key, below := range v.All() {
				if steps, found = find(below); found || left < 0 {
					return append(steps, Step{Key: key}), found
				}
			}
		case []any:
			for i, below := range v {
				if steps, found = find(below); found || left < 0 {
					return append(steps, Step{Index: i, IsIndex: true}), found
				}
			}
		}
		return nil, false
	}
	steps, found := find(e.data)
	e.meter.Count(maxSearched - left)
	if !found {
		return ""
	}
	at := located{v: e.data}
	for _, step := range slices.Backward(steps) {
		at.take(e, &step)
	}
	return at.path
}

// listItemDatum returns the path of item i of the list that a path names. The items may come from several lists.
func (e *Env) listItemDatum(p *Path, i int) string {
	at, ok := e.origin(p)
	if ok {
		at, _ = at.item(e, i)
	}
	return at.path
}

// item returns item i of the list that the steps lead to, with its path. If there is none, the path is empty, and n the number of items.
func (l located) item(e *Env, i int) (item located, n int) {
	for at := range l.steps {
		if !isList(l.v) || l.steps[at].IsIndex {
			l.take(e, &l.steps[at])
			continue
		}
		for j, v := range l.v.([]any) {
			item, some := located{l.path + "[" + strconv.Itoa(j) + "]", v, l.steps[at:]}.item(e, i-n)
			if item.path != "" {
				return item, 0
			}
			n += some
		}
		return located{}, n
	}
	switch list, ok := l.v.([]any); {
	case l.v == nil:
		return located{}, 0
	case !ok && i == 0:
		return located{path: l.path, v: l.v}, 0
	case !ok:
		return located{}, 1
	case i < len(list):
		return located{path: l.path + "[" + strconv.Itoa(i) + "]", v: list[i]}, 0
	default:
		return located{}, len(list)
	}
}

// keyIn returns the value of an object at a key, or nil.
func keyIn(v Value, key string) Value {
	at, _ := keyOf(v, key)
	return at
}
