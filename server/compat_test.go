package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/server"
)

// runCompat runs a test in a new world with --compat box, and in one without.
func runCompat(t *testing.T, test func(w *world, box bool)) {
	t.Helper()
	for _, compat := range []server.Compat{server.CompatNone, server.CompatBox} {
		t.Run("compat="+string(compat), func(t *testing.T) {
			runOnce(t, server.Config{RateLimits: noLimits, Compat: compat}, func(w *world) { test(w, compat == server.CompatBox) })
		})
	}
}

// TestToleratedBodies sends fields that the API does not have.
func TestToleratedBodies(t *testing.T) {
	runCompat(t, func(w *world, box bool) {
		s := w.scene()
		for _, tt := range []struct {
			call     string
			body     any
			tolerate bool // with --compat box; never without
			problem  string
		}{
			{"PUT /files/{file_id}", object{"description": "x", "size": 5, "nothing": object{"of": []int{1}}}, true, "size"},
			{"PUT /files/{file_id}", object{"shared_link": nil, "lock": nil}, true, "lock"},
			{"PUT /files/{file_id}", object{"shared_link": object{"access": "company", "vanity_name": nil, "effective_access": "open"}}, true,
				"shared_link.effective_access"},
			{"PUT /files/{file_id}", object{"shared_link": object{"vanity_name": "my-own-name"}}, false, "shared_link.vanity_name"},
			{"PUT /files/{file_id}", object{"shared_link": object{"permissions": object{"can_edit": true}}}, false,
				"shared_link.permissions.can_edit"},
			{"POST /files/{file_id}/copy", object{"parent": object{"id": "0"}, "shared_link": object{}}, false, "shared_link"},
			{"PUT /files/{file_id}", object{"lock": object{"access": "lock"}}, false, "lock"},
			{"PUT /folders/{folder_id}", object{"sync_state": "synced"}, true, "sync_state"},
			{"PUT /folders/{folder_id}", object{"can_non_owners_invite": false}, false, "can_non_owners_invite"},
			{"PUT /folders/{folder_id}", object{"parent": object{"id": "0", "name": "All Files"}}, true, "parent.name"},
			{"OPTIONS /files/content", object{"name": "new", "parent": object{"id": "0"}, "content_created_at": nil}, true, "content_created_at"},
			{"POST /files/{file_id}/content", form{{"attributes", `{"parent":{"id":"0"},"content_created_at":"2020-01-01T00:00:00Z"}`},
				{"contents", "x"}}, true, "parent"},
			{"POST /docgen_batches", with(batch(s), object{"pasword": "x"}), false, "pasword"},
		} {
			res := w.do(at(tt.call, s), request{body: tt.body})
			if want := tt.tolerate && box; want != (res.StatusCode == http.StatusOK) {
				w.t.Errorf("%s %v: status %d: %s", tt.call, tt.body, res.StatusCode, res.text)
			}
			if res.StatusCode == http.StatusBadRequest {
				if got := problems(res.json(w.t)); !slices.Contains(got, "invalid_parameter "+tt.problem) {
					w.t.Errorf("%s %v: problems %q, want %s", tt.call, tt.body, got, tt.problem)
				}
			}
		}
		for _, body := range []object{{"name": nil}, {"description": nil}, {"parent": nil}, {"content_modified_at": nil}} {
			w.do(at("PUT /files/{file_id}", s), request{body: body}).want(w.t, 200) // null is like an omitted field
		}
	})
}

// TestToleratedPaths sends requests with paths in the forms that clients of Box use.
func TestToleratedPaths(t *testing.T) {
	runCompat(t, func(w *world, box bool) {
		s := w.scene()
		for call, tolerate := range map[string]bool{
			"OPTIONS /files/content/":            true,
			"GET //api/2.0/users/me":             true,
			"GET /users/me/":                     true,
			at("GET /files/{file_id}/", s):       true,
			"GET /users//me":                     false,
			"GET /users/me//":                    false,
			"GET //api/users/me":                 false,
			"GET //api/api/2.0/users/me":         false,
			at("GET /files/{file_id}%2Fx/", s):   false,
			at("GET /files/./{file_id}", s):      false,
			at("GET //API/2.0/users/me", s):      false,
			at("GET /folders/{folder_id}%2F", s): false,
		} {
			r := request{}
			if strings.HasPrefix(call, "OPTIONS") {
				r.body = object{"name": "new", "parent": object{"id": "0"}}
			}
			res := w.do(call, r)
			if want := map[bool]int{true: 200, false: 404}[tolerate && box]; res.StatusCode != want {
				w.t.Errorf("%s: status %d, want %d: %s", call, res.StatusCode, want, res.text)
			}
		}
	})
}

// TestLeadingSpaces uses names with a space at the beginning, which rclone expects to be possible.
func TestLeadingSpaces(t *testing.T) {
	runCompat(t, func(w *world, box bool) {
		s := w.scene()
		upload := form{{"attributes", fmt.Sprintf(`{"name":" a.txt","parent":{"id":%d}}`, s.folder)}, {"file", "x"}}
		for call, body := range map[string]any{
			"POST /files/content":            upload,
			"POST /folders":                  object{"name": " b", "parent": object{"id": "0"}},
			"PUT /files/{file_id}":           object{"name": " c"},
			"POST /files/{file_id}/copy":     object{"name": " d", "parent": object{"id": "0"}},
			"POST /folders/{folder_id}/copy": object{"name": " e", "parent": object{"id": "0"}},
		} {
			res := w.do(at(call, s), request{body: body})
			if box && res.StatusCode >= 300 {
				w.t.Errorf("%s: status %d: %s", call, res.StatusCode, res.text)
			} else if !box {
				res.want(w.t, 400, "item_name_invalid")
			}
		}
	})
}

