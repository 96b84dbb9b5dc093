package lang

import "slices"

// A missing value need not be an error: a condition is then false, and where leaves the item out. But if no object in the input has
// the key, the key is probably misspelled, and content would disappear without a reason. So such keys are reported as warnings, at the
// end of the execution, because another item may still have the key. Authors who mean it write isPresent, optional, or default.

// maxLooked is the number of values that are searched for one such key. A key that is not found among them counts as present.
const maxLooked = 1_000_000

// anyKey stands for every key of an object, and for every item of a list, in the keys of a loop over keys. No key of the input is equal to
// it, because it is not valid UTF-8.
const anyKey = "\xff"

// overlooked forgets the paths that are missing beyond the first n. The value of the tag hides them.
func (e *Env) overlooked(n int) {
	for _, p := range e.missing[n:] {
		e.suspect(p)
	}
	e.missing = e.missing[:n]
}

// excuse forgets the paths that are missing beyond the first n, because the tag says what to do if its value is missing. That does not
// extend to the keys and positions by which it is looked up: if they are missing, no value can be found.
func (e *Env) excuse(n int) {
	for _, p := range e.missing[n:] {
		if p.inKey {
			e.suspect(p)
		}
	}
	e.missing = e.missing[:n]
}

// suspect notes a missing path that may name a key that nothing has.
func (e *Env) suspect(p *Path) {
	if p.isIndex && !p.parallel || p.loop && e.loops > 0 || len(e.suspects) >= MaxReports {
		return
	}
	isKnown := func(r report) bool { return r.path == p }
	if slices.ContainsFunc(e.suspects, isKnown) || p.perItem && e.someItemHas(p) {
		return
	}
	about := e.about(p)
	about.frames = slices.Clone(about.frames)
	e.suspects = append(e.suspects, about)
}

// someItemHas reports whether any of the items that an expression is computed for has what a path names.
func (e *Env) someItemHas(p *Path) bool {
	key := p.Steps[0].Key
	for i := range slices.Backward(e.items) {
		s := &e.items[i]
		if s.entry != nil {
			if _, steps, ok := s.inEntry(e, p); ok {
				return len(steps) == 0 || s.hasPath(e, p, steps)
			}
			continue
		}
		switch {
		case s.has(e, key):
			return s.hasPath(e, p, p.Steps)
		case key == itemName, p.own && s.isOwn(e, key):
			return s.hasPath(e, p, p.Steps[1:])
		}
	}
	return false
}

// hasPath reports whether any item has what the steps lead to, or may have it. It remembers the answer for p.
func (s *itemScope) hasPath(e *Env, p *Path, steps []Step) bool {
	found, known := s.paths[p]
	if !known {
		found = e.mayHave(s.items, stepKeys(steps))
		if s.paths == nil {
			s.paths = map[*Path]bool{}
		}
		s.paths[p] = found
	}
	return found
}

// absent returns the suspects that nothing in the input has, and that are not among the errors.
func (e *Env) absent() []report {
	var all []report
	for _, r := range e.suspects {
		name := r.path.name()
		isError := func(r report) bool { return r.position != nil && r.path != nil && r.path.name() == name }
		if !slices.ContainsFunc(e.errors.all, isError) && e.isAbsent(r.path) {
			all = append(all, r)
		}
	}
	return all
}

func (e *Env) isAbsent(p *Path) bool {
	if p.parallel {
		return true
	}
	if p.folded {
		if _, found := e.lookupFolded(p); found {
			return false
		}
	}
	if p.perItem && !p.own && mayHave(e.data, stepKeys(p.Steps)) {
		return false
	}
	if e.opt.Use == nil {
		return p.perItem
	}
	keys, known := e.opt.Use.keys[p]
	if !known { // a variable of computed items
		return false
	}
	return !mayHave(e.data, keys)
}

// mayHave reports whether keys lead from v to anything, null included, or could do so in other data: they end at nulls or at lists
// without items. A list has the keys of its items.
func mayHave(v Value, keys []string) bool {
	s := keySearch{left: maxLooked, lacks: -1, open: -1}
	return s.find(v, keys, 0) || s.lacks < s.open
}

// mayHave is the function mayHave, and counts its work.
func (e *Env) mayHave(v Value, keys []string) bool {
	s := keySearch{left: maxLooked, lacks: -1, open: -1}
	found := s.find(v, keys, 0)
	e.meter.Count(maxLooked - s.left)
	return found || s.lacks < s.open
}

// keySearch follows keys through all objects that have them.
type keySearch struct {
	left  int // values that it may still look at
	lacks int // the largest number of keys that led to a value without the next key
	open  int // the largest number of keys that led to null or to a list without items
}

// find reports whether the keys after the first at lead from v to anything. It returns true if there is too much to look at.
func (s *keySearch) find(v Value, keys []string, at int) bool {
	if s.left--; s.left < 0 || at == len(keys) {
		return true
	}
	switch v := v.(type) {
	case nil:
		s.open = max(s.open, at)
		return false
	case *entry:
		return s.find(v.value, keys, at)
	case *Object:
		if keys[at] == anyKey {
			return s.findBelow(v, keys, at+1)
		}
		if v.Has(keys[at]) {
			return s.find(v.Get(keys[at]), keys, at+1)
		}
	case []any:
		if len(v) == 0 {
			s.open = max(s.open, at)
			return false
		}
		if keys[at] == anyKey {
			at++
		}
		return slices.ContainsFunc(v, func(item any) bool { return s.find(item, keys, at) })
	}
	s.lacks = max(s.lacks, at)
	return false
}

// findBelow is find for the values of an object.
func (s *keySearch) findBelow(o *Object, keys []string, at int) bool {
	if o.Len() == 0 {
		s.open = max(s.open, at-1)
	}
	for _, v := range o.All() {
		if s.find(v, keys, at) {
			return true
		}
	}
	return false
}

// doubt adds a warning about the current tag, once.
func (e *Env) doubt(line string) { e.doubtAbout(nil, line) }

// doubtAbout adds a warning about the value of n in the current tag, once.
func (e *Env) doubtAbout(n Node, line string) {
	about := e.about(nil)
	if p, ok := n.(*Path); ok {
		about.datum = e.datum(p)
	}
	about.same = line
	e.warnings.add(line, about)
}
