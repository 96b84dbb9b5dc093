package program

import (
	"crypto/sha256"
	"fmt"

	"platen/budget"
	"platen/docx/lang"
	"platen/docx/richtext"
	"platen/ooxml"
)

// execution is the state of one run of a template's programs.
type execution struct {
	d        *Document
	opt      Options
	env      *lang.Env
	meter    *budget.Meter
	out      output
	missing  bool      // the last value was
	yielded  bool      // something is there since the innermost guard began
	last     LastBlock // in the output
	names    map[int]*roundName
	slots    []int // by slot: an id that was given, or 1 for what came out
	nextID   [IDSpaceCount]int
	faults   findings
	warnings findings

	part     string // that is being written
	added    *ooxml.Additions
	lists    addedLists
	contents contents // of the document
	columns  []repeatedColumns
	merges   []merged
	pictures map[[sha256.Size]byte]*prepared // by their values
	picture  *shownPicture                   // that replaces the one of the drawing that is written
	filled   *filledControl                  // the content control that is written
	headers  map[*Header]bool                // those of which the template's part has been given content
	notes    map[*Note][]byte                // those that were written where they are referred to
	noteID   string                          // of the one that is written
	parted   *Place                          // by the value that was written last; its paragraph is to go on, if more comes of it
	entered  []byte                          // how the last such paragraph went on
	pending  shown                           // the value of the next OpValue, if it has been asked for already
}

// shown is a value as it is to stand in the document.
type shown struct {
	text    string
	present *lang.Present // nil: as text
	doc     *richtext.Doc // nil: it has no markup
	ok      bool          // false: it is missing, and its tag stays
	done    bool          // evaluated
}

func (x *execution) run(ops []Op) error {
	if err := x.meter.Spend(len(ops)); err != nil {
		return err
	}
	for i := 0; i < len(ops); i++ {
		o := &ops[i]
		if x.parted != nil && o.Kind != OpIf && o.Kind != OpLoop { // which may hold nothing
			if next := x.goOn(ops, i); next > i {
				i = next - 1
				continue
			}
		}
		switch o.Kind {
		case OpLiteral:
			x.out.literal(o)
			x.last = x.last.Then(o.After)
		case OpValue:
			if err := x.value(o); err != nil {
				return err
			}
		case OpTail:
			if x.missing {
				x.out.buf = append(x.out.buf, o.Text...)
			}
		default:
			if err := x.structure(o); err != nil {
				return err
			}
		}
	}
	if x.out.isFull() {
		return x.out.flush()
	}
	return nil
}

// structure does what comes less often than text.
func (x *execution) structure(o *Op) error {
	switch o.Kind {
	case OpLoop:
		return x.loop(o)
	case OpIf:
		return x.condition(o)
	case OpGuard:
		return x.guard(o)
	case OpYield:
		x.yield()
	case OpParagraph:
		if x.last != IsParagraph {
			x.emptyParagraph(o.Text)
		}
	case OpApart:
		if x.last.joinsTable() {
			x.emptyParagraph(o.Text)
		}
	case OpOnce:
		if x.slots[o.Slot] == 0 {
			x.slots[o.Slot] = 1
			x.out.buf = append(x.out.buf, o.Text...)
		}
	case OpRangeStart, OpRangeEnd:
		return x.rangeMark(o)
	case OpID, OpSameID:
		x.id(o)
	case OpFreshID:
		x.anew([]byte(FreshID))
	case OpName, OpNameBehind, OpNameAhead:
		x.name(o)
	case OpAlone:
		return x.alone(o)
	case OpHeading:
		return x.heading(o)
	case OpHeadingMark:
		x.headingMark(o)
	case OpPageBreak:
		x.pageBreak(o)
	case OpShown:
		if x.picture != noPicture {
			return x.run(o.Body)
		}
	case OpTOC:
		return x.writeTOC(o.TOC)
	case OpNumber:
		return x.number(o)
	case OpMerge, OpCellSpan, OpCovered, OpGrid, OpWidth, OpSpan:
		return x.cell(o)
	default:
		return x.object(o)
	}
	return nil
}

// object does what is needed by what stands among the words: pictures, charts, notes, links and controls.
func (x *execution) object(o *Op) error {
	switch o.Kind {
	case OpPicture:
		return x.replacePicture(o)
	case OpPicturePart:
		x.picturePart(o)
	case OpNote:
		x.out.buf = append(x.out.buf, x.notes[o.Note]...)
	case OpNoteID:
		x.out.buf = append(x.out.buf, x.noteID...)
	case OpHeader:
		return x.header(o)
	case OpReference:
		return x.reference(o)
	case OpChart:
		return x.replaceChart(o)
	case OpLink:
		return x.linkTarget(o)
	case OpControl:
		return x.control(o)
	case OpControlPart:
		x.controlPart(o)
	}
	return nil
}

