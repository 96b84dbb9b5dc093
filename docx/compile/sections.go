package compile

import (
	"cmp"
	"slices"

	"platen/docx/lang"
	"platen/docx/wml"
)

// A repeating section ([MS-DOCX], w15:repeatingSection) is a content control around others, its items. If its tag or title opens a loop,
// its first item is written for each item of the list. The other items in the template are left out.

// repeatingSections are the repeating sections of one part that a loop fills.
type repeatingSections struct {
	*compiler
	blocks []*block
	others []*wml.Node // items that are left out
}

// find finds the content controls, and the repeating sections with a loop. Paragraphs in items that are left out no longer count.
func (c *repeatingSections) find() {
	c.sdts = c.root.All("w:sdt")
	for _, sdt := range c.sdts {
		if isRepeating(sdt) && !c.leavesOut(sdt) {
			if text := c.tagOf(sdt); text != "" {
				c.findSection(sdt, text)
			}
		}
	}
	if len(c.others) > 0 {
		c.pars = slices.DeleteFunc(c.pars, func(p *paragraph) bool { return c.leavesOut(p.node) })
	}
}

// leavesOut reports whether a node is in an item that is left out.
func (c *repeatingSections) leavesOut(n *wml.Node) bool {
	return slices.ContainsFunc(c.others, func(item *wml.Node) bool { return item.Start <= n.Start && n.End <= item.End })
}

// isRepeating reports whether a content control is a repeating section.
func isRepeating(sdt *wml.Node) bool {
	return sdt.Child("w:sdtPr").Child("w15:repeatingSection") != nil
}

func (c *repeatingSections) findSection(sdt *wml.Node, text string) {
	var items []*wml.Node
	for _, child := range sdt.Child("w:sdtContent").Children {
		if child.Child("w:sdtPr").Child("w15:repeatingSectionItem") != nil {
			items = append(items, child)
		}
	}
	if len(items) == 0 {
		c.warnAside(sdt, text, "repeating section", "The repeating section '"+text+"' has no items; it stays unchanged.")
		return
	}
	a := c.parseAside(items[0], text, "repeating section")
	if a == nil {
		return
	}
	level, mistake := c.checkSection(sdt, items[0], a.mark.tag)
	if mistake != nil {
		c.failAside(a, text, mistake)
		return
	}
	end := *a.mark
	end.tag = &lang.Tag{Kind: lang.EndFor, Text: "{{endfor}}"}
	item := items[0]
	b := &block{marks: []*mark{a.mark, &end}, level: level, at: item.Parent, item: item, openAt: item.Start, closeAt: item.End}
	a.mark.block, end.block = b, b
	a.mark.border, end.border = item.Start, item.End
	c.asides = append(c.asides, a)
	c.blocks = append(c.blocks, b)
	c.others = append(c.others, items[1:]...)
	if len(items) > 1 {
		c.warnAside(sdt, text, "repeating section", "The repeating section '"+text+
			"' repeats its first item; the other items in the template are left out.")
	}
}

// checkSection returns the kind of elements that a section repeats, or what is wrong with it.
func (c *repeatingSections) checkSection(sdt, item *wml.Node, tag *lang.Tag) (level, *lang.SyntaxError) {
	if tag.Kind != lang.For {
		return 0, &lang.SyntaxError{Message: "a repeating section needs a loop", Hint: "write {{for item in items}}, without {{endfor}}"}
	}
	if slices.ContainsFunc(item.All("w:p"), func(p *wml.Node) bool { return sectionOf(p) != nil }) {
		return 0, &lang.SyntaxError{Message: "a repeating section cannot contain a section break", Hint: "delete the section break"}
	}
	around := sdt.Parent
	for around != nil && (around.Name == "w:sdt" || around.Name == "w:sdtContent" || around.Name == "w:customXml") {
		around = around.Parent
	}
	switch {
	case around != nil && around.Name == "w:tbl":
		return rows, nil
	case around != nil && around.NeedsParagraph():
		return paragraphs, nil
	}
	return 0, &lang.SyntaxError{
		Message: "this repeating section consists of parts of a paragraph or of a row", Hint: "put it around whole paragraphs, or whole rows",
	}
}

// addBlocks adds the sections to the blocks of the part, inner before outer.
func (c *repeatingSections) addBlocks() {
	if len(c.blocks) == 0 {
		return
	}
	end := func(b *block) int {
		if b.item != nil {
			return b.closeAt
		}
		return b.close().start()
	}
	c.compiler.blocks = append(c.compiler.blocks, c.blocks...)
	slices.SortStableFunc(c.compiler.blocks, func(a, b *block) int { return cmp.Compare(end(a), end(b)) })
	for _, item := range c.others {
		c.gone[item] = true
	}
}

// edit writes the edits of the sections. A section without items is left out.
func (c *repeatingSections) edit() {
	for _, b := range c.blocks {
		sdt := b.at.Parent
		for _, n := range c.spentProperties(sdt.Child("w:sdtPr")) {
			c.remove(n.Start, n.End)
		}
		if b.level == paragraphs {
			c.guard(sdt)
			c.yield(b.item.Start)
		}
	}
	for _, item := range c.others {
		c.deleteNode(item)
	}
}
