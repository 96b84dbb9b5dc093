package docgen_test

import (
	"slices"
	"testing"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// TestOldDatabases uses databases of earlier releases, as storetest describes them.
func TestOldDatabases(t *testing.T) {
	storetest.RunOld(t, func(t *testing.T, _ string, cfg store.Config) {
		w := &world{t: t, db: storetest.Open(t, cfg), cfg: cfg}
		w.clock.micros.Store(noon.UnixMicro())
		for range 2 { // the second run finds what the first has prepared
			var err error
			w.Service, err = docgen.New(t.Context(), docgen.Config{Store: w.db, Now: w.clock.now})
			must(t, err)
		}
		var err error
		w.alice, err = w.Authenticate(t.Context(), "a token of long ago")
		must(t, err)
		t.Run("are prepared", func(t *testing.T) {
			if n := w.count("SELECT COUNT(*) FROM users JOIN enterprises ON enterprises.account_id = users.id"); n != 1 {
				t.Errorf("%d accounts of the enterprise, want 1", n)
			}
			if keys := query[string](w, "SELECT name_key FROM users WHERE id = 11"); keys[0] != docgen.FoldKey("Alice Ä.") {
				t.Errorf("the folded name of Alice is %q", keys[0])
			}
			if n := w.count("SELECT COUNT(*) FROM users WHERE name_key = ''"); n != 0 {
				t.Errorf("%d users without a folded name", n)
			}
		})
		t.Run("show their items", func(t *testing.T) { w.wantOldItems() })
		t.Run("show the documents of a template", func(t *testing.T) { w.wantOldDocuments() })
		t.Run("take something new", func(t *testing.T) {
			made := w.folder(w.alice, 31, "new")
			ivy := w.user("ivy")
			w.share(docgen.Folder, made, ivy, docgen.RoleViewer)
			toOwner := docgen.CollaborationChange{Role: docgen.RoleOwner}
			_, err := w.UpdateCollaboration(t.Context(), w.alice, 61, toOwner)
			wantCode(t, err, docgen.CodeInvalidStatus) // Bob is inactive
			must(t, w.exec("UPDATE users SET status = 'active' WHERE id = 12"))
			_, err = w.UpdateCollaboration(t.Context(), w.alice, 61, toOwner)
			must(t, err)
			if item, err := w.File(t.Context(), w.alice, 42); err != nil || item.Owner.ID != 12 {
				t.Errorf("the file in the folder that Bob got is %+v, %v", item, err)
			}
		})
	})
}

// wantOldItems checks Alice's files and folders, and their collaborators.
func (w *world) wantOldItems() {
	w.t.Helper()
	ctx := w.t.Context()
	if got := w.names(w.alice, 0); !slices.Equal(got, []string{"Shared"}) {
		w.t.Errorf("the root folder holds %q", got)
	}
	if got := w.names(w.alice, 31); !slices.Equal(got, []string{"Bob's", "Letter 1.docx", "Letter.docx"}) {
		w.t.Errorf("the shared folder holds %q", got)
	}
	item, err := w.File(ctx, w.alice, 42)
	must(w.t, err)
	if item.Owner.ID != 11 || item.CreatedBy.ID != 12 || item.Permissions != permissionsIn(rights["owner"]) {
		w.t.Errorf("what Bob put into the folder is %+v", item)
	}
	_, err = w.File(ctx, w.alice, 44)
	wantCode(w.t, err, docgen.CodeTrashed)
	page, err := w.Collaborations(ctx, w.alice, docgen.Folder, 31, docgen.PageRequest{})
	must(w.t, err)
	var roles []docgen.Role
	for _, one := range page.Entries {
		if one.Status != docgen.CollaborationAccepted || one.AcknowledgedAt.IsZero() {
			w.t.Errorf("collaboration %+v", one)
		}
		roles = append(roles, one.Role)
	}
	if !slices.Equal(roles, []docgen.Role{docgen.RoleEditor, docgen.RolePreviewerUploader}) {
		w.t.Errorf("roles %q", roles)
	}
}

// wantOldDocuments checks Alice's template, its tags, and the jobs of its batches.
func (w *world) wantOldDocuments() {
	w.t.Helper()
	ctx, first := w.t.Context(), docgen.PageRequest{}
	templates, err := w.Templates(ctx, w.alice, first)
	if err != nil || len(templates.Entries) != 1 || templates.Entries[0].FileID != 41 {
		w.t.Errorf("templates %+v, %v", templates, err)
	}
	template, err := w.File(ctx, w.alice, 41)
	must(w.t, err)
	for round, want := range []int{0, 1} { // an earlier release did not record included files, so the template is read again
		tags, ready, err := w.Tags(ctx, w.alice, 41, 0, first)
		if err != nil || ready != (round > 0) || len(tags.Entries) != want {
			w.t.Errorf("tags in round %d: %+v, %v, %v", round, tags, ready, err)
		}
		must(w.t, w.SaveReading(ctx, template.VersionID, docgen.Reading{Tags: []docgen.Tag{{Content: "{{a}}"}}}))
	}
	jobs, err := w.Jobs(ctx, w.alice, docgen.JobFilter{}, first)
	must(w.t, err)
	var statuses []docgen.Status
	for _, job := range jobs.Entries {
		statuses = append(statuses, job.Status)
	}
	if !slices.Equal(statuses, []docgen.Status{docgen.StatusCompleted, docgen.StatusFailed, docgen.StatusPending, "submitted"}) {
		w.t.Errorf("jobs %q", statuses)
	}
	must(w.t, w.ScheduleDocuments(ctx))
	if slots := w.slots(); !slices.Equal(slots, []string{"pdf/0", "pdf/1"}) {
		w.t.Errorf("woken are %q, want a slot for each job that has not ended", slots)
	}
	for _, id := range []int64{73, 74} {
		claim, err := w.ClaimJobs(ctx, docgen.GenerateDocuments{UserID: 11, Lane: docgen.LanePDF})
		if err != nil || len(claim.Jobs) != 1 || claim.Jobs[0].ID != id || claim.Options.Locale != "de" {
			w.t.Errorf("claim %+v, %v, want job %d", claim, err, id)
		}
	}
}
