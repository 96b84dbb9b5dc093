package client_test

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"platen/client"
)

// busy is a server that responds with 429 to the first requests, before it reads their bodies.
type busy struct {
	t          *testing.T
	retryAfter string
	refusals   int
	requests   int
	body       string // of the last accepted request
}

func (b *busy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if b.requests++; b.requests <= b.refusals {
		w.Header().Set("Retry-After", b.retryAfter)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"type": "error", "status": 429, "code": "rate_limit_exceeded", "message": "Too many requests"}`)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Error(err)
	}
	b.body = string(body)
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = io.WriteString(w, `{"id": "12", "type": "folder", "name": "Letters", "entries": [{"id": "12", "type": "file"}]}`)
}

// serve runs a server in the bubble of a test, and returns a client for it.
func serve(t *testing.T, handler http.Handler) *client.Client {
	t.Helper()
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	transport := &http.Transport{DialContext: listener.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return client.New("http://platen.example.com", "token", client.WithHTTPClient(&http.Client{Transport: transport}))
}

// pipes is a network in memory. A synctest bubble knows when goroutines wait for it.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

// answer is the part of a response that the tests check.
type answer interface{ StatusCode() int }

func getFolder(ctx context.Context, c *client.Client) (answer, error) {
	return c.GetFolder(ctx, "12", &client.GetFolderParams{})
}

func createFolder(ctx context.Context, c *client.Client) (answer, error) {
	request := client.CreateFolderRequest{Name: "Letters", Parent: client.ParentRef{Id: "0"}}
	return c.CreateFolder(ctx, &client.CreateFolderParams{}, request)
}

// upload returns a call that uploads content.
func upload(content io.Reader) func(context.Context, *client.Client) (answer, error) {
	return func(ctx context.Context, c *client.Client) (answer, error) {
		attributes := client.FileAttributes{Name: "letter.txt", Parent: client.ParentRef{Id: "0"}}
		return client.Upload(ctx, c, attributes, content)
	}
}

// TestRateLimit checks that a request that exceeds the rate limit is sent again at the time that the server names, with the same body.
func TestRateLimit(t *testing.T) {
	letter := strings.Repeat("Dear Ada ", 100_000)
	begun := strings.NewReader("not this: " + letter)
	if _, err := begun.Seek(int64(len("not this: ")), io.SeekStart); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name       string
		call       func(context.Context, *client.Client) (answer, error)
		retryAfter string
		waits      time.Duration
		requests   int
		status     int
		body       string // a part of it
	}{
		{"no body", getFolder, "7", 14 * time.Second, 3, 200, ""},
		{"no Retry-After", getFolder, "", 2 * time.Second, 3, 200, ""},
		{"body", createFolder, "60", 2 * time.Minute, 3, 201, `"name":"Letters"`},
		{"content that can seek", upload(begun), "1", 2 * time.Second, 3, 201, "\r\n\r\n" + letter + "\r\n"},
		{"content that cannot seek", upload(io.MultiReader(strings.NewReader(letter))), "1", 0, 1, 429, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &busy{t: t, retryAfter: tt.retryAfter, refusals: 2}
				c := serve(t, server)
				began := time.Now()
				answer, err := tt.call(t.Context(), c)
				if answer.StatusCode() != tt.status || (err != nil) != (tt.status == http.StatusTooManyRequests) {
					t.Errorf("status %d, %v; want %d", answer.StatusCode(), err, tt.status)
				}
				if waited := time.Since(began); waited != tt.waits {
					t.Errorf("waited %v, want %v", waited, tt.waits)
				}
				if server.requests != tt.requests || !strings.Contains(server.body, tt.body) {
					t.Errorf("%d requests, the last with a body of %d bytes; want %d and %.20q in it", server.requests, len(server.body),
						tt.requests, tt.body)
				}
			})
		})
	}
}

// TestRateLimitContext checks that the client stops waiting when the context ends.
func TestRateLimitContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, &busy{t: t, retryAfter: "60", refusals: 100})
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		began := time.Now()
		_, err := getFolder(ctx, c)
		if waited := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || waited != 90*time.Second {
			t.Errorf("after %v: %v", waited, err)
		}
	})
}

// TestForeignErrors gets an error in another format, as from a proxy in front of the server.
func TestForeignErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no server responds", http.StatusBadGateway)
		}))
		if _, err := getFolder(t.Context(), c); err == nil || err.Error() != "the server responded with 502" {
			t.Errorf("error = %v", err)
		}
	})
}

// endless is content without an end. It fails the test if it is read after done is set.
type endless struct {
	t    *testing.T
	done bool
}

func (e *endless) Read(p []byte) (int, error) {
	if e.done {
		e.t.Error("the content is read after the upload has returned")
	}
	return len(p), nil
}

// TestUploadEndsEarly gets the response before the end of an upload. After that, the client no longer reads the content.
func TestUploadEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "not here", http.StatusForbidden)
		}))
		content := &endless{t: t}
		answer, err := upload(content)(t.Context(), c)
		content.done = true
		if answer.StatusCode() != http.StatusForbidden || err == nil {
			t.Errorf("status %d, error %v", answer.StatusCode(), err)
		}
	})
}

// full is a writer that fails after room bytes.
type full struct{ room int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestDownloadStreams downloads content without an end. The client writes its beginning before it has read more.
func TestDownloadStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for err := error(nil); err == nil; {
				_, err = io.WriteString(w, "and on and on ")
			}
		}))
		if err := client.Download(t.Context(), c, "12", &full{room: 1 << 20}); !errors.Is(err, errFull) {
			t.Errorf("error = %v, want %v", err, errFull)
		}
	})
}

// TestParameters checks that the server receives the parameters in the path, the query, and the headers, and the changes of editors.
func TestParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got *http.Request
		c := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r }))
		since := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
		_, err := c.ListAuditEvents(t.Context(), &client.ListAuditEventsParams{Limit: new(int64(7)), CreatedAfter: &since}, client.AsUser("15"),
			client.IdempotencyKey(`a "key"`))
		if err != nil {
			t.Fatal(err)
		}
		if query := got.URL.Query().Encode(); query != "created_after=2026-01-31T12%3A00%3A00Z&limit=7" {
			t.Errorf("query = %s", query)
		}
		for name, want := range map[string]string{
			"Authorization": "Bearer token", "Svc-Version": client.Version, "As-User": "15", "Content-Type": "",
			"Idempotency-Key": `"a \"key\""`,
		} {
			if text := got.Header.Get(name); text != want {
				t.Errorf("header %s = %q, want %q", name, text, want)
			}
		}
		if _, err := c.UpdateFile(t.Context(), "../a?b", &client.UpdateFileParams{IfMatch: new("3")}, client.ItemChange{}); err != nil {
			t.Fatal(err)
		}
		if path := got.URL.EscapedPath(); path != "/2.0/files/..%2Fa%3Fb" || got.URL.RawQuery != "" || got.Method != http.MethodPut {
			t.Errorf("request = %s %s?%s", got.Method, path, got.URL.RawQuery)
		}
		if got.Header.Get("If-Match") != "3" || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("headers = %v", got.Header)
		}
		if _, err := c.GetFile(t.Context(), "12", nil); err != nil || got.URL.RawQuery != "" {
			t.Errorf("without parameters: %v, query %q", err, got.URL.RawQuery)
		}
	})
}

// TestStreamBatch checks the parts that the server receives.
func TestStreamBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var parts []string
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reader, err := r.MultipartReader()
			for err == nil {
				var part *multipart.Part
				if part, err = reader.NextPart(); err == nil {
					text, _ := io.ReadAll(part)
					parts = append(parts, part.FormName()+" "+part.FileName()+" "+string(text[:min(len(text), 10)]))
				}
			}
			w.WriteHeader(http.StatusAccepted)
		}))
		answer, err := client.StreamBatch(t.Context(), c, client.StreamedBatchRequest{}, "rows.csv", strings.NewReader("a,b\n1,2\n"))
		if err != nil || answer.StatusCode() != http.StatusAccepted {
			t.Fatalf("%v, %v", answer, err)
		}
		if want := []string{`attributes  {"destinat`, "data rows.csv a,b\n1,2\n"}; !slices.Equal(parts, want) {
			t.Errorf("parts %q, want %q", parts, want)
		}
	})
}
