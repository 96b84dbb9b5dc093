package docx

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"platen/docx/opc"
)

// Lists are numbered by what numbering.xml says (ISO 29500-1 §17.9): paragraphs that name the same w:num are one list,
// which refers to a w:abstractNum for its look. A loop whose every round holds a list of its own gives each round but the
// first another w:num, which starts anew.

const (
	// maxAddedLists is how many lists one execution may add: Word becomes slow with more.
	maxAddedLists = 30_000
	// listLevels is how many levels a list has.
	listLevels = 9
)

// numbering is what a template's numbering.xml and styles say of its lists.
type numbering struct {
	part      *opc.Part
	src       []byte
	root      *node
	nums      map[string]*node // w:num by id
	abstracts map[string]*node // w:abstractNum by id
	lastNum   int              // the largest ids
	lastAbs   int
}

// listOfPara is the list that a paragraph is an item of.
type listOfPara struct {
	num, level string
	id         *attr // where the paragraph names the list; nil if its style does
}

// isIn tells whether the lists are in that part.
func (n *numbering) isIn(part *opc.Part) bool { return n != nil && n.part == part }

// readNumbering reads the lists of a document; nil if it has none. Damage here only costs the lists their restart.
func readNumbering(pkg *opc.Package, main *opc.Part) (*numbering, error) {
	part, err := relatedPart(pkg, main, opc.RelNumbering)
	if part == nil || err != nil {
		return nil, err
	}
	n := &numbering{part: part, nums: map[string]*node{}, abstracts: map[string]*node{}}
	if n.src, err = pkg.ReadXML(part); err != nil {
		return nil, err
	}
	if n.root, err = parseTree(part.Name, n.src); err != nil {
		return nil, err
	}
	for _, child := range n.root.children {
		switch child.name {
		case "w:num":
			id := n.val(child, "w:numId")
			n.nums[id] = child
			n.lastNum = max(n.lastNum, idNumber(id))
		case "w:abstractNum":
			id := n.val(child, "w:abstractNumId")
			n.abstracts[id] = child
			n.lastAbs = max(n.lastAbs, idNumber(id))
		}
	}
	return n, nil
}

// idNumber is the number an id spells; what is none counts as 0.
func idNumber(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil || n > maxID {
		return 0
	}
	return n
}

// relatedPart returns the part that a relationship of that type leads to, or nil.
func relatedPart(pkg *opc.Package, from *opc.Part, relType string) (*opc.Part, error) {
	rels, err := pkg.Rels(from.Name)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rels, func(r opc.Relationship) bool { return r.Type == relType && !r.External })
	if i < 0 {
		return nil, nil
	}
	return pkg.Part(rels[i].Target), nil
}

func (n *numbering) val(e *node, name string) string { return attrValue(n.src, e, name) }

// attrValue returns the value of an attribute as written, "" if e is nil or has none.
func attrValue(src []byte, e *node, name string) string {
	if e == nil {
		return ""
	}
	a := e.attr(name)
	if a == nil {
		return ""
	}
	return string(src[a.valueStart:a.valueEnd])
}

// level returns the definition of a level of a list, and the list's w:abstractNum; each may be nil.
func (n *numbering) level(num *node, level string) (lvl, abstract *node) {
	abstract = n.abstracts[n.val(num.child("w:abstractNumId"), "w:val")]
	if abstract == nil {
		return nil, nil
	}
	i := slices.IndexFunc(abstract.children, func(l *node) bool { return l.name == "w:lvl" && n.val(l, "w:ilvl") == level })
	if i < 0 {
		return nil, abstract
	}
	return abstract.children[i], abstract
}

// isNumbered tells whether the items of a level show numbers or letters.
func (n *numbering) isNumbered(num, level string) bool {
	lvl, abstract := n.level(n.nums[num], level)
	if lvl == nil {
		return abstract.child("w:numStyleLink") != nil // the definition is a style's
	}
	format := n.val(lvl.child("w:numFmt"), "w:val")
	return format != "bullet" && format != "none"
}

// listOf returns the list that a paragraph is an item of.
func (c *compiler) listOf(par *node) (listOfPara, bool) {
	props := par.child("w:pPr")
	own := props.child("w:numPr")
	if id := own.child("w:numId"); id != nil && id.attr("w:val") != nil {
		l := listOfPara{attrValue(c.src, id, "w:val"), cmp.Or(attrValue(c.src, own.child("w:ilvl"), "w:val"), "0"), id.attr("w:val")}
		return l, l.num != "0" // which takes the paragraph out of the list of its style
	}
	l := c.styles[attrValue(c.src, props.child("w:pStyle"), "w:val")].list
	return l, l.num != "" && l.num != "0"
}

