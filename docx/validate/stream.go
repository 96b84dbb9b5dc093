package validate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// maxDepth is the maximum nesting depth of elements.
	maxDepth = 500
	// maxEdges is the number of different children that are remembered for one place. Others are checked every time.
	maxEdges = 64
	// maxPlaces is the number of places that a Memory keeps.
	maxPlaces = 1 << 16
	// maxHeld is the size in bytes of an unfinished tag that is kept.
	maxHeld = 1 << 20
)

// A check is an automaton whose states are places. A place holds all that the check needs to know about the document so far: the open
// elements, and the state of each. It never changes, but it remembers the places that tags lead to. Once a tag has been checked, in this
// document or in another one of the same template, it costs only a comparison of names.

// Memory holds the places that the checks of many documents share. It is safe for concurrent use. The zero value is ready to use.
type Memory struct {
	mu     sync.Mutex
	root   *point
	places int
	points []point // allocated in advance
	ends   []edge  // for the ends of elements, allocated in advance
}

// point is a place.
type point struct {
	*family
	state state

	edges  atomic.Pointer[[]edge]
	closed atomic.Pointer[edge] // for the end of the element
}

// family holds the places inside one element, which differ only in its state.
type family struct {
	elem   *element // has an empty name outside the root element
	raw    string   // its name as written
	parent *point   // where the element ends, with the element as the last child
	scope  *scope
	depth  int
	unread bool      // in mc:Fallback, which Word ignores because it reads the alternative before it
	first  [4]*point // enough for most elements
	others map[state]*point
}

// edge is a tag that leads from one place to another.
type edge struct {
	raw   string
	decl  string // its namespace declarations
	to    *point
	fault *fault
}

// start returns the place where documents start. If there are too many places, it forgets all of them first.
func (m *Memory) start() *point {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil || m.places > maxPlaces {
		f := &family{elem: &element{}, scope: newScope()}
		m.root, m.places = m.in(f, state{}), 0
	}
	return m.root
}

// Size returns the approximate size in bytes.
func (m *Memory) Size() int {
	const placeSize = 400
	m.mu.Lock()
	defer m.mu.Unlock()
	return min(m.places, maxPlaces) * placeSize
}

// in returns the place of a family with the given state. The caller holds m.mu.
func (m *Memory) in(f *family, s state) *point {
	free := slices.IndexFunc(f.first[:], func(p *point) bool { return p == nil || p.state == s })
	if free >= 0 && f.first[free] != nil {
		return f.first[free]
	}
	if p := f.others[s]; p != nil {
		return p
	}
	p := take(&m.points)
	p.family, p.state = f, s
	switch {
	case free >= 0:
		f.first[free] = p
	case f.others == nil:
		f.others = map[state]*point{s: p}
	default:
		f.others[s] = p
	}
	m.places++
	return p
}

// take returns an element of a block, and allocates another block when it is used up.
func take[T any](block *[]T) *T {
	const size = 32
	if len(*block) == 0 {
		*block = make([]T, size)
	}
	first := &(*block)[0]
	*block = (*block)[1:]
	return first
}

