package server_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"platen/docgen"
)

// collaborate returns the body that shares a folder with a login.
func collaborate(s scene, login, role string) object {
	return object{"item": ref(s.folder, "folder"), "accessible_by": object{"type": "user", "login": login}, "role": role}
}

func TestCollaborationsOverHTTP(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		base := "/folders/" + id(s.folder) + "/collaborations"

		w.t.Run("a user of the server is a collaborator at once", func(t *testing.T) {
			made := w.do("POST /collaborations?notify=false", request{body: with(collaborate(s, "other@example.com", "previewer uploader"),
				object{"is_access_only": true, "can_view_path": false, "expires_at": "2027-01-31T12:00:00+01:00"})}).want(t, 201)
			want := object{
				"type": "collaboration", "role": "previewer uploader", "status": "accepted", "invite_email": nil, "is_access_only": true,
				"expires_at": "2027-01-31T11:00:00+00:00", "acknowledged_at": made["created_at"], "modified_at": made["created_at"],
			}
			for name, value := range want {
				if made[name] != value {
					t.Errorf("%s = %v, want %v", name, made[name], value)
				}
			}
			item, user := made["item"].(object), made["accessible_by"].(object)
			if item["id"] != id(s.folder) || item["type"] != "folder" || user["login"] != "other@example.com" {
				t.Errorf("item %v, accessible_by %v", item, user)
			}
			if got := fmt.Sprint(made["acceptance_requirements_status"]); got != "map[strong_password_requirement:map["+
				"enterprise_has_strong_password_required_for_external_users:false user_has_strong_password:<nil>] "+
				"terms_of_service_requirement:map[is_accepted:<nil> terms_of_service:<nil>] two_factor_authentication_requirement:map["+
				"enterprise_has_two_factor_auth_enabled:false user_has_two_factor_authentication_enabled:<nil>]]" {
				t.Errorf("acceptance_requirements_status = %s", got)
			}
			if _, ok := made["can_view_path"]; ok {
				t.Error("can_view_path is shown though it was not asked for")
			}
			path := "/collaborations/" + made["id"].(string)
			asked := w.do("GET "+path+"?fields=role,can_view_path", request{as: "other"}).want(t, 200)
			if want := (object{"type": "collaboration", "id": made["id"], "role": "previewer uploader",
				"can_view_path": false}); fmt.Sprint(asked) != fmt.Sprint(want) {
				t.Errorf("asked for two fields: %v, want %v", asked, want)
			}
			changed := w.do("PUT "+path, request{body: object{"expires_at": nil, "can_view_path": true}}).want(t, 200)
			if changed["expires_at"] != nil || changed["role"] != "previewer uploader" {
				t.Errorf("changed to %v", changed)
			}
			if changed := w.do("PUT "+path, request{body: object{}}).want(t, 200); changed["expires_at"] != nil {
				t.Errorf("an empty change returned %v", changed)
			}
			w.do("DELETE "+path, request{as: "other"}).want(t, 204)
		})
		w.t.Run("a login that nobody has is invited, and accepts as a user", func(t *testing.T) {
			made := w.do("POST /collaborations", request{body: collaborate(s, "Later@example.com", "viewer")}).want(t, 201)
			if made["status"] != "pending" || made["item"] != nil || made["accessible_by"] != nil ||
				made["invite_email"] != "Later@example.com" || made["acknowledged_at"] != nil {
				t.Errorf("invitation %v", made)
			}
			w.do("POST /collaborations", request{body: collaborate(s, "later@EXAMPLE.com", "viewer")}).want(t, 400, "user_already_collaborator")
			_, err := w.CreateUser(t.Context(), docgen.NewUser{Login: "later@example.com", Name: "Later"})
			must(t, err)
			w.tokens["later"] = w.token("later", 0)
			waiting := w.do("GET /collaborations?status=pending&limit=5&fields=role", request{as: "later"}).want(t, 200)
			entries := waiting["entries"].([]any)
			if len(entries) != 1 || entries[0].(object)["id"] != made["id"] || waiting["total_count"] != 1.0 || waiting["offset"] != 0.0 ||
				waiting["limit"] != 5.0 {
				t.Fatalf("invitations %v", waiting)
			}
			path := "/collaborations/" + made["id"].(string)
			w.do("GET /folders/"+id(s.folder), request{as: "later"}).want(t, 404)
			w.do("PUT "+path, request{body: object{"status": "accepted"}}).want(t, 403)
			accepted := w.do("PUT "+path, request{as: "later", body: object{"status": "accepted", "role": "viewer"}}).want(t, 200)
			if accepted["status"] != "accepted" || accepted["item"].(object)["id"] != id(s.folder) || accepted["invite_email"] != nil {
				t.Errorf("accepted %v", accepted)
			}
			w.do("GET /folders/"+id(s.folder), request{as: "later"}).want(t, 200)
			w.do("PUT "+path, request{as: "later", body: object{"status": "rejected"}}).want(t, 400, "invalid_status")
		})
		w.t.Run("the list of a folder", func(t *testing.T) {
			got, pages := w.walkByMarker(base + "?limit=3")
			if len(got) != 4 || len(pages) != 2 || !slices.Contains(got, id(s.collaboration)) {
				t.Errorf("collaborations %q on %d pages, want the four of the folder on two", got, len(pages))
			}
			for _, name := range []string{"total_count", "offset"} {
				if _, ok := pages[0][name]; ok {
					t.Errorf("a page by marker has %s", name)
				}
			}
			only := w.do("GET "+base+"?fields=status", request{as: "reader"}).want(t, 200)["entries"].([]any)[0].(object)
			if len(only) != 3 || only["status"] != "accepted" {
				t.Errorf("asked for one field: %v", only)
			}
			if entries := w.do("GET "+at("/files/{file_id}/collaborations", s), request{}).want(t, 200)["entries"].([]any); len(entries) != 0 {
				t.Errorf("on the file itself: %v", entries)
			}
		})
		w.t.Run("an end that is past is seen by nobody", func(t *testing.T) {
			made := w.do("POST /collaborations", request{body: with(collaborate(s, "admin@example.com", "editor"),
				object{"expires_at": "2026-11-20T14:00:00Z"})}).want(t, 201)
			w.clock.Add((2 * time.Hour).Microseconds())
			w.do("GET /collaborations/"+made["id"].(string), request{}).want(t, 404)
			w.do("POST /collaborations", request{body: collaborate(s, "admin@example.com", "viewer")}).want(t, 201)
		})
		w.t.Run("the role owner gives the folder away", func(t *testing.T) {
			path := "/collaborations/" + id(s.collaboration)
			for _, as := range []string{"reader", "editor"} {
				w.do("PUT "+path, request{as: as, body: object{"role": "owner"}}).want(t, 403)
			}
			res := w.do("PUT "+path, request{body: object{"role": "owner"}})
			if res.want(t, 204); len(res.text) > 0 {
				t.Errorf("the answer has the body %s", res.text)
			}
			folder := w.do("GET "+at("/folders/{folder_id}", s), request{as: "carol"}).want(t, 200)
			if owner := folder["owned_by"].(object)["login"]; owner != "carol@example.com" {
				t.Errorf("the folder belongs to %v", owner)
			}
			w.do("GET "+path, request{}).want(t, 404)
			w.do("PUT "+at("/folders/{folder_id}", s), request{body: object{"name": "still mine to edit"}}).want(t, 200)
		})
	})
}

