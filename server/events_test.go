package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// watched is a folder of the owner with its content, a webhook for all triggers, and a second folder next to it.
type watched struct {
	*world
	t                               *testing.T
	folder, file, inside, neighbour int64
	webhook                         string
}

// happened is a notification for a webhook.
type happened struct {
	kind, id string // of the source
	info     any    // an empty list if nil
	get      string // the request that returns the current state of the source; empty for none
	as       string // the actor; the owner if empty
	webhook  string // the notified webhook; "" means the webhook on the folder
}

// eventCases has, for every trigger that is fired, the operations that fire it.
var eventCases = map[docgen.Trigger]func(w *watched) happened{
	docgen.FileUploaded: func(w *watched) happened {
		attributes := fmt.Sprintf(`{"name":"Größe 😀.txt","parent":{"id":"%d"}}`, w.inside)
		made := w.ok("POST /files/content", form{{"attributes", attributes}, {"file", "text"}})["entries"].([]any)[0].(object)["id"].(string)
		return happened{kind: "file", id: made, get: "/files/" + made}
	},
	docgen.FileDownloaded: func(w *watched) happened {
		if res := w.do("GET "+w.path("file")+"/content", request{}); res.StatusCode != http.StatusOK {
			w.t.Errorf("status %d", res.StatusCode)
		}
		return w.fileIs(nil)
	},
	docgen.FileTrashed: func(w *watched) happened {
		w.ok("DELETE "+w.path("file"), nil)
		return happened{kind: "file", id: id(w.file), get: w.path("file") + "/trash"}
	},
	docgen.FileDeleted: func(w *watched) happened {
		w.ok("DELETE "+w.path("file"), nil)
		w.ok("DELETE "+w.path("file")+"/trash", nil)
		return happened{kind: "file", id: id(w.file)}
	},
	docgen.FileRestored: func(w *watched) happened {
		w.ok("DELETE "+w.path("file"), nil)
		w.ok("POST "+w.path("file"), nil)
		return w.fileIs(nil)
	},
	docgen.FileCopied: func(w *watched) happened {
		made := w.ok("POST "+w.path("file")+"/copy", object{"parent": object{"id": id(w.neighbour)}})
		return w.fileIs(object{"copy": object{"id": made["id"], "type": "file"}})
	},
	docgen.FileMoved: func(w *watched) happened {
		w.ok("PUT "+w.path("file"), object{"parent": object{"id": id(w.neighbour)}})
		return w.fileIs(object{"before": ref(w.folder, "folder"), "after": ref(w.neighbour, "folder")})
	},
	docgen.FileRenamed: func(w *watched) happened {
		w.ok("PUT "+w.path("file"), object{"name": "Other.docx"})
		return w.fileIs(object{"old_name": "Letter.docx"})
	},
	docgen.FolderCreated: func(w *watched) happened {
		made := w.ok("POST /folders", object{"name": "New", "parent": object{"id": id(w.inside)}})["id"].(string)
		return happened{kind: "folder", id: made, get: "/folders/" + made}
	},
	docgen.FolderDownloaded: func(w *watched) happened {
		made := w.ok("POST /zip_downloads", object{"items": []object{ref(w.inside, "folder")}})
		_, path, _ := strings.Cut(made["download_url"].(string), "/2.0")
		if res := w.do("GET "+path, request{as: "guest"}); res.StatusCode != http.StatusOK {
			w.t.Errorf("status %d", res.StatusCode)
		}
		return w.insideIs(nil)
	},
	docgen.FolderTrashed: func(w *watched) happened {
		w.ok("DELETE "+w.path("folder"), nil)
		return happened{kind: "folder", id: id(w.inside), get: w.path("folder") + "/trash"}
	},
	docgen.FolderDeleted: func(w *watched) happened {
		w.ok("DELETE "+w.path("folder"), nil)
		w.ok("DELETE "+w.path("folder")+"/trash", nil)
		return happened{kind: "folder", id: id(w.inside)}
	},
	docgen.FolderRestored: func(w *watched) happened {
		w.ok("DELETE "+w.path("folder"), nil)
		w.ok("POST "+w.path("folder"), nil)
		return w.insideIs(nil)
	},
	docgen.FolderCopied: func(w *watched) happened {
		made := w.ok("POST "+w.path("folder")+"/copy", object{"parent": object{"id": id(w.neighbour)}})
		return w.insideIs(object{"copy": object{"id": made["id"], "type": "folder"}})
	},
	docgen.FolderMoved: func(w *watched) happened {
		w.ok("PUT "+w.path("folder"), object{"parent": object{"id": "0"}})
		return w.insideIs(object{"before": ref(w.folder, "folder"), "after": ref(0, "folder")})
	},
	docgen.FolderRenamed: func(w *watched) happened {
		w.ok("PUT "+w.path("folder"), object{"name": "Renamed " + id(w.inside)})
		return w.insideIs(object{"old_name": "Inside"})
	},
	docgen.CollaborationWasCreated: func(w *watched) happened { return w.shared("other") },
	docgen.CollaborationWasUpdated: func(w *watched) happened {
		h := w.shared("other")
		w.ok("PUT "+h.get, object{"role": "editor"})
		return h
	},
	docgen.CollaborationWasRemoved: func(w *watched) happened {
		h := w.shared("other")
		w.ok("DELETE "+h.get, nil)
		h.get = ""
		return h
	},
	docgen.CollaborationWasAccepted: func(w *watched) happened { return w.invited("accepted") },
	docgen.CollaborationWasRejected: func(w *watched) happened { return w.invited("rejected") },
	docgen.SharedLinkCreated: func(w *watched) happened {
		w.ok("PUT "+w.path("file"), object{"shared_link": object{}})
		return w.fileIs(nil)
	},
	docgen.SharedLinkUpdated: func(w *watched) happened {
		w.ok("PUT "+w.path("folder"), object{"shared_link": object{}})
		w.ok("PUT "+w.path("folder"), object{"shared_link": object{}}) // changes nothing
		w.ok("PUT "+w.path("folder"), object{"shared_link": object{"access": "open"}})
		return w.insideIs(nil)
	},
	docgen.SharedLinkDeleted: func(w *watched) happened {
		w.ok("PUT "+w.path("file"), object{"shared_link": object{}})
		w.ok("PUT "+w.path("file"), object{"shared_link": nil})
		w.ok("PUT "+w.path("file"), object{"shared_link": nil}) // changes nothing
		return w.fileIs(nil)
	},
	docgen.DocumentStarted: func(w *watched) happened {
		info, _ := w.generating()
		return w.fileIs(with(info, object{"status": "submitted"}))
	},
	docgen.DocumentSucceeded: func(w *watched) happened {
		info, claim := w.generating()
		output, err := w.SaveOutput(w.t.Context(), claim.Jobs[0], strings.NewReader("document"))
		must(w.t, err)
		_, err = w.CompleteJobs(w.t.Context(), claim, []docgen.Result{{Job: claim.Jobs[0], Output: &output}})
		must(w.t, err)
		job := w.ok("GET /docgen_jobs/"+id(claim.Jobs[0].ID), nil)
		return w.fileIs(with(info, object{"status": "completed", "output_file": job["output_file"]}))
	},
	docgen.DocumentFailed: func(w *watched) happened {
		info, claim := w.generating()
		_, err := w.CompleteJobs(w.t.Context(), claim,
			[]docgen.Result{{Job: claim.Jobs[0], Failures: docgen.Failures{Errors: []string{"No name.", "No sum."}}}})
		must(w.t, err)
		return w.fileIs(with(info, object{"status": "failed", "reason": "No name.\nNo sum."}))
	},
	docgen.WebhookDeleted: func(w *watched) happened {
		hook := w.ok("POST /webhooks", hookOn(ref(w.inside, "folder"), "FILE.MOVED"))["id"].(string)
		w.ok("DELETE "+w.path("folder"), nil)
		w.ok("DELETE "+w.path("folder")+"/trash", nil)
		return happened{kind: "webhook", id: hook, webhook: hook, info: object{"reason": "target_deleted"}}
	},
}

