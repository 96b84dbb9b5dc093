package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var discard = log.New(io.Discard, "", 0)

// long is a time limit that no working receiver exceeds; short is for receivers that do not answer.
const long, short = 30 * time.Second, 150 * time.Millisecond

func TestPost(t *testing.T) {
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(protocol, func(t *testing.T) {
			r := newReceiving(t, long)
			var got []*http.Request
			var connections atomic.Int32
			address := r.serve(func(w http.ResponseWriter, request *http.Request) {
				body, err := io.ReadAll(request.Body)
				if err != nil || string(body) != `{"type":"webhook_event"}` {
					t.Errorf("body %q, error %v", body, err)
				}
				got = append(got, request)
				http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(http.StatusAccepted)
				w.Write([]byte("\x1f\x8b thanks"))
			}, func(s *httptest.Server) {
				s.EnableHTTP2 = http2
				s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
					if state == http.StateNew {
						connections.Add(1)
					}
				}
			})
			header := http.Header{"User-Agent": {"test"}, "Content-Type": {"application/json"}, "BOX-DELIVERY-ID": {"1"}}
			before := header.Clone()
			for range 3 {
				a := r.client.post(t.Context(), address, header, []byte(`{"type":"webhook_event"}`))
				if a.err != nil || a.status != http.StatusAccepted || string(a.body) != "\x1f\x8b thanks" || a.truncated {
					t.Fatalf("answer %+v", a)
				}
				if a.header.Get("Content-Encoding") != "gzip" || a.took <= 0 || a.began.After(time.Now()) {
					t.Errorf("answer %+v", a)
				}
				if v := judge(a, time.Now()); v != (verdict{outcome: OutcomeDelivered, reason: "the receiver answered 202 Accepted", healthy: true}) {
					t.Errorf("verdict %+v", v)
				}
			}
			if len(header) != len(before) {
				t.Errorf("post changed the header to %v", header)
			}
			for _, request := range got {
				if request.Proto != protocol || request.Method != http.MethodPost || request.URL.String() != "/secret?key=secret" ||
					!strings.HasPrefix(request.Host, receiverName+":") {
					t.Errorf("request %v", request)
				}
				for name := range request.Header {
					if name != "User-Agent" && name != "Content-Type" && name != "Box-Delivery-Id" && name != "Content-Length" {
						t.Errorf("header %s was sent", name)
					}
				}
			}
			if len(got) != 3 || connections.Load() != 1 {
				t.Errorf("%d requests over %d connections, want 3 over 1", len(got), connections.Load())
			}
		})
	}
}

func TestBadReplies(t *testing.T) {
	tests := map[string]struct {
		take    func(net.Conn, <-chan struct{})
		plain   bool // without TLS
		outcome Outcome
		reason  string
	}{
		"closes without an answer": {take: says(""), outcome: OutcomeReset, reason: "closed the connection before it answered"},
		"closes within the status": {take: says("HTTP/1.1 2"), outcome: OutcomeInvalid, reason: "it is truncated"},
		"closes within headers":    {take: says("HTTP/1.1 200 OK\r\nA: b\r\n"), outcome: OutcomeReset, reason: "closed the connection"},
		"resets within headers": {take: func(conn net.Conn, _ <-chan struct{}) {
			says("HTTP/1.1 200 OK\r\nA: b\r\n")(conn, nil)
			reset(conn)
		}, outcome: OutcomeReset, reason: "closed the connection"},
		"resets before the handshake": {take: func(conn net.Conn, _ <-chan struct{}) { reset(conn) }, plain: true, outcome: OutcomeReset,
			reason: "closed the connection"},
		"answers garbage":         {take: says("220 mail.example.com ESMTP\r\n"), outcome: OutcomeInvalid, reason: "is not HTTP"},
		"answers garbage forever": {take: says(string(large(10 << 20))), outcome: OutcomeInvalid, reason: "is not HTTP"},
		"answers without TLS": {take: func(conn net.Conn, _ <-chan struct{}) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		}, plain: true, outcome: OutcomeTLS, reason: "check that the receiver supports TLS 1.2 or 1.3"},
		"one huge header": {take: says("HTTP/1.1 200 OK\r\nA: " + string(large(maxHeader)) + "\r\n\r\n"), outcome: OutcomeInvalid,
			reason: "has headers larger than 64 KiB"},
		"many headers": {take: says("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHeader/6) + "\r\n"), outcome: OutcomeInvalid,
			reason: "has headers larger than 64 KiB"},
		"hints without an end": {take: says(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", 10_000)), outcome: OutcomeInvalid,
			reason: "not readable"},
		"two lengths": {take: says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), outcome: OutcomeInvalid,
			reason: "is not HTTP"},
		"unknown status": {take: says("HTTP/1.1 999 Secret\r\nContent-Length: 0\r\n\r\n"), outcome: OutcomeStatus,
			reason: "the receiver answered 999"},
		"switches protocols": {take: says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n"),
			outcome: OutcomeStatus, reason: "answered 101"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newReceiving(t, long)
			config := r.issue(t, nil)
			if test.plain {
				config = nil
			}
			expect(t, r.post(r.serveRaw(config, test.take)), test.outcome, test.reason)
		})
	}
}

