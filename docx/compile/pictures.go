package compile

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"platen/docx/lang"
	"platen/docx/picture"
	"platen/docx/program"
	"platen/docx/wml"
	"platen/ooxml/scan"
)

// A picture of the template whose alt text contains a tag is a placeholder: the picture of the data replaces it, with the same position,
// effects and, as far as its proportions allow, size. A value with the filter image, qrcode, or barcode becomes a
// picture in the line of its tag.

// pictures are the placeholders of one part.
type pictures struct {
	*compiler
	placeholders []*placeholder
}

// placeholder is a picture of the template that the data replaces.
type placeholder struct {
	mark    *mark
	drawing *wml.Node
	alt     []*wml.Attr    // the alt texts with the tag
	chart   *program.Chart // nil: it is a picture
	control *wml.Node      // the content control whose name contains the tag; nil if an alt text does
	step    *program.Placeholder
}

// pictureHolders are the elements of a run that contain images.
var pictureHolders = []string{"w:drawing", "mc:AlternateContent", "w:pict"}

// find finds the pictures whose alt text is a tag.
func (c *pictures) find() {
	for _, p := range c.pars {
		for i := range p.pieces {
			if piece := &p.pieces[i]; slices.Contains(pictureHolders, piece.node.Name) {
				for _, drawing := range drawingsIn(piece.node) {
					c.findPlaceholder(p, piece, drawing)
				}
			}
		}
	}
}

// drawingsIn returns the drawings at or in a node that are one picture or chart, and of groups each picture.
func drawingsIn(n *wml.Node) []*wml.Node {
	switch {
	case n.Name == "w:drawing" && (isOnePicture(n) || isChart(n)), n.Name == "w:pict" && isOneVMLPicture(n):
		return []*wml.Node{n}
	case n.Name == "pic:pic":
		if len(n.All("a:blip")) == 1 {
			return []*wml.Node{n}
		}
		return nil
	case n.Name == "w:txbxContent": // whose paragraphs are looked through on their own
		return nil
	}
	var all []*wml.Node
	for _, child := range n.Children {
		all = append(all, drawingsIn(child)...)
	}
	return all
}

// isOnePicture reports whether a drawing is nothing but one picture, or a shape that is filled with one.
func isOnePicture(drawing *wml.Node) bool {
	pictures := drawing.All("pic:pic")
	if len(pictures) == 1 && pictures[0].Parent.Name != "a:graphicData" || len(pictures) > 1 {
		return false
	}
	return len(drawing.All("a:blip")) == 1 && len(drawing.All("a:xfrm")) <= 1 && len(drawing.All("w:txbxContent")) == 0
}

func (c *pictures) findPlaceholder(p *paragraph, piece *piece, drawing *wml.Node) {
	var found *placeholder
	for _, n := range slices.Concat(drawing.All("wp:docPr"), drawing.All("pic:cNvPr"), drawing.All("v:shape")) {
		for _, name := range []string{"descr", "title", "alt"} {
			alt := n.Attr(name)
			if alt == nil {
				continue
			}
			text := strings.TrimSpace(scan.Text(c.src[alt.ValueStart:alt.ValueEnd]))
			if spans, _ := lang.Find(text); len(spans) != 1 || spans[0] != (lang.Span{Start: 0, End: len(text)}) {
				continue
			}
			if found == nil {
				found = c.placeholder(p, piece, drawing, text)
			}
			if found != nil && found.mark.tag.Text == text {
				found.alt = append(found.alt, alt)
			}
		}
	}
	if found == nil {
		return
	}
	if isChart(drawing) && !c.bind(found) {
		return
	}
	c.placeholders = append(c.placeholders, found)
	a := &aside{mark: found.mark, pos: drawing.Start, place: altOf(drawing), alt: found.alt}
	if found.chart != nil {
		a.isWithin = found.chart.SetBlocks
	} else {
		a.reads, a.kind = (*lang.Use).AddPicture, "image"
	}
	c.asides = append(c.asides, a)
}

// altOf names the place of a drawing's alt text.
func altOf(drawing *wml.Node) string {
	if isChart(drawing) {
		return "alt text of a chart"
	}
	return "alt text of a picture"
}

