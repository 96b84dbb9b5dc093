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
	// maxDepth is how deep elements may be nested.
	maxDepth = 500
	// maxEdges is how many different children of one place are remembered; what comes beyond is judged anew each time.
	maxEdges = 64
	// maxPlaces is how many places a Memory keeps.
	maxPlaces = 1 << 16
	// maxHeld is how many bytes of an unfinished tag are held.
	maxHeld = 1 << 20
)

// A check follows a document from place to place. A place is everything that matters of what was read so far: the elements
// that are open and what is known of each. It never changes, and knows the places that tags lead to from it; so what was
// judged once is found again by a comparison of names, in this document and in the next one of the same template.

// Memory is what the checks of many documents share. It serves many goroutines at once. The zero value is ready.
type Memory struct {
	mu     sync.Mutex
	root   *point
	places int
	points []point // memory for more
	ends   []edge  // memory for more of those that lead out of an element
}

// point is a place.
type point struct {
	*family
	state state

	edges  atomic.Pointer[[]edge]
	closed atomic.Pointer[edge] // where its end leads
}

// family is the places in one element: those that differ in what is known of it alone.
type family struct {
	elem   *element // with an empty name at the outside
	raw    string   // its name as written
	parent *point   // with the element as its last child
	scope  *scope
	depth  int
	unread bool      // in mc:Fallback: whoever reads the alternative before it does not read this
	first  [4]*point // most have no more
	others map[state]*point
}

// edge is a tag that leads from one place to another.
type edge struct {
	raw   string
	decl  string // its namespace declarations
	to    *point
	fault *fault
}

// start returns the place where documents begin. When too many places are known, it forgets them all.
func (m *Memory) start() *point {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil || m.places > maxPlaces {
		f := &family{elem: &element{}, scope: newScope()}
		m.root, m.places = m.in(f, state{}), 0
	}
	return m.root
}

// Size is about how many bytes of memory it holds.
func (m *Memory) Size() int {
	const placeSize = 400
	m.mu.Lock()
	defer m.mu.Unlock()
	return min(m.places, maxPlaces) * placeSize
}

// in returns the place of a family with that state. The caller holds m.mu.
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

// take returns one of a block, which it replaces when it is used up.
func take[T any](block *[]T) *T {
	const size = 32
	if len(*block) == 0 {
		*block = make([]T, size)
	}
	first := &(*block)[0]
	*block = (*block)[1:]
	return first
}

// open returns where a start tag leads.
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
		known = append(known, e) // whoever reads the shorter list does not see what is behind it
		at.edges.Store(&known)
	}
	return e
}

var (
	faultRoots = &fault{CodeXML, "there is more than one root element", false}
	faultDepth = &fault{CodeXML, fmt.Sprintf("elements are nested deeper than %d", maxDepth), false}
	faultText  = &fault{CodeNesting, "text stands where none may", false}
)

// judge finds where a start tag leads.
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

// close returns where the end of the element leads.
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

// path is the elements that are open, outer first.
func (p *point) path() string {
	var names []string
	for ; p != nil && p.depth > 0; p = p.parent {
		names = append(names, p.elem.name)
	}
	slices.Reverse(names)
	return strings.Join(names, "/")
}

// reader follows one part from place to place.
type reader struct {
	memory *Memory
	at     *point
	held   []byte // the start of a tag that has not ended
	offset int64
	tag    tag
	watch  watcher
	broken bool // the XML is not well formed: nothing more is read
}

// watcher hears of what a reader comes by.
type watcher interface {
	fault(f *fault, at *point, offset int64)
	open(p *point, t *tag, offset int64)
	close(p *point, offset int64)
}

// read follows the next bytes.
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

// complete takes as much of src as ends the tag that is held, and returns the rest.
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
			continue // the > stands in a value
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

// text judges what stands between tags.
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

// markup reads a tag, comment, instruction or CDATA section that src begins with, and returns its length.
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

// end reports what is open at the end of a part.
func (r *reader) end() {
	switch {
	case r.broken:
	case r.at.depth > 0 || len(r.held) > 0:
		r.watch.fault(&fault{CodeXML, "the XML ends inside an element", false}, r.at, r.offset)
	case r.at.state.have == 0:
		r.watch.fault(&fault{CodeXML, "there is no root element", false}, r.at, r.offset)
	}
}