// cell does what tables need.
func (x *execution) cell(o *Op) error {
	switch o.Kind {
	case OpMerge:
		return x.mergeCell(o)
	case OpCellSpan:
		return x.spanCell(o)
	case OpCovered:
		return x.covered(o)
	case OpGrid:
		return x.grid(o)
	case OpWidth:
		x.cellWidth(o)
	case OpSpan:
		x.cellSpan(o)
	}
	return nil
}

func (x *execution) value(o *Op) error {
	v, err := x.show(o.Tag)
	if err != nil {
		return err
	}
	x.yield()
	x.missing = !v.ok
	if !v.ok {
		x.out.buf = append(x.out.buf, o.Text...)
		return nil
	}
	if o.Merge > 0 && !x.merges[o.Merge-1].anew {
		return nil // the cell above shows it
	}
	switch {
	case o.Place == nil && v.doc != nil: // where only text can stand
		v.text = v.doc.Text()
	case o.Place == nil:
	case v.doc != nil:
		return x.rich(o, v)
	case v.present != nil:
		return x.present(o, v)
	}
	x.text(o, v.text)
	return nil
}

// show evaluates a value's tag, unless that has been done.
func (x *execution) show(tag *lang.Tag) (v shown, err error) {
	if x.pending.done {
		v, x.pending = x.pending, shown{}
		return v, nil
	}
	v.done = true
	if v.text, v.present, v.ok, err = x.env.Show(tag); err != nil {
		return v, err
	}
	v.doc, err = x.readMarkup(tag, v)
	return v, err
}

// text writes a value as text.
func (x *execution) text(o *Op, s string) {
	if o.Breaks.Code && hasScheme(s) {
		address, err := linkAddress(s)
		if err != nil {
			x.fault(o.Tag, badAddress, err)
			return
		}
		s = address
	}
	if o.Breaks.Plain {
		x.out.buf = appendPlain(x.out.buf, s, o.Breaks.Code)
		return
	}
	var clean bool
	if x.out.buf, clean = appendValue(x.out.buf, s, o.Breaks); !clean {
		x.warn(o.Tag, fmt.Sprintf("The value of '%s' held control characters, which a document cannot hold; they were left out.", o.Tag.Expr))
	}
}

// alone writes the paragraph of a value that has it to itself.
func (x *execution) alone(o *Op) error {
	v, err := x.show(o.Tag)
	if err != nil {
		return err
	}
	if v.doc != nil && (!v.doc.Inline() || v.doc.Shaped()) && (o.Merge == 0 || x.merges[o.Merge-1].anew) {
		return x.richParagraph(o, v)
	}
	x.pending = v
	return x.run(o.Body)
}

// items returns what a loop goes over.
func (x *execution) items(o *Op) ([]lang.Value, error) {
	if o.Stored {
		return x.columns[o.Slot].items, nil
	}
	return x.env.List(o.Tag)
}

func (x *execution) loop(o *Op) error {
	items, err := x.items(o)
	if err != nil {
		return err
	}
	if err := x.meter.Spend(len(items)); err != nil {
		return err
	}
	defer x.env.Release(x.env.Keep())
	x.beginMerges(o.Merges)
	for i, item := range items {
		if i > 0 {
			x.out.buf = append(x.out.buf, o.Between...)
		}
		x.beginAgain(o.Anew)
		x.env.Push(o.Tag.Var, item, i, len(items))
		err := x.run(o.Body)
		x.env.Pop()
		if err != nil {
			return err
		}
	}
	if len(items) == 0 {
		return x.run(o.Empty)
	}
	return nil
}

func (x *execution) condition(o *Op) error {
	for i := range o.Branches {
		p := &o.Branches[i]
		if p.Tag != nil {
			holds, err := x.env.Test(p.Tag)
			if err != nil {
				return err
			}
			if !holds {
				continue
			}
		}
		return x.run(p.Body)
	}
	return x.run(o.Empty)
}

func (x *execution) emptyParagraph(xml []byte) {
	x.out.buf = append(x.out.buf, xml...)
	x.last = IsParagraph
}

// guard runs the body and takes back what it wrote if nothing in it yielded.
func (x *execution) guard(o *Op) error {
	last, outer, headings := x.last, x.yielded, len(x.contents.found)
	bytes, pieces := x.out.place()
	x.yielded = false
	x.out.guards++
	begun := x.begun(o.Ranges)
	if err := x.run(o.Body); err != nil {
		return err
	}
	if !x.yielded {
		x.out.guards--
		x.out.takeBack(bytes, pieces)
		x.last = last
		x.begin(o.Ranges, begun)
		x.contents.found = x.contents.found[:headings]
	}
	x.yielded = x.yielded || outer
	return nil
}

// yield says that something is there, which all guards around hear.
func (x *execution) yield() {
	x.yielded = true
	x.out.guards = 0
}
