package compile

import (
	"platen/docx/lang"
	"platen/docx/program"
)

// Variables: a tag such as {{let x = 1}} leaves nothing in the document, and its value is known until the block around it ends.

// placeLets decides where the values of variables are computed.
func (c *compiler) placeLets() {
	for _, m := range c.marks {
		if m.tag.Kind == lang.Let {
			m.border = c.placeOfLet(m)
		}
	}
}

// editLets adds the steps that compute variables.
func (c *compiler) editLets() {
	for _, m := range c.marks {
		if m.tag.Kind == lang.Let {
			c.add(edit{pos: m.border, end: m.border, rank: rankBorder, order: m.order, action: always{&program.Let{Tag: m.tag}}})
		}
	}
}

// placeOfLet returns the position of the step of a variable. It is where the border of a block would be, so that variables and blocks
// follow each other as their tags do.
func (c *compiler) placeOfLet(m *mark) int {
	gone := m.par.node
	for n := gone; n != nil; n = n.Parent {
		if c.gone[n] {
			gone = n
		}
	}
	if c.gone[gone] {
		return gone.Start
	}
	at := m.par.node
	for _, b := range c.blocks { // inner before outer
		if b.level == inline && b.open().par == m.par && b.open().order < m.order && m.order < b.close().order {
			at = b.at
			break
		}
	}
	b, _ := c.split(m, at)
	return b.pos
}

// always writes a step even if the source around it is deleted.
type always struct{ step program.Step }

func (s always) apply(a *assembler, _ *edit) bool {
	a.emit(s.step)
	return true
}