// ok sends a request as the owner that must succeed.
func (w *watched) ok(call string, body any) object {
	w.t.Helper()
	res := w.do(call, request{body: body})
	if res.StatusCode >= 300 {
		w.t.Fatalf("%s: status %d: %s", call, res.StatusCode, res.text)
	}
	return res.want(w.t, res.StatusCode)
}

// path returns the path of the file, or of the folder inside.
func (w *watched) path(kind string) string {
	if kind == "file" {
		return "/files/" + id(w.file)
	}
	return "/folders/" + id(w.inside)
}

func (w *watched) fileIs(info any) happened {
	return happened{kind: "file", id: id(w.file), info: info, get: w.path("file")}
}

func (w *watched) insideIs(info any) happened {
	return happened{kind: "folder", id: id(w.inside), info: info, get: w.path("folder")}
}

// shared shares the folder with a user.
func (w *watched) shared(with string) happened {
	made := w.ok("POST /collaborations", collaborate(scene{folder: w.folder}, with+"@example.com", "viewer"))["id"].(string)
	return happened{kind: "collaboration", id: made, get: "/collaborations/" + made}
}

// invited has a new user answer an invitation.
func (w *watched) invited(answer string) happened {
	h := w.shared(answer)
	w.user(answer)
	w.tokens[answer] = w.token(answer, 0)
	w.do("PUT "+h.get, request{as: answer, body: object{"status": answer}}).want(w.t, 200)
	h.as = answer
	return h
}

