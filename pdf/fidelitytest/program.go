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
	maxSaid  = 1 << 10         // bytes of what a program says to its standard error
	waitTime = time.Second     // for a program that was ended to be gone
)

// run runs a program of poppler, and lets read have what it writes, to the end. The program is gone when run returns.
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
		cancel() // it may wait for somebody to read on
	}
	if err = outcome(err, late, cmd.Wait(), said); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	return nil
}

// outcome is why a program failed, if it did.
func outcome(read, late, wait error, said *beginning) error {
	var exit *exec.ExitError
	switch {
	case late != nil:
		return late
	case read != nil && !(errors.As(wait, &exit) && exit.Exited()): // otherwise there was nothing to read for a reason
		return read
	case wait != nil:
		return fmt.Errorf("%w: %s", wait, bytes.TrimSpace(said.text))
	}
	return nil
}

// beginning keeps the beginning of what is written to it.
type beginning struct{ text []byte }

func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), maxSaid-len(b.text))]...)
	return len(p), nil
}