// expect checks the verdict on an answer, and that no message reveals more of the address than its host.
func expect(t *testing.T, a answer, outcome Outcome, reason string) {
	t.Helper()
	v := judge(a, time.Now())
	if v.outcome != outcome || !strings.Contains(v.reason, reason) {
		t.Errorf("verdict %+v of %+v, want %s with %q", v, a, outcome, reason)
	}
	if strings.Contains(v.reason, "secret") || a.err != nil && strings.Contains(a.err.Error(), "secret") {
		t.Errorf("a secret is revealed by %q or %v", v.reason, a.err)
	}
	if a.err != nil && (a.status != 0 || a.header != nil || a.body != nil) {
		t.Errorf("both an error and a response: %+v", a)
	}
}

func TestHanging(t *testing.T) {
	wait := func(_ net.Conn, ended <-chan struct{}) { <-ended }
	for name, test := range map[string]struct {
		take  func(net.Conn, <-chan struct{})
		plain bool
	}{
		"before the handshake": {take: wait, plain: true},
		"before reading":       {take: func(conn net.Conn, ended <-chan struct{}) { _ = conn.(*tls.Conn).Handshake(); <-ended }},
		"before the status":    {take: func(conn net.Conn, ended <-chan struct{}) { readRequest(conn); <-ended }},
		"within the headers":   {take: func(conn net.Conn, ended <-chan struct{}) { says("HTTP/1.1 200 OK\r\nA: ")(conn, nil); <-ended }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiving(t, short)
			config := r.issue(t, nil)
			if test.plain {
				config = nil
			}
			a := r.post(r.serveRaw(config, test.take))
			expect(t, a, OutcomeTimeout, "did not respond within 150ms")
			if a.took < short {
				t.Errorf("took %v", a.took)
			}
			if judge(a, time.Now()).healthy {
				t.Error("the receiver counts as healthy")
			}
		})
	}
}

