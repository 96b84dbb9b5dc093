package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/server"
)

// basic returns the header with which a client authenticates by HTTP Basic.
func (c client) basic() http.Header {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.secret))
	return r.Header
}

// plus returns a form with additional fields: names and values.
func plus(f url.Values, more ...string) url.Values {
	for i := 0; i < len(more); i += 2 {
		f.Add(more[i], more[i+1])
	}
	return f
}

// TestTokenErrors checks the response of the token endpoint to every kind of mistake.
func TestTokenErrors(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		app := w.client(docgen.NewApplication{Name: "App", ActsAsUsers: true})
		modest := w.client(docgen.NewApplication{Name: "Modest"})
		idle, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: "idle@example.com", Name: "idle", Status: docgen.StatusInactive})
		must(w.t, err)
		enterprise, owner := id(w.EnterpriseID()), id(w.owner.User.ID)
		credentials := func(c client, kind, subject string, more ...string) url.Values {
			return plus(c.form("grant_type", "client_credentials"), append([]string{"box_subject_type", kind, "box_subject_id", subject},
				more...)...)
		}
		right := func() url.Values { return credentials(app, "enterprise", enterprise) }
		without := func(f url.Values, name string) url.Values { f.Del(name); return f }
		basic := app.basic()
		wrongBasic := client{app.Application, "wrong"}.basic()
		tests := []struct {
			name   string
			body   any
			header http.Header
			status int
			reason string // empty if a token is issued
			part   string // of the description
		}{
			{"right", right(), nil, 200, "", ""},
			{"for a user", credentials(app, "user", owner), nil, 200, "", ""},
			{"by HTTP Basic", without(without(right(), "client_id"), "client_secret"), basic, 200, "", ""},
			{"by HTTP Basic, with the id again", without(right(), "client_secret"), basic, 200, "", ""},
			{"with an access token, of which nothing is known here", right(), http.Header{"Authorization": {"Bearer x"}}, 200, "", ""},
			{"with unknown fields", plus(right(), "colour", "red", "colour", "blue"), nil, 200, "", ""},
			{"with fewer scopes", plus(right(), "scope", "root_readonly  docgen.readwrite"), nil, 200, "", ""},

			{"no grant", app.form(), nil, 400, "invalid_request", "grant_type"},
			{"an empty grant", app.form("grant_type", ""), nil, 400, "invalid_request", "grant_type"},
			{"an unsupported grant", app.form("grant_type", "password"), nil, 400, "unsupported_grant_type", "client_credentials"},
			{"the authorization code", app.form("grant_type", "authorization_code", "code", "x"), nil, 400, "unsupported_grant_type", ""},
			{"token exchange", app.form("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), nil, 400, "unsupported_grant_type", ""},
			{"no client", without(right(), "client_id"), nil, 400, "invalid_request", "client_id"},
			{"no secret", without(right(), "client_secret"), nil, 400, "invalid_request", "client_secret"},
			{"an unknown client", credentials(client{docgen.Application{ClientID: "nobody"}, "x"}, "enterprise", enterprise), nil, 400,
				"invalid_client", "not valid"},
			{"a client that no database can keep", credentials(client{docgen.Application{ClientID: "\x00\xff"}, "x"}, "enterprise",
				enterprise), nil, 400, "invalid_client", ""},
			{"a wrong secret", credentials(client{app.Application, "wrong"}, "enterprise", enterprise), nil, 400, "invalid_client", "not valid"},
			{"a wrong secret by HTTP Basic", app.form("grant_type", "client_credentials"), wrongBasic, 400, "invalid_request", "once"},
			{"only a wrong secret by HTTP Basic", url.Values{"grant_type": {"client_credentials"}}, wrongBasic, 401, "invalid_client", "not valid"},
			{"malformed HTTP Basic", url.Values{}, http.Header{"Authorization": {"Basic ???"}}, 401, "invalid_client", "Basic"},
			{"two clients", without(plus(without(right(), "client_id"), "client_id", modest.ClientID), "client_secret"), basic, 400,
				"invalid_request", "once"},
			{"a parameter given twice", plus(right(), "client_id", app.ClientID), nil, 400, "invalid_request", "client_id must be sent once"},
			{"a body of another type", `{"grant_type":"client_credentials"}`, nil, 400, "invalid_request", "Content-Type"},
			{"a form that cannot be read", "a=%zz", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, 400, "invalid_request",
				"form"},
			{"no body", nil, nil, 400, "invalid_request", "Content-Type"},

			{"no kind of subject", without(right(), "box_subject_type"), nil, 400, "invalid_request", "box_subject_type"},
			{"no subject", without(right(), "box_subject_id"), nil, 400, "invalid_request", "box_subject_id"},
			{"another kind of subject", credentials(app, "group", enterprise), nil, 400, "invalid_request", "enterprise or user"},
			{"a subject that is no id", credentials(app, "enterprise", "mine"), nil, 400, "invalid_grant", "box_subject_id"},
			{"another enterprise", credentials(app, "enterprise", "4711"), nil, 400, "invalid_grant", "box_subject_id"},
			{"an unknown user", credentials(app, "user", "4711"), nil, 400, "invalid_grant", "Grant credentials are invalid"},
			{"an inactive user", credentials(app, "user", id(idle.ID)), nil, 400, "invalid_grant", "active"},
			{"a service account of another application", credentials(app, "user", id(modest.Account.ID)), nil, 400, "invalid_grant", "active"},
			{"a user, of a client that may not", credentials(modest, "user", owner), nil, 400, "unauthorized_client", "users"},
			{"an unknown scope", plus(right(), "scope", "everything"), nil, 400, "invalid_scope", "root_readonly"},
			{"a scope that the application has not", plus(right(), "scope", "root_readonly enterprise_content"), nil, 400, "invalid_scope", ""},
			{"no assertion", app.form("grant_type", docgen.GrantAssertion), nil, 400, "invalid_request", "assertion"},
			{"an invalid assertion", app.form("grant_type", docgen.GrantAssertion, "assertion", "a.b.c"), nil, 400, "invalid_grant", "JWT"},
			{"no refresh token", app.form("grant_type", "refresh_token"), nil, 400, "invalid_request", "refresh_token"},
			{"an unknown refresh token", app.form("grant_type", "refresh_token", "refresh_token", "\x00"), nil, 400, "invalid_grant",
				"Grant credentials are invalid"},
		}
		for _, tt := range tests {
			w.t.Run(tt.name, func(t *testing.T) {
				res := w.do("POST //oauth2/token", request{as: "guest", body: tt.body, header: tt.header})
				v := res.want(t, tt.status)
				checkTokenAnswer(t, res, v, tt.reason, tt.part)
			})
		}
		w.t.Run("a body that is too large", func(t *testing.T) {
			res := w.do("POST //oauth2/token", request{as: "guest", body: app.form("scope", strings.Repeat("x", 1<<20))})
			res.want(t, 413, "request_entity_too_large")
		})
		w.t.Run("another method", func(t *testing.T) {
			w.do("GET //oauth2/token", request{as: "guest"}).want(t, 405, "method_not_allowed")
		})
		w.t.Run("under the wrong address", func(t *testing.T) {
			w.do("POST /oauth2/token", request{as: "guest", body: right()}).want(t, 404, "not_found")
		})
		if lines := w.logs.find(app.secret); len(lines) > 0 {
			w.t.Errorf("the secret is logged: %q", lines)
		}
		if lines := w.logs.find(`"route":"POST /oauth2/token"`, `"client_id":"`+app.ClientID); len(lines) == 0 {
			w.t.Error("the log does not name the client")
		}
	})
}

