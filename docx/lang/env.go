package lang

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"platen/budget"
	"platen/docx/locale"
)

const (
	// bytesPerStep is the number of bytes of text that a filter or comparison processes for one step.
	bytesPerStep = 100
	// MaxText is the maximum length of a printed value, in bytes.
	MaxText = 16 << 20
	// maxGrown is the maximum total length of the text that the filters and functions of a tag produce, in bytes.
	maxGrown = 4 * MaxText
	// itemBytes is the approximate memory of an item in a list that a filter returns.
	itemBytes = 32
	// MaxReports is the maximum number of errors, and of warnings, that one execution reports. Others are only counted.
	MaxReports = 100
)

// Options are the settings of an execution.
type Options struct {
	Use      *Use           // input that the template reads; if nil, unused input is not reported
	Meter    *budget.Meter  // counts the work; nil: a new one with the default limits
	Locale   *locale.Locale // how numbers, dates and lists are written; nil: [locale.Default]
	Location *time.Location // the time zone of output; nil: that of each value, or UTC if it has none
	Now      time.Time      // the value of $now; zero: $now is an error
	Missing  Missing        // how to treat a tag whose value is missing
}

// Missing is the treatment of a tag whose value is missing.
type Missing int

// The ways to treat missing values.
const (
	MissingTag   Missing = iota // the tag stays in the document, and [Env.Errors] names it
	MissingBlank                // nothing takes the tag's place, and [Env.Warnings] names it
	MissingError                // as MissingTag, for lists too, and [Env.Err] is an error
)

// A MissingDataError reports that data is missing in an execution with [MissingError].
type MissingDataError struct{ Lines []string }

// Error returns all lines in one.
func (e *MissingDataError) Error() string { return strings.Join(e.Lines, " ") }

// Env is the state of one execution of a template. It belongs to one goroutine.
type Env struct {
	data      Value
	opt       Options
	frames    []frame
	meter     *budget.Meter
	errors    reports
	warnings  reports
	loops     int32 // among the frames
	lacking   bool  // something was missing
	presented bool  // present is not empty
	suspects  []report

	lastPattern *pattern // of matches, from the input

	tag     *Tag // current tag, with its state:
	subject Node // the expression whose filters are applied
	handled int  // the number of missing paths before that
	items   []itemScope
	missing []*Path
	list    separators
	present Present
	grown   int // bytes of created text
	held    int // bytes of memory that were taken from the meter

	numbered int // items of the list whose entries the tag goes through
}

// frame is one round of a loop, or a variable.
type frame struct {
	name         string
	tag          *Tag
	item         Value
	index, count int
	keyName      string // the first variable of a loop over keys
	key          Value
	isLet        bool
	held         int // bytes of memory of a variable
}

// separators are the arguments of the delimiter filters of the current tag; nil without such a filter.
type separators struct{ between, last *string }

// NewEnv returns the state of an execution on data, which [Decode] gave.
func NewEnv(data Value, opt Options) *Env {
	if opt.Meter == nil {
		opt.Meter = budget.New(context.Background(), budget.Limits{})
	}
	return &Env{data: data, opt: opt, meter: opt.Meter}
}

// Push enters the body of a loop for one item: index counts from 0, count is the number of items.
func (e *Env) Push(t *Tag, item Value, index, count int) {
	f := frame{name: t.Var, tag: t, item: item, index: index, count: count}
	if t.KeyVar != "" {
		f.keyName = t.KeyVar
		if entry, ok := item.(*entry); ok {
			f.key, f.item = entry.key, entry.value
		}
	}
	e.frames = append(e.frames, f)
	e.loops++
}

// Pop leaves the loop body that the last Push entered, with its variables.
func (e *Env) Pop() {
	e.Restore(e.innermost())
}

// Depth returns the number of variables and loops, for [Env.Restore].
func (e *Env) Depth() int { return len(e.frames) }

// Restore forgets the variables since [Env.Depth] returned a depth.
func (e *Env) Restore(depth int) {
	for i := depth; i < len(e.frames); i++ {
		if f := &e.frames[i]; f.isLet {
			e.Release(f.held)
		} else {
			e.loops--
		}
	}
	e.frames = e.frames[:depth]
}