// TestBodies checks that a status that arrives in time counts, whatever the body does, and that reading a body ends.
func TestBodies(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
	for name, test := range map[string]struct {
		take func(net.Conn, <-chan struct{})
		want int
	}{
		"drips":  {take: func(conn net.Conn, ended <-chan struct{}) { says(head+"abc")(conn, nil); <-ended }, want: 3},
		"resets": {take: func(conn net.Conn, _ <-chan struct{}) { says(head)(conn, nil); reset(conn) }, want: 0},
		"breaks": {take: says(head + "abc"), want: 3},
		"huge":   {take: says(head + string(large(1_000_000))), want: maxBody},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiving(t, long)
			r.client.bodyLimit = short
			a := r.post(r.serveRaw(r.issue(t, nil), test.take))
			if a.status != http.StatusOK || len(a.body) != test.want || !a.truncated || a.err != nil {
				t.Errorf("status %d, %d bytes, truncated %v, error %v", a.status, len(a.body), a.truncated, a.err)
			}
			expect(t, a, OutcomeDelivered, "200 OK")
		})
	}
	t.Run("within the limit", func(t *testing.T) {
		r := newReceiving(t, time.Second) // enough for a handshake, and less than bodyLimit
		a := r.post(r.serveRaw(r.issue(t, nil), func(conn net.Conn, ended <-chan struct{}) { says(head)(conn, nil); <-ended }))
		expect(t, a, OutcomeDelivered, "200 OK")
	})
	t.Run("exact", func(t *testing.T) {
		r := newReceiving(t, long)
		a := r.post(r.serve(func(w http.ResponseWriter, _ *http.Request) { w.Write(large(maxBody)) }, nil))
		if len(a.body) != maxBody || a.truncated {
			t.Errorf("%d bytes, truncated %v", len(a.body), a.truncated)
		}
	})
}

// TestEarlyAnswer checks that a receiver may answer before it has read the request.
func TestEarlyAnswer(t *testing.T) {
	r := newReceiving(t, long)
	address := r.serveRaw(r.issue(t, nil), func(conn net.Conn, ended <-chan struct{}) {
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		<-ended
	})
	a := r.client.post(t.Context(), address, nil, large(20<<20))
	expect(t, a, OutcomeDelivered, "204 No Content")
}

func TestRefused(t *testing.T) {
	r := newReceiving(t, long)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	shut(t, listener)
	expect(t, r.post(addressOn(listener)), OutcomeRefused, "refused the connection")
}

func TestRedirectIsNotFollowed(t *testing.T) {
	r := newReceiving(t, long)
	target := r.serve(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		a := r.post(r.serve(func(w http.ResponseWriter, request *http.Request) { http.Redirect(w, request, target, status) }, nil))
		expect(t, a, OutcomeRedirect, " and points to the host hooks.example.com:")
		if v := judge(a, time.Now()); !v.healthy || a.status != status {
			t.Errorf("verdict %+v of a %d", v, status)
		}
	}
	a := r.post(r.serveRaw(r.issue(t, nil), says("HTTP/1.1 302 Found\r\nLocation: https://%zz/secret\r\nContent-Length: 0\r\n\r\n")))
	expect(t, a, OutcomeRedirect, "the receiver answered 302 Found; redirects are not followed")
}

func TestTrust(t *testing.T) {
	stranger := newAuthority(t)
	tests := map[string]struct {
		config func(*receiving) *tls.Config
		reason string
	}{
		"expired": {func(r *receiving) *tls.Config {
			return r.issue(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
		}, "the certificate of hooks.example.com has expired"},
		"not yet valid": {func(r *receiving) *tls.Config {
			return r.issue(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })
		}, "or is not valid yet"},
		"for another name": {func(r *receiving) *tls.Config {
			return r.issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"other.example.com"} })
		}, "the certificate of hooks.example.com is for other names"},
		"of an unknown authority": {func(*receiving) *tls.Config { return stranger.issue(t, nil) }, "is not signed by a known authority"},
		"self-signed": {func(*receiving) *tls.Config {
			return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{stranger.certificate.Raw}, PrivateKey: stranger.key}}}
		}, "the certificate of hooks.example.com is"},
		"for clients": {func(r *receiving) *tls.Config {
			return r.issue(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
		}, "is not valid for a server"},
		"TLS 1.1": {func(r *receiving) *tls.Config {
			config := r.issue(t, nil)
			config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
			return config
		}, `with hooks.example.com failed with the alert "protocol version not supported": check that the receiver supports TLS 1.2 or 1.3`},
		"wants a certificate of ours": {func(r *receiving) *tls.Config {
			config := r.issue(t, nil)
			config.MaxVersion, config.ClientAuth = tls.VersionTLS12, tls.RequireAnyClientCert
			return config
		}, `the TLS handshake with hooks.example.com failed with the alert "`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newReceiving(t, long)
			address := r.serve(func(http.ResponseWriter, *http.Request) { t.Error("the receiver got a request") },
				func(s *httptest.Server) { s.TLS = test.config(r) })
			a := r.post(address)
			expect(t, a, OutcomeTLS, test.reason)
			if judge(a, time.Now()).healthy {
				t.Error("the receiver counts as healthy")
			}
		})
	}
}

