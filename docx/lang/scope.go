package lang

import (
	"slices"
	"strings"
)

// loopProperties are what loop.x may name inside a loop.
var loopProperties = map[string]bool{
	"index": true, "number": true, "first": true, "last": true, "count": true, "parent": true,
}

// Scope follows the loops of a template while its tags are read in document order, and has the list of each loop
// variable. The zero value is the start of a part. Every part of a document needs a separate Scope.
type Scope struct {
	vars       []scopeVar
	conditions []condition
}

// condition is an {{if}} or an {{include}} that has not ended.
type condition struct {
	always bool         // the content of a file that the data does not choose
	guards [][]*useNode // nodes in the condition of the current branch
	vars   int          // the number of variables before it
}

type scopeVar struct {
	name    string
	outside int      // number of conditions around the loop
	keys    []string // of the list, from the top of the input, with [anyKey] for a loop over keys; nil if the list is not a path
	list    []Step   // of the path of the loop's list; nil for a Let, and if the list is not a path
	grouped bool     // the list went through the filter group:
	group   []string // so the item's key is at these keys of the list's items, and its items are some of them
	isLet   bool

	formatted *Filter // which made the value, or each item, text for people; nil: none did

	hiddenAt int  // number of blocks around a Let of the same name, in a block that has not ended; 0 without one
	hidden   bool // such a block has ended
}

// Open enters a loop.
func (s *Scope) Open(t *Tag) {
	v := scopeVar{name: t.Var, outside: len(s.conditions), formatted: t.formattedBy(s)}
	t.reads(func(p *Path, _ bool) { // the items of a computed list come from its first path
		if v.keys == nil {
			v.keys, _ = s.way(p)
		}
	})
	s.group(&v, t)
	if p, _ := chain(t); p != nil && !v.grouped {
		v.list = p.Steps
	}
	if t.KeyVar != "" {
		if v.keys != nil {
			v.keys = append(v.keys, anyKey)
		}
		s.vars = append(s.vars, v, scopeVar{name: t.KeyVar, isLet: true})
		return
	}
	s.vars = append(s.vars, v)
}

// group notes that the value of a tag consists of groups, because of the filter group or of the variable that it is taken from.
func (s *Scope) group(v *scopeVar, t *Tag) {
	p, filters := chain(t)
	for i := range filters {
		if f := &filters[i]; f.Name == "group" {
			v.grouped = true
			if p := firstPath(f.Args[0]); p != nil {
				v.group = stepKeys(p.itemSteps())
			}
			return
		}
	}
	if p == nil || p.own || p.perItem {
		return
	}
	if from := s.variable(p.Steps[0].Key); from != nil && from.grouped && len(stepKeys(p.Steps)) == 1 {
		v.grouped, v.group = true, from.group
	}
}

// chain returns the path that the value of a tag is made of, and the filters that it goes through. The path is nil if there is none.
func chain(t *Tag) (*Path, []Filter) {
	n, filters := t.Expr, t.Filters
	for {
		of, ok := n.(*Filtered)
		if !ok {
			break
		}
		n, filters = of.X, slices.Concat(of.Filters, filters)
	}
	p, _ := n.(*Path)
	return p, filters
}

// Close leaves the innermost loop; at the top it does nothing.
func (s *Scope) Close() {
	for i, v := range slices.Backward(s.vars) {
		if !v.isLet {
			s.vars = s.vars[:i]
			s.ended()
			return
		}
	}
}

// Let adds the variable of a Let, until the block around it ends.
func (s *Scope) Let(t *Tag) {
	v := scopeVar{name: t.Var, outside: len(s.conditions), isLet: true, formatted: t.formattedBy(s)}
	changes := func(f Filter) bool { return !f.fn.same || f.Name == "default" }
	if p, filters := chain(t); p != nil && !slices.ContainsFunc(filters, changes) {
		v.keys, _ = s.way(p)
		s.group(&v, t)
	}
	if outer := s.hiddenBy(t); outer != nil {
		outer.hiddenAt = s.blocks()
	}
	s.vars = append(s.vars, v)
}

