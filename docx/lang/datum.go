package lang

import "strconv"

// A problem names the value that it is about twice: as the tag does (i.qty), and by its path in the input, as Schema.Check does
// (order.items[57].qty), so that people find it in the data.

// datum returns the path in the input of what p names, or "" if that is not a single value of the input.
func (e *Env) datum(p *Path) string {
	if p.isIndex {
		return ""
	}
	key := p.Steps[0].Key
	if p.perItem {
		for i := len(e.items) - 1; i >= 0; i-- {
			s := &e.items[i]
			switch {
			case s.has(e, key):
				return e.below(e.itemDatum(p.list, s.item), s.item, p.Steps)
			case p.own && e.tag.KeyVar != "":
				return ""
			case key == itemName, p.own && key == s.name:
				return e.below(e.itemDatum(p.list, s.item), s.item, p.Steps[1:])
			}
		}
	}
	for i := len(e.frames) - 1; i >= 0; i-- {
		f := &e.frames[i]
		if (f.isLet || f.keyName != "") && (f.name == key || f.keyName == key) {
			return ""
		}
		if f.name == key {
			around := Env{data: e.data, meter: e.meter, frames: e.frames[:i]}
			return e.below(around.frameDatum(f), f.item, p.Steps[1:])
		}
	}
	if p.loop && e.loops > 0 || p.perItem && keyIn(e.data, key) == nil {
		return ""
	}
	return e.below("", e.data, p.Steps)
}

// frameDatum returns the path of the item of a loop, whose frames around it are those of e.
func (e *Env) frameDatum(f *frame) string {
	list, ok := f.tag.Expr.(*Path)
	if !ok {
		return ""
	}
	if _, ok := f.item.(*Object); ok {
		return e.itemDatum(list, f.item)
	}
	base := e.datum(list)
	if len(f.tag.Filters) > 0 || base == "" {
		return ""
	}
	return base + "[" + strconv.Itoa(f.index) + "]"
}

// itemDatum returns the path of an object that is an item of the list at a path, or that object itself.
func (e *Env) itemDatum(list *Path, item Value) string {
	object, ok := item.(*Object)
	if !ok || list == nil {
		return ""
	}
	base := e.datum(list)
	if base == "" {
		return ""
	}
	switch v := e.lookup(list).(type) {
	case *Object:
		if v == object {
			return base
		}
	case []any:
		for i, other := range v {
			if other == Value(object) {
				return base + "[" + strconv.Itoa(i) + "]"
			}
		}
	}
	return ""
}

// below returns the path of what some steps lead to from v, which is at base. base is "" at the top of the input.
func (e *Env) below(base string, v Value, steps []Step) string {
	if base == "" && v != e.data {
		return ""
	}
	path := base
	for _, step := range steps {
		list, isList := v.([]any)
		switch {
		case step.IsIndex:
			index := step.Index
			if isList && index < 0 && index+len(list) >= 0 {
				index += len(list)
			}
			path += "[" + strconv.Itoa(index) + "]"
		case isList: // several values
			return ""
		default:
			path = joinPath(path, step.Key)
		}
		v = e.descend(v, []Step{step})
	}
	return path
}

// keyIn returns the value of an object at a key, or nil.
func keyIn(v Value, key string) Value {
	at, _ := keyOf(v, key)
	return at
}
