package program

// ranges has the states of the document's ranges, by slot: bookmarks, comments, and others that begin at one mark and end at another. Each
// mark may be in several places of a program, one of which writes it.
type ranges []rangeState

type rangeState uint8

const (
	rangeAhead rangeState = iota
	rangeBegun
	rangeDone // it has ended, and does not begin again
)

// statesOf returns the states of some slots.
func statesOf[S any](all []S, slots []int) []S {
	if len(slots) == 0 {
		return nil
	}
	states := make([]S, len(slots))
	for i, slot := range slots {
		states[i] = all[slot]
	}
	return states
}

// reset restores the result of statesOf, after what was written since then has been discarded.
func reset[S any](all []S, slots []int, states []S) {
	for i, slot := range slots {
		all[slot] = states[i]
	}
}

// RangeStart runs its body, the start of a range, unless the range has begun.
type RangeStart struct {
	Slot int
	Body []Step
}

func (o *RangeStart) run(x *execution) error {
	if x.ranges[o.Slot] != rangeAhead {
		return nil
	}
	x.ranges[o.Slot] = rangeBegun
	return x.run(o.Body)
}

func (o *RangeStart) sketch(s *sketcher) { s.steps(o.Body) }

// RangeEnd runs its body, the end of a range, if the range has begun.
type RangeEnd struct {
	Slot int
	Body []Step
	Once bool // the range occurs once in the document
}

func (o *RangeEnd) run(x *execution) error {
	state := &x.ranges[o.Slot]
	if *state != rangeBegun {
		return nil
	}
	*state = rangeAhead
	if o.Once {
		*state = rangeDone
	}
	return x.run(o.Body)
}

func (o *RangeEnd) sketch(s *sketcher) { s.steps(o.Body) }
