package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// TestErrors checks the response to every kind of mistake.
func TestErrors(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		theirs := w.sceneOf("other")
		folder := func(body any) request { return request{body: body} }
		tests := []struct {
			name     string
			call     string
			request  request
			status   int
			code     string
			problems []string // reason and name, sorted
			message  string   // part of it
		}{
			{"malformed JSON", "POST /folders", folder("{\n  \"name\": \"x\",\n  \"parent\": {id: 0}\n}"), 400, "bad_request", nil,
				"line 3, column 14: invalid character 'i'"},
			{"JSON that ends too early", "POST /folders", folder(`{"name": "x"`), 400, "bad_request", nil, "line 1, column 13: the text ends"},
			{"more after the JSON", "POST /folders", folder(`{} {}`), 400, "bad_request", nil, "line 1, column 4"},
			{"text that is not UTF-8", "POST /folders", folder("{\"name\": \"\xff\"}"), 400, "bad_request", nil,
				"line 1, column 11: the text is not UTF-8"},
			{"no body", "POST /folders", folder(""), 400, "bad_request", nil, "The body is empty"},
			{"JSON that is no object", "POST /folders", folder(`[1]`), 400, "bad_request", []string{"invalid_parameter "},
				"The body must be an object, not an array"},
			{"20 MB of JSON", "POST /folders", folder(`{"name":"` + strings.Repeat("x", 20<<20) + `"}`), 413, "request_entity_too_large",
				nil, "limit of 1048576 bytes"},
			{"nesting 10,000 deep", "POST /folders", folder(`{"name":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`), 400,
				"bad_request", nil, "exceeded max depth"},
			{"a user_input nested 10,000 deep", "POST /docgen_batches", folder(deepBatch(s, 9990)), 400, "bad_request",
				[]string{"invalid_parameter document_generation_data[0].user_input"}, "nests deeper"},
			{"wrong types, missing and unknown fields at once", "POST /docgen_batches", folder(
				`{"file":{"id":true,"type":"folder"},"input_source":5,"extra":null,"destination_folder":[],` +
					`"document_generation_data":[{"user_input":"x"},{"generated_file_name":"a/b","user_input":{}},{"generated_file_name":1,` +
					`"user_input":{},"more":{}}]}`),
				400, "bad_request", []string{
					"invalid_parameter destination_folder", "invalid_parameter document_generation_data[0].user_input",
					"invalid_parameter document_generation_data[1].generated_file_name",
					"invalid_parameter document_generation_data[2].generated_file_name", "invalid_parameter document_generation_data[2].more",
					"invalid_parameter extra", "invalid_parameter file.id", "invalid_parameter file.type", "invalid_parameter input_source",
					"missing_parameter document_generation_data[0].generated_file_name", "missing_parameter output_type",
				}, "Invalid input parameters"},
			{"a field that is misspelt", "POST /folders", folder(`{"nome":"a","name":"b","parent":{"id":"0","kind":"folder"}}`), 400, "bad_request",
				[]string{"invalid_parameter nome", "invalid_parameter parent.kind"},
				"'nome' is not a field of this request; valid fields are name, parent"},
			{"a field given twice", "POST /folders", folder(`{"name":"a","name":"b","parent":{"id":"0"}}`), 400, "bad_request",
				[]string{"invalid_parameter name"}, "is repeated"},
			{"null for a field that must be", "POST /folders", folder(`{"name":null,"parent":{"id":"0"}}`), 400, "bad_request",
				[]string{"invalid_parameter name"}, "not null"},
			{"an invalid id", "POST /docgen_templates", folder(`{"file":{"id":"12a","type":"file"}}`), 400, "bad_request",
				[]string{"invalid_parameter file.id"}, "decimal digits"},
			{"an id that is negative", "POST /docgen_templates", folder(`{"file":{"id":-1,"type":"file"}}`), 400, "bad_request",
				[]string{"invalid_parameter file.id"}, ""},
			{"an id that is a fraction", "POST /docgen_templates", folder(`{"file":{"id":1.5,"type":"file"}}`), 400, "bad_request",
				[]string{"invalid_parameter file.id"}, ""},
			{"two versions that differ", "POST /docgen_batches", folder(with(batch(s), object{
				"file":         object{"id": id(s.file), "type": "file", "file_version": ref(1, "file_version")},
				"file_version": ref(2, "file_version")})), 400, "bad_request", []string{"invalid_parameter file_version"}, ""},
			{"an empty batch", "POST /docgen_batches", folder(with(batch(s), object{"document_generation_data": []object{}})), 400,
				"bad_request", []string{"invalid_parameter document_generation_data"}, ""},
			{"an unknown output type", "POST /docgen_batches", folder(with(batch(s), object{"output_type": "pptx"})), 400, "bad_request",
				[]string{"invalid_parameter output_type"}, "docx or pdf"},
			{"options that cannot be", "POST /docgen_batches",
				folder(with(batch(s), object{"options": object{"locale": "tlh", "time_zone": "Mars/Olympus", "missing": "never", "strict": 1,
					"more": 2}})), 400, "bad_request",
				[]string{"invalid_parameter options.locale", "invalid_parameter options.missing", "invalid_parameter options.more",
					"invalid_parameter options.strict", "invalid_parameter options.time_zone"}, ""},
			{"another input source", "POST /docgen_batches", folder(with(batch(s), object{"input_source": "web"})), 400, "bad_request",
				[]string{"invalid_parameter input_source"}, ""},
			{"a missing folder", "POST /docgen_batches", folder(with(batch(s), object{"destination_folder": ref(99, "folder")})),
				400, "bad_request", []string{"invalid_parameter destination_folder.id"}, ""},
			{"a file that is no template", "POST /docgen_batches", folder(with(batch(s), object{"file": ref(99, "file")})), 404, "not_found",
				[]string{"invalid_parameter file"}, ""},
			{"a version that is not the template's", "POST /docgen_batches",
				folder(with(batch(s), object{"file_version": ref(99, "file_version")})), 404, "not_found",
				[]string{"invalid_parameter file_version"}, ""},
			{"a name with a slash", "POST /folders", folder(`{"name":"a/b","parent":{"id":"0"}}`), 400, "item_name_invalid",
				[]string{"invalid_parameter name"}, ""},
			{"a name that is too long", "POST /folders", folder(`{"name":"` + strings.Repeat("n", 256) + `","parent":{"id":"0"}}`), 400,
				"item_name_too_long", nil, ""},
			{"the wrong content type", "POST /folders",
				request{body: "name=x", header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}, 415,
				"unsupported_media_type", nil, "application/json"},
			{"a collaborator that is not named", "POST /collaborations",
				folder(object{"item": ref(s.folder, "folder"), "accessible_by": object{"type": "user"}, "role": "viewer"}), 400, "bad_request",
				[]string{"missing_parameter accessible_by.id"}, ""},
			{"an invalid role", "POST /collaborations",
				folder(object{"item": ref(s.folder, "folder"), "accessible_by": object{"type": "user", "login": "other@example.com"},
					"role": "king"}), 400, "bad_request", []string{"invalid_parameter role"}, ""},
			{"a collaborator already", "POST /collaborations",
				folder(object{"item": ref(s.folder, "folder"), "accessible_by": object{"type": "user", "login": "carol@example.com"},
					"role": "viewer"}), 400, "user_already_collaborator", nil, ""},
			{"the root folder shared", "POST /collaborations",
				folder(object{"item": ref(0, "folder"), "accessible_by": object{"type": "user", "login": "other@example.com"}, "role": "viewer"}),
				400, "collaborations_not_available_on_root_folder", nil, ""},
			{"a folder moved into itself", "PUT " + at("/folders/{folder_id}", s), folder(object{"parent": object{"id": id(s.folder)}}), 400,
				"cyclical_folder_structure", nil, ""},
			{"a folder that is not empty", "DELETE " + at("/folders/{folder_id}", s), request{}, 400, "folder_not_empty", nil, "recursive=true"},
			{"an invalid boolean", "DELETE " + at("/folders/{folder_id}?recursive=maybe", s), request{}, 400, "bad_request",
				[]string{"invalid_parameter recursive"}, ""},

			{"an etag that has passed", "PUT " + at("/files/{file_id}", s),
				request{body: object{"name": "x.docx"}, header: http.Header{"If-Match": {"7"}}}, 412, "precondition_failed", nil, ""},
			{"an etag that has passed, of a file to delete", "DELETE " + at("/files/{file_id}", s),
				request{header: http.Header{"If-Match": {`"7"`}}}, 412, "precondition_failed", nil, ""},

			{"an id in the path that is no number", "GET /files/abc", request{}, 404, "not_found", []string{"invalid_parameter file"},
				"There is no operation GET /files/abc. 'abc' is not the id of a file"},
			{"an operation that does not exist", "POST /files/collections", request{body: object{}}, 404, "not_found",
				[]string{"invalid_parameter file"}, "There is no operation POST /files/collections."},
			{"a slash at the end", "GET /files/", request{}, 404, "not_found", nil, "must not end with a slash"},
			{"an id in the path beyond 64 bits", "GET /files/99999999999999999999", request{}, 404, "not_found",
				[]string{"invalid_parameter file"}, ""},
			{"an id in the path that is negative", "GET /folders/-1", request{}, 404, "not_found", []string{"invalid_parameter folder"}, ""},
			{"a batch that is no UUID", "GET /docgen_batch_jobs/x", request{}, 404, "not_found", []string{"invalid_parameter docgen_batch"}, ""},
			{"a job that is no number", "GET /docgen_jobs/x", request{}, 404, "not_found", []string{"invalid_parameter docgen_job"}, ""},
			{"the root folder taken for a file", "GET /files/0", request{}, 404, "not_found", []string{"invalid_parameter file"}, ""},
			{"another user's file", "GET /files/" + id(theirs.file), request{}, 404, "not_found", []string{"invalid_parameter file"}, "Not Found"},
			{"another user's folder", "GET /folders/" + id(theirs.folder) + "/items", request{}, 404, "not_found",
				[]string{"invalid_parameter folder"}, ""},
			{"another user's template", "GET /docgen_templates/" + id(theirs.file) + "/tags", request{}, 404, "not_found", nil, ""},
			{"another user's job", "GET /docgen_jobs/" + id(theirs.job), request{}, 404, "not_found", []string{"invalid_parameter docgen_job"}, ""},
			{"another user's batch", "GET /docgen_batch_jobs/" + theirs.batch, request{}, 404, "not_found",
				[]string{"invalid_parameter docgen_batch"}, ""},
			{"another user's folder as a parent", "POST /folders", folder(object{"name": "x", "parent": object{"id": id(theirs.folder)}}),
				404, "not_found", []string{"invalid_parameter folder"}, ""},

			{"an unknown route", "GET /nothing", request{}, 404, "not_found", nil, "There is no operation GET /nothing."},
			{"another version in the address", "GET //3.0/docgen_templates", request{}, 404, "not_found", nil, ""},
			{"the root", "GET //", request{}, 404, "not_found", nil, ""},
			{"an unsupported method", "PUT /docgen_templates", request{}, 405, "method_not_allowed", nil, "GET, HEAD, POST"},
		}
		for _, tt := range tests {
			w.t.Run(tt.name, func(t *testing.T) {
				res := w.do(tt.call, tt.request)
				v := res.want(t, tt.status, tt.code)
				if got := problems(v); tt.problems != nil && !slices.Equal(got, tt.problems) {
					t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tt.problems, "\n"))
				}
				if message := fmt.Sprint(v["message"], v["context_info"]); !strings.Contains(message, tt.message) {
					t.Errorf("message %s, want %q in it", message, tt.message)
				}
				checkErrorBody(t, w, res, v)
			})
		}
	})
}

