package docgen_test

import (
	"fmt"
	"strings"
	"testing"

	"platen/docgen"
)

// newSample returns a sample without expectations.
func newSample(name string) docgen.NewSample {
	return docgen.NewSample{Name: name, Input: new(docgen.Inputs).Parse([]byte(`{}`))}
}

func TestLimitsOfSamples(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		first, second := w.template(w.alice, 0, "first.docx"), w.template(w.alice, 0, "second.docx")
		save := func(template int64, name string, bytes int) error {
			text := fmt.Sprintf(`{"x":"%s"}`, strings.Repeat("x", bytes-8))
			_, err := w.SaveSample(ctx, w.alice, template, docgen.NewSample{Name: name, Input: new(docgen.Inputs).Parse([]byte(text))})
			return err
		}
		wants := func(err error, code docgen.Code, text string) {
			t.Helper()
			if !docgen.IsCode(err, code) || !strings.Contains(err.Error(), text) {
				t.Errorf("got %v, want %s with %q", err, code, text)
			}
		}
		wants(save(first.ID, strings.Repeat("x", 101), 10), docgen.CodeBadRequest, "100")
		wants(save(first.ID, "x", 1<<20+1), docgen.CodeBadRequest, "1048576")
		for i := range 64 {
			must(t, save(first.ID, fmt.Sprint(i), 1<<20))
		}
		wants(save(second.ID, "another", 10), docgen.CodeConflict, "67108864")
		must(t, save(first.ID, "0", 10)) // one that is replaced does not count
		for i := range 36 {
			must(t, save(first.ID, fmt.Sprint(64+i), 10))
		}
		wants(save(first.ID, "another", 10), docgen.CodeConflict, "100 samples")
		must(t, save(first.ID, "7", 10))

		task := docgen.CheckSamples{UserID: w.alice.User.ID}
		check, err := w.NextSample(ctx, task)
		must(t, err)
		findings := docgen.SampleFindings{}
		for range 60 {
			findings.Differences = append(findings.Differences, docgen.SampleDifference{Message: strings.Repeat("ä", 600), Got: "a\x00b"})
			findings.Warnings = append(findings.Warnings, "warning")
		}
		must(t, w.SaveSampleResult(ctx, check, false, findings))
		report, err := w.SampleReport(ctx, w.alice, first.ID, 0)
		must(t, err)
		for _, result := range report.Results {
			if result.Name != check.Sample.Name {
				continue
			}
			if len(result.Differences) != 50 || result.Omitted != 10 || len(result.Warnings) != 20 || len(result.Differences[0].Message) > 500 {
				t.Errorf("%d differences, %d omitted, %d warnings", len(result.Differences), result.Omitted, len(result.Warnings))
			}
		}
		must(t, w.UnmarkTemplate(ctx, w.alice, first.ID))
		must(t, save(second.ID, "another", 1<<20)) // the others were deleted with the mark
		if _, err := w.MarkTemplate(ctx, w.alice, first.ID); err != nil {
			t.Fatal(err)
		}
		if report, err = w.SampleReport(ctx, w.alice, first.ID, 0); err != nil || report.State != docgen.SamplesNone || len(report.Results) != 0 {
			t.Errorf("marked again: %+v, %v", report, err)
		}
	})
}

// A result that was requested again while it was determined is not stored.
func TestSampleIsRequestedAgain(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		template := w.template(w.alice, 0, "t.docx")
		save := func() {
			_, err := w.SaveSample(ctx, w.alice, template.ID, newSample("x"))
			must(t, err)
		}
		save()
		old, err := w.NextSample(ctx, docgen.CheckSamples{UserID: w.alice.User.ID})
		must(t, err)
		save()
		current, err := w.NextSample(ctx, docgen.CheckSamples{UserID: w.alice.User.ID})
		must(t, err)
		for _, step := range []struct {
			check *docgen.SampleCheck
			want  string
		}{{old, docgen.SamplesProcessing}, {current, docgen.SamplesPassed}} {
			must(t, w.SaveSampleResult(ctx, step.check, true, docgen.SampleFindings{}))
			if report, err := w.SampleReport(ctx, w.alice, template.ID, 0); err != nil || report.State != step.want {
				t.Errorf("the state is %s, %v; want %s", report.State, err, step.want)
			}
		}
	})
}
