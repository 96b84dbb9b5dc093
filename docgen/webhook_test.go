package docgen_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// hook creates a webhook on a folder with triggers.
func (w *world) hook(c *docgen.Caller, folder int64, triggers ...docgen.Trigger) *docgen.Webhook {
	w.t.Helper()
	return w.hookOn(c, docgen.Folder, folder, triggers...)
}

func (w *world) hookOn(c *docgen.Caller, kind docgen.Kind, id int64, triggers ...docgen.Trigger) *docgen.Webhook {
	w.t.Helper()
	made, err := w.CreateWebhook(w.t.Context(), c, docgen.NewWebhook{
		TargetKind: kind, TargetID: id, Address: "https://example.com/hook", Triggers: triggers,
	})
	must(w.t, err)
	return made
}

// notices returns the notifications for a webhook in the order of their events: the trigger, and the kind and name of the source.
func (w *world) notices(webhook int64) []string {
	w.t.Helper()
	notices := []string{}
	for _, body := range query[string](w,
		fmt.Sprint("SELECT body FROM webhook_deliveries JOIN webhook_bodies ON delivery_id = id WHERE webhook_id = ", webhook, " ORDER BY id")) {
		var n struct {
			Trigger docgen.Trigger
			Source  docgen.Source
		}
		must(w.t, json.Unmarshal([]byte(body), &n))
		name := "-"
		if n.Source.Item != nil {
			name = n.Source.Item.Name
		}
		notices = append(notices, fmt.Sprint(n.Trigger, " ", n.Source.Type, " ", name))
	}
	return notices
}

func (w *world) wantNotices(webhook int64, want ...string) {
	w.t.Helper()
	if got := w.notices(webhook); !slices.Equal(got, want) {
		w.t.Errorf("the webhook got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// every returns every trigger that is valid for a webhook on a folder.
func every() []docgen.Trigger {
	var triggers []docgen.Trigger
	for _, rule := range docgen.Triggers() {
		if !rule.NotSelectable {
			triggers = append(triggers, rule.Trigger)
		}
	}
	return triggers
}

func TestWebhooks(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "inbox")
		made := w.hook(w.alice, folder, docgen.FileUploaded, docgen.FileUploaded, "FILE.PREVIEWED")
		want := docgen.Webhook{
			ID: made.ID, TargetKind: docgen.Folder, TargetID: folder, Address: "https://example.com/hook",
			Triggers: []docgen.Trigger{docgen.FileUploaded, "FILE.PREVIEWED"}, CreatedBy: docgen.UserRef{ID: w.alice.User.ID, Name: "alice",
				Login: "alice@example.com"},
			CreatedAt: noon, Status: docgen.WebhookActive,
		}
		if fmt.Sprintf("%+v", *made) != fmt.Sprintf("%+v", want) {
			t.Errorf("created %+v, want %+v", *made, want)
		}
		t.Run("are one for a target", func(t *testing.T) {
			_, err := w.CreateWebhook(ctx, w.alice, docgen.NewWebhook{
				TargetKind: docgen.Folder, TargetID: folder, Address: "https://example.org/", Triggers: []docgen.Trigger{docgen.FolderCreated},
			})
			wantCode(t, err, docgen.CodeConflict)
			other := w.hook(w.alice, w.folder(w.alice, folder, "below"), docgen.FileUploaded)
			_, err = w.UpdateWebhook(ctx, w.alice, other.ID, docgen.WebhookChange{Target: &docgen.WebhookTarget{Kind: docgen.Folder, ID: folder}})
			wantCode(t, err, docgen.CodeConflict)
			must(t, w.DeleteWebhook(ctx, w.alice, other.ID))
		})
		t.Run("are their owner's", func(t *testing.T) {
			w.share(docgen.Folder, folder, w.bob, docgen.RoleCoOwner)
			_, err := w.Webhook(ctx, w.bob, made.ID)
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.UpdateWebhook(ctx, w.bob, made.ID, docgen.WebhookChange{})
			wantCode(t, err, docgen.CodeNotFound)
			wantCode(t, w.DeleteWebhook(ctx, w.bob, made.ID), docgen.CodeNotFound)
			w.hook(w.bob, folder, docgen.FileUploaded)
		})
		t.Run("are changed", func(t *testing.T) {
			changed, err := w.UpdateWebhook(ctx, w.alice, made.ID, docgen.WebhookChange{
				Address: new("https://example.net/"), Triggers: []docgen.Trigger{docgen.FolderCreated}, Status: new(docgen.WebhookDisabled),
			})
			must(t, err)
			if changed.Address != "https://example.net/" || changed.Status != docgen.WebhookDisabled || changed.Reason == "" ||
				len(changed.Triggers) != 1 {
				t.Errorf("changed to %+v", changed)
			}
			w.folder(w.alice, folder, "unheard")
			w.wantNotices(made.ID)
			_, err = w.UpdateWebhook(ctx, w.alice, made.ID, docgen.WebhookChange{Status: new(docgen.WebhookActive)})
			must(t, err)
			w.folder(w.alice, folder, "polled")
			w.wantNotices(made.ID, "FOLDER.CREATED folder polled")
		})
		t.Run("end", func(t *testing.T) {
			must(t, w.DeleteWebhook(ctx, w.alice, made.ID))
			wantCode(t, w.DeleteWebhook(ctx, w.alice, made.ID), docgen.CodeNotFound)
			if states := query[string](w, fmt.Sprint("SELECT state FROM webhook_deliveries WHERE webhook_id = ",
				made.ID)); !slices.Equal(states, []string{"canceled"}) {
				t.Errorf("undelivered notifications have the states %q", states)
			}
			w.hook(w.alice, folder, docgen.FileUploaded)
		})
	})
}

