package compile

import (
	"cmp"
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
)

// The sections that a loop repeats share their headers and footers (ISO 29500-1 §17.10), unless a tag in one of these reads a variable of
// the loop. Then each round gets a separate header or footer.

// boundHeader is a header or footer of a section within a loop.
type boundHeader struct {
	references []headerReference // that are within loops
	blocks     []*lang.Tag       // the tags of loops and conditions that are open around the first of them
	header     *program.Header
}

// headerReference is where a section has a header or footer.
type headerReference struct {
	node   *wml.Node
	header *program.Header
}

// step returns the step that writes the id of the reference.
func (r headerReference) step(c *compiler, id *wml.Attr) *program.HeaderReference {
	return &program.HeaderReference{Text: c.copy(id.ValueStart, id.ValueEnd), Header: r.header}
}

// headerReferences are the elements in a section that refer to headers and footers, with the types of their relationships.
var headerReferences = map[string]string{"w:headerReference": names.RelHeader, "w:footerReference": names.RelFooter}

// findHeaders finds the headers and footers of sections within loops.
func (c *compiler) findHeaders() {
	if !c.isMain || !slices.ContainsFunc(c.blocks, (*block).isLoop) {
		return
	}
	for name, relType := range headerReferences {
		for _, n := range c.root.All(name) {
			i := slices.IndexFunc(c.rels, func(r ooxml.Relationship) bool {
				return r.Type == relType && !r.External && r.ID == wml.AttrValue(c.src, n, "r:id")
			})
			if i < 0 || c.pkg.Part(c.rels[i].Target) == nil {
				continue
			}
			part := c.pkg.Part(c.rels[i].Target)
			bound := c.headers[part.Name]
			if bound == nil {
				bound = &boundHeader{header: &program.Header{Part: part, RelType: relType}}
				c.headers[part.Name] = bound
			}
			if c.isRepeated(n) {
				bound.references = append(bound.references, headerReference{n, bound.header})
			} else {
				bound.header.Shared = true
			}
		}
	}
}

// isRepeated reports whether a section's reference is within a loop.
func (c *compiler) isRepeated(n *wml.Node) bool {
	return slices.ContainsFunc(c.blocks, func(b *block) bool { return b.isLoop() && b.openAt <= n.Start && n.End <= b.closeAt })
}

// ofRounds returns the header or footer of the part if it is written for each round of a loop, or else nil.
func (c *compiler) ofRounds() *boundHeader {
	bound := c.headers[c.part]
	if bound == nil || !slices.ContainsFunc(bound.blocks, c.isRead) {
		return nil
	}
	return bound
}

// isRead reports whether a tag of the part reads a variable of a loop.
func (c *compiler) isRead(loop *lang.Tag) bool {
	reads := func(t *lang.Tag) bool { return t.Reads(loop.Var) || t.Reads("loop") }
	return loop.Kind.IsLoop() && (slices.ContainsFunc(c.marks, func(m *mark) bool { return reads(m.tag) }) ||
		slices.ContainsFunc(c.asides, func(a *aside) bool { return reads(a.mark.tag) }))
}

// editHeaders writes the edits of the references within loops.
func (c *compiler) editHeaders() {
	if !c.isMain {
		return
	}
	for _, bound := range c.headers {
		for _, ref := range bound.references {
			id := ref.node.Attr("r:id")
			c.replace(id.ValueStart, id.ValueEnd, ref.step(c, id))
		}
	}
}

// repeatedHeaders returns the references within loops in the properties of a section, in the order of the source.
func (c *compiler) repeatedHeaders(section *wml.Node) []headerReference {
	var all []headerReference
	for _, bound := range c.headers {
		for _, ref := range bound.references {
			if c.isMain && ref.node.Parent == section {
				all = append(all, ref)
			}
		}
	}
	slices.SortFunc(all, func(a, b headerReference) int { return cmp.Compare(a.node.Start, b.node.Start) })
	return all
}