// TestTrashedFile gets a file that was moved to the trash, and one in a folder that was.
func TestTrashedFile(t *testing.T) {
	runCompat(t, func(w *world, box bool) {
		s := w.scene()
		inside := w.do("POST /files/content", request{body: form{{"attributes", fmt.Sprintf(`{"name":"x","parent":{"id":%d}}`, s.folder)},
			{"file", "x"}}}).want(w.t, 201)["entries"].([]any)[0].(object)["id"].(string)
		w.do(at("DELETE /files/{file_id}", s), request{}).want(w.t, 204)
		if !box {
			w.do(at("GET /files/{file_id}", s), request{}).want(w.t, 404, "trashed")
			return
		}
		for _, as := range []string{"owner", "reader"} {
			if v := w.do(at("GET /files/{file_id}", s), request{as: as}).want(w.t, 200); v["item_status"] != "trashed" || v["trashed_at"] == nil {
				w.t.Errorf("for %s, the file is %v", as, v)
			}
		}
		w.do(at("GET /files/{file_id}", s), request{as: "other"}).want(w.t, 404, "not_found")
		w.do(at("GET /files/{file_id}", s), request{as: "scope"}).want(w.t, 403, "insufficient_scope")
		w.do(at("DELETE /folders/{folder_id}?recursive=true", s), request{}).want(w.t, 204)
		w.do("GET /files/"+inside, request{}).want(w.t, 404, "trashed")
		w.do(at("GET /folders/{folder_id}", s), request{}).want(w.t, 404, "trashed")
	})
}

// TestNeutralFields asks for fields of features that the API does not have.
func TestNeutralFields(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		check := func(call string, want object) {
			w.t.Helper()
			query := strings.Join(slices.Sorted(maps.Keys(want)), ",") + ",nonsense"
			v := w.do(at(call, s)+"?fields="+query, request{}).want(w.t, 200)
			if entries, ok := v["entries"].([]any); ok {
				v = entries[0].(object)
			}
			for _, name := range []string{"type", "id", "etag"} {
				want[name] = v[name]
			}
			if diff := cmp.Diff(want, v); diff != "" {
				w.t.Errorf("%s: -want +got:\n%s", call, diff)
			}
		}
		both := func() object {
			return object{"has_collaborations": false, "classification": nil, "metadata": nil,
				"is_externally_owned": false, "is_associated_with_app_item": false,
				"watermark_info": object{"is_watermarked": false}}
		}
		file := object{"lock": nil, "expires_at": nil, "disposition_at": nil, "expiring_embed_link": nil, "uploader_display_name": nil}
		listed := both()
		maps.Copy(listed, file)
		check("GET /folders/{folder_id}/items", listed)
		linked := object{"shared_link": nil, "is_accessible_via_shared_link": false}
		maps.Copy(file, both())
		maps.Copy(file, linked)
		maps.Copy(file, object{"tags": []any{}, "comment_count": 0.0, "is_package": false, "representations": object{"entries": []any{}},
			"shared_link_permission_options": []any{"can_preview", "can_download"}})
		check("GET /files/{file_id}", file)
		folder := both()
		maps.Copy(folder, linked)
		maps.Copy(folder, object{"sync_state": "not_synced", "tags": []any{}, "folder_upload_email": nil,
			"allowed_shared_link_access_levels": []any{"open", "company", "collaborators"}, "can_non_owners_invite": true,
			"can_non_owners_view_collaborators":         true,
			"is_collaboration_restricted_to_enterprise": true})
		check("GET /folders/{folder_id}", folder)
	})
}

// TestConflicts checks the form of the items in conflict: one item for operations on files, even if it is a folder, and a list for
// operations on folders.
func TestConflicts(t *testing.T) {
	run(t, func(w *world) {
		parent := object{"id": "0"}
		folder := w.do("POST /folders", request{body: object{"name": "taken", "parent": parent}}).want(w.t, 201)
		file := w.do("POST /files/content", request{body: form{{"attributes", `{"name":"file","parent":{"id":"0"}}`}, {"file", "x"}}}).
			want(w.t, 201)["entries"].([]any)[0].(object)
		for _, tt := range []struct {
			call string
			body any
			with object
			list bool
		}{
			{"OPTIONS /files/content", object{"name": "Taken", "parent": parent}, folder, false},
			{"OPTIONS /files/content", object{"name": "file", "parent": parent}, file, false},
			{"POST /files/content", form{{"attributes", `{"name":"taken","parent":{"id":"0"}}`}, {"file", "x"}}, folder, false},
			{"PUT /files/" + file["id"].(string), object{"name": "taken"}, folder, false},
			{"POST /folders", object{"name": "file", "parent": parent}, file, true},
			{"POST /folders", object{"name": "taken", "parent": parent}, folder, true},
			{"PUT /folders/" + folder["id"].(string), object{"name": "file"}, file, true},
		} {
			v := w.do(tt.call, request{body: tt.body}).want(w.t, 409, "item_name_in_use")
			conflict := v["context_info"].(object)["conflicts"]
			if list, ok := conflict.([]any); tt.list && ok && len(list) == 1 {
				conflict = list[0]
			} else if ok == !tt.list {
				w.t.Errorf("%s %v: conflicts %v", tt.call, tt.body, conflict)
				continue
			}
			if got, ok := conflict.(object); !ok || got["id"] != tt.with["id"] || got["type"] != tt.with["type"] {
				w.t.Errorf("%s %v: conflicts %v, want %v", tt.call, tt.body, conflict, tt.with["id"])
			}
		}
	})
}