// innermost returns the position of the innermost loop among the frames, or -1.
func (e *Env) innermost() int {
	for i := range slices.Backward(e.frames) {
		if !e.frames[i].isLet {
			return i
		}
	}
	return -1
}

// LastRound reports whether the innermost loop is in its last round; outside of loops it is false.
func (e *Env) LastRound() bool {
	last := e.innermost()
	return last >= 0 && e.frames[last].index == e.frames[last].count-1
}

// Let computes the value of a Let, and names it until [Env.Restore] or [Env.Pop]. A value that is missing or cannot be computed is among
// [Env.Errors], and the variable is missing. The error is a [*LimitError].
func (e *Env) Let(t *Tag) error {
	v, _, err := e.evaluate(t)
	e.frames = append(e.frames, frame{name: t.Var, tag: t, item: v, isLet: true, held: e.Keep()})
	return err
}

// Print returns the text of a value tag. ok is false if the value is missing, null, or cannot be printed. This is reported by [Env.Errors],
// and the tag should stay in the document (but see [Missing]). The items of a list are separated by ", " or as its
// delimiter filters demand. The error is a [*LimitError].
func (e *Env) Print(t *Tag) (s string, ok bool, err error) {
	if s, ok, err = e.direct(t); ok || err != nil {
		return s, ok, err
	}
	v, ok, err := e.evaluate(t)
	if !ok || err != nil {
		return "", false, err
	}
	if s, ok = v.(string); !ok || e.list != (separators{}) {
		if s, err = e.print(v); err != nil {
			err = e.report(err)
			return "", false, err
		}
	}
	return s, true, e.spend(len(s)/bytesPerStep, t.Expr)
}

// direct is Print for the most common tag: a text or number at a path, without filters. It takes no memory. If ok is false, the
// value is something else.
func (e *Env) direct(t *Tag) (s string, ok bool, err error) {
	p, ok := t.Expr.(*Path)
	if !ok || len(t.Filters) > 0 {
		return "", false, nil
	}
	e.begin(t)
	switch v := e.find(p).(type) {
	case *string:
		return *v, true, e.spend(1+len(*v)/bytesPerStep, p)
	case *json.Number:
		s, ok = numberText(*v)
		return s, ok, e.spend(1, p)
	}
	return "", false, nil
}

// Show is Print for documents: it also returns the presentation that the tag's filters set. p is nil if they set none, and valid until the
// next call. The text of a check box is its box, and that of a page break or a chart is empty.
func (e *Env) Show(t *Tag) (s string, p *Present, ok bool, err error) {
	s, ok, err = e.Print(t)
	if e.presented {
		p = &e.present
	}
	return s, p, ok, err
}

// Has reports whether the input has the value of a tag's expression, before its filters. The error is a [*LimitError].
func (e *Env) Has(t *Tag) (bool, error) {
	e.begin(t)
	v, err := e.eval(t.Expr)
	if err != nil {
		return false, e.report(err)
	}
	return v != nil, nil
}

// Value is like [Env.Print], but returns the value of the tag in the form of [Decode].
func (e *Env) Value(t *Tag) (v Value, ok bool, err error) {
	v, ok, err = e.evaluate(t)
	return plain(v), ok, err
}

// Test reports whether the condition of an If or ElseIf holds. A condition that cannot be computed does not hold and is
// among [Env.Errors]. The error is a [*LimitError].
func (e *Env) Test(t *Tag) (bool, error) {
	e.begin(t)
	v, err := e.eval(t.Expr)
	if err != nil {
		return false, e.report(err)
	}
	e.overlooked(0)
	return e.isTrue(t.Expr, v), nil
}

// List returns the items of a loop. A list that is missing or null has none and is among
// [Env.Warnings], unless the tag has the filter optional. An object counts as a list of itself alone, since many exports
// write lists of one that way. Any other value has no items and is among [Env.Errors]. The error is a [*LimitError].
func (e *Env) List(t *Tag) ([]Value, error) {
	e.begin(t)
	v, err := e.filtered(t)
	if err != nil {
		return nil, e.report(err)
	}
	if v != nil {
		e.overlooked(0)
	}
	if t.KeyVar != "" {
		if v, err = e.entries(v); err != nil {
			return nil, e.report(err)
		}
	}
	switch v := v.(type) {
	case []any:
		return v, nil
	case *Object, *entry:
		return []any{v}, nil
	case nil:
		e.listNotProvided(e.missed(t))
		return nil, nil
	case string:
		if v == "" { // of optional, and of exports that write no list that way
			return nil, nil
		}
	}
	return nil, e.report(&fault{node: t.Expr, message: "is not a list"})
}

