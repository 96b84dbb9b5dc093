package lang

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

const (
	// maxSearch is the number of pairs of letters that [Env.Problems] compares to find intended names, which takes about a second.
	maxSearch = 20_000_000
	// maxPeeked is the number of items of a list that are searched for a key.
	maxPeeked = 20
	// maxListed is the number of keys that a hint lists.
	maxListed = 8
)

// Problem is one of [Env.Errors] or [Env.Warnings], with help to find and fix it.
type Problem struct {
	Message string // the line
	Path    string // the missing path as in the tag, or the unused path; "" if the problem is not about a path
	Datum   string // the path of the value in the input, as in items[57].qty; "" if that is not a single value
	Nearest string // the path that was probably meant, as it would be written in the tag; "" if none is similar
	Hint    string // what exists instead, and what to do; may be empty
	Tag     *Tag   // nil for input that was not used
	Warning bool
}

// Problems returns the errors of [Env.Errors], and then the warnings of [Env.Warnings], once for each of their tags.
// It searches the data and the loop variables for the intended names. The search is limited, so that with very many
// problems the last ones have no suggestions.
func (e *Env) Problems() []Problem {
	warnings := e.allWarnings()
	return e.problems(&warnings)
}

// TagProblems returns the problems of [Env.Problems] that are about a tag: all except unused input.
func (e *Env) TagProblems() []Problem {
	warnings := e.tagWarnings()
	return e.problems(&warnings)
}

func (e *Env) problems(warnings *reports) []Problem {
	s := search{data: new(Object), left: maxSearch}
	if data, ok := e.data.(*Object); ok {
		s.data = data
	}
	return append(s.problems(&e.errors, false), s.problems(warnings, true)...)
}

// reports is a list with a limit that holds each line once for each tag.
type reports struct {
	all  []report
	seen map[lineOfTag]struct{}
	more int // beyond the limit, duplicates included
}

type lineOfTag struct {
	line string
	tag  *Tag
}

// report is a line about a tag, or about input that no tag uses.
type report struct {
	line string
	*position
	unused *unusedPath
}

// position is what a report about a tag is about.
type position struct {
	tag    *Tag
	path   *Path   // the missing path; nil if there is none
	frames []frame // the loops around
	datum  string  // the path of the value in the input
	same   string  // equal in reports that differ only in the datum; "": the line
}

// wants reports whether a report is new and there is space for it. It counts reports for which there is none.
func (r *reports) wants(key lineOfTag) bool {
	if _, ok := r.seen[key]; ok {
		return false
	}
	if len(r.all) == MaxReports {
		r.more++
		return false
	}
	return true
}

// add adds a report that is wanted, with the position of its tag and path.
func (r *reports) add(line string, about report) {
	key := lineOfTag{line: line}
	if at := about.position; at != nil {
		key = lineOfTag{cmp.Or(at.same, line), at.tag}
	}
	if !r.wants(key) {
		return
	}
	if at := about.position; at != nil {
		at.frames = slices.Clone(at.frames)
	}
	if r.seen == nil {
		r.seen = map[lineOfTag]struct{}{}
	}
	r.seen[key] = struct{}{}
	about.line = line
	r.all = append(r.all, about)
}

