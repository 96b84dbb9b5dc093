package validate

import (
	"bytes"
	"fmt"
	"maps"
	"strings"

	"platen/ooxml/names"
)

// scope holds the namespace declarations in effect.
type scope struct {
	prefixes map[string]string // from the document's prefixes to Platen's; "?" for namespaces without rules
	inner    map[string]*scope // the scopes inside this one, by their declarations
	names    map[string]*name  // the element names found so far, as written
	room     *room
}

// room is the number of prefixes and names that the scopes of a Memory may still add, in total.
type room struct{ prefixes, names int }

// name is the name of an element as written, with its meaning in its scope.
type name struct {
	raw   string
	elem  *element
	fault *fault
}

const (
	// maxPrefixes is the number of prefixes in all scopes of a Memory. Further declarations are ignored.
	maxPrefixes = 1 << 18
	// maxNames is the number of names that all scopes of a Memory remember.
	maxNames = 1 << 14
)

func newScope() *scope {
	return &scope{prefixes: map[string]string{"xml": "xml"}, room: &room{maxPrefixes, maxNames}}
}

// declare returns the scope inside an element with the given attributes.
func (s *scope) declare(attrs []attribute) *scope {
	key := declarations(attrs)
	if key == "" {
		return s
	}
	if known := s.inner[key]; known != nil {
		return known
	}
	if s.room.prefixes -= len(s.prefixes) + len(attrs); s.room.prefixes < 0 {
		return s
	}
	inner := &scope{room: s.room, prefixes: make(map[string]string, len(s.prefixes)+1)}
	maps.Copy(inner.prefixes, s.prefixes)
	for _, a := range attrs {
		prefix, ok := bytes.CutPrefix(a.name, []byte("xmlns:"))
		if !ok && string(a.name) != "xmlns" {
			continue
		}
		if !ok {
			prefix = nil
		}
		ours := names.Prefix(string(a.value))
		if ours == "" {
			ours = "?"
		}
		inner.prefixes[string(prefix)] = ours
	}
	if len(s.inner) < maxEdges {
		if s.inner == nil {
			s.inner = map[string]*scope{}
		}
		s.inner[key] = inner
	}
	return inner
}

// declarations joins the namespace declarations among attributes into one string, which identifies a scope.
func declarations(attrs []attribute) string {
	var key strings.Builder
	for _, a := range attrs {
		if isDeclaration(a.name) {
			key.WriteString(string(a.name) + "=" + string(a.value) + " ")
		}
	}
	return key.String()
}

func isDeclaration(name []byte) bool {
	return len(name) >= 5 && string(name[:5]) == "xmlns" && (len(name) == 5 || name[5] == ':')
}

// name returns the element name that is written so, with its rules.
func (s *scope) name(written []byte) *name {
	if known := s.names[string(written)]; known != nil {
		return known
	}
	n := &name{raw: string(written)}
	n.elem, n.fault = s.element(n.raw)
	if s.room.names > 0 {
		s.room.names--
		if s.names == nil {
			s.names = map[string]*name{}
		}
		s.names[n.raw] = n
	}
	return n
}

// element returns the rules for an element name.
func (s *scope) element(raw string) (*element, *fault) {
	prefix, local, prefixed := strings.Cut(raw, ":")
	if !prefixed {
		prefix, local = "", raw
	}
	ours, ok := s.prefixes[prefix]
	if !ok && prefixed {
		return &element{name: raw}, undeclared(prefix)
	}
	if e := elements[ours+":"+local]; e != nil {
		return e, nil
	}
	name := raw
	if ours != "" && ours != "?" {
		name = ours + ":" + local
	}
	return &element{name: name}, nil
}

func undeclared(prefix string) *fault {
	return &fault{CodeNamespace, fmt.Sprintf("the namespace prefix %q is not declared", prefix), false}
}

// attribute splits the name of an attribute into Platen's prefix, which may be "", and the local name.
func (s *scope) attribute(name []byte) (prefix string, local []byte, f *fault) {
	i := bytes.IndexByte(name, ':')
	if i < 0 || isDeclaration(name) {
		return "", name, nil
	}
	prefix, ok := s.prefixes[string(name[:i])]
	if !ok {
		return "?", name[i+1:], undeclared(string(name[:i]))
	}
	return prefix, name[i+1:], nil
}
