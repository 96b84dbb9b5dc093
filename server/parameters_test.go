package server_test

import (
	"net/http"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// TestParameters sends invalid query parameters and headers to several operations. The response names each problem.
func TestParameters(t *testing.T) {
	tests := []struct {
		name, call string
		header     http.Header
		problems   string // reason and name of each; empty if the request is accepted
		message    string
		box        bool // whether it is accepted with CompatBox
	}{
		{name: "known parameters", call: "GET /docgen_jobs?limit=1&usemarker=true&marker="},
		{name: "nothing", call: "GET /docgen_jobs?&&"},
		{name: "an unknown parameter", call: "GET /docgen_jobs?limit=1&nonsense=1", problems: "invalid_parameter nonsense",
			message: "'nonsense' is not a query parameter of this operation; it has limit, marker, usemarker", box: true},
		{name: "a parameter of none", call: "GET /webhook_keys?x", problems: "invalid_parameter x", message: "it has none", box: true},
		{name: "a parameter in other letters", call: "GET /docgen_jobs?Limit=1", problems: "invalid_parameter Limit", box: true},
		{name: "an unknown parameter twice", call: "GET /docgen_jobs?x=1&x=2", problems: "invalid_parameter x invalid_parameter x", box: true},
		{name: "a known parameter twice", call: "GET /docgen_jobs?limit=1&limit=1", problems: "invalid_parameter limit",
			message: "'limit' must be sent once"},
		{name: "a known parameter twice, once escaped", call: "GET /users/me?fields=id&%66ields=id", problems: "invalid_parameter fields"},
		{name: "a boolean that is none", call: "GET /docgen_jobs?usemarker=maybe", problems: "invalid_parameter usemarker",
			message: "must be true or false"},
		{name: "a boolean that is none, of a list with both ways", call: "GET /folders/0/items?usemarker=maybe",
			problems: "invalid_parameter usemarker"},
		{name: "a value with a broken escape", call: "GET /docgen_jobs?marker=%zz", problems: "invalid_parameter marker",
			message: `'marker' is not percent-encoded correctly: invalid URL escape "%zz"`},
		{name: "a value that ends in an escape", call: "GET /docgen_jobs?marker=%2", problems: "invalid_parameter marker"},
		{name: "a name with a broken escape", call: "GET /docgen_jobs?mark%er=x", problems: "invalid_parameter mark%er"},
		{name: "a semicolon", call: "GET /docgen_jobs?limit=1;marker=x", problems: "invalid_parameter limit", message: "semicolon"},
		{name: "a value that is no UTF-8", call: "GET /users/me?fields=%ff", problems: "invalid_parameter fields", message: "UTF-8"},
		{name: "a value with a zero byte", call: "GET /users/me?fields=a%00", problems: "invalid_parameter fields"},
		{name: "everything at once", call: "GET /docgen_jobs?a=1&limit=1&limit=2&usemarker=x&marker=%",
			problems: "invalid_parameter a invalid_parameter limit invalid_parameter marker invalid_parameter usemarker"},
		{name: "a limit with a sign", call: "GET /docgen_jobs?limit=%2B5", problems: "invalid_parameter limit"},
		{name: "a limit with a blank", call: "GET /docgen_jobs?limit=+5", problems: "invalid_parameter limit"},
		{name: "an empty status", call: "GET /docgen_jobs?status=", problems: "invalid_parameter status", message: "must not be empty",
			box: true},
		{name: "an empty state", call: "GET /docgen_batches?state=", problems: "invalid_parameter state", box: true},
		{name: "a negative offset", call: "GET /folders/0/items?offset=-1", problems: "invalid_parameter offset"},
		{name: "a header twice", call: "GET /folders/0", header: http.Header{"If-None-Match": {"1", "2"}},
			problems: "invalid_parameter If-None-Match", message: "must be sent once"},
		{name: "a media type twice", call: "GET /folders/0", header: http.Header{"Content-Type": {"text/plain", "application/json"}},
			problems: "invalid_parameter Content-Type"},
	}
	for _, compat := range []server.Compat{server.CompatNone, server.CompatBox} {
		t.Run("compat="+string(compat), func(t *testing.T) {
			runOnce(t, server.Config{RateLimits: noLimits, Compat: compat}, func(w *world) {
				for _, tt := range tests {
					w.t.Run(tt.name, func(t *testing.T) {
						res := w.do(tt.call, request{as: "archivist", header: tt.header})
						if tt.problems == "" || tt.box && compat == server.CompatBox {
							res.want(t, 200)
							return
						}
						v := res.want(t, 400)
						if got := strings.Join(problems(v), " "); got != tt.problems && compat == server.CompatNone {
							t.Errorf("problems %q, want %q", got, tt.problems)
						}
						if message := v["message"].(string); !strings.Contains(message, tt.message) {
							t.Errorf("message %q, want %q in it", message, tt.message)
						}
					})
				}
				w.t.Run("a guest", func(t *testing.T) {
					w.do("GET /docgen_jobs?nonsense=1&limit=1&limit=2", request{as: "guest"}).want(t, 401)
				})
			})
		})
	}
}

// TestParametersOfEveryRoute sends an unknown parameter and a broken escape to every operation.
func TestParametersOfEveryRoute(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		for _, c := range routeCases {
			if strings.Contains(c.route, "/oauth2") {
				continue
			}
			separator := "?"
			if strings.Contains(c.route, "?") {
				separator = "&"
			}
			v := w.do(at(c.route, s)+separator+"nonsense=%zz&more=1", request{as: "owner", body: object{}}).want(w.t, 400, "bad_request")
			if got := strings.Join(problems(v), " "); got != "invalid_parameter more invalid_parameter nonsense" {
				w.t.Errorf("%s: problems %q", c.route, got)
			}
		}
	})
}

