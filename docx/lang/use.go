package lang

import (
	"slices"
	"strings"
)

// Use has the input that the tags of a template read. It is built once per template with [Use.Add], and is then safe
// for concurrent use. The zero value has no input.
type Use struct {
	root  useNode
	reads []read
	keys  map[*Path][]string // that lead to what a path reads, for paths whose value may be missing without an error
}

// useNode is one key of the input; lists are transparent, the keys of their items are the list's own.
type useNode struct {
	path  string              // as it would be written
	whole bool                // with all keys below
	fold  bool                // read by a merge field, which may name another key
	folds bool                // some key in it is
	maybe bool                // read only if the items of some list do not have it
	keys  map[string]*useNode // the keys that are read in it
	order []string            // of the keys, in which they were added
}

// Add records the input that a tag reads. s is the scope of the tag. The tag of a loop belongs to the scope around the
// loop. Add all tags in document order, including those that divide and end conditions, because tags in a condition are not always needed.
func (u *Use) Add(t *Tag, s *Scope) { u.add(t, s, takes{want: aScalar}) }

// AddPicture is Add for a value tag that a picture replaces.
func (u *Use) AddPicture(t *Tag, s *Scope) { u.add(t, s, takes{want: aPicture}) }

// AddBox is Add for the value tag of a check box.
func (u *Use) AddBox(t *Tag, s *Scope) { u.add(t, s, takes{want: aBoolean}) }

// AddDate is Add for the value tag of a date that is written in a pattern.
func (u *Use) AddDate(t *Tag, s *Scope, pattern string) { u.add(t, s, datedBy(pattern)) }

// AddAddress is Add for the value tag that an address begins with.
func (u *Use) AddAddress(t *Tag, s *Scope) { u.add(t, s, anAddress) }

// AddChoice is Add for the value tag of a list with those entries; open means that other texts will do too.
func (u *Use) AddChoice(t *Tag, s *Scope, entries []string, open bool) {
	w := takes{want: aText, entries: entries}
	if open {
		w = takes{want: aScalar}
		for _, entry := range entries {
			w.examples = append(w.examples, entry)
		}
	}
	u.add(t, s, w)
}

func (u *Use) add(t *Tag, s *Scope, printed takes) {
	if !t.Chooses() {
		s.follow(t)
	}
	isValue := len(t.Filters) == 0 && t.Expr != nil && isPath(t.Expr) && !t.Kind.tests()
	t.reads(func(p *Path, whole bool) {
		u.addMaybe(p, s)
		if way, ok := s.way(p); ok && !isValue {
			u.keep(p, way)
		}
		if keys, ok := s.keys(p); ok {
			nodes := u.nodes(keys)
			if n := len(nodes); n > 0 {
				nodes[n-1].whole = nodes[n-1].whole || whole
			}
			if p.folded {
				u.fold(nodes)
			}
		}
	})
	c := collector{use: u, scope: s, tag: t}
	c.collect(printed)
	if t.Chooses() { // its own value is not within the condition
		s.follow(t)
	}
	s.guard(t, c.guards)
}

// keep records the keys of a path.
func (u *Use) keep(p *Path, keys []string) {
	if u.keys == nil {
		u.keys = map[*Path][]string{}
	}
	u.keys[p] = keys
}

// addMaybe records a name in an expression for items, which is read from the outer scope if the items do not have it.
func (u *Use) addMaybe(p *Path, s *Scope) {
	if p.perItem && !p.own && s.variable(p.Steps[0].Key) == nil {
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

// fold notes that a merge field reads the nodes.
func (u *Use) fold(nodes []*useNode) {
	above := &u.root
	for _, n := range nodes {
		above.folds, n.fold = true, true
		above = n
	}
}

// folded returns the key that a merge field reads by another name.
func (n *useNode) folded(name string) *useNode {
	if n.folds {
		for _, key := range n.order {
			if c := n.keys[key]; c.fold && isFoldedName(key, name) {
				return c
			}
		}
	}
	return nil
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

// unused returns the paths in data that the template does not read, sorted. For an object that is not read at all, it
// returns only the path of the object. It returns each path in the items of a list once.
func (u *Use) unused(data Value) []unusedPath {
	w := unusedWalk{found: map[unusedKey]*Object{}, ways: map[useWay][]wayDown{}}
	w.walk(&u.root, data)
	paths := make([]unusedPath, 0, len(w.found))
	for k, object := range w.found {
		paths = append(paths, unusedPath{k.above.below(k.key), k.above, k.key, object})
	}
	slices.SortFunc(paths, func(a, b unusedPath) int { return strings.Compare(a.path, b.path) })
	return paths
}

// unusedWalk looks for unused keys. The rows of a table have the same keys, so it looks at those once.
type unusedWalk struct {
	found map[unusedKey]*Object
	ways  map[useWay][]wayDown
}

// useWay has the keys that are read in objects with the same keys.
type useWay struct {
	node   *useNode
	layout *layout
}

// wayDown is a value in such objects that may be used only partly.
type wayDown struct {
	at   int
	node *useNode
}

func (w *unusedWalk) walk(n *useNode, data Value) {
	if n.whole || n.maybe {
		return
	}
	switch data := data.(type) {
	case []any:
		for _, item := range data {
			w.walk(n, item)
		}
	case *Object:
		way := useWay{n, data.layout}
		down, known := w.ways[way]
		if !known {
			down = w.look(n, data)
			w.ways[way] = down
		}
		for _, d := range down {
			w.walk(d.node, data.values[d.at])
		}
	}
}

// look finds the unused keys of an object, and where others may be below it.
func (w *unusedWalk) look(n *useNode, data *Object) []wayDown {
	var down []wayDown
	for i := range data.values {
		key := data.layout.keys[i]
		below := n.keys[key]
		if below == nil {
			below = n.folded(key)
		}
		if below != nil && !below.whole && !below.maybe {
			down = append(down, wayDown{i, below})
		}
		if k := (unusedKey{n, key}); below == nil && w.found[k] == nil {
			w.found[k] = data
		}
	}
	return down
}
