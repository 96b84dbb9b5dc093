package wml

import (
	"bytes"
	"errors"
	"fmt"
)

// treeBuilder reads the tags of XML that is known to be well formed, so it only looks for where things end. Text, comments and
// instructions it passes over: what lies between elements is found by its place.
type treeBuilder struct {
	src      []byte
	at       int // what is before has been read
	scope    []binding
	scopeID  int              // tells the scope from those before
	scopes   int              // how many there were
	open     []outside        // for each open element
	names    map[string]*name // by how they are written
	recent   [64]*name        // some of them, where a few of their bytes lead: most tags have one of a few names
	declared string           // a prefix that is in the scope
	nodes    []Node           // memory for more
	lists    []*Node          // memory for lists of children
	waiting  []*Node          // the open elements, each followed by its children so far
	attrs    []written        // of the tag that is being read
	kept     []Attr           // memory for those of nodes
	without  outline
	elements int
}

// written is where an attribute is and, in it, its name and its value.
type written struct{ start, name, nameEnd, valueStart, valueEnd, end int }

func (b *treeBuilder) nameOf(a *written) []byte { return b.src[a.name:a.nameEnd] }

// outside is what was there before an element began.
type outside struct{ scopeSize, scopeID, waiting int }

var (
	errTagEnds     = errors.New("the XML ends inside a tag")
	errElementEnds = errors.New("the XML ends inside an element")
)

func (b *treeBuilder) build() (*Node, error) {
	var root, open *Node
	for {
		start := b.nextTag()
		switch {
		case start < 0:
			if root == nil || open != nil {
				return nil, errElementEnds
			}
			return root, nil
		case b.src[start+1] == '/':
			if open == nil {
				return nil, fmt.Errorf("the XML closes an element that is not open")
			}
			b.close(open, start)
			open = open.Parent
		default:
			n, err := b.element(open, start)
			if err != nil {
				return nil, err
			}
			if root == nil {
				root = n
			}
			switch {
			case n == nil: // it does not count
			case n.Void():
				b.leave(n)
			case !b.without.hollow[n.Name]:
				open = n
			default:
				if start = b.skip(); start < 0 {
					return nil, errElementEnds
				}
				b.close(n, start)
			}
		}
	}
}

// nextTag returns where the next tag begins, -1 if there is none.
func (b *treeBuilder) nextTag() int {
	for {
		start := b.at
		if start < len(b.src) && b.src[start] != '<' { // there is text before it
			i := bytes.IndexByte(b.src[start:], '<')
			if i < 0 {
				return -1
			}
			start += i
		}
		if start+1 >= len(b.src) {
			return -1
		}
		if c := b.src[start+1]; c != '!' && c != '?' {
			return start
		}
		b.at = start + markupLen(b.src[start:])
	}
}

// tagEnd returns where a tag ends, -1 if it does not.
func (b *treeBuilder) tagEnd(start int) int {
	for i := start; i < len(b.src); i++ {
		switch c := b.src[i]; c {
		case '>':
			return i + 1
		case '"', '\'':
			length := bytes.IndexByte(b.src[i+1:], c)
			if length < 0 {
				return -1
			}
			i += length + 1
		}
	}
	return -1
}

// skip passes over the content of an element and returns where its end tag begins, -1 if it has none.
func (b *treeBuilder) skip() int {
	for depth := 1; ; {
		start := b.nextTag()
		if start < 0 {
			return -1
		}
		end := b.tagEnd(start)
		switch {
		case end < 0:
			return -1
		case b.src[start+1] == '/':
			if depth--; depth == 0 {
				return start
			}
		case b.src[end-2] != '/':
			depth++
		}
		b.at = end
	}
}

// close ends an element with the end tag that begins at start.
func (b *treeBuilder) close(n *Node, start int) {
	b.at = len(b.src)
	if i := bytes.IndexByte(b.src[start:], '>'); i >= 0 {
		b.at = start + i + 1
	}
	n.CloseStart, n.End = start, b.at
	b.leave(n)
}

