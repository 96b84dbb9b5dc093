package compile

import (
	"slices"
	"sort"
	"strings"

	"platen/docx/wml"
	"platen/ooxml/scan"
)

// A complex field (ISO 29500-1 §17.16.18) consists of marks among the runs: for its beginning, for the beginning of its result, and for its
// end, possibly in a later paragraph. A block that contains only some of them would leave or repeat a part of a field, and Word and
// LibreOffice would lose the text after it. All borders of a block must therefore be in the same part of the same fields.

// fieldPart is the source from a mark of a field on, up to the next mark.
type fieldPart struct {
	pos   int
	field *field // the innermost one; nil in none
	depth int    // of fields in fields
	part  int    // identifies the part of the field
}

// field is a field with its marks.
type field struct {
	begin, separate, end *wml.Node // separate is nil if the field has no result
	code                 string
}

// maxFieldName is the number of characters of a field's code that a problem shows.
const maxFieldName = 40

// stories are the elements whose fields are their own: none leads out of one.
var stories = map[string]bool{"w:txbxContent": true, "w:footnote": true, "w:endnote": true, "mc:Choice": true, "mc:Fallback": true}

// checkFields reports the blocks that would part a field.
func (c *compiler) checkFields() {
	if len(c.blocks) == 0 {
		return
	}
	parts := fieldParts(c.findFields(c.root, nil, new([]*field)))
	if len(parts) == 0 {
		return
	}
	first, failed := map[*block]*border{}, map[*block]bool{}
	for i := range c.edits {
		b, isBorder := c.edits[i].action.(*border)
		if !isBorder || failed[b.block] {
			continue
		}
		open := first[b.block]
		if open == nil {
			first[b.block] = b
			continue
		}
		from, to := partAt(parts, open.pos), partAt(parts, b.pos)
		if from.part != to.part {
			failed[b.block] = true
			c.failField(open, b, from, to)
		}
	}
}

// failField reports the tag that is inside a field that its block would split.
func (c *compiler) failField(open, other *border, from, to fieldPart) {
	m, f := other.mark, to.field
	if from.depth > to.depth || f == nil {
		m, f = open.mark, from.field
	}
	c.fail(m, "this begins or ends a block inside the field '"+f.name()+"' that the block does not contain completely", hints[inline])
}

// findFields collects the fields in n that have an end. open are those that have begun in the same story.
func (c *compiler) findFields(n *wml.Node, found []*field, open *[]*field) []*field {
	if stories[n.Name] {
		open = new([]*field)
	}
	for _, child := range n.Children {
		found = c.findFields(child, found, open)
	}
	innermost := len(*open) - 1
	switch n.Name {
	case "w:instrText":
		if innermost >= 0 && (*open)[innermost].separate == nil && len((*open)[innermost].code) < maxFieldName {
			(*open)[innermost].code += scan.Text(c.src[n.OpenEnd:n.CloseStart])
		}
	case "w:fldChar":
		switch kind := wml.AttrValue(c.src, n, "w:fldCharType"); {
		case kind == "begin":
			*open = append(*open, &field{begin: n})
		case innermost < 0: // the template has it wrong
		case kind == "separate" && (*open)[innermost].separate == nil:
			(*open)[innermost].separate = n
		case kind == "end":
			f := (*open)[innermost]
			f.end, *open = n, (*open)[:innermost]
			found = append(found, f)
		}
	}
	return found
}

// fieldParts parts the source at the marks of fields.
func fieldParts(fields []*field) []fieldPart {
	var parts []fieldPart
	for _, f := range fields {
		for _, mark := range []*wml.Node{f.begin, f.separate, f.end} {
			if mark != nil {
				parts = append(parts, fieldPart{pos: mark.Start, field: f})
			}
		}
	}
	slices.SortFunc(parts, func(a, b fieldPart) int { return a.pos - b.pos })
	var around []fieldPart
	var at fieldPart
	for i := range parts {
		p := &parts[i]
		switch p.pos {
		case p.field.begin.Start:
			around = append(around, at)
			p.depth, p.part = len(around), i+1
		case p.field.end.Start:
			outer := around[len(around)-1]
			around = around[:len(around)-1]
			p.field, p.depth, p.part = outer.field, outer.depth, outer.part
		default:
			p.depth, p.part = len(around), i+1
		}
		at = *p
	}
	return parts
}

// partAt returns the part of a field that a place in the source is in.
func partAt(parts []fieldPart, pos int) fieldPart {
	i := sort.Search(len(parts), func(i int) bool { return parts[i].pos >= pos })
	if i == 0 {
		return fieldPart{}
	}
	return parts[i-1]
}

// name is the field's code as people know it, cut short.
func (f *field) name() string {
	name := []rune(strings.Join(strings.Fields(f.code), " "))
	if len(name) > maxFieldName {
		return string(name[:maxFieldName]) + "…"
	}
	return string(name)
}