// editLists has the lists that lie within the rounds of a loop start anew in each. A list that the loop itself makes, item
// by item, goes on: its first item begins the round. So does one with a single item in each round, such as a column of
// row numbers.
func (c *compiler) editLists() {
	if c.lists == nil || !slices.ContainsFunc(c.blocks, (*block).isLoop) {
		return
	}
	items := map[string][]*paragraph{}
	var order []string
	for _, p := range c.pars {
		if l, ok := c.listOf(p.node); ok && !c.isGone(p.node) {
			if items[l.num] == nil {
				order = append(order, l.num)
			}
			items[l.num] = append(items[l.num], p)
		}
	}
	for _, num := range order {
		i := slices.IndexFunc(c.blocks, func(b *block) bool { return b.isLoop() && b.level != inline && c.restarts(b, num, items[num]) })
		if i < 0 {
			continue
		}
		slot := c.ids.slot()
		c.blocks[i].anew = append(c.blocks[i].anew, slot)
		for _, p := range items[num] {
			c.editList(p.node, slot)
		}
	}
}

// restarts tells whether each round of the loop holds a list of its own; items are all paragraphs of the list.
func (c *compiler) restarts(b *block, num string, items []*paragraph) bool {
	holds := func(p *paragraph) bool { return b.openAt <= p.node.start && p.node.end <= b.closeAt }
	if slices.ContainsFunc(items, func(p *paragraph) bool { return !holds(p) }) {
		return false
	}
	first := slices.IndexFunc(c.pars, func(p *paragraph) bool { return holds(p) && !c.isGone(p.node) })
	if c.pars[first] == items[0] {
		return false
	}
	l, _ := c.listOf(items[0].node)
	return c.lists.isNumbered(num, l.level) && (len(items) > 1 || slices.ContainsFunc(c.blocks, func(in *block) bool {
		return in != b && in.isLoop() && b.openAt <= in.openAt && in.closeAt <= b.closeAt &&
			in.openAt <= items[0].node.start && items[0].node.end <= in.closeAt
	}))
}

// beforeNumbering are the properties of a paragraph that come before w:numPr (ISO 29500-1 §17.3.1.26, CT_PPrBase).
var beforeNumbering = map[string]bool{
	"w:pStyle": true, "w:keepNext": true, "w:keepLines": true, "w:pageBreakBefore": true, "w:framePr": true, "w:widowControl": true,
}

// editList has a paragraph name the list of a slot.
func (c *compiler) editList(par *node, slot int) {
	l, _ := c.listOf(par)
	if l.id != nil {
		c.add(edit{pos: l.id.valueStart, end: l.id.valueEnd, phase: phaseReplace, kind: editNumber, slot: slot, opening: l.num})
		return
	}
	props := par.child("w:pPr")
	at, prefix := props.openEnd, props.prefix(c.src)
	for _, p := range props.children {
		if beforeNumbering[p.name] {
			at = p.end
		}
	}
	val := " " + prefix + `val="`
	c.add(edit{pos: at, end: at, phase: phaseReplace, kind: editInsert, opening: "<" + prefix + "numPr><" + prefix + "ilvl" + val + l.level + `"/><` + prefix + "numId" + val})
	c.add(edit{pos: at, end: at, phase: phaseReplace, kind: editNumber, slot: slot, opening: l.num})
	c.add(edit{pos: at, end: at, phase: phaseReplace, kind: editInsert, opening: `"/></` + prefix + "numPr>"})
}

// beginAgain has the lists of a loop's slots start anew in this round, if they have begun.
func (x *execution) beginAgain(slots []int) {
	for _, slot := range slots {
		if x.slots[slot] > 0 {
			x.slots[slot] = -1
		}
	}
}

// number writes the id of the list that a slot has: the template's until it is to begin again.
func (x *execution) number(o *op) error {
	own := idNumber(string(o.text))
	switch x.slots[o.slot] {
	case 0:
		x.slots[o.slot] = own
	case -1:
		id, err := x.anotherList(string(o.text))
		if err != nil {
			return err
		}
		x.slots[o.slot] = id
	}
	x.out.buf = strconv.AppendInt(x.out.buf, int64(x.slots[o.slot]), 10)
	return nil
}

// addedLists are what one execution adds to the numbering.
type addedLists struct {
	abstracts, nums  []byte         // XML
	byKey            map[string]int // ids of the abstract lists
	bullets          map[string]int // ids of lists without numbers, which are one
	lastAbs, lastNum int            // the largest ids in use; 0 before the first
	count            int
}

