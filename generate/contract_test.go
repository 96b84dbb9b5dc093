package generate_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// contract waits for the contract of the current version of a template.
func (w *world) contract(template int64) docgen.Contract {
	w.t.Helper()
	var found docgen.Contract
	waitFor(w.t, "the contract", func() (ready bool) {
		var err error
		found, ready, err = w.service.Contract(w.t.Context(), w.caller, template, 0)
		must(w.t, err)
		return ready
	})
	return found
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		template := w.template("Order.docx", docxOf(t, "Dear {{name}},", "{{for i in items}}{{i.text}} {{i.price}} {{endfor}} {{note}}"))
		first := w.contract(template.ID)
		if first.Changes != nil || len(first.Errors) > 0 {
			t.Errorf("the first version: %+v", first)
		}
		var schema struct{ Required []string }
		must(t, json.Unmarshal(first.Schema, &schema))
		if diff := cmp.Diff([]string{"name", "items", "note"}, schema.Required); diff != "" {
			t.Errorf("required (-want +got):\n%s", diff)
		}
		job := w.jobs(w.batch(template.ID, docgen.OutputDocx, string(first.Sample)))[0]
		if job.Status != docgen.StatusCompleted || job.Failures.Any() {
			t.Errorf("with the sample: %s, %+v", job.Status, job.Failures)
		}

		good := w.batch(template.ID, docgen.OutputDocx, `{"name":"Ada","items":[{"text":"a","price":1}],"note":"x","order":{"tax":3}}`)
		bad := w.batch(template.ID, docgen.OutputDocx, `{"name":"Ada","items":[],"note":"x","order":{"tax":3}}`,
			`{"name":"Bob","items":[],"note":"x"}`)
		_, err := w.service.CreateVersion(t.Context(), w.caller, docgen.NewVersion{FileID: template.ID},
			bytes.NewReader(docxOf(t, "Dear {{name}},", "{{for i in items}}{{i.price * 2}} {{endfor}} {{order.tax}}")))
		must(t, err)
		changes := w.contract(template.ID).Changes
		if changes == nil {
			t.Fatal("the second version changes nothing")
		}
		if diff := cmp.Diff([]string{"order", "order.tax"}, changes.Needs); diff != "" {
			t.Errorf("needs (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"items[].text", "note"}, changes.Drops); diff != "" {
			t.Errorf("drops (-want +got):\n%s", diff)
		}
		var broken []string
		for _, b := range changes.Breaks {
			broken = append(broken, b.ID+" "+strings.Join(b.Lacks, ","))
		}
		if len(broken) != 2 || broken[0] != bad+" order" || strings.Contains(strings.Join(broken, " "), good) {
			t.Errorf("the batches %q are broken, want %s and that of the sample", broken, bad)
		}
	})
}

func TestContractOfInvalidVersion(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		found := w.contract(w.template("Order.docx", docxOf(t, "Dear {{if name}},", "{{x :: nope}}")).ID)
		if found.Schema != nil || len(found.Errors) != 2 || len(found.Details) != 2 || found.Details[0].Tag != "{{if name}}" {
			t.Errorf("contract %+v", found)
		}
	})
}

func TestTemplateWarningsHaveLocations(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		odd, both := w.template("Odd.docx", docxOf(t, "Dear {{name", "}}")), w.template("Both.docx", docxOf(t, "{{endif}} {{name"))
		found := w.contract(odd.ID)
		if found.Schema == nil || len(found.Errors) > 0 || len(found.Warnings) != 2 || len(found.Details) != 2 ||
			found.Details[0].Text != "Dear {{name" {
			t.Errorf("contract %+v", found)
		}
		if found = w.contract(both.ID); len(found.Errors) != 1 || len(found.Warnings) != 1 || len(found.Details) != 2 {
			t.Errorf("contract of a broken version %+v", found)
		}
		f := w.jobs(w.batch(odd.ID, docgen.OutputDocx, `{}`))[0].Failures
		if len(f.Errors) > 0 || len(f.Warnings) != 2 || len(f.Details) != 2 || !f.Details[0].Warning {
			t.Errorf("failures of a job %+v", f)
		}
	})
}

func TestDryRun(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		template := w.template("Order.docx", docxOf(t, "Dear {{customer.name}},"))
		b := docgen.NewBatch{TemplateID: template.ID, InputSource: docgen.InputSource, DestinationID: w.folder,
			OutputType: docgen.OutputDocx, Inputs: new(docgen.Inputs)}
		for _, input := range []string{`{"customer":{"name":"Ada"}}`, `{"customer":{"nmae":"Bob"}}`, `{}`} {
			b.Documents = append(b.Documents, docgen.NewDocument{Name: "Order", Input: b.Inputs.Parse([]byte(input))})
		}
		if _, err := w.service.TryBatch(t.Context(), w.caller, b); !docgen.IsCode(err, docgen.CodeConflict) {
			t.Errorf("before the template is read: %v", err)
		}
		w.start()
		w.contract(template.ID)
		run, err := w.service.TryBatch(t.Context(), w.caller, b)
		must(t, err)
		want := docgen.DryRun{Documents: 3, Incomplete: 2, Findings: []docgen.DocumentMismatches{
			{Position: 1, Name: "Order.docx", Mismatches: []docgen.DataMismatch{{Path: "customer.name", Message: "is missing",
				Nearest: "customer.nmae"}}},
			{Position: 2, Name: "Order.docx", Mismatches: []docgen.DataMismatch{{Path: "customer", Message: "is missing"}}},
		}}
		if diff := cmp.Diff(want, run); diff != "" {
			t.Errorf("dry run (-want +got):\n%s", diff)
		}
		if names := w.names(); len(names) > 0 {
			t.Errorf("the folder holds %q", names)
		}
		b.DestinationID = 99
		if _, err := w.service.TryBatch(t.Context(), w.caller, b); !docgen.IsCode(err, docgen.CodeBadRequest) {
			t.Errorf("with a missing folder: %v", err)
		}
	})
}
