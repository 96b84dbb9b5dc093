package docx

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"platen/docx/lang"
	"platen/docx/opc"
	"platen/docx/picture"
	"platen/docx/richtext"
)

const (
	// MaxRounds is how many rounds all loops of one execution may make together.
	MaxRounds = 20_000_000

	// maxBookmarkName is how many characters Word takes.
	maxBookmarkName = 40
)

// execution is the state of one run of a template's programs.
type execution struct {
	t        *Template
	opt      Options
	env      *lang.Env
	out      output
	rounds   int       // of loops
	missing  bool      // the last value was
	yielded  bool      // something is there since the innermost guard began
	last     lastBlock // in the output
	names    map[int]*roundName
	slots    []int // by slot: an id that was given, or 1 for what came out
	nextID   [idSpaceCount]int
	warnings []string
	warned   map[string]bool

	part     string // that is being written
	added    *opc.Additions
	lists    addedLists
	contents contents // of the document
	columns  []repeatedColumns
	merges   []merged
	pictures map[string]*picture.Picture // prepared, by their values
	picture  *shownPicture               // that replaces the one of the drawing that is written
	filled   *filledControl              // the content control that is written
	notes    map[*boundNote][]byte       // those that were written where they are referred to
	noteID   string                      // of the one that is written
	faults   []fault
	parted   *place // by the value that was written last; its paragraph is to go on
	pending  shown  // the value of the next opValue, if opAlone has asked for it already
}

// shown is a value as it is to stand in the document.
type shown struct {
	text    string
	present *lang.Present // nil: as text
	doc     *richtext.Doc // nil: it has no markup
	ok      bool          // false: it is missing, and its tag stays
	done    bool          // evaluated
}

