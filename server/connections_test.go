package server_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"testing"

	"platen/server"
)

// accepting accepts connections from a limited listener and keeps them open.
func accepting(t *testing.T, limits *server.Connections) (address string, accepted chan net.Conn, stop func() error) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	limited := limits.Limit(listener)
	accepted = make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := limited.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Errorf("accept: %v", err)
				}
				return
			}
			accepted <- conn
		}
	}()
	return listener.Addr().String(), accepted, limited.Close
}

// dialFrom connects from an address of this machine.
func dialFrom(t *testing.T, from, to string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", to)
	must(t, err)
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // the server may have closed it
	return conn
}

func wantRefused(t *testing.T, conn net.Conn) {
	t.Helper()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("a connection beyond the share of its address is open: %d bytes, %v", n, err)
	}
}

func TestConnectionsOfOneAddress(t *testing.T) {
	limits := &server.Connections{Total: 8}
	address, accepted, stop := accepting(t, limits)
	dialFrom(t, "127.0.0.1", address)
	dialFrom(t, "127.0.0.1", address)
	first := <-accepted
	<-accepted
	wantRefused(t, dialFrom(t, "127.0.0.1", address))
	dialFrom(t, "127.0.0.2", address)
	<-accepted // another address is not affected
	if open, refused := limits.Open(), limits.Refused(); open != 3 || refused != 1 {
		t.Errorf("%d connections are open and %d were refused, want 3 and 1", open, refused)
	}
	must(t, first.Close())
	if err := first.Close(); err == nil {
		t.Error("a connection can be closed twice")
	}
	dialFrom(t, "127.0.0.1", address)
	<-accepted // in place of the first
	wantRefused(t, dialFrom(t, "127.0.0.1", address))
	must(t, stop())
	if _, more := <-accepted; more {
		t.Error("the closed listener accepts")
	}
}

func TestConnectionsInTotal(t *testing.T) {
	limits := &server.Connections{Total: 4, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	address, accepted, stop := accepting(t, limits)
	var open []net.Conn
	for range 4 {
		dialFrom(t, "127.0.0.1", address) // a proxy: its address has no share
		open = append(open, <-accepted)
	}
	waiting := dialFrom(t, "127.0.0.1", address)
	if got := limits.Open(); got != 4 {
		t.Errorf("%d connections are open, want 4", got)
	}
	must(t, open[0].Close())
	last := <-accepted // the one that waited
	if got, want := last.RemoteAddr().String(), waiting.LocalAddr().String(); got != want {
		t.Errorf("the connection is from %s, want %s", got, want)
	}
	must(t, stop()) // while Accept waits for a slot
	if _, more := <-accepted; more {
		t.Error("the closed listener accepts")
	}
}

// holdForm sends the header of a token request and the first part of its form.
func (w *world) holdForm(from string) (end func() int) {
	w.t.Helper()
	reader, writer := io.Pipe()
	reading := make(chan struct{})
	trace := &httptrace.ClientTrace{Got100Continue: func() { close(reading) }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(w.t.Context(), trace), http.MethodPost, w.url+"/oauth2/token", reader)
	must(w.t, err)
	req.ContentLength = 1000
	req.Header = http.Header{"Expect": {"100-continue"}, "X-Forwarded-For": {from}, "Content-Type": {"application/x-www-form-urlencoded"}}
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 1 << 40}}
	status := make(chan int, 1)
	go func() {
		defer close(status)
		res, err := client.Do(req)
		if err != nil {
			w.t.Errorf("the form that was held: %v", err)
			return
		}
		defer res.Body.Close()
		status <- res.StatusCode
	}()
	w.t.Cleanup(func() { writer.Close(); client.CloseIdleConnections() }) //nolint:errcheck // a pipe closes without errors
	select {
	case <-reading:
	case got := <-status:
		w.t.Fatalf("a form of %s was answered %d before it was read", from, got)
	}
	return func() int {
		_, err := io.WriteString(writer, strings.Repeat("x", 1000))
		must(w.t, err)
		must(w.t, writer.Close())
		return <-status
	}
}

// TestGuestsInFlight: callers without a token have separate slots, a number for each address, and take none from users.
func TestGuestsInFlight(t *testing.T) {
	cfg := server.Config{
		RateLimits: noLimits, InFlight: server.InFlight{Requests: 128}, // 16 for each user, 16 for guests, 2 for each address
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	}
	runOnce(t, cfg, func(w *world) {
		from := func(address string) request {
			return request{as: "guest", header: http.Header{"X-Forwarded-For": {address}}}
		}
		var held []func() int
		for _, host := range []string{"1", "2", "3", "4", "5", "6", "7"} {
			held = append(held, w.holdForm("203.0.113."+host), w.holdForm("203.0.113."+host))
		}
		w.do("GET /docgen_jobs", from("203.0.113.1")).want(w.t, 503, "server_busy")
		w.do("GET //docs", from("203.0.113.1")).want(w.t, 503, "server_busy")
		if got := w.do("POST //oauth2/token", from("203.0.113.1")).want(w.t, 503, "server_busy"); got == nil {
			w.t.Error("no error")
		}
		w.do("GET /docgen_jobs", from("203.0.113.8")).want(w.t, 401, "unauthorized")
		held = append(held, w.holdForm("203.0.113.8"), w.holdForm("203.0.113.9"))
		w.do("GET /docgen_jobs", from("203.0.113.10")).want(w.t, 503, "server_busy")
		w.do("GET //healthz", from("203.0.113.10")).want(w.t, 200)
		w.do("GET /docgen_jobs", request{}).want(w.t, 200)
		w.do("GET /docgen_jobs", request{as: "other", header: http.Header{"X-Forwarded-For": {"203.0.113.1"}}}).want(w.t, 200)
		for _, end := range held {
			if status := end(); status != 400 {
				w.t.Errorf("a form that was held is answered %d", status)
			}
		}
		w.do("GET /docgen_jobs", from("203.0.113.1")).want(w.t, 401, "unauthorized")
	})
}
