package server_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// TestErrorsOfEveryOperation tests, one by one, the conditions under which the operations on documents and archives
// fail.
func TestErrorsOfEveryOperation(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.do("POST /archives", archivist(object{"name": "Taken"})).want(w.t, 201)
		noScope := func(body any) request { return request{as: "scope", body: body} }
		guest := func(body any) request { return request{as: "guest", body: body} }
		mark := object{"file": ref(s.file, "file")}
		for _, tt := range []struct {
			name, call string
			request    request
			status     int
			code       string
		}{
			{"jobs of a batch, malformed marker", "GET /docgen_batch_jobs/{batch_id}?marker=x", request{}, 400, "bad_request"},
			{"jobs of a batch, malformed limit", "GET /docgen_batch_jobs/{batch_id}?limit=x", request{}, 400, "invalid_limit"},
			{"jobs of a batch, no access rights", "GET /docgen_batch_jobs/{batch_id}", noScope(nil), 403, "insufficient_scope"},
			{"jobs of a batch, batch not found", "GET /docgen_batch_jobs/64528422-fbf4-4f8d-b6a0-b099c6572cf2", request{}, 404, "not_found"},
			{"jobs of a batch, batch not accessible", "GET /docgen_batch_jobs/{batch_id}", request{as: "other"}, 404, "not_found"},

			{"jobs of a template, malformed marker", "GET /docgen_template_jobs/{template_id}?marker=x", request{}, 400, "bad_request"},
			{"jobs of a template, malformed limit", "GET /docgen_template_jobs/{template_id}?limit=x", request{}, 400, "invalid_limit"},
			{"jobs of a template, no access rights", "GET /docgen_template_jobs/{template_id}", noScope(nil), 403, "insufficient_scope"},
			{"jobs of a template, template not found", "GET /docgen_template_jobs/4711", request{}, 404, "not_found"},
			{"jobs of a template, template not accessible", "GET /docgen_template_jobs/{template_id}", request{as: "other"}, 404, "not_found"},

			{"a job, no access rights", "GET /docgen_jobs/{job_id}", noScope(nil), 403, "insufficient_scope"},
			{"a job, not found", "GET /docgen_jobs/4711", request{}, 404, "not_found"},
			{"a job, not accessible", "GET /docgen_jobs/{job_id}", request{as: "other"}, 404, "not_found"},
			{"all jobs, malformed marker", "GET /docgen_jobs?marker=x", request{}, 400, "bad_request"},
			{"all jobs, no access rights", "GET /docgen_jobs", noScope(nil), 403, "insufficient_scope"},

			{"a batch, no access rights", "POST /docgen_batches", noScope(batch(s)), 403, "insufficient_scope"},
			{"a batch, a role that may not", "POST /docgen_batches", request{as: "reader", body: batch(s)}, 403,
				"access_denied_insufficient_permissions"},
			{"a batch, a destination of another type", "POST /docgen_batches",
				request{body: with(batch(s), object{"destination_folder": ref(s.folder, "file")})}, 400, "bad_request"},
			{"a batch, a version of another type", "POST /docgen_batches",
				request{body: with(batch(s), object{"file_version": ref(s.version, "file")})}, 400, "bad_request"},
			{"a batch, token not provided", "POST /docgen_batches", guest(batch(s)), 401, "unauthorized"},

			{"tags, malformed marker", "GET /docgen_templates/{template_id}/tags?marker=x", request{}, 400, "bad_request"},
			{"tags, malformed limit", "GET /docgen_templates/{template_id}/tags?limit=x", request{}, 400, "invalid_limit"},
			{"tags, no access rights", "GET /docgen_templates/{template_id}/tags", noScope(nil), 403, "insufficient_scope"},
			{"tags, not found", "GET /docgen_templates/4711/tags", request{}, 404, "not_found"},

			{"marking a template, client error", "POST /docgen_templates", request{body: object{"file": ref(s.file, "folder")}}, 400, "bad_request"},
			{"marking a template, file not found", "POST /docgen_templates", request{body: object{"file": ref(4711, "file")}}, 404, "not_found"},
			{"marking a template, no access rights", "POST /docgen_templates", noScope(mark), 403, "insufficient_scope"},
			{"marking a template, a role that may not", "POST /docgen_templates", request{as: "reader", body: mark}, 403,
				"access_denied_insufficient_permissions"},
			{"a template, not found", "GET /docgen_templates/4711", request{}, 404, "not_found"},
			{"a template, token not recognized", "GET /docgen_templates/{template_id}", request{as: "expired"}, 401, "unauthorized"},
			{"unmarking a template, not found", "DELETE /docgen_templates/4711", request{}, 404, "not_found"},
			{"unmarking a template, no access rights", "DELETE /docgen_templates/{template_id}", noScope(nil), 403, "insufficient_scope"},

			{"templates, malformed marker", "GET /docgen_templates?marker=x", request{}, 400, "bad_request"},
			{"templates, malformed limit", "GET /docgen_templates?limit=x", request{}, 400, "invalid_limit"},
			{"templates, token not provided", "GET /docgen_templates", guest(nil), 401, "unauthorized"},
			{"templates, token not recognized", "GET /docgen_templates", request{as: "expired"}, 401, "unauthorized"},
			{"templates, unexpected client error", "PATCH /docgen_templates", request{}, 405, "method_not_allowed"},

			{"making an archive, missing parameter", "POST /archives", archivist(object{"description": "no name"}), 400, "bad_request"},
			{"making an archive, invalid parameter", "POST /archives", archivist(object{"name": 5}), 400, "bad_request"},
			{"making an archive, token not provided", "POST /archives", guest(object{"name": "x"}), 401, "unauthorized"},
			{"making an archive, no permission", "POST /archives", request{body: object{"name": "x"}}, 403, "insufficient_scope"},
			{"making an archive, name taken", "POST /archives", archivist(object{"name": "taken"}), 409, "conflict"},
			{"making an archive, unexpected client error", "POST /archives", archivist(`{"name":`), 400, "bad_request"},

			{"archives, invalid parameter", "GET /archives?limit=x", archivist(nil), 400, "invalid_limit"},
			{"archives, token not recognized", "GET /archives", request{as: "expired"}, 401, "unauthorized"},
			{"archives, no permission", "GET /archives", request{}, 403, "insufficient_scope"},
			{"archives, unexpected client error", "PATCH /archives", archivist(nil), 405, "method_not_allowed"},

			{"changing an archive, invalid parameter", "PUT /archives/{archive_id}", archivist(object{"description": 5}), 400, "bad_request"},
			{"changing an archive, token not provided", "PUT /archives/{archive_id}", guest(object{}), 401, "unauthorized"},
			{"changing an archive, no permission", "PUT /archives/{archive_id}", request{body: object{}}, 403, "insufficient_scope"},
			{"changing an archive, not found", "PUT /archives/4711", archivist(object{}), 404, "not_found"},
			{"changing an archive, name taken", "PUT /archives/{archive_id}", archivist(object{"name": "TAKEN"}), 409, "conflict"},
			{"changing an archive, unexpected client error", "PUT /archives/{archive_id}", archivist(`[]`), 400, "bad_request"},
		} {
			w.t.Run(tt.name, func(t *testing.T) {
				res := w.do(at(tt.call, s), tt.request)
				checkErrorBody(t, w, res, res.want(t, tt.status, tt.code))
			})
		}
	})
}

