package generate_test

import (
	"bytes"
	"strings"
	"testing"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// A template includes files from its folder and subfolders, in the version that is current when a document is
// generated.
func TestIncludedFiles(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		clauses, err := w.service.CreateFolder(t.Context(), w.caller, docgen.NewFolder{Name: "clauses"})
		must(t, err)
		terms, err := w.service.CreateFile(t.Context(), w.caller, docgen.NewFile{Name: "Terms.docx", ParentID: clauses.ID},
			bytes.NewReader(docxOf(t, "old terms of {{a}}")))
		must(t, err)
		template := w.template("T.docx", docxOf(t, `{{include "clauses/terms.docx"}}`, `{{include "late.docx"}}`))

		job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`))[0]
		if want := `the file "late.docx" is not in the folder of the template`; job.Status != docgen.StatusFailed ||
			!strings.Contains(strings.Join(job.Failures.Errors, " "), want) {
			t.Errorf("status %s with %q, want failed because %s", job.Status, job.Failures.Errors, want)
		}

		_, err = w.service.CreateFile(t.Context(), w.caller, docgen.NewFile{Name: "late.docx"}, bytes.NewReader(docxOf(t, "late")))
		must(t, err)
		job = w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`))[0]
		if job.Status != docgen.StatusCompleted {
			t.Fatalf("status %s with %+v", job.Status, job.Failures)
		}
		if got, want := w.text(job), "old terms of 1\nlate"; got != want {
			t.Errorf("the document reads %q, want %q", got, want)
		}

		_, err = w.service.CreateVersion(t.Context(), w.caller, docgen.NewVersion{FileID: terms.ID},
			bytes.NewReader(docxOf(t, "new terms of {{a}}")))
		must(t, err)
		job = w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"a": 2}`))[0]
		if got, want := w.text(job), "new terms of 2\nlate"; got != want {
			t.Errorf("after a new version of the terms the document reads %q, want %q", got, want)
		}
	})
}

// A template includes only files that the user who uploaded it may read.
func TestUploaderMustReadIncludedFiles(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		user, err := w.service.CreateUser(t.Context(), docgen.NewUser{Login: "bob@example.com", Name: "Bob"})
		must(t, err)
		token, err := w.service.CreateToken(t.Context(), docgen.NewToken{Login: user.Login})
		must(t, err)
		bob, err := w.service.Authenticate(t.Context(), token)
		must(t, err)
		_, err = w.service.CreateFile(t.Context(), w.caller, docgen.NewFile{Name: "secret.docx"}, bytes.NewReader(docxOf(t, "secret")))
		must(t, err)
		template := w.template("T.docx", docxOf(t, "nothing"))
		_, err = w.service.CreateCollaboration(t.Context(), w.caller, docgen.NewCollaboration{ItemKind: docgen.File, ItemID: template.ID,
			UserID: bob.User.ID, Role: docgen.RoleEditor})
		must(t, err)
		_, err = w.service.CreateVersion(t.Context(), bob, docgen.NewVersion{FileID: template.ID},
			bytes.NewReader(docxOf(t, `{{include "secret.docx"}}`)))
		must(t, err)
		job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{}`))[0]
		if want := "may not download"; job.Status != docgen.StatusFailed || !strings.Contains(strings.Join(job.Failures.Errors, " "), want) {
			t.Errorf("status %s with %q, want failed", job.Status, job.Failures.Errors)
		}
	})
}

