package program

// What a slot says of a range: a bookmark, a comment or another that begins at one mark and ends at another. Each mark may
// stand in several places of a program, of which one writes it.
const (
	rangeAhead = iota
	rangeBegun
	rangeDone // and does not come again
)

// rangeMark writes a mark of a range if it is its turn.
func (x *execution) rangeMark(o *Op) error {
	state := &x.slots[o.Slot]
	switch {
	case o.Kind == OpRangeStart && *state == rangeAhead:
		*state = rangeBegun
	case o.Kind == OpRangeEnd && *state == rangeBegun && o.Once:
		*state = rangeDone
	case o.Kind == OpRangeEnd && *state == rangeBegun:
		*state = rangeAhead
	default:
		return nil
	}
	return x.run(o.Body)
}

// begun returns what is said of some ranges.
func (x *execution) begun(slots []int) []int {
	if len(slots) == 0 {
		return nil
	}
	states := make([]int, len(slots))
	for i, slot := range slots {
		states[i] = x.slots[slot]
	}
	return states
}

// begin has what begun returned hold again, as the marks that were written since are taken back.
func (x *execution) begin(slots, states []int) {
	for i, slot := range slots {
		x.slots[slot] = states[i]
	}
}
