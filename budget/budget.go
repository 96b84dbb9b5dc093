// Package budget bounds what one document may cost: work, bytes, memory, pixels, and time.
//
// A [Meter] counts the costs of one document. All packages of the engine charge it before they do work for the document, and stop at the
// first error. All budgets except [Time] and [TemplateTime] are deterministic: the same template, data, and limits have the same result on
// every machine. The meter also carries the context of the document, and checks it every few thousand steps.
package budget

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"
)

// Name names a budget. It is a label of metrics and part of the name of a setting.
type Name string

// The budgets of a document.
const (
	Work    Name = "work"    // steps, as Limits.Steps counts them
	Content Name = "content" // bytes of the document before they are compressed
	Size    Name = "size"    // bytes of the finished file
	Memory  Name = "memory"  // bytes held until the document is finished
	Pixels  Name = "pixels"  // pixels of images that are decoded or drawn
	Time    Name = "time"
	Value   Name = "value" // bytes of the value of one tag; not a setting

	TemplateWork Name = "template_work" // steps to compile a template; not a setting
	TemplateTime Name = "template_time"
)

// Names lists all budgets.
var Names = []Name{Work, Content, Size, Memory, Pixels, Time, Value, TemplateWork, TemplateTime}

// The default limits. ADR 20 explains them.
const (
	DefaultSteps   = 50_000_000
	DefaultContent = 1 << 30
	DefaultSize    = 256 << 20
	DefaultMemory  = 256 << 20
	DefaultPixels  = 500_000_000
	DefaultTime    = time.Minute

	// TemplateSteps is the maximum number of steps to compile a template. Bytes of XML, tags, and the searches for their context count.
	TemplateSteps = 500_000_000
)

// Unlimited turns a limit off.
const Unlimited = -1

// Limits are the limits of the budgets. Zero means the default, and [Unlimited] means no limit.
type Limits struct {
	// Steps bounds the work. Among others, these count as steps: rounds of loops, operations of the template in each round, nodes of
	// expressions, list items that filters and functions read, every 100 bytes of text that they read or write, nodes of rich text, and
	// modules of barcodes and QR codes.
	Steps   int64
	Content int64 // bytes before compression
	Size    int64 // bytes of the finished file
	Memory  int64 // bytes held at a time
	Pixels  int64
	Time    time.Duration
}

// orDefaults returns the limits with defaults in place of zeros.
func (l Limits) orDefaults() Limits {
	pick := func(n, other int64) int64 {
		switch {
		case n < 0:
			return math.MaxInt64
		case n == 0:
			return other
		}
		return n
	}
	return Limits{
		Steps: pick(l.Steps, DefaultSteps), Content: pick(l.Content, DefaultContent), Size: pick(l.Size, DefaultSize),
		Memory: pick(l.Memory, DefaultMemory), Pixels: pick(l.Pixels, DefaultPixels),
		Time: time.Duration(pick(int64(l.Time), int64(DefaultTime))),
	}
}

// Error reports that a document exceeds a budget. A retry fails again.
type Error struct {
	Budget Name
	Limit  int64  // steps, bytes, pixels, or nanoseconds
	Where  string // the location in the template, or "" if it is unknown
}

// messages maps each budget to the limit in words, the advice, and the name of its setting or "".
var messages = map[Name][3]string{
	TemplateWork: {"%d steps to compile", "Use fewer blocks and shorter tables, or split the template", ""},
	TemplateTime: {"%v to compile", "Use fewer tags and blocks, or split the template", "template-time"},
	Work:         {"%d steps of work", "Use shorter lists, fewer nested loops, or fewer filters", "document-steps"},
	Content:      {"%d bytes of content", "Print less text, or split the document", "document-content"},
	Size:         {"%d bytes as a file", "Use fewer or smaller images, or split the document", "document-size"},
	Memory:       {"%d bytes of memory", "Use fewer or smaller images and charts, and shorter values", "document-memory"},
	Pixels:       {"%d pixels of images that must be decoded", "Use smaller images, or upright PNG and JPEG files", "document-pixels"},
	Time:         {"%v to generate", "Use less data, or split the document", "document-time"},
	Value:        {"%d bytes for the value of one tag", "Print fewer or shorter items", ""},
}

// Error returns a message with the budget, its limit, the location, and the advice.
func (e *Error) Error() string {
	m := messages[e.Budget]
	limit := any(e.Limit)
	if e.Budget == Time || e.Budget == TemplateTime {
		limit = time.Duration(e.Limit)
	}
	where := ""
	if e.Where != "" {
		where = " at " + e.Where
	}
	setting := ""
	if m[2] != "" {
		setting = ", or have the operator raise --" + m[2]
	}
	what := "document"
	if e.Budget == TemplateWork || e.Budget == TemplateTime {
		what = "template"
	}
	return fmt.Sprintf("The "+what+" exceeds its budget of "+m[0]+"%s. %s%s.", limit, where, m[1], setting)
}

// pollSteps is the maximum number of steps between two checks of the context and the clock.
const pollSteps = 20_000

