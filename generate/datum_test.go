package generate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// TestJobsNameTheDataAsDryRunsDo shows that the messages of a job name the values that are at fault, by the paths of a dry run.
func TestJobsNameTheDataAsDryRunsDo(t *testing.T) {
	template := docxOf(t,
		"{{for i in order.items}}{{i.qty}} {{i.price :: format(&quot;0.00&quot;)}}{{endfor}}",
		"{{for k, v in order.totals}}{{k}} {{v * 2}} {{endfor}}",
		"{{for i in order.parts :: sort(name)}}{{let q = i.length}}{{i.name}} {{q * 2}}{{endfor}}",
		"{{$sum(order.taxes.rate)}} {{$sum(order.fees, fee)}} {{$average(rates)}}",
		"{{let c = customer}}{{c.name}}")
	const input = `{
		"order": {
			"items": [{"qty": 1, "price": 2}, {"price": "two"}],
			"totals": {"net": 1, "gross": "much"},
			"parts": [{"name": "b", "length": "long"}, {"name": "a", "length": 1}],
			"taxes": [{"rate": null}, {"rate": 1}, {"rate": "x"}],
			"fees": [{"fee": 1}, {"fee": "y"}]
		},
		"rates": [1, "z"],
		"customer": {}
	}`
	want := []string{"customer.name", "order.fees[1].fee", "order.items[1].price", "order.items[1].qty", "order.parts[0].length",
		"order.taxes[2].rate", "order.totals.gross", "rates[1]"}
	const ofAnyKey = "order.totals.gross" // a dry run does not look below keys that the template does not name
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		file := w.template("Order.docx", template)
		w.contract(file.ID)
		for missing, status := range map[string]docgen.Status{"tag": docgen.StatusCompletedWithError, "error": docgen.StatusFailed} {
			job := w.jobs(w.batchWith(docgen.BatchOptions{Missing: missing}, file.ID, docgen.OutputDocx, input))[0]
			if job.Status != status {
				t.Errorf("missing=%s: the job is %s, want %s", missing, job.Status, status)
			}
			if got := len(job.Failures.Errors); got != len(want) {
				t.Errorf("missing=%s: %d errors, want %d: %q", missing, got, len(want), job.Failures.Errors)
			}
			for _, path := range want {
				names := func(message string) bool { return strings.Contains(message, "("+path+")") }
				if !slices.ContainsFunc(job.Failures.Errors, names) {
					t.Errorf("missing=%s: no error names %s: %q", missing, path, job.Failures.Errors)
				}
				if !slices.ContainsFunc(job.Failures.Details, func(d *docgen.Detail) bool { return d.Datum == path }) {
					t.Errorf("missing=%s: no detail has the path %s", missing, path)
				}
			}
		}
		b := docgen.NewBatch{TemplateID: file.ID, InputSource: docgen.InputSource, DestinationID: w.folder, OutputType: docgen.OutputDocx,
			Inputs: new(docgen.Inputs)}
		b.Documents = []docgen.NewDocument{{Name: "Try", Input: b.Inputs.Parse([]byte(input))}}
		run, err := w.service.TryBatch(docgen.ForCaller(t.Context(), w.caller), w.caller, b)
		must(t, err)
		var tried []string
		for _, m := range run.Findings[0].Mismatches {
			tried = append(tried, m.Path)
		}
		tried = append(tried, ofAnyKey)
		slices.Sort(tried)
		if diff := cmp.Diff(want, tried); diff != "" {
			t.Errorf("the dry run (-want +got):\n%s", diff)
		}
	})
}
