package docgen_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
	"platen/store"
)

// TestBatches lists batches, newest first, in both directions and with every filter.
func TestBatches(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		var made []string // oldest first
		var templates []int64
		for i := range 6 {
			template := w.template(w.alice, 0, fmt.Sprintf("%d.docx", i))
			b := batchOf(template.ID, 0, "{}", "{}")
			if i%3 == 0 {
				b.OutputType = docgen.OutputPDF
			}
			made, templates = append(made, w.batch(b)), append(templates, template.ID)
			if i != 3 { // two batches of the same moment
				w.clock.advance(time.Hour)
			}
		}
		must(t, w.TrashFile(ctx, w.alice, templates[0], "")) // a filter still finds its batches
		w.fail(made[1], 2)
		w.fail(made[2], 1)
		_, err := w.CancelBatch(ctx, w.alice, made[4])
		must(t, err)
		w.cancelJobs(t)
		for name, tt := range map[string]struct {
			filter docgen.BatchFilter
			want   []int
		}{
			"no filter":     {docgen.BatchFilter{}, []int{5, 4, 3, 2, 1, 0}},
			"in progress":   {docgen.BatchFilter{State: docgen.BatchInProgress}, []int{5, 3, 2, 0}},
			"ended":         {docgen.BatchFilter{State: docgen.BatchEnded}, []int{4, 1}},
			"with failures": {docgen.BatchFilter{State: docgen.BatchWithFailures}, []int{2, 1}},
			"canceled":      {docgen.BatchFilter{State: docgen.BatchCanceled}, []int{4}},
			"template":      {docgen.BatchFilter{TemplateID: templates[0]}, []int{0}},
			"output type":   {docgen.BatchFilter{OutputType: docgen.OutputPDF}, []int{3, 0}},
			"time":          {docgen.BatchFilter{From: noon.Add(time.Hour), To: noon.Add(3 * time.Hour)}, []int{2, 1}},
		} {
			t.Run(name, func(t *testing.T) {
				var want []string
				for _, i := range tt.want {
					want = append(want, made[i])
				}
				var forward []string
				var page docgen.Page[docgen.Batch]
				for marker := ""; ; marker = page.Next {
					var err error
					page, err = w.Batches(ctx, w.alice, tt.filter, docgen.PageRequest{Limit: 2, Marker: marker})
					must(t, err)
					for _, b := range page.Entries {
						forward = append(forward, b.ID)
						alone, err := w.Batch(ctx, w.alice, b.ID)
						if err != nil || !cmp.Equal(alone, b) {
							t.Errorf("listed %+v, alone %+v, %v", b, alone, err)
						}
					}
					if page.Next == "" {
						break
					}
				}
				if !slices.Equal(forward, want) {
					t.Errorf("forward %v, want %v", forward, want)
				}
				backward := idsOf(page.Entries)
				for page.Prev != "" {
					var err error
					page, err = w.Batches(ctx, w.alice, tt.filter, docgen.PageRequest{Limit: 2, Marker: page.Prev})
					must(t, err)
					backward = append(idsOf(page.Entries), backward...)
				}
				if !slices.Equal(backward, want) {
					t.Errorf("backward %v, want %v", backward, want)
				}
			})
		}
		t.Run("of another user", func(t *testing.T) {
			page, err := w.Batches(ctx, w.bob, docgen.BatchFilter{}, docgen.PageRequest{})
			if err != nil || len(page.Entries) != 0 {
				t.Errorf("%d batches, %v", len(page.Entries), err)
			}
		})
		t.Run("invalid filters", func(t *testing.T) {
			_, err := w.Batches(ctx, w.alice, docgen.BatchFilter{State: "pending", OutputType: "odt"}, docgen.PageRequest{})
			if got := problemNames(t, err); !slices.Equal(got, []string{"state", "output_type"}) {
				t.Errorf("problems with %q", got)
			}
		})
		t.Run("without deleted ones", func(t *testing.T) {
			must(t, w.DeleteBatch(ctx, w.alice, made[1]))
			page, err := w.Batches(ctx, w.alice, docgen.BatchFilter{}, docgen.PageRequest{})
			if err != nil || len(page.Entries) != 5 {
				t.Errorf("%d batches, %v, want 5", len(page.Entries), err)
			}
		})
	})
}

func idsOf(batches []docgen.Batch) []string {
	all := []string{}
	for _, b := range batches {
		all = append(all, b.ID)
	}
	return all
}

// No list of batches reads all batches or counts all jobs, however many exist.
func TestBatchListsReadNoBacklog(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.backlog(40_000, 10)
		must(t, w.exec("UPDATE docgen_batches SET created_at = created_at + number, ended_at = number"))
		must(t, w.exec("UPDATE docgen_batches SET ended_at = 0, jobs_failed = 1, canceled_at = 1 WHERE number < 1000"))
		must(t, w.exec("ANALYZE"))
		for _, state := range []store.BatchState{"", store.BatchInProgress, store.BatchWithFailures, store.BatchCanceled} {
			f := store.BatchFilter{CreatedBy: w.alice.User.ID, State: state}
			plans := w.plans(func(q *store.Queries) error {
				newest, err := q.BatchesBefore(t.Context(), f, math.MaxInt64, math.MaxInt64, 51)
				if err != nil || len(newest) != 51 {
					return fmt.Errorf("%d batches: %w", len(newest), err)
				}
				_, err = q.BatchesAfter(t.Context(), f, 0, 0, 51)
				return err
			})
			for _, plan := range plans {
				if strings.Contains(plan, "Seq Scan on docgen_b") || strings.Contains(plan, "Seq Scan on docgen_j") ||
					strings.Contains(plan, "SCAN ") || strings.Contains(plan, "->  Sort  (") || strings.Contains(plan, "TEMP B-TREE") {
					t.Errorf("%q: a statement reads or sorts more than a page:\n%s", state, plan)
				}
			}
		}
		w.recountBatches()
	})
}
