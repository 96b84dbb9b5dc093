package server

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"sync"
)

// If a request has both Content-Length and Transfer-Encoding, net/http uses the latter, ignores the former, and keeps the connection
// open. A proxy that uses the other length sees different requests than the server does. The server must close such a connection after
// the response (RFC 9112, section 6.3), and also one with a request of HTTP/1.0 that has Transfer-Encoding (section 6.1). Handlers cannot
// detect this, so each connection records what was last read from it.

// buffered is the size of net/http's read buffer: that much of a request may have been read together with the previous one.
const buffered = 4096

// received holds the data that was last read from a connection. It is safe for concurrent use, because net/http keeps reading while a
// handler runs.
type received struct {
	mu   sync.Mutex
	text []byte
}

// add appends data and keeps only the last bytes: while a header arrives, enough for a whole one.
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

// shrink keeps only the bytes in which the next request may start.
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

// ambiguous reports whether the length of a request's body is ambiguous. It examines all data from the earliest possible start of the
// request, so it may also report a request that merely follows such a request, but it never misses one.
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

// targetProblem returns what is wrong with the target of the last request, or an empty string.
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
