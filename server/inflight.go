package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"platen/docgen"
)

// InFlight limits what requests hold while they are answered. One user has at most a share of each. 0 stands for the default.
// A request beyond a limit is answered 503 at once, with Retry-After.
type InFlight struct {
	Requests int64 // requests at a time; 2048, and an eighth of it per user. Requests without a valid token: another eighth, and an eighth of that per address
	Memory   int64 // bytes of bodies in memory, and what decoding them takes; 256 MiB, and a quarter of it per user
	Disk     int64 // bytes of bodies over 1 MiB, in files until they are complete; 1 GiB, and a quarter of it per user

	Folder string // the folder of these files, which have no names; empty: that of the system for temporary files
}

func (l InFlight) withDefaults() InFlight {
	l.Requests, l.Memory, l.Disk = cmp.Or(l.Requests, 2048), cmp.Or(l.Memory, 256<<20), cmp.Or(l.Disk, 1<<30)
	return l
}

const (
	requestShare = 8 // a user has one eighth of the requests
	guestShare   = 8 // beside all requests of users, there may be an eighth as many of guests, and an eighth of these per address
	bodyShare    = 4 // and one quarter of the bytes

	// bodyCost is what a body takes in memory while it is decoded and its data goes to the database, as a multiple of its size.
	bodyCost = 3
	// decodeWait is how long a complete body waits for memory to be decoded in.
	decodeWait = time.Minute
	// busyRetry is what Retry-After says.
	busyRetry = 2 * time.Second
)

// A pool is an amount of something that requests hold for a time. Of its total one user has at most a share. Safe for
// concurrent use.
type pool struct {
	total, share int64

	mu   sync.Mutex
	used int64
	by   map[string]int64 // user → what the user's requests hold
}

// BodyMemory is about how many bytes a body of a size takes while it is decoded and kept.
func BodyMemory(size int64) int64 { return bodyCost * size }

func newPool(total, shares int64) *pool {
	return &pool{total: total, share: max(total/shares, 1), by: map[string]int64{}}
}

// take takes n for a user and reports whether there was room. Who holds nothing gets what is larger than the share too, as
// long as the total has room for it, because no request that the other limits allow must be impossible.
func (p *pool) take(user string, n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.by[user]
	if p.used > 0 && p.used+n > p.total || held > 0 && held+n > p.share {
		return false
	}
	p.used += n
	p.by[user] = held + n
	return true
}

func (p *pool) give(user string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= n
	if p.by[user] -= n; p.by[user] == 0 {
		delete(p.by, user)
	}
}

// inFlight is what all requests hold.
type inFlight struct {
	requests, memory, disk *pool // of users
	guests                 *pool // of callers who have not said who they are, so that they take nothing from users

	// Large bodies are decoded when they are complete: as many at a time as the memory allows, and one of each user, so that
	// the bodies of one user wait for each other and not those of others for them.
	room   *semaphore.Weighted
	roomOf int64
	folder string

	mu       sync.Mutex
	decoding map[string]*turn
}

// A turn is taken by one large body of a user at a time.
type turn struct {
	taken   chan struct{} // holds one
	waiting int
}

func newInFlight(l InFlight) *inFlight {
	l = l.withDefaults()
	half := max(l.Memory/2, 1) // of small bodies, and of large ones that are decoded
	return &inFlight{
		requests: newPool(l.Requests, requestShare), memory: newPool(half, bodyShare), disk: newPool(l.Disk, bodyShare),
		guests: newPool(max(l.Requests/guestShare, 1), guestShare),
		room:   semaphore.NewWeighted(half), roomOf: half, folder: l.Folder, decoding: map[string]*turn{},
	}
}

// errBusy is the answer to a request for which there is no room now.
func errBusy(what string) error {
	return failf(codeBusy, "The server holds too many %s at the moment. Send the request again after the seconds in Retry-After, and fewer at a time.", what)
}

// hold takes n of a pool until the call ends. The holder is the user who sends the request, also on behalf of others, or an
// address without a valid token.
func (c *call) hold(p *pool, n int64, what string) error {
	who := c.holder()
	if !p.take(who, n) {
		c.w.Header().Set("Retry-After", retryAfter(busyRetry))
		return errBusy(what)
	}
	c.atEnd(func() { p.give(who, n) })
	return nil
}

// holdGuest takes the place of a guest until the call ends.
func (c *call) holdGuest() error {
	return c.hold(c.in.guests, 1, "requests without a valid access token")
}

func (c *call) holder() string {
	if c.caller != nil {
		return "user " + ID(c.caller.ActorID).String()
	}
	return "address " + addressKey(c.r.RemoteAddr)
}

