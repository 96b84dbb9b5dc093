package server_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"platen/server"
)

// A wire is a connection on which a test sends data that no HTTP client would send.
type wire struct {
	net.Conn
	t    *testing.T
	read *bufio.Reader
}

func (w *world) wire(t *testing.T) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &wire{Conn: conn, t: t, read: bufio.NewReader(conn)}
}

// send writes bytes. The server may respond and close the connection before it has received all of them.
func (c *wire) send(text string) { _, _ = io.WriteString(c, text) }

func (c *wire) answer(method string) response {
	c.t.Helper()
	request := &http.Request{Method: method}
	res, err := http.ReadResponse(c.read, request)
	must(c.t, err)
	text, err := io.ReadAll(res.Body)
	must(c.t, err)
	return response{res, text}
}

// TestEveryResponseIsJSON sends requests that reach no operation. The response is an error like any other.
func TestEveryResponseIsJSON(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		token := "Authorization: Bearer " + w.tokens["owner"] + "\r\nsvc-version: 2025.0\r\n"
		const host = " HTTP/1.1\r\nHost: x\r\n"
		long := strings.Repeat("x", 70000)
		for _, tt := range []struct {
			name, request string
			status        int
			code, message string
		}{
			{"an unknown path", "GET /nowhere" + host + "\r\n", 404, "not_found", "There is no operation"},
			{"another version in the path", "GET /3.0/users/me" + host + token + "\r\n", 404, "not_found", "There is no operation"},
			{"the prefix alone", "GET /2.0" + host + token + "\r\n", 404, "not_found", "There is no operation"},
			{"a path that is not clean", "GET //2.0/users/../users/me" + host + token + "\r\n", 404, "not_found", "There is no operation"},
			{"a path with a slash at the end", "GET /2.0/users/me/" + host + token + "\r\n", 404, "not_found", "There is no operation"},
			{"a whole URL", "GET http://elsewhere/nowhere" + host + "\r\n", 404, "not_found", "There is no operation"},
			{"invalid escapes", "GET /2.0/%zz" + host + "\r\n", 400, "bad_request",
				`The path of the request is malformed: invalid URL escape "%zz".`},
			{"a path of zero bytes", "GET /2.0/files/%00" + host + token + "\r\n", 404, "not_found", ""},
			{"a query that is malformed", "GET /2.0/users/me?fields=%zz;&&=" + host + token + "\r\n", 400, "bad_request",
				`'fields' is not percent-encoded correctly: invalid URL escape "%zz"`},
			{"another method", "PATCH /2.0/users/me" + host + token + "\r\n", 405, "method_not_allowed", "GET, HEAD"},
			{"an unknown method", "BREW /2.0/users/me" + host + token + "\r\n", 405, "method_not_allowed", "GET, HEAD"},
			{"TRACE", "TRACE /2.0/users/me" + host + token + "\r\n", 405, "method_not_allowed", "GET, HEAD"},
			{"OPTIONS", "OPTIONS /2.0/users/me" + host + token + "\r\n", 405, "method_not_allowed", "GET, HEAD"},
			{"OPTIONS of everything", "OPTIONS *" + host + "\r\n", 404, "not_found", "There is no operation"},
			{"CONNECT", "CONNECT x:443" + host + "\r\n", 404, "not_found", "There is no operation"},
			{"a header that is too large", "GET /2.0/users/me" + host + "X: " + long + "\r\n\r\n", 431, "request_header_fields_too_large", "65536"},
			{"an address that is too long", "GET /2.0/users/me?fields=" + long + host + "\r\n", 431, "request_header_fields_too_large", "65536"},
			{"a header just within the limit", "GET /2.0/users/me" + host + token + "X: " + long[:60000] + "\r\n\r\n", 200, "", ""},
			{"no HTTP", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\r\n\r\n", 400, "bad_request", "400 Bad Request"},
			{"no host", "GET / HTTP/1.1\r\n\r\n", 400, "bad_request", "missing required Host header"},
			{"a header without a name", "GET /" + host + ": x\r\n\r\n", 400, "bad_request", "400 Bad Request"},
			{"a header with a zero byte", "GET /" + host + "X: \x00\r\n\r\n", 400, "bad_request", "400 Bad Request"},
			{"another version of HTTP", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 400, "bad_request", "505"},
			{"another transfer encoding", "POST /2.0/folders" + host + token + "Transfer-Encoding: gzip\r\n\r\n", 400, "bad_request", "501"},
			{"two lengths", "POST /2.0/folders" + host + token + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400, "bad_request",
				"400 Bad Request"},
			{"a negative length", "POST /2.0/folders" + host + token + "Content-Length: -1\r\n\r\nx", 400, "bad_request", "400 Bad Request"},
			{"an unknown expectation", "GET /2.0/users/me" + host + token + "Expect: miracles\r\n\r\n", 400, "bad_request", "417"},
			{"a body that is compressed", "POST /2.0/folders" + host + token + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", 415,
				"unsupported_media_type", "not be compressed"},
			{"an upload that is compressed", "POST /2.0/files/content" + host + token + "Content-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
				415, "unsupported_media_type", "not be compressed"},
			{"invalid chunks", "POST /2.0/folders" + host + token + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "bad_request",
				"ended before it was complete"},
		} {
			w.t.Run(tt.name, func(t *testing.T) {
				c := w.wire(t)
				c.send(tt.request)
				method, _, _ := strings.Cut(tt.request, " ")
				res := c.answer(method)
				if tt.code == "" {
					res.want(t, tt.status)
					return
				}
				v := res.want(t, tt.status, tt.code)
				checkErrorBody(t, w, res, v)
				if message := fmt.Sprint(v["message"]); !strings.Contains(message, tt.message) {
					t.Errorf("message %q, want %q in it", message, tt.message)
				}
				if got := res.Header.Get("Content-Type"); got != "application/json" {
					t.Errorf("Content-Type %s", got)
				}
				if id := res.Header.Get("X-Request-Id"); id == "" || len(w.logs.find(id)) == 0 {
					t.Errorf("the request id %q is not in the log", id)
				}
			})
		}
	})
}

