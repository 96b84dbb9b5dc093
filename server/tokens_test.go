package server_test

import (
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

func TestIssuedTokensOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		secret, err := w.CreateToken(w.t.Context(), docgen.NewToken{Login: "other@example.com", Name: "Nightly", TTL: docgen.DefaultTokenTTL})
		must(w.t, err)
		w.tokens["nightly"] = secret
		list := func(as, query string) []any {
			return w.do("GET /tokens"+query, request{as: as}).want(w.t, 200)["entries"].([]any)
		}
		w.t.Run("are listed with what is known of them", func(t *testing.T) {
			w.clock.Add(time.Hour.Microseconds())
			res := w.do("GET /tokens?limit=1000", request{as: "nightly"})
			if strings.Contains(string(res.text), secret) {
				t.Errorf("the list shows a token: %s", res.text)
			}
			entries := res.want(t, 200)["entries"].([]any)
			got := entries[len(entries)-1].(object)
			for name, want := range map[string]any{
				"type": "token", "kind": "access", "name": "Nightly", "is_current": true, "last_used_at": nil,
				"expires_at": "2026-12-20T13:00:00+00:00",
			} {
				if got[name] != want {
					t.Errorf("%s is %v, want %v", name, got[name], want)
				}
			}
			if len(got["scopes"].([]any)) != 4 || got["user"].(object)["login"] != "other@example.com" ||
				got["application"].(object)["name"] != docgen.CommandLineApplication {
				t.Errorf("the token is %v", got)
			}
			must(t, w.RecordUses(t.Context()))
			if used := list("other", "?limit=1000"); used[len(used)-1].(object)["last_used_at"] != "2026-11-20T14:00:00+00:00" {
				t.Errorf("after its use the token is %v", used[len(used)-1])
			}
		})
		w.t.Run("of others are for who manages them", func(t *testing.T) {
			other := id(w.userID("other"))
			if got := list("admin", "?user_id="+other); len(got) != 2 {
				t.Errorf("an administrator sees %v", got)
			}
			if all := list("admin", "?all=true&limit=1000"); len(all) < 9 {
				t.Errorf("an administrator sees only %d of all tokens", len(all))
			}
			w.do("GET /tokens?user_id="+other, request{as: "owner"}).want(t, 403, "insufficient_scope")
			w.do("GET /tokens?all=true", request{as: "owner"}).want(t, 403, "insufficient_scope")
			w.do("GET /tokens?all=true&user_id="+other, request{as: "admin"}).want(t, 400, "bad_request")
			w.do("GET /tokens?all=perhaps", request{as: "admin"}).want(t, 400, "bad_request")
			w.do("GET /tokens?user_id=4711", request{as: "admin"}).want(t, 404, "not_found")
		})
		w.t.Run("are refused once revoked", func(t *testing.T) {
			nightly := id(w.tokenID(secret))
			w.do("DELETE /tokens/"+nightly, request{as: "other"}).want(t, 204)
			w.do("GET /users/me", request{as: "nightly"}).want(t, 401, "unauthorized")
			w.do("DELETE /tokens/"+nightly, request{as: "other"}).want(t, 404, "not_found")
			w.do("DELETE /tokens/x", request{as: "other"}).want(t, 404, "not_found")
		})
	})
}