// anotherList adds a list with the look of one of the template's that starts anew, and returns its id.
func (x *execution) anotherList(num string) (id int, err error) {
	n := x.t.lists
	definition := n.nums[num]
	prefix := definition.prefix(n.src)
	var overrides strings.Builder
	for i := range listLevels {
		level := strconv.Itoa(i)
		lvl, abstract := n.level(definition, level)
		if lvl == nil && abstract != nil && abstract.child("w:numStyleLink") == nil {
			continue // the list has no such level
		}
		start, own := cmp.Or(n.val(lvl.child("w:start"), "w:val"), "1"), ""
		for _, o := range definition.children {
			if o.name != "w:lvlOverride" || n.val(o, "w:ilvl") != level {
				continue
			}
			start = cmp.Or(n.val(o.child("w:startOverride"), "w:val"), start)
			if lvl := o.child("w:lvl"); lvl != nil {
				own = string(n.src[lvl.start:lvl.end])
			}
		}
		fmt.Fprintf(&overrides, `<%[1]slvlOverride %[1]silvl="%[2]d"><%[1]sstartOverride %[1]sval="%[3]s"/>%[4]s</%[1]slvlOverride>`, prefix, i, start, own)
	}
	return x.addList(n.val(definition.child("w:abstractNumId"), "w:val"), overrides.String())
}

// addList adds a w:num that refers to an abstract list, with overrides as XML under listPrefix, and returns its id.
func (x *execution) addList(abstract, overrides string) (id int, err error) {
	l := &x.lists
	if l.count++; l.count > maxAddedLists {
		return 0, fmt.Errorf("the document would have more than %d lists", maxAddedLists)
	}
	if l.lastNum == 0 && x.t.lists != nil {
		l.lastNum = x.t.lists.lastNum
	}
	l.lastNum++
	l.nums = fmt.Appendf(l.nums, `<%[1]snum %[1]snumId="%[2]d"><%[1]sabstractNumId %[1]sval="%[3]s"/>%[4]s</%[1]snum>`, x.listPrefix(), l.lastNum, abstract, overrides)
	return l.lastNum, nil
}

// addAbstractList adds a w:abstractNum with levels as XML under listPrefix, once for each key, and returns its id.
func (x *execution) addAbstractList(key, levels string) (id int) {
	l := &x.lists
	if id, ok := l.byKey[key]; ok {
		return id
	}
	if l.byKey == nil {
		l.byKey = map[string]int{}
		if x.t.lists != nil {
			l.lastAbs = x.t.lists.lastAbs
		}
	}
	l.lastAbs++
	l.byKey[key] = l.lastAbs
	l.abstracts = fmt.Appendf(l.abstracts, `<%[1]sabstractNum %[1]sabstractNumId="%[2]d"><%[1]smultiLevelType %[1]sval="hybridMultilevel"/>%[3]s</%[1]sabstractNum>`, x.listPrefix(), l.lastAbs, levels)
	return l.lastAbs
}

// listPrefix is the prefix, with its colon, of the elements of the numbering.
func (x *execution) listPrefix() string {
	if x.t.lists == nil || x.t.lists.root.child("w:abstractNum") == nil {
		return "w:"
	}
	return x.t.lists.root.child("w:abstractNum").prefix(x.t.lists.src)
}

// xmlHeader begins a new part.
const xmlHeader = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

// typeNumbering is the content type of numbering.xml.
const typeNumbering = "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"

// finishLists puts what was added into the numbering; a document without one gets one.
func (x *execution) finishLists() error {
	l, n := &x.lists, x.t.lists
	switch {
	case l.count == 0 && l.byKey == nil:
		return nil
	case n != nil:
		x.added.Replace(n.part.Name, n.with(l.abstracts, l.nums))
		return nil
	}
	namespace := "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	if x.t.pkg.Strict() {
		namespace = "http://purl.oclc.org/ooxml/wordprocessingml/main"
	}
	data := slices.Concat([]byte(xmlHeader+`<w:numbering xmlns:w="`+namespace+`">`), l.abstracts, l.nums, []byte("</w:numbering>"))
	name, err := x.added.Add("/word/numbering", "xml", typeNumbering, data)
	if err != nil {
		return err
	}
	_, err = x.added.Relate(x.t.main, opc.RelNumbering, name, false)
	return err
}

// with returns the part with more abstract lists, which stand before all lists, and more lists behind those that are there
// (ISO 29500-1 §17.9.16, CT_Numbering).
func (n *numbering) with(abstracts, nums []byte) []byte {
	firstNum, behind := n.root.closeStart, n.root.closeStart
	for _, child := range slices.Backward(n.root.children) {
		switch child.name {
		case "w:numIdMacAtCleanup":
			firstNum, behind = child.start, child.start
		case "w:num":
			firstNum = child.start
		}
	}
	if n.root.void() {
		name := n.root.rawName(n.src)
		open := strings.TrimSuffix(string(n.src[n.root.start:n.root.end]), "/>") + ">"
		return slices.Concat(n.src[:n.root.start], []byte(open), abstracts, nums, []byte("</"+name+">"), n.src[n.root.end:])
	}
	return slices.Concat(n.src[:firstNum], abstracts, n.src[firstNum:behind], nums, n.src[behind:])
}
