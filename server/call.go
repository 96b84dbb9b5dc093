package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"platen/docgen"
)

// A call is one request on its way through the server.
type call struct {
	id     string // names the request in answers and in the log
	w      *recorder
	r      *http.Request
	caller *docgen.Caller // nil until the call is admitted
	client *docgen.Client // that wants tokens, or ends them; nil until it has said who it is
	body   *body          // what the operation reads; nil when it reads nothing
	site   *site
	span   trace.Span
	in     *inFlight // what all calls hold
	undo   []func()  // gives back what this one holds
}

type callKey struct{}

// callOf returns the call that a context belongs to.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// ServeHTTP serves the public site.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.serve(a.public, w, r) }

// serve follows a request to a site from its first byte to the line in the log.
func (a *api) serve(s *site, w http.ResponseWriter, r *http.Request) {
	c := &call{id: requestID(r.Header.Get("X-Request-Id")), w: &recorder{ResponseWriter: w, unread: r.ContentLength != 0}, in: a.in, site: s}
	r, c.span = a.startSpan(r)
	from := clientAddress(r, a.proxies)
	ctx := docgen.WithOrigin(context.WithValue(r.Context(), callKey{}, c), originOf(r, from, c.id))
	c.r = r.WithContext(docgen.ForGuest(ctx))
	c.r.RemoteAddr = from
	identify(w.Header(), c.id)
	secure(w.Header())
	defer c.end()
	defer a.finish(c, time.Now())
	c.w.extend()
	a.metrics.inFlight.Inc()
	a.dispatch(c)
}

// identify names the request to the client, also by the header that other clients of this interface read.
func identify(h http.Header, id string) {
	h.Set("X-Request-Id", id)
	h.Set("Box-Request-Id", id)
}

// secure sets the headers that keep a browser from making of an answer what it is not. A page that needs more says so
// itself.
//
// There is no protection against cross-origin requests (http.CrossOriginProtection) because there is nothing to
// protect: the credential is a header that a page must set itself, which a browser lets no foreign page do, and never a
// cookie that it would send by itself.
func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("Cache-Control", "no-store")
}

// maxRequestID bounds a request id that a client chose.
const maxRequestID = 128

// requestID takes the id that a client, or a proxy before us, gave a request, if it is one that a log can bear.
func requestID(given string) string {
	strange := func(r rune) bool { return !strings.ContainsRune("-_.:/+=@", r) && !isAlphanumeric(r) }
	if given != "" && len(given) <= maxRequestID && !strings.ContainsFunc(given, strange) {
		return given
	}
	return strings.ReplaceAll(uuid.NewString(), "-", "")
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// dispatch finds who answers a call. What net/http would answer itself, for a route or a method that is not there, is
// told in our words. It would also lead from //2.0//users to /2.0/users; an address has only one form here.
func (a *api) dispatch(c *call) {
	if path.Clean(c.r.URL.Path) != c.r.URL.Path {
		a.sendError(c, failf(docgen.CodeNotFound, messageRoute))
		return
	}
	if _, pattern := c.site.mux.Handler(c.r); pattern != "" {
		c.site.compressed.ServeHTTP(c.w, c.r)
		return
	}
	held := &holdErrors{ResponseWriter: c.w}
	c.site.mux.ServeHTTP(held, c.r)
	e := failf(docgen.CodeNotFound, messageRoute)
	if held.status == http.StatusMethodNotAllowed {
		e = failf(codeMethod, "%s is not a method of this address; it has %s.", c.r.Method, c.w.Header().Get("Allow"))
	}
	a.sendError(c, e)
}

// sendError answers a call with an error where huma does not do it.
func (a *api) sendError(c *call, err error) {
	if err := a.answer(c, err).send(c.w); err != nil {
		a.log.InfoContext(c.r.Context(), "the client did not take the answer", "request_id", c.id, "error", err)
	}
}

// finish ends a call: it answers for a panic, counts, and writes the line in the log.
func (a *api) finish(c *call, began time.Time) {
	a.metrics.inFlight.Dec()
	problem := recover()
	if problem != nil && !isAbort(problem) {
		a.log.ErrorContext(c.r.Context(), "panic", "request_id", c.id, "panic", problem, "stack", string(debug.Stack()))
	}
	cut := problem != nil && c.w.status != 0 // too late for another answer: all that is left is to break it off
	if problem != nil && !cut {
		a.sendError(c, failf(codeInternal, messageInternal))
	}
	c.w.WriteHeader(http.StatusOK) // of an answer that says nothing
	a.observe(c, time.Since(began))
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// isAbort tells the panic by which a handler breaks its own answer off.
func isAbort(problem any) bool {
	err, ok := problem.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// observe counts a call that has ended and writes its line in the log. The path is logged as its pattern: what is asked
// for is in the ids of the log, and queries may hold what nobody should read.
func (a *api) observe(c *call, took time.Duration) {
	route := c.r.Pattern
	if route == "" {
		route = "none"
	}
	a.metrics.observe(route, c.w.status, took)
	c.endSpan(route)
	attrs := []slog.Attr{
		slog.String("request_id", c.id), slog.String("method", c.r.Method), slog.String("route", route),
		slog.Int("status", c.w.status), slog.Int64("bytes", c.w.bytes), slog.Duration("duration", took),
		slog.String("remote", c.r.RemoteAddr),
	}
	if c.client != nil {
		attrs = append(attrs, slog.String("client_id", c.client.ID()))
	}
	if c.caller != nil {
		attrs = append(attrs, slog.Int64("user_id", c.caller.User.ID))
		if c.caller.ActorID != c.caller.User.ID {
			attrs = append(attrs, slog.Int64("actor_id", c.caller.ActorID))
		}
	}
	a.log.LogAttrs(c.r.Context(), slog.LevelInfo, "request", attrs...)
}

// writePause is how long a client may take to accept the next piece of an answer.
const writePause = time.Minute

// A recorder remembers what was answered. It gives the client time for every piece, instead of one time for all of an
// answer that may be very long.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	unread bool // whether the request has a body that no operation has begun to read
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.extend()
		w.ResponseWriter.WriteHeader(status)
	}
}

// extend gives the client time to accept the next piece. Where no operation reads the body, net/http does before it answers: the
// client has the same time to send it, and then still some to accept the answer. A connection that is broken says so when it is
// written to.
func (w *recorder) extend() {
	connection, until := http.NewResponseController(w.ResponseWriter), time.Now().Add(writePause)
	if w.unread {
		_ = connection.SetReadDeadline(until)
		until = until.Add(bodyPause)
	}
	_ = connection.SetWriteDeadline(until)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.extend()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// holdErrors lets through what a handler of the standard library answers, but for errors: it writes those as plain
// text, and ours is a JSON body. It remembers the status instead.
type holdErrors struct {
	http.ResponseWriter
	status int
	ready  func() error // asked before an answer of 200 or 206 is let through; nil: it always is
}

func (w *holdErrors) WriteHeader(status int) {
	if w.ready != nil && (status == http.StatusOK || status == http.StatusPartialContent) && w.ready() != nil {
		status = http.StatusInternalServerError
	}
	if status >= http.StatusBadRequest {
		w.status = status
		w.Header().Del("Content-Type")
		w.Header().Del("Content-Length")
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *holdErrors) Write(p []byte) (int, error) {
	if w.status != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}
