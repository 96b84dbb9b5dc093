package compile

import (
	"slices"
	"strings"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
)

// The filter shade colors the cell, the row, or the paragraph of its tag (w:shd, ISO 29500-1 §17.4.32 and §17.3.1.31). The filter style
// sets the style of its paragraph (w:pStyle, §17.3.1.27) if it names a paragraph style.

// appearance is what the tags of a part set: for each cell or paragraph, the tags of its shading and of its style.
type appearance struct {
	*compiler
	order  []*wml.Node
	shades map[*wml.Node][]*lang.Tag
	styles map[*wml.Node][]*lang.Tag
}

// editAppearance writes the edits of shading and of paragraph styles.
func (c *compiler) editAppearance() {
	a := appearance{c, nil, map[*wml.Node][]*lang.Tag{}, map[*wml.Node][]*lang.Tag{}}
	for _, m := range c.marks {
		if m.tag.Kind != lang.Print {
			continue
		}
		if target, ok := m.tag.Shades(); ok {
			a.shade(m, target)
		}
		if m.tag.Filter("style") != nil {
			a.style(m)
		}
		a.checkPlace(m)
	}
	for _, n := range a.order {
		if !c.isGone(n) {
			a.edit(n)
		}
	}
}

// checkPlace reports filters of controls and images in the text.
func (a *appearance) checkPlace(m *mark) {
	if m.tag.Filter("options") != nil {
		a.fail(m, "the filter options is only for content controls", "write the tag as the tag or title of a list control")
	}
	if m.tag.Filter("errorbars") != nil {
		a.fail(m, "the filter errorbars is only for charts", "write the tag as the alternative text of a chart")
	}
	image := []string{"image", "qrcode", "barcode"}
	if m.tag.Filter("rotate") != nil && !slices.ContainsFunc(image, func(name string) bool { return m.tag.Filter(name) != nil }) {
		a.fail(m, "the filter rotate is only for images and codes", "write image, qrcode, or barcode in front of it")
	}
}

// shade notes the shading of what is around a tag.
func (a *appearance) shade(m *mark, target string) {
	par, cell := m.par.node, m.par.node.Ancestor(wml.Named("w:tc"))
	if par.Name != "w:p" {
		a.fail(m, "nothing can be shaded here", "write the tag into a paragraph of the document")
		return
	}
	if cell == nil && (target == "cell" || target == "row") {
		a.fail(m, "the tag is not in a table, so there is no "+target+" to shade", `write shade("paragraph")`)
		return
	}
	switch {
	case target == "row":
		row := cell.Ancestor(wml.Named("w:tr"))
		if a.mayShade(m, row, "row") {
			for _, c := range a.cellsOf(row) {
				a.shades[c.node] = append([]*lang.Tag{m.tag}, a.note(c.node, a.shades)...) // cells prevail over rows
			}
		}
	case target == "paragraph" || cell == nil:
		if a.mayShade(m, par, "paragraph") {
			a.shades[par] = append(a.note(par, a.shades), m.tag)
		}
	default:
		if a.mayShade(m, cell, "cell") {
			a.shades[cell] = append(a.note(cell, a.shades), m.tag)
		}
	}
}

// style notes the style of the paragraph of a tag.
func (a *appearance) style(m *mark) {
	par := m.par.node
	l, isLiteral := m.tag.Filter("style").Args[0].(*lang.Literal)
	switch {
	case par.Name != "w:p", isLiteral && !a.hasStyle(l): // it is a character style, or the execution reports it
	case a.isWithin(m, par) == nil && !a.readsWithin(m, par):
		a.styles[par] = append(a.note(par, a.styles), m.tag)
		m.stylesPar = true
	case isLiteral:
		a.fail(m, "the tag sets the style of its paragraph and is in a block, or reads a variable, inside it",
			`write the condition into the filter, as in style("Warning", late), or put the block or the {{let}} around the whole paragraph`)
	}
}

// hasStyle reports whether a literal is the name of a paragraph style.
func (a *appearance) hasStyle(l *lang.Literal) bool {
	name, _ := l.Value.(string)
	for id := range a.template.styles {
		if s := a.template.styles[id]; s.Kind == "paragraph" && strings.EqualFold(s.Name, name) {
			return true
		}
	}
	return false
}

// note returns the tags of a node so far, and remembers the order of the nodes.
func (a *appearance) note(n *wml.Node, tags map[*wml.Node][]*lang.Tag) []*lang.Tag {
	if a.shades[n] == nil && a.styles[n] == nil {
		a.order = append(a.order, n)
	}
	return tags[n]
}

// mayShade reports whether the value of a tag is known where a node begins. Otherwise, it reports an error.
func (a *appearance) mayShade(m *mark, n *wml.Node, name string) bool {
	if a.readsWithin(m, n) {
		a.fail(m, "the tag shades the "+name+" with a variable that is set inside it", "put the {{let}} above the "+name)
		return false
	}
	b := a.isWithin(m, n)
	if b == nil {
		return true
	}
	hint := "put the block around the whole " + name
	if !b.isLoop() {
		hint = `write the condition into the filter, as in shade("` + name + `", late)`
	}
	a.fail(m, "the tag shades the "+name+" and is in a block inside it", hint)
	return false
}

// readsWithin reports whether a tag reads a variable that is set inside a node.
func (a *appearance) readsWithin(m *mark, n *wml.Node) bool {
	return slices.ContainsFunc(a.marks, func(l *mark) bool {
		return l.tag.Kind == lang.Let && l.order < m.order && m.tag.Reads(l.tag.Var) && n.Start < a.placeOfLet(l) && l.start() < n.End
	})
}

// isWithin returns a block that is inside a node and contains a tag, or nil.
func (a *appearance) isWithin(m *mark, n *wml.Node) *block {
	at := m.start()
	i := slices.IndexFunc(a.blocks, func(b *block) bool {
		if b.level == tableColumns || b.perRow {
			return b.openAt > n.Start && b.closeAt < n.End && b.openAt <= at && at < b.closeAt
		}
		return b.openAt > n.Start && b.openAt <= at && at < b.closeAt
	})
	if i < 0 {
		return nil
	}
	return a.blocks[i]
}

// edit writes the edits of a cell or paragraph.
func (a *appearance) edit(n *wml.Node) {
	prefix, kind := n.Prefix(a.src), paragraphProperties
	if n.Name == "w:tc" {
		kind = cellProperties
	}
	if tags := a.styles[n]; tags != nil {
		a.setProperty(n, kind, "pStyle", func(original []byte) program.Step {
			return &program.ParagraphStyle{Tags: tags, Prefix: prefix, Original: original}
		})
	}
	if tags := a.shades[n]; tags != nil {
		a.setProperty(n, kind, "shd", func(original []byte) program.Step {
			return &program.Shading{Tags: tags, Prefix: prefix, Original: original}
		})
	}
}
