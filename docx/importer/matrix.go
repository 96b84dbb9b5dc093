package importer

import (
	"regexp"
	"slices"
	"strings"

	"platen/docx/wml"
)

// matrix is a table of jsreport whose columns and rows are both in the data. In the template, it is one cell. In Platen, it has two rows:
// one for the columns, and a copy of it for each row of the data.
type matrix struct {
	columns, rows *expr

	headings, cells *scope // of the values in the two rows
	open            string // the tag at the start of the second row
	outs            map[*tag]string
}

// errMatrix is the reason for tables of lists that are not that simple.
var errMatrix = &cannot{"it makes a table of lists, and the sample data (--data) does not have lists of single values, all of one length",
	"write {{tablecolumn k, c in columns}}{{c}}{{endtablecolumn}} in one row, and {{tablerow r in rows}}{{r[k]}}{{endtablerow}} in the next"}

// readMatrix reads a table whose tag is no block: each cell has its value.
func readMatrix(h *call) command {
	m := h.matrix()
	if err := h.only("rows", "columns"); err != nil || m == nil {
		return command{err: orArguments(err)}
	}
	this := &expr{op: opName, name: "this"}
	c := command{kind: kPrint, putIn: func(p *part, t *tag) {
		p.replace(t.par, t.span.from, t.span.to, t.out)
		copied := newRewriter(p.src)
		copied.replace(t.par, t.span.from, t.span.to, m.open+m.outs[t]+"{{endtablerow}}")
		p.addRow(t.row(), copied)
	}}
	c.write = func(w *writer) (string, error) {
		open, err := w.openMatrix(m, w.tag, w.tag)
		if err != nil {
			return "", err
		}
		value, err := w.in(m.headings, this)
		if err == nil {
			m.outs[w.tag], err = w.in(m.cells, this)
		}
		return open + value + "{{endtablecolumn}}", err
	}
	return c
}

// matrix returns the table that the arguments describe, or nil.
func (c *call) matrix() *matrix {
	if c.named["rows"] == nil || c.named["columns"] == nil {
		return nil
	}
	return &matrix{columns: c.named["columns"], rows: c.named["rows"]}
}

// in prints an expression in another scope.
func (w *writer) in(s *scope, e *expr) (string, error) {
	w.scopes = append(w.scopes, s)
	text, err := w.print(e)
	w.scopes = w.scopes[:len(w.scopes)-1]
	return text, err
}

// openMatrix returns the opening tag of a table between two tags.
func (w *writer) openMatrix(m *matrix, first, last *tag) (string, error) {
	row := first.row()
	switch {
	case row == nil || first.cell() != last.cell() || len(row.All("w:tc")) != 1 || len(tableOf(row).All("w:tr")) != 1:
		return "", &cannot{"its tags are not in the only cell of a table", errMatrix.advice}
	case !w.isMatrix(m):
		return "", errMatrix
	}
	columns, err := w.value(m.columns, primary)
	if err != nil {
		return "", err
	}
	rows, err := w.value(m.rows, primary)
	if err != nil {
		return "", err
	}
	k, column, line := w.variableFor("k", true), w.variableFor("column", true), w.variableFor("row", true)
	m.outs = map[*tag]string{}
	m.headings = &scope{
		path: column, samples: items(w.samplesOf(m.columns)), positions: map[string]string{"@rowIndex": "0", "@columnIndex": k},
	}
	m.cells = &scope{
		path: line + "[" + k + "]", samples: items(items(w.samplesOf(m.rows))),
		positions: map[string]string{"@rowIndex": "loop.parent.number", "@columnIndex": k},
	}
	m.open = "{{tablerow " + line + " in " + rows + "}}"
	return "{{tablecolumn " + k + ", " + column + " in " + columns + "}}", nil
}

