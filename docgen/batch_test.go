package docgen_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
	"platen/docx/lang"
)

// batchOf returns a batch with one document for each input: "Document 1", "Document 2", and so on.
func batchOf(template, destination int64, inputs ...string) docgen.NewBatch {
	b := docgen.NewBatch{TemplateID: template, DestinationID: destination, InputSource: docgen.InputSource,
		OutputType: docgen.OutputDocx, Inputs: new(docgen.Inputs)}
	for i, input := range inputs {
		b.Documents = append(b.Documents, docgen.NewDocument{Name: fmt.Sprintf("Document %d", i+1), Input: b.Inputs.Parse([]byte(input))})
	}
	return b
}

// batch creates a batch as alice.
func (w *world) batch(b docgen.NewBatch) string {
	w.t.Helper()
	id, err := w.CreateBatch(w.t.Context(), w.alice, b)
	must(w.t, err)
	return id
}

// jobs returns all jobs of a batch of alice, with their failures.
func (w *world) jobs(batch string) []docgen.Job {
	w.t.Helper()
	var jobs []docgen.Job
	for marker := ""; ; {
		page, err := w.Jobs(w.t.Context(), w.alice, docgen.JobFilter{BatchID: new(batch)}, docgen.PageRequest{Limit: docgen.MaxPageLimit,
			Marker: marker})
		must(w.t, err)
		for _, job := range page.Entries {
			if job.Summary != nil {
				job, err = w.Job(w.t.Context(), w.alice, job.ID)
				must(w.t, err)
			}
			jobs = append(jobs, job)
		}
		if marker = page.Next; marker == "" {
			return jobs
		}
	}
}

func TestCreateBatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		folder := w.folder(w.alice, 0, "out")
		id := w.batch(batchOf(template.ID, folder, numbered(`{"n": %d}`, 2500)...))

		t.Run("makes jobs that can be listed at once, pending, in the order of the documents", func(t *testing.T) {
			jobs := w.jobs(id)
			if len(jobs) != 2500 {
				t.Fatalf("%d jobs, want 2500", len(jobs))
			}
			want := docgen.Job{
				ID: jobs[0].ID, BatchID: id, TemplateID: template.ID, TemplateVersionID: template.VersionID, Status: docgen.StatusPending,
				OutputType: "docx", CreatedAt: noon, CreatedBy: w.alice.User.ID, EnterpriseID: w.alice.User.EnterpriseID, Source: "api",
			}
			for i, job := range jobs {
				if i > 0 && job.ID <= jobs[i-1].ID {
					t.Fatalf("job %d has the id %d after %d", i, job.ID, jobs[i-1].ID)
				}
				if want.ID = job.ID; !cmp.Equal(job, want) {
					t.Fatalf("job %d: %s", i, cmp.Diff(want, job))
				}
			}
			for _, i := range []int{0, 1, 1234, 2499} {
				input, err := w.Input(ctx, jobs[i].ID)
				if want := fmt.Sprintf(`{"n": %d}`, i+1); err != nil || string(input) != want {
					t.Errorf("input of job %d = %s, %v, want %s", i, input, err, want)
				}
			}
			one, err := w.Job(ctx, w.alice, jobs[7].ID)
			if err != nil || !cmp.Equal(one, jobs[7]) {
				t.Errorf("Job = %+v, %v, want %+v", one, err, jobs[7])
			}
		})
		t.Run("pins the version of the template", func(t *testing.T) {
			w.version(w.alice, template.ID, "newer")
			if job := w.jobs(id)[0]; job.TemplateVersionID != template.VersionID {
				t.Errorf("version = %d, want %d", job.TemplateVersionID, template.VersionID)
			}
			claim, err := w.ClaimBatch(ctx, id)
			if err != nil || claim.TemplateVersionID != template.VersionID {
				t.Errorf("claim = %+v, %v", claim, err)
			}
			content, err := w.TemplateContent(ctx, claim.TemplateVersionID)
			must(t, err)
			if content.Size != template.Size || content.SHA1 != template.SHA1 {
				t.Errorf("content = %+v, want that of the first version", content)
			}
			b := batchOf(template.ID, folder, "{}")
			b.VersionID = template.VersionID
			if job := w.jobs(w.batch(b))[0]; job.TemplateVersionID != template.VersionID {
				t.Errorf("version asked for = %d, want %d", job.TemplateVersionID, template.VersionID)
			}
		})
		t.Run("is visible only to its creator", func(t *testing.T) {
			w.share(docgen.File, template.ID, w.bob, docgen.RoleCoOwner)
			_, err := w.Jobs(ctx, w.bob, docgen.JobFilter{BatchID: new(id)}, docgen.PageRequest{})
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Job(ctx, w.bob, w.jobs(id)[0].ID)
			wantCode(t, err, docgen.CodeNotFound)
			page, err := w.Jobs(ctx, w.bob, docgen.JobFilter{TemplateID: new(template.ID)}, docgen.PageRequest{})
			if err != nil || len(page.Entries) != 0 {
				t.Errorf("bob's jobs of the template = %+v, %v, want none", page, err)
			}
			page, err = w.Jobs(ctx, w.bob, docgen.JobFilter{}, docgen.PageRequest{})
			if err != nil || len(page.Entries) != 0 {
				t.Errorf("bob's jobs = %+v, %v, want none", page, err)
			}
		})
		t.Run("that does not exist is not found, whatever its id", func(t *testing.T) {
			for _, id := range []string{"", "x", "\x00", "\xff", "' OR 1=1", "64528422-fbf4-4f8d-b6a0-b099c6572cf2", strings.Repeat("x", 1<<16)} {
				_, err := w.Jobs(ctx, w.alice, docgen.JobFilter{BatchID: new(id)}, docgen.PageRequest{})
				wantCode(t, err, docgen.CodeNotFound)
			}
			_, err := w.Job(ctx, w.alice, 1)
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}

func TestJobLists(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		first, second := w.template(w.alice, 0, "a.docx"), w.template(w.alice, 0, "b.docx")
		one := w.batch(batchOf(first.ID, 0, slices.Repeat([]string{"{}"}, 3)...))
		two := w.batch(batchOf(second.ID, 0, slices.Repeat([]string{"{}"}, 4)...))
		three := w.batch(batchOf(first.ID, 0, slices.Repeat([]string{"{}"}, 2)...))
		_, err := w.CreateBatch(ctx, w.bob, batchOf(w.template(w.bob, 0, "c.docx").ID, 0, "{}"))
		must(t, err)
		type read func(docgen.PageRequest) (docgen.Page[docgen.Job], error)
		for name, tt := range map[string]struct {
			read    read
			batches []string
		}{
			"of a batch": {func(r docgen.PageRequest) (docgen.Page[docgen.Job], error) {
				return w.Jobs(ctx, w.alice, docgen.JobFilter{BatchID: new(two)}, r)
			}, []string{two}},
			"of a template": {func(r docgen.PageRequest) (docgen.Page[docgen.Job], error) {
				return w.Jobs(ctx, w.alice, docgen.JobFilter{TemplateID: new(first.ID)}, r)
			}, []string{one, three}},
			"of a user": {func(r docgen.PageRequest) (docgen.Page[docgen.Job], error) {
				return w.Jobs(ctx, w.alice, docgen.JobFilter{}, r)
			}, []string{one, two, three}},
		} {
			t.Run(name, func(t *testing.T) {
				var want []docgen.Job
				for _, batch := range tt.batches {
					want = append(want, w.jobs(batch)...)
				}
				for limit := 1; limit <= len(want)+1; limit++ {
					var got, before []docgen.Job
					for r := (docgen.PageRequest{Limit: limit}); ; {
						page, err := tt.read(r)
						must(t, err)
						got = append(got, page.Entries...)
						if page.Prev != "" {
							back, err := tt.read(docgen.PageRequest{Limit: limit, Marker: page.Prev})
							if err != nil || !cmp.Equal(back.Entries, before) {
								t.Errorf("by %d: before %v: %v, %v, want %v", limit, page.Entries, back.Entries, err, before)
							}
						}
						before = page.Entries
						if r.Marker = page.Next; r.Marker == "" {
							break
						}
					}
					if !cmp.Equal(got, want) {
						t.Errorf("by %d: %v, want %v", limit, got, want)
					}
				}
			})
		}
	})
}