func TestWebhookProblems(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		file := w.upload(w.alice, 0, "file.txt", "text").ID
		hidden := w.folder(w.bob, 0, "bob's")
		trashed := w.folder(w.alice, 0, "trashed")
		must(t, w.TrashFolder(t.Context(), w.alice, trashed, false, ""))
		good := docgen.NewWebhook{TargetKind: docgen.File, TargetID: file, Address: "https://example.com/",
			Triggers: []docgen.Trigger{docgen.FileTrashed}}
		for _, tt := range []struct {
			name   string
			change func(*docgen.NewWebhook)
			code   docgen.Code
			fields []string
		}{
			{"root folder", func(n *docgen.NewWebhook) { n.TargetKind, n.TargetID = docgen.Folder, 0 }, docgen.CodeBadRequest,
				[]string{"target.id"}},
			{"no triggers", func(n *docgen.NewWebhook) { n.Triggers = nil }, docgen.CodeBadRequest, []string{"triggers"}},
			{"unknown trigger", func(n *docgen.NewWebhook) { n.Triggers = []docgen.Trigger{docgen.FileTrashed, "FILE.EATEN"} },
				docgen.CodeBadRequest, []string{"triggers[1]"}},
			{"trigger of folders", func(n *docgen.NewWebhook) { n.Triggers = []docgen.Trigger{docgen.FileUploaded} }, docgen.CodeBadRequest,
				[]string{"triggers[0]"}},
			{"reserved trigger", func(n *docgen.NewWebhook) { n.Triggers = []docgen.Trigger{docgen.WebhookDeleted} }, docgen.CodeBadRequest,
				[]string{"triggers[0]"}},
			{"no address", func(n *docgen.NewWebhook) { n.Address = "" }, docgen.CodeBadRequest, []string{"address"}},
			{"address with NUL", func(n *docgen.NewWebhook) { n.Address = "https://example.com/\x00" }, docgen.CodeBadRequest, []string{"address"}},
			{"all at once", func(n *docgen.NewWebhook) {
				n.TargetKind, n.TargetID, n.Address, n.Triggers = docgen.Folder, 0, "", []docgen.Trigger{"X"}
			}, docgen.CodeBadRequest, []string{"target.id", "triggers[0]", "address"}},
			{"hidden target", func(n *docgen.NewWebhook) { n.TargetKind, n.TargetID = docgen.Folder, hidden }, docgen.CodeNotFound,
				[]string{"folder"}},
			{"another kind", func(n *docgen.NewWebhook) { n.TargetKind = docgen.Folder }, docgen.CodeNotFound, []string{"folder"}},
			{"trashed target", func(n *docgen.NewWebhook) { n.TargetKind, n.TargetID = docgen.Folder, trashed }, docgen.CodeTrashed,
				[]string{"folder"}},
		} {
			n := good
			tt.change(&n)
			_, err := w.CreateWebhook(t.Context(), w.alice, n)
			wantCode(t, err, tt.code)
			if got := problemNames(t, err); !slices.Equal(got, tt.fields) {
				t.Errorf("%s: problems with %q, want %q", tt.name, got, tt.fields)
			}
		}
	})
}

