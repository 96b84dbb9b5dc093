package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// A routeCase has the response of a route to every kind of caller.
type routeCase struct {
	route string // as in the OpenAPI document
	body  func(scene) any
	want  string // statuses in the order of callers; guest and expired always get 401
}

// callers:              scope other reader editor owner admin archivist
var routeCases = []routeCase{
	// First, because every scene adds a token.
	{"POST /tokens", func(scene) any { return object{"name": "own"} }, "201 201 201 201 201 201 201"},
	{"POST /docgen_templates", func(s scene) any { return object{"file": ref(s.file, "file")} }, "403 404 403 201 201 404 201"},
	{"GET /docgen_templates", nil, "403 200 200 200 200 200 200"},
	{"GET /docgen_templates/{template_id}", nil, "403 404 200 200 200 404 200"},
	{"PUT /docgen_templates/{template_id}", func(scene) any { return object{"defaults": object{"locale": "de"}} },
		"403 404 403 200 200 404 200"},
	{"DELETE /docgen_templates/{template_id}", nil, "403 404 403 204 204 404 204"},
	{"GET /docgen_templates/{template_id}/tags", nil, "403 404 200 200 200 404 200"},
	{"GET /docgen_templates/{template_id}/contract", nil, "403 404 200 200 200 404 200"},
	{"GET /docgen_templates/{template_id}/samples", nil, "403 404 200 200 200 404 200"},
	{"PUT /docgen_templates/{template_id}/samples/{sample_name}", func(scene) any { return object{"user_input": object{"name": "Ada"}} },
		"403 404 403 200 200 404 200"},
	{"GET /docgen_templates/{template_id}/samples/{sample_name}", nil, "403 404 200 200 200 404 200"},
	{"POST /docgen_templates/{template_id}/check_samples", nil, "403 404 403 202 202 404 202"},
	{"DELETE /docgen_templates/{template_id}/samples/{sample_name}", nil, "403 404 403 204 204 404 204"},
	{"GET /docgen_template_jobs/{template_id}", nil, "403 404 200 200 200 404 200"},
	{"POST /docgen_documents", func(s scene) any {
		return object{"file": ref(s.file, "file"), "destination_folder": ref(s.folder, "folder"), "output_type": "docx", "user_input": object{}}
	}, "403 404 403 422 422 404 422"}, // the file is not a Word document
	{"POST /docgen_previews", func(s scene) any { return object{"file": ref(s.file, "file"), "user_input": object{}} },
		"403 404 422 422 422 404 422"}, // there is no PDF engine
	{"POST /docgen_checks", func(s scene) any { return object{"file": ref(s.file, "file")} }, "403 404 200 200 200 404 200"},
	{"POST /docgen_batches", func(s scene) any { return batch(s) }, "403 404 403 202 202 404 202"},
	{"GET /docgen_batches", nil, "403 200 200 200 200 200 200"},
	{"GET /docgen_batches/{batch_id}", nil, "403 404 404 404 200 404 404"},
	{"GET /docgen_batches/{batch_id}/content", nil, "403 404 404 404 409 404 404"}, // it runs
	{"DELETE /docgen_batches/{batch_id}", nil, "403 404 404 404 409 404 404"},      // it runs
	{"GET /docgen_batches/{batch_id}/events", nil, "403 404 404 404 200 404 404"},
	{"POST /docgen_batches/{batch_id}/cancel", nil, "403 404 404 404 202 404 404"},
	{"POST /docgen_batches/{batch_id}/retry", nil, "403 404 404 404 202 404 404"},
	{"GET /docgen_batch_jobs/{batch_id}", nil, "403 404 404 404 200 404 404"},
	{"GET /docgen_jobs", nil, "403 200 200 200 200 200 200"},
	{"GET /docgen_jobs/{job_id}", nil, "403 404 404 404 200 404 404"},
	{"GET /docgen_jobs/{job_id}/input", nil, "403 404 404 404 200 404 404"},
	{"POST /docgen_jobs/{job_id}/retry", func(scene) any { return object{"user_input": object{"name": "Bob"}} },
		"403 404 404 404 202 404 404"},

	{"POST /files/content", func(s scene) any {
		return form{{"attributes", fmt.Sprintf(`{"name":"new.txt","parent":{"id":"%d"}}`, s.folder)}, {"file", "text"}}
	}, "403 404 403 201 201 404 201"},
	{"POST /files/{file_id}/content", func(scene) any { return form{{"attributes", `{"name":"new.txt"}`}, {"file", "text"}} },
		"403 404 403 200 200 404 200"},
	{"GET /files/{file_id}/content", nil, "403 404 200 200 200 404 200"},
	{"GET /downloads/{ticket}", nil, everybody("200")}, // the ticket replaces the access token
	{"POST /zip_downloads", func(s scene) any { return object{"items": []object{ref(s.folder, "folder")}} }, "403 404 202 202 202 404 202"},
	{"GET /zip_downloads/{zip_download_id}/content", nil, everybody("200")}, // the ticket in it replaces the access token
	{"GET /zip_downloads/{zip_download_id}/status", nil, "403 404 404 404 200 404 404"},
	{"GET /files/{file_id}", nil, "403 404 200 200 200 404 200"},
	{"PUT /files/{file_id}", func(scene) any { return object{"name": "new.docx"} }, "403 404 403 200 200 404 200"},
	{"DELETE /files/{file_id}", nil, "403 404 403 204 204 404 204"},

	{"POST /files/upload_sessions", func(s scene) any {
		return object{"folder_id": id(s.folder), "file_name": "new.bin", "file_size": 4}
	}, "403 404 403 201 201 404 201"},
	{"POST /files/{file_id}/upload_sessions", func(scene) any { return object{"file_size": 4} }, "403 404 403 201 201 404 201"},
	{"GET /files/upload_sessions/{upload_session_id}", nil, "403 404 404 404 200 404 404"},
	{"PUT /files/upload_sessions/{upload_session_id}", func(scene) any { return []byte("text") }, "403 404 404 404 200 404 404"},
	{"DELETE /files/upload_sessions/{upload_session_id}", nil, "403 404 404 404 204 404 404"},
	{"GET /files/upload_sessions/{upload_session_id}/parts", nil, "403 404 404 404 200 404 404"},
	{"POST /files/upload_sessions/{upload_session_id}/commit", func(s scene) any { return commitOf(s.part) }, "403 404 404 404 201 404 404"},

	{"POST /folders", func(s scene) any { return object{"name": "new", "parent": object{"id": id(s.folder)}} }, "403 404 403 201 201 404 201"},
	{"GET /folders/{folder_id}", nil, "403 404 200 200 200 404 200"},
	{"GET /folders/{folder_id}/items", nil, "403 404 200 200 200 404 200"},
	{"PUT /folders/{folder_id}", func(s scene) any { return object{"name": "new name of " + id(s.folder)} }, "403 404 403 200 200 404 200"},
	{"DELETE /folders/{folder_id}?recursive=true", nil, "403 404 403 204 204 404 204"},

	{"POST /collaborations", func(s scene) any {
		return object{"item": ref(s.folder, "folder"), "accessible_by": object{"type": "user", "login": "admin@example.com"}, "role": "viewer"}
	}, "403 404 403 201 201 404 201"},
	{"PUT /files/{file_id}?fields=shared_link", func(scene) any { return object{"shared_link": object{"access": "open"}} },
		"403 404 403 200 200 404 200"},
	{"GET /shared_items", nil, "403 200 200 200 200 200 200"}, // with the header for a link for the enterprise
	{"GET /collaborations?status=pending", nil, "403 200 200 200 200 200 200"},
	{"GET /files/{file_id}/collaborations", nil, "403 404 200 200 200 404 200"},
	{"GET /folders/{folder_id}/collaborations", nil, "403 404 200 200 200 404 200"},
	{"GET /collaborations/{collaboration_id}", nil, "403 404 200 200 200 404 200"},
	{"PUT /collaborations/{collaboration_id}", func(scene) any { return object{"role": "previewer"} }, "403 404 403 403 200 404 200"},
	{"DELETE /collaborations/{collaboration_id}", nil, "403 404 403 403 204 404 204"},

	{"OPTIONS /files/content", func(s scene) any { return object{"name": "new.txt", "parent": object{"id": id(s.folder)}, "size": 5} },
		"403 404 403 200 200 404 200"},
	{"OPTIONS /files/{file_id}/content", func(scene) any { return object{"size": 5} }, "403 404 403 200 200 404 200"},
	{"POST /files/{file_id}/copy", func(scene) any { return object{"parent": object{"id": "0"}} }, "403 404 201 201 201 404 201"},
	{"POST /folders/{folder_id}/copy", func(scene) any { return object{"parent": object{"id": "0"}, "name": "copy"} },
		"403 404 201 201 201 404 201"},
	{"GET /files/{file_id}/versions", nil, "403 404 200 200 200 404 200"},
	{"POST /files/{file_id}/versions/current", func(s scene) any { return ref(s.version, "file_version") }, "403 404 403 201 201 404 201"},
	{"GET /files/{file_id}/versions/{file_version_id}", nil, "403 404 200 200 200 404 200"},
	{"PUT /files/{file_id}/versions/{file_version_id}", func(scene) any { return object{"trashed_at": nil} }, "403 404 403 200 200 404 200"},
	{"DELETE /files/{file_id}/versions/{file_version_id}", nil, "403 404 403 204 204 404 204"},
	{"GET /folders/trash/items", nil, "403 200 200 200 200 200 200"},
	{"GET /files/{file_id}/trash", nil, "403 404 200 200 200 404 200"},
	{"POST /files/{file_id}", nil, "403 404 403 201 201 404 201"},
	{"DELETE /files/{file_id}/trash", nil, "403 404 403 403 204 404 204"},
	{"GET /folders/{folder_id}/trash", nil, "403 404 200 200 200 404 200"},
	{"POST /folders/{folder_id}", nil, "403 404 403 201 201 404 201"},
	{"DELETE /folders/{folder_id}/trash", nil, "403 404 403 403 204 404 204"},

	{"POST /archives", func(s scene) any { return object{"name": "new archive beside " + id(s.archive)} }, "403 403 403 403 403 403 201"},
	{"GET /archives", nil, "403 403 403 403 403 403 200"},
	{"PUT /archives/{archive_id}", func(s scene) any { return object{"name": "new name of " + id(s.archive)} }, "403 403 403 403 403 403 200"},
	{"DELETE /archives/{archive_id}", nil, "403 403 403 403 403 403 204"},
	{"GET /storage_policies", nil, "403 403 403 403 403 200 200"},
	{"GET /storage_policies/{storage_policy_id}", nil, "403 403 403 403 403 200 200"},

	{"GET /users/me", nil, "200 200 200 200 200 200 200"},
	{"GET /users", nil, "403 403 403 403 403 200 200"},
	{"POST /users", func(s scene) any { return object{"name": "Zoe", "login": fmt.Sprintf("zoe.%d@example.com", s.folder)} },
		"403 403 403 403 403 201 201"},
	{"GET /users/{user_id}", nil, "403 403 403 403 403 200 200"},
	{"PUT /users/{user_id}", func(scene) any { return object{"job_title": "Clerk"} }, "403 403 403 403 403 200 200"},
	{"DELETE /users/{user_id}", nil, "403 403 403 403 403 204 204"},
	{"PUT /users/{user_id}/folders/0", func(s scene) any { return object{"owned_by": object{"id": id(s.newOwner)}} },
		"403 403 403 403 403 403 200"},

	{"GET /audit_events", nil, "403 403 403 403 403 200 200"},
	{"POST /sessions", func(s scene) any { return object{"login": id(s.folder), "password": "not the password"} }, everybody("401")},
	{"GET /sessions", nil, "403 403 403 403 403 403 403"},    // tokens have no sessions
	{"DELETE /sessions", nil, "403 403 403 403 403 403 403"}, // nor can they end them
	{"DELETE /sessions/{session_id}", nil, "403 403 403 403 403 403 403"},
	{"POST /users/{user_id}/invitation", nil, "403 403 403 403 403 201 201"},
	{"POST /invitations/accept", func(scene) any { return object{"secret": "unknown", "password": "a new password"} }, everybody("401")},
	{"PUT /users/me/password", func(scene) any {
		return object{"current_password": "not the password", "new_password": "a new password"}
	}, "403 403 403 403 403 403 403"},
	{"GET /applications", nil, "403 403 403 403 403 200 200"},
	{"POST /applications", func(s scene) any { return object{"name": "new beside " + id(s.folder)} }, "403 403 403 403 403 201 201"},
	{"POST /applications/{application_id}/secret", nil, "403 403 403 403 403 201 201"},
	{"DELETE /applications/{application_id}", nil, "403 403 403 403 403 204 204"},
	{"GET /operations", nil, "403 403 403 403 403 200 200"},
	{"GET /events", nil, "403 200 200 200 200 200 200"},
	{"GET /events?stream_type=admin_logs", nil, "403 403 403 403 403 200 200"},
	{"OPTIONS /events", nil, "403 200 200 200 200 200 200"},
	{"GET /events/realtime?wait=0", nil, "403 200 200 200 200 200 200"},
	{"GET /tokens", nil, "200 200 200 200 200 200 200"},
	{"DELETE /tokens/{token_id}", nil, "403 404 404 404 204 204 204"},

	{"POST /webhooks", func(s scene) any {
		return object{"target": ref(s.file, "file"), "address": "https://hooks.example.com/", "triggers": []string{"FILE.MOVED"}}
	}, "403 404 201 201 201 404 201"},
	{"GET /webhooks", nil, "403 200 200 200 200 200 200"},
	{"GET /webhooks/{webhook_id}", nil, "403 404 404 404 200 404 404"},
	{"GET /webhooks/{webhook_id}/receiver", nil, "403 404 404 404 200 404 404"},
	{"PUT /webhooks/{webhook_id}", func(scene) any { return object{"status": "disabled"} }, "403 404 404 404 200 404 404"},
	{"DELETE /webhooks/{webhook_id}", nil, "403 404 404 404 204 404 404"},
	{"POST /webhooks/{webhook_id}/test", func(scene) any { return object{"trigger": "FOLDER.MOVED"} }, "403 404 404 404 202 404 404"},
	{"GET /webhook_deliveries", nil, "403 200 200 200 200 200 200"},
	{"GET /webhook_deliveries/{delivery_id}", nil, "403 404 404 404 200 200 200"},
	{"GET /webhook_deliveries/{delivery_id}/attempts", nil, "403 404 404 404 200 200 200"},
	{"POST /webhook_deliveries/{delivery_id}/replay", nil, "403 404 404 404 202 202 202"},
	{"POST /webhook_deliveries/replay", func(s scene) any { return object{"webhook_id": id(s.webhook)} }, "403 202 202 202 202 202 202"},
	{"GET /webhook_keys", nil, "403 403 403 403 403 200 200"},
	{"POST /webhook_keys/{slot}", nil, "403 403 403 403 403 201 201"},
	{"POST /webhook_listeners", func(s scene) any { return object{"target": ref(s.folder, "folder")} }, "403 404 201 201 201 404 201"},
	{"POST /webhook_listeners/{listener_id}/events", func(scene) any { return object{} }, "403 404 404 404 200 404 404"},
	{"DELETE /webhook_listeners/{listener_id}", nil, "403 404 404 404 204 404 404"},

	// These operations ignore the access token: the client authenticates itself.
	{"POST /oauth2/token", func(s scene) any {
		return s.client.form("grant_type", "client_credentials", "box_subject_type", "user", "box_subject_id", id(s.user))
	},
		everybody("200")},
	{"POST /oauth2/revoke", func(s scene) any { return s.client.form("token", "unknown") }, everybody("200")},
}