func (x *execution) run(ops []op) error {
	for i := 0; i < len(ops); i++ {
		o := &ops[i]
		switch o.kind {
		case opLiteral:
			x.out.literal(o)
			if o.after != unchanged {
				x.last = o.after
			}
		case opValue:
			if err := x.value(o); err != nil {
				return err
			}
			if x.parted != nil {
				i = x.goOn(ops, i)
			}
		case opTail:
			if x.missing {
				x.out.buf = append(x.out.buf, o.text...)
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
func (x *execution) structure(o *op) error {
	switch o.kind {
	case opLoop:
		return x.loop(o)
	case opIf:
		return x.condition(o)
	case opGuard:
		return x.guard(o)
	case opYield:
		x.yield()
	case opParagraph:
		if x.last != isParagraph {
			x.emptyParagraph(o.text)
		}
	case opApart:
		if x.last == isTable {
			x.emptyParagraph(o.text)
		}
	case opOnce:
		if x.slots[o.slot] == 0 {
			x.slots[o.slot] = 1
			x.out.buf = append(x.out.buf, o.text...)
		}
	case opID, opSameID:
		x.id(o)
	case opName, opNameBehind, opNameAhead:
		x.name(o)
	case opAlone:
		return x.alone(o)
	case opHeading:
		return x.heading(o)
	case opHeadingMark:
		x.headingMark(o)
	case opPageBreak:
		x.pageBreak(o)
	case opShown:
		if x.picture != noPicture {
			return x.run(o.body)
		}
	case opTOC:
		x.writeTOC(o.toc)
	case opNumber:
		return x.number(o)
	case opMerge, opCellSpan, opCovered, opGrid, opWidth, opSpan:
		return x.cell(o)
	default:
		return x.object(o)
	}
	return nil
}

// object does what is needed by what stands among the words: pictures, charts, notes, links and controls.
func (x *execution) object(o *op) error {
	switch o.kind {
	case opPicture:
		return x.replacePicture(o)
	case opPicturePart:
		x.picturePart(o)
	case opNote:
		x.out.buf = append(x.out.buf, x.notes[o.note]...)
	case opNoteID:
		x.out.buf = append(x.out.buf, x.noteID...)
	case opReference:
		return x.reference(o)
	case opChart:
		return x.replaceChart(o)
	case opLink:
		return x.linkTarget(o)
	case opControl:
		return x.control(o)
	case opControlPart:
		x.controlPart(o)
	}
	return nil
}

// cell does what tables need.
func (x *execution) cell(o *op) error {
	switch o.kind {
	case opMerge:
		return x.mergeCell(o)
	case opCellSpan:
		return x.spanCell(o)
	case opCovered:
		return x.covered(o)
	case opGrid:
		return x.grid(o)
	case opWidth:
		x.cellWidth(o)
	case opSpan:
		x.cellSpan(o)
	}
	return nil
}

func (x *execution) value(o *op) error {
	v, err := x.show(o.tag)
	if err != nil {
		return err
	}
	x.yield()
	x.missing = !v.ok
	if !v.ok {
		x.out.buf = append(x.out.buf, o.text...)
		return nil
	}
	if o.merge > 0 && !x.merges[o.merge-1].anew {
		return nil // the cell above shows it
	}
	switch {
	case o.place == nil && v.doc != nil: // where only text can stand
		v.text = v.doc.Text()
	case o.place == nil:
	case v.doc != nil:
		return x.rich(o, v)
	case v.present != nil:
		return x.present(o, v)
	}
	x.text(o, v.text)
	return nil
}

// show evaluates a value's tag, unless opAlone has done so.
func (x *execution) show(tag *lang.Tag) (v shown, err error) {
	if x.pending.done {
		v, x.pending = x.pending, shown{}
		return v, nil
	}
	v.done = true
	v.text, v.present, v.ok, err = x.env.Show(tag)
	v.doc = x.readMarkup(tag, v)
	return v, err
}

// text writes a value as text.
func (x *execution) text(o *op, s string) {
	if o.breaks.code && hasScheme(s) && !isAddress(s) {
		x.fault(o.tag, "The address of the link with '%s' is none that a link can have: %s.", errBadAddress)
		return
	}
	if o.breaks.plain {
		x.out.buf = appendPlain(x.out.buf, s, o.breaks.code)
		return
	}
	var clean bool
	if x.out.buf, clean = appendValue(x.out.buf, s, o.breaks); !clean {
		x.warn(fmt.Sprintf("The value of '%s' held control characters, which a document cannot hold; they were left out.", o.tag.Expr))
	}
}

// alone writes the paragraph of a value that has it to itself.
func (x *execution) alone(o *op) error {
	v, err := x.show(o.tag)
	if err != nil {
		return err
	}
	if v.doc != nil && (!v.doc.Inline() || v.doc.Shaped()) && (o.merge == 0 || x.merges[o.merge-1].anew) {
		return x.richParagraph(o, v)
	}
	x.pending = v
	return x.run(o.body)
}

// warn notes something that the author may want to know, once.
func (x *execution) warn(text string) {
	if x.warned == nil {
		x.warned = map[string]bool{}
	}
	if !x.warned[text] && len(x.warnings) < lang.MaxReports {
		x.warned[text] = true
		x.warnings = append(x.warnings, text)
	}
}

// items returns what a loop goes over.
func (x *execution) items(o *op) ([]lang.Value, error) {
	if o.stored {
		return x.columns[o.slot].items, nil
	}
	return x.env.List(o.tag)
}

func (x *execution) loop(o *op) error {
	items, err := x.items(o)
	if err != nil {
		return err
	}
	if x.rounds += len(items); x.rounds > MaxRounds {
		return fmt.Errorf("%s: the loops of the document would make more than %d rounds", o.tag.Text, MaxRounds)
	}
	x.beginMerges(o.merges)
	for i, item := range items {
		if i > 0 {
			x.out.buf = append(x.out.buf, o.between...)
		}
		x.beginAgain(o.anew)
		x.env.Push(o.tag.Var, item, i, len(items))
		err := x.run(o.body)
		x.env.Pop()
		if err != nil {
			return err
		}
	}
	if len(items) == 0 {
		x.nothing(o)
	}
	return nil
}

func (x *execution) condition(o *op) error {
	for i := range o.parts {
		p := &o.parts[i]
		if p.tag != nil {
			holds, err := x.env.Test(p.tag)
			if err != nil {
				return err
			}
			if !holds {
				continue
			}
		}
		return x.run(p.body)
	}
	x.nothing(o)
	return nil
}

func (x *execution) nothing(o *op) {
	if len(o.empty) > 0 {
		x.emptyParagraph(o.empty)
	}
}

func (x *execution) emptyParagraph(xml []byte) {
	x.out.buf = append(x.out.buf, xml...)
	x.last = isParagraph
}

// guard runs the body and takes back what it wrote if nothing in it yielded.
func (x *execution) guard(o *op) error {
	last, outer, headings := x.last, x.yielded, len(x.contents.found)
	bytes, pieces := x.out.place()
	x.yielded = false
	x.out.guards++
	if err := x.run(o.body); err != nil {
		return err
	}
	if !x.yielded {
		x.out.guards--
		x.out.takeBack(bytes, pieces)
		x.last = last
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

func (x *execution) id(o *op) {
	given := x.slots[o.slot]
	switch {
	case o.kind == opSameID && given > 0:
		x.out.buf = strconv.AppendInt(x.out.buf, int64(given), 10)
	case o.kind == opSameID || given == 0: // the first time: as it is
		x.out.buf = append(x.out.buf, o.text...)
		if o.kind == opID {
			x.slots[o.slot] = -1
		}
	default:
		x.slots[o.slot] = x.fresh(o.space)
		x.out.buf = strconv.AppendInt(x.out.buf, int64(x.slots[o.slot]), 10)
	}
}

func (x *execution) fresh(space idSpace) int {
	id := x.nextID[space]
	x.nextID[space]++
	return id
}

// roundName is the name of a bookmark in the round of a loop.
type roundName struct {
	name  string
	ahead bool // it was referred to already, and the bookmark is to come
}

// name gives a bookmark's name the first time, then that with a number that makes it another. What refers to the bookmark in the same round
// has the same name.
func (x *execution) name(o *op) {
	n := x.names[o.slot]
	switch {
	case o.kind == opNameBehind && n == nil: // the bookmark was left out
		x.out.buf = append(x.out.buf, o.text...)
		return
	case n == nil:
		n = &roundName{name: string(o.text)}
		if x.names == nil {
			x.names = map[int]*roundName{}
		}
		x.names[o.slot] = n
	case o.kind != opNameBehind && !n.ahead:
		n.name = x.anotherName(string(o.text))
	}
	if o.kind != opNameBehind {
		n.ahead = o.kind == opNameAhead
	}
	x.out.buf = append(x.out.buf, n.name...)
}

// anotherName returns the name of a bookmark with a number that makes it another.
func (x *execution) anotherName(text string) string {
	name, _, _ := strings.Cut(text, "&") // a name is cut short below, and an entity must not be
	for {
		suffix := "_" + strconv.Itoa(x.fresh(bookmarkIDs))
		for utf8.RuneCountInString(name)+len(suffix) > maxBookmarkName {
			_, n := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-n]
		}
		if !x.t.ids.bookmarks[name+suffix] {
			return name + suffix
		}
	}
}
