package importer

import (
	"slices"
	"strings"

	"platen/docx/wml"
)

const (
	thisItem = "[i]"
	nextItem = "[i+1]"
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
		for i, s := range path {
			if s.key != thisItem && s.key != nextItem {
				continue
			}
			prefix := asThis(path[:i+1])
			at := lastIndex(found, prefix)
			if at < 0 || s.key == thisItem && len(found[at].second) > 0 { // the list is used again
				at = len(found)
				found = append(found, &example{prefix: prefix})
			}
			if s.key == nextItem {
				found[at].second = append(found[at].second, t)
				break
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
		if path[i].key == nextItem {
			path[i].key = thisItem
		}
	}
	return path
}

// listPath returns the path with the most lists in a tag; nil for none.
func (t *tag) listPath() []step {
	var longest []step
	count := func(path []step) (n int) {
		for _, s := range path {
			if s.key == thisItem || s.key == nextItem {
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
		if path, ok := e.steps(); ok {
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
	list := pathExpr(e.prefix[:len(e.prefix)-1])
	open := &tag{par: e.first[0].par, span: span{e.first[0].span.from, e.first[0].span.from}, added: true}
	open.command = command{kind: kLoop, expr: list, name: name, closes: name, variable: singular(e.prefix[len(e.prefix)-2].key)}
	end := &tag{par: e.second[0].par, span: span{e.second[0].span.from, e.second[0].span.from}, added: true}
	end.command = command{kind: kEnd, closes: name}
	if !p.frame(e, open, end) {
		return
	}
	for _, t := range e.second {
		t.command, t.follows = command{kind: kNothing, note: "the example of the second item is not needed"}, open
	}
	p.tags = slices.Insert(p.tags, slices.Index(p.tags, e.first[0]), open)
	p.tags = slices.Insert(p.tags, slices.Index(p.tags, e.second[0]), end)
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

// frame decides where the tags of a loop are, and what is removed; false if that has no equivalent.
func (p *part) frame(e *example, open, end *tag) bool {
	a, b, last := e.first[0], e.second[0], e.second[len(e.second)-1]
	if a.start() > b.start() {
		return false
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
		return true
	}
	around := wml.CommonAncestor(a.par.node, b.par.node)
	from, next, final := a.par.node.Under(around), b.par.node.Under(around), last.par.node.Under(around)
	if around.Name == "w:tr" || from == nil || next == nil || final == nil {
		return false
	}
	removed := between(around, next, final)
	if from.Name == "w:tr" {
		open.word = "tablerow"
		rows := between(around, from, next)
		before := rows[len(rows)-2]
		open.place = func() { p.replaceIn(p.inRow(from, false), false, open.out) }
		end.place = func() { p.replaceIn(p.inRow(before, true), true, end.out); p.dropAll(removed) }
		return before.Name == "w:tr"
	}
	open.word = "for"
	open.place = func() { p.addParagraph(from, false, open.out) }
	end.place = func() { p.addParagraph(next, false, end.out); p.dropAll(removed) }
	return true
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

// resolveCarbone resolves a path. [i] is the item of the loop over the list before it.
func resolveCarbone(w *writer, path []step) (string, error) {
	text, rest := "", path
	for i, s := range path {
		if s.key != thisItem && s.key != nextItem {
			continue
		}
		name := prefixName(path[:i+1])
		at := slices.IndexFunc(w.scopes, func(s *scope) bool { return s.name == name && s.variable != "" })
		if at < 0 || s.key == nextItem {
			return "", &cannot{"the list has no example of a second item, or it is not in the same table or text",
				"write {{for x in list}} … {{endfor}} or {{tablerow x in list}} … {{endtablerow}}"}
		}
		text, rest = w.scopes[at].variable, path[i+1:]
	}
	return pathText(text, rest)
}
