package compile

import (
	"cmp"
	"slices"
	"strings"

	"platen/docx/lang"
)

// listed is a tag in the list of a template's tags, with a string that identifies the loops around it.
type listed struct {
	tag   Tag
	scope string
}

// readScopes follows the loops in the way in which they run, which may differ from the positions of the tags: a loop
// of rows contains all of its first row. It records the data that each tag reads.
func (c *compiler) readScopes() {
	c.listing = make(map[*mark]listed, len(c.marks))
	r := scopeReader{c: c, variables: c.variables(), lets: map[string]bool{}}
	if chart := c.charts[c.part]; chart != nil {
		r.resume(chart.Blocks)
	}
	if header := c.ofRounds(); header != nil {
		r.resume(header.blocks)
	}
	for _, e := range c.scopeEvents() {
		switch {
		case e.aside != nil:
			if r.readAside(e.aside); e.opens {
				r.open(e.mark.tag)
			}
		case e.header != nil:
			e.header.blocks = slices.Clone(r.blocks)
		case e.note != nil && e.closes:
			r.scope, r.loops, r.blocks = lang.Scope{}, nil, nil
		case e.note != nil && e.opens:
			r.resume(e.note.blocks)
		case e.note != nil:
			e.note.blocks = slices.Clone(r.blocks)
		case e.closes:
			r.scope.Close()
			r.loops = r.loops[:len(r.loops)-1]
			r.close(lang.Kind.IsLoop)
		case e.opens:
			if !e.again {
				r.read(e.mark)
			}
			r.open(e.mark.tag)
		default:
			r.read(e.mark)
			r.follow(e.mark)
		}
	}
}

// scopeEvent is a tag where it takes effect: a block's at its border.
type scopeEvent struct {
	pos           int
	mark          *mark
	aside         *aside // whose tag it is, if it is outside of the text of paragraphs
	opens, closes bool
	again         bool         // the tag itself is read elsewhere
	header        *boundHeader // the first reference to it
	note          *boundNote   // the mark is a reference to it or, if it opens or closes, the note itself
}

func (c *compiler) scopeEvents() []scopeEvent {
	events := make([]scopeEvent, 0, len(c.marks))
	for _, m := range c.marks {
		e := scopeEvent{pos: m.start(), mark: m}
		if m.tag.Kind == lang.Let {
			e.pos = m.border
		}
		if m.block != nil {
			e.pos = m.border
			e.opens = m.block.isLoop() && m.opens()
			e.closes = m.block.isLoop() && m.closes()
			if m.block.columns != nil {
				e.pos, e.opens, e.closes = m.block.columns.table.Start, false, false
			}
		}
		events = append(events, e)
	}
	for _, a := range c.asides {
		events = append(events, scopeEvent{pos: a.pos, mark: a.mark, aside: a, opens: a.mark.block != nil})
	}
	for _, b := range c.sections.blocks {
		events = append(events, scopeEvent{pos: b.closeAt, mark: &mark{order: -1}, closes: true})
	}
	if c.isMain {
		for _, note := range c.notes {
			events = append(events, scopeEvent{pos: note.reference.Start, mark: &mark{}, note: note})
		}
	}
	if c.isMain {
		for _, header := range c.headers {
			if len(header.references) > 0 {
				events = append(events, scopeEvent{pos: header.references[0].node.Start, mark: &mark{}, header: header})
			}
		}
	}
	for n, note := range c.ownNotes() {
		events = append(events, scopeEvent{pos: n.Start, mark: &mark{}, opens: true, note: note},
			scopeEvent{pos: n.End, mark: &mark{order: len(c.marks)}, closes: true, note: note})
	}
	for _, b := range c.blocks {
		if b.perRow {
			events = append(events, scopeEvent{pos: b.openAt, mark: b.open(), opens: true, again: true},
				scopeEvent{pos: b.closeAt, mark: b.close(), closes: true})
		}
	}
	slices.SortStableFunc(events, func(a, b scopeEvent) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.mark.order, b.mark.order))
	})
	return events
}

type scopeReader struct {
	c      *compiler
	scope  lang.Scope
	loops  []string
	blocks []*lang.Tag // the tags of loops and conditions that are open

	variables map[string]bool // of all loops in the part
	lets      map[string]bool // the names that variables above have, or had until their block ended
}

// variables returns the names of the loop variables in the part, except those that are keys of the input too.
func (c *compiler) variables() map[string]bool {
	names := map[string]bool{}
	for _, b := range c.blocks {
		if tag := b.open().tag; b.isLoop() && tag.ListIn() != tag.Var { // otherwise, the input has that key too
			names[tag.Var] = true
		}
	}
	return names
}

// resume begins in blocks that are open in another part.
func (r *scopeReader) resume(blocks []*lang.Tag) {
	for _, tag := range blocks {
		if tag.Kind.IsLoop() {
			r.open(tag)
			continue
		}
		r.blocks = append(r.blocks, tag)
		r.c.use.Add(tag, &r.scope)
	}
}

// open begins a loop.
func (r *scopeReader) open(tag *lang.Tag) {
	r.scope.Open(tag)
	r.loops = append(r.loops, tag.String())
	r.blocks = append(r.blocks, tag)
}