func TestBatchProblems(t *testing.T) {
	limits := docgen.Limits{Documents: 3, InputBytes: 20_000}
	runWith(t, limits, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "a.docx")
		hidden := w.template(w.bob, 0, "b.docx")
		shown := w.folder(w.bob, 0, "shown")
		_, err := w.CreateCollaboration(ctx, w.bob, docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: shown, UserID: w.alice.User.ID,
			Role: docgen.RoleViewer})
		must(t, err)
		trashed := w.folder(w.alice, 0, "trashed")
		must(t, w.TrashFolder(ctx, w.alice, trashed, false, ""))
		gone := w.template(w.alice, 0, "gone.docx")
		must(t, w.TrashFile(ctx, w.alice, gone.ID, ""))
		named := func(names ...string) docgen.NewBatch {
			b := batchOf(template.ID, 0)
			for _, name := range names {
				b.Documents = append(b.Documents, docgen.NewDocument{Name: name, Input: b.Inputs.Parse([]byte("{}"))})
			}
			return b
		}
		deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
		const at = "document_generation_data"
		tests := map[string]struct {
			batch docgen.NewBatch
			want  []string
		}{
			"everything at once": {
				docgen.NewBatch{TemplateID: template.ID, InputSource: "file", OutputType: "xlsx", Documents: []docgen.NewDocument{
					{Name: "a/b", Input: new(docgen.Inputs).Parse([]byte("[]"))}, {Name: "good", Input: new(docgen.Inputs).Parse([]byte("{}"))},
					{Name: ""},
				}},
				[]string{"input_source", "output_type", at + "[0].generated_file_name", at + "[0].user_input", at + "[2].generated_file_name",
					at + "[2].user_input"},
			},
			"no documents":       {batchOf(template.ID, 0), []string{at}},
			"too many documents": {batchOf(template.ID, 0, "{}", "{}", "{}", "{}"), []string{at}},
			"far too many that are wrong": {docgen.NewBatch{InputSource: "api", OutputType: "docx",
				Documents: make([]docgen.NewDocument, 10_000)}, slices.Concat([]string{at}, numberedFields(at, limits.Documents))},
			"an empty name":                      {named(""), []string{at + "[0].generated_file_name"}},
			"a name too long with its extension": {named(strings.Repeat("a", 251)), []string{at + "[0].generated_file_name"}},
			"a folder that is not":               {batchOf(template.ID, 12345, "{}"), []string{"destination_folder.id"}},
			"a folder that is hidden":            {batchOf(template.ID, w.folder(w.bob, 0, "hidden"), "{}"), []string{"destination_folder.id"}},
			"a folder that is a file":            {batchOf(template.ID, template.ID, "{}"), []string{"destination_folder.id"}},
			"a folder in the trash":              {batchOf(template.ID, trashed, "{}"), []string{"destination_folder.id"}},
			"a null for an input":                {batchOf(template.ID, 0, "null"), []string{at + "[0].user_input"}},
			"a text for an input":                {batchOf(template.ID, 0, `"{}"`), []string{at + "[0].user_input"}},
			"an input that is cut":               {batchOf(template.ID, 0, `{"a":1`), []string{at + "[0].user_input"}},
			"two inputs in one":                  {batchOf(template.ID, 0, `{}{}`), []string{at + "[0].user_input"}},
			"an input too deep":                  {batchOf(template.ID, 0, deep(lang.MaxDepth+1)), []string{at + "[0].user_input"}},
			"an input far too deep":              {batchOf(template.ID, 0, strings.Repeat(`{"a":[`, 3000)), []string{at + "[0].user_input"}},
			"an input too large": {batchOf(template.ID, 0, `{"a":"`+strings.Repeat("x", 20_000)+`"}`),
				[]string{at + "[0].user_input"}},
			"an input that is no UTF-8": {batchOf(template.ID, 0, "{\"a\":\"\xff\"}"), []string{at + "[0].user_input"}},
			"an input with a NUL in it": {batchOf(template.ID, 0, "{\"a\":\"\x00\"}"), []string{at + "[0].user_input"}},
		}
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				id, err := w.CreateBatch(ctx, w.alice, tt.batch)
				if got := problemNames(t, err); id != "" || !docgen.IsCode(err, docgen.CodeBadRequest) || !slices.Equal(got, tt.want) {
					t.Errorf("CreateBatch = %q, problems with %q, want %q", id, got, tt.want)
				}
			})
		}
		for name, tt := range map[string]struct {
			batch docgen.NewBatch
			want  docgen.Code
		}{
			"a template of others":    {batchOf(hidden.ID, 0, "{}"), docgen.CodeNotFound},
			"a template in the trash": {batchOf(gone.ID, 0, "{}"), docgen.CodeTrashed},
			"another template's version": {docgen.NewBatch{TemplateID: template.ID, VersionID: gone.VersionID, InputSource: "api",
				OutputType: "docx", Documents: named("a").Documents}, docgen.CodeNotFound},
			"a folder that is only shown": {batchOf(template.ID, shown, "{}"), docgen.CodeForbidden},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := w.CreateBatch(ctx, w.alice, tt.batch)
				wantCode(t, err, tt.want)
			})
		}
		t.Run("leave no rows", func(t *testing.T) {
			if n := w.count("SELECT (SELECT COUNT(*) FROM docgen_batches) + (SELECT COUNT(*) FROM docgen_jobs) + (SELECT COUNT(*) FROM " +
				"docgen_inputs)"); n != 0 {
				t.Errorf("%d rows of refused batches", n)
			}
		})
		t.Run("do not exist in valid batches", func(t *testing.T) {
			for _, input := range []string{" {} ", deep(lang.MaxDepth), `{"a":"\u0000 \" { [ \\"}`, `{"a":1e999}`} {
				_, err := w.CreateBatch(ctx, w.alice, batchOf(template.ID, 0, input))
				wantCode(t, err, "")
			}
			id := w.batch(named("a", "b.docx", "c.DOCX"))
			claim, err := w.ClaimBatch(ctx, id)
			must(t, err)
			var names []string
			for _, job := range claim.Jobs {
				names = append(names, job.FileName)
			}
			if want := []string{"a.docx", "b.docx", "c.DOCX"}; !slices.Equal(names, want) {
				t.Errorf("names = %q, want %q", names, want)
			}
		})
	})
}

