package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"platen/docgen"
)

// InFlight limits the resources of requests in flight. Each user has a share of each limit. 0 means the default. A request beyond a limit
// gets 503 with Retry-After immediately.
type InFlight struct {
	// Concurrent requests; default 2048, an eighth per user. Requests without a valid token: an eighth more, and an
	// eighth of that per address; requests for the pages of shared links: as many again.
	Requests int64
	Memory   int64 // bytes of bodies in memory, including decoding; default 256 MiB, a quarter per user
	Disk     int64 // bytes of bodies over 1 MiB, which are in files until they are complete; default 1 GiB, a quarter per user

	// Requests that wait for a batch, a job, or events, and streams of progress; default 2048, an eighth per user. They are not among
	// Requests.
	Waiting int64

	Folder string // the folder for these files, which have no names; default: the system's folder for temporary files
}

func (l InFlight) withDefaults() InFlight {
	l.Waiting = cmp.Or(l.Waiting, 2048)
	l.Requests, l.Memory, l.Disk = cmp.Or(l.Requests, 2048), cmp.Or(l.Memory, 256<<20), cmp.Or(l.Disk, 1<<30)
	return l
}

const (
	requestShare = 8 // one user can have one eighth of the requests
	guestShare   = 8 // guests can have an eighth as many requests in addition, and one address an eighth of these
	bodyShare    = 4 // one user can have one quarter of the bytes

	// bodyCost is the memory for a body while it is decoded and written to the database, as a multiple of its size.
	bodyCost = 3
	// decodeWait is the maximum time that a complete body waits for memory.
	decodeWait = time.Minute
	// busyRetry is the value of Retry-After.
	busyRetry = 2 * time.Second
)

// A pool is a limited resource that requests hold for a time. Each user can hold a share of the total. A pool is safe for concurrent use.
type pool struct {
	total, share int64

	mu   sync.Mutex
	used int64
	by   map[string]int64 // by user: the amount that the user's requests hold
}

// BodyMemory returns the approximate memory for a body of the given size while it is decoded.
func BodyMemory(size int64) int64 { return bodyCost * size }

func newPool(total, shares int64) *pool {
	return &pool{total: total, share: max(total/shares, 1), by: map[string]int64{}}
}

// take takes n for a user and reports whether there was enough. A user who holds nothing can exceed the share if the total allows it, so
// that no request within the other limits is impossible.
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

// inFlight holds the resources of all requests in flight.
type inFlight struct {
	requests, memory, disk *pool // of users
	waiting                *pool
	guests                 *pool // of unauthenticated callers, so that they take nothing from users
	visitors               *pool // of the pages of shared links, whose downloads take long, so that they keep nobody from getting tokens

	// Large bodies are decoded once they are complete: as many at a time as fit into memory, and one per user, so that the bodies of one
	// user wait for each other and do not delay those of others.
	room   *semaphore.Weighted
	roomOf int64
	folder string

	mu       sync.Mutex
	decoding map[string]*turn
}

// A turn is held by one large body of a user at a time.
type turn struct {
	taken   chan struct{} // one element while held
	waiting int
}

func newInFlight(l InFlight) *inFlight {
	l = l.withDefaults()
	half := max(l.Memory/2, 1) // half for small bodies, half for large ones that are being decoded
	return &inFlight{
		requests: newPool(l.Requests, requestShare), memory: newPool(half, bodyShare), disk: newPool(l.Disk, bodyShare),
		waiting: newPool(l.Waiting, requestShare),
		guests:  newPool(max(l.Requests/guestShare, 1), guestShare), visitors: newPool(max(l.Requests/guestShare, 1), guestShare),
		room: semaphore.NewWeighted(half), roomOf: half, folder: l.Folder, decoding: map[string]*turn{},
	}
}

// errBusy returns the Error for a request that exceeds a limit.
func errBusy(what string) error {
	return failf(codeBusy, "The server has reached its limit of %s. Send the request again after Retry-After seconds, and send "+
		"fewer at a time.", what)
}

// hold takes n of a pool until the call ends, for the user who sends the request, even on behalf of another user, or for an address
// without a valid token.
func (c *call) hold(p *pool, n int64, what string) error {
	err := c.reserve(p, n, what)
	if err != nil {
		c.w.Header().Set("Retry-After", retryAfter(busyRetry))
	}
	return err
}

// reserve is hold without the header of the response.
func (c *call) reserve(p *pool, n int64, what string) error {
	who := c.holder()
	if !p.take(who, n) {
		return errBusy(what)
	}
	c.atEnd(func() { p.give(who, n) })
	return nil
}

// holdRequest counts the call as a request until it ends or waits.
func (c *call) holdRequest() error {
	if err := c.hold(c.in.requests, 1, "requests"); err != nil {
		return err
	}
	leave := sync.OnceFunc(c.undo[len(c.undo)-1])
	c.undo[len(c.undo)-1], c.leave = leave, leave
	return nil
}

// holdWaiting counts the call as one that waits until it ends, instead of as a request.
func (c *call) holdWaiting() error {
	if err := c.hold(c.in.waiting, 1, "requests that wait for batches, jobs, and events"); err != nil {
		return err
	}
	c.leave()
	return nil
}

// holdGuest counts the call as one of a guest until it ends.
func (c *call) holdGuest() error {
	return c.hold(c.in.guests, 1, "requests without a valid access token")
}

// holdVisitor counts the call as one of a visitor of a shared link until it ends.
func (c *call) holdVisitor() error {
	return c.hold(c.in.visitors, 1, "requests for shared links")
}

func (c *call) holder() string {
	if c.caller != nil {
		return "user " + ID(c.caller.ActorID).String()
	}
	return "address " + addressKey(c.r.RemoteAddr)
}

// atEnd calls undo when the call ends.
func (c *call) atEnd(undo func()) { c.undo = append(c.undo, undo) }

// end releases what the call holds, in reverse order.
func (c *call) end() {
	for _, undo := range slices.Backward(c.undo) {
		undo()
	}
	c.undo = nil
}

const tooManyBytes = "bytes of request bodies"

// spoolBytes is the size from which a body is received into a file.
const spoolBytes = 1 << 20

// readAll reads a body of up to limit bytes into memory. The body counts as in flight until the call ends. A large one is in a file until
// it is complete: receiving takes long, and decoding is short.
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
		_, err := io.Copy(io.Discard, r) // nothing, or more than the limit
		return begin, err
	}
	return c.spool(begin, r)
}

// spool receives the rest of a body into a file, and then reads all of it.
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

// spoolFile creates a file without a name.
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
		return failf(docgen.CodeStorageFull, "The server has no disk space left for the request. Contact the operator.")
	}
	return fmt.Errorf("receive a request body: %w", err)
}

// receiveStep is the number of bytes of a body of unknown length for which space is reserved at once.
const receiveStep = 1 << 20

// receive copies a body to a file. For a body without a declared length, it reserves the space in steps.
func (c *call) receive(file *os.File, r io.Reader) (size int64, err error) {
	for {
		if c.r.ContentLength < 0 {
			if err := c.hold(c.in.disk, receiveStep, tooManyBytes); err != nil {
				return 0, err
			}
		}
		n, err := io.CopyN(writeOnly{file}, r, receiveStep)
		size += n
		if errors.Is(err, io.EOF) {
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

// waitForRoom waits until n bytes of memory are available to decode a large body, and holds them until the call ends.
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

// takeTurn waits until no other large body of the user is being decoded. ok is false if ctx is done first.
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