// Meter counts the costs of one document. It is not safe for concurrent use. A nil Meter counts nothing and has no limits.
type Meter struct {
	ctx      context.Context
	limits   Limits
	deadline time.Time // zero if there is none
	template bool      // whether a template is being compiled

	next                                 int64 // the number of steps at which to check again
	steps, content, size, memory, pixels int64
}

// Used is the cost of a document so far.
type Used struct{ Steps, Content, Size, Memory, Pixels int64 }

// New returns a meter whose time begins now. Its methods return errors once ctx has ended.
func New(ctx context.Context, limits Limits) *Meter {
	m := &Meter{ctx: ctx, limits: limits.orDefaults()}
	if limits.Time >= 0 {
		m.deadline = time.Now().Add(m.limits.Time)
	}
	return m
}

// ForTemplate returns a meter for compiling a template. For longest, zero means the default, and a negative value means no limit.
func ForTemplate(ctx context.Context, longest time.Duration) *Meter {
	m := New(ctx, Limits{Steps: TemplateSteps, Time: longest})
	m.template = true
	return m
}

// Used returns the cost so far.
func (m *Meter) Used() Used { return Used{m.steps, m.content, m.size, m.memory, m.pixels} }

// Spend adds n steps. The error is an [*Error], or the cause of the context's end.
func (m *Meter) Spend(n int) error {
	if m == nil {
		return nil
	}
	if m.steps += int64(n); m.steps > m.next {
		return m.look()
	}
	return nil
}

// Count adds n steps, which the next call of [Meter.Spend] checks.
func (m *Meter) Count(n int) {
	if m != nil {
		m.steps += int64(n)
	}
}

// look checks the steps, the context, and the clock.
func (m *Meter) look() error {
	if m.steps > m.limits.Steps {
		return &Error{Budget: m.name(Work, TemplateWork), Limit: m.limits.Steps}
	}
	if err := m.Check(); err != nil {
		return err
	}
	m.next = min(m.steps+pollSteps, m.limits.Steps)
	return nil
}

func (m *Meter) name(document, template Name) Name {
	if m.template {
		return template
	}
	return document
}

// Check returns an error if the document has exceeded its time or was canceled. Call it before each piece of work that does not count as
// steps.
func (m *Meter) Check() error {
	if m == nil {
		return nil
	}
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	if !m.deadline.IsZero() && time.Now().After(m.deadline) {
		return &Error{Budget: m.name(Time, TemplateTime), Limit: int64(m.limits.Time)}
	}
	return nil
}

// Write adds n bytes of content.
func (m *Meter) Write(n int) error {
	if m == nil {
		return nil
	}
	if m.content += int64(n); m.content > m.limits.Content {
		return &Error{Budget: Content, Limit: m.limits.Content}
	}
	return nil
}

// Unwrite subtracts n bytes of content that were discarded.
func (m *Meter) Unwrite(n int) { m.content -= int64(n) }

// Hold adds n bytes of memory, which [Meter.Release] returns.
func (m *Meter) Hold(n int) error {
	if m == nil {
		return nil
	}
	if m.memory += int64(n); m.memory > m.limits.Memory {
		return &Error{Budget: Memory, Limit: m.limits.Memory}
	}
	return nil
}

// Release returns n bytes of memory.
func (m *Meter) Release(n int) {
	if m != nil {
		m.memory -= int64(n)
	}
}

// Draw adds the pixels of an image that is about to be decoded or drawn.
func (m *Meter) Draw(width, height int) error {
	if m == nil {
		return nil
	}
	if m.pixels += int64(width) * int64(height); m.pixels > m.limits.Pixels {
		return &Error{Budget: Pixels, Limit: m.limits.Pixels}
	}
	return m.Check()
}

// Context returns the context of the document, for calls on its behalf.
func (m *Meter) Context() context.Context {
	if m == nil {
		return context.Background()
	}
	return m.ctx
}

// Output returns a writer for the finished file, which counts the bytes toward its size.
func (m *Meter) Output(w io.Writer) io.Writer { return &output{w, m} }

type output struct {
	io.Writer
	meter *Meter
}

func (o *output) Write(p []byte) (int, error) {
	m := o.meter
	if m.size += int64(len(p)); m.size > m.limits.Size {
		return 0, &Error{Budget: Size, Limit: m.limits.Size}
	}
	if err := m.Check(); err != nil {
		return 0, err
	}
	return o.Writer.Write(p)
}

// Reader returns a reader that fails when Check does, for decoders that do not take a context.
func (m *Meter) Reader(r io.Reader) io.Reader {
	if m == nil {
		return r
	}
	return &reader{r, m}
}

type reader struct {
	io.Reader
	meter *Meter
}

// Writer is [Meter.Reader] for encoders. The bytes that it writes do not count.
func (m *Meter) Writer(w io.Writer) io.Writer {
	if m == nil {
		return w
	}
	return &writer{w, m}
}

type writer struct {
	io.Writer
	meter *Meter
}

func (w *writer) Write(p []byte) (int, error) {
	if err := w.meter.Check(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// readAtOnce is the maximum number of bytes that are read between two checks.
const readAtOnce = 32 << 10

func (r *reader) Read(p []byte) (int, error) {
	if err := r.meter.Check(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p[:min(len(p), readAtOnce)])
}
