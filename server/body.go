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
	maxJSONBytes = 1 << 20          // maximum size of a JSON body, except for batches
	bodyPause    = 30 * time.Second // maximum time to receive the next part of an upload
	bodyTime     = 2 * time.Minute  // maximum time to receive a JSON body
)

// A body reads the body of a request, up to limit bytes, with deadlines. It records why reading failed, because an operation cannot tell
// that its reader failed because of the client.
type body struct {
	io.Reader
	deadline func(time.Time) error
	pause    time.Duration // for each part; 0 if the whole body has one deadline
	limit    int64
	failure  error
}

// openBody prepares a body of up to limit bytes, with a deadline for each part or for the whole.
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

// expect sets the deadline for the next read. If the connection is broken, the read fails and reports it.
// read from.
func (b *body) expect(at time.Time) { _ = b.deadline(at) }

func (b *body) Read(p []byte) (int, error) {
	if b.pause > 0 {
		b.expect(time.Now().Add(b.pause))
	}
	n, err := b.Reader.Read(p)
	switch {
	case err == io.EOF:
		b.expect(time.Time{}) // from here on, the server only waits for the client to disconnect, which must not abort the request
	case err != nil:
		b.failure = err // the deadline stays, because the server keeps reading to keep the connection alive
	}
	return n, err
}

// bodyError returns the Error for a body that could not be read because of the client, or nil.
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

// readJSON reads a JSON body of up to maxJSONBytes into the struct that v points to. It returns invalid fields as problems, so that the
// operation can add its own.
func (c *call) readJSON(v any) ([]docgen.Problem, error) {
	text, err := c.readText(maxJSONBytes)
	if err != nil {
		return nil, err
	}
	return c.decode(text, v)
}

// decode decodes a JSON object, with the tolerance of the call.
func (c *call) decode(text []byte, v any) ([]docgen.Problem, error) {
	if c.tolerant {
		return decodeTolerant(text, v)
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

// wantMediaType checks the declared type of the request body. A request without one is accepted.
func wantMediaType(r *http.Request, want string) error {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return failf(codeMediaType, "The request body must not be compressed. Send it without the header Content-Encoding.")
	}
	header := r.Header.Get("Content-Type")
	if header == "" {
		return nil
	}
	if got, _, err := mime.ParseMediaType(header); err != nil || got != want {
		return failf(codeMediaType, "The request body must be %s. Send the header Content-Type: %s.", want, want)
	}
	return nil
}
