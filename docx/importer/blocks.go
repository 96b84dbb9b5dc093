package importer

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"platen/docx/wml"
)

// part is a part with text.
type part struct {
	name string
	src  []byte
	root *wml.Node
	pars []*paragraph
	tags []*tag

	gone []*wml.Node // cells that disappear
	*rewriter
}

// match pairs the tags of blocks.
func (p *part) match() {
	var open []*block
	for _, t := range p.tags {
		switch t.kind {
		case kLoop, kIf, kSection, kUnless, kWith, kStyle, kMatrix:
			t.block = &block{tags: []*tag{t}}
			open = append(open, t.block)
		case kPrint:
			for _, b := range slices.Backward(open) {
				if loop := b.tags[0]; loop.kind == kLoop {
					loop.usesKey = loop.usesKey || t.expr != nil && t.expr.op == opName && t.expr.name == "@key"
					break
				}
			}
		case kElse, kElseIf, kEnd:
			if len(open) == 0 {
				t.failed = &cannot{"it belongs to no block", "remove it"}
				continue
			}
			t.block = open[len(open)-1]
			t.block.tags = append(t.block.tags, t)
			if t.kind == kEnd {
				t.block.end = true
				open = open[:len(open)-1]
				if first := t.block.tags[0]; t.closes != "" && first.closes != "" && t.closes != first.closes {
					t.block.fail(&cannot{"its end names another block, " + t.original(),
						"close the blocks in the order in which they are open"})
				}
			}
		}
	}
	for _, b := range open {
		b.fail(&cannot{"the block has no end", "add the end"})
	}
}

// convert writes the tags of a part in Platen's language.
func (p *part) convert(w *writer) {
	p.rewriter = newRewriter(p.src)
	p.convertTags(w)
	if p.failColumns() {
		p.convertTags(w)
	}
}

// convertTags sets what replaces the tags.
func (p *part) convertTags(w *writer) {
	w.scopes = nil
	references := p.references(w)
	note := ""
	for _, t := range p.tags {
		if len(references) > 0 {
			references = w.passReferences(references, t.start())
		}
		if in := p.noteOf(t); in != note {
			note, w.scopes = in, slices.Clone(w.references[in])
		}
		w.tag, w.notes, t.out, t.at = t, nil, "", -1
		if t.failed == nil {
			if err := p.convertTag(w, t); err != nil {
				p.failTag(t, err)
			}
		}
		if t.block != nil {
			p.enter(w, t)
		}
		if t.notes = w.notes; t.note != "" {
			t.notes = append(t.notes, t.note)
		}
	}
	w.passReferences(references, len(p.src))
}

func (p *part) failTag(t *tag, err error) {
	if t.block == nil {
		t.failed = err
		return
	}
	if t.failed = err; t != t.block.tags[0] && t.block.tags[0].failed == nil {
		t.block.fail(&cannot{"its tag " + t.original() + " cannot be converted", "convert both together"})
	}
}

// enter opens or closes the scope of a block.
func (p *part) enter(w *writer, t *tag) {
	switch {
	case t == t.block.tags[0]:
		if t.failed != nil || t.block.scope == nil {
			t.block.fail(t.failed)
			t.block.scope = &scope{}
		}
		w.scopes = append(w.scopes, t.block.scope)
	case t.kind == kEnd:
		w.scopes = w.scopes[:len(w.scopes)-1]
	}
}

// convertTag sets the text that replaces a tag.
func (p *part) convertTag(w *writer, t *tag) (err error) {
	if t.err != nil {
		return t.err
	}
	if t.follows != nil && t.follows.failed != nil {
		return &cannot{"its loop was not converted: " + asCannot(t.follows.failed).reason, "write {{for x in list}} … {{endfor}}"}
	}
	if t.par.aside != nil && t.par.aside.place == inCharts && w.wholeItems && w.innermost() != nil {
		return &cannot{"the chart is in a loop, and shows the same in each item", "write the key of the item that it needs"}
	}
	switch {
	case t.write != nil:
		t.out, err = t.write(w)
	default:
		err = p.write(w, t)
	}
	if err == nil && t.par.aside != nil {
		return t.checkAside()
	}
	return err
}

// write sets the text that replaces a usual tag.
func (p *part) write(w *writer, t *tag) (err error) {
	switch t.kind {
	case kPrint:
		t.out, err = w.print(t.expr)
		if err == nil && t.test != nil {
			var c string
			c, err = w.condition(t.test)
			t.out = "{{if " + c + "}}" + t.before + t.out + t.after + "{{endif}}"
		}
	case kText:
		t.out = t.text
	case kLet:
		return p.let(w, t)
	case kElse, kElseIf:
		return p.divide(w, t)
	case kEnd:
		p.close(w, t)
	case kNothing:
	default:
		return p.open(w, t)
	}
	return err
}

