package importer

import (
	"cmp"
	"strings"

	"platen/docx/wml"
)

// variableWanted returns the name that the variable of a loop should have.
func (t *tag) variableWanted() string {
	if t.variable != "" || t.command.name != "" {
		return cmp.Or(t.variable, t.command.name)
	}
	if path, ok := t.expr.steps(); ok && !path[len(path)-1].isIndex {
		return singular(path[len(path)-1].key)
	}
	return "entry"
}

// nameKeys names the variable for the keys of a loop over an object, or over the positions of a list.
func (w *writer) nameKeys(s *scope, t *tag) {
	if s.keyName = t.command.key; s.keyName != "" {
		s.key = w.variableFor(s.keyName, w.taken[outward+s.keyName])
	} else {
		s.key = w.variableFor("key", true)
	}
	if w.kindsOf(t.expr) != aList {
		s.samples = valuesOf(w.samplesOf(t.expr))
	}
}

func (p *part) openLoop(w *writer, t *tag) error {
	b := t.block
	if err := w.keysOf(t); err != nil {
		return err
	}
	if t.columns != nil {
		if done, err := w.openColumns(t); done {
			return err
		}
	}
	o, err := w.operand(t.expr)
	if err != nil {
		return err
	}
	last := b.last()
	b.word = w.wordOf(t, last)
	if t.word == "tablecolumn" && !t.ownCell && !t.spansColumn(last) {
		return &cannot{"it repeats a part of a column", "write {{tablecolumn x in list}} in the first row of the table"}
	}
	if t.unit == unitTable {
		if b.word = "for"; t.row() == nil || last.row() == nil || tableOf(t.row()) != tableOf(last.row()) {
			return &cannot{"its tags are not in one table", "write {{for x in list}} above the table, and {{endfor}} below it"}
		}
	}
	s := &scope{name: t.command.name, samples: items(w.samplesOf(t.expr))}
	wanted := t.variableWanted()
	s.variable = w.variableFor(bare(wanted), s.name == "" || w.invents || w.taken[outward+wanted] || bare(wanted) != wanted)
	b.scope = s
	if t.where != nil {
		w.scopes = append(w.scopes, s)
		c, err := w.condition(t.where)
		w.scopes = w.scopes[:len(w.scopes)-1]
		if err != nil {
			return err
		}
		o = o.with("where(" + c + ")")
	}
	if o, err = w.sorted(s, o, t.sorts, t.unique); err != nil {
		return err
	}
	variables := s.variable
	if t.columns != nil {
		b.word, variables, s.lengths = "tablecolumn", t.columns.index+", "+s.variable, lengthsOf(w.samplesOf(t.expr))
	}
	if t.keyed {
		w.nameKeys(s, t)
		variables = s.key + ", " + s.variable
	}
	if t.value != "" {
		s.value, s.samples = t.value, nil
		s.valueVariable = w.variableFor(bare(t.value), bare(t.value) != t.value)
		variables += ", " + s.valueVariable
	}
	b.list = strings.Join(append([]string{variables + " in " + o.text}, o.filters...), " :: ")
	t.out = "{{" + b.word + " " + b.list + "}}"
	return nil
}

// bare returns a variable without the marks that distinguish it from the keys of the data.
func bare(variable string) string { return strings.TrimLeft(variable, "$@"+invented) }

// invented precedes the names of variables that the import adds to a loop. No language can name them.
const invented = "\x00"

// spansColumn reports whether a block begins in the first row of a table and ends in the same column of the last.
func (t *tag) spansColumn(end *tag) bool {
	a, b := t.cell(), end.cell()
	if a == nil || b == nil || tableOf(a) != tableOf(b) || columnOf(a) != columnOf(b) {
		return false
	}
	rows := tableOf(a).All("w:tr")
	return t.row() == rows[0] && end.row() == rows[len(rows)-1]
}

// sorted adds the filter that sorts the items of a loop by numbers. Strings are sorted in another way.
func (w *writer) sorted(s *scope, o operand, by []*expr, unique bool) (operand, error) {
	if len(by) == 0 {
		return o, nil
	}
	w.scopes = append(w.scopes, s)
	defer func() { w.scopes = w.scopes[:len(w.scopes)-1] }()
	for _, e := range by {
		if w.kindsOf(e) != aNumber {
			return o, &cannot{"it sorts by values that are not only numbers, or not in the sample data", "write {{for x in list :: sort(key)}}"}
		}
	}
	text, err := w.list(by)
	if o = o.with("sort(" + text + ")"); unique {
		o = o.with("unique(" + text + ")")
	}
	return o, err
}

// wordOf returns the word of a loop.
func (w *writer) wordOf(open, end *tag) string {
	if open.word != "" {
		return open.word
	}
	if w.wholeItems {
		if word := loopOf(open, end); word != "" {
			return word
		}
	}
	switch {
	case w.sections && open.unit == unitRow && open.row() != nil:
		return "tablerow"
	case w.strict && open.unit == unitParagraph, open.unit == unitAround:
		return "paragraph"
	}
	return loopWord(open, end)
}

// loopWord returns the word of a loop: of rows if its tags are in different cells of one table.
func loopWord(open, end *tag) string {
	a, b := open.cell(), end.cell()
	if a == b || a == nil || b == nil {
		return "for"
	}
	if open.unit == unitRow || tableOf(a) == tableOf(b) {
		return "tablerow"
	}
	return "for"
}

func tableOf(n *wml.Node) *wml.Node { return n.Ancestor(wml.Named("w:tbl")) }
