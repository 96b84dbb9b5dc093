package lang

import (
	"encoding/json"
	"slices"
)

// maxShape is how many keys a [Shape] holds; of data with more, what came later is not known.
const maxShape = 5000

// Shape is what the inputs of several documents have in common: as a [Schema], the keys that are there, required where all
// inputs have them. It tells later whether another template could have used these inputs, which are not kept. The zero
// value has seen no input.
type Shape struct {
	schema *Schema
	keys   int
}

// Add takes in the input of a document, which [Decode] gave.
func (s *Shape) Add(data Value) { s.schema = s.merge(s.schema, s.of(data)) }

// Schema returns the shape; nil if there was no input, or more in it than a Shape holds.
func (s *Shape) Schema() *Schema {
	if s.keys > maxShape || s.schema == nil {
		return nil
	}
	s.schema.fill()
	return s.schema
}

// fill says of lists of which no item was seen that these may be anything.
func (s *Schema) fill() {
	if s.kind == aListOf && s.items == nil {
		s.items = new(Schema)
	}
	if s.items != nil {
		s.items.fill()
	}
	for _, p := range s.properties {
		p.fill()
	}
}

// of returns the shape of one value.
func (s *Shape) of(v Value) *Schema {
	switch v := v.(type) {
	case *Object:
		o := &Schema{kind: anObject}
		for key, below := range v.All() {
			if s.keys++; s.keys > maxShape {
				break
			}
			if below != nil {
				o.properties = append(o.properties, property{key, true, s.of(below)})
			}
		}
		return o
	case []any:
		list := &Schema{kind: aListOf}
		for _, item := range v {
			if item != nil {
				list.items = s.merge(list.items, s.of(item))
			}
		}
		return list // whose items are nil if there are none
	case bool:
		return &Schema{kind: aFlag}
	case json.Number:
		return &Schema{kind: aDecimal}
	}
	if _, ok := asNumber(v); ok {
		return &Schema{kind: aDecimal}
	}
	return &Schema{kind: aString}
}

// merge returns the shape of what has either of two shapes. It may change a, and keeps parts of b.
func (s *Shape) merge(a, b *Schema) *Schema {
	switch {
	case a == nil:
		return b
	case b == nil || a.kind == anything:
		return a
	case a.kind != b.kind && (a.kind < aSingle || b.kind < aSingle):
		return &Schema{kind: anything}
	case a.kind != b.kind:
		return &Schema{kind: aSingle}
	case a.kind == aListOf:
		a.items = s.merge(a.items, b.items)
	case a.kind == anObject:
		s.mergeKeys(a, b)
	}
	return a
}

func (s *Shape) mergeKeys(a, b *Schema) {
	s.keys -= len(b.properties)
	at := make(map[string]int, len(a.properties))
	for i := range a.properties {
		at[a.properties[i].name] = i
	}
	both := make([]bool, len(a.properties))
	for _, p := range b.properties {
		i, ok := at[p.name]
		if !ok {
			s.keys++
			p.required = false
			a.properties = append(a.properties, p)
			continue
		}
		both[i] = true
		own := &a.properties[i]
		own.required = own.required && p.required
		own.Schema = s.merge(own.Schema, p.Schema)
	}
	for i, there := range both {
		a.properties[i].required = a.properties[i].required && there
	}
}

// Lacks returns the paths that a template with this schema needs and that not all inputs of a shape have, or not in a kind
// that it can use; of what is in a list, as in items[].price.
func (s *Schema) Lacks(shape *Schema) []string {
	var paths []string
	s.lacks(shape, "", &paths)
	return paths
}

func (s *Schema) lacks(shape *Schema, path string, paths *[]string) {
	switch {
	case shape.kind == anything || s.kind == anything:
	case s.kind == aListOf && shape.kind == aListOf:
		s.items.lacks(shape.items, path+"[]", paths)
	case s.kind == aListOf && shape.kind == anObject: // which counts as a list of it alone
		s.items.lacks(shape, path+"[]", paths)
	case (s.kind == anObject || s.kind == aListOf) != (shape.kind == anObject || shape.kind == aListOf),
		s.kind == anObject && shape.kind == aListOf, s.kind == aDecimal && shape.kind > aSingle && shape.kind != aDecimal:
		*paths = append(*paths, path)
	case s.kind == anObject:
		for _, p := range s.properties {
			i := slices.IndexFunc(shape.properties, func(o property) bool { return o.name == p.name })
			switch {
			case i >= 0 && (shape.properties[i].required || !p.required):
				p.lacks(shape.properties[i].Schema, joinPath(path, p.name), paths)
			case p.required:
				*paths = append(*paths, joinPath(path, p.name))
			}
		}
	}
}
