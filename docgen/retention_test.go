package docgen_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

const day = 24 * time.Hour

// removeBatches deletes hidden batches, as the queue does.
func (w *world) removeBatches() {
	w.t.Helper()
	_, more, err := w.RemoveBatches(w.t.Context())
	if must(w.t, err); more {
		w.t.Error("there is more to remove")
	}
}

// pass advances the clock by days, on which the retention periods are applied without deleting anything.
func (w *world) pass(days int) {
	w.t.Helper()
	for range days {
		w.clock.advance(day)
		if _, _, err := w.ApplyRetention(w.t.Context(), docgen.Retention{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// wantRows checks the number of rows of a batch in each table.
func (w *world) wantRows(batch string, batches, jobs, inputs int) {
	w.t.Helper()
	got := []int{
		query[int](w, "SELECT COUNT(*) FROM docgen_batches WHERE id = $1", batch)[0],
		query[int](w, "SELECT COUNT(*) FROM docgen_jobs WHERE batch_id = $1", batch)[0],
		query[int](w, "SELECT COUNT(*) FROM docgen_inputs i JOIN docgen_jobs j ON j.id = i.job_id WHERE j.batch_id = $1", batch)[0],
	}
	if want := []int{batches, jobs, inputs}; fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("batches, jobs and inputs are %v, want %v", got, want)
	}
}

// fail ends all jobs of a batch without documents.
func (p *press) fail() {
	p.t.Helper()
	_, err := p.FailBatch(p.t.Context(), p.batchID, "No.")
	must(p.t, err)
}

// TestDeleteBatch deletes a batch that has ended with everything that belongs to it, only for its creator, and keeps
// its files.
func TestDeleteBatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p, other := w.newPress(numbered("%d", 600)...), w.newPress("other")
		wantCode(t, w.DeleteBatch(ctx, w.alice, p.batchID), docgen.CodeConflict)
		claim := p.claim()
		wantCode(t, w.DeleteBatch(ctx, w.alice, p.batchID), docgen.CodeConflict)
		job := claim.Jobs[0]
		p.complete(claim, []docgen.Result{{Job: job, Output: p.save(job, "document")}})
		p.fail() // the others
		made := w.names(w.alice, p.folder)
		wantCode(t, w.DeleteBatch(ctx, w.bob, p.batchID), docgen.CodeNotFound)

		must(t, w.DeleteBatch(ctx, w.alice, p.batchID))
		wantCode(t, w.DeleteBatch(ctx, w.alice, p.batchID), docgen.CodeNotFound)
		_, err := w.Batch(ctx, w.alice, p.batchID)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.Job(ctx, w.alice, job.ID)
		wantCode(t, err, docgen.CodeNotFound)
		if page, err := w.Jobs(ctx, w.alice, docgen.JobFilter{}, docgen.PageRequest{}); err != nil || len(page.Entries) != 1 ||
			page.Entries[0].BatchID != other.batchID {
			t.Errorf("jobs after the batch was deleted: %+v, %v", page.Entries, err)
		}
		w.removeBatches()
		w.wantRows(p.batchID, 0, 0, 0)
		w.wantRows(other.batchID, 1, 1, 1)
		if now := w.names(w.alice, p.folder); len(made) != 1 || fmt.Sprint(now) != fmt.Sprint(made) {
			t.Errorf("the files are %q, were %q", now, made)
		}
	})
}