func TestTrustOfTLS12(t *testing.T) {
	r := newReceiving(t, long)
	a := r.post(r.serve(func(http.ResponseWriter, *http.Request) {}, func(s *httptest.Server) { s.TLS.MaxVersion = tls.VersionTLS12 }))
	expect(t, a, OutcomeDelivered, "200 OK")
	if _, err := Roots([]byte("no certificate")); err == nil {
		t.Error("Roots accepted something that is not a certificate")
	}
}

func TestAbortedStream(t *testing.T) {
	r := newReceiving(t, long)
	a := r.post(r.serve(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		func(s *httptest.Server) { s.EnableHTTP2 = true }))
	expect(t, a, OutcomeReset, "closed the connection before it answered")
}

func TestLargeHeadersOfHTTP2(t *testing.T) {
	r := newReceiving(t, long)
	a := r.post(r.serve(func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			w.Header().Add("A", string(large(1000)))
		}
	}, func(s *httptest.Server) { s.EnableHTTP2 = true }))
	expect(t, a, OutcomeInvalid, "has headers larger than 64 KiB")
}

func TestStatusesOnTheWire(t *testing.T) {
	r := newReceiving(t, long)
	in30 := time.Now().Add(30 * time.Minute).UTC().Format(http.TimeFormat)
	for _, test := range []struct {
		status     int
		retryAfter string
		outcome    Outcome
		least      time.Duration
	}{{410, "", OutcomeGone, 0}, {429, "120", OutcomeBusy, 2 * time.Minute}, {429, in30, OutcomeBusy, 29 * time.Minute}, {503, in30,
		OutcomeBusy, 29 * time.Minute}, {503, "", OutcomeStatus, 0}} {
		a := r.post(r.serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", test.retryAfter)
			w.WriteHeader(test.status)
		}, nil))
		v := judge(a, time.Now())
		if v.outcome != test.outcome || v.gone != (test.status == 410) || v.pause < test.least || v.pause > test.least+time.Minute {
			t.Errorf("%d, %q: verdict %+v", test.status, test.retryAfter, v)
		}
	}
}

// TestStopping checks that stopping the server does not count as a failure of the receiver.
func TestStopping(t *testing.T) {
	for name, end := range map[string]func(context.Context, net.Conn, context.CancelCauseFunc){
		"canceled": func(_ context.Context, _ net.Conn, cancel context.CancelCauseFunc) { cancel(nil) },
		"with a cause": func(_ context.Context, _ net.Conn, cancel context.CancelCauseFunc) {
			cancel(errors.New("stopping"))
		},
		"and the receiver went": func(ctx context.Context, conn net.Conn, cancel context.CancelCauseFunc) {
			cancel(nil)
			<-ctx.Done()
			reset(conn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiving(t, long)
			ctx, cancel := context.WithCancelCause(t.Context())
			address := r.serveRaw(r.issue(t, nil), func(conn net.Conn, ended <-chan struct{}) {
				readRequest(conn)
				end(ctx, conn, cancel)
				<-ended
			})
			a := r.client.post(ctx, address, nil, nil)
			expect(t, a, OutcomeStopped, "canceled because the server stopped")
			if !judge(a, time.Now()).healthy || !errors.Is(a.err, context.Cause(ctx)) {
				t.Errorf("answer %+v", a)
			}
		})
	}
	t.Run("its own deadline", func(t *testing.T) {
		r := newReceiving(t, long)
		ctx, cancel := context.WithTimeout(t.Context(), short)
		defer cancel()
		a := r.client.post(ctx, r.serveRaw(r.issue(t, nil), func(conn net.Conn, ended <-chan struct{}) { readRequest(conn); <-ended }), nil, nil)
		expect(t, a, OutcomeStopped, "canceled because the server stopped")
	})
}

