package docgen_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// unresolved returns the failures of a document with n unresolved tags with long paths.
func unresolved(n int) docgen.Failures {
	var f docgen.Failures
	for i := range n {
		path := fmt.Sprintf("order.%s.%d", strings.Repeat("x", 400), i)
		f.Errors = append(f.Errors, "The tag '"+path+"' was not provided in the input data.")
		f.Details = append(f.Details, &docgen.Detail{Message: f.Errors[i], Tag: "{{" + path + "}}", Path: path,
			Text: strings.Repeat("\x01", 5000)})
	}
	f.Warnings = []string{"The tag 'spare' was provided but not used in the template."}
	return f
}

func TestFailuresAreBounded(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := w.newPress("a", "b", "c")
		claim := p.claim()
		p.complete(claim, []docgen.Result{
			{Job: claim.Jobs[0], Output: p.save(claim.Jobs[0], "gaps"), Failures: unresolved(19_000)},
			{Job: claim.Jobs[1], Failures: docgen.Failures{Errors: []string{"it is broken"}, OmittedErrors: 41}},
			{Job: claim.Jobs[2], Output: p.save(claim.Jobs[2], "whole")},
		})
		if most := w.count("SELECT MAX(LENGTH(details)) FROM docgen_failures"); most > docgen.MaxFailureBytes {
			t.Errorf("%d bytes are kept of one job, more than %d", most, docgen.MaxFailureBytes)
		}
		if n := w.count("SELECT COUNT(*) FROM docgen_failures"); n != 2 {
			t.Errorf("%d jobs have failures, want 2", n)
		}
		page, err := w.Jobs(t.Context(), w.alice, docgen.JobFilter{BatchID: new(p.batchID)}, docgen.PageRequest{})
		must(t, err)
		for i, want := range []*docgen.FailureSummary{
			{Code: docgen.FailureIncomplete, Message: unresolved(1).Errors[0], Count: 19_001},
			{Code: docgen.FailureFailed, Message: "it is broken", Count: 42},
			nil,
		} {
			got := page.Entries[i]
			if (got.Summary == nil) != (want == nil) || want != nil && *got.Summary != *want {
				t.Errorf("job %d is listed with %+v, want %+v", i, got.Summary, want)
			}
			if got.Failures.Any() || got.Failures.Details != nil {
				t.Errorf("job %d is listed with all of its failures", i)
			}
		}
		f := w.jobs(p.batchID)[0].Failures
		if f.Count() != 19_001 || len(f.Errors) == 0 || len(f.Errors) > docgen.MaxProblems || len(f.Details) == 0 || f.OmittedWarnings != 1 {
			t.Errorf("%d problems, of which %d errors, %d details, and all but %d warnings are kept", f.Count(), len(f.Errors), len(f.Details),
				f.OmittedWarnings)
		}
		errors, warnings := f.Lines()
		if last := errors[len(errors)-1]; last != fmt.Sprintf("%d more were left out.", 19_000-len(f.Errors)) ||
			!slices.Equal(warnings, []string{"1 more were left out."}) {
			t.Errorf("the errors end with %q, the warnings are %q", last, warnings)
		}
	})
}

func TestShortFailuresAreUnchanged(t *testing.T) {
	f := unresolved(3)
	if got := f.Bounded(); !slices.Equal(got.Errors, f.Errors) || !slices.Equal(got.Warnings, f.Warnings) || len(got.Details) != 3 ||
		got.Count() != 4 {
		t.Errorf("three problems became %d, with %d details", got.Count(), len(got.Details))
	}
	long := docgen.Failures{Errors: []string{strings.Repeat("ä", docgen.MaxProblemText)}}.Bounded()
	if message := long.Errors[0]; len(message) > docgen.MaxProblemText || !strings.HasSuffix(message, "ä…") {
		t.Errorf("a long message has %d bytes and ends with %q", len(message), message[len(message)-10:])
	}
}

func TestFontsOfManyNamesAreBounded(t *testing.T) {
	report := &docgen.FontReport{}
	for i := range 10_000 {
		report.Used = append(report.Used, fmt.Sprintf("Font %d", i))
	}
	text, err := json.Marshal(docgen.Failures{Fonts: report}.Bounded())
	must(t, err)
	if len(text) > docgen.MaxFailureBytes {
		t.Errorf("%d bytes are kept of the fonts", len(text))
	}
}

