package docgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// erased runs the task until everything is erased, as the queue does.
func (w *world) erased() {
	w.t.Helper()
	if more, err := w.EraseUsers(w.t.Context()); err != nil || more {
		w.t.Errorf("more to erase: %t, %v", more, err)
	}
	w.removeBatches()
}

// TestEraseAndTransfer erases a user whose content is transferred to another: the content stays, under names that do
// not identify the user.
func TestEraseAndTransfer(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root, zoe := w.member("root", docgen.RoleAdmin), w.user("zoe")
		id := zoe.User.ID
		file := w.upload(zoe, w.folder(zoe, 0, "work"), "a.txt", "text")
		early := w.upload(w.alice, w.folder(w.alice, 0, "shared"), "b.txt", "text")
		w.share(docgen.File, early.ID, zoe, docgen.RoleEditor)
		w.version(zoe, early.ID, "more text")

		wantCode(t, w.EraseUser(ctx, root, id, docgen.Erasure{}), docgen.CodeUserOwns)
		wantCode(t, w.EraseUser(ctx, root, id, docgen.Erasure{To: w.bob.User.ID}), docgen.CodeScope)
		wantCode(t, w.EraseUser(ctx, withContent(root), id, docgen.Erasure{To: 4711}), docgen.CodeBadRequest)
		must(t, w.EraseUser(ctx, withContent(root), id, docgen.Erasure{To: w.bob.User.ID}))
		w.erased()

		if got, want := w.names(w.bob, 0), fmt.Sprint("Files and folders of user ", id); !slices.Equal(got, []string{want}) {
			t.Errorf("bob has %q, want %q", got, want)
		}
		if w.text(w.bob, file.ID, 0) != "text" || w.text(w.alice, early.ID, 0) != "more text" {
			t.Error("the content has changed")
		}
		item, err := w.File(ctx, w.alice, early.ID)
		want := docgen.UserRef{ID: id, Name: "Erased user", Login: fmt.Sprint("erased-", id)}
		if must(t, err); item.ModifiedBy != want {
			t.Errorf("modified by %+v, want %+v", item.ModifiedBy, want)
		}
		entries := w.audited(docgen.AuditFilter{Action: docgen.AuditUserErased})
		if len(entries) != 1 || entries[0].TargetID != fmt.Sprint(id) || entries[0].Actor.ID != root.User.ID ||
			fmt.Sprint(entries[0].Details) != "map[content:transferred]" {
			t.Errorf("the audit log says %+v", entries)
		}
		_, err = w.AddUser(ctx, root, docgen.NewUser{Name: "Another Zoe", Login: "zoe@example.com"})
		wantCode(t, err, "")
	})
}

// TestEraseDeletedUser erases users who were already deleted, whose names and logins were kept until then.
func TestEraseDeletedUser(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root := w.member("root", docgen.RoleAdmin)
		var ids []int64
		for range 2 {
			zoe := w.user("zoe")
			ids = append(ids, zoe.User.ID)
			must(t, w.DeleteUser(ctx, root, zoe.User.ID, false))
		}
		_, err := w.PlanErasure(ctx, root, "zoe@example.com")
		wantCode(t, err, docgen.CodeConflict) // which of the two?
		must(t, w.EraseUser(ctx, root, ids[0], docgen.Erasure{}))
		w.erased()
		plan, err := w.PlanErasure(ctx, root, "Zoe@Example.com")
		if must(t, err); plan.UserID != ids[1] || !plan.ErasedAt.IsZero() || plan.AuditEvents == 0 {
			t.Errorf("the plan is %+v", plan)
		}
		must(t, w.EraseUser(ctx, root, ids[1], docgen.Erasure{}))
		for _, login := range []string{"zoe@example.com", "ZOE@example.com"} { // as after a kill: the rest is still to be erased
			plan, err := w.PlanErasure(ctx, root, login)
			if must(t, err); plan.UserID != ids[1] || !plan.ErasedAt.IsZero() {
				t.Errorf("the plan of %s is %+v", login, plan)
			}
		}
		w.erased()
		for _, id := range ids {
			plan, err := w.PlanErasure(ctx, root, fmt.Sprint(id))
			if must(t, err); plan.ErasedAt.IsZero() {
				t.Errorf("the plan is %+v", plan)
			}
		}
		_, err = w.PlanErasure(ctx, root, "zoe@example.com")
		wantCode(t, err, docgen.CodeNotFound)
		if n := w.count("SELECT COUNT(*) FROM audit_events WHERE details LIKE '%zoe%'") +
			w.count("SELECT COUNT(*) FROM users WHERE login LIKE '%zoe%' OR name LIKE '%zoe%'"); n != 0 {
			t.Errorf("%d rows name the user", n)
		}
	})
}