// leaveScope returns to the scope outside an element.
func (b *treeBuilder) leaveScope() (before outside) {
	last := len(b.open) - 1
	before = b.open[last]
	b.open = b.open[:last]
	if before.scopeID != b.scopeID {
		b.scope, b.scopeID, b.declared = b.scope[:before.scopeSize], before.scopeID, ""
	}
	return before
}

// leave gives an element that has ended its children and returns to the scope outside it.
func (b *treeBuilder) leave(n *Node) {
	before := b.leaveScope()
	own := before.waiting + 1
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

// element reads a start tag. The node is nil if the element does not count.
func (b *treeBuilder) element(parent *Node, start int) (*Node, error) {
	if b.elements++; b.elements > maxElements {
		return nil, fmt.Errorf("the part has more than %d elements", maxElements)
	}
	b.open = append(b.open, outside{len(b.scope), b.scopeID, len(b.waiting)})
	nameEnd := b.nameEnd(start + 1)
	end := b.attributes(nameEnd)
	if end < 0 {
		return nil, errTagEnds
	}
	known := b.name(b.src[start+1 : nameEnd])
	if err := b.resolve(known); err != nil {
		return nil, err
	}
	b.at = end
	void := b.src[end-2] == '/'
	if void && b.without.empty != nil && parent != nil && !b.without.empty[known.canonical] {
		err := b.checkPrefixes()
		b.leaveScope()
		return nil, err
	}
	n := b.node()
	n.traits = known.traits
	n.Name, n.Parent, n.Start, n.OpenEnd, n.CloseStart = known.canonical, parent, start, end, end
	if void {
		n.End = end
	}
	b.waiting = append(b.waiting, n)
	switch {
	case len(b.attrs) == 0:
		return n, nil
	case known.traits&hasAttributes != 0:
		return n, b.keepAttributes(n)
	}
	return n, b.checkPrefixes()
}

// isBlankByte are the bytes between attributes, endsName those behind a name.
var (
	isBlankByte = [256]bool{' ': true, '\t': true, '\n': true, '\r': true}
	endsName    = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, '/': true, '>': true, '=': true}
)

func (b *treeBuilder) nameEnd(at int) int {
	for at < len(b.src) && !endsName[b.src[at]] {
		at++
	}
	return at
}

// attributes finds the attributes of a tag, from behind its name, and returns where the tag ends; -1 if it does not.
func (b *treeBuilder) attributes(at int) (end int) {
	b.attrs = b.attrs[:0]
	for {
		start := at
		for at < len(b.src) && isBlankByte[b.src[at]] {
			at++
		}
		if at+1 < len(b.src) && b.src[at] == '/' {
			return at + 2
		}
		if at < len(b.src) && b.src[at] == '>' {
			return at + 1
		}
		nameEnd := b.nameEnd(at)
		value := nameEnd
		for value < len(b.src) && b.src[value] != '"' && b.src[value] != '\'' {
			value++
		}
		if value == len(b.src) {
			return -1
		}
		length := bytes.IndexByte(b.src[value+1:], b.src[value])
		if length < 0 {
			return -1
		}
		a := written{start: start, name: at, nameEnd: nameEnd, valueStart: value + 1, valueEnd: value + 1 + length, end: value + length + 2}
		b.attrs = append(b.attrs, a)
		b.bind(b.nameOf(&a), b.src[a.valueStart:a.valueEnd])
		at = a.end
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

// keepAttributes gives a node the attributes that were read.
func (b *treeBuilder) keepAttributes(n *Node) error {
	const block = 256
	if count := len(b.attrs); cap(b.kept)-len(b.kept) < count {
		b.kept = make([]Attr, 0, max(min(b.elements, block), count))
	}
	from := len(b.kept)
	for i := range b.attrs {
		a := &b.attrs[i]
		name, err := b.attributeName(b.nameOf(a))
		if err != nil {
			return err
		}
		b.kept = append(b.kept, Attr{name, a.start, a.valueStart, a.valueEnd, a.end})
		for at := a.valueStart; at < a.valueEnd; at++ { // a value has no breaks of lines and no tabs (XML 1.0 §3.3.3)
			if b.src[at] < ' ' {
				b.src[at] = ' '
			}
		}
	}
	n.attrs = b.kept[from:len(b.kept):len(b.kept)]
	return nil
}
