package validate

import (
	"bytes"
	"errors"
	"sync/atomic"
)

// Output checks the parts of one document while they are written in sequence. It applies the rules for elements, and finds duplicate ids,
// prefixes that are not declared, and XML that is not well formed. Only [Package] finds mistakes that concern the whole package. An Output
// must not be used by several goroutines at once.
//
// Mistakes of the template itself do not count: see [Faults.Tolerate].
type Output struct {
	reader
	tolerated *Faults
	problem   *Problem
	part      string
	ids       map[string]bool // outside segments
	segments  []Segment
	done      []bool // the written segments of the part that define ids
	recording *step
	fields    fields
	relations func(id string) bool
}

// NewOutput begins the check of a document. relations reports whether the current part has the relationship with an id. It is called for
// references outside segments, and may be nil.
func (m *Memory) NewOutput(tolerated *Faults, relations func(id string) bool) *Output {
	o := &Output{tolerated: tolerated, relations: relations}
	o.reader = reader{memory: m, watch: o}
	return o
}

// Part begins the next part, with its segments.
func (o *Output) Part(name string, segments []Segment) {
	o.part, o.segments, o.done = name, segments, nil
	o.fields = o.fields[:0]
	o.at, o.held, o.offset, o.broken = o.memory.start(), o.held[:0], 0, false
}

// Write checks the next bytes of the part.
func (o *Output) Write(src []byte) { o.read(src) }

// End ends the part. The error is the first *Problem of the document so far.
func (o *Output) End() error {
	o.end()
	return o.Err()
}

// Err returns the first problem so far.
func (o *Output) Err() error {
	if o.problem == nil {
		return nil
	}
	return o.problem
}

// Segment is a section of a template that is written unchanged, perhaps many times. It is safe for concurrent use.
type Segment struct{ step atomic.Pointer[step] }

// step is the effect of a segment at one place.
type step struct {
	from *point
	size int // of the segment, or of its start if the end was left out
	skip int // bytes at its start that complete an earlier tag
	to   *point
	held string
	ids  bool // it defines ids, so it can be written only once

	fields []fieldStep // in the segment
}

// Segment checks src, which is the text of a segment of the part, or the start of that text.
func (o *Output) Segment(number int, src []byte) {
	if o.broken {
		return
	}
	seg := &o.segments[number]
	rest := src
	if len(o.held) > 0 {
		rest = o.complete(src)
	}
	skip := len(src) - len(rest)
	s := seg.step.Load()
	if s == nil || s.from != o.at || s.skip != skip || s.size != len(src) || len(o.held) > 0 {
		s = o.record(seg, rest, skip)
	} else {
		o.at, o.offset = s.to, o.offset+int64(len(rest)-len(s.held))
		o.held = append(o.held[:0], s.held...)
		for _, step := range s.fields {
			o.field(step, o.at, o.offset)
		}
	}
	if !s.ids {
		return
	}
	if o.done == nil {
		o.done = make([]bool, len(o.segments))
	}
	if o.done[number] {
		o.fault(&fault{CodeDuplicate, "an id of the template is written twice", false}, o.at, o.offset)
	}
	o.done[number] = true
}

// record reads a segment, and remembers its effect if it has no fault.
func (o *Output) record(seg *Segment, src []byte, skip int) *step {
	s := &step{from: o.at, size: skip + len(src), skip: skip}
	before := o.problem
	o.recording = s
	o.read(src)
	o.recording = nil
	s.to, s.held = o.at, string(o.held)
	if o.problem == before {
		seg.step.Store(s)
	}
	return s
}

func (o *Output) fault(f *fault, at *point, offset int64) {
	if o.problem != nil || f.warning || o.tolerated.broken[f.key()] {
		return
	}
	o.problem = &Problem{o.part, where(at, offset), f.code, f.message, f.warning}
}

func (f *fault) key() string { return string(f.code) + " " + f.message }

