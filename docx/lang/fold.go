package lang

import "unicode"

// Word does not distinguish upper and lower case in the names of merge fields, and has underscores for blanks and signs in the names of
// columns: the field First_Name shows the column "First Name". Paths of tags for such fields may therefore name the keys of the input in
// another way, if only one key of the object can be meant. Only a path without a value is searched so.

// FoldNames lets the paths of a tag name keys as the merge fields of Word do. It must be called before the tag is used.
func (t *Tag) FoldNames() {
	t.walk(func(n Node) {
		if p, ok := n.(*Path); ok {
			p.folded = true
		}
	})
}

// lookupFolded returns what a path names as merge fields do. found is false if there is nothing, or if several keys can be meant.
func (e *Env) lookupFolded(p *Path) (v Value, found bool) {
	v, steps := e.data, p.Steps
	for i := len(e.frames) - 1; i >= 0; i-- {
		if f := &e.frames[i]; f.name == steps[0].Key {
			v, steps = f.item, steps[1:]
			break
		}
	}
	for _, step := range steps {
		switch c := v.(type) {
		case *Object:
			key, ok := c.foldedKey(step.Key)
			if e.meter.Count(c.Len()); step.IsIndex || !ok {
				return nil, false
			}
			v = c.Get(key)
		case []any:
			if !step.IsIndex {
				return nil, false
			}
			v = itemAt(c, step.Index)
		default:
			return nil, false
		}
	}
	return v, true
}

// foldedKey returns the key of an object that a merge field with a name shows: that key, or else the only one that can be meant.
func (o *Object) foldedKey(name string) (key string, ok bool) {
	if o.Has(name) {
		return name, true
	}
	for k := range o.All() {
		if isFoldedName(name, k) {
			if ok {
				return "", false
			}
			key, ok = k, true
		}
	}
	return key, ok
}

// isFoldedName reports whether a merge field with a name may show a key.
func isFoldedName(name, key string) bool {
	rest := []rune(key)
	for _, r := range name {
		if len(rest) == 0 || !isFoldedRune(r, rest[0]) {
			return false
		}
		rest = rest[1:]
	}
	return len(rest) == 0
}

func isFoldedRune(a, b rune) bool {
	if a == b || unicode.ToLower(a) == unicode.ToLower(b) {
		return true
	}
	isSign := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return a == '_' && isSign(b) || b == '_' && isSign(a)
}