// TestErrorsOfHEAD checks that errors have their headers, and no body.
func TestErrorsOfHEAD(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		for path, status := range map[string]int{"/users/me": 200, "/files/1": 404, "/nowhere": 404, "/docgen_batches/x/cancel": 405} {
			res := w.do("HEAD "+path, request{})
			if res.StatusCode != status || len(res.text) > 0 || res.Header.Get("X-Request-Id") == "" {
				w.t.Errorf("%s: status %d, want %d, with %q", path, res.StatusCode, status, res.text)
			}
		}
	})
}

// TestRefusalAfterAnswers sends three things on one connection: a valid request, a download that looks like a response
// of net/http, and then invalid data. Only the last is rejected.
func TestRefusalAfterAnswers(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		const looks = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
		content := looks + strings.Repeat("x", 100000)
		v := w.do("POST /files/content", request{body: form{{"attributes", `{"name":"x.txt","parent":{"id":"0"}}`},
			{"file", content}}}).want(w.t, 201)
		file := v["entries"].([]any)[0].(object)["id"]
		c := w.wire(w.t)
		head := " HTTP/1.1\r\nHost: x\r\nsvc-version: 2025.0\r\nAuthorization: Bearer " + w.tokens["owner"] + "\r\n\r\n"
		for range 2 {
			c.send("GET /2.0/users/me" + head)
			c.answer("GET").want(w.t, 200)
			c.send(fmt.Sprintf("GET /2.0/files/%s/content%s", file, head))
			if res := c.answer("GET"); string(res.text) != content {
				w.t.Fatalf("status %d, and the content is another", res.StatusCode)
			}
		}
		c.send("nonsense\r\n\r\n")
		res := c.answer("GET")
		res.want(w.t, 400, "bad_request")
		if _, err := c.read.ReadByte(); err != io.EOF || !res.Close {
			w.t.Errorf("the connection stays: %v", err)
		}
	})
}