// open returns the edge for a start tag.
func (m *Memory) open(at *point, t *tag) edge {
	decl := ""
	for i := range t.attrs {
		if isDeclaration(t.attrs[i].name) {
			decl = declarations(t.attrs)
			break
		}
	}
	if known := at.edges.Load(); known != nil {
		for i := range *known {
			if e := &(*known)[i]; e.raw == string(t.name) && e.decl == decl {
				return *e
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.judge(at, t)
	e.decl = decl
	var known []edge
	if all := at.edges.Load(); all != nil {
		known = *all
	}
	if len(known) < maxEdges && m.places <= maxPlaces {
		known = append(known, e) // does not change the shorter list, which others may be reading
		at.edges.Store(&known)
	}
	return e
}

var (
	faultRoots = &fault{CodeXML, "there is more than one root element", false}
	faultDepth = &fault{CodeXML, fmt.Sprintf("elements are nested deeper than %d", maxDepth), false}
	faultText  = &fault{CodeNesting, "text is not allowed here", false}
)

// judge checks a start tag, and returns its edge.
func (m *Memory) judge(at *point, t *tag) edge {
	f := &family{scope: at.scope.declare(t.attrs), depth: at.depth + 1}
	name := f.scope.name(t.name)
	f.raw = name.raw
	elem, broken := name.elem, name.fault
	if want := onlyIn[elem.name]; want != "" && want != at.elem.name {
		elem = &element{name: elem.name}
	}
	own, inner, fault := at.elem.child(at.state, elem)
	switch {
	case at.depth >= maxDepth:
		fault = faultDepth
	case at.depth == 0 && at.state.have > 0:
		fault = faultRoots
	case broken != nil:
		fault = broken
	}
	if at.depth == 0 {
		own.have = 1
	}
	f.elem, f.parent, f.unread = elem, m.in(at.family, own), at.unread || elem.name == "mc:Fallback"
	return edge{raw: f.raw, to: m.in(f, inner), fault: fault}
}

// close returns the edge for the end of the element.
func (m *Memory) close(at *point) edge {
	if e := at.closed.Load(); e != nil {
		return *e
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	around, fault := at.elem.end(at.state, at.parent.state)
	e := take(&m.ends)
	e.to, e.fault = m.in(at.parent.family, around), fault
	at.closed.Store(e)
	return *e
}

// path returns the names of the open elements, from outside inward.
func (p *point) path() string {
	var names []string
	for ; p != nil && p.depth > 0; p = p.parent {
		names = append(names, p.elem.name)
	}
	slices.Reverse(names)
	return strings.Join(names, "/")
}

// reader reads one part, and moves from place to place.
type reader struct {
	memory *Memory
	at     *point
	held   []byte // the start of an unfinished tag
	offset int64
	tag    tag
	watch  watcher
	broken bool // the XML is not well formed, and the rest is ignored
}

// watcher receives the faults and elements that a reader finds.
type watcher interface {
	fault(f *fault, at *point, offset int64)
	open(p *point, t *tag, offset int64)
	close(p *point, offset int64)
}

// read reads the next bytes.
func (r *reader) read(src []byte) {
	if r.broken {
		return
	}
	if len(r.held) > 0 {
		src = r.complete(src)
	}
	for len(src) > 0 && !r.broken {
		if src[0] != '<' {
			i := bytes.IndexByte(src, '<')
			if i < 0 {
				i = len(src)
			}
			r.text(src[:i])
			r.offset += int64(i)
			if src = src[i:]; len(src) == 0 {
				return
			}
		}
		n, err := r.markup(src)
		if errors.Is(err, errTagEnds) && len(src) <= maxHeld {
			r.held = append(r.held[:0], src...)
			return
		}
		if err != nil {
			r.fail(err)
			return
		}
		r.offset += int64(n)
		src = src[n:]
	}
}

// fail reports that the XML is not well formed.
func (r *reader) fail(err error) {
	r.broken, r.held = true, r.held[:0]
	r.watch.fault(&fault{CodeXML, err.Error(), false}, r.at, r.offset)
}

// complete completes the unfinished tag with the start of src, and returns the rest of src.
func (r *reader) complete(src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '>')
		if i < 0 || len(r.held) > maxHeld {
			r.held = append(r.held, src...)
			return nil
		}
		r.held = append(r.held, src[:i+1]...)
		src = src[i+1:]
		n, err := r.markup(r.held)
		if errors.Is(err, errTagEnds) {
			continue // the > is part of a value
		}
		if err != nil {
			r.fail(err)
			return nil
		}
		r.offset += int64(n)
		r.held = r.held[:0]
		return src
	}
}

// text checks the text between tags.
func (r *reader) text(src []byte) {
	if err := checkReferences(src); err != nil {
		r.fail(err)
		return
	}
	if r.at.state.contents == text || r.at.state.contents == anything && r.at.depth > 0 {
		return
	}
	if r.offset == 0 {
		src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	}
	for _, c := range src {
		if byteClass[c] != blank {
			r.watch.fault(faultText, r.at, r.offset)
			return
		}
	}
}

// markup reads the tag, comment, instruction, or CDATA section at the start of src, and returns its length.
func (r *reader) markup(src []byte) (int, error) {
	if len(src) < 2 {
		return 0, errTagEnds
	}
	if src[1] == '!' || src[1] == '?' {
		return markupLen(src)
	}
	n, err := r.tag.read(src)
	if err != nil {
		return n, err
	}
	if r.tag.end {
		if r.at.depth == 0 || r.at.raw != string(r.tag.name) {
			return n, fmt.Errorf("</%s> ends an element that is not open", r.tag.name)
		}
		r.close()
		return n, nil
	}
	e := r.memory.open(r.at, &r.tag)
	if e.fault != nil {
		r.watch.fault(e.fault, r.at, r.offset)
	}
	r.at = e.to
	r.watch.open(r.at, &r.tag, r.offset)
	if r.tag.void {
		r.close()
	}
	return n, nil
}

func (r *reader) close() {
	e := r.memory.close(r.at)
	if e.fault != nil {
		r.watch.fault(e.fault, r.at, r.offset)
	}
	r.watch.close(r.at, r.offset)
	r.at = e.to
}

// end reports an element that is still open at the end of a part, and a missing root element.
func (r *reader) end() {
	switch {
	case r.broken:
	case r.at.depth > 0 || len(r.held) > 0:
		r.watch.fault(&fault{CodeXML, "the XML ends inside an element", false}, r.at, r.offset)
	case r.at.state.have == 0:
		r.watch.fault(&fault{CodeXML, "there is no root element", false}, r.at, r.offset)
	}
}