// Err returns a [*MissingDataError] if something was missing so far and [Options] say that this is an error, with all that is among
// [Env.Errors].
func (e *Env) Err() error {
	if e.opt.Missing == MissingError && e.lacking {
		return &MissingDataError{e.Errors()}
	}
	return nil
}

// Errors returns the errors because of which the document is incomplete, without duplicates, in the order in which
// they occurred. A missing path is named as in the tag, with the loop variable and without blanks.
func (e *Env) Errors() []string { return e.errors.lines() }

// Warnings returns the warnings for the author, without duplicates: lists that were not provided, in the order in which they occurred,
// then the keys that conditions and similar expressions read but nothing in the input has, and then the input that no tag reads, sorted.
func (e *Env) Warnings() []string {
	all := e.allWarnings()
	return all.lines()
}

// Lines are errors or warnings.
type Lines struct {
	Texts   []string // up to [MaxReports]
	Omitted int      // beyond these, duplicates included
}

// Lines returns [Env.Errors] and [Env.Warnings].
func (e *Env) Lines() (errors, warnings Lines) {
	all := e.allWarnings()
	return Lines{e.errors.lines(), e.errors.more}, Lines{all.lines(), all.more}
}

// tagWarnings returns the warnings about tags.
func (e *Env) tagWarnings() reports {
	all := reports{all: slices.Clone(e.warnings.all), more: e.warnings.more}
	for _, r := range e.absent() {
		all.add("The key '"+r.path.name()+"' was not provided in the input data.", r)
	}
	return all
}

func (e *Env) allWarnings() reports {
	all := e.tagWarnings()
	if e.opt.Use != nil {
		for _, path := range e.opt.Use.unused(e.data) {
			all.add("The tag '"+path.path+"' was provided but not used in the template.", report{unused: &path})
		}
	}
	return all
}

// begin makes t the tag that is evaluated.
func (e *Env) begin(t *Tag) {
	e.tag, e.subject, e.handled = t, t.Expr, 0
	e.missing = e.missing[:0]
	e.list = separators{}
	e.items = e.items[:0]
	e.grown, e.numbered = 0, 0
	if e.held > 0 {
		e.Release(e.Keep())
	}
	if e.presented {
		e.present, e.presented = Present{}, false
	}
}

// evaluate returns the value of a value tag with its filters. If there is none, ok is false, and it reports that.
func (e *Env) evaluate(t *Tag) (v Value, ok bool, err error) {
	e.begin(t)
	if v, err = e.filtered(t); err != nil {
		return nil, false, e.report(err)
	}
	if v != nil {
		e.overlooked(0)
		return v, true, nil
	}
	if len(e.missing) == 0 { // all paths exist, such as an empty list
		e.lacks("The tag '"+t.Expr.String()+"' has no value: the input data has nothing to compute it from.", nil)
	}
	for _, p := range e.missing {
		e.lacks("The tag '"+p.name()+"' was not provided in the input data.", p)
	}
	if e.opt.Missing == MissingBlank {
		return "", true, nil
	}
	return nil, false, nil
}

// lacks reports that the tag has no value, and the missing path, which may be nil.
func (e *Env) lacks(line string, p *Path) {
	if e.opt.Missing == MissingBlank {
		e.missingAt(&e.warnings, line, p)
		return
	}
	e.missingAt(&e.errors, line, p)
	e.lacking = true
}

func (e *Env) listNotProvided(name string, p *Path) {
	line := "The list '" + name + "' was not provided in the input data."
	if e.opt.Missing != MissingError {
		e.missingAt(&e.warnings, line, p)
		return
	}
	e.missingAt(&e.errors, line, p)
	e.lacking = true
}

