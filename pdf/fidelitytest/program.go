package fidelitytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

const (
	maxTime  = 2 * time.Minute // for one program and one document
	maxSaid  = 1 << 10         // bytes of a program's standard error that are kept
	waitTime = time.Second     // for a killed program to exit
)

// run runs a program of poppler, and passes its output to read, which must read it to the end. When run returns, the
// program has exited.
func run(ctx context.Context, read func(io.Reader) error, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	said := &beginning{}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr, cmd.WaitDelay = said, waitTime
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w (on Debian: apt-get install poppler-utils)", err)
	}
	err = read(out)
	late := ctx.Err()
	if err != nil {
		cancel() // it may be blocked on writing
	}
	if err = outcome(err, late, cmd.Wait(), said); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	return nil
}

// outcome returns the reason why a program failed, or nil.
func outcome(read, late, wait error, said *beginning) error {
	var exit *exec.ExitError
	switch {
	case late != nil:
		return late
	case read != nil && !(errors.As(wait, &exit) && exit.Exited()): // otherwise the exit status explains why there was nothing to read
		return read
	case wait != nil:
		return fmt.Errorf("%w: %s", wait, bytes.TrimSpace(said.text))
	}
	return nil
}

// beginning keeps the first bytes that are written to it.
type beginning struct{ text []byte }

func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), maxSaid-len(b.text))]...)
	return len(p), nil
}