// checkErrorBody checks the fields that every error has.
func checkErrorBody(t *testing.T, w *world, res response, v object) {
	t.Helper()
	if v["type"] != "error" || v["status"] != float64(res.StatusCode) || v["request_id"] != res.Header.Get("X-Request-Id") {
		t.Errorf("type, status or request_id of %s", res.text)
	}
	if want := w.url + "/docs/errors#" + fmt.Sprint(v["code"]); v["help_url"] != want {
		t.Errorf("help_url %v, want %s", v["help_url"], want)
	}
	if (res.StatusCode == http.StatusMethodNotAllowed) != (res.Header.Get("Allow") != "") {
		t.Errorf("Allow: %q", res.Header.Get("Allow"))
	}
}

// with returns a body with some fields changed.
func with(body, changes object) object {
	maps.Copy(body, changes)
	return body
}

func deepBatch(s scene, depth int) string {
	return fmt.Sprintf(`{"file":{"id":"%d","type":"file"},"input_source":"api","destination_folder":{"id":"%d","type":"folder"},`+
		`"output_type":"docx",
		"document_generation_data":[{"generated_file_name":"x","user_input":{"a":%s%s}}]}`, s.file, s.folder, strings.Repeat("[", depth),
		strings.Repeat("]", depth))
}

// sceneOf creates a scene that belongs to another caller.
func (w *world) sceneOf(name string) scene {
	w.t.Helper()
	owner := w.owner
	w.owner = w.caller(name)
	defer func() { w.owner = owner }()
	return w.scene()
}