// TestFormsAtOnce sends forms of many clients concurrently, for the race detector.
func TestFormsAtOnce(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		app := w.client(docgen.NewApplication{Name: "App"})
		for i := range 8 {
			w.t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for range 10 {
					if res := w.do("POST //oauth2/token", request{as: "guest", body: app.form()}); res.StatusCode != http.StatusBadRequest {
						t.Errorf("status %d: %s", res.StatusCode, res.text)
					}
				}
			})
		}
	})
}

// checkTokenAnswer checks a response according to RFC 6749, sections 5.1 and 5.2.
func checkTokenAnswer(t *testing.T, res response, v object, reason, part string) {
	t.Helper()
	if res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", res.Header)
	}
	if challenge := res.Header.Get("WWW-Authenticate"); (challenge == `Basic realm="Platen"`) != (res.StatusCode == http.StatusUnauthorized) {
		t.Errorf("WWW-Authenticate: %s", challenge)
	}
	if reason == "" {
		token, _ := v["access_token"].(string)
		if len(token) != 43 || v["expires_in"] != 3600.0 || v["token_type"] != "bearer" || fmt.Sprint(v["restricted_to"]) != "[]" ||
			v["refresh_token"] != nil {
			t.Errorf("answer %s", res.text)
		}
		return
	}
	description := fmt.Sprint(v["error_description"])
	if v["error"] != reason || !strings.Contains(description, part) || strings.ContainsAny(description, "\"\\") {
		t.Errorf("answer %s, want %s with %q", res.text, reason, part)
	}
}

