package compile

import (
	"slices"

	"platen/docx/lang"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/names"
)

// chartIn returns the element that refers to the chart of a drawing, or nil if the drawing is not a chart and nothing else. It is a
// cx:chart for the types of charts that Word 2016 added ([MS-ODRAWXML] §2.24.3.11).
func chartIn(drawing *wml.Node) *wml.Node {
	charts := append(drawing.All("c:chart"), drawing.All("cx:chart")...)
	if len(charts) != 1 || charts[0].Attr("r:id") == nil || len(drawing.All("w:txbxContent")) > 0 {
		return nil
	}
	return charts[0]
}

func isChart(drawing *wml.Node) bool { return chartIn(drawing) != nil }

// bind finds the part of the chart for a tag. If there is none, it reports that and returns false.
func (c *pictures) bind(h *placeholder) bool {
	ref := chartIn(h.drawing)
	id := wml.AttrValue(c.src, ref, "r:id")
	i := slices.IndexFunc(c.rels, func(r ooxml.Relationship) bool {
		return r.ID == id && (r.Type == names.RelChart || r.Type == names.RelExtendedChart) && !r.External
	})
	if i < 0 || c.pkg.Part(c.rels[i].Target) == nil {
		c.failAside(&aside{mark: h.mark, place: altOf(h.drawing)}, h.mark.tag.Text,
			&lang.SyntaxError{Message: "the chart itself is missing from the file", Hint: "insert it again"})
		return false
	}
	part := c.pkg.Part(c.rels[i].Target)
	if h.chart = c.charts[part.Name]; h.chart == nil {
		src, err := c.pkg.Read(part) // compiling the part reports errors
		h.chart = &program.Chart{Part: part, Rel: c.rels[i].Type, HasPlaces: err == nil && program.HasPlaces(src)}
		c.charts[part.Name] = h.chart
	}
	if h.chart.HasPlaces {
		h.mark.tag.TakesPlaces()
	}
	h.chart.Shown++
	if ref.Name == "cx:chart" {
		c.warnAside(h.drawing, h.mark.tag.Text, altOf(h.drawing), "The chart of '"+h.mark.tag.Text+
			"' is of a type that only Word 2016 and newer show. It is missing in PDFs and in other programs.")
	}
	return true
}

// fallbackOf returns the content that other programs show instead of a chart that only Word 2016 and newer know, or nil.
func fallbackOf(drawing *wml.Node) *wml.Node {
	choice := drawing.Ancestor(wml.Named("mc:Choice"))
	if ref := chartIn(drawing); choice == nil || ref == nil || ref.Name != "cx:chart" {
		return nil
	}
	return choice.Parent.Child("mc:Fallback")
}

// isFallback reports whether a node is the fallback of a chart that takes data.
func (c *pictures) isFallback(n *wml.Node) bool {
	return n.Name == "mc:Fallback" && slices.ContainsFunc(c.placeholders, func(h *placeholder) bool { return fallbackOf(h.drawing) == n })
}

// editFallback removes the picture of a chart for other programs, because it has the values of the template.
func (c *pictures) editFallback(drawing *wml.Node) {
	if fallback := fallbackOf(drawing); fallback != nil && !fallback.Void() {
		c.remove(fallback.OpenEnd, fallback.CloseStart)
	}
}
