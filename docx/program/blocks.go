package program

import (
	"platen/docx/lang"
)

// Loops, conditions, and guards, whose output is discarded if nothing in it is visible.

// flow is the position of an execution in the document.
type flow struct {
	last    LastBlock
	yielded bool // something visible was written since the innermost guard began
}

// Loop runs its body for each item of a list.
type Loop struct {
	Tag     *lang.Tag
	Body    []Step
	Between []byte // XML to write between two rounds
	Empty   []Step // runs instead if the list has no items: its {{else}}, and the end of a section

	Columns int   // 1 + the slot of the repeated columns whose items it uses; 0 for the items of Tag
	Lists   []int // slots of lists that restart in each round
	Merges  []int // slots of columns of merging cells that begin with the loop
}

func (l *Loop) run(x *execution) error {
	items, err := l.items(x)
	if err != nil {
		return err
	}
	if err := x.meter.Spend(len(items)); err != nil {
		return err
	}
	defer x.env.Release(x.env.Keep())
	x.tables.beginMerges(l.Merges)
	for i, item := range items {
		if i > 0 {
			x.out.buf = append(x.out.buf, l.Between...)
		}
		x.lists.restart(l.Lists)
		x.env.Push(l.Tag, item, i, len(items))
		err := x.run(l.Body)
		x.env.Pop()
		if err != nil {
			return err
		}
	}
	if len(items) == 0 {
		return x.block(l.Empty)
	}
	return nil
}

// block runs the steps of a block, and forgets its variables.
func (x *execution) block(steps []Step) error {
	depth := x.env.Depth()
	err := x.run(steps)
	x.env.Restore(depth)
	return err
}

func (l *Loop) items(x *execution) ([]lang.Value, error) {
	if l.Columns > 0 {
		return x.tables.columns[l.Columns-1].items, nil
	}
	return x.env.List(l.Tag)
}

func (l *Loop) sketch(s *sketcher) {
	s.Enter(true)
	s.steps(l.Body)
	s.Leave()
	s.branch(l.Empty)
}

// If runs the first branch whose condition is true or, with a Choice, the branch that the value of this tag chooses.
type If struct {
	Branches []Branch
	Empty    []Step // runs if there is no such branch
	Choice   *Choice
}

// Choice is a tag that includes one of several files.
type Choice struct {
	Tag   *lang.Tag
	Stays []Step // write the tag, if it has no value or a wrong one
}

// Branch is one branch of a condition. Its tag is nil for else.
type Branch struct {
	Tag  *lang.Tag
	Body []Step
}

func (c *If) run(x *execution) error {
	if c.Choice != nil {
		return c.choose(x)
	}
	for i := range c.Branches {
		b := &c.Branches[i]
		if b.Tag != nil {
			holds, err := x.env.Test(b.Tag)
			if err != nil {
				return err
			}
			if !holds {
				continue
			}
		}
		return x.block(b.Body)
	}
	return x.run(c.Empty)
}

// choose runs the branch that a value chooses.
func (c *If) choose(x *execution) error {
	i, stays, err := x.env.Choose(c.Choice.Tag)
	switch {
	case err != nil:
		return err
	case i >= 0:
		return x.block(c.Branches[i].Body)
	case stays:
		x.yield()
		if err := x.run(c.Choice.Stays); err != nil {
			return err
		}
	}
	return x.run(c.Empty)
}

func (c *If) sketch(s *sketcher) {
	if c.Choice != nil {
		s.branch(c.Choice.Stays)
	}
	for i := range c.Branches {
		s.Enter(false)
		s.steps(c.Branches[i].Body)
		s.Leave()
	}
	s.branch(c.Empty)
}

// Guard runs its body, and discards the output unless something in it yields.
type Guard struct {
	Body   []Step
	Ranges []int // slots of the ranges with only one end in the body
	Once   []int // slots of the texts in the body that are written once
}

func (g *Guard) run(x *execution) error {
	last, outer, headings := x.flow.last, x.flow.yielded, x.toc.mark()
	bytes, pieces := x.out.place()
	x.flow.yielded = false
	x.out.guards++
	begun, written := statesOf(x.ranges, g.Ranges), statesOf(x.ids.once, g.Once)
	if err := x.run(g.Body); err != nil {
		return err
	}
	if !x.flow.yielded {
		x.out.guards--
		x.out.takeBack(bytes, pieces)
		x.flow.last = last
		reset(x.ranges, g.Ranges, begun)
		reset(x.ids.once, g.Once, written)
		x.toc.takeBack(headings)
	}
	x.flow.yielded = x.flow.yielded || outer
	return nil
}

func (g *Guard) sketch(s *sketcher) { s.steps(g.Body) }

// Yield marks visible content, so that no guard around it discards its output.
type Yield struct{}

func (*Yield) run(x *execution) error {
	x.yield()
	return nil
}

func (x *execution) yield() {
	x.flow.yielded = true
	x.out.guards = 0
}

// EmptyParagraph writes an empty paragraph unless the last block is a paragraph.
type EmptyParagraph struct{ XML []byte }

func (p *EmptyParagraph) run(x *execution) error {
	if x.flow.last != IsParagraph {
		x.emptyParagraph(p.XML)
	}
	return nil
}

// TableSeparator writes an empty paragraph if the last block is a table, so that Word does not join it to the next one.
type TableSeparator struct{ XML []byte }

func (p *TableSeparator) run(x *execution) error {
	if x.flow.last.joinsTable() {
		x.emptyParagraph(p.XML)
	}
	return nil
}

func (x *execution) emptyParagraph(xml []byte) {
	x.out.buf = append(x.out.buf, xml...)
	x.flow.last = IsParagraph
}