// Hides reports whether a Let in a block has the name of a variable outside of the block, which keeps its value.
func (s *Scope) Hides(t *Tag) bool { return s.hiddenBy(t) != nil }

// hiddenBy returns the variable outside of the innermost block that a Let hides in it, or nil.
func (s *Scope) hiddenBy(t *Tag) *scopeVar {
	from := 0
	if last := len(s.conditions) - 1; last >= 0 {
		from = s.conditions[last].vars
	}
	for i, v := range slices.Backward(s.vars) {
		if !v.isLet {
			from = max(from, i+1)
			break
		}
	}
	for i := min(from, len(s.vars)) - 1; i >= 0; i-- {
		if s.vars[i].name == t.Var {
			if s.vars[i].isLet {
				return &s.vars[i]
			}
			return nil
		}
	}
	return nil
}

// blocks returns the number of conditions and loops that have not ended.
func (s *Scope) blocks() int {
	n := len(s.conditions)
	for i := range s.vars {
		if !s.vars[i].isLet {
			n++
		}
	}
	return n
}

// ended notes that a block has ended.
func (s *Scope) ended() {
	now := s.blocks()
	for i := range s.vars {
		if v := &s.vars[i]; v.hiddenAt > now {
			v.hidden, v.hiddenAt = true, 0
		}
	}
}

// Outlived returns the first variable that a tag reads and that a Let in a block above has not changed, though it has the same name. It
// is "" if there is none.
func (s *Scope) Outlived(t *Tag) string {
	name := ""
	t.reads(func(p *Path, _ bool) {
		if v := s.variable(p.Steps[0].Key); v != nil && v.hidden && name == "" && !p.own && !p.perItem {
			name, v.hidden = v.name, false
		}
	})
	return name
}

// inLoop reports whether a loop is open.
func (s *Scope) inLoop() bool {
	return slices.ContainsFunc(s.vars, func(v scopeVar) bool { return !v.isLet })
}

// follow records the end or the next branch of a condition.
func (s *Scope) follow(t *Tag) {
	last := len(s.conditions) - 1
	switch {
	case t.begins():
		s.conditions = append(s.conditions, condition{vars: len(s.vars), always: t.Kind == Include && !t.Chooses()})
	case t.Kind == EndIf && last >= 0:
		s.vars = s.vars[:min(s.conditions[last].vars, len(s.vars))]
		s.conditions = s.conditions[:last]
		s.ended()
	case t.Kind == Else && s.inBodyOf(last):
		i := len(s.vars) - 1
		for s.vars[i].isLet {
			i--
		}
		s.vars = s.vars[:i+1]
		s.vars[i].name = "" // which has no item here
	case (t.Kind == Else || t.Kind == ElseIf) && last >= 0:
		s.vars = s.vars[:min(s.conditions[last].vars, len(s.vars))]
		s.conditions[last].guards = nil
	}
}

// inBodyOf reports whether a loop is open within the condition at an index, or any loop if there is no condition.
func (s *Scope) inBodyOf(condition int) bool {
	from := 0
	if condition >= 0 {
		from = s.conditions[condition].vars
	}
	return from <= len(s.vars) && slices.ContainsFunc(s.vars[from:], func(v scopeVar) bool { return !v.isLet })
}

// guard records the nodes in the condition that has just begun.
func (s *Scope) guard(t *Tag, nodes [][]*useNode) {
	if last := len(s.conditions) - 1; last >= 0 && (t.begins() || t.Kind == ElseIf) {
		s.conditions[last].guards = nodes
	}
}

