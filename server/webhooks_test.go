package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
	"platen/store"
	"platen/store/storetest"
)

// hookOn returns the body that creates a webhook.
func hookOn(target object, triggers ...string) object {
	return object{"target": target, "address": "https://hooks.example.com/in", "triggers": append([]string{}, triggers...)}
}

// httpsAlone accepts only https URLs.
func httpsAlone(_ context.Context, address string) error {
	if u, err := url.Parse(address); err != nil || u.Scheme != "https" || u.Host == "" {
		return errors.New("an address begins with https:// and a host")
	}
	return nil
}

// runChecked is run with a service that accepts only https URLs for webhooks.
func runChecked(t *testing.T, test func(w *world)) {
	t.Helper()
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		t.Parallel()
		test(newWorldOf(t, server.Config{RateLimits: noLimits}, docgen.Config{Store: db, CheckAddress: httpsAlone}))
	})
}

func TestWebhooksOnTheWire(t *testing.T) {
	runChecked(t, func(w *world) {
		s := w.scene()
		folder, err := w.CreateFolder(w.t.Context(), w.owner, docgen.NewFolder{Name: "Watched"})
		must(w.t, err)
		made := w.do("POST /webhooks", request{body: hookOn(ref(folder.ID, "folder"), "FILE.UPLOADED", "FILE.MOVED",
			"FILE.UPLOADED")}).want(w.t, 201)
		path := "/webhooks/" + made["id"].(string)
		is := func(t *testing.T, got, want object) {
			t.Helper()
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		}
		whole := object{
			"id": made["id"], "type": "webhook", "target": ref(folder.ID, "folder"), "created_by": object{
				"id": id(w.owner.User.ID), "type": "user", "name": "owner", "login": "owner@example.com",
			}, "created_at": made["created_at"], "address": "https://hooks.example.com/in", "triggers": []any{"FILE.UPLOADED", "FILE.MOVED"},
			"status": "active", "status_reason": nil,
		}
		w.t.Run("made", func(t *testing.T) {
			is(t, made, whole)
			is(t, w.do("GET "+path, request{}).want(t, 200), whole)
		})
		w.t.Run("in a list", func(t *testing.T) {
			list := w.do("GET /webhooks?limit=1", request{}).want(t, 200)
			is(t, list["entries"].([]any)[0].(object), object{"id": id(s.webhook), "type": "webhook", "target": ref(s.folder, "folder")})
			next := w.do("GET /webhooks?limit=1&marker="+list["next_marker"].(string), request{}).want(t, 200)
			is(t, next, object{"entries": []any{object{"id": made["id"], "type": "webhook", "target": ref(folder.ID, "folder")}}, "limit": 1.0,
				"next_marker": nil, "prev_marker": next["prev_marker"]})
			is(t, w.do("GET /webhooks?limit=1&marker="+next["prev_marker"].(string), request{}).want(t, 200)["entries"].([]any)[0].(object),
				list["entries"].([]any)[0].(object))
			if others := w.do("GET /webhooks", request{as: "archivist"}).want(t, 200); len(others["entries"].([]any)) != 0 {
				t.Errorf("the administrator has the webhooks %v", others)
			}
		})
		w.t.Run("changed as far as a change says", func(t *testing.T) {
			for _, change := range []struct{ body, differs object }{
				{object{}, object{}},
				{object{"target": nil, "address": nil, "triggers": nil, "status": nil}, object{}},
				{object{"status": "disabled"}, object{"status": "disabled", "status_reason": "It was disabled by an update."}},
				{object{"triggers": []string{"FOLDER.MOVED"}}, object{"triggers": []any{"FOLDER.MOVED"}}},
				{object{"address": "https://other.example.com/"}, object{"address": "https://other.example.com/", "status": "active",
					"status_reason": nil}},
				{object{"target": ref(s.file, "file"), "triggers": []string{"FILE.RENAMED"}},
					object{"target": ref(s.file, "file"), "triggers": []any{"FILE.RENAMED"}}},
				{object{"status": "active"}, object{}},
			} {
				whole = with(whole, change.differs)
				is(t, w.do("PUT "+path, request{body: change.body}).want(t, 200), whole)
				is(t, w.do("GET "+path, request{}).want(t, 200), whole)
			}
		})
		w.t.Run("deleted", func(t *testing.T) {
			w.do("DELETE "+path, request{}).want(t, 204)
			w.do("GET "+path, request{}).want(t, 404, "not_found")
			w.do("POST /webhooks", request{body: hookOn(ref(s.file, "file"), "FILE.RENAMED")}).want(t, 201)
		})
	})
}

