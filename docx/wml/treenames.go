package wml

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"platen/ooxml/names"
)

// binding is a namespace prefix in force; canonical is "" for a namespace we do not read.
type binding struct{ prefix, canonical string }

// name is a name as written, and what it is under the scope of that id.
type name struct {
	raw, canonical string
	scopeID        int // -1 if it is not known
	traits         traits
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
	b.scope = append(b.scope, binding{prefix, names.Prefix(string(uri))})
	b.scopes++
	b.scopeID, b.declared = b.scopes, ""
}

func (b *treeBuilder) name(raw []byte) *name {
	if len(raw) == 0 {
		return &name{scopeID: -1}
	}
	const odd = 7
	slot := &b.recent[(len(raw)*odd+int(raw[len(raw)/2])*odd+int(raw[len(raw)-1]))%len(b.recent)]
	if *slot != nil && (*slot).raw == string(raw) {
		return *slot
	}
	known := b.names[string(raw)]
	if known == nil {
		known = &name{raw: string(raw), scopeID: -1}
		b.names[known.raw] = known
	}
	*slot = known
	return known
}

// checkPrefixes checks that the prefixes of attributes that do not count are declared.
func (b *treeBuilder) checkPrefixes() error {
	for i := range b.attrs {
		name := b.nameOf(&b.attrs[i])
		colon := bytes.IndexByte(name, ':')
		if colon < 0 || b.declared != "" && string(name[:colon]) == b.declared {
			continue
		}
		prefix := string(name[:colon])
		if _, ok := b.lookup(prefix); !ok && prefix != "xmlns" {
			return undeclared(prefix)
		}
		b.declared = prefix
	}
	return nil
}

// attributeName gives an attribute's name with our own prefix. One without a prefix is in no namespace and keeps its name.
func (b *treeBuilder) attributeName(raw []byte) (string, error) {
	known := b.name(raw)
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
	n.traits = traitsOf(n.canonical)
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
