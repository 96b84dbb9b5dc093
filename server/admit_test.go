package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"platen/server"
)

func TestVersionHeader(t *testing.T) {
	const missing = `Missing header "svc-version". Send "svc-version: 2025.0", or start the server with --compat box.`
	tests := []struct {
		name    string
		header  http.Header
		message string // on a Doc Gen operation; empty if it is accepted
		free    bool   // whether it is accepted with CompatBox where the SDKs of Box send no header
		echo    string // the header that echoes the version
	}{
		{"svc-version", http.Header{"Svc-Version": {"2025.0"}}, "", true, "svc-version"},
		{"box-version", http.Header{"Box-Version": {"2025.0"}}, "", true, "box-version"},
		{"both", http.Header{"Svc-Version": {"2025.0"}, "Box-Version": {"2025.0"}}, "", true, "svc-version"},
		{"none", nil, missing, true, "svc-version"},
		{"empty", http.Header{"Svc-Version": {""}}, "Invalid (empty) API version specified in 'svc-version' header.", false, ""},
		{"wrong", http.Header{"Box-Version": {"2024.0"}},
			"Invalid API version specified in 'box-version' header. Supported API versions: [2025.0].", false, ""},
		{"malformed", http.Header{"Svc-Version": {"latest"}},
			"Invalid API version specified in 'svc-version' header. Supported API versions: [2025.0].", false, ""},
		{"twice", http.Header{"Svc-Version": {"2025.0", "2025.0"}},
			"The 'svc-version' header supports only one header value per request, do not use commas.", false, ""},
		{"a list", http.Header{"Box-Version": {"2025.0,2025.0"}},
			"The 'box-version' header supports only one header value per request, do not use commas.", false, ""},
		{"one right, one wrong", http.Header{"Svc-Version": {"2025.0"}, "Box-Version": {"1"}},
			"Invalid API version specified in 'box-version' header. Supported API versions: [2025.0].", false, ""},
	}
	check := func(t *testing.T, res response, message, echo string) {
		t.Helper()
		if message != "" {
			if v := res.want(t, 400, "invalid_api_version"); v["message"] != message {
				t.Errorf("message %q, want %q", v["message"], message)
			}
			return
		}
		res.want(t, 200)
		if got := res.Header.Get(echo); got != "2025.0" {
			t.Errorf("%s: %q in the answer, want 2025.0", echo, got)
		}
	}
	test := func(w *world) {
		for _, tt := range tests {
			w.t.Run(tt.name, func(t *testing.T) {
				// The map replaces the headers that do would send.
				r := request{without: []string{"svc-version"}}
				if tt.header != nil {
					r = request{header: tt.header}
					if tt.header["Svc-Version"] == nil {
						r.header = http.Header{"Svc-Version": nil, "Box-Version": tt.header["Box-Version"]}
					}
				}
				check(t, w.do("GET /docgen_templates", r), tt.message, tt.echo)
				message := tt.message
				if tt.free && w.compat == server.CompatBox {
					message = ""
				}
				for _, call := range []string{"GET /users/me", "GET /folders/0"} {
					check(t, w.do(call, r), message, tt.echo)
				}
			})
		}
	}
	for _, compat := range []server.Compat{server.CompatNone, server.CompatBox} {
		t.Run("compat="+string(compat), func(t *testing.T) {
			runOnce(t, server.Config{RateLimits: noLimits, Compat: compat}, test)
		})
	}
}

// TestVersionHeaderOnEveryRoute omits the header. With CompatBox, exactly those operations require it to which the SDKs
// of Box send it.
func TestVersionHeaderOnEveryRoute(t *testing.T) {
	for _, compat := range []server.Compat{server.CompatNone, server.CompatBox} {
		t.Run("compat="+string(compat), func(t *testing.T) {
			runOnce(t, server.Config{RateLimits: noLimits, Compat: compat}, func(w *world) {
				s := w.scene()
				for _, c := range routeCases {
					if strings.Contains(c.route, "/oauth2") { // not under /2.0
						continue
					}
					needed := compat == server.CompatNone || strings.Contains(c.route, "/docgen_") || strings.Contains(c.route, "/archives")
					if strings.HasPrefix(c.route, "GET /zip_downloads/{zip_download_id}/content") { // browsers follow its URL
						needed = false
					}
					v := w.do(at(c.route, s), request{as: "owner", without: []string{"svc-version"}, body: object{}})
					if refused := strings.Contains(string(v.text), "invalid_api_version"); refused != needed {
						w.t.Errorf("%s: %d %s; the header is needed: %v", c.route, v.StatusCode, v.text, needed)
					}
				}
				w.do("GET //healthz", request{without: []string{"svc-version"}}).want(w.t, 200)
			})
		})
	}
}

