package docgen_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/store"
)

// Jobs can be filtered by every field of JobFilter: a list has exactly the jobs with the value, in both directions, and
// its markers are valid only for it.
func TestJobFilter(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for _, name := range []string{"One.docx", "Two.docx"} {
			template := w.template(w.alice, 0, name)
			for _, output := range []string{docgen.OutputDocx, docgen.OutputPDF} {
				batch := batchOf(template.ID, 0, "{}", "{}", "{}")
				batch.OutputType = output
				w.batch(batch)
			}
		}
		all := w.listed(docgen.JobFilter{})
		if len(all) != 12 {
			t.Fatalf("%d jobs, want 12", len(all))
		}
		for field := range reflect.TypeFor[docgen.JobFilter]().Fields() {
			t.Run(field.Name, func(t *testing.T) {
				valueOf := func(j docgen.Job) any { return reflect.ValueOf(j).FieldByName(field.Name).Interface() }
				others := slices.DeleteFunc(slices.Clone(all), func(j docgen.Job) bool { return valueOf(j) == valueOf(all[0]) })
				if len(others) == 0 {
					t.Fatal("all jobs have the same value: have some with another")
				}
				w.wantFiltered(t, all, field.Name, valueOf(all[0]))
				w.wantFiltered(t, all, field.Name, valueOf(others[0]))
			})
		}
	})
}

// wantFiltered checks the lists of jobs for each value of a field.
func (w *world) wantFiltered(t *testing.T, all []docgen.Job, name string, value any) {
	t.Helper()
	var f docgen.JobFilter
	field := reflect.ValueOf(&f).Elem().FieldByName(name)
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	field.Set(reflect.ValueOf(value))
	var want []int64
	for _, j := range all {
		if reflect.ValueOf(j).FieldByName(name).Interface() == value {
			want = append(want, j.ID)
		}
	}
	if got := ids(w.listed(f)); !slices.Equal(got, want) {
		t.Errorf("jobs with %s %v: %v, want %v", name, value, got, want)
	}
	first, err := w.Jobs(t.Context(), w.alice, f, docgen.PageRequest{Limit: 2})
	must(t, err)
	second, err := w.Jobs(t.Context(), w.alice, f, docgen.PageRequest{Limit: 2, Marker: first.Next})
	must(t, err)
	again, err := w.Jobs(t.Context(), w.alice, f, docgen.PageRequest{Limit: 2, Marker: second.Prev})
	must(t, err)
	if got := ids(again.Entries); !slices.Equal(got, want[:2]) {
		t.Errorf("the page before the second of %s %v: %v, want %v", name, value, got, want[:2])
	}
	_, err = w.Jobs(t.Context(), w.alice, docgen.JobFilter{}, docgen.PageRequest{Marker: first.Next})
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
		template := &w.listed(docgen.JobFilter{})[0].TemplateID
		for name, f := range map[string]docgen.JobFilter{
			"all": {}, "batch": {BatchID: &batch}, "template": {TemplateID: template},
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