// isMatrix reports whether the sample data has single values for all columns, and in all columns of all rows.
func (w *writer) isMatrix(m *matrix) bool {
	columns, rows := w.samplesOf(m.columns), items(w.samplesOf(m.rows))
	if len(columns) != 1 || kindsOfValues(columns) != aList || kindsOfValues(w.samplesOf(m.rows)) != aList {
		return false
	}
	isPlain := func(list any, n int) bool {
		values, ok := list.([]any)
		return ok && len(values) == n && !kindsOfValues(values).has(aList|anObject)
	}
	n := len(columns[0].([]any))
	return isPlain(columns[0], n) && !slices.ContainsFunc(rows, func(r any) bool { return !isPlain(r, n) })
}

// openMatrix writes the opening tag of a block that is a table.
func (p *part) openMatrix(w *writer, t *tag) (err error) {
	b := t.block
	b.scope, b.word = &scope{}, "tablecolumn"
	for _, inner := range p.inside(b) {
		if inner.block != nil {
			return &cannot{"there are other blocks in it", errMatrix.advice}
		}
	}
	if t.out, err = w.openMatrix(t.matrix, t, b.last()); err == nil {
		b.scope = t.matrix.headings
	}
	return err
}

// inside returns the tags in a block.
func (p *part) inside(b *block) []*tag {
	return p.tags[slices.Index(p.tags, b.tags[0])+1 : slices.Index(p.tags, b.last())]
}

// closeMatrix writes the tags of a table as they are in its second row.
func (p *part) closeMatrix(w *writer, b *block) {
	m := b.tags[0].matrix
	around := w.scopes
	w.scopes = append(slices.Clone(around[:len(around)-1]), m.cells)
	for _, t := range p.inside(b) {
		if t.failed != nil {
			continue
		}
		out := t.out
		w.tag = t
		if err := p.convertTag(w, t); err != nil {
			p.failTag(t, err)
		}
		m.outs[t], t.out = t.out, out
	}
	w.scopes, w.tag = around, b.last()
}

// putMatrix puts the tags of a table into its two rows. The line break after the first tag and the paragraph of the last are left out.
func putMatrix(p *part, t *tag) {
	b, m := t.block, t.matrix
	last := b.last()
	copied := newRewriter(p.src)
	for _, r := range []*rewriter{p.rewriter, copied} {
		open, end := t.out, last.out
		if r == copied {
			open, end = m.open, "{{endtablerow}}"
		}
		r.replace(t.par, t.span.from, t.span.to, open)
		if i := t.par.pieceAt(t.span.to); i < len(t.par.pieces) && t.par.pieces[i].node.Name == "w:br" && t.par.pieces[i].from == t.span.to {
			r.edits = append(r.edits, edit{t.par.pieces[i].node.Start, t.par.pieces[i].node.End, ""})
		}
		before := p.paragraphBefore(last.par)
		if strings.TrimSpace(last.par.text) == last.original() && before != nil && before.node.Parent == last.par.node.Parent {
			r.drop(last.par.node)
			r.addRun(before, true, end)
		} else {
			r.replace(last.par, last.span.from, last.span.to, end)
		}
	}
	for _, inner := range p.inside(b) {
		switch {
		case inner.par.aside != nil:
		case inner.failed != nil:
			copied.replace(inner.par, inner.span.from+1, inner.span.from+1, inert)
		default:
			copied.replace(inner.par, inner.span.from, inner.span.to, m.outs[inner])
		}
	}
	p.addRow(t.row(), copied)
}

// paragraphBefore returns the w:p that precedes another, or nil.
func (p *part) paragraphBefore(par *paragraph) *paragraph {
	var before *paragraph
	for _, o := range p.pars {
		if o.aside == nil && o.node.Start < par.node.Start {
			before = o
		}
	}
	return before
}

// addRow adds a copy of a row after it.
func (p *part) addRow(row *wml.Node, copied *rewriter) {
	var xml []byte
	at := row.Start
	for _, e := range copied.sorted() {
		xml = append(append(xml, p.src[at:e.from]...), e.with...)
		at = e.to
	}
	xml = append(xml, p.src[at:row.End]...)
	p.edits = append(p.edits, edit{row.End, row.End, paragraphIDs.ReplaceAllString(string(xml), "")})
}

// paragraphIDs are the attributes of paragraphs and rows that must be unique.
var paragraphIDs = regexp.MustCompile(`\s[\w.]+:(?:paraId|textId)="[^"]*"`)