func TestAccessTokens(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		right := "Bearer " + w.tokens["owner"]
		tests := []struct {
			name      string
			header    []string
			status    int
			challenge string
		}{
			{"right", []string{right}, 200, ""},
			{"scheme in lower case", []string{strings.Replace(right, "Bearer", "bearer", 1)}, 200, ""},
			{"none", nil, 401, `Bearer realm="Platen"`},
			{"unknown", []string{"Bearer nobody"}, 401, `error="invalid_token"`},
			{"expired", []string{"Bearer " + w.tokens["expired"]}, 401, `error="invalid_token"`},
			{"empty", []string{"Bearer "}, 401, `error="invalid_token"`},
			{"no scheme", []string{w.tokens["owner"]}, 401, `error="invalid_token"`},
			{"another scheme", []string{"Basic dXNlcjpwYXNz"}, 401, `error="invalid_token"`},
			{"two in one", []string{right + " " + w.tokens["owner"]}, 401, `error="invalid_token"`},
			{"two headers", []string{right, right}, 401, `error="invalid_token"`},
			{"far too long", []string{"Bearer " + strings.Repeat("x", 20000)}, 401, `error="invalid_token"`},
		}
		for _, tt := range tests {
			w.t.Run(tt.name, func(t *testing.T) {
				res := w.do("GET /users/me", request{header: http.Header{"Authorization": tt.header}})
				res.want(t, tt.status)
				challenge := res.Header.Get("WWW-Authenticate")
				if !strings.Contains(challenge, tt.challenge) || (challenge == "") != (tt.status == 200) {
					t.Errorf("WWW-Authenticate: %s, want %s", challenge, tt.challenge)
				}
				if tt.name == "none" && challenge != tt.challenge {
					t.Errorf("WWW-Authenticate: %s, want no error (RFC 6750, section 3)", challenge)
				}
			})
		}
		w.t.Run("a scope that is missing", func(t *testing.T) {
			res := w.do("GET /folders/0", request{as: "scope"})
			res.want(t, 403, "insufficient_scope")
			if challenge := res.Header.Get("WWW-Authenticate"); !strings.Contains(challenge, `error="insufficient_scope"`) {
				t.Errorf("WWW-Authenticate: %s", challenge)
			}
		})
		w.t.Run("for another user", func(t *testing.T) {
			me := w.do("GET /users/me", request{}).want(t, 200)["id"].(string)
			w.do("GET /users/me", request{header: http.Header{"As-User": {me}}}).want(t, 200)
			w.do("GET /users/me", request{header: http.Header{"As-User": {"4711"}}}).want(t, 403, "access_denied_insufficient_permissions")
		})
		w.t.Run("comes before everything else", func(t *testing.T) {
			r := request{as: "guest", body: "{", header: http.Header{"Svc-Version": {"1"}}}
			w.do("POST /docgen_batches", r).want(t, 401)
		})
	})
}

func TestRateLimits(t *testing.T) {
	limits := server.RateLimits{Requests: 5, Uploads: 2, Guests: 3}
	halfPast := func() time.Time { return time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC) }
	runOnce(t, server.Config{RateLimits: limits, Now: halfPast}, func(w *world) {
		// A request is allowed again as soon as one of the requests counted in this minute has expired in the next one.
		exhausted := func(t *testing.T, call string, r request, allowed int, retryAfter string) {
			t.Helper()
			for range allowed {
				if res := w.do(call, r); res.StatusCode == http.StatusTooManyRequests {
					t.Fatalf("limited before %d requests", allowed)
				}
			}
			res := w.do(call, r)
			res.want(t, http.StatusTooManyRequests, "rate_limit_exceeded")
			if values := res.Header["Retry-After"]; len(values) != 1 || values[0] != retryAfter {
				t.Errorf("Retry-After: %q", values)
			}
		}
		w.t.Run("of a user", func(t *testing.T) { exhausted(t, "GET /users/me", request{}, 5, "42") })
		w.t.Run("of a user with another token", func(t *testing.T) {
			w.do("GET /users/me", request{as: "scope"}).want(t, http.StatusTooManyRequests)
		})
		w.t.Run("of another user", func(t *testing.T) { exhausted(t, "GET /users/me", request{as: "other"}, 5, "42") })
		w.t.Run("of uploads", func(t *testing.T) {
			exhausted(t, "POST /files/content", request{body: form{{"attributes", `{}`}}}, 2, "60")
		})
		w.t.Run("of guests", func(t *testing.T) { exhausted(t, "GET /users/me", request{as: "guest"}, 3, "50") })
		w.t.Run("of guests, who do not lock others out", func(t *testing.T) {
			w.do("GET /users/me", request{as: "reader"}).want(t, 200)
		})
		w.t.Run("not of what an operator watches", func(t *testing.T) {
			for range 20 {
				w.do("GET //healthz", request{}).want(t, 200)
			}
		})
	})
}
