package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// entries returns one field of the entries of a list.
func entries(v object, field string) []string {
	var values []string
	for _, e := range v["entries"].([]any) {
		values = append(values, fmt.Sprint(e.(object)[field]))
	}
	return values
}

// conflicts returns the conflicting items in an error.
func conflicts(t *testing.T, v object) any {
	t.Helper()
	info, ok := v["context_info"].(object)
	if !ok {
		t.Fatalf("no context_info in %v", v)
	}
	return info["conflicts"]
}

func TestTrashOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.do(at("DELETE /files/{file_id}", s), request{header: http.Header{"If-Match": {"9"}}}).want(w.t, 412, "precondition_failed")
		w.do(at("GET /files/{file_id}/trash", s), request{}).want(w.t, 404, "not_trashed")
		w.do(at("DELETE /files/{file_id}/trash", s), request{}).want(w.t, 404, "not_trashed")
		w.do(at("DELETE /files/{file_id}", s), request{header: http.Header{"If-Match": {`"0"`}}}).want(w.t, 204)
		w.do(at("GET /files/{file_id}", s), request{}).want(w.t, 404, "trashed")

		w.t.Run("a file in it", func(t *testing.T) {
			v := w.do(at("GET /files/{file_id}/trash", s), request{}).want(t, 200)
			for _, name := range []string{"sequence_id", "sha1", "description", "size", "path_collection", "created_at", "modified_at",
				"modified_by", "owned_by", "item_status"} {
				if v[name] == nil {
					t.Errorf("%s is missing", name)
				}
			}
			if v["item_status"] != "trashed" || v["trashed_at"] != "2026-11-20T13:00:00+00:00" || v["purged_at"] != nil {
				t.Errorf("the file is %v", v)
			}
			path := v["path_collection"].(object)["entries"].([]any)
			if len(path) != 1 || path[0].(object)["id"] != "1" || path[0].(object)["name"] != "Trash" || path[0].(object)["etag"] != nil {
				t.Errorf("its path is %v", path)
			}
			if v := w.do(at("GET /files/{file_id}/trash?fields=item_status,trashed_at", s), request{}).want(t, 200); len(v) != 5 {
				t.Errorf("fields %v", v)
			}
		})
		w.t.Run("restored", func(t *testing.T) {
			w.do("POST /files/content", request{body: form{{"attributes", fmt.Sprintf(`{"name":"invoice.DOCX","parent":{"id":%d}}`, s.folder)},
				{"file", "x"}}}).want(t, 201)
			v := w.do(at("POST /files/{file_id}", s), request{}).want(t, 409, "item_name_in_use")
			if in, ok := conflicts(t, v).(object); !ok || in["name"] != "invoice.DOCX" || in["type"] != "file" {
				t.Errorf("conflicts %v, want the file", conflicts(t, v))
			}
			w.do(at("POST /files/{file_id}", s), request{body: object{"name": "x/y"}}).want(t, 400, "item_name_invalid")
			w.do(at("POST /files/{file_id}", s), request{body: object{"colour": "red"}}).want(t, 400, "bad_request")
			v = w.do(at("POST /files/{file_id}?fields=name,item_status,trashed_at,parent", s),
				request{body: object{"name": "back.docx"}}).want(t, 201)
			if v["name"] != "back.docx" || v["item_status"] != "active" || v["trashed_at"] != nil || v["parent"].(object)["id"] != id(s.folder) {
				t.Errorf("restored %v", v)
			}
			w.do(at("POST /files/{file_id}", s), request{body: "{}"}).want(t, 404, "not_trashed")
			if got := w.do(at("GET /files/{file_id}/content", s), request{}); string(got.text) != "0123456789" {
				t.Errorf("content %q", got.text)
			}
			w.do(at("GET /docgen_templates/{template_id}", s), request{}).want(t, 200)
		})
		w.t.Run("a folder in it", func(t *testing.T) {
			w.do(at("DELETE /files/{file_id}", s), request{}).want(t, 204)
			w.do(at("DELETE /folders/{folder_id}?recursive=true", s), request{}).want(t, 204)
			v := w.do(at("GET /folders/{folder_id}/trash", s), request{}).want(t, 200)
			for _, name := range []string{"name", "description", "size", "path_collection", "created_by", "modified_by", "owned_by", "item_status"} {
				if v[name] == nil {
					t.Errorf("%s is missing", name)
				}
			}
			if _, ok := v["item_collection"]; ok {
				t.Error("the response has the items of the folder")
			}
			v = w.do(at("POST /files/{file_id}", s), request{}).want(t, 400, "bad_request")
			if got := problems(v); !slices.Equal(got, []string{"missing_parameter parent.id"}) {
				t.Errorf("problems %q", got)
			}
			v = w.do(at("POST /files/{file_id}", s), request{body: object{"parent": object{"id": "0"}}}).want(t, 201)
			if v["parent"].(object)["id"] != "0" {
				t.Errorf("restored %v", v)
			}
			if v := w.do(at("POST /folders/{folder_id}", s), request{body: "{}"}).want(t, 201); v["item_status"] != "active" ||
				v["item_collection"] == nil {
				t.Errorf("restored %v", v)
			}
		})
		w.t.Run("removed for good", func(t *testing.T) {
			w.do(at("DELETE /folders/{folder_id}?recursive=true", s), request{}).want(t, 204)
			w.do(at("DELETE /folders/{folder_id}/trash", s), request{}).want(t, 204)
			w.do(at("GET /folders/{folder_id}/trash", s), request{}).want(t, 404, "not_found")
			w.do(at("POST /folders/{folder_id}", s), request{}).want(t, 404, "not_found")
			w.do(at("DELETE /files/{file_id}", s), request{}).want(t, 204)
			w.do(at("DELETE /files/{file_id}/trash", s), request{}).want(t, 204)
			if v := w.do(at("GET /docgen_jobs/{job_id}", s), request{}).want(t, 200); v["template_file"].(object)["id"] != id(s.file) {
				t.Errorf("the job is %v", v)
			}
			if v := w.do(at("GET /docgen_batch_jobs/{batch_id}", s), request{}).want(t, 200); len(v["entries"].([]any)) != 1 {
				t.Errorf("the jobs of the batch: %v", v)
			}
		})
	})
}

func TestListOfTheTrashOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		ctx := w.t.Context()
		var want []string
		for i := range 7 {
			file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: fmt.Sprint(i)}, strings.NewReader("x"))
			must(w.t, err)
			must(w.t, w.TrashFile(ctx, w.owner, file.ID, ""))
			want = append(want, id(file.ID))
		}
		folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "f"})
		must(w.t, err)
		must(w.t, w.TrashFolder(ctx, w.owner, folder.ID, false, ""))
		want = append([]string{id(folder.ID)}, want...)

		v := w.do("GET /folders/trash/items?limit=3&offset=1&sort=name&direction=DESC", request{}).want(w.t, 200)
		if v["total_count"] != 8.0 || v["limit"] != 3.0 || v["offset"] != 1.0 || strings.Join(entries(v, "name"), "") != "654" {
			w.t.Errorf("by offset: %v", v)
		}
		if order := fmt.Sprint(v["order"]); order != "[map[by:type direction:ASC] map[by:name direction:DESC]]" {
			w.t.Errorf("order %s", order)
		}
		got, pages := w.walkByMarker("/folders/trash/items?usemarker=true&limit=3")
		if !slices.Equal(got, want) || len(pages) != 3 {
			w.t.Errorf("by marker %q on %d pages, want %q", got, len(pages), want)
		}
		if v := w.do("GET /folders/trash/items?fields=trashed_at,item_status,parent", request{}).want(w.t,
			200); len(v["entries"].([]any)[0].(object)) != 5 || entries(v, "item_status")[0] != "trashed" {
			w.t.Errorf("with fields: %v", v["entries"])
		}
		for path, code := range map[string]string{"sort=colour": "bad_request", "limit=0": "invalid_limit",
			"offset=300001": "invalid_offset", "usemarker=maybe": "bad_request", "usemarker=true&marker=x": "bad_request"} {
			w.do("GET /folders/trash/items?"+path, request{}).want(w.t, 400, code)
		}
	})
}

func TestVersionsOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		versions := at("/files/{file_id}/versions", s)
		first := versions + "/" + id(s.version)
		if v := w.do("GET "+versions, request{}).want(w.t, 200); v["total_count"] != 0.0 || len(v["entries"].([]any)) != 0 {
			w.t.Errorf("before there is a second: %v", v)
		}
		w.do(at("POST /files/{file_id}/content", s),
			request{body: form{{"attributes", `{"name":"second.docx"}`}, {"file", "second"}}}).want(w.t, 200)
		v := w.do("GET "+versions+"?limit=5000", request{}).want(w.t, 200)
		if v["total_count"] != 1.0 || v["limit"] != 1000.0 || entries(v, "id")[0] != id(s.version) {
			w.t.Errorf("past versions: %v", v)
		}
		v = w.do("GET "+first, request{}).want(w.t, 200)
		for name, want := range map[string]any{
			"type": "file_version", "id": id(s.version), "sha1": digest("0123456789"), "name": "Invoice.docx", "size": 10.0, "version_number": "1",
			"uploader_display_name": "owner", "trashed_at": nil, "trashed_by": nil, "restored_at": nil, "restored_by": nil, "purged_at": nil,
			"created_at": "2026-11-20T13:00:00+00:00", "modified_at": "2026-11-20T13:00:00+00:00",
		} {
			if got, ok := v[name]; !ok || got != want {
				w.t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		if v := w.do("GET "+first+"?fields=name,size", request{}).want(w.t, 200); len(v) != 4 {
			w.t.Errorf("fields %v", v)
		}
		w.t.Run("in the trash", func(t *testing.T) {
			w.do("DELETE "+first, request{header: http.Header{"If-Match": {"0"}}}).want(t, 412, "precondition_failed")
			w.do("DELETE "+first, request{header: http.Header{"If-Match": {`"1"`}}}).want(t, 204)
			if v := w.do("GET "+first, request{}).want(t, 200); v["trashed_at"] == nil || v["trashed_by"].(object)["name"] != "owner" {
				t.Errorf("version %v", v)
			}
			w.do(at("GET /files/{file_id}/content?version="+id(s.version), s), request{}).want(t, 404, "trashed")
			b := batch(s)
			b["file_version"] = ref(s.version, "file_version")
			w.do("POST /docgen_batches", request{body: b}).want(t, 404, "trashed")
			w.do("POST "+versions+"/current", request{body: ref(s.version, "file_version")}).want(t, 404, "trashed")
		})
		w.t.Run("restored", func(t *testing.T) {
			w.do("PUT "+first, request{body: object{}}).want(t, 400, "bad_request")
			v := w.do("PUT "+first, request{body: object{"trashed_at": "2026-01-01T00:00:00Z"}}).want(t, 400, "bad_request")
			if got := problems(v); !slices.Equal(got, []string{"invalid_parameter trashed_at"}) {
				t.Errorf("problems %q", got)
			}
			if v := w.do("PUT "+first, request{body: object{"trashed_at": nil}}).want(t, 200); v["trashed_at"] != nil ||
				v["restored_at"] == nil || v["restored_by"] == nil {
				t.Errorf("version %v", v)
			}
			w.do("PUT "+first, request{body: object{"trashed_at": nil}}).want(t, 404, "not_trashed")
		})
		w.t.Run("made the current one", func(t *testing.T) {
			v := w.do("POST "+versions+"/current", request{body: ref(s.version, "file_version")}).want(t, 201)
			if v["id"] == id(s.version) || v["version_number"] != "3" || v["name"] != "Invoice.docx" {
				t.Errorf("version %v", v)
			}
			file := w.do(at("GET /files/{file_id}", s), request{}).want(t, 200)
			if file["name"] != "Invoice.docx" || file["size"] != 10.0 || file["file_version"].(object)["id"] != v["id"] {
				t.Errorf("file %v", file)
			}
			if v := w.do("GET "+versions, request{}).want(t, 200); v["total_count"] != 2.0 {
				t.Errorf("past versions: %v", v)
			}
			w.do("DELETE "+versions+"/"+v["id"].(string), request{}).want(t, 403, "access_denied_insufficient_permissions")
			w.do("POST "+versions+"/current", request{body: ref(s.version, "file")}).want(t, 400, "bad_request")
			w.do("POST "+versions+"/current", request{body: ref(77, "file_version")}).want(t, 404, "not_found")
			w.do("GET "+versions+"/first", request{}).want(t, 404, "not_found")
		})
	})
}

func TestCopiesOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.do(at("POST /files/{file_id}/content", s), request{body: form{{"attributes", "{}"}, {"file", "second"}}}).want(w.t, 200)
		parent := object{"id": id(s.folder)}
		v := w.do(at("POST /files/{file_id}/copy", s),
			request{body: object{"parent": parent, "name": "copy.docx", "version": id(s.version)}}).want(w.t, 201)
		if v["name"] != "copy.docx" || v["sha1"] != digest("0123456789") || v["etag"] != "0" || v["parent"].(object)["id"] != id(s.folder) {
			w.t.Errorf("copy %v", v)
		}
		w.do("GET /docgen_templates/"+v["id"].(string), request{}).want(w.t, 404, "not_found")
		v = w.do(at("POST /files/{file_id}/copy", s), request{body: object{"parent": parent}}).want(w.t, 409, "item_name_in_use")
		if in, ok := conflicts(w.t, v).(object); !ok || in["id"] != id(s.file) {
			w.t.Errorf("conflicts %v, want the file", conflicts(w.t, v))
		}
		v = w.do(at("POST /files/{file_id}/copy", s), request{body: object{"name": 5}}).want(w.t, 400, "bad_request")
		if got := problems(v); !slices.Equal(got, []string{"invalid_parameter name", "missing_parameter parent"}) {
			w.t.Errorf("problems %q", got)
		}
		v = w.do(at("POST /folders/{folder_id}/copy?fields=name,item_collection", s),
			request{body: object{"parent": object{"id": 0}, "name": "copy"}}).want(w.t, 201)
		if got := entries(v["item_collection"].(object), "name"); len(v) != 5 || !slices.Equal(got, []string{"copy.docx", "Invoice.docx"}) {
			w.t.Errorf("copy %v", v)
		}
		v = w.do(at("POST /folders/{folder_id}/copy", s), request{body: object{"parent": object{"id": 0}, "name": "COPY"}}).want(w.t, 409,
			"item_name_in_use")
		if in, ok := conflicts(w.t, v).([]any); !ok || len(in) != 1 || in[0].(object)["type"] != "folder" {
			w.t.Errorf("conflicts %v, want a list with the folder", conflicts(w.t, v))
		}
		w.do(at("POST /folders/{folder_id}/copy", s), request{body: object{"parent": parent}}).want(w.t, 400, "cyclical_folder_structure")
		w.do("POST /folders/0/copy", request{body: object{"parent": parent}}).want(w.t, 403, "access_denied_insufficient_permissions")
	})
}

// TestConflictsOnTheWire checks how errors describe the conflicting item: a file as an object, a folder in a list.
func TestConflictsOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		upload := func(name string) response {
			return w.do("POST /files/content",
				request{body: form{{"attributes", fmt.Sprintf(`{"name":%q,"parent":{"id":%d}}`, name, s.folder)}, {"file", "x"}}})
		}
		file := conflicts(w.t, upload("invoice.docx").want(w.t, 409, "item_name_in_use")).(object)
		if file["type"] != "file" || file["id"] != id(s.file) || file["sha1"] != digest("0123456789") || file["file_version"] == nil {
			w.t.Errorf("conflict with %v", file)
		}
		folder := object{"name": "sub", "parent": object{"id": id(s.folder)}}
		w.do("POST /folders", request{body: folder}).want(w.t, 201)
		list := conflicts(w.t, w.do("POST /folders", request{body: folder}).want(w.t, 409, "item_name_in_use")).([]any)
		if len(list) != 1 || list[0].(object)["type"] != "folder" || list[0].(object)["name"] != "sub" {
			w.t.Errorf("conflicts with %v", list)
		}
	})
}

