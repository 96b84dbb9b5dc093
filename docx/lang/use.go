package lang

import (
	"slices"
	"strings"
)

// Use is what the tags of a template read of the input. It is built once per template with [Use.Add] and may then
// serve many executions at once. The zero value reads nothing.
type Use struct {
	root  useNode
	reads []read
}

// useNode is one key of the input; lists are transparent, the keys of their items are the list's own.
type useNode struct {
	path  string              // as it would be written
	whole bool                // with all that lies below
	maybe bool                // read only if the items of some list do not have it
	keys  map[string]*useNode // what is read below
	order []string            // of the keys, as they were met
}

// Add notes what a tag reads. The scope is that in which the tag stands: for a loop's own tag, that around the loop. Tags
// are added in document order, those that part and end conditions too: what stands in a condition is not needed always.
func (u *Use) Add(t *Tag, s *Scope) { u.add(t, s, aScalar) }

// AddPicture is Add for a value tag in whose place a picture is to stand.
func (u *Use) AddPicture(t *Tag, s *Scope) { u.add(t, s, aPicture) }

func (u *Use) add(t *Tag, s *Scope, printed want) {
	s.follow(t)
	t.reads(func(p *Path, whole bool) {
		u.addMaybe(p, s)
		if keys, ok := s.keys(p); ok {
			nodes := u.nodes(keys)
			if n := len(nodes); n > 0 {
				nodes[n-1].whole = nodes[n-1].whole || whole
			}
		}
	})
	c := collector{use: u, scope: s, tag: t}
	c.collect(printed)
	s.guard(t, c.guards)
}

// addMaybe notes a name in what is computed for each item of a list: it is read there if the items do not have it.
func (u *Use) addMaybe(p *Path, s *Scope) {
	if p.perItem && s.variable(p.Steps[0].Key) == nil {
		nodes := u.nodes(stepKeys(p.Steps))
		nodes[len(nodes)-1].maybe = true
	}
}

// nodes returns the nodes on the way down some keys.
func (u *Use) nodes(keys []string) []*useNode {
	nodes := make([]*useNode, len(keys))
	n := &u.root
	for i, key := range keys {
		n = n.child(key)
		nodes[i] = n
	}
	return nodes
}

func (n *useNode) child(key string) *useNode {
	c := n.keys[key]
	if c == nil {
		if n.keys == nil {
			n.keys = map[string]*useNode{}
		}
		c = &useNode{path: n.below(key)}
		n.keys[key] = c
		n.order = append(n.order, key)
	}
	return c
}

// below returns the path of a key under n.
func (n *useNode) below(key string) string {
	if n.path == "" {
		return keyText(key, true)
	}
	return n.path + "." + keyText(key, false)
}

// unusedPath is a key of the input that no tag reads.
type unusedPath struct {
	path   string
	above  *useNode
	key    string
	object *Object // the first that has it
}

// unusedKey is a key at a place.
type unusedKey struct {
	above *useNode
	key   string
}

// unused returns the paths in data that the template does not read, sorted: of an object none of which is read only
// its own path, of the items of a list each path once.
func (u *Use) unused(data Value) []unusedPath {
	found := map[unusedKey]*Object{}
	u.root.unused(data, found)
	paths := make([]unusedPath, 0, len(found))
	for k, object := range found {
		paths = append(paths, unusedPath{k.above.below(k.key), k.above, k.key, object})
	}
	slices.SortFunc(paths, func(a, b unusedPath) int { return strings.Compare(a.path, b.path) })
	return paths
}

func (n *useNode) unused(data Value, found map[unusedKey]*Object) {
	if n.whole || n.maybe {
		return
	}
	switch data := data.(type) {
	case []any:
		for _, item := range data {
			n.unused(item, found)
		}
	case *Object:
		for key, v := range data.All() {
			if below := n.keys[key]; below != nil {
				below.unused(v, found)
			} else if k := (unusedKey{n, key}); found[k] == nil {
				found[k] = data
			}
		}
	}
}