func TestNameInUse(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		upload := form{{"attributes", fmt.Sprintf(`{"name":"invoice.DOCX","parent":{"id":%d}}`, s.folder)}, {"file", "x"}}
		v := w.do("POST /files/content", request{body: upload}).want(w.t, 409, "item_name_in_use")
		conflict, ok := v["context_info"].(object)["conflicts"].(object)
		if !ok || conflict["id"] != id(s.file) || conflict["type"] != "file" {
			w.t.Errorf("the conflict of a file is %v, want the file itself", v["context_info"])
		}
		body := object{"name": "sub", "parent": object{"id": id(s.folder)}}
		made := w.do("POST /folders", request{body: body}).want(w.t, 201)
		v = w.do("POST /folders", request{body: body}).want(w.t, 409, "item_name_in_use")
		conflicts, ok := v["context_info"].(object)["conflicts"].([]any)
		if !ok || len(conflicts) != 1 || conflicts[0].(object)["id"] != made["id"] {
			w.t.Errorf("the conflicts of a folder are %v, want a list of the folder", v["context_info"])
		}
	})
}

func TestTrashed(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.do(at("DELETE /files/{file_id}", s), request{}).want(w.t, 204)
		w.do(at("GET /files/{file_id}", s), request{}).want(w.t, 404, "trashed")
		w.do(at("GET /docgen_jobs/{job_id}", s), request{}).want(w.t, 200)
		w.do(at("DELETE /folders/{folder_id}", s), request{}).want(w.t, 204)
		w.do(at("GET /folders/{folder_id}", s), request{}).want(w.t, 404, "trashed")
	})
}

