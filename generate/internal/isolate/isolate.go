// Package isolate generates one document, or merges some, in a process of its own, for documents that were in progress when servers
// crashed. A crash then only ends that process.
//
// The process reads the template and the data from a pipe, requests included files, images, and documents to merge through another, and
// sends the document in pieces. Its memory and processor time are limited, and it ends with its parent.
package isolate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"platen/docx"
	"platen/docx/lang"
)

// Command is the argument that makes a program such a process.
const Command = "generate-isolated"

// Limits of a process.
const (
	maxMemory = 4 << 30 // bytes of private memory
	maxCPU    = 600     // seconds
	maxSaid   = 4 << 10 // bytes of its error output that are kept
	pieceSize = 64 << 10
)

// Order is a document to generate.
type Order struct {
	Template     []byte
	Data         []byte // JSON
	Settings     docx.Settings
	Limits       docx.Limits
	TemplateTime time.Duration
	Now          time.Time
	ForPDF       bool
	Images       bool   // whether it may request images
	WordML       bool   // whether the filter wordml is allowed
	Memory       uint64 // limit of private memory, in bytes; 0 means 4 GiB
}

// Sources provide the files that a document references. A *[ServerError] of a source ends the process; the process receives any other
// error.
type Sources struct {
	Include func(name string) ([]byte, error)
	Picture func(ctx context.Context, address string) ([]byte, error) // nil if there are none
}

// DiedError is a process that ended without a result.
type DiedError struct {
	How    string // such as "signal: killed"
	Said   string // the start of its error output
	merged bool   // whether it merged documents
}

func (e *DiedError) Error() string {
	if e.merged {
		return "The process that merged the documents in isolation ended (" + e.How + "), after servers crashed while they merged them. " +
			"The documents themselves are complete. To merge them, send fewer in one batch."
	}
	return "The process that generated the document in isolation ended (" + e.How + "), after servers crashed while they generated it. " +
		"Simplify the template or the data, and send the document again."
}

// ServerError is an error of the server: a process could not be started, or a source failed. The document can be retried.
type ServerError struct{ Err error }

func (e *ServerError) Error() string { return "generate in isolation: " + e.Err.Error() }
func (e *ServerError) Unwrap() error { return e.Err }

// FailedError is the reason of the process why there is no document.
type FailedError struct{ Message string }

func (e *FailedError) Error() string { return e.Message }

// task is the work of a process. One of its fields is set.
type task struct {
	Document *Order
	Merge    *mergeOrder
}

// message is a message of a process. One of its fields is set.
type message struct {
	Include, Picture string
	Document         int // to merge, starting with 1
	Piece            []byte
	Result           *result
}

type result struct {
	Report     []byte // JSON
	Failure    string
	Incomplete bool
}

// reply is the response to a message with a request.
type reply struct {
	Content []byte
	Problem string
	More    bool // more content follows
}

// answerer responds to a message. Its error ends the process, unless it is an error of send, which means that the process has ended.
type answerer func(ctx context.Context, m message, send func(reply) error) error

// Run generates a document in a process of a program, and writes the document to w. Errors are *[DiedError], *[FailedError],
// *[ServerError], [docx.ErrIncomplete], those of w, and the cause of ctx.
func Run(ctx context.Context, program string, order Order, sources Sources, w io.Writer) (docx.Report, error) {
	done, err := run(ctx, program, task{Document: &order}, sources.answer, w)
	if err != nil {
		return docx.Report{}, err
	}
	return done.outcome()
}

// run runs a task in a process of a program.
func run(outer context.Context, program string, t task, answer answerer, w io.Writer) (*result, error) {
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, Command)
	said := &words{}
	cmd.Stderr, cmd.Env = said, []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, &ServerError{err}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, &ServerError{err}
	}
	if err := cmd.Start(); err != nil {
		return nil, &ServerError{err}
	}
	done, err := converse(ctx, t, answer, in, out, w)
	if err == nil { // it has completed its work
		in.Close() //nolint:errcheck // it may have ended on its own
	}
	_, died := errors.AsType[*DiedError](err)
	if err != nil && !died {
		cancel()
	}
	waited := cmd.Wait()
	switch {
	case err != nil && outer.Err() != nil:
		return nil, context.Cause(outer)
	case died:
		return nil, &DiedError{How: how(waited), Said: said.String(), merged: t.Merge != nil}
	case err != nil:
		return nil, err
	}
	return done, nil
}

func how(err error) string {
	if err == nil {
		return "it ended early"
	}
	return err.Error()
}

// converse sends the order, and responds to messages until there is a result.
func converse(ctx context.Context, t task, answer answerer, in io.Writer, out io.Reader, w io.Writer) (*result, error) {
	to, from := gob.NewEncoder(in), gob.NewDecoder(out)
	if err := to.Encode(t); err != nil {
		return nil, &DiedError{}
	}
	send := func(r reply) error {
		if err := to.Encode(r); err != nil {
			return &DiedError{}
		}
		return nil
	}
	for {
		var m message
		if err := from.Decode(&m); err != nil {
			return nil, &DiedError{}
		}
		switch {
		case m.Result != nil:
			return m.Result, nil
		case m.Piece != nil:
			if _, err := w.Write(m.Piece); err != nil {
				return nil, err
			}
			continue
		}
		if err := answer(ctx, m, send); err != nil {
			return nil, err
		}
	}
}

