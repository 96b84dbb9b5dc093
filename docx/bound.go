package docx

// editBound frees the content controls whose content holds tags from what would put other text in place of the values: Word
// and LibreOffice fill a control that is bound to data of the document, such as its title, anew when they open it, and take
// what a control shows as its placeholder for no content (ISO 29500-1 §17.5.2.6, §17.5.2.39).
func (c *compiler) editBound() {
	seen := map[*node]bool{}
	for _, m := range c.marks {
		for n := m.par.node.parent; n != nil; n = n.parent {
			c.free(n, seen)
		}
		for n := m.first.node; n != nil && n != m.par.node; n = n.parent {
			c.free(n, seen)
		}
	}
}

func (c *compiler) free(sdt *node, seen map[*node]bool) {
	if sdt.name != "w:sdt" || seen[sdt] {
		return
	}
	seen[sdt] = true
	for _, name := range []string{"w:dataBinding", "w:showingPlcHdr"} {
		if n := sdt.child("w:sdtPr").child(name); n != nil {
			c.replace(n.start, n.end, editDelete)
		}
	}
}