// TestIdleConnectionCloses checks that a delivery uses another connection if the receiver closes an idle one as it is reused.
func TestIdleConnectionCloses(t *testing.T) {
	r := newReceiving(t, long)
	var requests atomic.Int32
	address := r.serveRaw(r.issue(t, nil), func(conn net.Conn, _ <-chan struct{}) {
		for readRequest(conn) && requests.Add(1) != 2 {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	for range 2 {
		expect(t, r.post(address), OutcomeDelivered, "200 OK")
	}
	if requests.Load() != 3 {
		t.Errorf("%d requests, want the second twice", requests.Load())
	}
}

func TestAddressIsCheckedAgain(t *testing.T) {
	r := newReceiving(t, long)
	address := r.serve(func(http.ResponseWriter, *http.Request) { t.Error("the receiver got a request") }, nil)
	plain := strings.Replace(address, "https:", "http:", 1)
	expect(t, r.post(plain), OutcomeAddress, "begins with http:, but")
	r.client.guard.anyPort = false
	expect(t, r.post(address), OutcomeAddress, "only port 443 is permitted")
	r.client.guard.anyPort, r.client.guard.networks = true, nil
	expect(t, r.post(address), OutcomeAddress, "hooks.example.com does not have a public IP address")
	expect(t, r.post("https://nowhere.example.com/secret"), OutcomeDNS, "the host nowhere.example.com does not exist in the DNS")
	r.client.guard.lookup = NewGuard(GuardConfig{}).lookup
	expect(t, r.post("https://127.0.0.1/secret"), OutcomeAddress, "127.0.0.1 does not have a public IP address")
}

func TestPlainHTTPForDevelopment(t *testing.T) {
	r := newReceiving(t, long)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	c := newClient(NewGuard(GuardConfig{AnyAddress: true}), nil, long)
	t.Cleanup(c.close)
	expect(t, c.post(t.Context(), server.URL, nil, nil), OutcomeDelivered, "200 OK")
	expect(t, r.client.post(t.Context(), server.URL, nil, nil), OutcomeAddress, "begins with http:, but")
}

func TestEnvironmentProxyIsNotUsed(t *testing.T) {
	r := newReceiving(t, long)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	a := r.post(r.serve(func(http.ResponseWriter, *http.Request) {}, nil))
	expect(t, a, OutcomeDelivered, "200 OK")
}

// BenchmarkPost posts over reused connections. Its floor is a plain http.Client that posts the same bytes to the same receiver.
func BenchmarkPost(b *testing.B) {
	for name, http2 := range map[string]bool{"HTTP1": false, "HTTP2": true} {
		r := newReceiving(b, long)
		address := r.serve(func(_ http.ResponseWriter, request *http.Request) { _, _ = io.Copy(io.Discard, request.Body) },
			func(s *httptest.Server) { s.EnableHTTP2 = http2 })
		header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"test"}}
		body := large(2000)
		b.Run(name+"/post", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if a := r.client.post(b.Context(), address, header, body); a.status != http.StatusOK {
					b.Fatal(a)
				}
			}
		})
		b.Run(name+"/floor: http.Client", func(b *testing.B) {
			bare := &http.Client{Transport: &http.Transport{
				DialContext: r.client.guard.dial, TLSClientConfig: &tls.Config{RootCAs: r.client.tls.RootCAs,
					MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
			}}
			defer bare.CloseIdleConnections()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, address, bytes.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				request.Header = header
				response, err := bare.Do(request)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil {
					b.Fatal(err)
				}
				response.Body.Close()
			}
		})
	}
}