// TestParametersOfClients sends parameters to the OAuth endpoints in the query instead of the form, or twice.
func TestParametersOfClients(t *testing.T) {
	for compat, status := range map[server.Compat]int{server.CompatNone: 400, server.CompatBox: 200} {
		t.Run("compat="+string(compat), func(t *testing.T) {
			runOnce(t, server.Config{RateLimits: noLimits, Compat: compat}, func(w *world) {
				app := w.client(docgen.NewApplication{Name: "app"})
				form := app.form("token", "none")
				res := w.do("POST //oauth2/revoke?client_id=x", request{as: "guest", body: form})
				if res.StatusCode != status || status == 400 && !strings.Contains(string(res.text), "'client_id' is not a query parameter") {
					w.t.Errorf("compat %q: status %d, want %d: %s", compat, res.StatusCode, status, res.text)
				}
				w.do("POST //oauth2/revoke?token=%zz", request{as: "guest", body: form}).want(w.t, 400)
				w.do("POST //oauth2/revoke", request{as: "guest", body: form,
					header: http.Header{"Authorization": {"Basic x", "Basic y"}}}).want(w.t, 400)
				w.do("POST //oauth2/revoke", request{as: "guest", body: form}).want(w.t, 200)
			})
		})
	}
}

// TestEmptyTexts sends empty strings for parameters that would otherwise count as omitted.
func TestEmptyTexts(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		for call, fields := range map[string][]string{
			"PUT " + at("/users/{user_id}", s):                   {"role", "status"},
			"POST /users":                                        {"role", "status"},
			"POST " + at("/files/{file_id}/copy", s):             {"name"},
			"PUT " + at("/collaborations/{collaboration_id}", s): {"role", "status"},
			"POST /webhook_deliveries/replay":                    {"event_id", "trigger", "state"},
			"OPTIONS " + at("/files/{file_id}/content", s):       {"name"},
		} {
			for _, field := range fields {
				body := object{field: ""}
				v := w.do(call, request{as: "archivist", body: body}).want(w.t, 400, "bad_request")
				if got := strings.Join(problems(v), " "); !strings.Contains(got, "invalid_parameter "+field) {
					w.t.Errorf("%s with an empty %s: problems %q", call, field, got)
				}
			}
		}
	})
}