// TestRetention deletes what is too old, each kind by its own period, and nothing that is newer or has not ended.
func TestRetention(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		keep := docgen.Retention{Batches: 90 * day, Inputs: 14 * day, Trash: 30 * day, Failures: 60 * day}
		begins, err := w.RetentionBegins(ctx)
		if must(t, err); !begins.Equal(noon.Add(docgen.RetentionGrace)) {
			t.Fatalf("retention begins %v", begins)
		}
		old, running := w.newPress("old"), w.newPress("runs")
		old.fail()
		trashed, kept := w.upload(w.alice, 0, "trashed.txt", "x"), w.upload(w.alice, 0, "kept.txt", "x")
		must(t, w.TrashFile(ctx, w.alice, trashed.ID, ""))
		days := 0
		for _, step := range []struct {
			days           int
			want           docgen.RetentionCounts
			batches, input int // what is left of the old one
		}{
			{6, docgen.RetentionCounts{}, 1, 1},
			{13, docgen.RetentionCounts{}, 1, 1},
			{15, docgen.RetentionCounts{Inputs: 1}, 1, 0},
			{31, docgen.RetentionCounts{Trash: 1}, 1, 0},
			{61, docgen.RetentionCounts{Failures: 1}, 1, 0},
			{89, docgen.RetentionCounts{}, 1, 0},
			{91, docgen.RetentionCounts{Batches: 1}, 0, 0},
			{92, docgen.RetentionCounts{}, 0, 0},
		} {
			w.pass(step.days - days)
			days = step.days
			got, more, err := w.ApplyRetention(ctx, keep)
			if must(t, err); got != step.want || more {
				t.Errorf("day %d: removed %+v, more %t, want %+v", step.days, got, more, step.want)
			}
			w.removeBatches()
			w.wantRows(old.batchID, step.batches, step.batches, step.input)
			if step.batches == 0 {
				continue
			}
			want := "No."
			if step.days > 60 {
				want = "The failures were deleted after their retention period."
			}
			job, err := w.Job(ctx, w.alice, w.jobs(old.batchID)[0].ID)
			if must(t, err); job.Status != docgen.StatusFailed || fmt.Sprint(job.Failures.Errors) != "["+want+"]" ||
				job.Summary.Message != want || job.Summary.Count != 1 {
				t.Errorf("day %d: the failed job is %+v, %+v", step.days, job, job.Summary)
			}
		}
		w.wantRows(running.batchID, 1, 1, 1)
		if left := w.names(w.alice, 0); !slices.Contains(left, kept.Name) || slices.Contains(left, trashed.Name) || len(w.trash(w.alice)) != 0 {
			t.Errorf("left are %q, and in the trash %q", left, w.trash(w.alice))
		}
	})
}

// TestRetentionOfVersions removes old versions from the trash, in portions, with their tags, contents, and space.
func TestRetentionOfVersions(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, err := w.RetentionBegins(ctx)
		must(t, err)
		template := w.template(w.alice, 0, "t.docx")
		tags := make([]docgen.Tag, 2*docgen.RemovalPortion+50)
		for i := range tags {
			tags[i] = docgen.Tag{Content: fmt.Sprintf("{{a%d}}", i), Type: "text"}
		}
		must(t, w.SaveReading(ctx, template.VersionID, docgen.Reading{Tags: tags}))
		file := w.upload(w.alice, 0, "file.txt", "first")
		old := []int64{file.VersionID}
		for i := range 3 {
			old = append(old, w.version(w.alice, file.ID, fmt.Sprint("text ", i)).VersionID)
		}
		again, err := w.PromoteVersion(ctx, w.alice, file.ID, old[0]) // shares the content
		must(t, err)
		w.version(w.alice, template.ID, "second")
		must(t, w.TrashVersion(ctx, w.alice, template.ID, template.VersionID, ""))
		for _, id := range old[:3] {
			must(t, w.TrashVersion(ctx, w.alice, file.ID, id, ""))
		}
		w.pass(10)
		must(t, w.TrashVersion(ctx, w.alice, file.ID, old[3], "")) // younger
		_, err = w.RestoreVersion(ctx, w.alice, file.ID, old[1])
		must(t, err)

		keep := docgen.Retention{Trash: 30 * day}
		w.pass(15)
		if removed, _, err := w.ApplyRetention(ctx, keep); err != nil || removed != (docgen.RetentionCounts{}) {
			t.Errorf("after 25 days %+v was removed, %v", removed, err)
		}
		if found, err := w.OutdatedAt(ctx, keep, w.clock.now().Add(6*day)); err != nil || found != (docgen.RetentionCounts{Trash: 1}) {
			t.Errorf("after 31 days %+v will be outdated, %v", found, err)
		}
		w.pass(6)
		removed, more, err := w.ApplyRetention(ctx, keep)
		if must(t, err); removed != (docgen.RetentionCounts{Trash: 3}) || more {
			t.Errorf("removed %+v, more %t, want 3 versions", removed, more)
		}
		w.removeContents()
		w.wantNoOrphans()
		if got := query[int64](w, "SELECT id FROM file_versions WHERE file_id = $1 ORDER BY id", file.ID); !slices.Equal(got,
			[]int64{old[1], old[3], again.ID}) {
			t.Errorf("versions %d are left of %d and %d", got, old, again.ID)
		}
		if n := w.count(fmt.Sprint("SELECT COUNT(*) FROM docgen_tags WHERE version_id = ", template.VersionID)); n != 0 {
			t.Errorf("%d tags are left", n)
		}
		if got := w.text(w.alice, file.ID, 0); got != "first" {
			t.Errorf("the current version holds %q", got)
		}
		me, err := w.Me(ctx, w.alice)
		if want := int64(len("text 0") + len("text 2") + len("first") + len("second")); err != nil || me.Space.Bytes != want ||
			me.Space.Files != 2 {
			t.Errorf("space %+v, %v; want %d bytes in 2 files", me.Space, err, want)
		}
	})
}