func TestPreflight(t *testing.T) {
	runWith(t, server.Config{RateLimits: noLimits}, docgen.Limits{UploadBytes: 1000}, func(w *world) {
		s := w.scene()
		parent := object{"id": id(s.folder)}
		version := at("OPTIONS /files/{file_id}/content", s)
		tests := []struct {
			name, call string
			body       object
			status     int
			code       string
		}{
			{"a file", "OPTIONS /files/content", object{"name": "a", "parent": parent, "size": 1000}, 200, ""},
			{"a file without its size", "OPTIONS /files/content", object{"name": "a", "parent": parent}, 200, ""},
			{"a file that is too large", "OPTIONS /files/content", object{"name": "a", "parent": parent, "size": 1001}, 403,
				"file_size_limit_exceeded"},
			{"a file of no size", "OPTIONS /files/content", object{"name": "a", "parent": parent, "size": -1}, 400, "bad_request"},
			{"a file with half a byte", "OPTIONS /files/content", object{"name": "a", "parent": parent, "size": 1.5}, 400, "bad_request"},
			{"a file of a size in words", "OPTIONS /files/content", object{"name": "a", "parent": parent, "size": "large"}, 400, "bad_request"},
			{"a file of more bytes than there are", "OPTIONS /files/content", object{"name": "a", "parent": parent, "size": 1e30}, 400,
				"bad_request"},
			{"a file without a name", "OPTIONS /files/content", object{"parent": parent}, 400, "bad_request"},
			{"a file whose name is taken", "OPTIONS /files/content", object{"name": "INVOICE.docx", "parent": parent}, 409, "item_name_in_use"},
			{"a file whose name cannot be", "OPTIONS /files/content", object{"name": "..", "parent": parent}, 400, "item_name_invalid"},
			{"a file in no folder", "OPTIONS /files/content", object{"name": "a", "parent": object{"id": "77"}}, 404, "not_found"},
			{"a version", version, object{"size": 1}, 200, ""},
			{"a version as for a new file", version, object{"name": "Invoice.docx", "size": 1, "parent": parent}, 200, ""},
			{"a version that is too large", version, object{"size": 1001}, 403, "file_size_limit_exceeded"},
			{"a version under a name that is taken", version, object{"name": "taken"}, 409, "item_name_in_use"},
		}
		w.do("POST /files/content", request{body: form{{"attributes", fmt.Sprintf(`{"name":"taken","parent":{"id":%d}}`, s.folder)},
			{"file", "x"}}}).want(w.t, 201)
		for _, tt := range tests {
			w.t.Run(tt.name, func(t *testing.T) {
				res := w.do(tt.call, request{body: tt.body})
				if tt.code != "" {
					v := res.want(t, tt.status, tt.code)
					if tt.status == 409 && conflicts(t, v).(object)["type"] != "file" {
						t.Errorf("conflicts with %v", conflicts(t, v))
					}
					return
				}
				v := res.want(t, tt.status)
				_, path, _ := strings.Cut(tt.call, " ")
				if want := w.url + "/2.0" + path; v["upload_url"] != want || v["upload_token"] != nil || len(v) != 2 {
					t.Errorf("answer %v, want the address %s", v, want)
				}
			})
		}
		w.do(version, request{body: object{}, header: http.Header{"If-Match": {"7"}}}).want(w.t, 412, "precondition_failed")
		v := w.do(at("GET /files/{file_id}/versions", s), request{}).want(w.t, 200)
		if v["total_count"] != 0.0 {
			w.t.Errorf("a check created a version: %v", v)
		}
	})
}

func TestRequestedFields(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		names := "comment_count,tags,lock,is_package,is_externally_owned,is_accessible_via_shared_link,expires_at," +
			"allowed_invitee_roles,permissions"
		v := w.do(at("GET /files/{file_id}?fields="+names, s), request{as: "editor"}).want(w.t, 200)
		if len(v) != 12 || v["comment_count"] != 0.0 || v["lock"] != nil || v["is_externally_owned"] != false {
			w.t.Errorf("file %v", v)
		}
		if roles := v["allowed_invitee_roles"].([]any); len(roles) != 6 || slices.Contains(roles, any("co-owner")) {
			w.t.Errorf("an editor may give the roles %v", roles)
		}
		v = w.do(at("GET /files/{file_id}?fields=allowed_invitee_roles", s), request{as: "reader"}).want(w.t, 200)
		if len(v["allowed_invitee_roles"].([]any)) != 0 {
			w.t.Errorf("a reader may give %v", v)
		}
		names = "tags,can_non_owners_invite,is_externally_owned,is_accessible_via_shared_link,folder_upload_email,permissions"
		v = w.do(at("GET /folders/{folder_id}?fields="+names, s), request{}).want(w.t, 200)
		if len(v) != 9 || v["can_non_owners_invite"] != true || len(v["permissions"].(object)) != 7 {
			w.t.Errorf("folder %v", v)
		}
	})
}