// TestRefusalArrives sends an invalid request and much more data before it reads the response. The response is complete, and the
// connection ends without a reset. The server closes the connection of a client that does not stop sending.
func TestRefusalArrives(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		for name, head := range map[string]string{
			"a header without a name":     "POST / HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n",
			"another transfer encoding":   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
			"an expectation":              "POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 900000\r\n\r\n",
			"a header that is too large":  "GET / HTTP/1.1\r\nHost: x\r\nX: ",
			"a header that does not fit":  "GET /%zz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 30_000) + "\r\n\r\n",
			"a request line without end ": strings.Repeat("x", 10_000),
		} {
			w.t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := w.wire(t)
				_, err := io.WriteString(c, head+strings.Repeat("x", 900_000))
				must(t, err)
				if res := c.answer("POST"); res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
					t.Errorf("status %d: %s", res.StatusCode, res.text)
				}
				if _, err := c.read.ReadByte(); err != io.EOF {
					t.Errorf("the connection ends with %v", err)
				}
			})
		}
		w.t.Run("without end", func(t *testing.T) {
			t.Parallel()
			c := w.wire(t)
			c.send("nonsense\r\n\r\n")
			for portion := strings.Repeat("x", 1<<20); ; {
				if _, err := io.WriteString(c, portion); err != nil {
					return
				}
			}
		})
	})
}

// TestRefusalEnds rejects a client that then neither sends nor closes the connection.
func TestRefusalEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		go func() { _, _ = io.Copy(io.Discard, theirs) }() // reads the response, and waits for more
		conn, err := server.Listener(oneConn{conn: ours}, "http://x", slog.New(slog.DiscardHandler)).Accept()
		must(t, err)
		began := time.Now()
		if _, err := io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n"); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it ends with %v", err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it ends after %v", took)
		}
		must(t, conn.Close())
	})
}

// oneConn is a listener with a single connection.
type oneConn struct {
	net.Listener
	conn net.Conn
}

func (l oneConn) Accept() (net.Conn, error) { return l.conn, nil }

// TestCompression requests responses with and without compression, and checks that both are equal.
func TestCompression(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		parent := w.do("POST /folders", request{body: object{"name": "many", "parent": object{"id": "0"}}}).want(w.t, 201)["id"].(string)
		for i := range 30 {
			w.do("POST /folders", request{body: object{"name": fmt.Sprint("folder ", i), "parent": object{"id": parent}}}).want(w.t, 201)
		}
		text := strings.Repeat("{} ", 5000)
		v := w.do("POST /files/content", request{body: form{{"attributes", `{"name":"data.json","parent":{"id":"0"}}`},
			{"file", text}}}).want(w.t, 201)
		file := v["entries"].([]any)[0].(object)["id"].(string)
		for path, compressed := range map[string]bool{
			"/folders/" + parent + "/items": true,
			"//openapi.json":                true,
			"//docs":                        true,
			"/users/me":                     false, // too small
			"/files/" + file + "/content":   false, // a file is what it is
			"/nowhere":                      false,
		} {
			plain := w.do("GET "+path, request{header: http.Header{"Accept-Encoding": {"identity"}}})
			packed := w.do("GET "+path, request{header: http.Header{"Accept-Encoding": {"gzip"}}})
			if got := packed.Header.Get("Content-Encoding"); (got == "gzip") != compressed || plain.Header.Get("Content-Encoding") != "" {
				w.t.Errorf("%s: Content-Encoding %q and %q", path, plain.Header.Get("Content-Encoding"), got)
			}
			if path != "/nowhere" && string(packed.text) != string(plain.text) {
				w.t.Errorf("%s: %d bytes, and %d when unpacked", path, len(plain.text), len(packed.text))
			}
			if compressed && plain.Header.Get("Vary") != "Accept-Encoding" {
				w.t.Errorf("%s: Vary %q", path, plain.Header.Get("Vary"))
			}
		}
	})
}