func (o *Output) open(p *point, t *tag, offset int64) {
	for i := range t.attrs {
		prefix, _, broken := p.scope.attribute(t.attrs[i].name)
		switch {
		case broken != nil:
			o.fault(broken, p, offset)
		case prefix == "r" && o.recording == nil && o.relations != nil && len(t.attrs[i].value) > 0:
			if id := string(t.attrs[i].value); !o.relations(id) {
				o.fault(noRelationship(id), p, offset)
			}
		}
	}
	if p.elem.required != "" {
		if f := t.lacks(p); f != nil {
			o.fault(f, p, offset)
		}
	}
	if p.elem.field != noField {
		o.field(openStep(p, t), p, offset)
	}
	if p.elem.facts == nil || p.unread {
		return
	}
	for i := range p.elem.facts {
		f := &p.elem.facts[i]
		if f.does != unique && f.does != defines {
			continue
		}
		if id, ok := f.value(p, t); ok {
			o.state(f, id, p, offset)
		}
	}
}

// state records an id. The ids inside segments are unique in the template, so they are unique here too unless a segment is written twice.
func (o *Output) state(f *fact, id string, p *point, offset int64) {
	if o.recording != nil {
		o.recording.ids = true
		return
	}
	key := f.space + " " + id
	if o.ids[key] {
		o.fault(f.twice(id), p, offset)
	}
	if o.ids == nil {
		o.ids = map[string]bool{}
	}
	o.ids[key] = true
}

func (o *Output) close(p *point, offset int64) {
	if p.elem.field == fieldStory {
		o.field(storyEnds, p, offset)
	}
}

// field applies a field step. It adds the step to the segment being recorded, because its effect depends on the text before the segment.
func (o *Output) field(step fieldStep, p *point, offset int64) {
	if s := o.recording; s != nil {
		if n := len(s.fields); step == storyEnds && n > 0 && s.fields[n-1] == storyBegins {
			s.fields = s.fields[:n-1]
		} else {
			s.fields = append(s.fields, step)
		}
	}
	if f := o.fields.take(step); f != nil {
		o.fault(f, p, offset)
	}
}

// Faults are the mistakes of a template itself. The zero value has none. Faults must not change while outputs are checked.
type Faults struct {
	broken map[string]bool
	ids    map[string]bool
}

// Tolerate adds the faults of a part of a template. What is generated from that part may have them too.
func (f *Faults) Tolerate(m *Memory, src []byte) {
	r := reader{memory: m, at: m.start(), watch: &faultFinder{Faults: f}}
	r.read(src)
	r.end()
}

// faultFinder collects the faults of one part.
type faultFinder struct {
	*Faults
	scope  *scope // of the previous tag
	prefix []byte // known to be declared there
	fields fields
}

func (f *Faults) fault(broken *fault, _ *point, _ int64) {
	if f.broken == nil {
		f.broken = map[string]bool{}
	}
	f.broken[broken.key()] = true
}

func (f *faultFinder) open(p *point, t *tag, offset int64) {
	if p.scope != f.scope {
		f.scope, f.prefix = p.scope, nil
	}
	for i := range t.attrs {
		name := t.attrs[i].name
		colon := bytes.IndexByte(name, ':')
		if colon < 0 || f.prefix != nil && bytes.Equal(name[:colon], f.prefix) {
			continue
		}
		if _, _, broken := p.scope.attribute(name); broken != nil {
			f.fault(broken, p, offset)
		} else if !isDeclaration(name) {
			f.prefix = name[:colon]
		}
	}
	if p.elem.required != "" {
		if broken := t.lacks(p); broken != nil {
			f.fault(broken, p, offset)
		}
	}
	if p.elem.field != noField {
		f.field(openStep(p, t), p, offset)
	}
	for i := range p.elem.facts {
		what := &p.elem.facts[i]
		if what.does != unique && what.does != defines {
			continue
		}
		if id, ok := what.value(p, t); ok {
			f.state(what, id, p, offset)
		}
	}
}

func (f *Faults) state(what *fact, id string, p *point, offset int64) {
	key := what.space + " " + id
	if f.ids[key] {
		f.fault(what.twice(id), p, offset)
	}
	if f.ids == nil {
		f.ids = map[string]bool{}
	}
	f.ids[key] = true
}

func (f *faultFinder) close(p *point, offset int64) {
	if p.elem.field == fieldStory {
		f.field(storyEnds, p, offset)
	}
}

func (f *faultFinder) field(step fieldStep, p *point, offset int64) {
	if broken := f.fields.take(step); broken != nil {
		f.fault(broken, p, offset)
	}
}

// AsProblem returns the problem in an error of this package.
func AsProblem(err error) (*Problem, bool) { return errors.AsType[*Problem](err) }