// TestWebhookLimit creates the maximum number of webhooks at the same moment.
func TestWebhookLimit(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		folder := w.folder(w.alice, 0, "folder")
		first := w.hook(w.alice, folder, docgen.FileUploaded)
		must(t, w.exec(fmt.Sprintf(`INSERT INTO webhooks (id, application_id, created_by, global_content, slot, target_kind, target_id,
			address, triggers, status, reason, created_at, ended_at, expires_at)
			SELECT n, application_id, created_by, global_content, 0, target_kind, n, address, triggers, status, reason, created_at, 0, 0
			FROM webhooks, (WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d) SELECT n FROM numbers)
				AS many WHERE id = %d`,
			docgen.MaxWebhooks-3, first.ID)))
		folders := []int64{}
		for i := range 6 {
			folders = append(folders, w.folder(w.alice, folder, fmt.Sprint(i)))
		}
		failed := make(chan error, len(folders))
		for _, id := range folders {
			go func() {
				_, err := w.CreateWebhook(t.Context(), w.alice, docgen.NewWebhook{
					TargetKind: docgen.Folder, TargetID: id, Address: "https://example.com/", Triggers: []docgen.Trigger{docgen.FileUploaded},
				})
				failed <- err
			}()
		}
		made := 0
		for range folders {
			if err := <-failed; err == nil {
				made++
			} else {
				wantCode(t, err, docgen.CodeBadRequest)
			}
		}
		if made != 2 {
			t.Errorf("%d webhooks were made, want 2", made)
		}
	})
}

// TestEvents triggers events, and checks the notifications of every webhook.
func TestEvents(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		in, out := w.folder(w.alice, 0, "in"), w.folder(w.alice, 0, "out")
		below := w.folder(w.alice, in, "below")
		inside, outside := w.hook(w.alice, in, every()...), w.hook(w.alice, out, every()...)

		file := w.upload(w.alice, below, "a.txt", "text").ID
		onFile := w.hookOn(w.alice, docgen.File, file, docgen.FileMoved, docgen.FileTrashed, docgen.FileDeleted, docgen.FileRenamed)
		w.version(w.alice, file, "more text")
		_, err := w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: file, Name: "b.txt"}, reader("renamed"))
		must(t, err)
		w.text(w.alice, file, 0)
		_, err = w.UpdateFile(ctx, w.alice, file, docgen.ItemChange{Description: new("only described")})
		must(t, err)
		_, err = w.UpdateFile(ctx, w.alice, file, docgen.ItemChange{Name: new("c.txt"), ParentID: &in})
		must(t, err)
		_, err = w.UpdateFile(ctx, w.alice, file, docgen.ItemChange{ParentID: &out})
		must(t, err)
		_, err = w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: file, ParentID: in, Name: "copy.txt"})
		must(t, err)
		must(t, w.TrashFile(ctx, w.alice, file, ""))
		_, err = w.Restore(ctx, w.alice, docgen.File, file, docgen.Restoration{})
		must(t, err)
		must(t, w.TrashFile(ctx, w.alice, file, ""))
		must(t, w.Purge(ctx, w.alice, docgen.File, file))

		w.wantNotices(inside.ID,
			"FILE.UPLOADED file a.txt", "FILE.UPLOADED file a.txt", "FILE.UPLOADED file b.txt", "FILE.RENAMED file b.txt",
			"FILE.DOWNLOADED file b.txt",
			"FILE.RENAMED file c.txt", "FILE.MOVED file c.txt", "FILE.MOVED file c.txt", "FILE.UPLOADED file copy.txt")
		w.wantNotices(outside.ID,
			"FILE.MOVED file c.txt", "FILE.UPLOADED file c.txt", "FILE.COPIED file c.txt", "FILE.TRASHED file c.txt", "FILE.RESTORED file c.txt",
			"FILE.TRASHED file c.txt", "FILE.DELETED file c.txt")
		w.wantNotices(onFile.ID,
			"FILE.RENAMED file b.txt", "FILE.RENAMED file c.txt", "FILE.MOVED file c.txt", "FILE.MOVED file c.txt", "FILE.TRASHED file c.txt",
			"FILE.TRASHED file c.txt", "FILE.DELETED file c.txt", "WEBHOOK.DELETED webhook -")
		_, err = w.Webhook(ctx, w.alice, onFile.ID)
		wantCode(t, err, docgen.CodeNotFound)
	})
}

