package compile

import (
	"cmp"
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// editHeadings has the headings of a part collected.
func (c *tocs) editHeadings() {
	streams := c.streams()
	for _, p := range c.pars {
		par := p.node
		if par.Void() || c.isGone(par) || par.Ancestor(wml.Named("w:txbxContent")) != nil {
			continue
		}
		levels, restyled := c.levelsOf(par), slices.ContainsFunc(p.marks, func(m *mark) bool { return m.stylesPar })
		if levels == nil && !restyled {
			c.editCounted(par)
			continue
		}
		if m := parting(par, streams); m != nil {
			if levels != nil {
				c.warn(m.par, lang.Span{Start: m.from, End: m.to},
					"A heading is not in the table of contents, because a block begins or ends within its paragraph.",
					"put each tag of the block into a separate paragraph")
			}
			c.editCounted(par)
			continue
		}
		c.editHeading(par, levels, restyled)
	}
}

// editHeading has a paragraph collected that is a heading, or may become one because a tag sets its style.
func (c *tocs) editHeading(par *wml.Node, levels []int, restyled bool) {
	at, ownList := par.OpenEnd, false
	if props := par.Child("w:pPr"); props != nil {
		at, ownList = props.End, props.Child("w:numPr") != nil
	}
	prefix, item := par.Prefix(c.src), c.counted(par)
	var styles program.HeadingStyles
	if restyled {
		styles = c.styledHeadings()
	}
	c.warnFormat(par, item)
	c.add(edit{pos: par.Start, end: par.Start, rank: rankHeading, bound: passes, action: held(func(body []program.Step) program.Step {
		return &program.Heading{Levels: levels, Item: item, Styles: styles, OwnList: ownList, Body: body}
	})})
	c.emit(at, rankHeadingStart, &program.HeadingMark{Prefix: prefix})
	c.emit(par.CloseStart, rankReplace, &program.HeadingMark{Prefix: prefix, End: true})
	c.add(edit{pos: par.End, end: par.End, rank: rankHeadingEnd, bound: passed, action: released{}})
}

// warnFormat reports a heading whose number is in a format that entries cannot show.
func (c *tocs) warnFormat(par *wml.Node, item program.ListItem) {
	if item.List == nil {
		return
	}
	if format := item.List.UnknownFormat(item.Level); format != "" {
		c.warnAside(par, "", "table of contents", "The table of contents shows the number of a heading in digits until Word updates it (F9), "+
			"because its format ("+format+") is not supported.")
	}
}

// styledHeadings returns what the paragraph styles make of their paragraphs.
func (c *tocs) styledHeadings() program.HeadingStyles {
	if c.styled != nil {
		return c.styled
	}
	c.styled = program.HeadingStyles{}
	for id, s := range c.styles {
		if s.Kind != "paragraph" {
			continue
		}
		of := program.StyledHeading{Levels: c.levels(func(t *toc) int { return t.levelOfStyle(s, "") }), Item: c.item(listItem{List: s.List})}
		if of.Levels != nil || of.Item.List != nil {
			c.styled[id] = of
		}
	}
	return c.styled
}

// headingLists returns the lists that have headings in them, by the ids of their definitions.
func (c *tocs) headingLists() map[string]bool {
	if c.shared != nil {
		return c.shared
	}
	c.shared = map[string]bool{}
	add := func(item listItem) {
		if l := c.numberedList(item); l != nil {
			c.shared[l.Shared] = true
		}
	}
	for _, p := range c.pars {
		if c.levelsOf(p.node) != nil {
			item, _ := c.listOf(p.node)
			add(item)
		}
	}
	for _, s := range c.styles { // of rich text, and of tags that set a style
		if s.Kind == "paragraph" && c.levels(func(t *toc) int { return t.levelOfStyle(s, "") }) != nil {
			add(listItem{List: s.List})
		}
	}
	return c.shared
}

// numberedList returns the numbered list of an item, or nil.
func (c *tocs) numberedList(item listItem) *program.NumberedList {
	if item.Num == "" || item.Num == "0" || c.numbering == nil {
		return nil
	}
	l, known := c.lists[item.Num]
	if !known {
		l = c.numbering.Numbered(item.Num, func(style string) string { return c.styles[style].List.Num })
		if c.lists == nil {
			c.lists = map[string]*program.NumberedList{}
		}
		c.lists[item.Num] = l
	}
	return l
}

// counted returns a paragraph as an item of one of the lists that have headings in them, or the zero value.
func (c *tocs) counted(par *wml.Node) program.ListItem {
	of, _ := c.listOf(par)
	item := c.item(of)
	if item.List != nil {
		item.Slot = c.listSlots[par]
	}
	return item
}

// item returns an item of one of the lists that have headings in them, or the zero value.
func (c *tocs) item(of listItem) program.ListItem {
	l := c.numberedList(of)
	if l == nil || !c.headingLists()[l.Shared] {
		return program.ListItem{}
	}
	return program.ListItem{List: l, Level: min(wml.IDNumber(cmp.Or(of.Level, "0")), program.ListLevels-1), Num: wml.IDNumber(of.Num)}
}

// editCounted has a paragraph that is not a heading counted, if it is in a list that has headings.
func (c *tocs) editCounted(par *wml.Node) {
	if item := c.counted(par); item.List != nil {
		c.emit(par.CloseStart, rankReplace, &program.Counted{Item: item})
	}
}

// levelsOf returns the level of a paragraph in each of the tables of contents, nil if no table shows it.
func (c *tocs) levelsOf(par *wml.Node) []int {
	return c.levels(func(t *toc) int { return t.levelOf(c, par) })
}

// levels returns the level in each of the tables of contents, nil if it is 0 in all of them.
func (c *tocs) levels(levelIn func(t *toc) int) []int {
	var levels []int
	for i, t := range c.own {
		level := levelIn(t)
		if level > 0 && levels == nil {
			levels = make([]int, len(c.own))
		}
		if level > 0 {
			levels[i] = level
		}
	}
	return levels
}

// richHeadings returns which headings of rich text each table of contents shows.
func (c *tocs) richHeadings() []program.Headings {
	var all []program.Headings
	for _, t := range c.own {
		all = append(all, program.Headings{From: t.levels[0], To: t.levels[1], Outline: t.outline})
	}
	return all
}