// needed returns the index of the first of the nodes of a path that this path requires. It does not require the nodes above, which
// are the list of a loop or read by a condition around. In a condition that reads something else, it requires none.
func (s *Scope) needed(p *Path, nodes []*useNode) int {
	from, conditions := 0, s.conditions
	if v := s.variable(p.Steps[0].Key); v != nil {
		from, conditions = len(v.keys), conditions[min(v.outside, len(conditions)):]
	}
	for _, c := range conditions {
		if c.always {
			continue
		}
		longest := 0
		for _, guard := range c.guards {
			if n := len(guard); n <= len(nodes) && nodes[n-1] == guard[n-1] {
				longest = max(longest, n)
			}
		}
		if longest == 0 {
			return len(nodes)
		}
		from = max(from, longest)
	}
	return from
}

// Unbound returns the first name in a tag that is a variable of some loop, though the tag is outside of that loop: one of variables, or
// a property of the loop, such as loop.number. It is "" if there is none. Such a name can only be a key of the input.
func (s *Scope) Unbound(t *Tag, variables map[string]bool) string {
	name := ""
	t.reads(func(p *Path, _ bool) {
		key := p.Steps[0].Key
		switch {
		case name != "" || p.own || p.perItem || s.variable(key) != nil:
		case p.loop && !s.inLoop():
			name = p.text
		case variables[key]:
			name = key
		}
	})
	return name
}

func (s *Scope) variable(name string) *scopeVar {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			return &s.vars[i]
		}
	}
	return nil
}

// keys returns the keys that lead from the top of the input to what p names; ok is false if that is not in the input.
func (s *Scope) keys(p *Path) (keys []string, ok bool) {
	keys, ok = s.way(p)
	if slices.Contains(keys, anyKey) {
		return nil, false
	}
	return keys, ok
}

// way is keys with [anyKey] for the keys of loops over keys.
func (s *Scope) way(p *Path) (keys []string, ok bool) {
	if p.own {
		return s.itemKeys(p)
	}
	if v := s.variable(p.Steps[0].Key); v != nil {
		return v.below(p.Steps[1:])
	}
	switch {
	case p.loop && s.inLoop():
		return nil, false
	case p.perItem:
		return s.itemKeys(p)
	}
	return stepKeys(p.Steps), true
}

// itemKeys is like way, for a name in an expression for items: it counts as a key of the items.
func (s *Scope) itemKeys(p *Path) (keys []string, ok bool) {
	if p.list == nil || p.ofEntry && !p.own && p.Steps[0].Key == entryKey {
		return nil, false
	}
	if v := s.variable(p.list.Steps[0].Key); v != nil && !p.list.perItem && !p.ofEntry { // which may have groups
		return v.below(slices.Concat(p.list.Steps[1:], p.itemSteps()))
	}
	if keys, ok = s.way(p.list); !ok {
		return nil, false
	}
	if p.ofEntry {
		keys = append(keys, anyKey)
	}
	return append(keys, stepKeys(p.itemSteps())...), true
}

// itemSteps returns the steps from an item, for a path in an expression for items.
func (p *Path) itemSteps() []Step {
	if p.own || p.Steps[0].Key == itemName || p.ofEntry && p.Steps[0].Key == entryValue {
		return p.Steps[1:]
	}
	return p.Steps
}

// below returns the keys of the path that consists of the variable and the steps.
func (v *scopeVar) below(steps []Step) (keys []string, ok bool) {
	if v.keys == nil {
		return nil, false
	}
	keys = slices.Clone(v.keys)
	for len(steps) > 0 && steps[0].IsIndex {
		steps = steps[1:]
	}
	if v.grouped && len(steps) > 0 {
		if steps[0].Key == groupKey {
			keys = append(keys, v.group...)
		}
		if steps[0].Key == groupKey || steps[0].Key == groupItems {
			steps = steps[1:]
		}
	}
	return append(keys, stepKeys(steps)...), true
}

// stepKeys returns the keys among some steps.
func stepKeys(steps []Step) []string {
	keys := make([]string, 0, len(steps))
	for _, step := range steps {
		if !step.IsIndex {
			keys = append(keys, step.Key)
		}
	}
	return keys
}

func keysText(keys []string) string {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = keyText(k, i == 0)
	}
	return strings.Join(texts, ".")
}
