// Package program executes compiled documents. The program of a part is a list of steps, most of which write literal bytes of the
// template. An execution runs the steps in order, and streams their output into a package. The package docx/compile creates programs.
//
// The core is program.go (parts and steps), execute.go (the package), output.go (the buffer before the compressor, and how guards discard
// output), report.go and error.go (the problems of an execution), and check.go (the check of every document). Every other file is one
// feature: its step types, and the state that they keep during an execution. The file of the same name in docx/compile creates these
// steps.
package program

import (
	"sync"

	"platen/docx/validate"
	"platen/ooxml/deflate"
)

// Part is the program of a part. It is immutable and safe for concurrent use.
type Part struct {
	Steps    []Step
	Size     int  // approximate size in memory, in bytes
	HasNotes bool // it has notes that are written with their references

	sketch     *deflate.Sketch // nil after planning
	planned    sync.Once
	compressed *deflate.Plan
	segments   []validate.Segment // by the numbers of the literals' pieces
}

// Step is one operation of a program. Its output replaces the source that the step was compiled from.
type Step interface {
	// run executes the step. An error ends the execution.
	run(x *execution) error
}

// NewPart returns the program of a part with the given steps.
func NewPart(steps []Step) *Part {
	p := &Part{Steps: steps, sketch: new(deflate.Sketch)}
	s := sketcher{Sketch: p.sketch}
	s.steps(steps)
	p.segments = make([]validate.Segment, s.largest+1)
	p.Size = sizeOf(p)
	return p
}

// plan returns the plan for compressing the part.
func (p *Part) plan() *deflate.Plan {
	p.planned.Do(func() {
		p.compressed, p.sketch = deflate.NewPlan(p.sketch), nil
	})
	return p.compressed
}

// sketcher numbers the literals of a program for the compressor.
type sketcher struct {
	*deflate.Sketch
	largest int // the largest number of a literal
}

// sketchable is a step that contains literals, or writes text that is not in the template.
type sketchable interface{ sketch(s *sketcher) }

func (s *sketcher) steps(steps []Step) {
	for _, step := range steps {
		if step, ok := step.(sketchable); ok {
			step.sketch(s)
		}
	}
}

// branch numbers the literals of steps that do not always run.
func (s *sketcher) branch(steps []Step) {
	if len(steps) > 0 {
		s.Enter(false)
		s.steps(steps)
		s.Leave()
	}
}

// value numbers the literals of a step that writes a value, and may contain other steps.
func (s *sketcher) value(body []Step) {
	s.Fresh()
	s.steps(body)
}

// run executes steps in order.
func (x *execution) run(steps []Step) error {
	if err := x.meter.Spend(len(steps)); err != nil {
		return err
	}
	for i := 0; i < len(steps); i++ {
		if x.rich.split != nil {
			if next := x.rejoin(steps, i); next > i {
				i = next - 1
				continue
			}
		}
		if err := steps[i].run(x); err != nil {
			return err
		}
	}
	if x.out.isFull() {
		return x.out.flush()
	}
	return nil
}
