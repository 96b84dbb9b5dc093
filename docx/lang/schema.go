package lang

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxNamed is the number of tags in a description.
	maxNamed = 3
	// maxExamples is the number of examples in a schema, which are values that the template compares with.
	maxExamples = 8
)

// Schema describes the input that a template reads: objects, lists, and single values, their kinds as far as the tags show
// them, and which of them are required. A value is optional, and may be null, if only conditions read it, or if it has the filter
// optional or default. All others are required if the object around them is present. In a tag that computes over a list, as in
// $sum(items.price), items may lack the key.
type Schema struct {
	Title       string // of the whole
	kind        kind
	properties  []property // of an object, in the order of first use
	items       *Schema    // of a list
	description string
	examples    []Value
	entries     []Value // the only values that suit; nil: there are others
	atLeast     int     // items of a list
	fold        bool    // of a property that merge fields read: see [Tag.FoldNames]
}

// property is a key of an object.
type property struct {
	name     string
	required bool
	*Schema
}

// kind is the kind that a value must have.
type kind int

const (
	anything kind = iota
	anObject
	aListOf
	aSingle // text, a number, true or false
	aString
	aFlag
	aDecimal
	aDay
	aMoment
	anImage
)

// kindWords names the kinds for people.
var kindWords = [...]string{
	"anything", "an object", "a list", "text or a number", "text", "true or false", "a number", "a date", "a date with a time", "a picture",
}

// Schema returns the schema of the input that the template reads. It is computed at each call.
func (u *Use) Schema() *Schema {
	m := schemaMaker{facts: map[*useNode]*facts{}}
	for i := range u.reads {
		for _, n := range u.reads[i].nodes {
			if m.facts[n] == nil {
				m.facts[n] = new(facts)
			}
		}
		for _, l := range u.reads[i].listed {
			f := m.facts[l.node]
			f.list, f.atLeast = true, max(f.atLeast, l.atLeast)
		}
	}
	m.findLists(u.reads)
	for i := range u.reads {
		m.note(&u.reads[i])
	}
	return &Schema{Title: "Input data of the template", kind: anObject, properties: m.properties(&u.root)}
}

// schemaMaker collects the uses of each key.
type schemaMaker struct{ facts map[*useNode]*facts }

// facts has the uses of a key by the tags.
type facts struct {
	want
	list, needed bool
	tags         []string
	more         int // tags beyond maxNamed
	last         string
	examples     []Value
	sure         int // number of examples that must precede the others
	entries      []Value
	atLeast      int
}

// findLists decides where lists are for functions and filters over all values of a path: if nothing on the way is a list, the
// last but one is it, unless other tags read that as a single object.
func (m *schemaMaker) findLists(reads []read) {
	single := map[*useNode]bool{}
	for i := range reads {
		if r := &reads[i]; r.want&maybeList == 0 {
			for at := r.needed; at < len(r.nodes)-1; at++ {
				single[r.nodes[at]] = true
			}
		}
	}
	for i := range reads {
		r := &reads[i]
		if r.want&maybeList == 0 || slices.ContainsFunc(r.nodes, func(n *useNode) bool { return m.facts[n].list }) {
			continue
		}
		at := len(r.nodes) - 1
		if at > 0 && !single[r.nodes[at-1]] {
			at--
		}
		m.facts[r.nodes[at]].list = true
	}
}

// note adds the use by one tag.
func (m *schemaMaker) note(r *read) {
	last := len(r.nodes) - 1
	for i := r.needed; i <= last; i++ {
		f := m.facts[r.nodes[i]]
		f.needed = true
		if f.list { // its items may lack the keys below
			break
		}
	}
	f := m.facts[r.nodes[last]]
	f.take(&r.takes)
	switch {
	case f.last == r.tag || slices.Contains(f.tags, r.tag):
	case len(f.tags) < maxNamed:
		f.tags = append(f.tags, r.tag)
	default:
		f.more++
	}
	f.last = r.tag
}

// take adds the kinds that a use needs.
func (f *facts) take(t *takes) {
	f.want |= t.want
	for _, example := range t.examples {
		isExample := func(v Value) bool { return sameJSON(v, example) }
		if f.merges(example) {
			continue
		}
		if example == nil || len(f.examples) >= maxExamples || slices.ContainsFunc(f.examples, isExample) {
			continue
		}
		if t.sure {
			f.examples = slices.Insert(f.examples, f.sure, example)
			f.sure++
		} else {
			f.examples = append(f.examples, example)
		}
	}
	var both []Value
	for _, entry := range t.entries {
		if f.entries == nil || slices.Contains(f.entries, Value(entry)) {
			both = append(both, entry)
		}
	}
	if len(both) > 0 {
		f.entries = both
	}
}

// merges adds an object to an example that is one, and reports whether there is one.
func (f *facts) merges(example Value) bool {
	isObject := func(v Value) bool { _, ok := v.(*Object); return ok }
	at := slices.IndexFunc(f.examples, isObject)
	if at < 0 || !isObject(example) {
		return false
	}
	f.examples[at] = merged(f.examples[at], example)
	return true
}

func sameJSON(v, w Value) bool { return bytes.Equal(appendJSON(nil, v), appendJSON(nil, w)) }

func (m *schemaMaker) properties(n *useNode) []property {
	var all []property
	for _, key := range n.order {
		below := n.keys[key]
		if f := m.facts[below]; f != nil {
			all = append(all, property{key, f.needed, m.schema(below, f)})
		}
	}
	return all
}

func (m *schemaMaker) schema(n *useNode, f *facts) *Schema {
	s := &Schema{kind: anObject, properties: m.properties(n)}
	if len(s.properties) == 0 {
		s.kind, s.examples, s.entries = f.kind(), f.examples, f.entries
	}
	if f.list {
		s = &Schema{kind: aListOf, items: s, atLeast: f.atLeast}
	}
	s.description, s.fold = f.description(), n.fold
	return s
}

// kind returns the kind of a single value: the narrowest one of several.
func (w want) kind() kind {
	switch {
	case w&aPicture != 0:
		return anImage
	case w&aTime != 0:
		return aMoment
	case w&aDate != 0:
		return aDay
	case w&aNumber != 0:
		return aDecimal
	case w&aBoolean != 0:
		return aFlag
	case w&aText != 0:
		return aString
	case w&aScalar != 0:
		return aSingle
	}
	return anything
}

// description names the tags.
func (f *facts) description() string {
	if len(f.tags) == 0 {
		return ""
	}
	s := "Used by " + strings.Join(f.tags, ", ")
	if f.more > 0 {
		s += " and " + strconv.Itoa(f.more) + " more"
	}
	return s
}