// TestEraseRights: the permission to delete a user includes erasing the user. No one else may erase a user.
func TestEraseRights(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		root, coadmin := w.member("root", docgen.RoleAdmin), w.member("coadmin", docgen.RoleCoadmin)
		for _, c := range []struct {
			caller *docgen.Caller
			id     int64
			want   docgen.Code
		}{
			{w.bob, w.alice.User.ID, docgen.CodeScope},
			{coadmin, root.User.ID, docgen.CodeForbidden},
			{root, root.User.ID, docgen.CodeForbidden},
			{root, 4711, docgen.CodeNotFound},
			{root, w.Operator().User.ID, docgen.CodeNotFound},
			{w.Operator(), root.User.ID, docgen.CodeForbidden}, // the last administrator
			{coadmin, w.alice.User.ID, ""},
		} {
			wantCode(t, w.EraseUser(ctx, c.caller, c.id, docgen.Erasure{Delete: true}), c.want)
		}
		w.erased()
		_, err := w.PlanErasure(ctx, w.bob, "alice@example.com")
		wantCode(t, err, docgen.CodeScope)
		if w.count("SELECT COUNT(*) FROM users WHERE erased_at <> 0") != 1 {
			t.Error("want alice erased, alone")
		}
	})
}

// TestErasureResumes kills the server after each portion: the next server continues, and other users lose nothing.
func TestErasureResumes(t *testing.T) {
	runLong(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		zoe, others := w.user("zoe"), w.newPress("other")
		template := w.template(zoe, 0, "t.docx")
		for range 3 {
			_, err := w.CreateBatch(ctx, zoe, batchOf(template.ID, 0, slices.Repeat([]string{`{"a":1}`}, 700)...))
			must(t, err)
		}
		for _, c := range []*docgen.Caller{zoe, w.bob} {
			folder := w.folder(c, 0, "hooked")
			_, err := w.CreateWebhook(ctx, c, docgen.NewWebhook{TargetKind: docgen.Folder, TargetID: folder, Address: "https://example.com/",
				Triggers: []docgen.Trigger{docgen.FileUploaded}})
			must(t, err)
			for i := range 250 {
				w.upload(c, folder, fmt.Sprint(i), "x")
			}
		}
		must(t, w.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
			INSERT INTO audit_events SELECT i, 1, 'user.updated', 'success', $1, $1, 0, 0, '192.0.2.1', 'agent', 'request', 'user', '1',
				'{"name":"x"}' FROM n`, zoe.User.ID))
		bodies := query[string](w, "SELECT body FROM webhook_bodies JOIN webhook_deliveries ON webhook_deliveries.id = delivery_id "+
			"JOIN webhooks ON webhooks.id = webhook_id WHERE created_by = $1 ORDER BY delivery_id", w.bob.User.ID)

		must(t, w.EraseUser(ctx, w.Operator(), zoe.User.ID, docgen.Erasure{Delete: true}))
		portions := 0
		for done := false; !done; portions++ {
			next, err := docgen.New(ctx, docgen.Config{Store: w.db, Blobs: w.blobs, Now: w.clock.now})
			must(t, err)
			if done, err = next.ErasePortion(ctx, zoe.User.ID); err != nil || portions > 100 {
				t.Fatalf("portion %d: %v", portions, err)
			}
		}
		if portions < 10 {
			t.Errorf("all was erased in %d portions", portions)
		}
		w.removeBatches()
		of := func(text string) int { return w.count(fmt.Sprintf(text, zoe.User.ID)) }
		for _, text := range []string{
			"SELECT COUNT(*) FROM erasures WHERE user_id = %d", "SELECT COUNT(*) FROM docgen_batches WHERE created_by = %d",
			"SELECT COUNT(*) FROM docgen_jobs WHERE created_by = %d",
			"SELECT COUNT(*) FROM audit_events WHERE actor_id = %d AND address || agent || request_id <> ''",
			"SELECT COUNT(*) FROM webhook_bodies JOIN webhook_deliveries ON webhook_deliveries.id = delivery_id JOIN webhooks ON " +
				"webhooks.id = webhook_id WHERE created_by = %d AND body <> ''",
			"SELECT COUNT(*) FROM webhooks WHERE created_by = %d AND address <> ''", "SELECT COUNT(*) FROM users WHERE id = %d AND erased_at = 0",
		} {
			if n := of(text); n != 0 {
				t.Errorf("%s: %d", text, n)
			}
		}
		w.wantRows(others.batchID, 1, 1, 1)
		after := query[string](w, "SELECT body FROM webhook_bodies JOIN webhook_deliveries ON webhook_deliveries.id = delivery_id "+
			"JOIN webhooks ON webhooks.id = webhook_id WHERE created_by = $1 ORDER BY delivery_id", w.bob.User.ID)
		if len(after) != 250 || strings.Join(after, "") != strings.Join(bodies, "") {
			t.Errorf("%d bodies of bob's are left of %d, or have changed", len(after), len(bodies))
		}
	})
}

// TestErasureWhileGenerating erases a user while one of their documents is generated: the document is discarded.
func TestErasureWhileGenerating(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p := w.newPress("a", "b")
		claim := p.claim()
		output := p.save(claim.Jobs[0], "document")
		must(t, w.EraseUser(ctx, w.Operator(), w.alice.User.ID, docgen.Erasure{Delete: true}))
		w.erased()
		ended, err := w.CompleteJobs(ctx, claim, []docgen.Result{{Job: claim.Jobs[0], Output: output}})
		if err != nil || len(ended) != 0 {
			t.Errorf("ended %v, %v", ended, err)
		}
		w.removeContents()
		if left := w.keys(); len(left) != 0 {
			t.Errorf("contents %q are left", left)
		}
	})
}

// TestErasureWhileReceiving erases a user while the data of one of their batches is being received: the received data is deleted.
func TestErasureWhileReceiving(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		zoe := w.user("zoe")
		_, err := w.CreateBatch(ctx, zoe, largeBatch(w.template(zoe, 0, "t.docx").ID))
		must(t, err)
		must(t, w.exec("UPDATE docgen_batches SET removed_at = $1", w.clock.now().Add(time.Hour).UnixMicro())) // as while it is received
		others := w.newPress("other")
		must(t, w.EraseUser(ctx, w.Operator(), zoe.User.ID, docgen.Erasure{Delete: true}))
		must(t, w.exec("DELETE FROM river_job"))
		w.erased()
		if n := w.count("SELECT COUNT(*) FROM users WHERE erased_at <> 0"); n != 1 {
			t.Errorf("%d users are erased, want 1", n)
		}
		if n := w.count("SELECT COUNT(*) FROM river_job WHERE kind = 'remove_batches'"); n != 1 {
			t.Errorf("%d tasks are to remove batches, want 1", n)
		}
		if n := w.count(rowsOfBatches); n != 3 {
			t.Errorf("%d rows are left, want 3 of the other batch", n)
		}
		w.wantRows(others.batchID, 1, 1, 1)
	})
}

// A request that was authenticated before the caller was erased cannot create a batch, small or large.
func TestErasedCallersCreateNoBatches(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.member("root", docgen.RoleAdmin)
		zoe := w.contentManager("zoe")
		template, folder := w.template(w.alice, 0, "a.docx"), w.folder(w.alice, 0, "documents")
		must(t, w.EraseUser(t.Context(), w.Operator(), zoe.User.ID, docgen.Erasure{Delete: true}))
		w.erased()
		small := largeBatch(template.ID)
		small.Documents = small.Documents[:1]
		for _, batch := range []docgen.NewBatch{largeBatch(template.ID), small} {
			batch.DestinationID = folder
			_, err := w.CreateBatch(t.Context(), zoe, batch)
			wantCode(t, err, docgen.CodeUnauthorized)
		}
		if n := w.count("SELECT (SELECT COUNT(*) FROM docgen_turns) + (SELECT COUNT(*) FROM docgen_batches WHERE removed_at = 0)"); n != 0 {
			t.Errorf("%d batches are visible or wait", n)
		}
	})
}