func TestEventsOfFolders(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		in, out := w.folder(w.alice, 0, "in"), w.folder(w.alice, 0, "out")
		inside, outside := w.hook(w.alice, in, every()...), w.hook(w.alice, out, every()...)
		folder := w.folder(w.alice, in, "drafts")
		deep := w.upload(w.alice, folder, "deep.txt", "text").ID
		onDeep := w.hookOn(w.alice, docgen.File, deep, docgen.FileDeleted)
		_, err := w.UpdateFolder(ctx, w.alice, folder, docgen.ItemChange{Name: new("renamed")})
		must(t, err)
		_, err = w.CopyFolder(ctx, w.alice, docgen.NewCopy{ItemID: folder, ParentID: out, Name: "copy"})
		must(t, err)
		_, err = w.UpdateFolder(ctx, w.alice, folder, docgen.ItemChange{ParentID: &out})
		must(t, err)
		w.version(w.alice, deep, "polled out there now")
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		_, err = w.Restore(ctx, w.alice, docgen.Folder, folder, docgen.Restoration{Name: "back"})
		must(t, err)
		must(t, w.TrashFolder(ctx, w.alice, folder, true, ""))
		must(t, w.Purge(ctx, w.alice, docgen.Folder, folder))

		w.wantNotices(inside.ID,
			"FOLDER.CREATED folder drafts", "FILE.UPLOADED file deep.txt", "FOLDER.RENAMED folder renamed", "FOLDER.COPIED folder renamed",
			"FOLDER.MOVED folder renamed")
		w.wantNotices(outside.ID,
			"FOLDER.CREATED folder copy", "FOLDER.MOVED folder renamed", "FILE.UPLOADED file deep.txt", "FOLDER.TRASHED folder renamed",
			"FOLDER.RESTORED folder back", "FOLDER.TRASHED folder back", "FOLDER.DELETED folder back")
		w.wantNotices(onDeep.ID, "FILE.DELETED file deep.txt", "WEBHOOK.DELETED webhook -")
	})
}

func TestEventsOfCollaborations(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		polled := w.hook(w.alice, folder, every()...)
		shared := w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
		_, err := w.UpdateCollaboration(ctx, w.alice, shared.ID, docgen.CollaborationChange{Role: docgen.RoleEditor})
		must(t, err)
		must(t, w.DeleteCollaboration(ctx, w.bob, shared.ID))
		for _, answer := range []string{docgen.CollaborationAccepted, docgen.CollaborationRejected} {
			invitation, err := w.CreateCollaboration(ctx, w.alice, docgen.NewCollaboration{
				ItemKind: docgen.Folder, ItemID: folder, Login: answer + "@example.com", Role: docgen.RoleViewer,
			})
			must(t, err)
			_, err = w.UpdateCollaboration(ctx, w.user(answer), invitation.ID, docgen.CollaborationChange{Status: answer})
			must(t, err)
		}
		w.wantNotices(polled.ID,
			"COLLABORATION.CREATED collaboration -", "COLLABORATION.UPDATED collaboration -", "COLLABORATION.REMOVED collaboration -",
			"COLLABORATION.CREATED collaboration -", "COLLABORATION.ACCEPTED collaboration -",
			"COLLABORATION.CREATED collaboration -", "COLLABORATION.REJECTED collaboration -")
	})
}