// lines returns each line once.
func (r *reports) lines() []string {
	var lines []string
	seen := make(map[string]bool, len(r.all))
	for i := range r.all {
		if line := r.all[i].line; !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return lines
}

// search finds intended names.
type search struct {
	data *Object
	left int
}

func (s *search) problems(r *reports, warning bool) []Problem {
	var all []Problem
	for i := range r.all {
		p := s.problem(&r.all[i])
		p.Warning = warning
		all = append(all, p)
	}
	return all
}

func (s *search) problem(r *report) Problem {
	p := Problem{Message: r.line}
	if r.position != nil {
		p.Tag, p.Datum = r.tag, r.datum
	}
	switch {
	case r.unused != nil:
		p.Path = r.unused.path
		if p.Nearest = s.reader(r.unused); p.Nearest != "" {
			p.Hint = "the template reads '" + p.Nearest + "', which was not provided"
		}
	case r.path != nil && r.path.isIndex:
		p.Path = r.path.name()
	case r.path != nil:
		p.Path = r.path.name()
		if hint := s.builtIn(r.path); hint != "" {
			p.Hint = hint
		} else if p.Nearest = s.meant(r); p.Nearest != "" {
			p.Hint = "did you mean '" + p.Nearest + "'?"
		} else if key := oneKey(r); key != "" {
			p.Hint = "a key with a hyphen needs backquotes: {{" + key + "}}"
		} else {
			p.Hint = s.there(r)
		}
	}
	return p
}

// builtIn returns a hint for a missing path that begins with the name of something that the language has, or "".
func (s *search) builtIn(p *Path) string {
	name := p.Steps[0].Key
	switch {
	case p.list != nil || s.data.Has(name):
		return ""
	case name == "loop" && len(p.Steps) > 1:
		return "a loop has loop." + strings.Join(slices.Sorted(maps.Keys(loopProperties)), ", loop.")
	case len(p.Steps) == 1 && isBare("$"+strings.ToLower(name)):
		return "write {{$" + strings.ToLower(name) + "}}"
	}
	return ""
}

// reader returns the path that is most similar to an unused one, among those that the template reads but that were not provided.
func (s *search) reader(u *unusedPath) string {
	var missing []string
	for _, key := range slices.Sorted(maps.Keys(u.above.keys)) {
		if !u.object.Has(key) {
			missing = append(missing, key)
		}
	}
	if best := nearest(u.key, slices.Values(missing), &s.left); best != "" {
		return u.above.below(best)
	}
	return ""
}

// meant returns the existing path that is most similar to the missing one, or "".
func (s *search) meant(r *report) string {
	steps, scope := r.path.Steps, s.scope(r)
	if found := s.hyphenated(scope, r); found != "" {
		return found
	}
	if below := r.path.itemSteps(); r.path.list != nil && len(below) < len(steps) {
		if found := s.follow(scope, below, true); found != nil {
			return pathText(append(steps[:1:1], found...))
		}
		return ""
	}
	ways := []func() []Step{
		func() []Step { return s.follow(scope, steps, true) },
		func() []Step { return s.follow(names{r.frames, s.data}, steps, true) },
		func() []Step { return s.withVariable(r, steps) },
		func() []Step { return s.withoutVariable(r, steps) },
		func() []Step { return s.deeper(steps) },
	}
	if r.path.list != nil {
		ways = ways[:2]
	}
	for _, way := range ways {
		if found := way(); found != nil {
			return pathText(found)
		}
	}
	return ""
}

// hyphenated returns the path with a hyphen in a key that exists and was read as a subtraction, such as first-name, or "".
func (s *search) hyphenated(scope Value, r *report) string {
	meant := ""
	differences(r.tag, func(n *Binary) {
		steps := subtracted(n)
		if meant != "" || steps == nil || !mentions(n, r.path) {
			return
		}
		if below := r.path.itemSteps(); r.path.list != nil {
			steps = steps[len(r.path.Steps)-len(below):]
		}
		if s.follow(scope, steps, false) != nil {
			meant = pathText(subtracted(n))
		}
	})
	return meant
}

// oneKey returns the path of a subtraction that is written like a key, as in first-name, and reads the missing path; "" if there is none.
func oneKey(r *report) string {
	key := ""
	differences(r.tag, func(n *Binary) {
		steps, at := subtracted(n), n.Position()
		isSpaced := strings.ContainsAny(r.tag.Text[max(at-1, 0):min(at+2, len(r.tag.Text))], " \t\u00a0")
		if key == "" && steps != nil && !isSpaced && mentions(n, r.path) {
			key = pathText(steps)
		}
	})
	return key
}

// differences calls yield for each subtraction in a tag, the outer ones first.
func differences(t *Tag, yield func(*Binary)) {
	t.walk(func(n Node) {
		if b, ok := n.(*Binary); ok && b.Op == "-" {
			yield(b)
		}
	})
}

// subtracted returns the steps of a path whose hyphens were read as subtractions, or nil if n is something else.
func subtracted(n Node) []Step {
	switch n := n.(type) {
	case *Path:
		return n.Steps
	case *Binary:
		right, ok := leftmost(n.R).(*Path)
		left := subtracted(n.L)
		if !ok || left == nil || n.Op != "-" || left[len(left)-1].IsIndex {
			return nil
		}
		steps := slices.Concat(left, right.Steps[1:])
		steps[len(left)-1].Key += "-" + right.Steps[0].Key
		return steps
	}
	return nil
}

// leftmost returns the first operand of the products that n consists of.
func leftmost(n Node) Node {
	for {
		b, ok := n.(*Binary)
		if !ok || b.strength() != strengthProduct {
			return n
		}
		n = b.L
	}
}

// mentions reports whether a path is part of n.
func mentions(n Node, p *Path) bool {
	found := false
	reads(n, true, func(other *Path, _ bool) { found = found || other == p })
	return found
}

// keyed is an object, or the names at a position.
type keyed interface {
	Get(key string) Value
	Has(key string) bool
	All() iter.Seq2[string, Value]
}

// names are the possible first steps of a path: the loop variables, the innermost first, and the keys of the data.
type names struct {
	frames []frame
	data   *Object
}

// Get returns the value of a name.
func (n names) Get(name string) Value {
	for key, v := range n.variables() {
		if key == name {
			return v
		}
	}
	return n.data.Get(name)
}

// Has reports whether something has that name.
func (n names) Has(name string) bool { return n.data.Has(name) || n.Get(name) != nil }

// All yields the variables, then the keys.
func (n names) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, all := range []iter.Seq2[string, Value]{n.variables(), n.data.All()} {
			for name, v := range all {
				if !yield(name, v) {
					return
				}
			}
		}
	}
}

