package fidelitytest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func readAll(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

func TestRun(t *testing.T) {
	var got []byte
	read := func(r io.Reader) (err error) {
		got, err = io.ReadAll(r)
		return err
	}
	if err := run(t.Context(), read, "sh", "-c", "echo warned >&2; echo written"); err != nil || string(got) != "written\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRunFails(t *testing.T) {
	full := errors.New("enough")
	two := func(r io.Reader) error {
		_, err := io.ReadFull(r, make([]byte, 2))
		return errors.Join(err, full)
	}
	tests := []struct {
		name   string
		read   func(io.Reader) error
		script string
		want   string
	}{
		{"a status", readAll, "echo no such page >&2; exit 3", "exit status 3: no such page"},
		{"a status, and too little to read", two, "echo no such page >&2; exit 3", "exit status 3: no such page"},
		{"a signal", readAll, "kill -9 $$", "signal: killed"},
		{"a reader that stops before an endless output", two, "exec yes", "enough"},
		{"a long message", readAll, "yes | head -c 1000000 >&2; exit 1", "exit status 1: y\ny"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := run(t.Context(), tt.read, "sh", "-c", tt.script)
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 2*maxSaid {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	if err := run(t.Context(), readAll, "no-such-program"); err == nil || !strings.Contains(err.Error(), "poppler-utils") {
		t.Errorf("a missing program: %v", err)
	}
}

// A program that does not exit is killed when the context is done, even while its output is being read.
func TestRunEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := run(ctx, func(r io.Reader) error {
		_, err := r.Read(make([]byte, 1))
		cancel()
		return errors.Join(err, readAll(r))
	}, "yes")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}
