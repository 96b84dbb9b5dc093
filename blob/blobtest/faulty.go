package blobtest

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"

	"platen/blob"
)

// Op is an operation of a store.
type Op int

// The operations that can fail.
const (
	Put Op = iota
	Open
	Stat
	Delete
	List
	Check
)

// Faulty is a store that fails on cue, and otherwise behaves like the store that it wraps.
type Faulty struct {
	blob.Store
	mu      sync.Mutex
	cues    map[Op]*cue
	room    int64 // bytes that can still be stored
	limited bool  // whether room applies
}

type cue struct {
	in  int // number of calls from now, 1 for the next
	err error
}

// NewFaulty wraps a store, without failures.
func NewFaulty(s blob.Store) *Faulty { return &Faulty{Store: s, cues: map[Op]*cue{}} }

// Fail makes only the n-th call of op from now on fail with err; n is 1 for the next.
func (f *Faulty) Fail(op Op, n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cues[op] = &cue{in: n, err: err}
}

// Room limits the space to n more bytes. A Put that exceeds it fails with [blob.ErrNoSpace] while it reads. A negative n removes the
// limit.
func (f *Faulty) Room(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room, f.limited = n, n >= 0
}

// fault counts a call of op, and returns its error if the call must fail.
func (f *Faulty) fault(op Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.cues[op]
	if c == nil {
		return nil
	}
	if c.in--; c.in > 0 {
		return nil
	}
	delete(f.cues, op)
	return c.err
}

// Put fails on cue before it reads anything, and for lack of space after it has read as much as fits.
func (f *Faulty) Put(ctx context.Context, key string, r io.Reader) (int64, error) {
	if err := f.fault(Put); err != nil {
		return 0, fmt.Errorf("put %s: %w", key, err)
	}
	return f.Store.Put(ctx, key, &roomReader{f, r})
}

// Open fails on cue.
func (f *Faulty) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := f.fault(Open); err != nil {
		return nil, fmt.Errorf("open %s: %w", key, err)
	}
	return f.Store.Open(ctx, key, offset, length)
}

// Stat fails on cue.
func (f *Faulty) Stat(ctx context.Context, key string) (blob.Info, error) {
	if err := f.fault(Stat); err != nil {
		return blob.Info{}, fmt.Errorf("stat %s: %w", key, err)
	}
	return f.Store.Stat(ctx, key)
}

// Delete fails on cue, without removing anything.
func (f *Faulty) Delete(ctx context.Context, key string) error {
	if err := f.fault(Delete); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return f.Store.Delete(ctx, key)
}

// List fails on cue with its first and only pair.
func (f *Faulty) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	if err := f.fault(List); err != nil {
		return func(yield func(blob.Info, error) bool) { yield(blob.Info{}, fmt.Errorf("list: %w", err)) }
	}
	return f.Store.List(ctx, prefix)
}

// Check fails on cue.
func (f *Faulty) Check(ctx context.Context) error {
	if err := f.fault(Check); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return f.Store.Check(ctx)
}

// roomReader counts the bytes that it reads against the space.
type roomReader struct {
	f *Faulty
	r io.Reader
}

func (r *roomReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if !r.f.limited {
		return n, err
	}
	if int64(n) > r.f.room {
		return int(r.f.room), blob.ErrNoSpace
	}
	r.f.room -= int64(n)
	return n, err
}
