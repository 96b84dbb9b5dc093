package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
)

// newTestAPI returns a server without a service that logs to the buffer, for tests of everything around the operations.
func newTestAPI(t *testing.T) (*api, *syncBuffer) {
	t.Helper()
	logged := &syncBuffer{}
	return New(Config{Log: slog.New(slog.NewJSONHandler(logged, nil)), BaseURL: "http://platen.example"}).(*api), logged
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestRequestIDs(t *testing.T) {
	a, logged := newTestAPI(t)
	for given, taken := range map[string]bool{
		"abc-123_x.y": true, "Root=1-67891233-abcdef": true, "": false, "with blank": false, "line\nbreak": false,
		"<script>": false, strings.Repeat("x", 129): false, "ümlaut": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/healthz", http.NoBody)
		r.Header.Set("X-Request-Id", given)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		id := w.Header().Get("X-Request-Id")
		if (id == given) != taken || id == "" || w.Header().Get("Box-Request-Id") != id {
			t.Errorf("given %q, got %q and %q", given, id, w.Header().Get("Box-Request-Id"))
		}
		if !strings.Contains(logged.String(), id) {
			t.Errorf("the id %q is not in the log", id)
		}
	}
}

func TestPanic(t *testing.T) {
	t.Run("before the answer", func(t *testing.T) {
		a, logged := newTestAPI(t)
		a.public.mux.HandleFunc("GET /boom", func(http.ResponseWriter, *http.Request) { panic("boom") })
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/boom", http.NoBody))
		var body errorBody
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if w.Code != 500 || body.Code != codeInternal || body.RequestID == "" || strings.Contains(w.Body.String(), "boom") {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		for _, want := range []string{body.RequestID, `"panic":"boom"`, "call_test.go"} {
			if !strings.Contains(logged.String(), want) {
				t.Errorf("%s is not in the log: %s", want, logged)
			}
		}
	})
	t.Run("in the middle of the answer", func(t *testing.T) {
		a, _ := newTestAPI(t)
		a.public.mux.HandleFunc("GET /boom", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			panic("boom")
		})
		s := httptest.NewServer(a)
		defer s.Close()
		res, err := s.Client().Get(s.URL + "/boom")
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil {
			t.Error("the client takes half an answer for a whole one")
		}
	})
}

func TestInternalErrorsAreLoggedAndNotShown(t *testing.T) {
	a, logged := newTestAPI(t)
	a.public.mux.HandleFunc("GET /fail", func(_ http.ResponseWriter, r *http.Request) {
		a.sendError(callOf(r.Context()), errors.New("the table users does not exist"))
	})
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/fail", http.NoBody))
	if w.Code != 500 || strings.Contains(w.Body.String(), "table") || !strings.Contains(logged.String(), "the table users does not exist") {
		t.Errorf("status %d: %s\nlog: %s", w.Code, w.Body, logged)
	}
}

func TestHiddenErrorsAreLogged(t *testing.T) {
	a, logged := newTestAPI(t)
	c := &call{id: "id-1", r: httptest.NewRequest(http.MethodPost, "/", http.NoBody)}
	shown := &docgen.Error{Code: docgen.CodeNotFound, Message: "Not Found"}
	if got := a.answer(c, shown); got.status != http.StatusNotFound || logged.String() != "" {
		t.Errorf("status %d, log %s", got.status, logged)
	}
	got := a.answer(c, errors.Join(shown, errors.New("discard content: disk on fire")))
	if got.body.Message != "Not Found" || !strings.Contains(logged.String(), "disk on fire") || !strings.Contains(logged.String(), "id-1") {
		t.Errorf("message %q, log %s", got.body.Message, logged)
	}
}

func TestAccessLogAndMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	logged := &syncBuffer{}
	a := New(Config{Log: slog.New(slog.NewJSONHandler(logged, nil)), Metrics: registry})
	get := func(path string) string {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return w.Body.String()
	}
	get("/2.0/files/4711?fields=secret")
	get("/nowhere")
	metrics := get("/metrics")
	for _, want := range []string{
		`platen_http_requests_total{route="GET /2.0/files/{file_id}",status="401"} 1`,
		`platen_http_requests_total{route="none",status="404"} 1`,
		`platen_http_request_duration_seconds_count{route="none"} 1`,
		`platen_http_requests_in_flight 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is not in the metrics", want)
		}
	}
	for _, want := range []string{`"method":"GET"`, `"route":"GET /2.0/files/{file_id}"`, `"status":401`, `"bytes":`, `"duration":`,
		`"request_id":`} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("%s is not in the log: %s", want, logged)
		}
	}
	if strings.Contains(logged.String(), "secret") {
		t.Errorf("the log has the query: %s", logged)
	}
}

func TestSecurityHeaders(t *testing.T) {
	a, _ := newTestAPI(t)
	for path, policy := range map[string]string{"/healthz": "sandbox", "/docs": "style-src", "/2.0/users/me": "sandbox",
		"/nowhere": "sandbox"} {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		h := w.Header()
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" ||
			!strings.Contains(h.Get("Content-Security-Policy"), policy) {
			t.Errorf("%s: %v", path, h)
		}
		if strings.Contains(h.Get("Content-Security-Policy"), "script-src") {
			t.Errorf("%s allows scripts", path)
		}
	}
}

// TestSlowBodies sends bodies slower than a legitimate client would.
func TestSlowBodies(t *testing.T) {
	const head = "POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	for name, tt := range map[string]struct {
		inPieces bool
		pause    time.Duration // between bytes
		bytes    int
		want     string
	}{
		"a whole body that stops":         {false, time.Hour, 1, "408"},
		"a whole body byte by byte":       {false, 20 * time.Second, 1000, "408"},
		"an upload that stops":            {true, time.Hour, 1, "408"},
		"an upload that is slow but goes": {true, 20 * time.Second, 1000, "200"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, _ := newTestAPI(t)
				a.public.mux.HandleFunc("POST /body", func(w http.ResponseWriter, r *http.Request) {
					c := callOf(r.Context())
					if _, err := io.Copy(io.Discard, c.openBody(1<<20, tt.inPieces)); err != nil {
						a.sendError(c, err)
					}
				})
				ours, theirs := net.Pipe()
				listener := &oneConn{conn: theirs, closed: make(chan struct{})}
				server := NewHTTPServer(a, slog.New(slog.DiscardHandler))
				served := make(chan error, 1)
				go func() { served <- server.Serve(listener) }()
				answer := make(chan string)
				go func() {
					buf := make([]byte, 4096)
					n, _ := io.ReadAtLeast(ours, buf, 12)
					answer <- string(buf[:n])
				}()
				var sender sync.WaitGroup
				sender.Go(func() {
					_, err := io.WriteString(ours, head)
					for i := 0; i < tt.bytes && err == nil; i++ {
						_, err = ours.Write([]byte("x"))
						<-time.After(tt.pause)
					}
				})
				if got := <-answer; !strings.HasPrefix(got, "HTTP/1.1 "+tt.want) {
					t.Errorf("answer %q, want status %s", got, tt.want)
				}
				if err := errors.Join(ours.Close(), server.Close()); err != nil {
					t.Error(err)
				}
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
				sender.Wait()
			})
		})
	}
}

// TestUnreadBodies: a client that announces a body but never sends it gets a response, even if nobody reads the body,
// and the connection is closed.
func TestUnreadBodies(t *testing.T) {
	for name, header := range map[string]string{"of a length": "Content-Length: 1000", "of no length": "Transfer-Encoding: chunked"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, _ := newTestAPI(t)
				ours, theirs := net.Pipe()
				server := NewHTTPServer(a, slog.New(slog.DiscardHandler))
				served := make(chan error, 1)
				go func() { served <- server.Serve(&oneConn{conn: theirs, closed: make(chan struct{})}) }()
				if _, err := io.WriteString(ours, "POST /2.0/folders HTTP/1.1\r\nHost: x\r\n"+header+"\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				answer, err := io.ReadAll(ours) // until the server closes the connection
				if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401") {
					t.Errorf("answer %q, %v; want status 401", answer, err)
				}
				if err := errors.Join(ours.Close(), server.Close()); err != nil {
					t.Error(err)
				}
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
			})
		})
	}
}

// oneConn is a listener with a single connection.
type oneConn struct {
	conn   net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

func TestBodyErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		failure error
		status  int
	}{
		"too large":  {&http.MaxBytesError{Limit: 7}, 413},
		"too late":   {os.ErrDeadlineExceeded, 408},
		"broken off": {io.ErrUnexpectedEOF, 400},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := newTestAPI(t)
			c := &call{r: httptest.NewRequest(http.MethodPost, "/", http.NoBody), body: &body{failure: tt.failure, limit: 7}}
			// An operation reports only that its reader failed.
			if got := a.answer(c, errors.Join(errors.New("save content"), context.Canceled)); got.status != tt.status {
				t.Errorf("status %d, want %d", got.status, tt.status)
			}
		})
	}
}
