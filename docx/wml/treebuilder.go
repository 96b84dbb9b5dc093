package wml

import (
	"fmt"

	"platen/ooxml/scan"
)

// treeBuilder builds the tree of a part from its tags.
type treeBuilder struct {
	r        *scan.Reader
	src      []byte
	elements int
	waiting  []*Node // the open elements, each followed by its children so far
	open     []int   // the positions of the open elements in waiting
	nodes    []Node  // memory for more
	lists    []*Node // memory for lists of children
	kept     []Attr  // memory for attributes
}

func (b *treeBuilder) build() (*Node, error) {
	var root, open *Node
	for r := b.r; r.Next(); {
		if r.Kind == scan.Close {
			b.close(open)
			open = open.Parent
			continue
		}
		if b.elements++; b.elements > maxElements {
			return nil, fmt.Errorf("the part has more than %d elements", maxElements)
		}
		if err := r.CheckPrefixes(); err != nil {
			return nil, err
		}
		n := b.element(open)
		if root == nil {
			root = n
		}
		if r.Kind == scan.Void {
			b.leave(n)
		} else {
			open = n
		}
	}
	if err := b.r.Err(); err != nil {
		return nil, err
	}
	if root == nil {
		return nil, fmt.Errorf("the XML has no element")
	}
	return root, nil
}

// element returns the node of the element of the last start tag.
func (b *treeBuilder) element(parent *Node) *Node {
	r, n := b.r, b.node()
	n.Name, n.traits = r.Name(), traits(r.Class())
	n.Parent, n.Start, n.OpenEnd, n.CloseStart = parent, r.Start, r.End, r.End
	if r.Kind == scan.Void {
		n.End = r.End
	}
	b.open = append(b.open, len(b.waiting))
	b.waiting = append(b.waiting, n)
	if n.traits&hasAttributes != 0 && len(r.Attributes()) > 0 {
		b.keepAttributes(n)
	}
	return n
}

// close ends an element with its end tag.
func (b *treeBuilder) close(n *Node) {
	n.CloseStart, n.End = b.r.Start, b.r.End
	b.leave(n)
}

// leave sets the children of an element that has ended.
func (b *treeBuilder) leave(n *Node) {
	last := len(b.open) - 1
	own := b.open[last] + 1
	b.open = b.open[:last]
	if children := b.waiting[own:]; len(children) > 0 {
		const block = 256
		if cap(b.lists)-len(b.lists) < len(children) {
			b.lists = make([]*Node, 0, max(min(b.elements, block), len(children)))
		}
		from := len(b.lists)
		b.lists = append(b.lists, children...)
		n.Children = b.lists[from:len(b.lists):len(b.lists)]
		b.waiting = b.waiting[:own]
	}
}

// node returns memory for a node.
func (b *treeBuilder) node() *Node {
	const least, most = 16, 128
	if len(b.nodes) == 0 {
		b.nodes = make([]Node, min(max(b.elements, least), most))
	}
	n := &b.nodes[0]
	b.nodes = b.nodes[1:]
	return n
}

// keepAttributes sets the attributes of a node to those of the last start tag.
func (b *treeBuilder) keepAttributes(n *Node) {
	const block = 256
	attributes := b.r.Attributes()
	if count := len(attributes); cap(b.kept)-len(b.kept) < count {
		b.kept = make([]Attr, 0, max(min(b.elements, block), count))
	}
	from := len(b.kept)
	for i := range attributes {
		a := &attributes[i]
		b.kept = append(b.kept, Attr{b.r.AttributeName(a), a.Start, a.ValueStart, a.ValueEnd, a.End()})
		for at := a.ValueStart; at < a.ValueEnd; at++ { // a value has no line breaks and no tabs (XML 1.0 §3.3.3)
			if b.src[at] < ' ' {
				b.src[at] = ' '
			}
		}
	}
	n.attrs = b.kept[from:len(b.kept):len(b.kept)]
}