// placeholder parses the tag of an alt text. It returns nil if the tag is not allowed for images.
func (c *pictures) placeholder(p *paragraph, piece *piece, drawing *wml.Node, text string) *placeholder {
	tag, err := lang.ParseTag(strings.Clone(text))
	m := &mark{tag: tag, par: p, from: piece.from, to: piece.to, first: piece, last: piece}
	if err != nil {
		c.failAside(&aside{mark: m, place: altOf(drawing)}, text, err)
	}
	if err != nil || tag.Kind != lang.Print || (tag.Filter("chart") != nil) != isChart(drawing) {
		return nil
	}
	return &placeholder{mark: m, drawing: drawing}
}

// edit writes the edits of the placeholders.
func (c *pictures) edit() {
	for _, h := range c.placeholders {
		if !c.isGone(h.mark.par.node) {
			c.editPlaceholder(h)
		}
	}
}

func (c *pictures) editPlaceholder(h *placeholder) {
	d, around := h.drawing, h.drawing
	if h.control != nil {
		around = h.control
		c.editControl(h)
	}
	if h.chart == nil {
		h.step = c.describe(h)
	}
	c.hold(around.Start, around.End, yields, held(func(body []program.Step) program.Step {
		if h.chart != nil {
			return &program.ChartDrawing{Tag: h.mark.tag, Chart: h.chart, Body: body}
		}
		return &program.PictureDrawing{Tag: h.mark.tag, Placeholder: h.step, Body: body}
	}))
	for _, alt := range h.alt {
		c.part(alt.ValueStart, alt.ValueEnd, program.PictureAlt)
	}
	switch {
	case h.chart != nil:
		id := chartIn(d).Attr("r:id")
		c.part(id.ValueStart, id.ValueEnd, program.PictureChart)
		c.editFallback(d)
	case d.Name == "w:pict":
		c.editVML(h)
	default:
		c.editDrawing(h)
	}
}

// isPlaceholder reports whether an alt text is the tag of a placeholder.
func (c *pictures) isPlaceholder(alt *wml.Attr) bool {
	return slices.ContainsFunc(c.placeholders, func(h *placeholder) bool { return slices.Contains(h.alt, alt) })
}

// editDrawing writes the edits of a picture in DrawingML.
func (c *pictures) editDrawing(h *placeholder) {
	d := h.drawing
	for _, size := range append(d.All("wp:extent"), d.All("a:xfrm")...) {
		if size.Name == "a:xfrm" {
			size = size.Child("a:ext")
		}
		c.editNumber(size, "cx", program.PictureWidth)
		c.editNumber(size, "cy", program.PictureHeight)
	}
	c.editRotation(h)
	c.editPosition(h)
	blip := d.All("a:blip")[0]
	end := blip.End
	if crop := blip.Parent.Child("a:srcRect"); crop != nil && crop.Start >= blip.End {
		end = crop.End
	}
	c.partOf(h.step, blip.Start, end, program.PictureBlip)
}

// editNumber has an attribute of an element, which may be nil, follow the picture.
func (c *pictures) editNumber(n *wml.Node, name string, part program.PicturePartKind) {
	if a := n.Attr(name); a != nil {
		c.part(a.ValueStart, a.ValueEnd, part)
	}
}

// editPosition keeps an image with a fixed position on the page, or in a group, in the middle of its box.
func (c *pictures) editPosition(h *placeholder) {
	if h.drawing.Name == "pic:pic" {
		for _, xfrm := range h.drawing.All("a:xfrm") {
			c.editNumber(xfrm.Child("a:off"), "x", program.PictureX)
			c.editNumber(xfrm.Child("a:off"), "y", program.PictureY)
		}
		return
	}
	for name, part := range map[string]program.PicturePartKind{"wp:positionH": program.PictureX, "wp:positionV": program.PictureY} {
		for _, position := range h.drawing.All(name) {
			if offset := position.Child("wp:posOffset"); offset != nil {
				c.part(offset.OpenEnd, offset.CloseStart, part)
			}
		}
	}
}

// describe describes a placeholder to the steps that fill it.
func (c *pictures) describe(h *placeholder) *program.Placeholder {
	o := &program.Placeholder{Emptied: h.control != nil && h.control.Parent.Name != "w:p"}
	if h.drawing.Name == "w:pict" {
		o.Width, o.Height = vmlSize(wml.AttrValue(c.src, h.drawing.All("v:shape")[0], "style"))
		o.Prefix = h.drawing.All("v:imagedata")[0].Prefix(c.src)
		return o
	}
	extents := h.drawing.All("wp:extent")
	for _, xfrm := range h.drawing.All("a:xfrm") { // the box of a picture in a group
		extents = append(extents, xfrm.Child("a:ext"))
	}
	if len(extents) > 0 && extents[0] != nil {
		o.Width = picture.EMU(wml.IDNumber(wml.AttrValue(c.src, extents[0], "cx")))
		o.Height = picture.EMU(wml.IDNumber(wml.AttrValue(c.src, extents[0], "cy")))
	}
	blip := h.drawing.All("a:blip")[0]
	o.Prefix = blip.Prefix(c.src)
	for _, child := range blip.Children {
		if child.Name != "a:extLst" { // where a drawing of the template would be, among others
			o.Children = append(o.Children, c.src[child.Start:child.End]...)
		}
	}
	return o
}

