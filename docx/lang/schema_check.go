package lang

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

const (
	// MaxMismatches is the largest number of mismatches that [Schema.Check] reports.
	MaxMismatches = 100
	// maxAlike is the largest number of mismatches about the same key of a list's items.
	maxAlike = 3
)

// Mismatch is a path at which input does not match a schema.
type Mismatch struct {
	Path    string `json:"path"` // as in items[2].price, the first item being 0
	Message string `json:"message"`
	Nearest string `json:"nearest,omitempty"` // an existing key that was probably meant; "" if none is similar
}

// String returns the mismatch in one line.
func (m Mismatch) String() string {
	s := "'" + m.Path + "' " + m.Message
	if m.Nearest != "" {
		s += "; did you mean '" + m.Nearest + "'?"
	}
	return s
}

// Check returns the mismatches of data, which is a result of [Decode]: values that the template needs and that are missing, or of a kind
// that it cannot use, in the order of the schema. It accepts what the language accepts: numbers as text, an object as
// a list of one item, an empty text as an empty list, and any value as a condition. It reports up to [MaxMismatches],
// and few of the same kind for the items of a list.
func (s *Schema) Check(data Value) []Mismatch {
	c := checker{alike: map[*Schema]int{}, left: maxSearch}
	c.check(s, data, "")
	return c.found
}

// checker is one check.
type checker struct {
	found []Mismatch
	alike map[*Schema]int
	left  int // remaining work for finding intended names
}

func (c *checker) report(s *Schema, path, message, nearest string) {
	if c.alike[s]++; c.alike[s] <= maxAlike && len(c.found) < MaxMismatches {
		c.found = append(c.found, Mismatch{path, message, nearest})
	}
}

func (c *checker) check(s *Schema, v Value, path string) {
	switch s.kind {
	case anything:
	case anObject:
		if o, ok := v.(*Object); ok {
			c.object(s, o, path)
			return
		}
		c.wrong(s, v, path)
	case aListOf:
		c.list(s, v, path)
	case aDecimal:
		if _, ok := asNumber(v); !ok {
			c.wrong(s, v, path)
		}
	default:
		_, flag := v.(bool)
		text, ok := scalarText(v)
		switch {
		case !ok || flag && s.kind > aFlag:
			c.wrong(s, v, path)
		case len(s.entries) > 0 && !slices.ContainsFunc(s.entries,
			func(entry Value) bool { known, _ := scalarText(entry); return known == text }):
			c.report(s, path, "is not one of "+s.listEntries(), "")
		}
	}
}

func (c *checker) wrong(s *Schema, v Value, path string) {
	c.report(s, path, "is "+kindName(v)+", not "+kindWords[s.kind], "")
}

// listEntries lists the first texts that suit.
func (s *Schema) listEntries() string {
	var texts []string
	for _, entry := range s.entries {
		text, _ := scalarText(entry)
		texts = append(texts, text)
	}
	return listTexts(texts)
}

// listTexts lists the first of some texts, in quotes.
func listTexts(texts []string) string {
	var quoted []string
	for _, text := range texts[:min(len(texts), maxListed)] {
		quoted = append(quoted, strconv.Quote(text))
	}
	if len(texts) > maxListed {
		return strings.Join(quoted, ", ") + " and others"
	}
	return strings.Join(quoted, ", ")
}

func (c *checker) object(s *Schema, o *Object, path string) {
	for i := range s.properties {
		p := &s.properties[i]
		below := joinPath(path, p.name)
		v := o.Get(p.name)
		if v == nil && p.fold {
			if key, ok := o.foldedKey(p.name); ok {
				v = o.Get(key)
			}
		}
		switch {
		case v != nil:
			c.check(p.Schema, v, below)
		case p.required && o.Has(p.name):
			c.report(p.Schema, below, "is null", "")
		case p.required:
			meant := nearest(p.name, s.unknown(o), &c.left)
			if meant != "" {
				meant = joinPath(path, meant)
			}
			c.report(p.Schema, below, "is missing", meant)
		}
	}
}

// unknown yields the keys of an object that the schema does not have.
func (s *Schema) unknown(o *Object) iter.Seq[string] {
	known := make(map[string]bool, len(s.properties))
	for _, p := range s.properties {
		known[p.name] = true
	}
	return func(yield func(string) bool) {
		for key, v := range o.All() {
			if v != nil && !known[key] && !yield(key) {
				return
			}
		}
	}
}

func (c *checker) list(s *Schema, v Value, path string) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if len(c.found) == MaxMismatches {
				return
			}
			if item != nil {
				c.check(s.items, item, path+"["+strconv.Itoa(i)+"]")
			}
		}
	case *Object:
		c.check(s.items, v, path)
	default:
		if v != "" {
			c.wrong(s, v, path)
		}
	}
}

func joinPath(path, key string) string {
	if path == "" {
		return keyText(key, true)
	}
	return path + "." + keyText(key, false)
}

// Changes has the differences between the inputs that two versions of a template need. The paths of a list's items are written as in
// items[].price.
type Changes struct {
	Needs   []string `json:"needs"` // required, and was not before
	Takes   []string `json:"takes"` // read if it is there, and was not read before
	Drops   []string `json:"drops"` // no longer read
	Retypes []Retype `json:"retypes"`
}

// Retype is a path that must be of another kind than before.
type Retype struct {
	Path string `json:"path"`
	Old  string `json:"old"` // in words, such as "a number"
	New  string `json:"new"`
}

// Empty reports whether nothing changed.
func (c *Changes) Empty() bool {
	return len(c.Needs)+len(c.Takes)+len(c.Drops)+len(c.Retypes) == 0
}

// Changes compares the schema with that of an older version.
func (s *Schema) Changes(old *Schema) Changes {
	c := Changes{Needs: []string{}, Takes: []string{}, Drops: []string{}, Retypes: []Retype{}}
	c.compare(s, old, "")
	return c
}

func (c *Changes) compare(s, old *Schema, path string) {
	before := make(map[string]property, len(old.properties))
	for _, p := range old.properties {
		before[p.name] = p
	}
	for _, p := range s.properties {
		c.property(p, before[p.name], joinPath(path, p.name))
		delete(before, p.name)
	}
	for _, p := range old.properties {
		if _, ok := before[p.name]; ok {
			c.Drops = append(c.Drops, joinPath(path, p.name))
		}
	}
}

func (c *Changes) property(p, old property, path string) {
	switch {
	case p.required && !old.required:
		c.Needs = append(c.Needs, path)
	case old.Schema == nil:
		c.Takes = append(c.Takes, path)
	}
	if old.Schema == nil {
		old.Schema = new(Schema)
	} else if p.word() != old.word() {
		c.Retypes = append(c.Retypes, Retype{path, old.word(), p.word()})
	}
	below, before := p.Schema, old.Schema
	for below.kind == aListOf {
		path += "[]"
		below = below.items
		if before.kind == aListOf {
			before = before.items
		}
	}
	c.compare(below, before, path)
}

// word names the kind of a schema, of a list also that of its items.
func (s *Schema) word() string {
	if s.kind != aListOf {
		return kindWords[s.kind]
	}
	return kindWords[aListOf] + " with items of " + s.items.word()
}
