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

// saveSized saves a sample of a number of bytes.
func (w *world) saveSized(c *docgen.Caller, template int64, name string, bytes int) error {
	w.t.Helper()
	text := fmt.Sprintf(`{"x":"%s"}`, strings.Repeat("x", bytes-8))
	_, err := w.SaveSample(w.t.Context(), c, template, docgen.NewSample{Name: name, Input: new(docgen.Inputs).Parse([]byte(text))})
	return err
}

// fillSamples gives a template as many samples as it can have by their size: 8 MiB.
func (w *world) fillSamples(c *docgen.Caller, template int64) {
	w.t.Helper()
	for i := range 8 {
		must(w.t, w.saveSized(c, template, fmt.Sprint(i), 1<<20))
	}
}

// wantRefused fails unless the error has a code and contains a text.
func wantRefused(t *testing.T, err error, code docgen.Code, text string) {
	t.Helper()
	if !docgen.IsCode(err, code) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %s with %q", err, code, text)
	}
}

func TestLimitsOfSamples(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		file := w.template(w.alice, 0, "t.docx").ID
		wantRefused(t, w.saveSized(w.alice, file, strings.Repeat("x", 101), 10), docgen.CodeBadRequest, "100")
		wantRefused(t, w.saveSized(w.alice, file, "x", 1<<20+1), docgen.CodeBadRequest, "1048576")
		w.fillSamples(w.alice, file)
		wantRefused(t, w.saveSized(w.alice, file, "another", 10), docgen.CodeConflict,
			"of the template would have 8388618 bytes, more than the limit of 8388608")
		must(t, w.saveSized(w.alice, file, "0", 1<<20)) // one that is replaced does not count
		must(t, w.saveSized(w.alice, file, "0", 1<<19))
		for i := range 92 {
			must(t, w.saveSized(w.alice, file, fmt.Sprint(8+i), 10))
		}
		wantRefused(t, w.saveSized(w.alice, file, "another", 10), docgen.CodeConflict, "100 samples")
		must(t, w.saveSized(w.alice, file, "7", 10))
	})
}

// The samples of all templates of an owner count, also those that others save, until they or their templates are deleted permanently.
func TestSamplesOfOwner(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "shared")
		w.share(docgen.Folder, folder, w.bob, docgen.RoleEditor)
		var files []int64
		for i := range 8 {
			files = append(files, w.template(w.bob, folder, fmt.Sprint(i, ".docx")).ID)
			w.fillSamples(w.bob, files[i])
		}
		last := w.template(w.alice, 0, "last.docx").ID
		full := func() {
			t.Helper()
			wantRefused(t, w.saveSized(w.alice, last, "new", 10), docgen.CodeConflict, "67108874 bytes, more than the limit of 67108864")
		}
		full()
		own := w.template(w.bob, 0, "own.docx").ID
		must(t, w.saveSized(w.bob, own, "x", 10))
		_, err := w.UpdateFile(ctx, w.bob, own, docgen.ItemChange{ParentID: &folder}) // its new owner would be alice
		wantRefused(t, err, docgen.CodeStorageFull, "67108874 bytes")
		plain := w.template(w.bob, 0, "plain.docx").ID
		_, err = w.UpdateFile(ctx, w.bob, plain, docgen.ItemChange{ParentID: &folder})
		must(t, err)

		must(t, w.TrashFile(ctx, w.alice, files[0], ""))
		full()
		must(t, w.Purge(ctx, w.alice, docgen.File, files[0]))
		must(t, w.saveSized(w.alice, last, "new", 1<<20))
		must(t, w.UnmarkTemplate(ctx, w.alice, files[1]))
		must(t, w.DeleteSample(ctx, w.alice, files[2], "0"))
		_, err = w.UpdateFile(ctx, w.bob, own, docgen.ItemChange{ParentID: &folder})
		must(t, err)
	})
}

// The samples in archives have no limit for all templates, because the enterprise owns them.
func TestSamplesInArchives(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		manager := w.archivist(docgen.ScopeDocGen)
		archive := w.archive(manager, "archive").ID
		must(t, w.saveSized(manager, w.template(manager, archive, "full.docx").ID, "x", 10))
		must(t, w.exec("UPDATE docgen_samples SET size = $1", 64<<20))
		must(t, w.saveSized(manager, w.template(manager, archive, "another.docx").ID, "x", 10))
	})
}

func TestLimitsOfSampleFindings(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.template(w.alice, 0, "t.docx").ID
		must(t, w.saveSized(w.alice, file, "x", 10))
		check, err := w.NextSample(ctx, docgen.CheckSamples{UserID: w.alice.User.ID})
		must(t, err)
		findings := docgen.SampleFindings{}
		for range 60 {
			findings.Differences = append(findings.Differences, docgen.SampleDifference{Message: strings.Repeat("ä", 600), Got: "a\x00b"})
			findings.Warnings = append(findings.Warnings, "warning")
		}
		must(t, w.SaveSampleResult(ctx, check, false, findings))
		report, err := w.SampleReport(ctx, w.alice, file, 0)
		must(t, err)
		result := report.Results[0]
		if len(result.Differences) != 50 || result.Omitted != 10 || len(result.Warnings) != 20 || len(result.Differences[0].Message) > 500 {
			t.Errorf("%d differences, %d omitted, %d warnings", len(result.Differences), result.Omitted, len(result.Warnings))
		}
		must(t, w.UnmarkTemplate(ctx, w.alice, file))
		if _, err := w.MarkTemplate(ctx, w.alice, file); err != nil {
			t.Fatal(err)
		}
		if report, err = w.SampleReport(ctx, w.alice, file, 0); err != nil || report.State != docgen.SamplesNone || len(report.Results) != 0 {
			t.Errorf("marked again: %+v, %v", report, err)
		}
	})
}

