package server

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"sync"
)

// net/http reads a request that has both Content-Length and Transfer-Encoding by the latter, forgets the former, and goes on
// with the connection. A proxy that reads it by the other length sees other requests than the server does. Such a connection
// must be closed after the answer (RFC 9112, section 6.3), and so must one with a request of HTTP/1.0 that has
// Transfer-Encoding (section 6.1). Handlers cannot tell, so a connection remembers what was read from it last.

// buffered is how much net/http reads ahead on a connection: that much of a request may have come with the one before it.
const buffered = 4096

// received is what was read last from a connection. It is safe for concurrent use, because net/http reads on while a handler
// works.
type received struct {
	mu   sync.Mutex
	text []byte
}

// add appends what was read, and keeps only the last bytes of all: while a header arrives, enough for a whole one.
func (t *received) add(p []byte, keep int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := len(t.text) + len(p) - keep; over > 0 {
		dropped := min(over, len(t.text))
		t.text = append(t.text[:0], t.text[dropped:]...)
		p = p[over-dropped:]
	}
	t.text = append(t.text, p...)
}

// shrink keeps only what the next request may begin in.
func (t *received) shrink() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := len(t.text) - buffered; over > 0 {
		t.text = bytes.Clone(t.text[over:])
	}
}

var (
	lengthField   = regexp.MustCompile(`(?i)\ncontent-length:`)
	encodingField = regexp.MustCompile(`(?i)\ntransfer-encoding:`)
	requestLine   = regexp.MustCompile(`(?m)^[A-Z]+ (\S+) HTTP/1\.[01]\r?$`)
)

// ambiguous tells whether the length of a request's body can be read in two ways. It looks at all that was read from where
// the request may begin at the earliest, and so may say so of one that only follows such a request; never the reverse.
func (t *received) ambiguous(r *http.Request) bool {
	other := lengthField
	switch {
	case !r.ProtoAtLeast(1, 1):
		other = encodingField
	case len(r.TransferEncoding) == 0:
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, header, found := bytes.Cut(t.text, []byte(r.Method+" "+r.RequestURI+" "+r.Proto))
	return !found || other.Match(header)
}

// targetProblem says what is wrong with the target of the request that was read last; empty when nothing is.
func (t *received) targetProblem() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := requestLine.FindAllSubmatch(t.text, -1)
	if len(lines) == 0 {
		return ""
	}
	_, err := url.ParseRequestURI(string(lines[len(lines)-1][1]))
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		return wrong.Err.Error()
	}
	return ""
}
