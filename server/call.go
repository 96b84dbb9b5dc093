package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"platen/docgen"
)

// A call is one request while the server handles it.
type call struct {
	id     string // identifies the request in responses and in the log
	w      *recorder
	r      *http.Request
	caller *docgen.Caller     // nil until the call is admitted
	ticket docgen.Ticket      // of a request with a ticket instead of an access token
	linked *docgen.LinkedItem // the item of the shared link that the call uses; nil for none
	client *docgen.Client     // the client that requests or revokes tokens; nil until it is authenticated
	body   *body              // the request body; nil if the operation has none
	site   *site
	span   trace.Span
	in     *inFlight // the limits of all calls
	undo   []func()  // releases what this call holds

	tolerant bool   // whether unknown fields of the request body are ignored
	leave    func() // ends counting the call as a request; nil until it is admitted
}

type callKey struct{}

// callOf returns the call of a context.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// ServeHTTP serves the public site.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.serve(a.public, w, r) }

// serve handles a request to a site, from its first byte to its line in the log.
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

// identify sends the request id to the client, also in the header that Box clients read.
func identify(h http.Header, id string) {
	h.Set("X-Request-Id", id)
	h.Set("Box-Request-Id", id)
}

// secure sets headers that keep browsers from interpreting a response as something else. Pages that need more permissions override them.
//
// Only requests with a session need protection against cross-origin requests (checkSameOrigin): other credentials are headers, which
// browsers do not let foreign pages set. /mcp checks origins nevertheless, because its protocol requires that.
func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("Cache-Control", "no-store")
}

// maxRequestID is the maximum length of a request id from a client.
const maxRequestID = 128

// requestID returns the id that a client or a proxy assigned to the request if it is safe to log, or else a new one.
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

// dispatch passes a call to the handler of its route. For unknown routes and methods, it sends our error instead of net/http's response.
// It also keeps net/http from redirecting //2.0//users to /2.0/users: every path has only one form.
func (a *api) dispatch(c *call) {
	if a.compat == CompatBox {
		c.r.URL = tolerated(c.r.URL)
	}
	if path.Clean(c.r.URL.Path) != c.r.URL.Path {
		a.sendError(c, noOperation(c.r, "A path must not end with a slash or contain empty or relative segments."))
		return
	}
	if _, pattern := c.site.mux.Handler(c.r); pattern != "" {
		c.site.compressed.ServeHTTP(c.w, c.r)
		return
	}
	held := &holdErrors{ResponseWriter: c.w}
	c.site.mux.ServeHTTP(held, c.r)
	e := noOperation(c.r, "The reference of the API lists all operations.")
	if held.status == http.StatusMethodNotAllowed {
		e = failf(codeMethod, "The path does not support %s. Supported methods: %s.", c.r.Method, c.w.Header().Get("Allow"))
	}
	a.sendError(c, e)
}

// tolerated returns the URL without what clients of the Box API add to it: a slash at the end, and /api at the beginning, as in the URL for
// uploads.
func tolerated(u *url.URL) *url.URL {
	p := u.EscapedPath()
	if rest, ok := strings.CutPrefix(p, "/api/"); ok && strings.HasPrefix(rest, "2.0/") {
		p = "/" + rest
	}
	if len(p) > 1 {
		p = strings.TrimSuffix(p, "/")
	}
	decoded, err := url.PathUnescape(p)
	if err != nil || p == u.EscapedPath() {
		return u
	}
	changed := *u
	changed.Path, changed.RawPath = decoded, p
	return &changed
}

// noOperation returns the Error for a request that no route matches, with advice.
func noOperation(r *http.Request, advice string) *docgen.Error {
	path := printable(strings.TrimPrefix(r.URL.Path, prefix))
	return failf(docgen.CodeNotFound, "There is no operation %s %s. %s", printable(r.Method), path, advice)
}

// sendError sends an error as the response of a call, where huma does not.
func (a *api) sendError(c *call, err error) {
	if err := a.answer(c, err).send(c.w); err != nil {
		a.log.InfoContext(c.r.Context(), "cannot send the response", "request_id", c.id, "error", err)
	}
}

// finish ends a call: it responds to a panic, updates metrics, and logs the call.
func (a *api) finish(c *call, began time.Time) {
	a.metrics.inFlight.Dec()
	problem := recover()
	if problem != nil && !isAbort(problem) {
		a.log.ErrorContext(c.r.Context(), "panic", "request_id", c.id, "panic", problem, "stack", string(debug.Stack()))
	}
	cut := problem != nil && c.w.status != 0 // it is too late for another response, so the connection must be closed
	if problem != nil && !cut {
		a.sendError(c, failf(codeInternal, messageInternal))
	}
	c.w.WriteHeader(http.StatusOK) // an empty response
	a.observe(c, time.Since(began))
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// isAbort reports whether a panic is the one with which a handler aborts its own response.
func isAbort(problem any) bool {
	err, ok := problem.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// observe updates the metrics of a call that has ended and logs it. The log has the pattern of the path: the ids identify the objects,
// and queries can contain secrets.
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

// writePause is the maximum time for a client to accept the next part of a response.
const writePause = time.Minute

// A recorder records the status and size of a response. It gives the client a deadline for each part instead of one for a response that
// may be very long.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	unread bool // whether no operation has started to read the request body
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.extend()
		w.ResponseWriter.WriteHeader(status)
	}
}

// extend gives the client time to accept the next part. If no operation reads the body, net/http does so before it responds: the client
// gets the same time to send it, and then some more to accept the response. If the connection is broken, the write fails and reports it.
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

// Unwrap gives http.ResponseController access to the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// holdErrors passes on the response of a handler of the standard library, except for errors: it would write those as plain text, and ours
// are JSON. It records their status instead.
type holdErrors struct {
	http.ResponseWriter
	status int
	ready  func() error // called before a response of 200 or 206 is passed on; may be nil
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
