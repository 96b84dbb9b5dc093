package lang

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// The keys of the objects that the filter group returns.
const (
	groupKey   = "key"
	groupItems = "items"
)

// listFilters work on lists. An object or a single value counts as a list of one item, and the empty text as an empty list. A missing value
// stays missing.
var listFilters = map[string]*filter{
	"where": {
		usage: `where(price > 10)`, arity: arity{1, 1}, also: []string{"filter"},
		takes: takes{want: aList}, same: true, perItem: true, apply: onList(where),
	},
	"sort": {
		usage: `sort(name), sort(price, "desc") or sort`, arity: arity{0, 8}, also: []string{"sortby", "orderby"},
		takes: takes{want: aList}, same: true, args: []takes{{want: aScalar}, like(aText, "desc")}, perItem: true, apply: onList(sortItems),
	},
	"group": {
		usage: `group(category)`, arity: arity{1, 1}, also: []string{"groupby"},
		takes: takes{want: aList}, same: true, args: []takes{{want: aScalar}}, perItem: true, apply: onList(group),
	},
	"unique": {
		usage: `unique or unique(name)`, arity: arity{0, 1}, also: []string{"distinct"},
		takes: takes{want: aList}, same: true, args: []takes{{want: aScalar}}, perItem: true, apply: onList(unique),
	},
	"first": {
		usage: `first or first(3)`, arity: arity{0, 1},
		takes: takes{want: aList}, same: true, args: []takes{likeNumber("1")}, apply: onList(firstItems),
	},
	"last": {
		usage: `last or last(3)`, arity: arity{0, 1},
		takes: takes{want: aList}, same: true, args: []takes{likeNumber("1")}, apply: onList(lastItems),
	},
	"slice": {
		usage: `slice(2), slice(0, 3) or slice(-3)`, arity: arity{1, 2}, also: []string{"substring"},
		same: true, args: []takes{likeNumber("0"), likeNumber("2")}, apply: slice,
	},
	"reverse": {usage: "reverse", takes: takes{want: aList}, same: true, apply: onList(reverse)},
	"count":   {usage: "count", takes: takes{want: aList}, also: []string{"size"}, apply: onList(countItems)},
	"join": {
		usage: `join, join("; ") or join(", ", " and ")`, arity: arity{0, 2},
		takes: takes{want: aList | aScalar}, args: []takes{{want: aScalar}}, apply: onList(joinList),
	},
	"delimiter": {
		usage: `delimiter(", ")`, arity: arity{1, 1},
		takes: takes{want: maybeList}, same: true, ofTag: true, args: []takes{{want: aScalar}}, apply: delimiter,
	},
	"lastdelimiter": {
		usage: `lastdelimiter(" and ")`, arity: arity{1, 1},
		takes: takes{want: maybeList}, same: true, ofTag: true, args: []takes{{want: aScalar}}, apply: lastDelimiter,
	},
}

// onList returns a filter of the items of a list.
func onList(change func(*Env, *Filter, []Value) (Value, error)) func(*Env, *Filter, Value) (Value, error) {
	return func(e *Env, f *Filter, v Value) (Value, error) {
		if v == nil {
			return nil, nil
		}
		items, err := e.listOf(v)
		if err != nil {
			return nil, err
		}
		return change(e, f, items)
	}
}

// where leaves the items for which its condition holds.
func where(e *Env, f *Filter, items []Value) (Value, error) {
	before := len(e.missing)
	if err := e.hold(len(items)*itemBytes, e.subject); err != nil {
		return nil, err
	}
	kept := []any{}
	e.enterFiltered(items)
	defer e.leaveFiltered(f)
	for _, item := range items {
		v, err := e.inItem(f.Args[0], item)
		if err != nil {
			return nil, err
		}
		if e.isTrue(f.Args[0], v) {
			kept = append(kept, item)
		}
		e.overlooked(before)
	}
	return kept, nil
}

// group returns groups of the items with the same key, in the order in which the keys first occur: a list of objects with key and items.
// Items without a key are a group without a key.
func group(e *Env, f *Filter, items []Value) (Value, error) {
	places := map[string]int{}
	var keys []Value
	var groups [][]any
	e.enterFiltered(items)
	defer e.leaveFiltered(f)
	for _, item := range items {
		key, text, err := e.itemKey(f.Args[0], item)
		if err != nil {
			return nil, err
		}
		at, ok := places[text]
		if !ok {
			at = len(groups)
			places[text] = at
			keys, groups = append(keys, key), append(groups, nil)
		}
		groups[at] = append(groups[at], ofEntry(item))
	}
	list := make([]any, len(groups))
	for i := range groups {
		list[i] = newGroup(keys[i], groups[i])
	}
	return list, nil
}

func newGroup(key Value, items []any) Value {
	return NewObject([]string{groupKey, groupItems}, []Value{plain(key), items})
}

// unique leaves the first of the items that are the same, or have the same key.
func unique(e *Env, f *Filter, items []Value) (Value, error) {
	seen := map[string]bool{}
	kept := []any{}
	e.enterFiltered(items)
	defer e.leaveFiltered(f)
	for _, item := range items {
		n := e.subject
		text, ok := identity(ofEntry(item))
		if len(f.Args) > 0 {
			var err error
			if _, text, err = e.itemKey(f.Args[0], item); err != nil {
				return nil, err
			}
		} else if !ok {
			return nil, &fault{node: n, message: "is a list that contains " + kindOf(item) + ": name the key to compare, as in unique(name)"}
		} else if err := e.hold(len(text)+keyBytes, n); err != nil {
			return nil, err
		} else if err := e.spend(len(text)/bytesPerStep, n); err != nil {
			return nil, err
		}
		if !seen[text] {
			seen[text] = true
			kept = append(kept, item)
		}
	}
	return kept, nil
}

