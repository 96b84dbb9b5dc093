package server_test

import (
	"crypto/tls"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/server"
)

const goodPassword = "nine purple elephants juggle"

// invited creates an invited user.
func (w *world) invited(name string) (userID int64, secret string) {
	w.t.Helper()
	userID = w.user(name)
	made, err := w.InviteUser(w.t.Context(), w.Operator(), userID)
	must(w.t, err)
	return userID, made.Secret
}

// person creates a user with a password.
func (w *world) person(name, password string) int64 {
	w.t.Helper()
	userID, secret := w.invited(name)
	must(w.t, w.AcceptInvitation(w.t.Context(), secret, password, "test"))
	return userID
}

// signIn signs a person in, and returns the cookie as a header of requests.
func (w *world) signIn(name, password string) (http.Header, *http.Cookie) {
	w.t.Helper()
	res := w.do("POST /sessions", request{as: "guest", body: object{"login": name + "@example.com", "password": password}})
	res.want(w.t, 201)
	cookies := res.Cookies()
	if len(cookies) != 1 {
		w.t.Fatalf("%d cookies", len(cookies))
	}
	return http.Header{"Cookie": {cookies[0].Name + "=" + cookies[0].Value}}, cookies[0]
}

func TestSignInOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		w.person("mira", goodPassword)
		res := w.do("POST /sessions", request{as: "guest", header: http.Header{"User-Agent": {"browser/1"}},
			body: object{"login": "Mira@Example.com", "password": goodPassword}})
		made := res.want(t, 201)
		session := made["session"].(object)
		if session["address"] != "127.0.0.1" || session["agent"] != "browser/1" || session["is_current"] != true ||
			session["idle_seconds"] != 7200.0 || made["user"].(object)["login"] != "mira@example.com" {
			t.Errorf("signed in: %v", made)
		}
		cookie := res.Cookies()[0]
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" || cookie.MaxAge != 0 ||
			cookie.Secure || cookie.Name != "platen_session" {
			t.Errorf("the cookie over HTTP: %s", res.Header.Get("Set-Cookie"))
		}
		if strings.Contains(string(res.text), cookie.Value) {
			t.Error("the body has the secret of the session")
		}
		with := http.Header{"Cookie": {"platen_session=" + cookie.Value}}
		if me := w.do("GET /users/me", request{as: "guest", header: with}).want(t, 200); me["login"] != "mira@example.com" {
			t.Errorf("the session acts as %v", me)
		}
		w.do("POST /folders", request{as: "guest", header: with, body: object{"name": "by cookie", "parent": object{"id": "0"}}}).want(t, 201)
		w.do("GET /audit_events", request{as: "guest", header: with}).want(t, 403, "insufficient_scope")

		// The secret of a session is no access token, and a token is no session.
		w.tokens["cookie"] = cookie.Value
		w.do("GET /users/me", request{as: "cookie"}).want(t, 401, "unauthorized")
		w.do("GET /users/me", request{as: "guest", header: http.Header{"Cookie": {"platen_session=" + w.tokens["owner"]}}}).want(t, 401)
		for name, header := range map[string]http.Header{
			"the name for HTTPS": {"Cookie": {"__Host-platen_session=" + cookie.Value}},
			"two cookies":        {"Cookie": {"platen_session=" + cookie.Value + "; platen_session=x"}},
			"a long secret":      {"Cookie": {"platen_session=" + strings.Repeat("x", 1000)}},
			"an empty secret":    {"Cookie": {"platen_session="}},
		} {
			if res := w.do("GET /users/me", request{as: "guest", header: header}); res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: status %d", name, res.StatusCode)
			}
		}
		// An access token wins over a session.
		if me := w.do("GET /users/me", request{header: with}).want(t, 200); me["login"] != "owner@example.com" {
			t.Errorf("with both, the caller is %v", me)
		}
		res = w.do("POST /sessions", request{as: "guest", body: object{"login": "mira@example.com", "password": goodPassword, "remember": true}})
		res.want(t, 201)
		if cookie := res.Cookies()[0]; cookie.MaxAge != 30*24*3600 {
			t.Errorf("remembered for %d seconds", cookie.MaxAge)
		}
		if list := w.do("GET /sessions", request{as: "guest", header: with}).want(t, 200)["entries"].([]any); len(list) != 2 {
			t.Errorf("%d sessions, want 2", len(list))
		}
		if kinds := w.do("GET /tokens", request{as: "guest", header: with}); !strings.Contains(string(kinds.text), `"kind":"session"`) {
			t.Errorf("tokens: %s", kinds.text)
		}
		for _, secret := range []string{cookie.Value, goodPassword} {
			if lines := w.logs.find(secret); len(lines) > 0 {
				t.Errorf("the log has a secret: %s", lines)
			}
		}
		out := w.do("DELETE /sessions", request{as: "guest", header: with})
		out.want(t, 204)
		if cookies := out.Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 || cookies[0].Value != "" {
			t.Errorf("signing out leaves %v", cookies)
		}
		w.do("GET /users/me", request{as: "guest", header: with}).want(t, 401)
	})
}

