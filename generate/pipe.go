package generate

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// piped is a stream that is read while it is written.
type piped struct {
	*io.PipeReader
	done    chan struct{}
	failure error // why it could not be written
}

// pipe starts write. A panic of write becomes a *panicError.
func pipe(write func(io.Writer) error) *piped {
	r, w := io.Pipe()
	p := &piped{PipeReader: r, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.failure = guarded(write, w)
		w.CloseWithError(p.failure)
	}()
	return p
}

func guarded(write func(io.Writer) error, w io.Writer) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
		}
	}()
	return write(w)
}

// wait ends the reading and waits for the writer. It returns the error of the writer, unless the reader stopped early, which is not the
// writer's fault.
func (p *piped) wait() error {
	p.CloseWithError(errReaderStopped)
	<-p.done
	if errors.Is(p.failure, errReaderStopped) {
		return nil
	}
	return p.failure
}

var errReaderStopped = errors.New("the document is no longer read")

// panicError is a panic of a writer.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }
