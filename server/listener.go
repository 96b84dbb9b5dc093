package server

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"platen/docgen"
)

// net/http answers data that it cannot parse as a request itself, in plain text, and closes the connection; no handler sees it. Clients
// of this API expect JSON with a code and a request id, so the connections of a Listener replace that response.
//
// Without a complete header there is no response: such a connection is closed after a timeout.
//
// If a connection is closed before all received data was read, it is reset, and a client that still sends may lose the response. So the
// server reads and discards what a refused client still sends, up to these limits.
const (
	lingerBytes = 1 << 20
	lingerTime  = 2 * time.Second
)

// Listener returns a listener whose connections respond in JSON even to data that is not a request. Use it with the server that
// NewHTTPServer returns. baseURL and log are those of the handler.
func Listener(listener net.Listener, baseURL string, log *slog.Logger) net.Listener {
	return &jsonListener{Listener: listener, baseURL: strings.TrimSuffix(baseURL, "/"), log: log}
}

type jsonListener struct {
	net.Listener
	baseURL string
	log     *slog.Logger
}

func (l *jsonListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, listener: l}, nil
}

// A conn knows whether data written to it comes from a handler.
type conn struct {
	net.Conn
	listener  *jsonListener
	answering atomic.Bool // from the call of a handler until its response is written
	refused   bool        // whether the JSON response was sent
	received  received
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	keep := maxHeaderBytes + 2*buffered
	if c.answering.Load() {
		keep = buffered
	}
	if n > 0 {
		c.received.add(p[:n], keep)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if c.answering.Load() {
		return c.Conn.Write(p)
	}
	if !c.refused {
		c.refused = true
		if err := c.refuse(p); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// CloseWrite closes the writing side while the client may still send. net/http does so to let a response arrive.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refuse sends a response in JSON instead of the one that net/http wrote, whose status line contains the reason.
func (c *conn) refuse(theirs []byte) error {
	line, _, _ := bytes.Cut(theirs, []byte("\r\n"))
	_, reason, _ := strings.Cut(string(line), " ")
	e := failf(docgen.CodeBadRequest, "The server cannot read the request: %s.", reason)
	if problem := c.received.targetProblem(); problem != "" {
		e = failf(docgen.CodeBadRequest, "The path of the request is malformed: %s.", problem)
		e.Problems = []docgen.Problem{parameterProblem("path", problem)}
	}
	if strings.HasPrefix(reason, "431 ") {
		e = failf(codeHeaderTooLarge, "The header of the request is larger than the limit of %d bytes.", maxHeaderBytes)
	}
	id := requestID("")
	c.listener.log.Info("request refused", "request_id", id, "remote", c.RemoteAddr().String(), "reason", reason)
	kind := kindOf(e.Code)
	text, err := marshal(newErrorBody(c.listener.baseURL, id, kind.Status, e, false))
	if err != nil {
		return err
	}
	res := &http.Response{
		StatusCode: kind.Status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {jsonType}},
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Close: true,
	}
	identify(res.Header, id)
	secure(res.Header)
	if err := res.Write(c.Conn); err != nil {
		return err
	}
	return c.linger()
}

// linger closes the writing side, and reads what the client sends until the client closes its side.
func (c *conn) linger() error {
	if err := c.CloseWrite(); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(lingerTime)); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, c.Conn, lingerBytes)
	return err
}

type connKey struct{}

// withConn makes the connection of a request available to its handler.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, nc)
}

// answering marks a connection while a handler writes to it. answered removes the mark.
func answering(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.answering.Store(true)
			if c.received.ambiguous(r) {
				w.Header().Set("Connection", "close")
			}
			c.received.shrink()
		}
		handler.ServeHTTP(w, r)
	})
}

func answered(nc net.Conn, state http.ConnState) {
	if c, ok := nc.(*conn); ok && state == http.StateIdle {
		c.answering.Store(false)
	}
}