// numberedFields lists both fields of the first documents of a batch.
func numberedFields(list string, n int) []string {
	var fields []string
	for i := range n {
		fields = append(fields, fmt.Sprintf("%s[%d].generated_file_name", list, i), fmt.Sprintf("%s[%d].user_input", list, i))
	}
	return fields
}

// TestBatchIsAllOrNothing shows that rows and queue entries are committed together.
func TestBatchIsAllOrNothing(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "a.docx")
		must(t, w.exec("ALTER TABLE river_job RENAME TO river_job_away"))
		_, err := w.CreateBatch(t.Context(), w.alice, batchOf(template.ID, 0, slices.Repeat([]string{"{}"}, 100)...))
		must(t, w.exec("ALTER TABLE river_job_away RENAME TO river_job"))
		var known *docgen.Error
		if err == nil || errors.As(err, &known) {
			t.Fatalf("CreateBatch without a queue: %v, want an error of the server's own", err)
		}
		if n := w.count("SELECT (SELECT COUNT(*) FROM docgen_batches) + (SELECT COUNT(*) FROM docgen_jobs) + (SELECT COUNT(*) FROM " +
			"docgen_inputs)"); n != 0 {
			t.Errorf("%d rows are left of a batch that failed", n)
		}
		w.batch(batchOf(template.ID, 0, "{}"))
	})
}
