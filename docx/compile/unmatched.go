package compile

import "slices"

// strays notes a tag that ends no open block.
func (m *matcher) strays(at *mark) {
	within := m.columns
	if len(m.open) > 0 {
		within = m.open[len(m.open)-1].block
	}
	m.stray = append(m.stray, closing{at, within})
}

// reportUnmatched reports the tags that end no open block, and the blocks that are never closed. If a tag was meant to close a block but
// has the wrong name, these are one mistake, and it reports that once, with both tags.
func (m *matcher) reportUnmatched() {
	unclosed := m.crossed
	for _, b := range m.open {
		unclosed = append(unclosed, crossing{block: b.block})
	}
	if m.columns != nil {
		unclosed = append(unclosed, crossing{block: m.columns})
	}
	slices.SortFunc(unclosed, func(a, b crossing) int { return a.open().order - b.open().order })
	for _, at := range m.stray {
		// The blocks that are open at a tag are among those that begin before it. The last of these is the innermost.
		i, _ := slices.BinarySearchFunc(unclosed, at.order, func(b crossing, order int) int { return b.open().order - order })
		if i == 0 {
			m.c.fail(at.mark, "this closes a block that is not open", "delete it, or add the tag that opens the block before it")
			continue
		}
		m.wrongCloser(at, unclosed[i-1])
		unclosed = slices.Delete(unclosed, i-1, i)
	}
	for _, b := range unclosed {
		m.c.fail(b.open(), "this block is never closed", "add "+closerOf(b.open())+" where it ends")
	}
}

// wrongCloser reports that a block was not closed, because a tag of another kind is in place of the one that closes it.
func (m *matcher) wrongCloser(stray closing, unclosed crossing) {
	at, open := stray.mark, unclosed.open()
	switch within := stray.within; {
	case unclosed.end != nil && unclosed.end.tag.Kind == at.tag.Kind: // the tag at fault has closed the block around
		at = unclosed.end
	case within != nil && closers[within.open().tag.Kind] == closers[open.tag.Kind]: // its own closer has closed the block around
		open = within.open()
	}
	begins := open.tag.Text
	if place := m.c.locate(open.par.node); place != m.c.locate(at.par.node) {
		begins += " (" + place + ")"
	}
	m.c.fail(at, at.tag.Text+" cannot close "+begins, "write "+closerOf(open)+" instead, or correct the tag that opens the block")
}

// closerOf returns the tag that closes a block.
func closerOf(open *mark) string { return "{{" + closers[open.tag.Kind].String() + "}}" }
