package importer

import (
	"slices"
	"strings"
)

// open writes the tag that opens a block.
func (p *part) open(w *writer, t *tag) error {
	switch t.kind {
	case kStyle:
		return p.openStyle(w, t)
	case kMatrix:
		return p.openMatrix(w, t)
	}
	b := t.block
	if end := b.last(); w.cells && t.row() == end.row() && t.cell() != end.cell() {
		if err := p.openCells(w, t, end); err != nil {
			return err
		}
	}
	if w.wholeParagraphs && p.hasTextBefore(t) {
		return &cannot{"the text before it in its paragraph is part of the block", "put the command into a paragraph of its own"}
	}
	if w.wholeParagraphs && p.hasTextBeside(t) {
		return &cannot{"other text in its row, or in that of its end, would be part of the block", "put the tags into rows of their own"}
	}
	if w.invents && t.isCondition() && joinsParagraphs(t) {
		if !p.canSpread(t) {
			return &cannot{"it begins and ends inside of two paragraphs or cells, which Platen joins or removes if it is false",
				"write a condition inside of each paragraph"}
		}
		t.place = func() { p.spread(t) }
	}
	b.scope = &scope{}
	k := t.kind
	if k == kSection {
		if w.strict && w.kindsOf(t.expr).has(aNumber|aText) {
			return &cannot{"0 and an empty string are true in such a section", "write {{if x isPresent}} … {{endif}}"}
		}
		if path, ok := t.expr.steps(); ok && w.strict && w.data != nil && !w.hasKey(path) {
			return &cannot{"the data has no such key: it can be a helper, which is code of the application",
				"write {{for x in list}} … {{endfor}} or {{if condition}} … {{endif}}"}
		}
		if k = w.decide(p, t); t.inverse {
			k = kUnless
		}
	}
	switch k {
	case kIf, kUnless:
		c, err := w.opening(t.expr, k == kUnless)
		b.word, b.list, t.out = "if", c, "{{if "+c+"}}"
		return err
	case kWith:
		path, err := w.value(t.expr, primary)
		b.scope = &scope{name: t.command.name, path: path, samples: w.samplesOf(t.expr)}
		return err
	}
	return p.openLoop(w, t)
}

// opening returns the condition of a block. An empty list has no items, in every language.
func (w *writer) opening(e *expr, unless bool) (string, error) {
	_, isPath := e.steps()
	switch {
	case unless && isPath:
		x, err := w.value(e, weakNot)
		return "not " + x, err
	case unless:
		e = &expr{op: opNot, args: []*expr{e}}
	}
	return w.condition(e)
}

// divide writes a tag between the branches of a block.
func (p *part) divide(w *writer, t *tag) error {
	b := t.block
	if b.word == "for" && t.kind == kElse && t.unit != unitRow {
		t.out = "{{else}}"
		w.scopes[len(w.scopes)-1] = &scope{} // the branch for no items
		return nil
	}
	if b.word != "if" {
		return &cannot{"a loop of rows with an else branch has no equivalent",
			"write {{if not list}} … {{endif}} around a row after the loop"}
	}
	if t.unit == unitRow {
		return p.divideRows(w, t)
	}
	t.out = "{{else}}"
	if t.kind == kElseIf {
		c, err := w.condition(t.expr)
		t.out = "{{elseif " + c + "}}"
		return err
	}
	return nil
}

// divideRows ends a condition on rows, and begins the opposite one.
func (p *part) divideRows(w *writer, t *tag) error {
	if t.kind == kElseIf || slices.IndexFunc(t.block.tags, func(o *tag) bool { return o.kind == kElse || o.kind == kElseIf }) !=
		slices.Index(t.block.tags, t) {
		return &cannot{"rows with several conditions have no equivalent", "write a condition for each row"}
	}
	c, err := w.logical(&expr{op: opNot, args: []*expr{t.block.tags[0].expr}}, weakOr)
	t.out = "{{endif}}{{if " + c + "}}"
	return err
}

// close writes the end of a block.
func (p *part) close(w *writer, t *tag) {
	if first := t.block.tags[0]; first.matrix != nil && first.failed == nil {
		p.closeMatrix(w, t.block)
	}
	if t.block.word != "" {
		t.out = "{{end" + t.block.word + "}}"
	}
}

// decide returns whether a section is a loop or a condition: from the sample data, or else by a rule.
func (w *writer) decide(p *part, t *tag) kind {
	path, isPath := t.expr.steps()
	if !isPath {
		return kIf
	}
	for _, v := range w.samplesOf(t.expr) {
		switch v.(type) {
		case map[string]any:
			if w.wholeItems {
				return kIf
			}
			return kLoop
		case []any:
			return kLoop
		case nil:
		default:
			return kIf
		}
	}
	if named := looksLikeCondition(path[len(path)-1].key); named || !p.hasTagsInside(t.block) {
		w.note(noteCondition)
		return kIf
	}
	w.note(noteLoop)
	return kLoop
}

// hasTagsInside reports whether tags that print are in a block.
func (p *part) hasTagsInside(b *block) bool {
	return slices.ContainsFunc(p.tags[b.tags[0].index:b.last().index], func(t *tag) bool {
		return t != b.tags[0] && t.kind != kEnd && t.kind != kElse && t.kind != kNothing
	})
}

// looksLikeCondition reports whether a key is named as those of conditions are: isPaid, has_items, showTotal.
func looksLikeCondition(name string) bool {
	for _, verb := range []string{"is", "has", "have", "can", "show", "hide", "with", "should", "no", "not", "if", "needs", "use"} {
		rest, ok := strings.CutPrefix(name, verb)
		if ok && rest != "" && (rest[0] == '_' || rest[0] >= 'A' && rest[0] <= 'Z') {
			return true
		}
	}
	return strings.HasPrefix(name, "cond")
}
