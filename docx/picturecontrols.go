package docx

import "slices"

// A picture content control (ISO 29500-1 §17.5.2.24) whose tag or title is a value's tag is a placeholder like a picture with
// the tag as its alt text.

// findPictureControl makes the picture in a content control a placeholder.
func (c *compiler) findPictureControl(sdt *node, text string) {
	drawings := drawingsIn(sdt.child("w:sdtContent"))
	if len(drawings) != 1 || isChart(drawings[0]) {
		c.warnings = append(c.warnings, "The content control '"+text+"' has no picture of its own that its value could take the place of; it stays as it is.")
		return
	}
	if slices.ContainsFunc(c.placeholders, func(h *placeholder) bool { return h.drawing == drawings[0] }) {
		return // its alt text has a tag, which is the nearer one
	}
	if a := c.asideIn(sdt, text, "content control"); a != nil {
		c.asides = append(c.asides, a)
		c.placeholders = append(c.placeholders, &placeholder{mark: a.mark, drawing: drawings[0], control: sdt})
	}
}

// noPicture is the picture of a content control that is to show none.
var noPicture = new(shownPicture)

// editPictureControl writes the edits around the picture of a content control.
func (c *compiler) editPictureControl(h *placeholder) {
	d := h.drawing
	c.add(edit{pos: d.start, end: d.start, phase: phaseGuard, kind: editShown})
	c.add(edit{pos: d.end, end: d.end, phase: phaseGuardEnd, kind: editGuardEnd})
	props := h.control.child("w:sdtPr")
	for _, n := range c.spentProperties(props) {
		c.add(edit{pos: n.start, end: n.end, phase: phaseReplace, kind: editPicturePart, slot: pictureAlt})
	}
}