// TestTooManyRequestsOnEveryRoute reaches the limits of a user, and then calls every operation.
func TestTooManyRequestsOnEveryRoute(t *testing.T) {
	runOnce(t, server.Config{RateLimits: server.RateLimits{Requests: 1, Uploads: 1}}, func(w *world) {
		s := w.scene()
		w.do("GET /users/me", request{}).want(w.t, 200)
		w.do("POST /files/content", request{body: form{{"attributes", `{"name":"a","parent":{"id":"0"}}`}, {"file", "x"}}}).want(w.t, 201)
		for _, c := range routeCases {
			if strings.Contains(c.route, "/oauth2") || c.route == "POST /sessions" || c.route == "POST /invitations/accept" {
				continue // which count for the application, or for the address
			}
			res := w.do(at(c.route, s), request{})
			res.want(w.t, 429, "rate_limit_exceeded")
			if res.Header.Get("Retry-After") == "" {
				w.t.Errorf("%s: no Retry-After", c.route)
			}
		}
	})
}

// TestTemplatesBeingRead requests the tags and the contract of a template that has not been read yet.
func TestTemplatesBeingRead(t *testing.T) {
	run(t, func(w *world) {
		ctx := w.t.Context()
		file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: "New.docx"}, strings.NewReader("new"))
		must(w.t, err)
		path := "GET /docgen_templates/" + id(file.ID)
		w.do("POST /docgen_templates", request{body: object{"file": ref(file.ID, "file")}}).want(w.t, 201)
		for _, call := range []string{path + "/tags", path + "/contract"} {
			res := w.do(call, request{})
			v := res.want(w.t, 202)
			if len(v) != 1 || v["message"] != "Processing tags for this file." || res.Header.Get("Retry-After") != "1" {
				w.t.Errorf("%s: %s with %v", call, res.text, res.Header)
			}
		}
		must(w.t, w.SaveReading(ctx, file.VersionID, docgen.Reading{}))
		if v := w.do(path+"/tags", request{}).want(w.t, 200); len(v["entries"].([]any)) != 0 || v["next_marker"] != nil {
			w.t.Errorf("when it is read: %v", v)
		}
	})
}