// generating starts a job with the file as its template, and returns its representation in events.
func (w *watched) generating() (object, *docgen.Claim) {
	ctx := w.t.Context()
	w.ok("POST /docgen_templates", object{"file": ref(w.file, "file")})
	template := w.ok("GET "+w.path("file"), nil)
	version := template["file_version"].(object)["id"]
	body := with(batch(scene{file: w.file, folder: w.neighbour}), object{"destination_folder": ref(0, "folder")})
	made := w.ok("POST /docgen_batches", body)["id"].(string)
	job := w.ok("GET /docgen_batch_jobs/"+made, nil)["entries"].([]any)[0].(object)["id"].(string)
	claim := claimBatch(ctx, w.t, w.Service, w.owner.User.ID, docgen.LaneDocx, made)
	return object{
		"batch": object{"id": made, "type": "docgen_batch"}, "job": object{"id": job, "type": "docgen_job"}, "status": "pending",
		"template_file":         object{"id": id(w.file), "type": "file", "name": template["name"]},
		"template_file_version": object{"id": version, "type": "file_version"}, "destination_folder": ref(0, "folder"),
		"output_file": nil, "output_type": "docx", "reason": nil,
	}, claim
}

// watched creates a folder to watch.
func (w *world) watched(t *testing.T) *watched {
	t.Helper()
	ctx := t.Context()
	folder := func(name string, parent int64) int64 {
		made, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: name, ParentID: parent})
		must(t, err)
		return made.ID
	}
	n := w.clock.Add(1)
	of := &watched{world: w, t: t, folder: folder(fmt.Sprint("Watched ", n), 0), neighbour: folder(fmt.Sprint("Neighbour ", n), 0)}
	of.inside = folder("Inside", of.folder)
	file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: "Letter.docx", ParentID: of.folder}, strings.NewReader("{{ name }}"))
	must(t, err)
	of.file = file.ID
	var all []string
	for _, rule := range docgen.Triggers() {
		if !rule.NotSelectable {
			all = append(all, string(rule.Trigger))
		}
	}
	of.webhook = of.ok("POST /webhooks", hookOn(ref(of.folder, "folder"), all...))["id"].(string)
	return of
}

// TestEveryEvent triggers every event of webhooks, and checks the notifications.
func TestEveryEvent(t *testing.T) {
	run(t, func(w *world) {
		for _, rule := range docgen.Triggers() {
			cause, ok := eventCases[rule.Trigger]
			if ok != rule.Fired {
				w.t.Errorf("%s: fired %v, with a case here %v", rule.Trigger, rule.Fired, ok)
			}
			if ok {
				w.t.Run(string(rule.Trigger), func(t *testing.T) {
					of := w.watched(t)
					of.notifies(rule.Trigger, cause(of))
				})
			}
		}
	})
}