func TestCollaborationErrors(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		invited := w.do("POST /collaborations", request{body: collaborate(s, "nobody@example.com", "viewer")}).want(w.t, 201)["id"].(string)
		file := func(more object) object {
			return with(object{"item": ref(s.file, "file"), "accessible_by": object{"type": "user", "login": "other@example.com"},
				"role": "viewer"}, more)
		}
		change := "PUT " + at("/collaborations/{collaboration_id}", s)
		for _, tt := range []struct {
			name, call string
			body       any
			status     int
			code       string
			problems   []string
		}{
			{"everything at once", "POST /collaborations",
				`{"item":{"id":"x","type":"web_link"},"accessible_by":{"type":"group"},"role":"king","expires_at":"2020-01-01T00:00:00Z",` +
					`"colour":1}`, 400, "bad_request",
				[]string{"invalid_parameter accessible_by.type", "invalid_parameter colour", "invalid_parameter expires_at",
					"invalid_parameter item.id",
					"invalid_parameter item.type", "invalid_parameter role", "missing_parameter accessible_by.id"}},
			{"a group", "POST /collaborations", file(object{"accessible_by": object{"type": "group", "id": "7"}}), 400, "bad_request",
				[]string{"invalid_parameter accessible_by.type"}},
			{"an unknown user", "POST /collaborations", file(object{"accessible_by": object{"type": "user", "id": 7}}), 400, "bad_request",
				[]string{"invalid_parameter accessible_by"}},
			{"the owner", "POST /collaborations", collaborate(s, "owner@example.com", "viewer"), 400, "user_already_collaborator", nil},
			{"an owner by invitation", "POST /collaborations", collaborate(s, "other@example.com", "owner"), 400, "bad_request",
				[]string{"invalid_parameter role"}},
			{"a path to a file", "POST /collaborations", file(object{"can_view_path": true}), 400, "bad_request",
				[]string{"invalid_parameter can_view_path"}},
			{"notify that is no boolean", "POST /collaborations?notify=perhaps", file(nil), 400, "bad_request",
				[]string{"invalid_parameter notify"}},
			{"an invalid status", change, object{"status": "pending"}, 400, "bad_request", []string{"invalid_parameter status"}},
			{"an invalid time", change, object{"expires_at": 5, "role": "king"}, 400, "bad_request",
				[]string{"invalid_parameter expires_at", "invalid_parameter role"}},
			{"the owner and more", change, object{"role": "owner", "expires_at": nil}, 400, "bad_request", []string{"invalid_parameter role"}},
			{"an owner before the invitation is accepted", "PUT /collaborations/" + invited, object{"role": "owner"}, 400, "invalid_status", nil},
			{"a list without a status", "GET /collaborations", nil, 400, "bad_request", []string{"missing_parameter status"}},
			{"a list of another status", "GET /collaborations?status=accepted", nil, 400, "bad_request", []string{"invalid_parameter status"}},
			{"a limit of none", at("GET /files/{file_id}/collaborations?limit=0", s), nil, 400, "invalid_limit",
				[]string{"invalid_parameter limit"}},
			{"a marker of another list", at("GET /files/{file_id}/collaborations?marker=x", s), nil, 400, "bad_request",
				[]string{"invalid_parameter marker"}},
			{"an offset beyond the end", "GET /collaborations?status=pending&offset=300001", nil, 400, "invalid_offset",
				[]string{"invalid_parameter offset"}},
		} {
			w.t.Run(tt.name, func(t *testing.T) {
				v := w.do(tt.call, request{body: tt.body}).want(t, tt.status, tt.code)
				if got := problems(v); len(got)+len(tt.problems) > 0 && !slices.Equal(got, tt.problems) {
					t.Errorf("problems %q, want %q", got, tt.problems)
				}
			})
		}
	})
}