// Every reason why nobody is signed in looks the same.
func TestSignInFailuresLookAlike(t *testing.T) {
	run(t, func(w *world) {
		w.person("mira", goodPassword)
		inactive := w.person("gone", goodPassword)
		_, err := w.UpdateUser(t.Context(), w.Operator(), inactive, docgen.UserChange{Status: new(docgen.StatusInactive)})
		must(t, err)
		var first string
		for name, body := range map[string]object{
			"a wrong password":     {"login": "mira@example.com", "password": "nine purple elephants juggled"},
			"an unknown login":     {"login": "nobody@example.com", "password": goodPassword},
			"an inactive user":     {"login": "gone@example.com", "password": goodPassword},
			"no password":          {"login": "owner@example.com", "password": goodPassword},
			"an empty password":    {"login": "owner@example.com", "password": ""},
			"a very long password": {"login": "mira@example.com", "password": strings.Repeat("x", 5000)},
			"a very long login":    {"login": strings.Repeat("x", 5000), "password": goodPassword},
		} {
			res := w.do("POST /sessions", request{as: "guest", body: body})
			v := res.want(t, 401, "unauthorized")
			if message := v["message"].(string); first == "" {
				first = message
			} else if message != first {
				t.Errorf("%s: %q, another says %q", name, message, first)
			}
			if len(res.Cookies()) > 0 {
				t.Errorf("%s: there is a cookie", name)
			}
		}
		w.do("POST /sessions", request{as: "guest", body: object{"login": "mira@example.com"}}).want(t, 400, "bad_request")
		w.do("POST /sessions", request{as: "guest", body: object{"login": strings.Repeat("x", 20_000), "password": "x"}}).
			want(t, 413, "request_entity_too_large")
		w.do("POST /sessions", request{as: "guest", body: "login=mira", header: http.Header{"Content-Type": {"text/plain"}}}).want(t, 415)
	})
}

func TestSignInIsLimited(t *testing.T) {
	run(t, func(w *world) {
		w.person("mira", goodPassword)
		try := func(login, password string) response {
			return w.do("POST /sessions", request{as: "guest", body: object{"login": login, "password": password}})
		}
		for range 5 {
			try("mira@example.com", "wrong password").want(t, 401)
		}
		res := try("MIRA@example.com", goodPassword)
		res.want(t, 429, "rate_limit_exceeded")
		if res.Header.Get("Retry-After") != "900" {
			t.Errorf("Retry-After is %q", res.Header.Get("Retry-After"))
		}
		for range 5 {
			try("nobody@example.com", "wrong password").want(t, 401)
		}
		try("nobody@example.com", "wrong password").want(t, 429) // unknown logins too
		w.clock.Add((15 * time.Minute).Microseconds())
		try("mira@example.com", goodPassword).want(t, 201)
	})
}

