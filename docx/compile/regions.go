package compile

// region is a part of the source that may be left out or repeated: a block, a note that is written together with its
// reference, or an element that vanishes if it is empty.
type region struct {
	from, to int
	loop     bool
	fixed    bool // all of it may be replaced, so whether its content is written is unknown

	behind []*half // ends of ranges that are written after it if they have not been written within it
	ranges []int   // slots of the ranges with only one end in it
	once   []int   // slots of texts in it that are written once
}

// branch is a part of a region that is written as a whole: all of the region, or one branch of a condition.
type branch struct {
	*region
	around  *branch // nil if the region is in no other
	depth   int
	repeats *region // the innermost loop around, or nil
}

// branchStart is a position in the source where a branch begins, or where no branch does.
type branchStart struct {
	pos int
	at  *branch
}

// findRegions visits the edits in the order of the assembler. The result is sorted by position.
func (c *compiler) findRegions() []branchStart {
	c.sortEdits()
	var starts []branchStart
	stack, cursor := []*branch{nil}, 0
	if c.ofRounds() != nil {
		stack[0] = stack[0].inner(&region{from: c.root.Start, to: c.root.End, loop: true})
		starts = append(starts, branchStart{c.root.Start, stack[0]})
	}
	for i := range c.edits {
		e := &c.edits[i]
		if e.pos < cursor && e.rank != rankBorder {
			continue
		}
		cursor = max(cursor, e.end)
		at := stack[len(stack)-1]
		switch kind := e.bound; {
		case kind == whole:
			starts = append(starts, branchStart{e.pos, at.inner(&region{from: e.pos, to: e.end, fixed: true})}, branchStart{e.end, at})
			continue
		case kind == passes:
			stack = append(stack, at)
		case kind == begins || kind == repeats || kind == yields:
			e.region = &region{from: e.pos, loop: kind == repeats, fixed: kind == yields}
			stack = append(stack, at.inner(e.region))
		case kind == parts && at != nil:
			stack[len(stack)-1] = at.around.inner(at.region)
		case kind == ends && len(stack) > 1:
			e.region, at.to = at.region, e.pos
			stack = stack[:len(stack)-1]
		case kind == passed && len(stack) > 1:
			stack = stack[:len(stack)-1]
		default:
			continue
		}
		starts = append(starts, branchStart{e.pos, stack[len(stack)-1]})
	}
	return starts
}

// inner returns a branch of a region within this one, which may be nil.
func (b *branch) inner(r *region) *branch {
	in := &branch{region: r, around: b, depth: 1}
	if b != nil {
		in.depth, in.repeats = b.depth+1, b.repeats
	}
	if r.loop {
		in.repeats = r
	}
	return in
}

// commonBranch returns the innermost branch that holds both, or nil.
func commonBranch(a, b *branch) *branch {
	for a != b {
		if b == nil || a != nil && a.depth >= b.depth {
			a = a.around
		} else {
			b = b.around
		}
	}
	return a
}

// upTo returns the regions from the innermost around a place to the outermost that outer, which may be nil, still holds.
func (b *branch) upTo(outer *branch) []*region {
	var all []*region
	for ; b != outer; b = b.around {
		all = append(all, b.region)
	}
	return all
}