// Pictures in VML (ISO 29500-4 §14), which Word wrote before 2007 and still writes for old documents and as the fallback of
// newer drawings: a v:shape with the alt text and, in its style, the size, around a v:imagedata.

// isOneVMLPicture reports whether a w:pict is nothing but one picture.
func isOneVMLPicture(pict *wml.Node) bool {
	return len(pict.All("v:imagedata")) == 1 && len(pict.All("v:shape")) == 1 && len(pict.All("w:txbxContent")) == 0
}

// editVML writes the edits of a picture in VML.
func (c *pictures) editVML(h *placeholder) {
	if style := h.drawing.All("v:shape")[0].Attr("style"); style != nil {
		c.part(style.ValueStart, style.ValueEnd, program.PictureStyle)
	}
	data := h.drawing.All("v:imagedata")[0]
	c.partOf(h.step, data.Start, data.End, program.PictureData)
}

// vmlUnits are the units of lengths in styles of VML, in EMU (ISO 29500-4 §14.1.2.23); those without one are pixels.
var vmlUnits = map[string]float64{"pt": 12_700, "in": 914_400, "cm": 360_000, "mm": 36_000, "pc": 152_400, "px": 9_525, "": 9_525}

// vmlSize returns the size in a style; 0 if it does not say.
func vmlSize(style string) (width, height picture.EMU) {
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "width":
			width = vmlLength(value)
		case "height":
			height = vmlLength(value)
		}
	}
	return width, height
}

func vmlLength(s string) picture.EMU {
	s = strings.ToLower(strings.TrimSpace(s))
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz%")
	x, err := strconv.ParseFloat(digits, 64)
	unit, ok := vmlUnits[s[len(digits):]]
	if err != nil || !ok || !(x > 0 && x*unit <= float64(picture.MaxExtent)) {
		return 0
	}
	return picture.EMU(math.Round(x * unit))
}

// findInControl makes the picture in a content control (ISO 29500-1 §17.5.2.24) a placeholder, like a picture whose alt text is
// the tag: the control's own tag or title is a value's tag.
func (c *pictures) findInControl(sdt *wml.Node, text string) {
	drawings := drawingsIn(sdt.Child("w:sdtContent"))
	if len(drawings) != 1 || isChart(drawings[0]) {
		c.warnAside(sdt, text, "content control",
			"The content control '"+text+"' contains no picture that its value could replace; it stays unchanged.")
		return
	}
	if slices.ContainsFunc(c.placeholders, func(h *placeholder) bool { return h.drawing == drawings[0] }) {
		return // its alt text has a tag, which is the nearer one
	}
	if a := c.asideIn(sdt, text, "content control"); a != nil {
		a.reads, a.kind = (*lang.Use).AddPicture, "image"
		c.asides = append(c.asides, a)
		c.placeholders = append(c.placeholders, &placeholder{mark: a.mark, drawing: drawings[0], control: sdt})
	}
}

// editControl writes the edits around the picture of a content control.
func (c *pictures) editControl(h *placeholder) {
	d := h.drawing
	c.hold(d.Start, d.End, yields, held(func(body []program.Step) program.Step { return &program.ContentPicture{Body: body} }))
	for _, n := range c.spentProperties(h.control.Child("w:sdtPr")) {
		c.part(n.Start, n.End, program.PictureAlt)
	}
}

// part has a stretch of a drawing follow the picture.
func (c *pictures) part(pos, end int, kind program.PicturePartKind) { c.partOf(nil, pos, end, kind) }

// partOf is part for what depends on the placeholder.
func (c *pictures) partOf(p *program.Placeholder, pos, end int, kind program.PicturePartKind) {
	c.replace(pos, end, &program.PicturePart{Part: kind, Text: c.copy(pos, end), Placeholder: p})
}
