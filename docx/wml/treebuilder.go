package wml

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	declared string           // a prefix that is in the scope
	nodes    []Node           // memory for more
	lists    []*Node          // memory for lists of children
	waiting  []*Node          // the open elements, each followed by its children so far
	attrs    []Attr           // of the tag that is being read; their names are still as written
	written  [][]byte         // the names of attrs
	kept     []Attr           // memory for those of nodes
	hollow   map[string]bool  // elements whose content does not count
	elements int
}

// binding is a namespace prefix in force; canonical is "" for a namespace we do not read.
type binding struct{ prefix, canonical string }

// outside is what was there before an element began.
type outside struct{ scopeSize, scopeID, waiting int }

// name is a name as written, and what it is under the scope of that id.
type name struct {
	raw, canonical string
	scopeID        int // -1 if it is not known
	hasAttributes  bool
}

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
			case b.src[n.OpenEnd-2] == '/':
				b.leave(n)
			case !b.hollow[n.Name]:
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
		i := bytes.IndexByte(b.src[b.at:], '<')
		start := b.at + i
		if i < 0 || start+1 == len(b.src) {
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

// leave gives an element that has ended its children and returns to the scope outside it.
func (b *treeBuilder) leave(n *Node) {
	last := len(b.open) - 1
	before := b.open[last]
	b.open = b.open[:last]
	if before.scopeID != b.scopeID {
		b.scope, b.scopeID, b.declared = b.scope[:before.scopeSize], before.scopeID, ""
	}
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

// element reads a start tag.
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
	n := b.node()
	n.Name, n.Parent, n.Start, n.OpenEnd, n.CloseStart, n.End = known.canonical, parent, start, end, end, end
	b.waiting = append(b.waiting, n)
	b.at = end
	switch {
	case len(b.attrs) == 0:
		return n, nil
	case known.hasAttributes:
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
	b.attrs, b.written = b.attrs[:0], b.written[:0]
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
		a := Attr{Start: start, ValueStart: value + 1, ValueEnd: value + 1 + length, End: value + length + 2}
		b.attrs, b.written = append(b.attrs, a), append(b.written, b.src[at:nameEnd])
		b.bind(b.src[at:nameEnd], b.src[a.ValueStart:a.ValueEnd])
		at = a.End
	}
}

// bind notes a namespace declaration, if an attribute is one.
func (b *treeBuilder) bind(attrName, uri []byte) {
	rest, ok := bytes.CutPrefix(attrName, []byte("xmlns"))
	if !ok || len(rest) > 0 && rest[0] != ':' {
		return
	}
	prefix := ""
	if len(rest) > 0 {
		prefix = string(rest[1:])
	}
	b.scope = append(b.scope, binding{prefix, namespaces[string(uri)]})
	b.scopes++
	b.scopeID, b.declared = b.scopes, ""
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

func (b *treeBuilder) name(raw []byte) *name {
	known := b.names[string(raw)]
	if known == nil {
		known = &name{raw: string(raw), scopeID: -1}
		b.names[known.raw] = known
	}
	return known
}

// checkPrefixes checks that the prefixes of attributes that do not count are declared.
func (b *treeBuilder) checkPrefixes() error {
	for _, written := range b.written {
		colon := bytes.IndexByte(written, ':')
		if colon < 0 || b.declared != "" && string(written[:colon]) == b.declared {
			continue
		}
		prefix := string(written[:colon])
		if _, ok := b.lookup(prefix); !ok && prefix != "xmlns" {
			return undeclared(prefix)
		}
		b.declared = prefix
	}
	return nil
}

// keepAttributes gives a node the attributes that were read.
func (b *treeBuilder) keepAttributes(n *Node) error {
	const block = 256
	if count := len(b.attrs); cap(b.kept)-len(b.kept) < count {
		b.kept = make([]Attr, 0, max(min(b.elements, block), count))
	}
	from := len(b.kept)
	for i, a := range b.attrs {
		var err error
		if a.name, err = b.attributeName(b.written[i]); err != nil {
			return err
		}
		b.kept = append(b.kept, a)
		for at := a.ValueStart; at < a.ValueEnd; at++ { // a value has no breaks of lines and no tabs (XML 1.0 §3.3.3)
			if b.src[at] < ' ' {
				b.src[at] = ' '
			}
		}
	}
	n.attrs = b.kept[from:len(b.kept):len(b.kept)]
	return nil
}

// attributeName gives an attribute's name with our own prefix. One without a prefix is in no namespace and keeps its name.
func (b *treeBuilder) attributeName(written []byte) (string, error) {
	known := b.name(written)
	switch prefix, _, prefixed := strings.Cut(known.raw, ":"); {
	case !prefixed:
		return known.raw, nil
	case prefix == "xmlns":
		return "", nil
	}
	err := b.resolve(known)
	return known.canonical, err
}

// resolve finds what a name is in the scope: an element's or that of an attribute with a prefix.
func (b *treeBuilder) resolve(n *name) error {
	if n.scopeID == b.scopeID {
		return nil
	}
	prefix, local, prefixed := strings.Cut(n.raw, ":")
	if !prefixed {
		prefix, local = "", n.raw
	}
	canonical, ok := b.lookup(prefix)
	if !ok && prefixed {
		return undeclared(prefix)
	}
	n.scopeID, n.canonical = b.scopeID, ""
	if canonical != "" {
		n.canonical = n.raw
		if !prefixed || prefix != canonical {
			n.canonical = canonical + ":" + local
		}
	}
	n.hasAttributes = withAttributes[n.canonical]
	return nil
}

// lookup returns our own prefix for one that is in the scope.
func (b *treeBuilder) lookup(prefix string) (canonical string, ok bool) {
	for _, bound := range slices.Backward(b.scope) {
		if bound.prefix == prefix {
			return bound.canonical, true
		}
	}
	return "", false
}

func undeclared(prefix string) error {
	return fmt.Errorf("the namespace prefix %q is not declared", prefix)
}