// TestTokensOnTheWire follows tokens from issue to revocation.
func TestTokensOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		app := w.client(docgen.NewApplication{Name: "App", ActsAsUsers: true})
		get := func(f url.Values) object {
			return w.do("POST //oauth2/token", request{as: "guest", body: f}).want(w.t, 200)
		}
		as := func(name string, v object) { w.tokens[name] = v["access_token"].(string) }
		as("account", get(app.form("grant_type", "client_credentials", "box_subject_type", "enterprise", "box_subject_id", id(w.EnterpriseID()))))
		me := w.do("GET /users/me?fields=name,login", request{as: "account"}).want(w.t, 200)
		if me["id"] != id(app.Account.ID) || me["name"] != "App" || !strings.HasPrefix(me["login"].(string), "AutomationUser_"+app.ClientID+"@") {
			w.t.Errorf("the service account is %v", me)
		}
		as("narrow", get(app.form("grant_type", "client_credentials", "box_subject_type", "user", "box_subject_id", id(w.owner.User.ID),
			"scope", "root_readonly")))
		w.do("GET /folders/0", request{as: "narrow"}).want(w.t, 200)
		w.do("POST /folders", request{as: "narrow", body: object{"name": "x", "parent": object{"id": "0"}}}).want(w.t, 403, "insufficient_scope")

		first, err := w.CreateGrant(w.t.Context(), "App", "owner@example.com", nil)
		must(w.t, err)
		second := get(app.form("grant_type", "refresh_token", "refresh_token", first.Refresh))
		as("refreshed", second)
		w.do("GET /users/me", request{as: "refreshed"}).want(w.t, 200)
		again := w.do("POST //oauth2/token", request{as: "guest", body: app.form("grant_type", "refresh_token", "refresh_token", first.Refresh)})
		again.want(w.t, 400)
		w.do("GET /users/me", request{as: "refreshed"}).want(w.t, 401, "unauthorized")

		revoke := func(f url.Values, header http.Header, status int) object {
			return w.do("POST //oauth2/revoke", request{as: "guest", body: f, header: header}).want(w.t, status)
		}
		revoke(app.form("token", w.tokens["account"]), nil, 200)
		w.do("GET /users/me", request{as: "account"}).want(w.t, 401)
		revoke(app.form("token", w.tokens["account"]), nil, 200)
		revoke(url.Values{"token": {"unknown"}}, app.basic(), 200)
		other := w.client(docgen.NewApplication{Name: "Other"})
		if v := revoke(other.form("token", w.tokens["narrow"]), nil, 400); v["error"] != "invalid_client" {
			w.t.Errorf("the token of another client: %v", v)
		}
		if v := revoke(app.form(), nil, 400); v["error"] != "invalid_request" {
			w.t.Errorf("no token: %v", v)
		}
		w.clock.Add(time.Hour.Microseconds())
		w.do("GET /users/me", request{as: "narrow"}).want(w.t, 401)
	})
}