// TestEventsOfBatches generates documents: webhooks on the template are notified of jobs, and webhooks on the destination of files.
func TestEventsOfBatches(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		templates, output := w.folder(w.alice, 0, "templates"), w.folder(w.alice, 0, "output")
		template := w.template(w.alice, templates, "letter.docx")
		onTemplate := w.hookOn(w.alice, docgen.File, template.ID, docgen.DocumentStarted, docgen.DocumentSucceeded, docgen.DocumentFailed)
		onFolder, onOutput := w.hook(w.alice, templates, docgen.DocumentFailed), w.hook(w.alice, output, docgen.FileUploaded,
			docgen.DocumentSucceeded)
		id, err := w.CreateBatch(ctx, w.alice, batchOf(template.ID, output, `{"a":1}`, `{"a":2}`))
		must(t, err)
		claim := func() *docgen.Claim {
			claim, err := w.ClaimBatch(ctx, id)
			must(t, err)
			return claim
		}
		claim() // and its process crashes
		held := claim()
		document, err := w.SaveOutput(ctx, held.Jobs[0], reader("a document"))
		must(t, err)
		_, err = w.CompleteJobs(ctx, held, []docgen.Result{
			{Job: held.Jobs[0], Output: &document}, {Job: held.Jobs[1], Failures: docgen.Failures{Errors: []string{"no paper"}}},
		})
		must(t, err)
		_, err = w.CompleteJobs(ctx, held, []docgen.Result{{Job: held.Jobs[1], Failures: docgen.Failures{Errors: []string{"late"}}}})
		must(t, err)
		const started, ended = "DOCGEN_DOCUMENT_GENERATION_STARTED file letter.docx", "DOCGEN_DOCUMENT_GENERATION_SUCCEEDED file letter.docx"
		const failed = "DOCGEN_DOCUMENT_GENERATION_FAILED file letter.docx"
		w.wantNotices(onTemplate.ID, started, started, ended, failed)
		w.wantNotices(onFolder.ID, failed)
		w.wantNotices(onOutput.ID, "FILE.UPLOADED file "+held.Jobs[0].FileName)
	})
}

// TestRollbackSendsNoNotification performs operations that fail at the end of their transaction.
func TestRollbackSendsNoNotification(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		folder := w.folder(w.alice, 0, "folder")
		polled := w.hook(w.alice, folder, every()...)
		w.upload(w.alice, folder, "taken.txt", "text")
		file := w.upload(w.alice, folder, "file.txt", "text").ID
		_, err := w.UpdateFile(t.Context(), w.alice, file, docgen.ItemChange{Name: new("taken.txt")})
		wantCode(t, err, docgen.CodeNameInUse)
		wantCode(t, w.TrashFile(t.Context(), w.bob, file, ""), docgen.CodeNotFound)
		w.wantNotices(polled.ID, "FILE.UPLOADED file taken.txt", "FILE.UPLOADED file file.txt")
	})
}