// notifies finds the only delivery of a trigger, and checks its body.
func (w *watched) notifies(trigger docgen.Trigger, h happened) {
	w.t.Helper()
	if h.webhook == "" {
		h.webhook = w.webhook
	}
	if h.as == "" {
		h.as = "owner"
	}
	list := w.ok("GET /webhook_deliveries?webhook_id="+h.webhook+"&trigger="+string(trigger), nil)["entries"].([]any)
	if len(list) != 1 {
		w.t.Fatalf("there are %d deliveries, want one: %v", len(list), list)
	}
	delivery := w.ok("GET /webhook_deliveries/"+list[0].(object)["id"].(string), nil)
	body := w.notification(w.t, delivery)
	source := body["source"].(object)
	want := object{
		"type": "webhook_event", "id": delivery["event_id"], "created_at": delivery["created_at"], "trigger": string(trigger),
		"webhook": object{"id": h.webhook, "type": "webhook"}, "created_by": object{
			"type": "user", "id": id(w.userID(h.as)), "name": w.caller(h.as).User.Name, "login": h.as + "@example.com",
		}, "source": source, "additional_info": h.info,
	}
	if h.info == nil {
		want["additional_info"] = []any{}
	}
	if fmt.Sprint(body) != fmt.Sprint(want) {
		w.t.Errorf("got %v\nwant %v", body, want)
	}
	if source["type"] != h.kind || source["id"] != h.id {
		w.t.Errorf("the source is %v %v, want %s %s", source["type"], source["id"], h.kind, h.id)
	}
	if h.get != "" {
		now := w.do("GET "+h.get, request{}).want(w.t, 200)
		delete(now, "item_collection")
		if fmt.Sprint(source) != fmt.Sprint(now) {
			w.t.Errorf("the source is\n%v\nGET %s answers\n%v", source, h.get, now)
		}
	}
}

// notification decodes the body of a delivery, and validates it against the OpenAPI document.
func (w *world) notification(t *testing.T, delivery object) object {
	t.Helper()
	text := delivery["body"].(string)
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
		t.Errorf("the body has more than ASCII at %d: %s", i, text)
	}
	var body object
	must(t, json.Unmarshal([]byte(text), &body))
	if err := w.api.validate("/components/schemas/Notification", body); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	return body
}

// TestTestEvents sends a test event for every trigger.
func TestTestEvents(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		onFile := w.do("POST /webhooks", request{body: hookOn(ref(s.file, "file"), "FILE.MOVED")}).want(w.t, 201)["id"].(string)
		for _, rule := range docgen.Triggers() {
			for hook, target := range map[string]object{id(s.webhook): ref(s.folder, "folder"), onFile: ref(s.file, "file")} {
				res := w.do("POST /webhooks/"+hook+"/test", request{body: object{"trigger": rule.Trigger}})
				if hook == onFile && !rule.Files && rule.Trigger != docgen.WebhookDeleted {
					if got := problems(res.want(w.t, 400, "bad_request")); !slices.Equal(got, []string{"invalid_parameter trigger"}) {
						w.t.Errorf("%s on a file: %q", rule.Trigger, got)
					}
					continue
				}
				sent := res.want(w.t, 202)
				body := w.notification(w.t, sent)
				if rule.Trigger == docgen.WebhookDeleted {
					target = object{"id": hook, "type": "webhook"}
				}
				source := body["source"].(object)
				if sent["state"] != "pending" || sent["trigger"] != string(rule.Trigger) || body["trigger"] != string(rule.Trigger) ||
					body["id"] != sent["event_id"] ||
					source["id"] != target["id"] || source["type"] != target["type"] || fmt.Sprint(body["additional_info"]) != "map[test:true]" {
					w.t.Errorf("%s: sent %v", rule.Trigger, sent)
				}
			}
		}
		w.do("POST /webhooks/"+onFile+"/test", request{body: object{"trigger": "FILE.EATEN"}}).want(w.t, 400, "bad_request")
		w.do("PUT /webhooks/"+onFile, request{body: object{"status": "disabled"}}).want(w.t, 200)
		w.do("POST /webhooks/"+onFile+"/test", request{body: object{"trigger": "FILE.MOVED"}}).want(w.t, 409, "conflict")
	})
}
