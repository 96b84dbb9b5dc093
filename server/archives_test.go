package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// archivist sends requests as the caller who manages the content of the enterprise.
func archivist(body any) request { return request{as: "archivist", body: body} }

func TestArchives(t *testing.T) {
	run(t, func(w *world) {
		made := w.do("POST /archives", archivist(object{"name": "Contracts", "description": nil})).want(w.t, 201)
		owner, _ := made["owned_by"].(object)
		if made["type"] != "archive" || made["name"] != "Contracts" || made["description"] != nil || made["size"] != 0.0 ||
			owner["type"] != "user" {
			w.t.Errorf("created %v", made)
		}
		address := "/archives/" + made["id"].(string)
		w.t.Run("are changed as far as a change says", func(t *testing.T) {
			for _, change := range []struct {
				body              object
				name, description any
			}{
				{object{"description": "ten years"}, "Contracts", "ten years"},
				{object{"name": "Deeds"}, "Deeds", "ten years"},
				{object{}, "Deeds", "ten years"},
				{object{"name": nil, "description": nil}, "Deeds", "ten years"},
				{object{"description": ""}, "Deeds", nil},
			} {
				got := w.do("PUT "+address, archivist(change.body)).want(t, 200)
				if got["name"] != change.name || got["description"] != change.description {
					t.Errorf("after %v: %v", change.body, got)
				}
			}
		})
		w.t.Run("are listed by marker", func(t *testing.T) {
			for i := range 4 {
				w.do("POST /archives", archivist(object{"name": fmt.Sprint("archive ", i)})).want(t, 201)
			}
			var names []string
			for marker := "0"; ; {
				page := w.do("GET /archives?limit=2&marker="+marker, archivist(nil)).want(t, 200)
				if _, has := page["prev_marker"]; has || page["limit"] != 2.0 {
					t.Errorf("page %v, want its limit and no marker of the page before", page)
				}
				for _, entry := range page["entries"].([]any) {
					names = append(names, entry.(object)["name"].(string))
				}
				if page["next_marker"] == nil {
					break
				}
				marker = page["next_marker"].(string)
			}
			if want := []string{"Deeds", "archive 0", "archive 1", "archive 2", "archive 3"}; !slices.Equal(names, want) {
				t.Errorf("archives %q, want %q", names, want)
			}
			if page := w.do("GET /archives?limit=5000", archivist(nil)).want(t, 200); page["limit"] != 1000.0 {
				t.Errorf("limit %v, want 1000", page["limit"])
			}
		})
		w.t.Run("say what is wrong", func(t *testing.T) {
			for _, tt := range []struct {
				call     string
				r        request
				status   int
				code     string
				problems []string
			}{
				{"POST /archives", archivist(object{}), 400, "bad_request", []string{"missing_parameter name"}},
				{"POST /archives", archivist(object{"name": 5, "size": 1}), 400, "bad_request",
					[]string{"invalid_parameter name", "invalid_parameter size"}},
				{"POST /archives", archivist(object{"name": "a/b"}), 400, "item_name_invalid", []string{"invalid_parameter name"}},
				{"POST /archives", archivist(object{"name": strings.Repeat("x", 101)}), 400, "item_name_too_long", []string{"invalid_parameter name"}},
				{"POST /archives", archivist(object{"name": "x", "description": strings.Repeat("x", 256)}), 400, "bad_request",
					[]string{"invalid_parameter description"}},
				{"POST /archives", archivist(object{"name": "x", "storage_policy_id": "4711"}), 400, "bad_request",
					[]string{"invalid_parameter storage_policy_id"}},
				{"POST /archives", archivist(object{"name": "DEEDS"}), 409, "conflict", []string{"invalid_parameter name"}},
				{"POST /archives", request{as: "admin", body: object{"name": "x"}}, 403, "insufficient_scope", nil},
				{"GET /archives?limit=0", archivist(nil), 400, "invalid_limit", nil},
				{"GET /archives?marker=x", archivist(nil), 400, "bad_request", []string{"invalid_parameter marker"}},
				{"GET /archives", request{as: "archivist", without: []string{"svc-version"}}, 400, "invalid_api_version", nil},
				{"GET /archives", request{as: "guest"}, 401, "unauthorized", nil},
				{"PUT " + address, archivist(object{"name": "ARCHIVE 0"}), 409, "conflict", []string{"invalid_parameter name"}},
				{"PUT " + address, archivist(object{"name": ".."}), 400, "item_name_invalid", []string{"invalid_parameter name"}},
				{"PUT /archives/4711", archivist(object{"name": "x"}), 404, "not_found", []string{"invalid_parameter archive"}},
				{"PUT /archives/x", archivist(object{"name": "x"}), 404, "not_found", []string{"invalid_parameter archive"}},
				{"DELETE /archives/4711", archivist(nil), 404, "not_found", []string{"invalid_parameter archive"}},
				{"GET " + address, archivist(nil), 405, "method_not_allowed", nil},
				{"GET /storage_policies/4711", archivist(nil), 404, "not_found", []string{"invalid_parameter storage_policy"}},
			} {
				v := w.do(tt.call, tt.r).want(t, tt.status, tt.code)
				if got := problems(v); tt.problems != nil && !slices.Equal(got, tt.problems) {
					t.Errorf("%s: problems %q, want %q", tt.call, got, tt.problems)
				}
			}
		})
		w.t.Run("are storage policies of their own", func(t *testing.T) {
			page := w.do("GET /storage_policies", archivist(nil)).want(t, 200)
			policy := page["entries"].([]any)[0].(object)
			if policy["id"] != "1" || policy["type"] != "storage_policy" || policy["name"] != "Default" {
				t.Errorf("policies %v", page)
			}
			w.do("POST /archives", archivist(object{"name": "placed", "storage_policy_id": "1"})).want(t, 201)
		})
	})
}

