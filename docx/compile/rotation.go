package compile

import "platen/docx/program"

// editRotation writes the edits of a placeholder in DrawingML whose tag has the filter rotate.
func (c *pictures) editRotation(h *placeholder) {
	if h.mark.tag.Filter("rotate") == nil {
		return
	}
	frames := h.drawing.All("a:xfrm")
	if len(frames) == 0 {
		c.warnAside(h.drawing, h.mark.tag.Text, altOf(h.drawing), "The image of '"+h.mark.tag.Text+
			"' cannot be rotated, because its drawing has no frame; insert it again in Word.")
		return
	}
	for _, frame := range frames {
		pos, end := frame.Start+1+len(frame.RawName(c.src)), 0
		if rot := frame.Attr("rot"); rot != nil {
			pos, end = rot.Start, rot.End
		}
		c.rotation(pos, max(pos, end), &program.Rotation{})
	}
	for _, extent := range h.drawing.All("wp:extent") {
		pos, end := extent.End, extent.End
		if effect := extent.Parent.Child("wp:effectExtent"); effect != nil {
			pos, end = effect.Start, effect.End
		}
		c.rotation(pos, end, &program.Rotation{Extent: true, Prefix: extent.Prefix(c.src)})
	}
}

// rotation has a stretch of a drawing follow the rotation of the image.
func (c *pictures) rotation(pos, end int, step *program.Rotation) {
	step.Text = c.copy(pos, end)
	c.replace(pos, end, step)
}
