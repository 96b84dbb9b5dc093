package generate_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// save saves a sample of a template.
func (w *world) save(template int64, name, input, expectations string) {
	w.t.Helper()
	_, err := w.service.SaveSample(w.t.Context(), w.caller, template, docgen.NewSample{
		Name: name, Input: new(docgen.Inputs).Parse([]byte(input)), Expectations: json.RawMessage(expectations),
	})
	must(w.t, err)
}

// checked waits until a version of a template was checked with its samples, and returns a line for each.
func (w *world) checked(template, version int64) (state, lines string) {
	w.t.Helper()
	var report docgen.SampleReport
	waitFor(w.t, "the samples", func() bool {
		var err error
		report, err = w.service.SampleReport(w.t.Context(), w.caller, template, version)
		must(w.t, err)
		return report.State != docgen.SamplesProcessing
	})
	var b strings.Builder
	for _, r := range report.Results {
		fmt.Fprintf(&b, "%s: %s", r.Name, r.State)
		for _, d := range r.Differences {
			fmt.Fprintf(&b, "; %s %s, want %q, got %q", d.Kind, cmp.Or(d.Place, d.Message), d.Want, d.Got)
		}
		b.WriteString("\n")
	}
	return report.State, b.String()
}

func TestSamples(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},", "{{if paid}}Thank you{{else}}Please pay {{amount}}{{endif}}"))
		if state, lines := w.checked(template.ID, 0); state != docgen.SamplesNone || lines != "" {
			t.Errorf("without samples: %s %s", state, lines)
		}
		w.save(template.ID, "paid", `{"name":"Ada","paid":true,"amount":1}`, `{"contains":["Dear Ada","Thank you"],"lacks":["Please"]}`)
		w.save(template.ID, "due", `{"name":"Bob","paid":false,"amount":12}`, `{"contains":["Please pay 12"]}`)
		w.save(template.ID, "lacking", `{"paid":true}`, "")
		state, lines := w.checked(template.ID, 0)
		want := "due: passed\nlacking: failed; unexpected_message the document, want \"\", got "
		if state != docgen.SamplesFailed || !strings.HasPrefix(lines, want) || !strings.HasSuffix(lines, "paid: passed\n") {
			t.Errorf("the first version: %s\n%s", state, lines)
		}
		w.save(template.ID, "lacking", `{"paid":true}`, `{"errors":["name"]}`)
		if state, lines = w.checked(template.ID, 0); state != docgen.SamplesPassed {
			t.Errorf("with an expected error: %s\n%s", state, lines)
		}

		second := w.version(w.caller, template.ID, "Dear {{name}},", "{{if paid}}Thanks{{else}}Please pay {{amount}}{{endif}}").VersionID
		state, lines = w.checked(template.ID, second)
		want = "due: passed\nlacking: passed\npaid: failed; missing_text the document, want \"Thank you\", got \"Thanks\"\n"
		if state != docgen.SamplesFailed || lines != want {
			t.Errorf("the second version: %s\n%swant\n%s", state, lines, want)
		}
		third := w.version(w.caller, template.ID, "{{if paid}} never ends").VersionID
		if state, lines = w.checked(template.ID, third); state != docgen.SamplesFailed || !strings.HasPrefix(lines, "due: failed; failed") {
			t.Errorf("a version that cannot be read: %s\n%s", state, lines)
		}
		if state, _ = w.checked(template.ID, second); state != docgen.SamplesFailed {
			t.Errorf("the second version, later: %s", state)
		}
	})
}