// TestRetentionOfAudit removes old entries of the audit log, in portions, and keeps the others.
func TestRetentionOfAudit(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, err := w.RetentionBegins(ctx)
		must(t, err)
		before := w.count("SELECT COUNT(*) FROM audit_events")
		must(t, w.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2345)
			INSERT INTO audit_events SELECT i, $1, 'user.updated', 'success', 1, 1, 0, 0, '', '', '', 'user', '1', '' FROM n`, noon.UnixMicro()))
		w.pass(300)
		_, err = w.UpdateUser(ctx, w.Operator(), w.bob.User.ID, docgen.UserChange{Name: new("Robert")})
		must(t, err)
		keep := docgen.Retention{Audit: 365 * day}
		if removed, _, err := w.ApplyRetention(ctx, keep); err != nil || removed != (docgen.RetentionCounts{}) {
			t.Errorf("after 300 days %+v was removed, %v", removed, err)
		}
		if found, err := w.OutdatedAt(ctx, keep, w.clock.now().Add(66*day)); err != nil || found != (docgen.RetentionCounts{Audit: 1}) {
			t.Errorf("after 366 days %+v will be outdated, %v", found, err)
		}
		w.pass(66)
		removed, more, err := w.ApplyRetention(ctx, keep)
		if want := (docgen.RetentionCounts{Audit: int64(before) + 2345}); err != nil || removed != want || more {
			t.Errorf("removed %+v, more %t, %v; want %+v", removed, more, err, want)
		}
		if left := w.audited(docgen.AuditFilter{}); len(left) != 1 || left[0].Action != docgen.AuditUserUpdated {
			t.Errorf("%d entries are left, want that of the update alone", len(left))
		}
	})
}

// TestRetentionForever deletes nothing if no period is set, and nothing in the first days in any case.
func TestRetentionForever(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		p := w.newPress("old")
		p.fail()
		must(t, w.TrashFile(ctx, w.alice, w.upload(w.alice, 0, "trashed.txt", "x").ID, ""))
		short := docgen.Retention{Batches: day, Inputs: day, Trash: day, Failures: day, Audit: day}
		begins, err := w.RetentionBegins(ctx)
		must(t, err)
		w.pass(5)
		all := docgen.RetentionCounts{Batches: 1, Inputs: 1, Trash: 1, Failures: 1, Audit: 1}
		if found, err := w.OutdatedAt(ctx, short, begins); err != nil || found != all {
			t.Errorf("outdated will be %+v, %v, want %+v", found, err, all)
		}
		if found, err := w.OutdatedAt(ctx, docgen.Retention{}, begins); err != nil || found != (docgen.RetentionCounts{}) {
			t.Errorf("outdated without periods will be %+v, %v", found, err)
		}
		if removed, _, err := w.ApplyRetention(ctx, short); err != nil || removed != (docgen.RetentionCounts{}) {
			t.Errorf("in the first days %+v was removed, %v", removed, err)
		}
		w.pass(500)
		if removed, _, err := w.ApplyRetention(ctx, docgen.Retention{}); err != nil || removed != (docgen.RetentionCounts{}) {
			t.Errorf("without periods %+v was removed, %v", removed, err)
		}
		w.wantRows(p.batchID, 1, 1, 1)
	})
}

// TestRetentionWithAWrongClock deletes nothing on the first day after the clock was set far ahead.
func TestRetentionWithAWrongClock(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		var log strings.Builder
		service, err := docgen.New(ctx, docgen.Config{
			Store: w.db, Blobs: w.blobs, Now: w.clock.now, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		must(t, err)
		trash := func(name string) { must(t, w.TrashFile(ctx, w.alice, w.upload(w.alice, 0, name, "x").ID, "")) }
		applied := func(want int64, begins time.Time) {
			t.Helper()
			log.Reset()
			removed, more, err := service.ApplyRetention(ctx, docgen.Retention{Trash: 30 * day})
			if err != nil || more || removed != (docgen.RetentionCounts{Trash: want}) {
				t.Errorf("%v: removed %+v, more %t, %v; want %d", w.clock.now(), removed, more, err, want)
			}
			said := ""
			if !begins.IsZero() {
				said = "begins=" + begins.Format("2006-01-02T15:04:05.000Z")
			}
			if got := log.String(); (got != "") != (said != "") || !strings.Contains(got, said) {
				t.Errorf("%v: the log says %q, want %q", w.clock.now(), got, said)
			}
		}
		trash("a.txt")
		applied(0, time.Time{})
		w.pass(10)
		right := w.clock.now()

		wrong := right.Add(365 * day)
		w.clock.micros.Store(wrong.UnixMicro())
		applied(0, wrong.Add(day))
		w.clock.advance(23 * time.Hour)
		applied(0, wrong.Add(day))
		w.clock.micros.Store(right.Add(day).UnixMicro()) // corrected
		applied(0, time.Time{})
		w.pass(18)
		applied(0, time.Time{})
		w.pass(2)
		applied(1, time.Time{})

		trash("b.txt")
		w.clock.advance(40 * day) // the server is off
		began := w.clock.now()
		applied(0, began.Add(day))
		w.clock.advance(-time.Hour) // a little, and still far ahead
		began = w.clock.now()
		applied(0, began.Add(day))
		w.clock.advance(300 * day) // further ahead
		began = w.clock.now()
		applied(0, began.Add(day))
		w.clock.advance(day)
		applied(1, time.Time{})
		w.clock.advance(-30 * day) // accepted; otherwise the next run would be long after it
		applied(0, time.Time{})
		w.pass(1)
		w.clock.advance(29 * day)
		applied(0, w.clock.now().Add(day))
	})
}

// TestRetentionWithManyFaults stops after several items that cannot be deleted, because single items are then not the
// cause.
func TestRetentionWithManyFaults(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		_, err := w.RetentionBegins(ctx)
		must(t, err)
		for i := range 15 {
			must(t, w.TrashFile(ctx, w.alice, w.upload(w.alice, 0, fmt.Sprint("trashed ", i), "x").ID, ""))
			file := w.upload(w.alice, 0, fmt.Sprint("kept ", i), "x")
			w.version(w.alice, file.ID, "y")
			must(t, w.TrashVersion(ctx, w.alice, file.ID, file.VersionID, ""))
		}
		w.pass(31)
		must(t, w.exec("ALTER TABLE audit_events RENAME TO audit_events_away"))
		removed, _, err := w.ApplyRetention(ctx, docgen.Retention{Trash: 30 * day})
		must(t, w.exec("ALTER TABLE audit_events_away RENAME TO audit_events"))
		if err == nil || removed != (docgen.RetentionCounts{}) {
			t.Fatalf("removed %+v, %v", removed, err)
		}
		files, versions := strings.Count(err.Error(), "delete file "), strings.Count(err.Error(), "delete versions of file ")
		if files != 10 || versions != 10 {
			t.Errorf("the error names %d files and %d files with versions, want 10: %v", files, versions, err)
		}
		removed, _, err = w.ApplyRetention(ctx, docgen.Retention{Trash: 30 * day})
		if err != nil || removed != (docgen.RetentionCounts{Trash: 30}) {
			t.Errorf("later %+v is removed, %v; want 30", removed, err)
		}
	})
}