func TestRateLimitsOfClients(t *testing.T) {
	limits := server.RateLimits{Requests: 3, Guests: 2}
	runOnce(t, server.Config{RateLimits: limits}, func(w *world) {
		app, other := w.client(docgen.NewApplication{Name: "App"}), w.client(docgen.NewApplication{Name: "Other"})
		get := func(f url.Values) response { return w.do("POST //oauth2/token", request{as: "guest", body: f}) }
		right := func(c client) url.Values {
			return c.form("grant_type", "client_credentials", "box_subject_type", "enterprise", "box_subject_id", id(w.EnterpriseID()))
		}
		for range 3 {
			get(right(app)).want(w.t, 200)
		}
		res := get(right(app))
		res.want(w.t, 429, "rate_limit_exceeded")
		if res.Header.Get("Retry-After") == "" {
			w.t.Error("no Retry-After")
		}
		for range 2 {
			get(client{app.Application, "guess"}.form()).want(w.t, 400)
		}
		get(client{app.Application, "guess"}.form()).want(w.t, 429, "rate_limit_exceeded")
		get(right(other)).want(w.t, 200) // a client with the right secret is not a guest
	})
}

func TestAsUserOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		app := w.client(docgen.NewApplication{Name: "App", ActsAsUsers: true})
		v := w.do("POST //oauth2/token", request{as: "guest", body: app.form("grant_type", "client_credentials", "box_subject_type",
			"enterprise", "box_subject_id", id(w.EnterpriseID()))}).want(w.t, 200)
		w.tokens["account"] = v["access_token"].(string)
		s := w.scene()
		as := func(values ...string) http.Header {
			return http.Header{"As-User": values, "Box-Notifications": {"off"}}
		}
		owner := id(w.owner.User.ID)
		for _, caller := range []string{"account", "admin"} {
			w.do(at("GET /files/{file_id}", s), request{as: caller}).want(w.t, 404)
			w.do(at("GET /files/{file_id}", s), request{as: caller, header: as(owner)}).want(w.t, 200)
			if me := w.do("GET /users/me", request{as: caller, header: as(owner)}).want(w.t, 200); me["id"] != owner {
				w.t.Errorf("%s for the owner is %v", caller, me)
			}
		}
		// The owner did not use their token, so these log lines are from applications acting as the owner.
		if lines := w.logs.find(`"user_id":`+owner, `"actor_id":`+id(app.Account.ID)); len(lines) != 2 {
			w.t.Errorf("%d lines of the log name both users, want 2", len(lines))
		}
		made := w.do("POST /folders", request{as: "account", header: as(owner),
			body: object{"name": "made", "parent": object{"id": "0"}}}).want(w.t, 201)
		if made["created_by"].(object)["id"] != owner {
			w.t.Errorf("created by %v", made["created_by"])
		}
		for name, header := range map[string]http.Header{"empty": as(""), "no id": as("me"), "negative": as("-1"), "twice": as(owner, owner)} {
			if v := w.do("GET /users/me", request{as: "admin", header: header}).want(w.t, 400,
				"bad_request"); problems(v)[0] != "invalid_parameter As-User" {
				w.t.Errorf("%s: %v", name, v)
			}
		}
		w.do("GET /users/me", request{as: "admin", header: as("4711")}).want(w.t, 404, "not_found")
		w.do("GET /users/me", request{as: "other", header: as(owner)}).want(w.t, 403, "access_denied_insufficient_permissions")
		w.do("GET /users", request{as: "admin", header: as(owner)}).want(w.t, 403, "insufficient_scope")
	})
}

// TestRateLimitsOfActingUsers shows that requests on behalf of many users count for the user who owns the token.
func TestRateLimitsOfActingUsers(t *testing.T) {
	runOnce(t, server.Config{RateLimits: server.RateLimits{Requests: 3}}, func(w *world) {
		for _, name := range []string{"owner", "other", "reader"} {
			as := http.Header{"As-User": {id(w.caller(name).User.ID)}}
			w.do("GET /users/me", request{as: "admin", header: as}).want(w.t, 200)
		}
		w.do("GET /users/me", request{as: "admin"}).want(w.t, 429, "rate_limit_exceeded")
		w.do("GET /users/me", request{as: "owner"}).want(w.t, 200)
	})
}
