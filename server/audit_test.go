package server_test

import (
	"net/http"
	"testing"
)

func TestAuditOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		agent := http.Header{"User-Agent": {"auditor/1.0"}, "X-Request-Id": {"audited-request"}}
		entries := func(query string) []any {
			return w.do("GET /audit_events"+query, request{as: "admin"}).want(w.t, 200)["entries"].([]any)
		}
		w.t.Run("who, as whom, and from where", func(t *testing.T) {
			as := http.Header{"As-User": {id(w.owner.User.ID)}, "User-Agent": {"auditor/1.0"}, "X-Request-Id": {"audited-request"}}
			w.do("DELETE /collaborations/"+id(s.collaboration), request{as: "admin", header: as}).want(t, 204)
			found := entries("?action=collaboration.deleted&user_id=" + id(w.owner.User.ID))
			if len(found) != 1 {
				t.Fatalf("%d entries, want 1", len(found))
			}
			got := found[0].(object)
			for name, want := range map[string]any{
				"type": "audit_event", "action": "collaboration.deleted", "outcome": "success", "address": "127.0.0.1", "agent": "auditor/1.0",
				"request_id": "audited-request", "target_kind": "collaboration", "target_id": id(s.collaboration),
				"token_id": id(w.caller("admin").TokenID),
			} {
				if got[name] != want {
					t.Errorf("%s is %v, want %v", name, got[name], want)
				}
			}
			if actor, user := got["actor"].(object), got["user"].(object); actor["login"] != "admin@example.com" ||
				user["login"] != "owner@example.com" {
				t.Errorf("actor %v, user %v", actor, user)
			}
			if acted := entries("?action=user.acted_as"); len(acted) != 1 || acted[0].(object)["target_id"] != id(w.owner.User.ID) {
				t.Errorf("acting for another user: %v", acted)
			}
		})
		w.t.Run("what was denied, counted", func(t *testing.T) {
			for range 20 {
				w.do("GET /users/me", request{as: "expired", header: agent}).want(t, 401)
				w.do("GET /users", request{as: "other", header: agent}).want(t, 403)
			}
			w.do("GET /users/me", request{as: "guest"}).want(t, 401) // says nothing that could be wrong
			must(t, w.RecordDenials(t.Context()))
			found := entries("?action=request.denied")
			reasons := map[any]any{}
			for _, e := range found {
				details := e.(object)["details"].(object)
				reasons[details["reason"]] = details["count"]
			}
			if len(found) != 2 || reasons["unauthorized"] != "20" || reasons["insufficient_scope"] != "20" {
				t.Errorf("%d entries: %v", len(found), reasons)
			}
		})
		w.t.Run("filters that cannot be", func(t *testing.T) {
			for _, query := range []string{"?user_id=x", "?created_after=yesterday", "?created_before=1", "?marker=x", "?action=%00"} {
				w.do("GET /audit_events"+query, request{as: "admin"}).want(t, 400, "bad_request")
			}
			if got := entries("?created_after=2100-01-01T00:00:00Z"); len(got) != 0 {
				t.Errorf("in the future: %v", got)
			}
		})
	})
}
