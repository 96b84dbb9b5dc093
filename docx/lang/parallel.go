package lang

import (
	"encoding/json"
	"slices"
	"strconv"
)

// The points of a chart may be in parallel lists, as in {{labels :: chart(item, sales[key], costs[key])}}. The list of the tag then has
// texts or numbers, so that item is an argument, and key is its position. Other names are not keys of the items.

// numberItems marks the paths in such a tag.
func numberItems(t *Tag) {
	list, hasItem := firstPath(t.Expr), false
	t.readsOfChart(func(p *Path) {
		hasItem = hasItem || p.text == itemName && p.list == list
		t.numbered = t.numbered || p.text == entryKey
	})
	if t.numbered = t.numbered && hasItem; !t.numbered {
		return
	}
	t.readsOfChart(func(p *Path) {
		switch {
		case p.text == entryKey:
			p.ofEntry = true
		case p.list == list && p.Steps[0].Key != itemName && p.Steps[0].Key != entryValue:
			p.perItem, p.list = false, nil
		}
	})
	t.walk(func(n Node) {
		i, ok := n.(*Index)
		if !ok {
			return
		}
		if key, ok := i.Key.(*Path); !ok || !key.ofEntry {
			return
		}
		i.parallel = true
		switch base := i.Base.(type) {
		case *Path:
			base.parallel = !base.perItem
		case *Index:
			base.name.parallel = true
		}
	})
}

// readsOfChart calls yield for the paths in the arguments of a chart.
func (t *Tag) readsOfChart(yield func(*Path)) {
	if t.Filter("chart") == nil {
		return
	}
	for _, name := range []string{"chart", "errorbars"} {
		if f := t.Filter(name); f != nil {
			for _, arg := range f.Args {
				reads(arg, true, func(p *Path, _ bool) { yield(p) })
			}
		}
	}
}

// hasVariable reports whether a variable has a name.
func (e *Env) hasVariable(name string) bool {
	return slices.ContainsFunc(e.frames, func(f frame) bool { return f.name == name || f.keyName == name })
}

// position returns the position of the item that a chart shows. ok is false if key is something else there.
func (e *Env) position() (i int, ok bool) {
	for at := range slices.Backward(e.items) {
		s := &e.items[at]
		if s.entry == nil {
			continue
		}
		key, isNumber := s.entry.key.(json.Number)
		if !isNumber || s.has(e, entryKey) {
			return 0, false
		}
		i, err := strconv.Atoi(string(key))
		return i, err == nil
	}
	return 0, false
}

// parallelDatum returns the path in the input of what a chart reads for an item, or "".
func (e *Env) parallelDatum(n *Index) string {
	base, isPath := n.Base.(*Path)
	i, ok := e.position()
	if !isPath || !ok || !n.parallel {
		return ""
	}
	at, ok := e.origin(base)
	if !ok {
		return ""
	}
	at.steps = slices.Concat(at.steps, []Step{{Index: i, IsIndex: true}}, n.Steps)
	if !at.follow(e, false) {
		return ""
	}
	return at.path
}

// checkParallel rejects what is not a list, though a chart reads it parallel to one. It warns if one of these lists has more items.
func (e *Env) checkParallel(n *Index, v Value) error {
	if !n.parallel {
		return nil
	}
	if _, ok := e.position(); !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return &fault{node: n.Base, message: "is " + kindName(v) + ", not a list"}
	}
	if len(list) == e.numbered {
		return nil
	}
	line := "The list '" + n.Base.String() + "' has " + items(len(list)) + ", but the list '" + e.tag.Expr.String() + "' of the chart has " +
		items(e.numbered) + "."
	if e.warnings.wants(lineOfTag{line, e.tag}) {
		e.doubtAbout(n.Base, line)
	}
	return nil
}

func items(n int) string {
	if n == 1 {
		return "1 item"
	}
	return strconv.Itoa(n) + " items"
}

// parallel records a list that a chart reads parallel to another, and the steps below its items.
func (c *collector) parallel(p *Path, steps []Step, w takes, optional bool) {
	if len(steps) == 0 {
		w.want |= aList
		c.path(p, w, optional)
		return
	}
	c.path(p, takes{want: aList}, optional)
	below := *p
	below.Steps = slices.Concat(p.Steps, steps)
	c.path(&below, w, optional)
}
