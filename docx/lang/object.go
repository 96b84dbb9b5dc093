package lang

import (
	"encoding/json"
	"iter"
)

// maxScanned is the largest number of keys of an object that are searched one by one. Larger objects have an index.
const maxScanned = 12

// Value is a piece of input as [Decode] gives it: nil, bool, string, json.Number, []any or *[Object].
type Value = any

// Object is an object of the input: its keys in their order, each once, and their values. It does not change, so
// concurrent executions may share it. The zero value is the empty object.
type Object struct {
	layout *layout
	values []Value // of texts and numbers pointers: see held
}

// NewObject returns an object with the given keys, which must differ, and their values in the same order. Both slices
// belong to the object from then on.
func NewObject(keys []string, values []Value) *Object {
	if len(keys) != len(values) {
		panic("lang: an object needs as many values as keys")
	}
	s := &layout{keys: keys, size: len(keys)}
	s.seal()
	return &Object{s, values}
}

// Len returns the number of keys.
func (o *Object) Len() int { return len(o.values) }

// Get returns the value of a key, or nil if there is none or it is null, which mean the same in the language.
func (o *Object) Get(key string) Value { return held(o.at(key)) }

// at is Get, but returns the value in the form in which the object holds it.
func (o *Object) at(key string) Value {
	if i := o.find(key); i >= 0 {
		return o.values[i]
	}
	return nil
}

// held returns the value that an object holds. A text or number in an interface needs an allocation, which would be very many for a large
// input. Therefore the decoder allocates them in blocks, and objects hold pointers to them.
func held(v Value) Value {
	switch v := v.(type) {
	case *string:
		return *v
	case *json.Number:
		return *v
	}
	return v
}

// Has reports whether the object has a key, be it null.
func (o *Object) Has(key string) bool { return o.find(key) >= 0 }

// All yields the keys with their values, in order.
func (o *Object) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i, v := range o.values {
			if !yield(o.layout.keys[i], held(v)) {
				return
			}
		}
	}
}

// find returns the place of a key, or -1.
func (o *Object) find(key string) int {
	s := o.layout
	if s == nil {
		return -1
	}
	if s.index != nil {
		if i, ok := s.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range s.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// layout has the keys of objects in order: those of another layout, and one more. The layouts of one input are a tree,
// so that all rows of a table share one.
type layout struct {
	base  *layout // nil of the empty layout
	key   string  // the last
	plain bool    // the input spells the key without an escape
	size  int     // number of keys

	next *layout            // the extension that was used last
	more map[string]*layout // all extensions, if there are several

	keys  []string       // once an object has this layout
	index map[string]int // the places of keys, if they are many
}

// extend returns the layout with one more key, which must be new.
func (s *layout) extend(key string, plain bool) *layout {
	longer := &layout{base: s, key: key, plain: plain, size: s.size + 1}
	switch {
	case s.more != nil:
		s.more[key] = longer
	case s.next != nil:
		s.more = map[string]*layout{s.next.key: s.next, key: longer}
	}
	s.next = longer
	return longer
}

// extension returns the layout with one more key, nil if there was none yet.
func (s *layout) extension(key string) *layout {
	if s.next != nil && s.next.key == key {
		return s.next
	}
	longer := s.more[key]
	if longer != nil {
		s.next = longer
	}
	return longer
}

// seal completes the layout, so that objects can use it.
func (s *layout) seal() {
	if s.keys == nil && s.size > 0 {
		s.keys = make([]string, s.size)
		for at := s; at.base != nil; at = at.base {
			s.keys[at.size-1] = at.key
		}
	}
	if s.index == nil && s.size > maxScanned {
		s.index = make(map[string]int, s.size)
		for i, key := range s.keys {
			s.index[key] = i
		}
	}
}
