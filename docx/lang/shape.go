package lang

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// maxShape is the largest number of keys in a [Shape]. The shape of inputs with more keys is unknown.
const maxShape = 5000

// Shape is the structure that the inputs of several documents have in common. With it, a later check can find out whether
// another template could use these inputs, which are not kept. The zero value has no inputs.
type Shape struct {
	top     shapeNode
	keys    int
	unknown bool
}

// shapeNode is the common structure of the values at one path. Values in a list have the same path, and null counts as missing.
type shapeNode struct {
	kind  kind
	seen  int // values
	props []shapeProperty
	index map[string]int // of the names of props
	items *shapeNode
}

type shapeProperty struct {
	name string
	last int // the object that had it last, by the number that seen was
	node *shapeNode
}

// Read adds the input of a document, which is the next value of d, and returns the depth of its nested objects and lists. d must allow
// duplicate names. The error is one of d. After an error, the shape must not be used.
func (s *Shape) Read(d *jsontext.Decoder) (depth int, err error) {
	r := shapeReader{shape: s, in: d}
	err = r.value(&s.top)
	return r.deepest, err
}

// Forget makes the shape unknown.
func (s *Shape) Forget() { *s = Shape{unknown: true} }

// Schema returns the shape as a schema: its keys, which are required if all inputs have them. It is nil if there was
// no input, if the inputs have too many keys or are nested deeper than [MaxDepth], or if an object had a duplicate key.
func (s *Shape) Schema() *Schema {
	if s.unknown || s.top.seen == 0 {
		return nil
	}
	return s.top.schema()
}

func (n *shapeNode) schema() *Schema {
	s := &Schema{kind: n.kind}
	for _, p := range n.props {
		if p.node.seen > 0 {
			s.properties = append(s.properties, property{p.name, p.node.seen == n.seen, p.node.schema()})
		}
	}
	switch {
	case n.kind != aListOf:
	case n.items == nil:
		s.items = new(Schema)
	default:
		s.items = n.items.schema()
	}
	return s
}

// take adds a value of a kind. It returns the node if the content of the value must be added too, or nil.
func (n *shapeNode) take(k kind) *shapeNode {
	if n == nil {
		return nil
	}
	n.seen++
	switch {
	case n.seen == 1:
		n.kind = k
	case n.kind == k || n.kind == anything:
	case n.kind < aSingle || k < aSingle:
		*n = shapeNode{kind: anything, seen: n.seen}
	default:
		n.kind = aSingle
	}
	if n.kind == anything {
		return nil
	}
	return n
}

// shapeReader reads one input.
type shapeReader struct {
	shape          *Shape
	in             *jsontext.Decoder
	depth, deepest int
}

// value reads a value at the path of n, which is nil if that is not to be known.
func (r *shapeReader) value(n *shapeNode) error {
	token, err := r.in.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case jsontext.KindBeginObject:
		return r.object(r.enter(n.take(anObject)))
	case jsontext.KindBeginArray:
		return r.list(r.enter(n.take(aListOf)))
	case jsontext.KindTrue, jsontext.KindFalse:
		n.take(aFlag)
	case jsontext.KindNumber:
		n.take(aDecimal)
	case jsontext.KindString:
		n.take(aString)
	}
	return nil
}

// enter counts an object or list at n. It returns n, or nil if that is not to be known.
func (r *shapeReader) enter(n *shapeNode) *shapeNode {
	r.depth++
	r.deepest = max(r.deepest, r.depth)
	if r.depth > MaxDepth {
		r.shape.Forget()
	}
	if r.shape.unknown {
		return nil
	}
	return n
}

func (r *shapeReader) object(n *shapeNode) error {
	for next := 0; r.in.PeekKind() != jsontext.KindEndObject; next++ {
		name, err := r.in.ReadValue()
		if err != nil {
			return err
		}
		var below *shapeNode
		if n != nil && !r.shape.unknown {
			next = r.property(n, name, next)
			below = n.props[next].node
		}
		if err := r.value(below); err != nil {
			return err
		}
	}
	r.depth--
	_, err := r.in.ReadToken()
	return err
}

// property returns the position of the property that a quoted name is of, which probably is next.
func (r *shapeReader) property(n *shapeNode, quoted jsontext.Value, next int) int {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, quoted) // the error is of half a surrogate pair, which becomes U+FFFD
	}
	if next >= len(n.props) || n.props[next].name != string(name) {
		position, known := n.index[string(name)]
		if !known {
			position = r.newProperty(n, string(name))
		}
		next = position
	}
	if p := &n.props[next]; p.last == n.seen {
		r.shape.unknown = true
	} else {
		p.last = n.seen
	}
	return next
}

func (r *shapeReader) newProperty(n *shapeNode, name string) int {
	if r.shape.keys++; r.shape.keys > maxShape {
		r.shape.unknown = true
	}
	if n.index == nil {
		n.index = map[string]int{}
	}
	n.index[name] = len(n.props)
	n.props = append(n.props, shapeProperty{name: name, node: new(shapeNode)})
	return len(n.props) - 1
}

func (r *shapeReader) list(n *shapeNode) error {
	var items *shapeNode
	if n != nil {
		if n.items == nil {
			n.items = new(shapeNode)
		}
		items = n.items
	}
	for r.in.PeekKind() != jsontext.KindEndArray {
		if err := r.value(items); err != nil {
			return err
		}
	}
	r.depth--
	_, err := r.in.ReadToken()
	return err
}

// Lacks returns the paths that a template with this schema needs, and that some inputs of a shape do not have, or have in a kind that it
// cannot use. The paths of a list's items are written as in items[].price.
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
