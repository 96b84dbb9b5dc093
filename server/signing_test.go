package server_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// keysOf returns the slots and the secrets of the keys in a response.
func keysOf(t *testing.T, res response, status int) (slots, secrets []string) {
	t.Helper()
	for _, entry := range res.want(t, status)["entries"].([]any) {
		key := entry.(object)
		if key["type"] != "webhook_key" || (key["slot"] == "retired") != (key["expires_at"] != nil) {
			t.Errorf("a key is %v", key)
		}
		random, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key["secret"].(string), "whsec_"))
		if err != nil || len(random) != 32 {
			t.Errorf("a secret is %v", key["secret"])
		}
		slots, secrets = append(slots, key["slot"].(string)), append(secrets, key["secret"].(string))
	}
	if got := res.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control: %s", got)
	}
	return slots, secrets
}

func TestKeysOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		list := func(t *testing.T) (slots, secrets []string) {
			t.Helper()
			return keysOf(t, w.do("GET /webhook_keys", request{as: "admin"}), 200)
		}
		same := func(t *testing.T, got, want []string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		w.t.Run("none before the first webhook", func(t *testing.T) {
			slots, _ := list(t)
			same(t, slots, nil)
		})
		w.hook("first")
		w.t.Run("two from then on", func(t *testing.T) {
			slots, secrets := list(t)
			same(t, slots, []string{"primary", "secondary"})
			if secrets[0] == secrets[1] {
				t.Error("they are the same")
			}
		})
		w.t.Run("one is replaced, and goes on signing for a day", func(t *testing.T) {
			_, before := list(t)
			slots, after := keysOf(t, w.do("POST /webhook_keys/secondary", request{as: "admin"}), 201)
			same(t, slots, []string{"primary", "secondary", "retired"})
			same(t, []string{after[0], after[2]}, before)
			w.clock.Add((docgen.DefaultKeyOverlap - time.Second).Microseconds())
			_, later := list(t)
			same(t, later, after)
			w.clock.Add(time.Second.Microseconds())
			_, last := list(t)
			same(t, last, after[:2])
		})
		w.t.Run("one is replaced at once", func(t *testing.T) {
			_, before := list(t)
			slots, after := keysOf(t, w.do("POST /webhook_keys/primary", request{as: "admin", body: object{"overlap_seconds": 0}}), 201)
			same(t, slots, []string{"primary", "secondary"})
			if after[0] == before[0] || after[1] != before[1] {
				t.Errorf("before %q, after %q", before, after)
			}
		})
		w.t.Run("one is replaced after 30 days, the most", func(t *testing.T) {
			_, before := list(t)
			keysOf(t, w.do("POST /webhook_keys/primary", request{as: "admin", body: object{"overlap_seconds": 2592000}}), 201)
			w.clock.Add((docgen.MaxKeyOverlap - time.Second).Microseconds())
			if _, secrets := list(t); len(secrets) != 3 || secrets[2] != before[0] {
				t.Errorf("before %q, a second before the end %q", before, secrets)
			}
			for _, overlap := range []any{2592001, -1, int64(1) << 62, -int64(1) << 62, "a day"} {
				v := w.do("POST /webhook_keys/primary", request{as: "admin", body: object{"overlap_seconds": overlap}}).want(t, 400, "bad_request")
				same(t, problems(v), []string{"invalid_parameter overlap_seconds"})
			}
		})
		w.t.Run("of another slot there are none", func(t *testing.T) {
			same(t, problems(w.do("POST /webhook_keys/retired", request{as: "admin"}).want(t, 400, "bad_request")),
				[]string{"invalid_parameter slot"})
		})
		w.t.Run("are an application's, for its service account too", func(t *testing.T) {
			app := w.client(docgen.NewApplication{Name: "Robot", Scopes: []docgen.Scope{docgen.ScopeRead, docgen.ScopeWrite, docgen.ScopeWebhooks}})
			token := w.do("POST //oauth2/token", request{as: "guest", body: app.form("grant_type", "client_credentials", "box_subject_type",
				"enterprise",
				"box_subject_id", id(w.EnterpriseID()))}).want(t, 200)
			w.tokens["robot"] = token["access_token"].(string)
			slots, _ := keysOf(t, w.do("GET /webhook_keys", request{as: "robot"}), 200)
			same(t, slots, nil)
			folder := w.do("POST /folders", request{as: "robot", body: object{"name": "Its", "parent": object{"id": "0"}}}).want(t, 201)
			w.do("POST /webhooks", request{as: "robot", body: hookOn(object{"id": folder["id"], "type": "folder"}, "FILE.UPLOADED")}).want(t, 201)
			slots, its := keysOf(t, w.do("GET /webhook_keys", request{as: "robot"}), 200)
			same(t, slots, []string{"primary", "secondary"})
			if _, others := list(t); slices.Contains(others, its[0]) {
				t.Error("another application has the same")
			}
			w.do("POST /webhook_keys/primary", request{as: "robot", body: object{}}).want(t, 201)
		})
		w.t.Run("are not for users", func(t *testing.T) {
			for _, call := range []string{"GET /webhook_keys", "POST /webhook_keys/primary"} {
				v := w.do(call, request{}).want(t, 403, "access_denied_insufficient_permissions")
				if !strings.Contains(fmt.Sprint(v["message"]), "only administrators and the service account of the application") {
					t.Errorf("%s: %v", call, v)
				}
			}
		})
	})
}
