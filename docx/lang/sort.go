package lang

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

// sortBy is one of the keys that a list is sorted by.
type sortBy struct {
	key        Node // nil: the item itself
	descending bool
}

// sortKeys reads the arguments of the filter sort: keys, each with "asc" or "desc" after it if need be.
func sortKeys(args []Node) []sortBy {
	var keys []sortBy
	for _, arg := range args {
		if l, ok := arg.(*Literal); ok && (l.Value == "asc" || l.Value == "desc") {
			if len(keys) == 0 {
				keys = append(keys, sortBy{})
			}
			keys[len(keys)-1].descending = l.Value == "desc"
			continue
		}
		keys = append(keys, sortBy{key: arg})
	}
	if len(keys) == 0 {
		keys = append(keys, sortBy{})
	}
	return keys
}

// sortable is an item and its sort keys.
type sortable struct {
	item   Value
	places []place
}

// sortItems sorts the items by their keys: numbers by value, then dates, then texts in the order of the locale, then
// false and true. Missing keys come last, also in descending order. The order of equal items does not change.
func sortItems(e *Env, f *Filter, items []Value) (Value, error) {
	keys := sortKeys(f.Args)
	if err := e.hold(len(items)*(2*itemBytes+len(keys)*sortBytes), e.subject); err != nil {
		return nil, err
	}
	rows := make([]sortable, len(items))
	size := 0
	e.enterFiltered(items)
	defer e.leaveFiltered(f)
	for i, item := range items {
		rows[i] = sortable{item, make([]place, len(keys))}
		for k, by := range keys {
			p, err := e.sortPlace(by, item)
			if err != nil {
				return nil, err
			}
			rows[i].places[k] = p
			size += 1 + len(p.text)/bytesPerStep
		}
	}
	if err := e.spend(size*bits.Len(uint(len(items))), e.subject); err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b sortable) int {
		for k, by := range keys {
			if c := e.comparePlaces(a.places[k], b.places[k], by.descending); c != 0 {
				return c
			}
		}
		return 0
	})
	sorted := make([]any, len(rows))
	for i, row := range rows {
		sorted[i] = row.item
	}
	return sorted, nil
}

// sortBytes is the approximate memory of a sort key.
const sortBytes = 96

// place is where a value belongs among others.
type place struct {
	kind   int // numbers, dates, texts, false and true, missing
	number number
	text   string
	date   time.Time
}

const (
	placeNumber = iota
	placeDate
	placeText
	placeBool
	placeMissing
)

// sortPlace returns where an item belongs by a key.
func (e *Env) sortPlace(by sortBy, item Value) (place, error) {
	v, n := ofEntry(item), e.subject
	if by.key != nil {
		before := len(e.missing)
		var err error
		if v, err = e.inItem(by.key, item); err != nil {
			return place{}, err
		}
		e.overlooked(before)
		n = by.key
	}
	if v == nil || v == "" {
		return place{kind: placeMissing}, nil
	}
	if x, ok := asNumber(v); ok {
		return place{kind: placeNumber, number: x}, nil
	}
	s, ok := scalarText(v)
	switch {
	case !ok && by.key == nil:
		return place{}, &fault{node: n, message: "is a list that contains " + kindOf(v) + ": name the key to sort by, as in sort(name)"}
	case !ok:
		return place{}, &fault{node: n, message: "is " + kindOf(v) + ", which cannot be sorted"}
	}
	if _, ok := v.(bool); ok {
		return place{kind: placeBool, text: s}, nil
	}
	if hasDigit(s) {
		if m, ok := e.asMoment(v); ok {
			return place{kind: placeDate, date: m.Time}, nil
		}
	}
	return place{kind: placeText, text: s}, nil
}

func (e *Env) comparePlaces(a, b place, descending bool) int {
	if a.kind == placeMissing || b.kind == placeMissing {
		return cmp.Compare(a.kind, b.kind)
	}
	c := cmp.Compare(a.kind, b.kind)
	switch {
	case c != 0:
	case a.kind == placeNumber:
		c = a.number.compare(b.number)
	case a.kind == placeDate:
		c = a.date.Compare(b.date)
	case a.kind == placeText:
		c = e.collate(a.text, b.text)
	default:
		c = cmp.Compare(a.text, b.text)
	}
	if descending {
		return -c
	}
	return c
}