// let writes the definition of a variable.
func (p *part) let(w *writer, t *tag) error {
	if w.sticky && w.hasKey([]step{{key: t.name}}) {
		return &cannot{"the data has a key of this name, which takes precedence", "remove the command"}
	}
	if w.sticky && len(w.scopes) > 0 && p.outlives(t) {
		return &cannot{"the variable keeps its value after the block around it, or from one item to the next",
			"add a key with the result to the data, or write {{$sum(list, …)}}"}
	}
	for _, s := range w.scopes {
		if s.prefix() == "" {
			return &cannot{"the variable is set in a condition, and used after it", "write {{let x = $if(condition, a, b)}}"}
		}
	}
	o, err := w.operand(t.expr)
	if err != nil {
		return err
	}
	name, err := key(t.name, true)
	t.out = "{{let " + name + " = " + strings.Join(append([]string{o.text}, o.filters...), " :: ") + "}}"
	return err
}

// outlives reports whether a variable that is set in a block is used after it, or by itself.
func (p *part) outlives(t *tag) bool {
	names := map[string]bool{}
	t.expr.names(names)
	if names[t.name] {
		return true
	}
	depth := 0
	for _, o := range p.tags[slices.Index(p.tags, t)+1:] {
		switch {
		case o.kind == kEnd:
			depth--
		case o.block != nil && o == o.block.tags[0]:
			depth++
		}
		used := map[string]bool{}
		o.expr.names(used)
		if depth < 0 && used[t.name] {
			return true
		}
	}
	return false
}

// open writes the tag that opens a block.
func (p *part) open(w *writer, t *tag) error {
	switch t.kind {
	case kStyle:
		return p.openStyle(w, t)
	case kMatrix:
		return p.openMatrix(w, t)
	}
	b := t.block
	if end := b.tags[len(b.tags)-1]; w.cells && t.row() == end.row() && t.cell() != end.cell() {
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
	if w.invents && (t.kind == kIf || t.kind == kUnless) && p.joinsParagraphs(t) {
		return &cannot{"it begins and ends inside of two paragraphs or cells, which Platen joins or removes if it is false",
			"write a condition inside of each paragraph"}
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

// hasTextBefore reports whether there is text before a tag in its paragraph, besides the ends of other blocks, and its block ends in
// another paragraph.
func (p *part) hasTextBefore(t *tag) bool {
	end := t.block.tags[len(t.block.tags)-1]
	before := t.par.text[:t.span.from]
	for _, o := range slices.Backward(p.tags) {
		if o.par == t.par && o.span.to <= t.span.from && o.kind == kEnd {
			before = before[:o.span.from] + before[o.span.to:]
		}
	}
	return end.par != t.par && t.cell() == end.cell() && strings.TrimSpace(before) != ""
}

// joinsParagraphs reports whether a condition removes other text in Carbone: it begins after text in a paragraph, and ends before text in
// another one, or its paragraphs are in different cells and one of them has other text.
func (p *part) joinsParagraphs(t *tag) bool {
	end := t.block.tags[len(t.block.tags)-1]
	before, after := hasText(t.par.text[:t.span.from]), hasText(end.par.text[end.span.to:])
	switch {
	case t.par == end.par:
		return false
	case t.cell() == end.cell():
		return before && after
	}
	return before || after
}

// hasTextBeside reports whether a block from one row of a table to another has text before it in its first row, or after it in its last,
// besides the tags of other blocks.
func (p *part) hasTextBeside(t *tag) bool {
	end := t.block.tags[len(t.block.tags)-1]
	row, last := t.row(), end.row()
	if t.unit == unitRow || row == last || row == nil || last == nil || tableOf(row) != tableOf(last) {
		return false
	}
	in := func(par *paragraph, row *wml.Node) bool {
		return par.aside == nil && par.node.Ancestor(func(n *wml.Node) bool { return n == row }) != nil
	}
	for _, par := range p.pars {
		text := par.text
		for _, o := range slices.Backward(p.tags) {
			if o.par == par && o.block != nil {
				text = text[:o.span.from] + strings.Repeat(" ", o.span.to-o.span.from) + text[o.span.to:]
			}
		}
		before, after := text, text
		if par == t.par {
			before = text[:t.span.from]
		}
		if par == end.par {
			after = text[end.span.to:]
		}
		if in(par, row) && par.node.Start <= t.par.node.Start && hasText(before) ||
			in(par, last) && par.node.Start >= end.par.node.Start && hasText(after) {
			return true
		}
	}
	return false
}

func hasText(s string) bool { return strings.TrimSpace(s) != "" }

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
	last := b.tags[len(b.tags)-1]
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
	inside := false
	for _, t := range p.tags {
		switch {
		case t == b.tags[0]:
			inside = true
		case t == b.tags[len(b.tags)-1]:
			return false
		case inside && t.kind != kEnd && t.kind != kElse && t.kind != kNothing:
			return true
		}
	}
	return false
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

// asCannot returns the reason and the advice of an error.
func asCannot(err error) *cannot {
	if c, ok := errors.AsType[*cannot](err); ok {
		return c
	}
	return &cannot{reason: err.Error()}
}
