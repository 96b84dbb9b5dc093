package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
	"platen/store/storetest"
)

// eventStream is a stream of events as a client sees it.
type eventStream struct {
	t   *testing.T
	res *http.Response
	r   *bufio.Reader
}

// streamed is an event.
type streamed struct {
	id, name string
	data     object
}

// stream opens the stream of a batch as the owner.
func (w *world) stream(t *testing.T, batch string, header ...string) *eventStream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/2.0/docgen_batches/"+batch+"/events", http.NoBody)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+w.tokens["owner"])
	req.Header.Set("svc-version", "2025.0")
	req.Header.Set("Accept-Encoding", "gzip")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(t, err)
	t.Cleanup(func() { _ = res.Body.Close() }) // a test may have closed it
	return &eventStream{t, res, bufio.NewReader(res.Body)}
}

// next returns the next event. ok is false at the end of the stream.
func (s *eventStream) next() (e streamed, ok bool) {
	s.t.Helper()
	for {
		line, err := s.r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return e, false
		}
		must(s.t, err)
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			must(s.t, json.Unmarshal([]byte(value), &e.data))
		case "":
			if e.name != "" {
				return e, true
			}
		}
	}
}

// TestProgressStream follows a batch to its end, and reconnects.
func TestProgressStream(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		stream := w.stream(w.t, s.batch)
		if h := stream.res.Header; h.Get("Content-Type") != "text/event-stream" || h.Get("Content-Encoding") != "" {
			w.t.Errorf("header %v", h)
		}
		if res := w.do("HEAD /docgen_batches/"+s.batch+"/events", request{}); res.StatusCode != http.StatusOK {
			w.t.Errorf("status %d for HEAD", res.StatusCode)
		}
		first, _ := stream.next()
		if first.name != "progress" || first.data["jobs"].(object)["pending"] != 1.0 || first.data["ended_at"] != nil {
			w.t.Errorf("first event %+v", first)
		}
		again := w.stream(w.t, s.batch, "Last-Event-ID", first.id)
		w.failJobs(s.batch)
		var last streamed
		for e, ok := stream.next(); ok; e, ok = stream.next() {
			last = e
		}
		if last.name != "end" || last.data["jobs"].(object)["failed"] != 1.0 || last.data["ended_at"] == nil {
			w.t.Errorf("last event %+v", last)
		}
		if e, ok := again.next(); !ok || e.id == first.id {
			w.t.Errorf("the client gets an event again that it has: %+v", e)
		}
		if e, ok := w.stream(w.t, s.batch, "Last-Event-ID", first.id).next(); !ok || e.name != "end" {
			w.t.Errorf("event after the end %+v", e)
		}
		if res := w.stream(w.t, s.batch, "Last-Event-ID", last.id).res; res.StatusCode != http.StatusNoContent {
			w.t.Errorf("status %d for a client that has the last event", res.StatusCode)
		}
	})
}

// A stream ends when the batch is deleted, and when the token is revoked.
func TestProgressStreamEnds(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		token := w.tokens["owner"]
		w.tokens["owner"] = w.token("owner", 0, docgen.ScopeDocGen)
		revoked, err := w.Authenticate(w.t.Context(), w.tokens["owner"])
		must(w.t, err)
		stream := w.stream(w.t, s.batch)
		w.tokens["owner"] = token
		stream.next()
		must(w.t, w.RevokeToken(w.t.Context(), w.owner, revoked.TokenID))
		if e, ok := stream.next(); ok {
			w.t.Errorf("event %+v for a revoked token", e)
		}
	})
}

// A shutdown ends streams, without waiting for their batches.
func TestProgressStreamDuringShutdown(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		log := slog.New(slog.DiscardHandler)
		api := server.New(server.Config{Service: w.Service, Log: log, RateLimits: noLimits})
		entered := make(chan struct{})
		stopped := server.NewHTTPServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			entered <- struct{}{}
			api.ServeHTTP(rw, r)
		}), log)
		listener, err := new(net.ListenConfig).Listen(w.t.Context(), "tcp", "127.0.0.1:0")
		must(w.t, err)
		served := make(chan error)
		go func() { served <- stopped.Serve(server.Listener(listener, "", log)) }()
		w.url = "http://" + listener.Addr().String()
		waited := make(chan int)
		go func() { waited <- w.do("GET /docgen_batches/"+s.batch+"?wait=60", request{}).StatusCode }()
		<-entered
		go func() { <-entered }()
		stream := w.stream(w.t, s.batch)
		stream.next()
		must(w.t, stopped.Shutdown(context.WithoutCancel(w.t.Context())))
		if e, ok := stream.next(); ok {
			w.t.Errorf("event %+v during the shutdown", e)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			w.t.Error(err)
		}
		if status := <-waited; status != http.StatusOK {
			w.t.Errorf("status %d for a request that waits", status)
		}
	})
}

// Streams and waiting requests have a limit of their own, for each user. Other requests do not wait for them.
func TestWaitingIsLimited(t *testing.T) {
	limits := server.InFlight{Requests: 8, Waiting: 16} // 1 request and 2 streams for each user
	runOnce(t, server.Config{RateLimits: noLimits, InFlight: limits}, func(w *world) {
		s := w.scene()
		first, second := w.stream(w.t, s.batch), w.stream(w.t, s.batch)
		first.next()
		second.next()
		third := w.stream(w.t, s.batch)
		if third.res.StatusCode != http.StatusServiceUnavailable || third.res.Header.Get("Retry-After") == "" {
			w.t.Errorf("status %d for a stream too many", third.res.StatusCode)
		}
		must(w.t, third.res.Body.Close())
		w.do("GET /docgen_jobs/"+id(s.job)+"?wait=1", request{}).want(w.t, 503)
		w.do("GET /docgen_jobs/"+id(s.job), request{}).want(w.t, 200)
		w.do("GET /docgen_batches?limit=1", request{as: "other"}).want(w.t, 200)
		must(w.t, first.res.Body.Close())
		// Until the server notices that the client left:
		for w.do("GET /docgen_batches/"+s.batch+"/events", request{}).StatusCode != http.StatusOK {
			runtime.Gosched()
		}
	})
}

// TestIdleStreams measures the memory of 1,000 idle streams.
func TestIdleStreams(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector needs more memory")
	}
	const streams, most = 1000, 50 << 20
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), server.Config{RateLimits: noLimits,
		InFlight: server.InFlight{Waiting: 8 * streams}}, docgen.Limits{})
	s := w.scene()
	before := memoryInUse()
	for range streams {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
		must(t, err)
		t.Cleanup(func() { _ = c.Close() }) // the server may have closed it
		_, err = fmt.Fprintf(c, "GET /2.0/docgen_batches/%s/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"svc-version: 2025.0\r\n\r\n", s.batch, w.tokens["owner"])
		must(t, err)
		readUntil(t, c, "event: progress")
	}
	used := memoryInUse() - before
	t.Logf("%d idle streams use %d KiB, %d bytes each, on both sides", streams, used>>10, used/streams)
	if used > most {
		t.Errorf("%d idle streams use %d bytes, more than %d", streams, used, most)
	}
}

// readUntil reads a connection until a text appears.
func readUntil(t *testing.T, c net.Conn, text string) {
	t.Helper()
	var got strings.Builder
	part := make([]byte, 512)
	for !strings.Contains(got.String(), text) {
		n, err := c.Read(part)
		must(t, err)
		got.Write(part[:n])
	}
}

// memoryInUse returns the memory of live objects and of stacks.
func memoryInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
