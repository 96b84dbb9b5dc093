package lang

import "slices"

// A missing value need not be an error: a condition is then false, and where leaves the item out. But if no object in the input has
// the key, the key is probably misspelled, and content would disappear without a reason. So such keys are reported as warnings, at the
// end of the execution, because another item may still have the key. Authors who mean it write isPresent, optional, or default.

// maxLooked is the number of values that are searched for one such key. A key that is not found among them counts as present.
const maxLooked = 1_000_000

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
	if p.isIndex || p.loop && e.loops > 0 || len(e.suspects) >= MaxReports {
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
		switch {
		case s.has(e, key):
			return s.hasPath(e, p, p.Steps)
		case key == itemName, p.own && s.isOwn(e, key):
			return e.tag.KeyVar != "" || s.hasPath(e, p, p.Steps[1:])
		}
	}
	return false
}

// hasPath reports whether any item has what the steps lead to. It remembers the answer for p.
func (s *itemScope) hasPath(e *Env, p *Path, steps []Step) bool {
	found, known := s.paths[p]
	if !known {
		left := maxLooked
		found = hasKeys(s.items, stepKeys(steps), &left)
		e.meter.Count(maxLooked - left)
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
	left := maxLooked
	if p.folded {
		if _, found := e.lookupFolded(p); found {
			return false
		}
	}
	if p.perItem && !p.own && hasKeys(e.data, stepKeys(p.Steps), &left) {
		return false
	}
	if e.opt.Use == nil {
		return p.perItem
	}
	keys, known := e.opt.Use.keys[p]
	if !known { // a variable of computed items
		return false
	}
	return !hasKeys(e.data, keys, &left)
}

// hasKeys reports whether keys lead from v to anything, null included. A list has the keys of its items. Null and the empty list may
// have any keys in other data. It takes one from left for each value, and returns true when that is used up.
func hasKeys(v Value, keys []string, left *int) bool {
	if *left--; *left < 0 || len(keys) == 0 {
		return true
	}
	switch v := v.(type) {
	case nil:
		return true
	case *Object:
		return v.Has(keys[0]) && hasKeys(v.Get(keys[0]), keys[1:], left)
	case []any:
		return len(v) == 0 || slices.ContainsFunc(v, func(item any) bool { return hasKeys(item, keys, left) })
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
