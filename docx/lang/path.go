package lang

import (
	"encoding/json"
	"strconv"
)

// lookup returns the value of a path, or nil if it is missing or null. It counts the items of lists on the way as
// steps. The caller compares these with the limit.
func (e *Env) lookup(p *Path) Value { return held(e.find(p)) }

// find is lookup, but returns a value in the form in which objects hold it.
func (e *Env) find(p *Path) Value {
	if p.perItem {
		if v, ok := e.inItems(p); ok {
			return v
		}
	}
	key := p.Steps[0].Key
	for i := len(e.frames) - 1; i >= 0; i-- {
		f := &e.frames[i]
		if f.name == key {
			return e.down(f.item, p.Steps[1:])
		}
		if f.keyName != "" && f.keyName == key {
			return e.down(f.key, p.Steps[1:])
		}
	}
	if p.loop && e.loops > 0 {
		return e.loopProperty(p.Steps[1:])
	}
	return e.down(e.data, p.Steps)
}

// descend follows steps from v. A key of a list is that key of its items.
func (e *Env) descend(v Value, steps []Step) Value { return held(e.down(v, steps)) }

// down is descend, but returns a value in the form in which objects hold it.
func (e *Env) down(v Value, steps []Step) Value {
	for i := range steps {
		s := &steps[i]
		switch c := v.(type) {
		case *Object:
			if s.IsIndex {
				return nil
			}
			v = c.at(s.Key)
		case []any:
			if !s.IsIndex {
				return e.each(c, steps[i:])
			}
			v = itemAt(c, s.Index)
		default:
			return nil
		}
	}
	return v
}

// each returns the values that the steps lead to from the items, as one list without lists in it. It returns nil if there are none,
// unless they could be in lists that have no items.
func (e *Env) each(items []any, steps []Step) Value {
	e.meter.Count(len(items))
	found := len(items) == 0
	all := make([]any, 0, len(items))
	for _, item := range items {
		v := e.descend(item, steps)
		if v == nil {
			continue
		}
		found = true
		if list, ok := v.([]any); ok {
			e.meter.Count(len(list))
			all = append(all, list...)
		} else {
			all = append(all, v)
		}
	}
	if !found || len(all) == 0 && len(items) > 0 && !e.mayHave(items, stepKeys(steps)) {
		return nil
	}
	return all
}

func itemAt(list []any, i int) Value {
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// loopProperty returns the value of the steps after "loop".
func (e *Env) loopProperty(steps []Step) Value {
	at := e.innermost()
	for len(steps) > 1 && steps[0].Key == "parent" {
		for at--; at >= 0 && e.frames[at].isLet; at-- {
		}
		steps = steps[1:]
	}
	if at < 0 || len(steps) != 1 {
		return nil
	}
	f := e.frames[at]
	switch steps[0].Key {
	case "index":
		return json.Number(strconv.Itoa(f.index))
	case "number":
		return json.Number(strconv.Itoa(f.index + 1))
	case "count":
		return json.Number(strconv.Itoa(f.count))
	case "first":
		return f.index == 0
	case "last":
		return f.index == f.count-1
	}
	return nil
}

// loopOf returns the loop whose item a tag's value is taken from: that of the variable its path starts with, or else the
// innermost; nil outside loops.
func (e *Env) loopOf(t *Tag) *frame {
	if e.loops == 0 {
		return nil
	}
	if p, ok := t.Expr.(*Path); ok {
		for i := len(e.frames) - 1; i >= 0; i-- {
			if f := &e.frames[i]; !f.isLet && f.name == p.Steps[0].Key {
				return f
			}
		}
	}
	return &e.frames[e.innermost()]
}