// TestFailuresOnTheWire ends a job with errors and warnings, and another without a document.
func TestFailuresOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		ctx := w.t.Context()
		s := w.scene()
		documents := []object{{"generated_file_name": "a", "user_input": object{}}, {"generated_file_name": "b", "user_input": object{}}}
		made := w.do("POST /docgen_batches", request{body: with(batch(s), object{"document_generation_data": documents})}).want(w.t, 202)
		claim := claimBatch(ctx, w.t, w.Service, w.owner.User.ID, docgen.LaneDocx, made["id"].(string))
		output, err := w.SaveOutput(ctx, claim.Jobs[0], strings.NewReader("document"))
		must(w.t, err)
		const missing, unused = "The tag 'name' was not provided in the input data.", "The tag 'nmae' was provided but not used in the template."
		_, err = w.CompleteJobs(ctx, claim, []docgen.Result{
			{Job: claim.Jobs[0], Output: &output, Failures: docgen.Failures{Errors: []string{missing}, Warnings: []string{unused},
				Details: []*docgen.Detail{{Message: "name is missing", Part: "/word/document.xml", Text: "{{name}}"}}}},
			{Job: claim.Jobs[1], Failures: docgen.Failures{Errors: []string{"the template cannot be read"}}},
		})
		must(w.t, err)
		jobs := w.do("GET /docgen_batch_jobs/"+made["id"].(string), request{}).want(w.t, 200)["entries"].([]any)
		first, second := jobs[0].(object), jobs[1].(object)
		if first["status"] != "completed_with_error" || first["output_file"] == nil || first["output_file_version"] == nil {
			w.t.Errorf("the job with errors is %v", first)
		}
		listed := first["failures"].(object)
		if listed["code"] != "incomplete" || listed["count"] != 2.0 || listed["omitted"] != 1.0 ||
			!slices.Equal(listed["errors"].([]any), []any{missing}) ||
			len(listed["warnings"].([]any))+len(listed["details"].([]any)) != 0 {
			w.t.Errorf("in the list, the failures are %v", listed)
		}
		failures := w.do("GET /docgen_jobs/"+first["id"].(string), request{}).want(w.t, 200)["failures"].(object)
		if failures["code"] != "incomplete" || failures["count"] != 2.0 || failures["omitted"] != 0.0 ||
			!slices.Equal(failures["errors"].([]any), []any{missing}) || !slices.Equal(failures["warnings"].([]any), []any{unused}) ||
			failures["details"].([]any)[0].(object)["text"] != "{{name}}" {
			w.t.Errorf("failures %v", failures)
		}
		if second["status"] != "failed" || second["output_file"] != nil || second["output_file_version"] != nil ||
			len(second["failures"].(object)["warnings"].([]any)) != 0 {
			w.t.Errorf("the job that failed is %v", second)
		}
	})
}

