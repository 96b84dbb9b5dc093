package scan

import (
	"bytes"
	"fmt"
	"strings"

	"platen/ooxml/names"
)

// Class is a property of an element that the user of a Reader derives from its name.
type Class uint16

// name is a name as written, and its meaning in a scope.
type name struct {
	raw, canonical string
	scope          int // -1 if the meaning is unknown
	class          Class
	undeclared     bool // its prefix is not declared
}

// namespaces are the prefixes in effect, and the names that have been read.
type namespaces struct {
	bindings  []binding
	scope     int // the number of the current set of bindings
	scopes    int // the number of sets so far
	outer     []outer
	innermost int // the depth of the innermost element with declarations; 0 if there is none
	written   map[string]*name
	recent    [64]*name // some of them, by a few of their bytes, because most tags have one of a few names
	declared  string    // a prefix that is bound in the scope
}

// binding is a prefix with the one that package names has for its namespace; "" if the namespace is not in its list.
type binding struct{ prefix, canonical string }

// outer is the scope outside an element with declarations.
type outer struct{ depth, bindings, scope int }

func (s *namespaces) init() {
	s.bindings = []binding{{"xml", "xml"}}
	s.written = map[string]*name{}
}

// declare binds a prefix in the element of a depth, if the attribute of that name is a namespace declaration.
func (s *namespaces) declare(attribute, namespace []byte, depth int) {
	prefix, ok := bytes.CutPrefix(attribute, []byte("xmlns"))
	if !ok || len(prefix) > 0 && prefix[0] != ':' {
		return
	}
	if n := len(s.outer); n == 0 || s.outer[n-1].depth != depth {
		s.outer = append(s.outer, outer{depth, len(s.bindings), s.scope})
		s.innermost = depth
	}
	s.bindings = append(s.bindings, binding{string(bytes.TrimPrefix(prefix, []byte(":"))), names.Prefix(string(namespace))})
	s.scopes++
	s.scope, s.declared = s.scopes, ""
}

// leave returns to the scope outside the element of a depth.
func (s *namespaces) leave(depth int) {
	for n := len(s.outer) - 1; n >= 0 && s.outer[n].depth >= depth; n-- {
		s.bindings, s.scope, s.declared = s.bindings[:s.outer[n].bindings], s.outer[n].scope, ""
		s.outer = s.outer[:n]
	}
	s.innermost = 0
	if n := len(s.outer); n > 0 {
		s.innermost = s.outer[n-1].depth
	}
}

// find returns the name that is written as raw.
func (s *namespaces) find(raw []byte) *name {
	if len(raw) == 0 {
		return &name{scope: -1}
	}
	const odd = 7
	slot := &s.recent[(len(raw)*odd+int(raw[len(raw)/2])*odd+int(raw[len(raw)-1]))%len(s.recent)]
	if *slot != nil && (*slot).raw == string(raw) {
		return *slot
	}
	known := s.written[string(raw)]
	if known == nil {
		known = &name{raw: string(raw), scope: -1}
		s.written[known.raw] = known
	}
	*slot = known
	return known
}

// lookup returns the current binding of a prefix, or nil if there is none.
func (s *namespaces) lookup(prefix []byte) *binding {
	for i := len(s.bindings) - 1; i >= 0; i-- {
		if s.bindings[i].prefix == string(prefix) {
			return &s.bindings[i]
		}
	}
	return nil
}

// resolve sets the meaning of a name in the scope.
func (r *Reader) resolve(n *name) {
	if n.scope == r.names.scope {
		return
	}
	prefix, local, prefixed := strings.Cut(n.raw, ":")
	if !prefixed {
		prefix, local = "", n.raw
	}
	bound := r.names.lookup([]byte(prefix))
	n.scope, n.canonical, n.undeclared = r.names.scope, "", bound == nil && prefixed
	switch {
	case bound == nil || bound.canonical == "":
	case prefixed && prefix == bound.canonical:
		n.canonical = n.raw
	default:
		n.canonical = bound.canonical + ":" + local
	}
	n.class = 0
	if r.Classify != nil {
		n.class = r.Classify(n.canonical)
	}
}

// CheckPrefixes reports a prefix in the last start tag that is not declared.
func (r *Reader) CheckPrefixes() error {
	if r.name.undeclared {
		return undeclared(r.name.raw)
	}
	s := &r.names
	for i := range r.attrs {
		a := &r.attrs[i]
		if a.LocalStart == a.NameStart {
			continue
		}
		prefix := r.src[a.NameStart : a.LocalStart-1]
		if s.declared != "" && string(prefix) == s.declared {
			continue
		}
		if bound := s.lookup(prefix); bound != nil {
			s.declared = bound.prefix
		} else if string(prefix) != "xmlns" {
			return undeclared(string(r.src[a.NameStart:a.NameEnd]))
		}
	}
	return nil
}

func undeclared(name string) error {
	prefix, _, _ := strings.Cut(name, ":")
	return fmt.Errorf("the namespace prefix %q is not declared", prefix)
}