// TestLimitsOfBatches shows that batches have a separate limit.
func TestLimitsOfBatches(t *testing.T) {
	limits := docgen.Limits{BatchBytes: 2 << 20, InputBytes: 1000, Documents: 3}
	runWith(t, server.Config{RateLimits: noLimits}, limits, func(w *world) {
		s := w.scene()
		data := func(n, size int) object {
			return with(batch(s), object{"document_generation_data": slices.Repeat([]object{
				{"generated_file_name": "x", "user_input": object{"a": strings.Repeat("x", size)}}}, n)})
		}
		w.do("POST /docgen_batches", request{body: data(3, 900)}).want(w.t, 202)
		v := w.do("POST /docgen_batches", request{body: data(1, 1000)}).want(w.t, 400, "bad_request")
		if got := problems(v); !slices.Equal(got, []string{"invalid_parameter document_generation_data[0].user_input"}) {
			w.t.Errorf("problems of an input that is too large: %q", got)
		}
		v = w.do("POST /docgen_batches", request{body: data(4, 1)}).want(w.t, 400, "bad_request")
		if got := problems(v); !slices.Equal(got, []string{"invalid_parameter document_generation_data"}) {
			w.t.Errorf("problems of too many documents: %q", got)
		}
		v = w.do("POST /docgen_batches", request{body: data(1, 3<<20)}).want(w.t, 413, "request_entity_too_large")
		if message := fmt.Sprint(v["message"]); !strings.Contains(message, "2097152") {
			w.t.Errorf("the message %q does not name the limit", message)
		}
	})
}

// TestSecretsAreNotEchoed sends secrets in the wrong fields.
func TestSecretsAreNotEchoed(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		const secret = "s3cr3t-value-of-a-field"
		w.tokens["forger"] = "forged-token-4711"
		for _, res := range []response{
			w.do("POST /folders", request{body: object{"name": []string{secret}, "parent": secret}}),
			w.do("POST /docgen_batches", request{body: object{"file": secret, "document_generation_data": secret, "input_source": secret}}),
			w.do("POST /collaborations", request{body: object{"item": object{"id": secret, "type": secret}}}),
			w.do("GET /users/me", request{as: "forger"}),
			w.do("GET /docgen_jobs?marker="+secret, request{}),
			w.do("GET /docgen_jobs?limit="+secret, request{}),
		} {
			if res.StatusCode < 400 {
				w.t.Errorf("%s: status %d", res.Request.URL, res.StatusCode)
			}
			if strings.Contains(string(res.text), secret) || strings.Contains(string(res.text), "token-4711") {
				w.t.Errorf("%s: the response repeats the secret: %s", res.Request.URL, res.text)
			}
		}
		if lines := w.logs.find(secret); len(lines) > 0 {
			w.t.Errorf("logged: %q", lines)
		}
		if lines := w.logs.find("token-4711"); len(lines) > 0 {
			w.t.Errorf("logged: %q", lines)
		}
	})
}