// missingAt adds a line about the current tag and a missing path, which may be nil, once for all items of a loop. The line names the first.
func (e *Env) missingAt(to *reports, line string, p *Path) {
	if !to.wants(lineOfTag{line, e.tag}) {
		return
	}
	about := e.about(p)
	about.same = line
	if p != nil {
		line = placed(line, p.name(), about.datum)
	}
	to.add(line, about)
}

// missed returns the path that made a value missing, and its name.
func (e *Env) missed(t *Tag) (name string, p *Path) {
	if len(e.missing) > 0 {
		return e.missing[0].name(), e.missing[0]
	}
	return t.Expr.String(), nil
}

// about returns a report with the position of the execution, and the missing path, which may be nil.
func (e *Env) about(p *Path) report {
	at := &position{tag: e.tag, path: p, frames: e.frames}
	if p != nil {
		at.datum = e.missingDatum(p)
	}
	return report{position: at}
}

// filtered returns the value of a tag with its filters.
func (e *Env) filtered(t *Tag) (Value, error) {
	v, err := e.eval(t.Expr)
	hasEntries := t.KeyVar != "" || t.numbered && !e.hasVariable(entryKey)
	for i := range t.Filters {
		if hasEntries && err == nil {
			v, err = e.entries(v)
		}
		if err != nil {
			return nil, err
		}
		if f := &t.Filters[i]; f.fn.note != nil {
			err = e.note(f)
		} else {
			v, err = f.fn.apply(e, f, v)
		}
	}
	return v, err
}

// fault is input that does not suit a tag.
type fault struct {
	node    Node
	message string // completes a sentence that starts with the node
	datum   string // the path of the input, if that is known
}

func (f *fault) Error() string {
	if l, ok := f.node.(*Literal); ok {
		return l.String() + " " + f.message
	}
	name := f.node.String()
	return placed("'"+name+"' ", name, f.datum) + f.message
}

// locate notes the path in the input of what a fault is about, while the items around it are known.
func (e *Env) locate(f *fault) {
	switch n := f.node.(type) {
	case *Path:
		f.datum = cmp.Or(f.datum, e.datum(n))
	case *Index:
		f.datum = cmp.Or(f.datum, e.parallelDatum(n))
	}
}

// report takes a fault into the errors of the execution, and returns any other error.
func (e *Env) report(err error) error {
	f, ok := errors.AsType[*fault](err)
	if !ok {
		return err
	}
	if f = e.unquotedWord(f); !e.errors.wants(lineOfTag{f.message, e.tag}) {
		return nil
	}
	about := e.about(nil)
	about.same = f.message
	e.locate(f)
	about.datum = f.datum
	e.errors.add(fmt.Sprintf("The tag '%s' could not be computed: %s.", e.tag.named(), f), about)
	return nil
}

// spend takes n steps at a node from the meter.
func (e *Env) spend(n int, at Node) error {
	if err := e.meter.Spend(n); err != nil {
		return e.limit(at, err)
	}
	return nil
}

// hold takes n bytes of memory from the meter until the next tag begins.
func (e *Env) hold(n int, at Node) error {
	e.held += n
	if err := e.meter.Hold(n); err != nil {
		return e.limit(at, err)
	}
	return nil
}

// Keep returns the memory of the last tag's value in bytes. It stays taken from the meter until [Env.Release].
func (e *Env) Keep() (bytes int) {
	bytes, e.held = e.held, 0
	return bytes
}

// Release returns to the meter the bytes that Keep returned, when the value is no longer needed.
func (e *Env) Release(bytes int) { e.meter.Release(bytes) }

// Tag returns the tag that was evaluated last; nil before the first.
func (e *Env) Tag() *Tag { return e.tag }

// limit returns the error of a budget with the place of a node. It returns the error of a context unchanged.
func (e *Env) limit(at Node, err error) error {
	if exceeded, ok := errors.AsType[*budget.Error](err); ok {
		return &LimitError{Text: e.tag.Text, Offset: at.Position(), Err: exceeded}
	}
	return err
}

// tooLong is the error of a value that is longer than it may be.
func (e *Env) tooLong(at Node) error {
	return e.limit(at, &budget.Error{Budget: budget.Value, Limit: MaxText})
}
