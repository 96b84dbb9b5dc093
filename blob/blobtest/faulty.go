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

// The operations that can be made to fail.
const (
	Put Op = iota
	Open
	Stat
	Delete
	List
	Check
)

// Faulty is a store that fails on cue and otherwise is the one it wraps.
type Faulty struct {
	blob.Store
	mu      sync.Mutex
	cues    map[Op]*cue
	room    int64 // bytes that can still be put
	limited bool  // room counts
}

type cue struct {
	in  int // calls from now, 1 for the next
	err error
}

// NewFaulty wraps a store that does not fail yet.
func NewFaulty(s blob.Store) *Faulty { return &Faulty{Store: s, cues: map[Op]*cue{}} }

// Fail makes the n-th call of op from now on fail with err, and only that; n is 1 for the next.
func (f *Faulty) Fail(op Op, n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cues[op] = &cue{in: n, err: err}
}

// Room leaves room for n more bytes; what goes beyond fails with [blob.ErrNoSpace], in the midst of being put. A negative
// n leaves as much as there is.
func (f *Faulty) Room(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room, f.limited = n, n >= 0
}

// fault counts a call of op and returns its error when it is the one to fail.
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

// Put fails on cue before it reads anything, and for want of room after it has read what there was room for.
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

// Delete fails on cue, and then removes nothing.
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

// roomReader takes the room of what it reads.
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