// While a template requires its samples, batches use the newest version that passed them.
func TestRequiredSamples(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},"))
		require := func(required bool) error {
			_, err := w.service.UpdateTemplate(t.Context(), w.caller, template.ID, docgen.TemplateChange{SamplesRequired: &required})
			return err
		}
		if err := require(true); !docgen.IsCode(err, docgen.CodeConflict) || !strings.Contains(err.Error(), "Add a sample") {
			t.Errorf("required without samples: %v", err)
		}
		w.save(template.ID, "Ada", `{"name":"Ada"}`, `{"contains":["Dear Bob"]}`)
		w.checked(template.ID, 0)
		if err := require(true); !docgen.IsCode(err, docgen.CodeConflict) || !strings.Contains(err.Error(), "failed its samples") {
			t.Errorf("required with a sample that failed: %v", err)
		}
		w.save(template.ID, "Ada", `{"name":"Ada"}`, `{"contains":["Dear Ada"]}`)
		w.checked(template.ID, 0)
		must(t, require(true))
		inUse := func() int64 {
			found, err := w.service.Template(t.Context(), w.caller, template.ID)
			must(t, err)
			listed, err := w.service.Templates(t.Context(), w.caller, docgen.PageRequest{})
			must(t, err)
			if !found.SamplesRequired || len(listed.Entries) != 1 || listed.Entries[0].VersionID != found.VersionID {
				t.Errorf("one: %+v, listed: %+v", found, listed.Entries)
			}
			return found.VersionID
		}
		first := inUse()

		bad := w.version(w.caller, template.ID, "Hello {{name}},").VersionID
		w.checked(template.ID, bad)
		if got := inUse(); got != first {
			t.Errorf("version %d is in use, not the first, %d", got, first)
		}
		job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"name":"Cy"}`))[0]
		if job.TemplateVersionID != first {
			t.Errorf("the batch uses version %d, want %d", job.TemplateVersionID, first)
		}
		if contract := w.contract(template.ID); contract.VersionID != first {
			t.Errorf("the contract is of version %d, want %d", contract.VersionID, first)
		}
		if err := w.service.TrashVersion(t.Context(), w.caller, template.ID, first, ""); !docgen.IsCode(err, docgen.CodeForbidden) {
			t.Errorf("the version in use went into the trash: %v", err)
		}
		if err := w.service.DeleteSample(t.Context(), w.caller, template.ID, "Ada"); !docgen.IsCode(err, docgen.CodeConflict) {
			t.Errorf("the last sample was deleted: %v", err)
		}

		w.save(template.ID, "Bob", `{"name":"Bob"}`, "")
		good := w.version(w.caller, template.ID, "Dear {{name}}, hello,").VersionID
		if state, lines := w.checked(template.ID, good); state != docgen.SamplesPassed || inUse() != good {
			t.Errorf("the good version: %s, in use: %d, want %d\n%s", state, inUse(), good, lines)
		}
		must(t, require(false))
		latest := w.version(w.caller, template.ID, "Hello {{name}},").VersionID
		w.checked(template.ID, latest)
		found, err := w.service.Template(t.Context(), w.caller, template.ID)
		if err != nil || found.VersionID != latest || found.SamplesRequired {
			t.Errorf("no longer required: %+v, %v; want version %d", found, err, latest)
		}
	})
}

// A version that failed its samples can be made the one that batches use, for a reason that the audit log keeps.
func TestOverriddenSamples(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		ctx := t.Context()
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},"))
		promote := func(version int64, reason string) (docgen.Version, error) {
			return w.service.PromoteTemplateVersion(ctx, w.caller, template.ID, version, docgen.Override{Reason: reason})
		}
		w.save(template.ID, "Ada", `{"name":"Ada"}`, `{"contains":["Dear Ada"]}`)
		w.checked(template.ID, 0)
		required := true
		_, err := w.service.UpdateTemplate(ctx, w.caller, template.ID, docgen.TemplateChange{SamplesRequired: &required})
		must(t, err)
		bad := w.version(w.caller, template.ID, "Hello {{name}},").VersionID
		w.checked(template.ID, bad)

		for _, reason := range []string{"", " ", strings.Repeat("x", 1001), "a\x00b"} {
			if _, err := promote(bad, reason); !docgen.IsCode(err, docgen.CodeBadRequest) {
				t.Errorf("with the reason %q: %v", reason, err)
			}
		}
		made, err := promote(bad, "The shop greets everyone from tonight on.")
		must(t, err)
		found, err := w.service.Template(ctx, w.caller, template.ID)
		must(t, err)
		want := docgen.TemplateCheck{Samples: 1, Failed: 1}
		if made.ID != bad || found.VersionID != bad || found.CurrentID != bad || found.Check != want {
			t.Errorf("version %d was made current: %+v", made.ID, found)
		}
		if job := w.jobs(w.batch(template.ID, docgen.OutputDocx, `{"name":"Cy"}`))[0]; job.TemplateVersionID != bad {
			t.Errorf("the batch uses version %d, want %d", job.TemplateVersionID, bad)
		}
		again, err := promote(template.VersionID, "It was better before.")
		must(t, err)
		found, err = w.service.Template(ctx, w.caller, template.ID)
		if err != nil || found.VersionID != again.ID || again.ID == template.VersionID {
			t.Errorf("the first version again: %+v, %v", found, err)
		}
		file := w.upload("notes.txt", "text")
		if _, err := w.service.PromoteTemplateVersion(ctx, w.caller, file.ID, file.VersionID, docgen.Override{Reason: "x"}); !docgen.IsCode(err,
			docgen.CodeBadRequest) {
			t.Errorf("a version of another file: %v", err)
		}
	})
}

func TestGoldenDocumentsOfSamples(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},", "today is {{now :: date(\"yyyy-MM-dd\")}}."))
		golden := w.upload("Golden.docx", "Dear Ada,", "today is 2026-01-31.").ID
		sample := docgen.NewSample{Name: "Ada", Input: new(docgen.Inputs).Parse([]byte(`{"name":"Ada","now":"2026-01-31"}`)), GoldenID: golden}
		_, err := w.service.SaveSample(t.Context(), w.caller, template.ID, sample)
		must(t, err)
		if state, lines := w.checked(template.ID, 0); state != docgen.SamplesPassed {
			t.Errorf("%s\n%s", state, lines)
		}
		w.version(w.caller, golden, "Dear Ada,", "today is 2026-02-01.")
		_, err = w.service.CheckTemplate(t.Context(), w.caller, template.ID, 0)
		must(t, err)
		state, lines := w.checked(template.ID, 0)
		if want := "changed_text"; state != docgen.SamplesFailed || !strings.Contains(lines, want) {
			t.Errorf("%s, want a difference %s\n%s", state, want, lines)
		}
		must(t, w.service.TrashFile(t.Context(), w.caller, golden, ""))
		_, err = w.service.CheckTemplate(t.Context(), w.caller, template.ID, 0)
		must(t, err)
		if state, lines = w.checked(template.ID, 0); state != docgen.SamplesFailed || !strings.HasPrefix(lines, "Ada: failed; failed") {
			t.Errorf("golden document in the trash: %s\n%s", state, lines)
		}
		sample.GoldenID = 4711
		if _, err := w.service.SaveSample(t.Context(), w.caller, template.ID, sample); !docgen.IsCode(err, docgen.CodeBadRequest) {
			t.Errorf("saved with a golden document that does not exist: %v", err)
		}
	})
}

// A check that was interrupted by the end of a server is tried again, but not forever.
func TestAbandonedSamples(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},"))
		w.save(template.ID, "Ada", `{"name":"Ada"}`, "")
		task := docgen.CheckSamples{UserID: w.caller.User.ID}
		for i := range 6 {
			check, err := w.service.NextSample(t.Context(), task)
			if err != nil || check == nil || check.Abandoned {
				t.Fatalf("%d: %+v, %v", i, check, err)
			}
			if i < 3 {
				must(t, w.service.ReleaseSample(t.Context(), check)) // after an error of the server, which does not count
			}
		}
		w.start()
		if state, lines := w.checked(template.ID, 0); state != docgen.SamplesFailed || !strings.Contains(lines, "failed") {
			t.Errorf("%s\n%s", state, lines)
		}
	})
}

// The results show nothing of included files to users who may not download these.
func TestResultsOfSamplesWithIncludes(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		bob := w.user("rob")
		inner := w.upload("inner.docx", "hush {{name}}")
		template := w.template("T.docx", docxOf(t, `{{include "inner.docx"}}`))
		w.share(template.ID, bob, docgen.RoleEditor)
		w.save(template.ID, "Ada", `{"name":"Ada"}`, `{"lacks":["hush"]}`)
		w.checked(template.ID, 0)
		w.wantSeen(w.caller, template.ID, "hush", true, "samples")
		w.wantSeen(bob, template.ID, "hush", false, "samples")
		w.wantSeen(bob, template.ID, docgen.SamplesFailed, true, "samples")
		w.share(inner.ID, bob, docgen.RoleViewer)
		w.wantSeen(bob, template.ID, "hush", true, "samples")
		w.version(w.caller, inner.ID, "quiet {{name}}")
		w.wantSeen(bob, template.ID, "hush", false, "samples") // the result is of the file before
	})
}

// The results show nothing of golden documents to users who may not download these, even after the sample has another golden document.
func TestResultsOfSamplesWithGoldenDocuments(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		bob := w.user("rob")
		golden := w.upload("Golden.docx", "Dear Ada,", "hush")
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},"))
		sample := docgen.NewSample{Name: "Ada", Input: new(docgen.Inputs).Parse([]byte(`{"name":"Ada"}`)), GoldenID: golden.ID}
		_, err := w.service.SaveSample(t.Context(), w.caller, template.ID, sample)
		must(t, err)
		w.checked(template.ID, 0)
		w.wantSeen(w.caller, template.ID, "hush", true, "samples")
		given := w.share(template.ID, bob, docgen.RolePreviewer)
		for _, role := range []docgen.Role{docgen.RolePreviewer, docgen.RoleViewer, docgen.RoleEditor} {
			_, err := w.service.UpdateCollaboration(t.Context(), w.caller, given.ID, docgen.CollaborationChange{Role: role})
			must(t, err)
			w.wantSeen(bob, template.ID, "hush", false, "samples")
			w.wantSeen(bob, template.ID, `"Hidden":true`, true, "samples")
			w.wantSeen(bob, template.ID, docgen.SamplesFailed, true, "samples")
		}
		given = w.share(golden.ID, bob, docgen.RolePreviewer)
		w.wantSeen(bob, template.ID, "hush", false, "samples")
		_, err = w.service.UpdateCollaboration(t.Context(), w.caller, given.ID, docgen.CollaborationChange{Role: docgen.RoleViewer})
		must(t, err)
		w.wantSeen(bob, template.ID, "hush", true, "samples")
		must(t, w.service.DeleteCollaboration(t.Context(), w.caller, given.ID))

		first := template.VersionID
		w.version(w.caller, template.ID, "Hello {{name}},")
		w.checked(template.ID, 0)
		report, err := w.service.SampleReport(t.Context(), bob, template.ID, first)
		if err != nil || len(report.Results) != 1 || !report.Results[0].Hidden || report.Results[0].Differences != nil {
			t.Errorf("the version that was compared with the golden document: %+v, %v", report, err)
		}
		report, err = w.service.SampleReport(t.Context(), w.caller, template.ID, first)
		if err != nil || report.Results[0].Hidden || len(report.Results[0].Differences) == 0 {
			t.Errorf("the version that was compared with the golden document, to its owner: %+v, %v", report, err)
		}
		w.version(w.caller, golden.ID, "Dear Ada,")
		report, err = w.service.SampleReport(t.Context(), w.caller, template.ID, first)
		if err != nil || !report.Results[0].Hidden {
			t.Errorf("after the golden document has changed: %+v, %v", report, err)
		}

		sample.GoldenID = 0
		_, err = w.service.SaveSample(t.Context(), w.caller, template.ID, sample)
		must(t, err)
		w.checked(template.ID, 0)
		w.wantSeen(bob, template.ID, `"Hidden":false`, true, "samples")
		report, err = w.service.SampleReport(t.Context(), w.caller, template.ID, first)
		if err != nil || report.State != docgen.SamplesNone || report.Results[0].State != docgen.SamplesNone {
			t.Errorf("the earlier version, which the new sample did not check: %+v, %v", report, err)
		}
	})
}

// A token that cannot read files shows nothing of the template and of golden documents, and cannot have documents compared with a file.
func TestResultsOfSamplesNeedScope(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		token, err := w.service.CreateToken(t.Context(), docgen.NewToken{Login: w.caller.User.Login, Scopes: []docgen.Scope{docgen.ScopeDocGen}})
		must(t, err)
		limited, err := w.service.Authenticate(t.Context(), token)
		must(t, err)
		golden := w.upload("Golden.docx", "Dear Ada,", "gold")
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},", "hush"))
		sample := docgen.NewSample{
			Name: "Ada", Input: new(docgen.Inputs).Parse([]byte(`{"name":"Ada"}`)), Expectations: []byte(`{"lacks":["u"]}`), GoldenID: golden.ID,
		}
		_, err = w.service.SaveSample(t.Context(), limited, template.ID, sample)
		if !docgen.IsCode(err, docgen.CodeScope) || !strings.Contains(err.Error(), string(docgen.ScopeRead)) {
			t.Errorf("saved with a golden document that the token may not read: %v", err)
		}
		_, err = w.service.SaveSample(t.Context(), w.caller, template.ID, sample)
		must(t, err)
		w.checked(template.ID, 0)
		w.wantSeen(w.caller, template.ID, "gold", true, "samples")
		w.wantSeen(limited, template.ID, "gold", false, "samples")
		sample.GoldenID = 0
		_, err = w.service.SaveSample(t.Context(), limited, template.ID, sample)
		must(t, err)
		w.checked(template.ID, 0)
		w.wantSeen(w.caller, template.ID, "hush", true, "samples")
		w.wantSeen(limited, template.ID, "hush", false, "samples")
		w.wantSeen(limited, template.ID, `"Hidden":true`, true, "samples")
		w.wantSeen(limited, template.ID, docgen.SamplesFailed, true, "samples")
	})
}

// The expectation fails is about the generation with the data of the sample, not about the template.
func TestSamplesThatExpectFailures(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("Letter.docx", docxOf(t, "Dear {{name}},"))
		for name, fails := range map[string]string{"any": "a", "named": "'name'"} {
			_, err := w.service.SaveSample(t.Context(), w.caller, template.ID, docgen.NewSample{
				Name: name, Input: new(docgen.Inputs).Parse([]byte(`{}`)), Options: docgen.BatchOptions{Missing: "error"},
				Expectations: fmt.Appendf(nil, `{"fails":%q}`, fails),
			})
			must(t, err)
		}
		if state, lines := w.checked(template.ID, 0); state != docgen.SamplesPassed {
			t.Errorf("data that is not complete: %s\n%s", state, lines)
		}
		required := true
		_, err := w.service.UpdateTemplate(t.Context(), w.caller, template.ID, docgen.TemplateChange{SamplesRequired: &required})
		must(t, err)
		mistake := w.version(w.caller, template.ID, "{{for}} name").VersionID
		unreadable, err := w.service.CreateVersion(t.Context(), w.caller, docgen.NewVersion{FileID: template.ID},
			strings.NewReader("not a Word document"))
		must(t, err)
		for what, version := range map[string]int64{"a mistake": mistake, "an unreadable file": unreadable.VersionID} {
			state, lines := w.checked(template.ID, version)
			if state != docgen.SamplesFailed || !strings.HasPrefix(lines, "any: failed; failed The template cannot be used.") ||
				!strings.Contains(lines, "\nnamed: failed; failed The template cannot be used.") {
				t.Errorf("%s: %s\n%s", what, state, lines)
			}
		}
		if found, err := w.service.Template(t.Context(), w.caller, template.ID); err != nil || found.VersionID != template.VersionID {
			t.Errorf("version %d is in use, %v; want the first, %d", found.VersionID, err, template.VersionID)
		}
	})
}