// TestWebhooksRevealOnlyVisibleItems shows that webhooks do not reveal more than their owners may see.
func TestWebhooksRevealOnlyVisibleItems(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top := w.folder(w.alice, 0, "top")
		shared := w.folder(w.alice, top, "shared")
		collaboration := w.share(docgen.Folder, shared, w.bob, docgen.RoleViewer)
		bobs := w.hook(w.bob, shared, every()...)
		file := w.upload(w.alice, shared, "file.txt", "text").ID
		body := func() docgen.Notification {
			var n docgen.Notification
			list := query[string](w, fmt.Sprint("SELECT body FROM webhook_deliveries JOIN webhook_bodies ON delivery_id = id WHERE "+
				"webhook_id = ", bobs.ID, " ORDER BY id DESC"))
			must(t, json.Unmarshal([]byte(strings.ReplaceAll(list[0], `"Info":{`, `"-":{`)), &n))
			return n
		}
		if path := body().Source.Item.Path; len(path) != 2 || path[1].ID != shared {
			t.Errorf("the path for bob is %+v, want his root folder and the shared one", path)
		}
		if by := body().CreatedBy; by.Name != "alice" {
			t.Errorf("it was done by %+v", by)
		}
		_, err := w.UpdateFile(ctx, w.alice, file, docgen.ItemChange{ParentID: &top})
		must(t, err)
		if n := body(); n.Trigger != docgen.FileMoved || n.Source.ID != file || n.Source.Item != nil {
			t.Errorf("for an item that bob can no longer see, bob gets %+v", n)
		}
		due := func() string {
			box, err := w.Outbox(ctx, bobs.ID, 10)
			must(t, err)
			return box.Problem
		}
		if why := due(); why != "" {
			t.Errorf("nothing is sent to a good webhook: %s", why)
		}
		must(t, w.DeleteCollaboration(ctx, w.alice, collaboration.ID))
		w.upload(w.alice, shared, "secret.txt", "text")
		if n := body(); n.Trigger != docgen.FileUploaded || n.Source.Item != nil {
			t.Errorf("for an item that bob cannot see, bob gets %+v", n)
		}
		if why := due(); !strings.Contains(why, "can no longer see its target") {
			t.Errorf("the problem is %q", why)
		}
		must(t, w.DeleteUser(ctx, w.member("root", docgen.RoleAdmin), w.bob.User.ID, true))
		w.upload(w.alice, shared, "later.txt", "text")
		if why := due(); !strings.Contains(why, "was deleted") {
			t.Errorf("a webhook of a deleted user: %q", why)
		}
		if got := len(w.notices(bobs.ID)); got != 5 {
			t.Errorf("the webhook of a deleted user gets %d notifications, want 5", got)
		}
	})
}