// atEnd has something undone when the call ends.
func (c *call) atEnd(undo func()) { c.undo = append(c.undo, undo) }

// end undoes what the call holds, the last first.
func (c *call) end() {
	for i := len(c.undo) - 1; i >= 0; i-- {
		c.undo[i]()
	}
	c.undo = nil
}

const tooManyBytes = "bytes of request bodies"

// spoolBytes is the size from which a body is received into a file.
const spoolBytes = 1 << 20

// readAll reads a body of at most limit bytes into memory. Until the call ends, the body counts among those in flight. A
// large one is in a file until it is complete: clients take long to send, and decoding is short.
func (c *call) readAll(limit int64) ([]byte, error) {
	small, declared := min(limit, spoolBytes), c.r.ContentLength
	if declared >= 0 && declared < small {
		small = declared
	}
	if declared > small {
		if err := c.hold(c.in.disk, declared, tooManyBytes); err != nil {
			return nil, err
		}
	}
	if err := c.hold(c.in.memory, bodyCost*max(small, 1), tooManyBytes); err != nil {
		return nil, err
	}
	r := c.openBody(limit, false)
	begin := make([]byte, small)
	n, err := io.ReadFull(r, begin)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return begin[:n], r.failure
	}
	if err != nil {
		return nil, err
	}
	if declared == small || limit == small {
		_, err := io.Copy(io.Discard, r) // nothing, or what is too much
		return begin, err
	}
	return c.spool(begin, r)
}

// spool receives what follows the beginning of a body into a file, and then reads all of it.
func (c *call) spool(begin []byte, r io.Reader) ([]byte, error) {
	file, err := c.in.spoolFile()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := c.receive(file, io.MultiReader(bytes.NewReader(begin), r))
	if err != nil {
		return nil, err
	}
	if err := c.waitForRoom(bodyCost * size); err != nil {
		return nil, err
	}
	text := make([]byte, size)
	if _, err := file.ReadAt(text, 0); err != nil {
		return nil, fmt.Errorf("read a request body back: %w", err)
	}
	return text, nil
}

// spoolFile makes a file without a name.
func (f *inFlight) spoolFile() (*os.File, error) {
	file, err := os.CreateTemp(f.folder, "body-*")
	if err != nil {
		return nil, spoolError(err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func spoolError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return failf(docgen.CodeStorageFull, "The server has no room left for the request. Tell the operator.")
	}
	return fmt.Errorf("receive a request body: %w", err)
}

// receiveStep is how much of a body of unknown length is received between two looks at the room.
const receiveStep = 1 << 20

// receive copies a body into a file. One that does not declare its length takes its room step by step.
func (c *call) receive(file *os.File, r io.Reader) (size int64, err error) {
	for {
		if c.r.ContentLength < 0 {
			if err := c.hold(c.in.disk, receiveStep, tooManyBytes); err != nil {
				return 0, err
			}
		}
		n, err := io.CopyN(writeOnly{file}, r, receiveStep)
		size += n
		if err == io.EOF {
			return size, nil
		}
		if _, isWrite := errors.AsType[*os.PathError](err); isWrite {
			return 0, spoolError(err)
		}
		if err != nil {
			return 0, err
		}
	}
}

// writeOnly hides the other methods of a file.
type writeOnly struct{ io.Writer }

// waitForRoom waits until a large body may be decoded, which takes n bytes of memory until the call ends.
func (c *call) waitForRoom(n int64) error {
	ctx, cancel := context.WithTimeout(c.r.Context(), decodeWait)
	defer cancel()
	busy := func() error {
		if err := c.r.Context().Err(); err != nil {
			return err
		}
		c.w.Header().Set("Retry-After", retryAfter(busyRetry))
		return errBusy("large request bodies to decode")
	}
	leave, ok := c.in.takeTurn(ctx, c.holder())
	if !ok {
		return busy()
	}
	c.atEnd(leave)
	n = min(n, c.in.roomOf)
	if err := c.in.room.Acquire(ctx, n); err != nil {
		return busy()
	}
	c.atEnd(func() { c.in.room.Release(n) })
	return nil
}

// takeTurn waits until no other large body of the user is decoded; ok is false when ctx is done before.
func (f *inFlight) takeTurn(ctx context.Context, user string) (leave func(), ok bool) {
	f.mu.Lock()
	t := f.decoding[user]
	if t == nil {
		t = &turn{taken: make(chan struct{}, 1)}
		f.decoding[user] = t
	}
	t.waiting++
	f.mu.Unlock()
	done := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if t.waiting--; t.waiting == 0 {
			delete(f.decoding, user)
		}
	}
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken; done() }, true
	case <-ctx.Done():
		done()
		return nil, false
	}
}