func TestWebhookErrors(t *testing.T) {
	runChecked(t, func(w *world) {
		s := w.scene()
		trashed, err := w.CreateFolder(w.t.Context(), w.owner, docgen.NewFolder{Name: "Trashed"})
		must(w.t, err)
		must(w.t, w.TrashFolder(w.t.Context(), w.owner, trashed.ID, false, ""))
		second := w.do("POST /webhooks", request{body: hookOn(ref(s.file, "file"), "FILE.MOVED")}).want(w.t, 201)["id"].(string)
		many := make([]string, 101)
		for i := range many {
			many[i] = "FILE.MOVED"
		}
		file := func(triggers ...string) object { return hookOn(ref(s.file, "file"), triggers...) }
		for _, tt := range []struct {
			name, call string
			body       any
			status     int
			code       string
			problems   []string // reason and name, sorted
			message    string   // part of it
		}{
			{"nothing said", "POST /webhooks", object{}, 400, "bad_request",
				[]string{"missing_parameter address", "missing_parameter target", "missing_parameter triggers"}, "required"},
			{"a target without an id", "POST /webhooks", with(file("FILE.MOVED"), object{"target": object{"type": "file"}}), 400, "bad_request",
				[]string{"missing_parameter target.id"}, ""},
			{"a target of another type", "POST /webhooks", with(file("FILE.MOVED"), object{"target": ref(s.file, "user")}), 400, "bad_request",
				[]string{"invalid_parameter target.type"}, "file or folder"},
			{"a missing target", "POST /webhooks", hookOn(ref(4711, "file"), "FILE.MOVED"), 404, "not_found",
				[]string{"invalid_parameter file"}, "Not Found"},
			{"a file as a folder", "POST /webhooks", hookOn(ref(s.file, "folder"), "FILE.MOVED"), 404, "not_found",
				[]string{"invalid_parameter folder"}, ""},
			{"a target in the trash", "POST /webhooks", hookOn(ref(trashed.ID, "folder"), "FILE.MOVED"), 404, "trashed",
				[]string{"invalid_parameter folder"}, ""},
			{"the root folder", "POST /webhooks", hookOn(ref(0, "folder"), "FILE.MOVED"), 400, "bad_request",
				[]string{"invalid_parameter target.id"}, "select a folder inside it"},
			{"a second one", "POST /webhooks", hookOn(ref(s.folder, "folder"), "FILE.MOVED"), 409, "conflict", nil,
				"The application already has a webhook of this user on folder " + id(s.folder) + ". Update or delete it."},
			{"no triggers", "POST /webhooks", file(), 400, "bad_request", []string{"invalid_parameter triggers"},
				"1 to 100 triggers, this one has 0"},
			{"too many triggers", "POST /webhooks", file(many...), 400, "bad_request", []string{"invalid_parameter triggers"}, "this one has 101"},
			{"triggers that cannot be", "POST /webhooks", file("FILE.MOVED", "FILE.UPLOADED", "FILE.EATEN", "WEBHOOK.DELETED", "FOLDER.MOVED"),
				400, "bad_request",
				[]string{"invalid_parameter triggers[1]", "invalid_parameter triggers[2]", "invalid_parameter triggers[3]",
					"invalid_parameter triggers[4]"}, ""},
			{"an address of another kind, and no triggers", "POST /webhooks", with(file(), object{"address": "http://hooks.example.com/"}),
				400, "bad_request",
				[]string{"invalid_parameter address", "invalid_parameter triggers"}, ""},
			{"an address that is empty", "POST /webhooks", with(file("FILE.MOVED"), object{"address": ""}), 400, "bad_request",
				[]string{"invalid_parameter address"}, "at most 2048 bytes"},
			{"an address that is too long", "POST /webhooks",
				with(file("FILE.MOVED"), object{"address": "https://" + strings.Repeat("a", 2041)}), 400, "bad_request",
				[]string{"invalid_parameter address"}, "at most 2048 bytes"},
			{"an unknown field", "POST /webhooks", with(file("FILE.MOVED"), object{"name": "x"}), 400, "bad_request",
				[]string{"invalid_parameter name"}, ""},

			{"to a target that has one", "PUT /webhooks/" + second, object{"target": ref(s.folder, "folder")}, 409, "conflict", nil, "already"},
			{"to a missing target", "PUT /webhooks/" + second, object{"target": ref(4711, "folder")}, 404, "not_found", nil, ""},
			{"to the root folder", "PUT /webhooks/" + second, object{"target": ref(0, "folder")}, 400, "bad_request",
				[]string{"invalid_parameter target.id"}, ""},
			{"to no triggers", "PUT /webhooks/" + second, object{"triggers": []string{}}, 400, "bad_request",
				[]string{"invalid_parameter triggers"}, ""},
			{"to triggers that its target cannot have", "PUT /webhooks/" + second, object{"triggers": []string{"FOLDER.MOVED"}}, 400, "bad_request",
				[]string{"invalid_parameter triggers[0]"}, "FOLDER.MOVED is only valid for folders"},
			{"to another status", "PUT /webhooks/" + second, object{"status": "deleted"}, 400, "bad_request",
				[]string{"invalid_parameter status"}, "active or disabled"},
			{"to another address", "PUT /webhooks/" + second, object{"address": "ftp://x"}, 400, "bad_request",
				[]string{"invalid_parameter address"}, "https://"},
			{"a missing webhook", "GET /webhooks/4711", nil, 404, "not_found", []string{"invalid_parameter webhook"}, "Not Found"},
			{"an invalid id", "DELETE /webhooks/x", nil, 404, "not_found", []string{"invalid_parameter webhook"}, ""},
			{"a malformed limit", "GET /webhooks?limit=x", nil, 400, "invalid_limit", []string{"invalid_parameter limit"}, ""},
			{"a malformed marker", "GET /webhooks?marker=x", nil, 400, "bad_request", []string{"invalid_parameter marker"}, ""},
		} {
			w.t.Run(tt.name, func(t *testing.T) {
				res := w.do(tt.call, request{body: tt.body})
				v := res.want(t, tt.status, tt.code)
				if got := problems(v); tt.problems != nil && !slices.Equal(got, tt.problems) {
					t.Errorf("problems %q, want %q", got, tt.problems)
				}
				if !strings.Contains(string(res.text), tt.message) {
					t.Errorf("the message lacks %q: %s", tt.message, res.text)
				}
			})
		}
	})
}

// TestTooManyWebhooks creates the maximum number of webhooks, and one more.
func TestTooManyWebhooks(t *testing.T) {
	runLong(t, func(w *world) {
		ctx := w.t.Context()
		for i := range docgen.MaxWebhooks {
			folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: fmt.Sprint(i)})
			must(w.t, err)
			n := docgen.NewWebhook{TargetKind: docgen.Folder, TargetID: folder.ID, Address: "https://hooks.example.com/",
				Triggers: []docgen.Trigger{docgen.FileMoved}}
			_, err = w.CreateWebhook(ctx, w.owner, n)
			must(w.t, err)
		}
		folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "one more"})
		must(w.t, err)
		one := w.do("POST /webhooks", request{body: hookOn(ref(folder.ID, "folder"), "FILE.MOVED")})
		if one.want(w.t, 400, "bad_request"); !strings.Contains(string(one.text), "already has 1000 webhooks of this user") {
			w.t.Errorf("%s", one.text)
		}
		if list := w.do("GET /webhooks?limit=5000", request{}).want(w.t, 200); len(list["entries"].([]any)) != 1000 {
			w.t.Errorf("there are %d", len(list["entries"].([]any)))
		}
	})
}