// follow records what a tag begins, ends, or names.
func (r *scopeReader) follow(m *mark) {
	switch {
	case m.tag.Kind == lang.Let:
		r.scope.Let(m.tag)
		if !m.tag.Reads(m.tag.Var) { // otherwise, the input has that key too
			r.lets[m.tag.Var] = true
		}
	case m.tag.Kind == lang.Include && m.block == nil: // its file has not been inserted
		r.c.use.Add(endOfFile, &r.scope)
	default:
		r.branch(m.tag)
	}
}

// endOfFile is the tag that ends the content of a file.
var endOfFile = &lang.Tag{Kind: lang.EndIf, Text: noFile}

// branch records the tags of conditions.
func (r *scopeReader) branch(tag *lang.Tag) {
	switch tag.Kind {
	case lang.If, lang.ElseIf, lang.Else, lang.Include:
		r.blocks = append(r.blocks, tag)
	case lang.EndIf:
		r.close(func(k lang.Kind) bool { return k == lang.If || k == lang.Include })
	}
}

// close forgets the innermost block that one of the tags opens.
func (r *scopeReader) close(opens func(lang.Kind) bool) {
	for i, tag := range slices.Backward(r.blocks) {
		if opens(tag.Kind) {
			r.blocks = r.blocks[:i]
			return
		}
	}
}

// read records the data that a tag in the text reads.
func (r *scopeReader) read(m *mark) {
	r.c.use.Add(m.tag, &r.scope)
	r.list(m, m.tag.Type())
	r.checkVariables(m)
	if err := r.scope.Misuse(m.tag); err != nil {
		r.c.failAt(m.par, m.from, m.to, err.Offset, err.Message, err.Hint)
	}
	if name := r.scope.Unbound(m.tag, r.variables); name != "" {
		r.c.doubt(m, "'"+name+"' belongs to a loop, but this tag is outside of it and reads a key of the input.",
			"move the tag between {{for …}} and {{endfor}}, unless the input has that key")
	} else if name := r.scope.Unbound(m.tag, r.lets); name != "" {
		r.c.doubt(m, "The variable '"+name+"' is known only until the end of the block with {{let}}, so this tag reads a key of the input.",
			"to choose a value, write {{let "+name+" = $if(condition, value, otherwise)}} before this tag and outside of the block")
	}
	if key := m.tag.LoneText(); key != "" {
		r.c.warn(m.par, lang.Span{Start: m.from, End: m.to}, "This tag prints the text in its quotes, not a value of the input.",
			"for a key with spaces, write {{"+key+"}}; for the text itself, write it without a tag")
	}
	if path, meant := r.scope.AllItems(m.tag); path != "" {
		r.c.doubt(m, "'"+path+"' is the list of the values of all items, in each round of the loop.", "for the value of one item, write "+meant)
	}
}

// checkVariables warns about values that are assigned in a block and lost with it.
func (r *scopeReader) checkVariables(m *mark) {
	const hint = "to add up values, write $sum(items, price); to choose one, write $if(condition, value, otherwise)"
	span := lang.Span{Start: m.from, End: m.to}
	if m.tag.Kind == lang.Let && m.tag.Reads(m.tag.Var) && r.scope.Hides(m.tag) {
		r.c.warn(m.par, span, "The variable '"+m.tag.Var+"' has its new value only until the block around this tag ends, and starts with the "+
			"value of the outer variable each time.", hint)
		return
	}
	if name := r.scope.Outlived(m.tag); name != "" {
		r.c.warn(m.par, span, "The variable '"+name+"' has the value that it had before the block in which another {{let}} has the same name.",
			hint)
	}
}

// readAside records the data that a tag outside the text reads.
func (r *scopeReader) readAside(a *aside) {
	if a.isWithin != nil {
		a.isWithin(r.blocks)
	}
	reads := a.reads
	if reads == nil {
		reads = (*lang.Use).Add
	}
	reads(r.c.use, a.mark.tag, &r.scope)
	if err := r.scope.Misuse(a.mark.tag); err != nil {
		r.c.failAside(a, a.mark.tag.Text, err)
	}
	r.list(a.mark, cmp.Or(a.kind, a.mark.tag.Type()))
}

// list adds a tag to the listing, unless it is of a kind that the listing does not show.
func (r *scopeReader) list(m *mark, kind string) {
	if m.tag.Type() != "" {
		scope := strings.Join(r.loops, "\x00") + "\x00"
		r.c.listing[m] = listed{Tag{Content: m.tag.Text, Type: kind, Paths: m.tag.Paths(&r.scope)}, scope}
	}
}

// listed returns the tags that a listing shows, in the order of the source.
func (c *compiler) listed() []listed {
	type placed struct {
		mark *mark
		pos  int
	}
	marks := make([]placed, 0, len(c.marks)+len(c.asides))
	for _, m := range c.marks {
		marks = append(marks, placed{m, m.start()})
	}
	for _, a := range c.asides {
		marks = append(marks, placed{a.mark, a.pos})
	}
	slices.SortStableFunc(marks, func(a, b placed) int { return cmp.Compare(a.pos, b.pos) })
	all := make([]listed, 0, len(c.listing))
	for _, m := range marks {
		if l, ok := c.listing[m.mark]; ok {
			all = append(all, l)
		}
	}
	return all
}