// A browser sends the cookie with requests that other sites make, at least an old one. They are rejected.
func TestSessionsRejectOtherOrigins(t *testing.T) {
	run(t, func(w *world) {
		w.person("mira", goodPassword)
		with, _ := w.signIn("mira", goodPassword)
		host := strings.TrimPrefix(w.url, "http://")
		for name, tt := range map[string]struct {
			header map[string]string
			want   int
		}{
			"a script":                       {nil, 201},
			"a page of the server":           {map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": w.url}, 201},
			"an old browser":                 {map[string]string{"Origin": w.url}, 201},
			"another site":                   {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403},
			"another host of the site":       {map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "https://evil.example.com"}, 403},
			"another site, an old browser":   {map[string]string{"Origin": "https://evil.example"}, 403},
			"another port":                   {map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
			"a sandboxed page":               {map[string]string{"Origin": "null"}, 403},
			"a lie about the origin":         {map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"}, 403},
			"a name that leads to this host": {map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}, 401},
			"an origin with a path":          {map[string]string{"Origin": "http://evil.example/" + host}, 403},
		} {
			header := with.Clone()
			for name, value := range tt.header {
				header.Set(name, value)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/2.0/folders",
				strings.NewReader(`{"name":"`+name+`","parent":{"id":"0"}}`))
			must(t, err)
			req.Header = header
			req.Header.Set("svc-version", "2025.0")
			req.Header.Set("Content-Type", "application/json")
			req.Host = header.Get("Host")
			res, err := http.DefaultTransport.RoundTrip(req)
			must(t, err)
			must(t, res.Body.Close())
			if res.StatusCode != tt.want {
				t.Errorf("from %s: status %d, want %d", name, res.StatusCode, tt.want)
			}
		}
		cross := http.Header{"Sec-Fetch-Site": {"cross-site"}}
		maps.Copy(cross, with)
		w.do("GET /users/me", request{as: "guest", header: cross}).want(t, 403)
		w.do("GET /users/me", request{as: "owner", header: http.Header{"Sec-Fetch-Site": {"cross-site"}}}).want(t, 200) // no cookie, no danger
		body := object{"login": "mira@example.com", "password": goodPassword}
		w.do("POST /sessions", request{as: "guest", header: http.Header{"Origin": {"https://evil.example"}}, body: body}).want(t, 403)
	})
}

// Over HTTPS, the cookie has the prefix that keeps other hosts from setting it. Without it, there are no sessions but on this machine.
func TestCookieNeedsHTTPS(t *testing.T) {
	run(t, func(w *world) {
		w.person("mira", goodPassword)
		body := `{"login":"mira@example.com","password":"` + goodPassword + `"}`
		signIn := func(base, host, remote string) *http.Response {
			handler := server.New(server.Config{Service: w.Service, BaseURL: base, RateLimits: noLimits})
			req := httptest.NewRequest(http.MethodPost, "http://"+host+"/2.0/sessions", strings.NewReader(body))
			req.Header.Set("svc-version", "2025.0")
			req.Header.Set("Content-Type", "application/json")
			req.RemoteAddr = remote
			if strings.HasPrefix(base, "https") {
				req.Header.Set("Origin", "https://"+host)
			}
			rec := httptest.NewRecorder()
			handler.ServeHTTP(rec, req)
			return rec.Result()
		}
		behind := server.New(server.Config{Service: w.Service, BaseURL: "https://docs.example.com", FixedURL: true, RateLimits: noLimits})
		for origin, want := range map[string]int{"https://docs.example.com": 201, "http://docs.example.com": 403, "https://evil.example": 403,
			"https://upstream:8080": 201, "http://upstream:8080": 403} {
			req := httptest.NewRequest(http.MethodPost, "http://upstream:8080/2.0/sessions", strings.NewReader(body)) // as a proxy asks
			req.Header.Set("svc-version", "2025.0")
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Origin", origin)
			rec := httptest.NewRecorder()
			if behind.ServeHTTP(rec, req); rec.Code != want {
				t.Errorf("a proxy that changes the host, from %s: status %d, want %d", origin, rec.Code, want)
			}
		}
		res := signIn("https://docs.example.com", "docs.example.com", "192.0.2.7:1234")
		if res.StatusCode != http.StatusCreated {
			t.Fatalf("over HTTPS: status %d", res.StatusCode)
		}
		cookie := res.Cookies()[0]
		if cookie.Name != "__Host-platen_session" || !cookie.Secure || !cookie.HttpOnly || cookie.Path != "/" || cookie.Domain != "" {
			t.Errorf("over HTTPS: %s", res.Header.Get("Set-Cookie"))
		}
		for name, at := range map[string][3]string{
			"a host without HTTPS":     {"http://docs.example.com", "docs.example.com", "127.0.0.1:1234"},
			"another host":             {"http://127.0.0.1:8080", "evil.example", "127.0.0.1:1234"},
			"another machine":          {"http://127.0.0.1:8080", "127.0.0.1:8080", "192.0.2.7:1234"},
			"all addresses, as served": {"http://[::]:8080", "localhost:8080", "127.0.0.1:1234"},
		} {
			if res := signIn(at[0], at[1], at[2]); res.StatusCode != http.StatusForbidden || len(res.Cookies()) > 0 {
				t.Errorf("%s: status %d, cookies %v", name, res.StatusCode, res.Cookies())
			}
		}
		res = signIn("http://localhost:8080", "localhost:8080", "[::1]:1234")
		if res.StatusCode != http.StatusCreated || res.Cookies()[0].Secure {
			t.Errorf("on this machine: status %d, %v", res.StatusCode, res.Cookies())
		}
	})
}

// A browser with a real cookie store signs in over TLS, changes the password, and signs out everywhere else.
func TestBrowserSession(t *testing.T) {
	run(t, func(w *world) {
		userID, secret := w.invited("mira")
		site := httptest.NewUnstartedServer(nil)
		base := "https://" + site.Listener.Addr().String()
		site.Config.Handler = server.New(server.Config{
			Service: w.Service, BaseURL: base, RateLimits: noLimits, Log: slog.New(slog.DiscardHandler),
		})
		site.StartTLS()
		defer site.Close()
		browser := func() func(method, path, body string) int {
			jar, err := cookiejar.New(nil)
			must(t, err)
			config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a test
			client := &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: config}}
			return func(method, path, body string) int {
				req, err := http.NewRequestWithContext(t.Context(), method, base+"/2.0"+path, strings.NewReader(body))
				must(t, err)
				req.Header.Set("svc-version", "2025.0")
				req.Header.Set("Origin", base)
				req.Header.Set("Sec-Fetch-Site", "same-origin")
				if body != "" {
					req.Header.Set("Content-Type", "application/json")
				}
				res, err := client.Do(req)
				must(t, err)
				must(t, res.Body.Close())
				u, err := url.Parse(base)
				must(t, err)
				for _, cookie := range jar.Cookies(u) {
					if !strings.HasPrefix(cookie.Name, "__Host-") {
						t.Errorf("the browser has the cookie %s", cookie.Name)
					}
				}
				return res.StatusCode
			}
		}
		here, there := browser(), browser()
		signIn := `{"login":"mira@example.com","password":"` + goodPassword + `"}`
		want := func(what string, got, status int) {
			t.Helper()
			if got != status {
				t.Fatalf("%s: status %d, want %d", what, got, status)
			}
		}
		want("before the invitation", here("POST", "/sessions", signIn), 401)
		want("a short password", here("POST", "/invitations/accept", `{"secret":"`+secret+`","password":"short"}`), 400)
		want("the invitation", here("POST", "/invitations/accept", `{"secret":"`+secret+`","password":"`+goodPassword+`"}`), 204)
		want("the invitation again", here("POST", "/invitations/accept", `{"secret":"`+secret+`","password":"`+goodPassword+`"}`), 401)
		want("without a session", here("GET", "/users/me", ""), 401)
		want("signing in", here("POST", "/sessions", signIn), 201)
		want("signing in elsewhere", there("POST", "/sessions", signIn), 201)
		want("here", here("GET", "/users/me", ""), 200)
		want("a wrong password", here("PUT", "/users/me/password", `{"current_password":"wrong","new_password":"`+goodPassword+`!"}`), 403)
		want("the change", here("PUT", "/users/me/password", `{"current_password":"`+goodPassword+`","new_password":"`+goodPassword+`!"}`), 204)
		want("here after the change", here("GET", "/users/me", ""), 200)
		want("elsewhere after the change", there("GET", "/users/me", ""), 401)
		want("the old password", there("POST", "/sessions", signIn), 401)
		want("signing out", here("DELETE", "/sessions", ""), 204)
		want("signed out", here("GET", "/users/me", ""), 401)
		noted := w.do("GET /audit_events?user_id="+id(userID), request{as: "admin"}).want(t, 200)["entries"].([]any)
		var actions []string
		for _, entry := range noted {
			actions = append(actions, entry.(object)["action"].(string))
		}
		expected := []string{"password.set", "session.created", "session.created", "password.set", "session.ended"}
		if !slices.Equal(actions, expected) {
			t.Errorf("the audit log has %s, want %s", actions, expected)
		}
	})
}