// TestNoRetryAfterOnBatch checks the bytes of the response, because clients repeat a batch if a 202 response has this
// header.
func TestNoRetryAfterOnBatch(t *testing.T) {
	run(t, func(w *world) {
		body, err := json.Marshal(batch(w.scene()))
		must(w.t, err)
		c := w.wire(w.t)
		c.send(fmt.Sprintf("POST /2.0/docgen_batches HTTP/1.1\r\nHost: x\r\nsvc-version: 2025.0\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", w.tokens["owner"], len(body), body))
		answer, err := io.ReadAll(c.read)
		must(w.t, err)
		if !strings.HasPrefix(string(answer), "HTTP/1.1 202 ") || strings.Contains(strings.ToLower(string(answer)), "retry-after") {
			w.t.Errorf("the answer is\n%s", answer)
		}
	})
}

// TestAmbiguousLengths sends requests whose length can be read in two ways, each on a connection with earlier requests.
// They get a response, and the connection is closed (RFC 9112, sections 6.1 and 6.3).
func TestAmbiguousLengths(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		token := "Authorization: Bearer " + w.tokens["owner"] + "\r\nsvc-version: 2025.0\r\nContent-Type: application/json\r\n"
		head := func(protocol string, fields ...string) string {
			return "POST /2.0/folders " + protocol + "\r\nHost: x\r\n" + token + strings.Join(fields, "\r\n") + "\r\n\r\n"
		}
		const chunked, length, body = "Transfer-Encoding: chunked", "Content-Length: 4", "2\r\n{}\r\n0\r\n\r\n"
		me := "GET /2.0/users/me HTTP/1.1\r\nHost: x\r\n" + token + "\r\n"
		for _, tt := range []struct {
			name, request string
			closed        bool
		}{
			{"one length", head("HTTP/1.1", "Content-Length: 2") + "{}", false},
			{"chunks", head("HTTP/1.1", chunked) + body, false},
			{"chunks that hold a header", head("HTTP/1.1", chunked) + "13\r\n{}Content-Length: 4\r\n0\r\n\r\n", false},
			{"both", head("HTTP/1.1", chunked, length) + body, true},
			{"both, the other way round", head("HTTP/1.1", length, chunked) + body, true},
			{"both, in other letters", head("HTTP/1.1", "cOnTeNt-LeNgTh:4", "TRANSFER-ENCODING:chunked") + body, true},
			{"both, with much between", head("HTTP/1.1", length, "X: "+strings.Repeat("x", 50_000), chunked) + body, true},
			{"chunks of HTTP/1.0", head("HTTP/1.0", "Connection: keep-alive", "Content-Length: 2", chunked) + "{}", true},
			{"HTTP/1.0", head("HTTP/1.0", "Connection: keep-alive", "Content-Length: 2") + "{}", false},
		} {
			for way, send := range map[string]func(c *wire){
				"alone": func(c *wire) { c.send(tt.request) },
				"after others": func(c *wire) {
					c.send(me)
					c.answer("GET").want(w.t, 200)
					c.send(tt.request)
				},
				"together with others": func(c *wire) {
					c.send(me + tt.request)
					c.answer("GET").want(w.t, 200)
				},
			} {
				w.t.Run(tt.name+", "+way, func(t *testing.T) {
					c := w.wire(t)
					send(c)
					c.answer("POST").want(t, 400, "bad_request")
					c.send(me)
					res, err := http.ReadResponse(c.read, nil)
					if (err != nil) != tt.closed {
						t.Errorf("closed: %v, want %v; the next answer is %v", err != nil, tt.closed, res)
					}
				})
			}
		}
	})
}