func (n names) variables() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, f := range slices.Backward(n.frames) {
			if !yield(f.name, f.item) {
				return
			}
		}
	}
}

// scope returns the value in which the first step of a missing path was looked up: the names of its position or, for a
// path in an expression for items, the list.
func (s *search) scope(r *report) Value {
	if r.path.list == nil {
		return names{r.frames, s.data}
	}
	around := Env{data: s.data, frames: r.frames}
	v := around.listAt(r.path.list)
	if o, ok := v.(*Object); ok && r.path.ofEntry {
		var values []any
		for _, value := range o.All() {
			values = append(values, value)
		}
		return values
	}
	return v
}

// listAt returns the value of the path of a list, which may begin with a key of the items of another list.
func (e *Env) listAt(p *Path) Value {
	if p.list == nil {
		return e.lookup(p)
	}
	return e.descend(e.listAt(p.list), p.itemSteps())
}

// withVariable tries the path as one of an item: the loop variable was forgotten.
func (s *search) withVariable(r *report, steps []Step) []Step {
	for _, f := range slices.Backward(r.frames) {
		if found := s.follow(f.item, steps, false); found != nil {
			return append([]Step{{Key: f.name}}, found...)
		}
	}
	return nil
}

// withoutVariable tries the path of an item as one of the data.
func (s *search) withoutVariable(r *report, steps []Step) []Step {
	if len(steps) < 2 || !slices.ContainsFunc(r.frames, func(f frame) bool { return f.name == steps[0].Key }) {
		return nil
	}
	return s.follow(s.data, steps[1:], false)
}

// deeper tries the path in the objects of the data, and wants to find it in one only.
func (s *search) deeper(steps []Step) (only []Step) {
	for key, v := range s.data.All() {
		if s.left--; s.left < 0 {
			return nil
		}
		if _, ok := v.(*Object); !ok {
			continue
		}
		if found := s.follow(v, steps, false); found != nil {
			if only != nil {
				return nil
			}
			only = append([]Step{{Key: key}}, found...)
		}
	}
	return only
}

