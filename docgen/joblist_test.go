package docgen_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
)

// Jobs can be filtered by status, template, batch, creator, and time: a list has exactly the jobs with the values, in both orders and both
// directions, and its markers are valid only for it.
func TestJobFilter(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for _, name := range []string{"One.docx", "Two.docx"} {
			template := w.template(w.alice, 0, name)
			for _, output := range []string{docgen.OutputDocx, docgen.OutputPDF} {
				batch := batchOf(template.ID, 0, "{}", "{}", "{}", "{}")
				batch.OutputType = output
				w.fail(w.batch(batch), 2)
				w.clock.advance(time.Hour)
			}
		}
		all := w.listed(docgen.JobFilter{})
		if len(all) != 16 {
			t.Fatalf("%d jobs, want 16", len(all))
		}
		first := all[0]
		for name, tt := range map[string]struct {
			filter docgen.JobFilter
			has    func(docgen.Job) bool
		}{
			"none":     {docgen.JobFilter{}, func(docgen.Job) bool { return true }},
			"batch":    {docgen.JobFilter{BatchID: &first.BatchID}, func(j docgen.Job) bool { return j.BatchID == first.BatchID }},
			"template": {docgen.JobFilter{TemplateID: &first.TemplateID}, func(j docgen.Job) bool { return j.TemplateID == first.TemplateID }},
			"status": {docgen.JobFilter{Status: []docgen.Status{docgen.StatusFailed}},
				func(j docgen.Job) bool { return j.Status == docgen.StatusFailed }},
			"statuses": {docgen.JobFilter{Status: []docgen.Status{docgen.StatusFailed, docgen.StatusPending}, TemplateID: &first.TemplateID},
				func(j docgen.Job) bool { return j.Status != docgen.StatusSubmitted && j.TemplateID == first.TemplateID }},
			"creator": {docgen.JobFilter{CreatedBy: w.alice.User.ID}, func(docgen.Job) bool { return true }},
			"time": {docgen.JobFilter{From: noon.Add(time.Hour), To: noon.Add(3 * time.Hour)},
				func(j docgen.Job) bool {
					return !j.CreatedAt.Before(noon.Add(time.Hour)) && j.CreatedAt.Before(noon.Add(3*time.Hour))
				}},
		} {
			t.Run(name, func(t *testing.T) {
				var want []int64
				for _, j := range all {
					if tt.has(j) {
						want = append(want, j.ID)
					}
				}
				w.wantFiltered(t, tt.filter, want)
				tt.filter.Newest = true
				slices.Reverse(want)
				w.wantFiltered(t, tt.filter, want)
			})
		}
		t.Run("an unknown status", func(t *testing.T) {
			_, err := w.Jobs(t.Context(), w.alice, docgen.JobFilter{Status: []docgen.Status{"canceled"}}, docgen.PageRequest{})
			wantCode(t, err, docgen.CodeBadRequest)
		})
		t.Run("another creator", func(t *testing.T) {
			others := docgen.JobFilter{CreatedBy: w.alice.User.ID}
			_, err := w.Jobs(t.Context(), w.bob, others, docgen.PageRequest{})
			wantCode(t, err, docgen.CodeScope)
			w.contentManager("ada")
			admin := w.caller("ada")
			page, err := w.Jobs(t.Context(), admin, others, docgen.PageRequest{Limit: 100})
			if err != nil || len(page.Entries) != 16 {
				t.Errorf("%d jobs, %v, want 16", len(page.Entries), err)
			}
			_, err = w.Jobs(t.Context(), admin, docgen.JobFilter{CreatedBy: 1}, docgen.PageRequest{})
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Jobs(t.Context(), admin, docgen.JobFilter{CreatedBy: w.alice.User.ID, BatchID: &first.BatchID}, docgen.PageRequest{})
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}

// fail fails the first jobs of a batch, and leaves the others submitted.
func (w *world) fail(batch string, jobs int) {
	w.t.Helper()
	claim, err := w.ClaimBatch(w.t.Context(), batch)
	must(w.t, err)
	var results []docgen.Result
	for _, job := range claim.Jobs[:jobs] {
		results = append(results, docgen.Result{Job: job, Failures: docgen.Failures{Errors: []string{"it is broken"}}})
	}
	_, err = w.CompleteJobs(w.t.Context(), claim, results)
	must(w.t, err)
}

// wantFiltered checks the pages of a list of jobs.
func (w *world) wantFiltered(t *testing.T, f docgen.JobFilter, want []int64) {
	t.Helper()
	if got := ids(w.listed(f)); !slices.Equal(got, want) {
		t.Errorf("jobs of %+v: %v, want %v", f, got, want)
	}
	first, err := w.Jobs(t.Context(), w.alice, f, docgen.PageRequest{Limit: 2})
	must(t, err)
	second, err := w.Jobs(t.Context(), w.alice, f, docgen.PageRequest{Limit: 2, Marker: first.Next})
	must(t, err)
	if got := ids(second.Entries); !slices.Equal(got, want[2:4]) {
		t.Errorf("the second page of %+v: %v, want %v", f, got, want[2:4])
	}
	again, err := w.Jobs(t.Context(), w.alice, f, docgen.PageRequest{Limit: 2, Marker: second.Prev})
	must(t, err)
	if got := ids(again.Entries); !slices.Equal(got, want[:2]) {
		t.Errorf("the page before the second of %+v: %v, want %v", f, got, want[:2])
	}
	f.Newest = !f.Newest
	_, err = w.Jobs(t.Context(), w.alice, f, docgen.PageRequest{Marker: first.Next})
	wantCode(t, err, docgen.CodeBadRequest)
}

// listed returns all jobs of alice that a filter selects.
func (w *world) listed(f docgen.JobFilter) []docgen.Job {
	w.t.Helper()
	page, err := w.Jobs(w.t.Context(), w.alice, f, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	must(w.t, err)
	return page.Entries
}

func ids(jobs []docgen.Job) []int64 {
	all := make([]int64, len(jobs))
	for i := range jobs {
		all[i] = jobs[i].ID
	}
	return all
}

// No list of jobs reads all jobs or sorts jobs, however many exist.
func TestJobListsReadNoBacklog(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		batch := w.backlog(40_000, 100)
		must(t, w.exec("UPDATE docgen_jobs SET status = 'failed', waiting = FALSE WHERE batch_id = $1", batch))
		w.recountBatches()
		template := &w.listed(docgen.JobFilter{})[0].TemplateID
		for name, f := range map[string]docgen.JobFilter{
			"all": {}, "batch": {BatchID: &batch}, "template": {TemplateID: template}, "failed": {BatchID: &batch,
				Status: []docgen.Status{docgen.StatusFailed}},
		} {
			plans := w.plans(func(q *store.Queries) error {
				after, err := q.JobsAfter(t.Context(), f.Conditions(w.alice), 0, 51)
				if err != nil || len(after) != 51 {
					return fmt.Errorf("%d jobs after 0: %w", len(after), err)
				}
				before, err := q.JobsBefore(t.Context(), f.Conditions(w.alice), math.MaxInt64, 51)
				if err != nil || len(before) != 51 {
					return fmt.Errorf("%d jobs before the end: %w", len(before), err)
				}
				return nil
			})
			for _, plan := range plans {
				if strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "SCAN ") || strings.Contains(plan, "Sort") ||
					strings.Contains(plan, "TEMP B-TREE") {
					t.Errorf("%s: a statement reads or sorts more than a page:\n%s", name, plan)
				}
			}
		}
	})
}