// TestForms names the fields of files, folders, versions, users, collaborations, and archives when no fields are
// requested.
func TestForms(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		const mini = "type id etag sequence_id name"
		const item = mini + " description size path_collection created_at modified_at trashed_at purged_at content_created_at " +
			"content_modified_at created_by modified_by owned_by shared_link parent item_status"
		w.do(at("POST /files/{file_id}/content", s), request{body: form{{"attributes", "{}"}, {"file", "x"}}}).want(w.t, 200)
		sub := w.do("POST /folders", request{body: object{"name": "sub", "parent": object{"id": id(s.folder)}}}).want(w.t, 201)
		list := w.do(at("GET /folders/{folder_id}/items", s), request{}).want(w.t, 200)["entries"].([]any)
		file, folder := w.do(at("GET /files/{file_id}", s), request{}).want(w.t, 200), w.do("GET /folders/"+sub["id"].(string),
			request{}).want(w.t, 200)
		collaboration := w.do(at("GET /collaborations/{collaboration_id}", s), request{}).want(w.t, 200)
		root := folder["path_collection"].(object)["entries"].([]any)[0].(object)
		for name, form := range map[string]struct {
			got  object
			want string
		}{
			"a file":             {file, item + " sha1 file_version"},
			"a file in a list":   {list[1].(object), mini + " sha1 file_version"},
			"a folder in a list": {list[0].(object), mini},
			"a folder in a path": {root, mini},
			"a user in an item":  {file["owned_by"].(object), "type id name login"},
			"a version of a file": {w.do(at("GET /files/{file_id}/versions/{file_version_id}", s), request{}).want(w.t, 200),
				"type id sha1 name size uploader_display_name created_at modified_at modified_by trashed_at trashed_by restored_at " +
					"restored_by purged_at version_number"},
			"a user": {w.do("GET /users/me", request{}).want(w.t, 200),
				"type id name login created_at modified_at language timezone space_amount space_used max_upload_size status job_title phone " +
					"address avatar_url notification_email"},
			"a collaboration": {collaboration,
				"type id item accessible_by invite_email role expires_at is_access_only status acknowledged_at created_by created_at " +
					"modified_at acceptance_requirements_status"},
			"an archive": {w.do("GET /archives", archivist(nil)).want(w.t, 200)["entries"].([]any)[0].(object),
				"type id name size description owned_by"},
			"a page by marker":   {w.do("GET /docgen_jobs", request{}).want(w.t, 200), "entries limit next_marker prev_marker"},
			"a page of archives": {w.do("GET /archives", archivist(nil)).want(w.t, 200), "entries limit next_marker"},
			"a page by offset":   {w.do(at("GET /files/{file_id}/versions", s), request{}).want(w.t, 200), "entries limit offset total_count"},
			"a page of a folder": {w.do(at("GET /folders/{folder_id}/items", s), request{}).want(w.t, 200),
				"entries limit offset total_count order"},
			"a page of users": {w.do("GET /users", request{as: "admin"}).want(w.t, 200), "entries limit offset total_count"},
		} {
			w.t.Run(name, func(t *testing.T) {
				want := strings.Fields(form.want)
				slices.Sort(want)
				if got := slices.Sorted(maps.Keys(form.got)); !slices.Equal(got, want) {
					t.Errorf("fields\n%q, want\n%q", got, want)
				}
			})
		}
		if root["id"] != "0" || root["name"] != "All Files" || root["etag"] != nil || root["sequence_id"] != nil {
			w.t.Errorf("the root folder in a path is %v", root)
		}
		if _, ok := folder["item_collection"]; !ok || len(folder) != len(strings.Fields(item))+1 {
			w.t.Errorf("the folder is %v", folder)
		}
		if file["shared_link"] != nil || file["item_status"] != "active" {
			w.t.Errorf("the file is %v", file)
		}
	})
}

