package importer

import (
	"regexp"
	"slices"
	"strings"

	"platen/docx/wml"
)

var (
	mergedDown   = regexp.MustCompile(`^\{%\s*vm\s*%\}$`)
	mergedAcross = regexp.MustCompile(`\{%\s*(?:hm|colspan)\b`)
)

// jinjaMerge merges a cell with those below it.
func jinjaMerge(w *writer, o operand, args []*expr) (operand, error) {
	if o.kinds.has(aBool | aList | anObject) {
		return operand{}, &cannot{"it merges cells with a value that is no text and no number", "write {{x :: merge}}"}
	}
	return filter("merge")(w, o, args)
}

// mergeCells converts the tags that merge a cell with those of the other items. The text of the cell becomes the value of a tag that
// merges.
func (p *part) mergeCells() {
	for _, t := range p.tags {
		if !mergedDown.MatchString(t.original()) || t.cell() == nil {
			continue
		}
		loop := p.onlyRowLoop(t)
		text := strings.TrimSpace(strings.Replace(t.par.text, t.original(), "", 1))
		if loop == nil || text == "" || p.textOf(t.cell()) != strings.TrimSpace(t.par.text) {
			continue
		}
		inCell := slices.DeleteFunc(slices.Clone(p.tags), func(o *tag) bool { return o == t || o.cell() != t.cell() })
		switch {
		case len(inCell) == 0 && !strings.ContainsAny(text, "\t\n"+string(wml.Object)):
			t.command = command{kind: kText, text: "{{" + quote(text) + " :: merge}}"}
			t.place = func() { p.replace(t.par, 0, len(t.par.text), t.out) }
		case len(inCell) == 1 && inCell[0].kind == kPrint && inCell[0].err == nil && inCell[0].original() == text:
			names := map[string]bool{}
			if inCell[0].expr.names(names); names["loop"] || names[loop.name] || names[loop.value] {
				continue
			}
			inCell[0].expr = &expr{op: opFilter, name: "\x00merge", args: []*expr{inCell[0].expr}}
			t.command = command{kind: kNothing}
		}
	}
}

// onlyRowLoop returns the opening tag of the only block of rows around a tag, if it is a loop over one row; nil for anything else.
func (p *part) onlyRowLoop(t *tag) *tag {
	var open []*tag
	for _, o := range p.tags {
		switch {
		case o == t && len(open) != 1:
			return nil
		case o.unit != unitRow || tableOf(o.row()) != tableOf(t.row()):
		case o.kind == kLoop || o.kind == kIf:
			open = append(open, o)
		case o.kind == kEnd && len(open) == 1 && o.start() > t.start():
			if loop := open[0]; loop.kind == kLoop && p.nextRow(loop.row(), 1) == t.row() && p.nextRow(o.row(), -1) == t.row() {
				return loop
			}
			return nil
		case o.kind == kEnd && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return nil
}
