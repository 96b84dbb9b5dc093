package server_test

import (
	"strings"
	"testing"
)

func TestApplicationsOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		made := w.do("POST /applications", request{as: "admin", body: object{"name": "Billing", "scopes": []string{"docgen.readwrite"},
			"acts_as_users": true}}).want(t, 201)
		app := made["application"].(object)
		secret := made["client_secret"].(string)
		if app["name"] != "Billing" || app["acts_as_users"] != true || len(app["scopes"].([]any)) != 1 {
			t.Errorf("created: %v", made)
		}
		c := client{secret: secret}
		c.ClientID = app["client_id"].(string)
		grant := func() response {
			return w.do("POST //oauth2/token", request{body: c.form("grant_type", "client_credentials", "box_subject_type", "enterprise",
				"box_subject_id", id(w.EnterpriseID()))})
		}
		refused := func() {
			t.Helper()
			if res := grant(); res.StatusCode < 400 || res.StatusCode > 401 {
				t.Errorf("with a secret that is not valid: status %d", res.StatusCode)
			}
		}
		grant().want(t, 200)
		list := w.do("GET /applications", request{as: "admin"})
		list.want(t, 200)
		if text := string(list.text); !strings.Contains(text, c.ClientID) || strings.Contains(text, "secret") || strings.Contains(text, secret) {
			t.Errorf("listed: %s", text)
		}
		renewed := w.do("POST /applications/"+app["id"].(string)+"/secret", request{as: "admin"}).want(t, 201)
		refused()
		c.secret = renewed["client_secret"].(string)
		grant().want(t, 200)
		w.do("DELETE /applications/"+app["id"].(string), request{as: "admin"}).want(t, 204)
		refused()
		w.do("DELETE /applications/"+app["id"].(string), request{as: "admin"}).want(t, 404, "not_found")
		w.do("POST /applications", request{as: "admin", body: object{}}).want(t, 400, "bad_request")
	})
}

func TestOwnTokensOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		token := object{"name": "script", "scopes": []string{"root_readonly"}, "expires_in": 3600}
		made := w.do("POST /tokens", request{body: token}).want(t, 201)
		w.tokens["script"] = made["access_token"].(string)
		described := made["token"].(object)
		if described["name"] != "script" || described["kind"] != "access" || described["is_current"] != false {
			t.Errorf("created: %v", made)
		}
		w.do("GET /users/me", request{as: "script"}).want(t, 200)
		w.do("POST /folders", request{as: "script", body: object{"name": "x", "parent": object{"id": "0"}}}).want(t, 403, "insufficient_scope")
		if list := w.do("GET /tokens", request{}); strings.Contains(string(list.text), w.tokens["script"]) {
			t.Error("a list of tokens has a token")
		}
		for _, body := range []object{{"expires_in": 0}, {"expires_in": -1}, {"expires_in": 1 << 60}, {"scopes": []string{"everything"}},
			{"name": strings.Repeat("x", 101)}, {"user": "admin@example.com"}} {
			w.do("POST /tokens", request{body: body}).want(t, 400, "bad_request")
		}
		w.do("DELETE /tokens/"+described["id"].(string), request{}).want(t, 204)
		w.do("GET /users/me", request{as: "script"}).want(t, 401)
	})
}
