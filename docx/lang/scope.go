package lang

import (
	"slices"
	"strings"
)

// loopProperties are what loop.x may name inside a loop.
var loopProperties = map[string]bool{
	"index": true, "number": true, "first": true, "last": true, "count": true, "parent": true,
}

// Scope follows the loops of a template while its tags are read in document order, and knows what each loop variable
// stands for. The zero value is a template's start; every part of a document has its own.
type Scope struct{ vars []scopeVar }

type scopeVar struct {
	name string
	keys []string // of the list, from the top of the input; nil if the list is no path
}

// Open enters the loop of a For or TableRow.
func (s *Scope) Open(t *Tag) {
	v := scopeVar{name: t.Var}
	t.reads(func(p *Path, _ bool) { // of a computed list, its first path is what the items come from
		if v.keys == nil {
			v.keys, _ = s.keys(p)
		}
	})
	s.vars = append(s.vars, v)
}

// Close leaves the innermost loop; at the top it does nothing.
func (s *Scope) Close() {
	if n := len(s.vars); n > 0 {
		s.vars = s.vars[:n-1]
	}
}

// Alias returns the path of the list whose item the name is, for [Tag.Paths]. The path is empty for names that stand
// for no input.
func (s *Scope) Alias(name string) (path string, ok bool) {
	if v := s.variable(name); v != nil {
		return keysText(v.keys), true
	}
	return "", name == "loop" && len(s.vars) > 0
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
	rest := p.Steps
	if v := s.variable(p.Steps[0].Key); v != nil {
		if v.keys == nil {
			return nil, false
		}
		keys, rest = slices.Clone(v.keys), p.Steps[1:]
	} else if p.loop && len(s.vars) > 0 {
		return nil, false
	}
	for _, step := range rest {
		if !step.IsIndex {
			keys = append(keys, step.Key)
		}
	}
	return keys, true
}

func keysText(keys []string) string {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = keyText(k, i == 0)
	}
	return strings.Join(texts, ".")
}