// follow returns the given steps if they lead from v to a value. With repair, a key may be replaced with a similar one. It returns nil if
// there are no such steps.
func (s *search) follow(v Value, steps []Step, repair bool) []Step {
	if len(steps) == 0 {
		if v == nil {
			return nil
		}
		return []Step{}
	}
	step := steps[0]
	switch c := v.(type) {
	case keyed:
		if step.IsIndex {
			return nil
		}
		if repair && !c.Has(step.Key) {
			if step.Key = nearest(step.Key, filled(c), &s.left); step.Key == "" {
				return nil
			}
		}
		v = c.Get(step.Key)
	case []any:
		if !step.IsIndex {
			return s.followItems(c, steps, repair)
		}
		v = itemAt(c, step.Index)
	default:
		return nil
	}
	if rest := s.follow(v, steps[1:], repair); rest != nil {
		return append([]Step{step}, rest...)
	}
	return nil
}

func (s *search) followItems(items []any, steps []Step, repair bool) []Step {
	for _, item := range items[:min(len(items), maxPeeked)] {
		if s.left--; s.left < 0 {
			return nil
		}
		if found := s.follow(item, steps, repair); found != nil {
			return found
		}
	}
	return nil
}

// filled yields the keys whose values are not null.
func filled(c keyed) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key, v := range c.All() {
			if v != nil && !yield(key) {
				return
			}
		}
	}
}

// there describes what exists at the place where a path fails: its keys, but no values.
func (s *search) there(r *report) string {
	v, steps := s.scope(r), r.path.Steps
	if r.path.list != nil {
		steps = r.path.itemSteps()
	}
	if items, ok := v.([]any); ok {
		v = itemAt(items, 0)
	}
	for i, step := range steps {
		where := "'" + pathText(steps[:i]) + "'"
		if i == 0 && r.path.list != nil {
			where = "an item of '" + r.path.list.name() + "'"
		}
		switch c := v.(type) {
		case keyed:
			if !step.IsIndex && c.Has(step.Key) {
				v = c.Get(step.Key)
				continue
			}
			return keysOf(c, where)
		case []any:
			if !step.IsIndex { // several items may lack it for several reasons
				return habitualKey(steps[:i], step.Key, "$count")
			}
			if v = itemAt(c, step.Index); v == nil {
				return fmt.Sprintf("%s has %d items", where, len(c))
			}
		case nil:
			return where + " is null"
		default:
			if _, isText := c.(string); isText && step.IsIndex {
				return where + " is text, not a list; for a part of it, write {{" + pathText(steps[:i]) + " :: slice(0, 1)}}"
			}
			if hint := habitualKey(steps[:i], step.Key, "$length"); hint != "" {
				return hint
			}
			return where + " is " + kindName(v) + ", which has no keys"
		}
	}
	if v == nil {
		return "the key exists, but its value is null"
	}
	return ""
}

// habitualKey returns what to write instead of a key that other languages have below a value, or "". size is the function for
// the size of the value.
func habitualKey(above []Step, key, size string) string {
	switch {
	case len(above) == 0:
		return ""
	case key == "length" || key == "size" || key == "count":
		return "write " + size + "(" + pathText(above) + ")"
	case key != "" && strings.Trim(key, "0123456789") == "":
		return "write the position in brackets: " + pathText(above) + "[" + key + "]"
	}
	return ""
}

// keysOf lists the first keys of an object.
func keysOf(c keyed, where string) string {
	if n, ok := c.(names); ok {
		c, where = n.data, "the input"
	}
	var keys []string
	for key := range c.All() {
		if len(keys) == maxListed {
			return where + " has the keys " + strings.Join(keys, ", ") + " and others"
		}
		keys = append(keys, key[:min(len(key), maxWord)])
	}
	switch last := len(keys) - 1; last {
	case -1:
		return where + " is an empty object"
	case 0:
		return where + " has only the key " + keys[0]
	default:
		return where + " has the keys " + strings.Join(keys[:last], ", ") + " and " + keys[last]
	}
}