// An editor of a template cannot include a file that only the owner may read, even if the owner has made the editor's version the current
// one, or the template has been compiled for the owner before.
func TestRequesterMustReadIncludedFiles(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		ctx := t.Context()
		user, err := w.service.CreateUser(ctx, docgen.NewUser{Login: "bob@example.com", Name: "Bob"})
		must(t, err)
		token, err := w.service.CreateToken(ctx, docgen.NewToken{Login: user.Login})
		must(t, err)
		bob, err := w.service.Authenticate(ctx, token)
		must(t, err)
		secret, err := w.service.CreateFile(ctx, w.caller, docgen.NewFile{Name: "secret.docx"}, bytes.NewReader(docxOf(t, "secret {{a}}")))
		must(t, err)
		template := w.template("T.docx", docxOf(t, "nothing"))
		share := func(id int64, role docgen.Role) {
			_, err := w.service.CreateCollaboration(ctx, w.caller, docgen.NewCollaboration{ItemKind: docgen.File, ItemID: id,
				UserID: bob.User.ID, Role: role})
			must(t, err)
		}
		share(template.ID, docgen.RoleEditor)
		changed, err := w.service.CreateVersion(ctx, bob, docgen.NewVersion{FileID: template.ID},
			bytes.NewReader(docxOf(t, `{{include "secret.docx"}}`)))
		must(t, err)
		_, err = w.service.CreateVersion(ctx, w.caller, docgen.NewVersion{FileID: template.ID}, bytes.NewReader(docxOf(t, "nothing again")))
		must(t, err)
		_, err = w.service.PromoteVersion(ctx, w.caller, template.ID, changed.VersionID)
		must(t, err)

		generate := func(c *docgen.Caller) docgen.Job {
			t.Helper()
			owner, folder := w.caller, w.folder
			defer func() { w.caller, w.folder = owner, folder }()
			w.caller, w.folder = c, 0
			return w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`))[0]
		}
		for range 2 { // compiled first for one of them, and then for the other
			if job := generate(w.caller); job.Status != docgen.StatusCompleted || w.text(job) != "secret 1" {
				t.Fatalf("the owner: status %s with %+v", job.Status, job.Failures)
			}
			job := generate(bob)
			if failures := strings.Join(job.Failures.Errors, " "); job.Status != docgen.StatusFailed ||
				!strings.Contains(failures, "the user who generates may not download") {
				t.Fatalf("the editor: status %s with %q, want failed", job.Status, failures)
			}
		}
		share(secret.ID, docgen.RoleViewer)
		if job := generate(bob); job.Status != docgen.StatusCompleted {
			t.Errorf("the editor, who may read the file now: status %s with %+v", job.Status, job.Failures)
		}
	})
}

// If the data chooses the file, all files that it may choose are included: they must be there, and the requester must be allowed to
// download them. The contract covers them, and a change of one of them counts.
func TestChosenFiles(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		eve := w.user("eve")
		nda := w.upload("nda.docx", "Secret of {{a}}")
		template := w.template("T.docx", docxOf(t, `{{include kind :: oneof("nda.docx", "msa.docx")}}`))
		w.share(template.ID, eve, docgen.RoleEditor)
		w.share(nda.ID, eve, docgen.RoleViewer)
		generate := func(c *docgen.Caller, input string) (docgen.Job, string) {
			t.Helper()
			owner, folder := w.caller, w.folder
			defer func() { w.caller, w.folder = owner, folder }()
			if c != owner {
				w.caller, w.folder = c, 0
			}
			job := w.jobs(w.batch(template.ID, docgen.OutputDocx, input))[0]
			return job, strings.Join(job.Failures.Errors, " ")
		}
		const chosen = `{"kind": "nda", "a": "Ada"}`
		if job, failures := generate(w.caller, chosen); job.Status != docgen.StatusFailed ||
			!strings.Contains(failures, `the file "msa.docx" is not in the folder of the template`) {
			t.Errorf("without one of the files: status %s with %q, want failed", job.Status, failures)
		}

		msa := w.upload("msa.docx", "Master of {{b}}")
		if job, failures := generate(w.caller, chosen); job.Status != docgen.StatusCompleted || w.text(job) != "Secret of Ada" {
			t.Errorf("status %s with %q", job.Status, failures)
		}
		if job, failures := generate(eve, chosen); job.Status != docgen.StatusFailed ||
			!strings.Contains(failures, "the user who generates may not download") {
			t.Errorf("by a user who may not download one of the files: status %s with %q, want failed", job.Status, failures)
		}
		w.share(msa.ID, eve, docgen.RoleViewer)
		if job, failures := generate(eve, chosen); job.Status != docgen.StatusCompleted {
			t.Errorf("by a user who may download both: status %s with %q", job.Status, failures)
		}
		if job, failures := generate(eve, `{"kind": "other"}`); job.Status != docgen.StatusCompletedWithError ||
			!strings.Contains(failures, `not one of the files "nda.docx", "msa.docx"`) {
			t.Errorf("another file: status %s with %q, want an error", job.Status, failures)
		}

		w.version(w.caller, msa.ID, "New master of {{c}}")
		job, failures := generate(w.caller, `{"kind": "msa.docx", "c": "Eve"}`)
		if got, want := w.text(job), "New master of Eve"; got != want {
			t.Errorf("after a new version of a file: %q with %q, want %q", got, failures, want)
		}
		for _, key := range []string{`"kind"`, `"nda.docx"`, `"a"`, `"c"`} {
			w.wantSeen(w.caller, template.ID, key, true, "contract")
		}
	})
}