// passSample saves a sample of a template of alice, and passes all checks that wait.
func (w *world) passSample(template int64, name string) {
	w.t.Helper()
	_, err := w.SaveSample(w.t.Context(), w.alice, template, newSample(name))
	must(w.t, err)
	for check := w.nextSample(); check != nil; check = w.nextSample() {
		must(w.t, w.SaveSampleResult(w.t.Context(), check, true, docgen.SampleFindings{}))
	}
}

// nextSample begins the next check for alice; nil if none waits.
func (w *world) nextSample() *docgen.SampleCheck {
	w.t.Helper()
	check, err := w.NextSample(w.t.Context(), docgen.CheckSamples{UserID: w.alice.User.ID})
	must(w.t, err)
	return check
}

// wantSamples fails unless a version of a template of alice has a state, and batches use a version.
func (w *world) wantSamples(template, version int64, state string, inUse int64) {
	w.t.Helper()
	report, err := w.SampleReport(w.t.Context(), w.alice, template, version)
	must(w.t, err)
	found, err := w.Template(w.t.Context(), w.alice, template)
	must(w.t, err)
	if report.State != state || found.VersionID != inUse {
		w.t.Errorf("the state of version %d is %s, and %d is in use; want %s and %d", version, report.State, found.VersionID, state, inUse)
	}
}

// A result that was requested again while it was determined is not stored, even if the sample was deleted meanwhile.
func TestSampleIsRequestedAgain(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		template := w.template(w.alice, 0, "t.docx")
		save := func() *docgen.SampleCheck {
			_, err := w.SaveSample(t.Context(), w.alice, template.ID, newSample("x"))
			must(t, err)
			return w.nextSample()
		}
		first, second := save(), save()
		must(t, w.DeleteSample(t.Context(), w.alice, template.ID, "x"))
		third := save()
		for check, want := range map[*docgen.SampleCheck]string{first: docgen.SamplesProcessing, second: docgen.SamplesProcessing} {
			must(t, w.SaveSampleResult(t.Context(), check, true, docgen.SampleFindings{}))
			w.wantSamples(template.ID, 0, want, template.VersionID)
		}
		must(t, w.SaveSampleResult(t.Context(), third, true, docgen.SampleFindings{}))
		w.wantSamples(template.ID, 0, docgen.SamplesPassed, template.VersionID)
	})
}

// A version is only used if it passed all samples as they are now. The version in use stays, whatever happens to the samples.
func TestSamplesChangeLater(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.template(w.alice, 0, "t.docx")
		first := file.VersionID
		w.passSample(file.ID, "a")
		_, err := w.UpdateTemplate(ctx, w.alice, file.ID, docgen.TemplateChange{SamplesRequired: new(true)})
		must(t, err)
		second := w.version(w.alice, file.ID, "second").VersionID
		check := w.nextSample()
		third := w.version(w.alice, file.ID, "third").VersionID
		_, err = w.SaveSample(ctx, w.alice, file.ID, newSample("b"))
		must(t, err)
		must(t, w.SaveSampleResult(ctx, check, true, docgen.SampleFindings{}))
		w.wantSamples(file.ID, second, docgen.SamplesNone, first) // it was not checked with b

		_, err = w.CheckTemplate(ctx, w.alice, file.ID, second)
		must(t, err)
		check = w.nextSample()
		_, err = w.SaveSample(ctx, w.alice, file.ID, newSample("a"))
		must(t, err)
		must(t, w.SaveSampleResult(ctx, check, true, docgen.SampleFindings{}))
		for check := w.nextSample(); check != nil; check = w.nextSample() {
			must(t, w.SaveSampleResult(ctx, check, check.VersionID == second, docgen.SampleFindings{}))
		}
		w.wantSamples(file.ID, second, docgen.SamplesNone, first) // nor with the new a
		w.wantSamples(file.ID, third, docgen.SamplesFailed, first)
		w.wantSamples(file.ID, first, docgen.SamplesNone, first)

		_, err = w.CheckTemplate(ctx, w.alice, file.ID, first)
		must(t, err)
		for check := w.nextSample(); check != nil; check = w.nextSample() {
			must(t, w.SaveSampleResult(ctx, check, false, docgen.SampleFindings{}))
		}
		w.wantSamples(file.ID, first, docgen.SamplesFailed, first)
		fourth := w.version(w.alice, file.ID, "fourth").VersionID
		w.passSample(file.ID, "c")
		w.wantSamples(file.ID, fourth, docgen.SamplesPassed, fourth)
	})
}
