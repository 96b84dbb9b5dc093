package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"platen/server"
	"platen/store/storetest"
)

func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, test := range map[string]struct {
		remote    string
		forwarded []string
		trusted   []netip.Prefix
		want      string
	}{
		"no proxy is trusted":                  {"10.0.0.1:4711", []string{"203.0.113.7"}, nil, "10.0.0.1:4711"},
		"a stranger sends the header":          {"198.51.100.9:4711", []string{"203.0.113.7"}, trusted, "198.51.100.9:4711"},
		"a proxy without the header":           {"10.0.0.1:4711", nil, trusted, "10.0.0.1"},
		"one proxy":                            {"10.0.0.1:4711", []string{"203.0.113.7"}, trusted, "203.0.113.7"},
		"two proxies":                          {"10.0.0.1:4711", []string{"203.0.113.7, 10.2.3.4"}, trusted, "203.0.113.7"},
		"the client invents an address":        {"10.0.0.1:4711", []string{"192.0.2.1, 203.0.113.7"}, trusted, "203.0.113.7"},
		"the client invents a trusted address": {"10.0.0.1:4711", []string{"10.9.9.9, 203.0.113.7"}, trusted, "203.0.113.7"},
		"in several lines":                     {"10.0.0.1:4711", []string{"192.0.2.1", "203.0.113.7", "10.2.3.4"}, trusted, "203.0.113.7"},
		"nonsense on the left":                 {"10.0.0.1:4711", []string{"<script>, 203.0.113.7"}, trusted, "203.0.113.7"},
		"nonsense on the right":                {"10.0.0.1:4711", []string{"203.0.113.7, unknown"}, trusted, "10.0.0.1"},
		"nonsense behind a proxy":              {"10.0.0.1:4711", []string{"203.0.113.7, unknown, 10.2.3.4"}, trusted, "10.2.3.4"},
		"with ports":                           {"10.0.0.1:4711", []string{"203.0.113.7:1234, [fd00::1]:80"}, trusted, "203.0.113.7"},
		"IPv6":                                 {"[fd00::5]:4711", []string{"2001:db8::1"}, trusted, "2001:db8::1"},
		"IPv4 in IPv6":                         {"[::ffff:10.0.0.1]:4711", []string{"::ffff:203.0.113.7"}, trusted, "203.0.113.7"},
		"an empty header":                      {"10.0.0.1:4711", []string{""}, trusted, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: test.remote, Header: http.Header{}}
			for _, line := range test.forwarded {
				r.Header.Add("X-Forwarded-For", line)
			}
			if got := server.ClientAddress(r, test.trusted); got != test.want {
				t.Errorf("the client is %q, want %q", got, test.want)
			}
		})
	}
}

// TestGuestsBehindAProxy: with a trusted proxy, each client has its own limit, and the log names the client.
func TestGuestsBehindAProxy(t *testing.T) {
	cfg := server.Config{
		RateLimits: server.RateLimits{Requests: -1, Uploads: -1, Guests: 2}, Now: func() time.Time { return noon },
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	}
	runOnce(t, cfg, func(w *world) {
		from := func(address string) request {
			return request{as: "guest", header: http.Header{"X-Forwarded-For": {address}}}
		}
		for range 2 {
			w.do("GET /users/me", from("203.0.113.7")).want(w.t, 401, "unauthorized")
		}
		w.do("GET /users/me", from("203.0.113.7")).want(w.t, 429, "rate_limit_exceeded")
		w.do("GET /users/me", from("192.0.2.1, 203.0.113.7")).want(w.t, 429, "rate_limit_exceeded")
		w.do("GET /users/me", from("203.0.113.8")).want(w.t, 401, "unauthorized")
		if lines := w.logs.find(`"remote":"203.0.113.7"`); len(lines) != 4 {
			w.t.Errorf("the log names the client in %d lines, want 4: %q", len(lines), lines)
		}
	})
}

func TestDividedSites(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		public, internal := server.NewDivided(server.Config{Service: w.Service, Log: storetest.Log(t)})
		for path, want := range map[string][2]int{
			"/healthz":       {200, 200},
			"/readyz":        {200, 200},
			"/metrics":       {404, 200},
			"/docs":          {404, 200},
			"/docs/errors":   {404, 200},
			"/openapi.json":  {404, 200},
			"/2.0/users/me":  {401, 404},
			"/oauth2/revoke": {405, 404},
		} {
			for i, handler := range []http.Handler{public, internal} {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
				if answer.Code != want[i] {
					t.Errorf("%s at the %s address: status %d, want %d", path, [2]string{"public", "internal"}[i], answer.Code, want[i])
				}
			}
		}
	})
}