// TestArchivesAreFolders moves a scene into an archive and out again, as in the guide of the API.
func TestArchivesAreFolders(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		archive, folder, file := id(s.archive), id(s.folder), id(s.file)
		w.do("PUT /folders/"+folder, archivist(object{"parent": object{"id": archive}})).want(w.t, 200)

		found := w.do("GET /folders/"+archive, archivist(nil)).want(w.t, 200)
		items := w.do("GET /folders/"+archive+"/items", archivist(nil)).want(w.t, 200)
		if entries := items["entries"].([]any); len(entries) != 1 || entries[0].(object)["id"] != folder || found["size"] != 10.0 ||
			found["parent"] != nil {
			w.t.Errorf("archive %v with %v, want the folder in it", found, items)
		}
		for _, former := range []string{"owner", "editor", "reader", "admin"} {
			for _, call := range []string{"GET /folders/" + archive, "GET /folders/" + folder, "GET /files/" + file + "/content",
				"GET /docgen_templates/" + file} {
				w.do(call, request{as: former}).want(w.t, 404, "not_found")
			}
		}
		w.do("DELETE /archives/"+archive, archivist(nil)).want(w.t, 400, "folder_not_empty")
		w.do("DELETE /folders/"+archive, archivist(nil)).want(w.t, 403, "access_denied_insufficient_permissions")
		w.do("PUT /folders/"+archive, archivist(object{"name": "x"})).want(w.t, 403, "access_denied_insufficient_permissions")
		w.do("POST /files/content", archivist(form{{"attributes", `{"name":"new.txt","parent":{"id":"` + archive + `"}}`},
			{"file", "text"}})).want(w.t, 201)
		w.do("POST /files/"+file+"/content", archivist(form{{"attributes", `{}`}, {"file", "longer than it was"}})).want(w.t, 200)
		if found := w.do("GET /folders/"+archive, archivist(nil)).want(w.t, 200); found["size"] != 22.0 {
			w.t.Errorf("size %v, want 22", found["size"])
		}

		owner := w.do("GET /users/me", request{}).want(w.t, 200)["id"]
		out := func(parent object) request { return archivist(object{"parent": parent}) }
		w.do("PUT /folders/"+folder, out(object{"id": "0", "user_id": "4711"})).want(w.t, 400, "bad_request")
		w.do("PUT /folders/"+folder, out(object{"id": archive, "user_id": owner})).want(w.t, 400, "bad_request")
		restored := w.do("PUT /folders/"+folder, out(object{"id": "0", "user_id": owner})).want(w.t, 200)
		if by, _ := restored["owned_by"].(object); by["id"] != owner {
			w.t.Errorf("restored %v, want it the owner's again", restored)
		}
		w.do("GET /files/"+file, request{}).want(w.t, 200)
		w.do("GET /files/"+file, request{as: "editor"}).want(w.t, 404, "not_found")
		w.do("POST /folders", archivist(object{"name": "x", "parent": object{"id": "0", "user_id": owner}})).want(w.t, 400, "bad_request")
	})
}
