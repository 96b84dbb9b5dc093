package compile

import (
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
)

// isChart reports whether a drawing is a chart and nothing else.
func isChart(drawing *wml.Node) bool {
	charts := drawing.All("c:chart")
	return len(charts) == 1 && charts[0].Attr("r:id") != nil && len(drawing.All("w:txbxContent")) == 0
}

// bind finds the part of the chart for a tag. If there is none, it reports that and returns false.
func (c *pictures) bind(h *placeholder) bool {
	id := wml.AttrValue(c.src, h.drawing.All("c:chart")[0], "r:id")
	i := slices.IndexFunc(c.rels, func(r ooxml.Relationship) bool { return r.ID == id && r.Type == names.RelChart && !r.External })
	if i < 0 || c.pkg.Part(c.rels[i].Target) == nil {
		c.failAside(&aside{mark: h.mark, place: altOf(h.drawing)}, h.mark.tag.Text,
			&lang.SyntaxError{Message: "the chart itself is missing from the file", Hint: "insert it again"})
		return false
	}
	part := c.pkg.Part(c.rels[i].Target)
	if h.chart = c.charts[part.Name]; h.chart == nil {
		h.chart = &program.Chart{Part: part}
		c.charts[part.Name] = h.chart
	}
	h.chart.Shown++
	return true
}