func (s Sources) answer(ctx context.Context, m message, send func(reply) error) error {
	var r reply
	err := errors.New("is not available")
	switch {
	case m.Include != "":
		r.Content, err = s.Include(m.Include)
	case s.Picture != nil:
		r.Content, err = s.Picture(ctx, m.Picture)
	}
	if _, ours := errors.AsType[*ServerError](err); ours {
		return err
	}
	if err != nil {
		r.Problem = err.Error()
	}
	return send(r)
}

func (r *result) outcome() (docx.Report, error) {
	var report docx.Report
	if err := json.Unmarshal(r.Report, &report); err != nil {
		return report, fmt.Errorf("the report of a process: %w", err)
	}
	switch {
	case r.Incomplete:
		return report, docx.ErrIncomplete
	case r.Failure != "":
		return report, &FailedError{r.Failure}
	}
	return report, nil
}

// words keeps the start of the error output of a process.
type words struct{ text bytes.Buffer }

func (w *words) Write(b []byte) (int, error) {
	w.text.Write(b[:min(len(b), max(0, maxSaid-w.text.Len()))])
	return len(b), nil
}

func (w *words) String() string { return strings.ToValidUTF8(w.text.String(), "?") }

// Worker generates a document in this process if its arguments ask for it, and then does not return.
func Worker(args []string) {
	if len(args) != 2 || args[1] != Command {
		return
	}
	if err := work(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// misbehave is called before a task runs. Tests use it to simulate a misbehaving document.
var misbehave = func(_ task) {}

func work(in io.Reader, out io.Writer) error {
	from := gob.NewDecoder(in)
	var t task
	if err := from.Decode(&t); err != nil {
		return fmt.Errorf("only the server can start this command: %w", err)
	}
	for resource, limit := range map[int]uint64{syscall.RLIMIT_DATA: t.memory(), syscall.RLIMIT_CPU: maxCPU, syscall.RLIMIT_CORE: 0} {
		if err := bound(resource, limit); err != nil {
			return fmt.Errorf("limit the resources of the process: %w", err)
		}
	}
	// If memory runs out, the kernel should end this process rather than the server. Not every container allows this.
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil && !errors.Is(err, os.ErrPermission) &&
		!errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("prefer this process when memory runs out: %w", err)
	}
	p := &process{to: gob.NewEncoder(out), replies: make(chan reply)}
	go p.listen(from)
	misbehave(t)
	var report docx.Report
	var err error
	if t.Merge != nil {
		err = p.merge(t.Merge)
	} else {
		report, err = p.generate(*t.Document)
	}
	r := &result{Incomplete: errors.Is(err, docx.ErrIncomplete)}
	if err != nil {
		r.Failure = err.Error()
	}
	if r.Report, err = json.Marshal(report); err != nil {
		return err
	}
	return p.to.Encode(message{Result: r})
}

// bound limits a resource of this process, or less if the process may not have that much.
func bound(resource int, limit uint64) error {
	var current syscall.Rlimit
	if err := syscall.Getrlimit(resource, &current); err != nil {
		return err
	}
	limit = min(limit, current.Max)
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit})
}

// memory returns the limit of private memory, in bytes.
func (t task) memory() uint64 {
	if t.Merge != nil {
		return cmp.Or(t.Merge.Memory, maxMemory)
	}
	return cmp.Or(t.Document.Memory, maxMemory)
}

// process is the state inside the process.
type process struct {
	to      *gob.Encoder
	replies chan reply
}

// listen passes on the responses of the parent, and ends the process when the parent has ended.
func (p *process) listen(from *gob.Decoder) {
	for {
		var r reply
		if err := from.Decode(&r); err != nil {
			os.Exit(1)
		}
		p.replies <- r
	}
}

func (p *process) ask(m message) ([]byte, error) {
	if err := p.to.Encode(m); err != nil {
		return nil, err
	}
	r := <-p.replies
	if r.Problem != "" {
		return nil, errors.New(r.Problem)
	}
	return r.Content, nil
}

// Write sends a piece of the document.
func (p *process) Write(b []byte) (int, error) {
	for from := 0; from < len(b); from += pieceSize {
		if err := p.to.Encode(message{Piece: b[from:min(from+pieceSize, len(b))]}); err != nil {
			return from, err
		}
	}
	return len(b), nil
}

func (p *process) generate(order Order) (docx.Report, error) {
	ctx := context.Background()
	template, err := docx.ParseWith(ctx, bytes.NewReader(order.Template), int64(len(order.Template)), docx.ParseOptions{
		Time: order.TemplateTime, Include: func(name string) ([]byte, error) { return p.ask(message{Include: name}) },
	})
	if err != nil {
		return docx.Report{}, fmt.Errorf("The template cannot be used: %w", err) //nolint:staticcheck // a sentence for a person
	}
	data, err := lang.Decode(order.Data)
	if err != nil {
		return docx.Report{}, fmt.Errorf("The input data cannot be read: %w", err) //nolint:staticcheck // a sentence for a person
	}
	options, wrong := order.Settings.Options()
	if len(wrong) > 0 {
		return docx.Report{}, wrong[0]
	}
	options.Limits, options.Now, options.ForPDF, options.WordML = order.Limits, order.Now, order.ForPDF, order.WordML
	if order.Images {
		options.Picture = func(_ context.Context, address string) ([]byte, error) { return p.ask(message{Picture: address}) }
	}
	return template.Execute(ctx, p, data, options)
}