func TestJobsOfEarlierReleasesAreSummarized(t *testing.T) {
	runLong(t, func(t *testing.T, w *world) {
		names := make([]string, 120)
		for i := range names {
			names[i] = fmt.Sprint("document ", i)
		}
		p := w.newPress(names...)
		old, err := json.Marshal(unresolved(50))
		must(t, err)
		must(t, w.exec("UPDATE docgen_jobs SET status = 'failed', finished_at = 1, failures = $1",
			strings.ReplaceAll(string(old), `\u0001`, "?")))
		w.recountBatches()
		listed := func() docgen.FailureSummary {
			page, err := w.Jobs(t.Context(), w.alice, docgen.JobFilter{BatchID: new(p.batchID)}, docgen.PageRequest{Limit: 1})
			must(t, err)
			return *page.Entries[0].Summary
		}
		if got := listed(); got.Code != docgen.FailureFailed || !strings.Contains(got.Message, "Get the job") {
			t.Errorf("before, the job is listed with %+v", got)
		}
		if f := w.jobs(p.batchID)[0].Failures; f.Count() != 51 {
			t.Errorf("before, the job has %d problems", f.Count())
		}
		for more := true; more; {
			more, err = w.Summarize(t.Context())
			must(t, err)
		}
		if got := listed(); got.Count != 51 || got.Message != unresolved(1).Errors[0] {
			t.Errorf("after, the job is listed with %+v", got)
		}
		if n := w.count("SELECT COUNT(*) FROM docgen_jobs WHERE summary = '' OR failures <> ''"); n != 0 {
			t.Errorf("%d jobs were not summarized", n)
		}
		if n := w.count("SELECT COUNT(*) FROM docgen_failures"); n != 120 {
			t.Errorf("%d jobs have failures, want 120", n)
		}
	})
}

func TestPagesAreBoundedInBytes(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		file := w.template(w.alice, 0, "long tags.docx")
		var reading docgen.Reading
		for i := range 600 {
			paths := []string{fmt.Sprintf("%d%s", i, strings.Repeat("p", 14_000)), strings.Repeat("q", 14_000)}
			reading.Tags = append(reading.Tags, docgen.Tag{Content: strings.Repeat("\"", 100_000), Type: "text", JSONPaths: paths})
		}
		must(t, w.SaveReading(t.Context(), file.VersionID, reading))
		seen, pages := 0, 0
		var markers []string
		for marker := ""; ; pages++ {
			page, ready, err := w.Tags(t.Context(), w.alice, file.ID, 0, docgen.PageRequest{Limit: 1000, Marker: marker})
			must(t, err)
			size := 0
			for _, tag := range page.Entries {
				if want := fmt.Sprintf("%d%s", seen, strings.Repeat("p", 14_000)); !ready || tag.JSONPaths[0] != want {
					t.Fatalf("entry %d is of another tag", seen)
				}
				seen++
				text, err := json.Marshal(tag)
				must(t, err)
				size += len(text)
			}
			if size > docgen.MaxPageBytes || len(page.Entries) == 0 || page.Limit != 1000 {
				t.Fatalf("a page of %d entries has %d bytes, more than %d", len(page.Entries), size, docgen.MaxPageBytes)
			}
			markers = append(markers, page.Prev)
			if marker = page.Next; marker == "" {
				break
			}
		}
		if seen != 600 || pages < 2 {
			t.Errorf("%d tags on %d pages", seen, pages+1)
		}
		back, _, err := w.Tags(t.Context(), w.alice, file.ID, 0, docgen.PageRequest{Limit: 1000, Marker: markers[len(markers)-1]})
		must(t, err)
		if len(back.Entries) == 0 || len(back.Entries) == 600 || back.Next == "" || back.Prev == "" {
			t.Errorf("a page backward has %d entries, next %q, prev %q", len(back.Entries), back.Next, back.Prev)
		}
		contract, _, err := w.Contract(t.Context(), w.alice, file.ID, 0)
		must(t, err)
		if len(contract.Warnings) != 1 || !strings.Contains(contract.Warnings[0], "600 tags are listed with shortened text") {
			t.Errorf("warnings = %.300q", contract.Warnings)
		}
	})
}

func TestNotificationsOfManyFailuresAreShort(t *testing.T) {
	lines := docgen.EventLines(unresolved(1000).Bounded())
	if size := len(strings.Join(lines, "\n")); size > 5<<10 || len(lines) < 2 {
		t.Errorf("%d lines with %d bytes", len(lines), size)
	}
	if last, want := lines[len(lines)-1], fmt.Sprintf("%d more were left out.", 1001-len(lines)); last != want {
		t.Errorf("the last line is %q, want %q", last, want)
	}
	if few := docgen.EventLines(docgen.Failures{Errors: []string{"no paper"}}); !slices.Equal(few, []string{"no paper"}) {
		t.Errorf("one failure became %q", few)
	}
}

func TestLargePagesRequestMemory(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		file := w.template(w.alice, 0, "long tags.docx")
		var reading docgen.Reading
		for range 200 {
			reading.Tags = append(reading.Tags, docgen.Tag{Content: strings.Repeat("x", 8000), Type: "text"})
		}
		must(t, w.SaveReading(t.Context(), file.VersionID, reading))
		caller := *w.alice
		asked, room := int64(0), int64(4<<20)
		caller.Room = func(bytes int64) error {
			if asked += bytes; asked > room {
				return &docgen.Error{Code: docgen.CodeUnavailable, Message: "no room"}
			}
			return nil
		}
		list := func(limit int) error {
			_, _, err := w.Tags(t.Context(), &caller, file.ID, 0, docgen.PageRequest{Limit: limit})
			return err
		}
		must(t, list(40))
		if asked != 0 {
			t.Errorf("a small page asked for %d bytes", asked)
		}
		must(t, list(200))
		if asked < 1<<20 {
			t.Errorf("a page of 1.6 MB asked for %d bytes", asked)
		}
		asked, room = 0, 1<<20
		wantCode(t, list(200), docgen.CodeUnavailable)
	})
}