// itemKey returns what n is for an item, and a text that is the same for equal keys.
func (e *Env) itemKey(n Node, item Value) (key Value, text string, err error) {
	before := len(e.missing)
	key, err = e.inItem(n, item)
	e.overlooked(before)
	if err != nil {
		return nil, "", err
	}
	text, ok := identity(key)
	if !ok {
		return nil, "", &fault{node: n, message: "is " + kindOf(key) + ", not a text or a number"}
	}
	if err := e.hold(len(text)+keyBytes, n); err != nil {
		return nil, "", err
	}
	return key, text, e.spend(len(text)/bytesPerStep, n)
}

// keyBytes is the approximate memory of a known key without its text, including the list of its items.
const keyBytes = 200

// identity returns a text that is the same for equal values; ok is false for lists and objects.
func identity(v Value) (text string, ok bool) {
	if v == nil {
		return "", true
	}
	if s, isText := v.(string); !isText || isWritten(s) {
		if x, isNumber := asNumber(v); isNumber {
			return "=" + x.text(), true
		}
	}
	text, ok = scalarText(v)
	return "=" + text, ok
}

// firstItems returns the first item, which is missing in an empty list, or the number of first items in the argument.
func firstItems(e *Env, f *Filter, items []Value) (Value, error) {
	if len(f.Args) == 0 {
		return itemAt(items, 0), nil
	}
	n, err := e.whole(f.Args[0], 0, maxWhole)
	return clip(items, 0, min(n, len(items))), err
}

// lastItems is firstItems from the end.
func lastItems(e *Env, f *Filter, items []Value) (Value, error) {
	if len(f.Args) == 0 {
		return itemAt(items, -1), nil
	}
	n, err := e.whole(f.Args[0], 0, maxWhole)
	return clip(items, max(len(items)-n, 0), len(items)), err
}

// maxWhole is the largest position in a list or text.
const maxWhole = 1_000_000_000

// clip returns a part of a list. Appending to it does not change the list.
func clip(items []Value, from, to int) Value { return items[from:to:to] }

// slice returns the items of a list, or the characters of a text, from one position to before another. Positions count from 0, or from the
// end if they are negative.
func slice(e *Env, f *Filter, v Value) (Value, error) {
	if v == nil {
		return nil, nil
	}
	s, isText := v.(string)
	if list, ok := v.([]any); !ok && !isText {
		s, isText = scalarText(v)
	} else if ok {
		from, to, err := e.between(f, len(list))
		return clip(list, from, to), err
	}
	if !isText {
		return nil, &fault{node: e.subject, message: "is " + kindOf(v) + ", not text or a list"}
	}
	from, to, err := e.between(f, utf8.RuneCountInString(s))
	if err != nil {
		return nil, err
	}
	start := runeOffset(s, from)
	end := start + runeOffset(s[start:], to-from)
	return s[start:end], e.spend(len(s)/bytesPerStep, e.subject)
}

// between returns the places that the arguments of slice name among n.
func (e *Env) between(f *Filter, n int) (from, to int, err error) {
	to = n
	places := []*int{&from, &to}
	for i, arg := range f.Args {
		at, err := e.whole(arg, -maxWhole, maxWhole)
		if err != nil {
			return 0, 0, err
		}
		if at < 0 {
			at += n
		}
		*places[i] = min(max(at, 0), n)
	}
	return from, max(from, to), nil
}

func reverse(e *Env, _ *Filter, items []Value) (Value, error) {
	if err := e.makeItems(len(items), e.subject); err != nil {
		return nil, err
	}
	turned := make([]any, len(items))
	for i, item := range items {
		turned[len(items)-1-i] = item
	}
	return turned, nil
}

// countItems is the function $count.
func countItems(_ *Env, _ *Filter, items []Value) (Value, error) {
	return wholeValue(len(present(items))), nil
}

// joinList makes one text of the items: with the separators of its arguments or, if it has none, as people write lists.
func joinList(e *Env, f *Filter, items []Value) (Value, error) {
	if len(f.Args) == 0 {
		texts, err := e.itemTexts(e.subject, items)
		if err != nil {
			return nil, err
		}
		return e.made(e.enumerate(texts))
	}
	between, err := e.text(f.Args[0])
	if err != nil {
		return nil, err
	}
	last, err := e.textOr(f, 1, between)
	if err != nil {
		return nil, err
	}
	return e.printList(e.subject, items, &between, &last)
}

// delimiter sets the separator after each item but the last, of the list that is printed or of the loop.
func delimiter(e *Env, f *Filter, v Value) (Value, error) {
	s, err := e.text(f.Args[0])
	e.list.between = &s
	return v, err
}

// lastDelimiter sets the separator between the last two items.
func lastDelimiter(e *Env, f *Filter, v Value) (Value, error) {
	s, err := e.text(f.Args[0])
	e.list.last = &s
	return v, err
}

// wholeValue returns a whole number as a value.
func wholeValue(n int) Value { return json.Number(strconv.Itoa(n)) }