// TestDeliveries moves deliveries through their states.
func TestDeliveries(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		polled := w.hook(w.alice, folder, docgen.FileUploaded)
		for i := range 3 {
			w.upload(w.alice, folder, fmt.Sprint(i), "text")
		}
		outbox := func() []docgen.Due {
			box, err := w.Outbox(ctx, polled.ID, 10)
			must(t, err)
			return box.Deliveries
		}
		due := outbox()
		if len(due) != 3 || len(due[0].Body) == 0 {
			t.Fatalf("due are %+v", due)
		}
		try := func(d docgen.Due, delivered bool, again time.Duration) docgen.AttemptResult {
			made := docgen.AttemptResult{
				Attempt: docgen.Attempt{DeliveryID: d.ID, Name: "name", BegunAt: w.clock.now(), Duration: time.Second, Outcome: "status", Status: 500,
					Reason: "it answered 500", ResponseHeaders: map[string][]string{"X": {"y"}}, ResponseBody: "\xffbad\x00"},
				Delivered: delivered,
			}
			if again > 0 {
				made.Again = w.clock.now().Add(again)
			}
			return made
		}
		must(t, w.RecordAttempts(ctx, []docgen.AttemptResult{try(due[0], true, 0), try(due[1], false, time.Minute)}))
		ended, err := w.EndDeliveries(ctx, polled.ID)
		must(t, err)
		if ended {
			t.Error("the task ended while something was due")
		}
		must(t, w.RecordAttempts(ctx, []docgen.AttemptResult{try(due[2], false, 0)}))
		ended, err = w.EndDeliveries(ctx, polled.ID)
		must(t, err)
		if !ended || len(outbox()) != 0 {
			t.Error("the task did not end when nothing was due any more")
		}
		states := func() (states []docgen.DeliveryState) {
			page, err := w.Deliveries(ctx, w.alice, docgen.DeliveryFilter{}, docgen.PageRequest{})
			must(t, err)
			for _, d := range slices.Backward(page.Entries) {
				states = append(states, d.State)
			}
			return states
		}
		if got := states(); !slices.Equal(got, []docgen.DeliveryState{docgen.DeliveryDelivered, docgen.DeliveryPending, docgen.DeliveryFailed}) {
			t.Errorf("the deliveries are %v", got)
		}
		attempts, err := w.Attempts(ctx, w.alice, due[1].ID, docgen.PageRequest{})
		must(t, err)
		want := docgen.Attempt{
			DeliveryID: due[1].ID, Name: "name", BegunAt: noon, Duration: time.Second, Outcome: "status", Reason: "it answered 500", Status: 500,
			ResponseHeaders: map[string][]string{"X": {"y"}}, ResponseBody: "\uFFFDbad\uFFFD",
		}
		if want.ID = attempts.Entries[0].ID; len(attempts.Entries) != 1 || fmt.Sprintf("%+v", attempts.Entries[0]) != fmt.Sprintf("%+v", want) {
			t.Errorf("attempts %+v, want %+v", attempts.Entries, want)
		}
		t.Run("due later", func(t *testing.T) {
			w.clock.advance(time.Minute)
			if due := outbox(); len(due) != 1 || due[0].Tries != 1 {
				t.Errorf("due after a minute: %+v", due)
			}
			must(t, w.PostponeDeliveries(ctx, polled.ID, w.clock.now().Add(time.Minute), "the receiver rests"))
			if due := outbox(); len(due) != 0 {
				t.Errorf("due though postponed: %+v", due)
			}
		})
		t.Run("replayed", func(t *testing.T) {
			count, err := w.ReplayDeliveries(ctx, w.alice, docgen.DeliveryFilter{State: docgen.DeliveryFailed}, true)
			if err != nil || count != 1 || len(outbox()) != 0 {
				t.Errorf("a dry run counts %d, %v", count, err)
			}
			again, err := w.ReplayDelivery(ctx, w.alice, due[0].ID)
			must(t, err)
			if again.State != docgen.DeliveryPending || again.Tries != 0 || again.Attempts != 1 || string(again.Body) != string(due[0].Body) {
				t.Errorf("replayed %+v", again)
			}
			count, err = w.ReplayDeliveries(ctx, w.alice, docgen.DeliveryFilter{WebhookID: polled.ID}, false)
			if err != nil || count != 1 {
				t.Errorf("replayed %d, %v; want the one that had ended", count, err)
			}
			if due := outbox(); len(due) != 2 {
				t.Errorf("due are %+v", due)
			}
		})
		t.Run("are visible to their owner, and to managers of the enterprise", func(t *testing.T) {
			_, err := w.Delivery(ctx, w.bob, due[0].ID)
			wantCode(t, err, docgen.CodeNotFound)
			page, err := w.Deliveries(ctx, w.bob, docgen.DeliveryFilter{}, docgen.PageRequest{})
			if must(t, err); len(page.Entries) != 0 {
				t.Errorf("bob sees %d deliveries", len(page.Entries))
			}
			all, err := w.DeliveriesByOffset(ctx, w.member("root", docgen.RoleAdmin), docgen.DeliveryFilter{}, docgen.OffsetRequest{Limit: 10})
			if must(t, err); all.Total != 3 {
				t.Errorf("the administrator sees %d deliveries", all.Total)
			}
		})
		t.Run("are forgotten", func(t *testing.T) {
			must(t, w.DisableWebhook(ctx, polled.ID, "It is gone."))
			w.clock.advance(24 * time.Hour)
			removed, err := w.RemoveDeliveries(ctx, w.clock.now())
			if err != nil || removed != 3 || w.count("SELECT COUNT(*) FROM webhook_attempts") != 0 {
				t.Errorf("%d removed, %v", removed, err)
			}
		})
	})
}