// TestDefaultLimits checks the default limits of a server.
func TestDefaultLimits(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		want := docgen.Limits{Documents: 10_000, InputBytes: 5 << 20, BatchBytes: 64 << 20, UploadBytes: 5 << 30, TemplateBytes: 100 << 20,
			Pending: 100_000, Keys: 100_000, StreamedDocuments: 1_000_000, StreamedBytes: 8 << 30, Waiting: 2_000_000}
		if got := w.Limits(); got != want {
			w.t.Errorf("limits %+v, want %+v", got, want)
		}
	})
}

// TestDefaultRateLimits checks the default number of requests per minute.
func TestDefaultRateLimits(t *testing.T) {
	if got, want := (server.RateLimits{}).WithDefaults(), (server.RateLimits{Requests: 1000, Uploads: 240, Guests: 300}); got != want {
		t.Errorf("limits %+v, want %+v", got, want)
	}
}

// TestLimitsOfTexts sends texts of the maximum length, and then texts with one character more.
func TestLimitsOfTexts(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		user := func(field, text string) request {
			body := object{"name": "n", "login": "l." + text[:1] + id(w.clock.Add(1))}
			return request{as: "admin", body: with(body, object{field: text})}
		}
		for _, tt := range []struct {
			name, call string
			most       int
			request    func(text string) request
			code       string
		}{
			{"a description", "PUT /files/{file_id}", 1024, func(text string) request { return request{body: object{"description": text}} },
				"bad_request"},
			{"a login", "POST /users", 254, func(text string) request { return user("login", text) }, "bad_request"},
			{"the name of a user", "POST /users", 254, func(text string) request { return user("name", text) }, "bad_request"},
			{"a job title", "POST /users", 255, func(text string) request { return user("job_title", text) }, "bad_request"},
		} {
			w.t.Run(tt.name, func(t *testing.T) {
				if res := w.do(at(tt.call, s), tt.request(strings.Repeat("x", tt.most))); res.StatusCode >= 300 {
					t.Errorf("of %d characters: %s", tt.most, res.text)
				}
				w.do(at(tt.call, s), tt.request(strings.Repeat("x", tt.most+1))).want(t, 400, tt.code)
			})
		}
		w.t.Run("the attributes of an upload", func(t *testing.T) {
			attributes := `{"name":"` + strings.Repeat("x", 1<<19) + `","parent":{"id":"0"}}`
			w.do("POST /files/content", request{body: form{{"attributes", attributes}, {"file", "x"}}}).want(t, 413, "request_entity_too_large")
		})
	})
}

// TestDryRunOfManyDocuments runs a dry run of more documents than its response lists.
func TestDryRunOfManyDocuments(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		documents := slices.Repeat([]object{{"generated_file_name": "x", "user_input": object{}}}, 1001)
		body := with(batch(s), object{"document_generation_data": documents, "options": object{"dry_run": true}})
		v := w.do("POST /docgen_batches", request{body: body}).want(w.t, 200)
		if listed := len(v["findings"].([]any)); v["incomplete"] != 1001.0 || listed != 1000 {
			w.t.Errorf("%v incomplete documents, of which %d are listed", v["incomplete"], listed)
		}
	})
}
