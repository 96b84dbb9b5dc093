package server

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"platen/docgen"
)

const (
	maxJSONBytes = 1 << 20          // bytes of a JSON body, but for a batch's
	bodyPause    = 30 * time.Second // how long a client may take to send the next piece of an upload
	bodyTime     = 2 * time.Minute  // how long a client may take to send all of a JSON body
)

// A body is what an operation reads of a request: at most limit bytes, and no slower than a client has reason to be. It
// remembers why it could not be read, because an operation cannot know that its reader failed through the client.
type body struct {
	io.Reader
	deadline func(time.Time) error
	pause    time.Duration // for each piece; 0 when there is one deadline for all
	limit    int64
	failure  error
}

// openBody prepares the reading of a body of at most limit bytes: in pieces of which each has its time, or as a whole.
func (c *call) openBody(limit int64, inPieces bool) *body {
	w := c.w.ResponseWriter
	c.w.unread = false
	c.body = &body{
		Reader:   http.MaxBytesReader(w, c.r.Body, limit),
		deadline: http.NewResponseController(w).SetReadDeadline,
		limit:    limit,
	}
	if inPieces {
		c.body.pause = bodyPause
	} else {
		c.body.expect(time.Now().Add(bodyTime))
	}
	return c.body
}

// expect sets until when the client must have sent what is read next. A connection that is broken says so when it is
// read from.
func (b *body) expect(at time.Time) { _ = b.deadline(at) }

func (b *body) Read(p []byte) (int, error) {
	if b.pause > 0 {
		b.expect(time.Now().Add(b.pause))
	}
	n, err := b.Reader.Read(p)
	switch {
	case err == io.EOF:
		b.expect(time.Time{}) // from now on the server only waits for the client to hang up, which must not end the call
	case err != nil:
		b.failure = err // the deadline stays, for the server reads on to keep the connection
	}
	return n, err
}

// bodyError tells what the client did wrong when its body could not be read; nil when it could.
func (c *call) bodyError() *docgen.Error {
	if c.body == nil || c.body.failure == nil {
		return nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](c.body.failure); ok {
		return tooLarge(c.body.limit)
	}
	if errors.Is(c.body.failure, os.ErrDeadlineExceeded) {
		return failf(codeTimeout, "The request body did not arrive in time.")
	}
	return failf(docgen.CodeBadRequest, "The request body ended before it was complete.")
}

func tooLarge(limit int64) *docgen.Error {
	return failf(docgen.CodeBodyTooLarge, "The request body is larger than the limit of %d bytes.", limit)
}

// readJSON reads a JSON body of at most limit bytes into the struct that v points to. What is wrong with its fields
// comes back as problems, so that an operation may add what it finds.
func (c *call) readJSON(limit int64, v any) ([]docgen.Problem, error) {
	text, err := c.readText(limit)
	if err != nil {
		return nil, err
	}
	return decode(text, v, nil)
}

// readText reads a JSON body of at most limit bytes.
func (c *call) readText(limit int64) ([]byte, error) {
	if err := wantMediaType(c.r, "application/json"); err != nil {
		return nil, err
	}
	if c.r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	return c.readAll(limit)
}

// wantMediaType checks what a request says that its body is. One that says nothing is believed.
func wantMediaType(r *http.Request, want string) error {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return failf(codeMediaType, "The body of this request must not be compressed: send it without the header Content-Encoding.")
	}
	header := r.Header.Get("Content-Type")
	if header == "" {
		return nil
	}
	if got, _, err := mime.ParseMediaType(header); err != nil || got != want {
		return failf(codeMediaType, "The body of this request must be %s: send it with the header Content-Type: %s.", want, want)
	}
	return nil
}