// TestListeners polls for events as a developer's machine does.
func TestListeners(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		listener, err := w.CreateListener(ctx, w.alice, docgen.WebhookTarget{Kind: docgen.Folder}, nil)
		must(t, err)
		nothing, err := w.PollListener(ctx, w.alice, listener.ID, nil, 0)
		if must(t, err); len(nothing.Deliveries) != 0 || len(nothing.Keys) != 2 {
			t.Errorf("polled %+v", nothing)
		}
		polled := make(chan docgen.Polled)
		failed := make(chan error, 1)
		go func() {
			h, err := w.PollListener(ctx, w.alice, listener.ID, nil, docgen.MaxPollWait)
			failed <- err
			polled <- h
		}()
		folder := w.folder(w.alice, 0, "folder")
		must(t, <-failed)
		first := (<-polled).Deliveries
		if len(first) != 1 || first[0].Trigger != docgen.FolderCreated {
			t.Fatalf("polled %+v", first)
		}
		again, err := w.PollListener(ctx, w.alice, listener.ID, nil, 0)
		if must(t, err); len(again.Deliveries) != 1 || again.Deliveries[0].ID != first[0].ID {
			t.Errorf("events that were not accepted are returned as %+v", again.Deliveries)
		}
		w.upload(w.alice, folder, "file.txt", "text")
		next, err := w.PollListener(ctx, w.alice, listener.ID, []int64{first[0].ID}, 0)
		if must(t, err); len(next.Deliveries) != 1 || next.Deliveries[0].Trigger != docgen.FileUploaded {
			t.Errorf("after it was taken comes %+v", next.Deliveries)
		}
		_, err = w.PollListener(ctx, w.bob, listener.ID, nil, 0)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.Webhook(ctx, w.alice, listener.ID)
		wantCode(t, err, docgen.CodeNotFound)
		w.clock.advance(docgen.ListenerTimeout)
		_, err = w.PollListener(ctx, w.alice, listener.ID, nil, 0)
		wantCode(t, err, docgen.CodeNotFound)
	})
}

func TestSigningKeys(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		none, err := w.SigningKeys(ctx, root)
		if must(t, err); len(none) != 0 {
			t.Errorf("keys before the first webhook: %+v", none)
		}
		w.hook(w.alice, w.folder(w.alice, 0, "folder"), docgen.FileUploaded)
		_, err = w.SigningKeys(ctx, w.alice)
		wantCode(t, err, docgen.CodeForbidden)
		_, err = w.RenewSigningKey(ctx, w.alice, docgen.KeyPrimary, 0)
		wantCode(t, err, docgen.CodeForbidden)
		before, err := w.SigningKeys(ctx, root)
		if must(t, err); len(before) != 2 || before[0].Slot != docgen.KeyPrimary || before[1].Slot != docgen.KeySecondary ||
			before[0].Secret == before[1].Secret {
			t.Fatalf("keys %+v", before)
		}
		if form := regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`); !form.MatchString(before[0].Secret) {
			t.Errorf("the key %s is not of the form of Standard Webhooks", before[0].Secret)
		}
		after, err := w.RenewSigningKey(ctx, root, docgen.KeyPrimary, time.Hour)
		if must(t, err); len(after) != 3 || after[0].Secret == before[0].Secret || after[1] != before[1] || after[2].Secret != before[0].Secret ||
			!after[2].ExpiresAt.Equal(w.clock.now().Add(time.Hour)) {
			t.Errorf("renewed keys %+v, before %+v", after, before)
		}
		w.clock.advance(time.Hour)
		later, err := w.SigningKeys(ctx, root)
		if must(t, err); len(later) != 2 || later[0] != after[0] {
			t.Errorf("after the overlap %+v", later)
		}
		_, err = w.RenewSigningKey(ctx, root, "tertiary", 0)
		wantCode(t, err, docgen.CodeBadRequest)
		_, err = w.RenewKeyOf(ctx, "command line", docgen.KeySecondary, 0)
		must(t, err)
	})
}
