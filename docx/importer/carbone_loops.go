package importer

import (
	"cmp"
	"slices"
	"strings"

	"platen/docx/wml"
)

// example is a loop that is written as an example of its first two items.
type example struct {
	prefix        []step // the path of the list, with [i] at its end
	first, second []*tag // the tags of the two items
}

// findExamples adds the tags of loops. The tags of the second item are removed.
func findExamples(p *part, _ []any) {
	var found []*example
	for _, t := range p.tags {
		path := t.listPath()
		second := false
		for i, s := range path {
			if !s.isLoop() {
				continue
			}
			prefix := asThis(path[:i+1])
			at := lastIndex(found, prefix)
			if second && (s.isThis() || at < 0 || len(found[at].second) > 0) {
				break // it is in the second example of an outer list
			}
			if at < 0 || s.isThis() && len(found[at].second) > 0 { // the list is used again
				at = len(found)
				found = append(found, &example{prefix: prefix})
			}
			if s.isNext() {
				found[at].second = append(found[at].second, t)
				second = true
				continue
			}
			found[at].first = append(found[at].first, t)
		}
	}
	slices.SortStableFunc(found, func(a, b *example) int { return len(a.prefix) - len(b.prefix) })
	for _, e := range found {
		p.addExample(e)
	}
}

// lastIndex returns the index of the last example of a list, or -1.
func lastIndex(all []*example, prefix []step) int {
	for i, e := range slices.Backward(all) {
		if slices.Equal(e.prefix, prefix) {
			return i
		}
	}
	return -1
}

// asThis returns a path with [i] for every item.
func asThis(path []step) []step {
	path = slices.Clone(path)
	for i := range path {
		if rest, ok := strings.CutPrefix(path[i].key, nextItem); ok {
			path[i].key = thisItem + rest
		}
	}
	return path
}

// listPath returns the path with the most lists in a tag; nil for none.
func (t *tag) listPath() []step {
	var longest []step
	count := func(path []step) (n int) {
		for _, s := range path {
			if s.isLoop() {
				n++
			}
		}
		return n
	}
	var walk func(e *expr)
	walk = func(e *expr) {
		if e == nil {
			return
		}
		if path, ok := e.steps(); ok && (e.op != opName || len(e.args) == 0) { // a position has the path as its argument
			if count(path) > count(longest) {
				longest = path
			}
			return
		}
		for _, a := range e.args {
			walk(a)
		}
	}
	walk(t.expr)
	return longest
}

// addExample adds the tags around the first item of a loop.
func (p *part) addExample(e *example) {
	if len(e.first) == 0 || len(e.second) == 0 {
		return // resolveCarbone reports the tags
	}
	name := prefixName(e.prefix)
	open := &tag{par: e.first[0].par, span: span{e.first[0].span.from, e.first[0].span.from}, added: true}
	open.command = command{kind: kLoop, expr: pathExpr(e.prefix[:len(e.prefix)-1]), name: name, closes: name}
	open.variable = singular(e.prefix[len(e.prefix)-2].key)
	chosen, err := selectionOf(e.prefix[len(e.prefix)-1].key, pathExpr(e.prefix))
	if chosen.unique && p.hasLoopIn(e.prefix) {
		err = &cannot{"it groups the items by a key, and goes through lists of all of them", "write {{for g in list :: group(key)}}"}
	}
	open.where, open.sorts, open.unique, open.err = chosen.where, chosen.sorts, chosen.unique, err
	if len(chosen.bounds) > 0 {
		open.expr = &expr{op: opFilter, name: "substr", args: append([]*expr{open.expr}, chosen.bounds...)}
	}
	end := &tag{par: e.second[0].par, span: span{e.second[0].span.from, e.second[0].span.from}, added: true}
	end.command = command{kind: kEnd, closes: name}
	from, next, to, ok := p.frame(e, open, end)
	if !ok {
		return
	}
	for _, t := range e.first {
		t.follows = open
	}
	for _, t := range p.tags {
		if at := t.start(); !t.added && at >= next && at < to {
			t.command, t.follows = command{kind: kNothing, note: "the example of the second item is not needed"}, open
		}
	}
	p.insert(open, func(t *tag) bool { return !t.added && t.start() >= from })
	p.insert(end, func(t *tag) bool { return t.start() >= next && (!t.added || t.kind == kEnd) })
}

// hasLoopIn reports whether a tag has a loop over a list of the items of a loop.
func (p *part) hasLoopIn(prefix []step) bool {
	return slices.ContainsFunc(p.tags, func(t *tag) bool {
		path := t.listPath()
		return len(path) > len(prefix) && slices.Equal(asThis(path[:len(prefix)]), prefix) && slices.ContainsFunc(path[len(prefix):], step.isLoop)
	})
}

// insert adds a tag before the first one that is accepted.
func (p *part) insert(t *tag, before func(*tag) bool) {
	p.tags = slices.Insert(p.tags, slices.IndexFunc(p.tags, before), t)
}

func prefixName(prefix []step) string {
	var b strings.Builder
	for _, s := range prefix {
		b.WriteString("." + s.key)
	}
	return b.String()
}

// pathExpr returns a path as an expression.
func pathExpr(path []step) *expr {
	e := &expr{op: opName, name: path[0].key}
	for _, s := range path[1:] {
		e = &expr{op: opMember, name: s.key, args: []*expr{e}}
	}
	return e
}