// everybody returns the same status for every caller, including the guest and the expired token.
func everybody(status string) string {
	return strings.TrimSpace(strings.Repeat(status+" ", len(callers)))
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

func ref(n int64, kind string) object { return object{"id": id(n), "type": kind} }

// batch returns a valid body of a batch.
func batch(s scene) object {
	return object{
		"file": ref(s.file, "file"), "input_source": "api", "destination_folder": ref(s.folder, "folder"), "output_type": "docx",
		"document_generation_data": []object{{"generated_file_name": "Letter", "user_input": object{"name": "Ada"}}},
	}
}

// at replaces the parameters of a route with the ids of a scene.
func at(route string, s scene) string {
	return strings.NewReplacer("{template_id}", id(s.file), "{file_id}", id(s.file), "{folder_id}", id(s.folder), "{batch_id}", s.batch,
		"{file_version_id}", id(s.version), "{job_id}", id(s.job), "{collaboration_id}", id(s.collaboration), "{user_id}", id(s.user),
		"{archive_id}", id(s.archive), "{webhook_id}", id(s.webhook),
		"{delivery_id}", id(s.delivery), "{listener_id}", id(s.listener), "{slot}", "primary", "{sample_name}", "paid", "{token_id}", id(s.token),
		"{storage_policy_id}", "1", "{ticket}", s.ticket, "{zip_download_id}", s.zip, "{session_id}", id(s.token),
		"{application_id}", id(s.client.ID),
		"{upload_session_id}", id(s.session), " /oauth2", " //oauth2").Replace(route)
}

func (c routeCase) statuses(t *testing.T) map[string]int {
	t.Helper()
	statuses := map[string]int{"guest": http.StatusUnauthorized, "expired": http.StatusUnauthorized}
	words := strings.Fields(c.want)
	for i, word := range words {
		status, err := strconv.Atoi(word)
		must(t, err)
		statuses[callers[i+len(callers)-len(words)]] = status
	}
	if len(statuses) != len(callers) {
		t.Fatalf("%s: a status for %d callers, want one for each of %v", c.route, len(statuses), callers)
	}
	return statuses
}

func TestEveryRouteForEveryCaller(t *testing.T) {
	runLong(t, func(w *world) {
		shared := w.scene()
		for _, c := range routeCases {
			for caller, want := range c.statuses(t) {
				w.t.Run(c.route+" as "+caller, func(t *testing.T) {
					s := shared
					if !strings.HasPrefix(c.route, "GET ") || needsPast(c.route) {
						s = w.scene()
					}
					if needsPast(c.route) {
						s = w.past(s, c.route)
					}
					if strings.Contains(c.route, "{ticket}") {
						s.ticket = w.ticket(s)
					}
					if strings.Contains(c.route, "{zip_download_id}") {
						s.zip = w.zip(s, strings.HasSuffix(c.route, "/status"))
					}
					header := http.Header{}
					if strings.HasPrefix(c.route, "GET /shared_items") {
						header = linkHeader(w.link(s.file, "company", ""))
					}
					if strings.HasSuffix(c.route, "/retry") {
						w.failJobs(s.batch)
					}
					if strings.Contains(c.route, "/webhook_listeners") {
						s.listener = w.listener(w.owner)
					}
					r := request{as: caller, header: header}
					if strings.Contains(c.route, "{upload_session_id}") {
						s.session, s.part = w.session(w.owner, s.folder)
						if r.header = partHeader("text"); !strings.HasPrefix(c.route, "PUT ") {
							r.header.Del("Content-Type")
						}
					}
					if caller == "scope" && strings.Contains(c.route, "/webhook") {
						r.as = "reading"
					}
					if c.body != nil {
						r.body = c.body(s)
					}
					res := w.do(at(c.route, s), r)
					if res.StatusCode != want {
						t.Errorf("status %d, want %d: %s", res.StatusCode, want, res.text)
					}
					if want >= 400 && strings.Contains(string(res.text), "Invoice") {
						t.Errorf("the error tells what the caller may not see: %s", res.text)
					}
				})
			}
		}
	})
}

// ticket returns a ticket of the owner for the file of a scene.
func (w *world) ticket(s scene) string {
	w.t.Helper()
	ticket, err := w.Ticket(w.t.Context(), w.owner, s.file, 0)
	must(w.t, err)
	return ticket
}

// zip creates a download of the folder of a scene by the owner, and returns its ticket. It can start it.
func (w *world) zip(s scene, start bool) string {
	w.t.Helper()
	made, err := w.CreateZip(w.t.Context(), w.owner, docgen.NewZip{Items: []docgen.ZipItem{{Kind: docgen.Folder, ID: s.folder}}})
	must(w.t, err)
	if start {
		bundle, err := w.StartZip(w.t.Context(), w.owner, made.ID)
		must(w.t, err)
		bundle.End(w.t.Context(), nil)
	}
	return made.Ticket
}

// listener creates a listener. Earlier ones expire first, because their number is limited.
func (w *world) listener(c *docgen.Caller) int64 {
	w.t.Helper()
	w.clock.Add(docgen.ListenerTimeout.Microseconds())
	made, err := w.CreateListener(w.t.Context(), c, docgen.WebhookTarget{Kind: docgen.Folder}, nil)
	must(w.t, err)
	return made.ID
}

// needsPast reports whether a route is about past versions or the trash.
func needsPast(route string) bool {
	return strings.Contains(route, "/versions") || strings.HasSuffix(route, "/trash") ||
		slices.Contains([]string{"POST /files/{file_id}", "POST /folders/{folder_id}"}, route)
}

// past adds a version to the scene's file, and moves the first version to the trash if the route restores it; or it
// returns the scene with a file and a folder that are in the trash.
func (w *world) past(s scene, route string) scene {
	w.t.Helper()
	ctx := w.t.Context()
	if strings.Contains(route, "/versions") {
		_, err := w.CreateVersion(ctx, w.owner, docgen.NewVersion{FileID: s.file}, strings.NewReader("newer"))
		must(w.t, err)
		if strings.HasPrefix(route, "PUT ") {
			must(w.t, w.TrashVersion(ctx, w.owner, s.file, s.version, ""))
		}
		return s
	}
	file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: "Invoice of old.docx", ParentID: s.folder}, strings.NewReader("x"))
	must(w.t, err)
	folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "Invoices of old", ParentID: s.folder})
	must(w.t, err)
	must(w.t, w.TrashFile(ctx, w.owner, file.ID, ""))
	must(w.t, w.TrashFolder(ctx, w.owner, folder.ID, true, ""))
	s.file, s.folder = file.ID, folder.ID
	return s
}

// TestEveryRouteIsInTheTable checks that the table has a case for every route in the OpenAPI document, including guests
// and other users.
func TestEveryRouteIsInTheTable(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		var document struct {
			Paths map[string]map[string]json.RawMessage
		}
		must(w.t, json.Unmarshal(w.do("GET //openapi.json", request{}).text, &document))
		var routes []string
		for path, methods := range document.Paths {
			for method := range methods {
				routes = append(routes, strings.ToUpper(method)+" "+path)
			}
		}
		var tested []string
		for _, c := range routeCases {
			route, _, _ := strings.Cut(c.route, "?")
			tested = append(tested, route)
			for _, caller := range []string{"guest", "other"} {
				if _, ok := c.statuses(w.t)[caller]; !ok {
					w.t.Errorf("%s: nothing is said of %s", route, caller)
				}
			}
		}
		slices.Sort(routes)
		slices.Sort(tested)
		tested = slices.Compact(tested) // some have several cases
		if !slices.Equal(routes, tested) {
			w.t.Errorf("documented routes:\n%s\nroutes in the table:\n%s", strings.Join(routes, "\n"), strings.Join(tested, "\n"))
		}
	})
}
