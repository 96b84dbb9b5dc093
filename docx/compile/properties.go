package compile

import (
	"cmp"
	"slices"

	"platen/docx/program"
	"platen/docx/wml"
)

// Properties of cells and paragraphs that steps write, in the order that the schema requires.

// propertyKind describes the properties of a kind of element.
type propertyKind struct {
	element string // without the prefix w
	order   wml.Order
}

var (
	cellProperties      = propertyKind{"tcPr", wml.CellOrder}
	paragraphProperties = propertyKind{"pPr", wml.ParagraphOrder}
)

// newProperties are the properties of an element that has none in the template.
type newProperties struct {
	node  *wml.Node
	kind  propertyKind
	names []string
	steps []program.Step // by name
}

// setProperty has a step write a property of an element. The step gets what the template has for it, or nil.
func (c *compiler) setProperty(n *wml.Node, kind propertyKind, name string, step func(original []byte) program.Step) {
	props := n.Child("w:" + kind.element)
	if props == nil || props.Void() {
		c.newProperty(n, kind, name, step(nil))
		return
	}
	if own := props.Child("w:" + name); own != nil {
		c.replace(own.Start, own.End, step(c.copy(own.Start, own.End)))
		return
	}
	pos := props.OpenEnd
	for _, p := range c.propertiesOf(props) {
		if kind.order.Precedes(p.Name, name) {
			pos = props.Child("w:" + p.Name).End
		}
	}
	c.emit(pos, rankReplace, step(nil))
}

func (c *compiler) newProperty(n *wml.Node, kind propertyKind, name string, step program.Step) {
	i := slices.IndexFunc(c.newProps, func(p *newProperties) bool { return p.node == n })
	if i < 0 {
		i = len(c.newProps)
		c.newProps = append(c.newProps, &newProperties{node: n, kind: kind})
	}
	p := c.newProps[i]
	at, _ := slices.BinarySearchFunc(p.names, name, func(a, b string) int { return cmp.Compare(kind.order[a], kind.order[b]) })
	p.names, p.steps = slices.Insert(p.names, at, name), slices.Insert(p.steps, at, step)
}

// editProperties writes the edits of elements that have no properties in the template.
func (c *compiler) editProperties() {
	for _, p := range c.newProps {
		pos, end := p.node.OpenEnd, p.node.OpenEnd
		if void := p.node.Child("w:" + p.kind.element); void != nil {
			pos, end = void.Start, void.End
		}
		c.add(edit{pos: pos, end: end, rank: rankProperties, action: p})
	}
}

func (p *newProperties) apply(a *assembler, _ *edit) bool {
	name := p.node.Prefix(a.c.src) + p.kind.element
	a.insert("<" + name + ">")
	for _, step := range p.steps {
		a.emit(step)
	}
	a.insert("</" + name + ">")
	return true
}
