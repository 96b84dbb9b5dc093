package compile

import (
	"cmp"
	"slices"

	"platen/docx/program"
	"platen/docx/style"
	"platen/docx/wml"
)

// listItem is the list that a paragraph is an item of.
type listItem struct {
	style.List
	ID *wml.Attr // where the paragraph names the list; nil if its style does
}

// listOf returns the list that a paragraph is an item of.
func (c *compiler) listOf(par *wml.Node) (listItem, bool) {
	props := par.Child("w:pPr")
	own := props.Child("w:numPr")
	if id := own.Child("w:numId"); id != nil && id.Attr("w:val") != nil {
		l := style.List{Num: wml.AttrValue(c.src, id, "w:val"), Level: cmp.Or(wml.AttrValue(c.src, own.Child("w:ilvl"), "w:val"), "0")}
		return listItem{l, id.Attr("w:val")}, l.Num != "0" // which takes the paragraph out of the list of its style
	}
	l := c.styles[wml.AttrValue(c.src, props.Child("w:pStyle"), "w:val")].List
	return listItem{List: l}, l.Num != "" && l.Num != "0"
}

// editLists restarts lists that are within a round of a loop in every round. A list whose items the loop itself creates continues:
// its first item begins the round. So does a list with a single item in each round, such as a column of row numbers.
func (c *compiler) editLists() {
	if c.numbering == nil || !slices.ContainsFunc(c.blocks, (*block).isLoop) {
		return
	}
	items := map[string][]*paragraph{}
	var order []string
	for _, p := range c.pars {
		if l, ok := c.listOf(p.node); ok && !c.isGone(p.node) {
			if items[l.Num] == nil {
				order = append(order, l.Num)
			}
			items[l.Num] = append(items[l.Num], p)
		}
	}
	for _, num := range order {
		i := slices.IndexFunc(c.blocks, func(b *block) bool { return b.isLoop() && b.level != inline && c.restarts(b, num, items[num]) })
		if i < 0 {
			continue
		}
		slot := c.slots.Lists.Next()
		c.blocks[i].lists = append(c.blocks[i].lists, slot)
		for _, p := range items[num] {
			c.editList(p.node, slot)
		}
	}
}

// restarts reports whether each round of the loop contains a separate list. items are all paragraphs of the list.
func (c *compiler) restarts(b *block, num string, items []*paragraph) bool {
	holds := func(p *paragraph) bool { return b.openAt <= p.node.Start && p.node.End <= b.closeAt }
	if slices.ContainsFunc(items, func(p *paragraph) bool { return !holds(p) }) {
		return false
	}
	first := slices.IndexFunc(c.pars, func(p *paragraph) bool { return holds(p) && !c.isGone(p.node) })
	if c.pars[first] == items[0] {
		return false
	}
	l, _ := c.listOf(items[0].node)
	return c.numbering.IsNumbered(num, l.Level) && (len(items) > 1 || slices.ContainsFunc(c.blocks, func(in *block) bool {
		return in != b && in.isLoop() && b.openAt <= in.openAt && in.closeAt <= b.closeAt &&
			in.openAt <= items[0].node.Start && items[0].node.End <= in.closeAt
	}))
}

// beforeNumbering are the properties of a paragraph that precede w:numPr (ISO 29500-1 §17.3.1.26, CT_PPrBase).
var beforeNumbering = map[string]bool{
	"w:pStyle": true, "w:keepNext": true, "w:keepLines": true, "w:pageBreakBefore": true, "w:framePr": true, "w:widowControl": true,
}

// editList has a paragraph name the list of a slot.
func (c *compiler) editList(par *wml.Node, slot int) {
	c.listSlots[par] = 1 + slot
	l, _ := c.listOf(par)
	step := &program.ListID{Slot: slot, Num: l.Num, ID: wml.IDNumber(l.Num)}
	if l.ID != nil {
		c.replace(l.ID.ValueStart, l.ID.ValueEnd, step)
		return
	}
	props := par.Child("w:pPr")
	at, prefix := props.OpenEnd, props.Prefix(c.src)
	for _, p := range props.Children {
		if beforeNumbering[p.Name] {
			at = p.End
		}
	}
	val := " " + prefix + `val="`
	c.insert(at, "<"+prefix+"numPr><"+prefix+"ilvl"+val+l.Level+`"/><`+prefix+"numId"+val)
	c.emit(at, rankReplace, step)
	c.insert(at, `"/></`+prefix+"numPr>")
}