// frame decides where the tags of a loop are, and what is removed. It returns where the first example begins in the source, and where
// the second one begins and ends; ok is false if the loop has no equivalent.
func (p *part) frame(e *example, open, end *tag) (begin, second, last int, ok bool) {
	a, b, z := e.first[0], e.second[0], e.second[len(e.second)-1]
	if a.start() > b.start() {
		return 0, 0, 0, false
	}
	if a.par == b.par {
		open.place = func() { p.replace(a.par, a.span.from, a.span.from, open.out) }
		end.place = func() {
			p.replace(b.par, b.span.from, b.span.from, end.out)
			for i, t := range e.second[1:] {
				if previous := e.second[i]; previous.par == t.par {
					p.replace(t.par, previous.span.to, t.span.from, "")
				}
			}
		}
		return a.start(), b.start(), z.start() + 1, true
	}
	around := wml.CommonAncestor(a.par.node, b.par.node)
	from, next, final := a.par.node.Under(around), b.par.node.Under(around), z.par.node.Under(around)
	if around.Name == "w:tr" || from == nil || next == nil || final == nil {
		return 0, 0, 0, false
	}
	removed := between(around, next, final)
	if from.Name == "w:tr" {
		open.word = "tablerow"
		rows := between(around, from, next)
		before := rows[len(rows)-2]
		open.place = func() { p.replaceIn(p.inRow(from, false), false, open.out) }
		end.place = func() {
			if p.isBlank(before) { // a row with nothing but the tag would be removed
				end.out = `{{""}}` + end.out
			}
			p.replaceIn(p.inRow(before, true), true, end.out)
			p.dropAll(removed)
		}
		return from.Start, next.Start, final.End, before.Name == "w:tr"
	}
	open.word = "for"
	open.place = func() { p.addParagraph(from, false, open.out) }
	end.place = func() { p.addParagraph(next, false, end.out); p.dropAll(removed) }
	return from.Start, next.Start, final.End, true
}

// isBlank reports whether a row has no text.
func (p *part) isBlank(row *wml.Node) bool {
	return !slices.ContainsFunc(p.pars, func(par *paragraph) bool {
		return strings.TrimSpace(par.text) != "" && par.node.Ancestor(func(n *wml.Node) bool { return n == row }) != nil
	})
}

// between returns the children of an element from one to another.
func between(n, from, to *wml.Node) []*wml.Node {
	return n.Children[slices.Index(n.Children, from) : slices.Index(n.Children, to)+1]
}

func (p *part) dropAll(nodes []*wml.Node) {
	for _, n := range nodes {
		p.drop(n)
	}
}

// replaceIn inserts text at the start or the end of a paragraph.
func (p *part) replaceIn(par *paragraph, atEnd bool, text string) {
	at := 0
	if atEnd {
		at = len(par.text)
	}
	p.replace(par, at, at, text)
}

// resolveCarbone resolves a path. An item of a loop is that of the loop over the list before it.
func resolveCarbone(w *writer, path []step) (string, error) {
	if len(path) == 2 && path[0].key == "c" && path[1].key == "now" && w.data != nil && !w.hasKey(path) {
		return "$now", nil
	}
	if position := map[string]string{positionKey: "loop.number", indexKey: "loop.index"}[path[0].key]; position != "" {
		if w.innermost() == nil {
			return "", errNoExample
		}
		return position, nil
	}
	text, from, found := "", 0, false
	for i, s := range path {
		switch {
		case s.isLoop() || strings.HasPrefix(s.key, firstItem):
			name := prefixName(path[:i+1])
			at := slices.IndexFunc(w.scopes, func(s *scope) bool { return s.name == name && s.variable != "" })
			if at >= 0 && !s.isNext() {
				text, from = w.scopes[at].item(path, i+1)
				continue
			}
			if s.isLoop() || found {
				return "", errNoExample
			}
			first, err := w.firstOf(text, path[:i+1], path[from:i])
			if err != nil {
				return "", err
			}
			text, from, found = first, i+1, true
		case found && s.isIndex:
			return "", errPath
		case found:
			text, from = "$lookup("+text+", "+quote(s.key)+")", i+1
		}
	}
	if found && !strings.HasPrefix(text, "$lookup(") {
		return "", errPath
	}
	return pathText(text, path[from:])
}

// item returns the item of a loop, or the key or the value of an object, and where the rest of the path begins.
func (s *scope) item(path []step, from int) (text string, rest int) {
	switch {
	case s.key == "" || from == len(path):
	case path[from].key == "att":
		return s.key, from + 1
	case path[from].key == "val":
		return s.variable, from + 1
	}
	return s.variable, from
}

var errNoExample = &cannot{"the list has no example of a second item, or it is not in the same table or text",
	"write {{for x in list}} … {{endfor}} or {{tablerow x in list}} … {{endtablerow}}"}

// firstOf writes the first item of a list for which conditions are true.
func (w *writer) firstOf(text string, path, rest []step) (string, error) {
	list, err := pathText(text, rest)
	if err != nil {
		return "", err
	}
	item := pathExpr(path)
	chosen, err := selectionOf(path[len(path)-1].key, item)
	if err != nil || chosen.where == nil || len(chosen.bounds) > 0 {
		return "", cmp.Or(err, error(errPath))
	}
	s := &scope{name: prefixName(path), variable: "item", samples: items(w.samplesOf(pathExpr(path[:len(path)-1])))}
	w.scopes = append(w.scopes, s)
	c, err := w.condition(chosen.where)
	w.scopes = w.scopes[:len(w.scopes)-1]
	return list + " :: where(" + c + ") :: first", err
}
