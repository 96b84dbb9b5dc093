package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// pdfBatch returns the body of a batch of two PDFs with options.
func pdfBatch(s scene, options object) object {
	return with(batch(s), object{
		"output_type": "pdf", "options": object{"pdf": options},
		"document_generation_data": []object{
			{"generated_file_name": "Letter 1", "user_input": object{"name": "Ada"}},
			{"generated_file_name": "Letter 2", "user_input": object{"name": "Bob"}},
		},
	})
}

// work runs the jobs of a batch like a worker. The last one fails.
func (w *world) work(batch string) {
	w.t.Helper()
	ctx := w.t.Context()
	claim := claimBatch(ctx, w.t, w.Service, w.owner.User.ID, docgen.LanePDF, batch)
	last := len(claim.Jobs) - 1
	results := make([]docgen.Result, len(claim.Jobs))
	for i, job := range claim.Jobs {
		output, err := w.SaveOutput(ctx, job, strings.NewReader("document"))
		must(w.t, err)
		results[i] = docgen.Result{Job: job, Output: &output}
	}
	results[last] = docgen.Result{Job: claim.Jobs[last], Failures: docgen.Failures{Errors: []string{"it is broken"}}}
	_, err := w.CompleteJobs(ctx, claim, results)
	must(w.t, err)
}

// failJobs fails all jobs of a batch of Word documents of the owner, and returns the first one.
func (w *world) failJobs(batch string) int64 {
	w.t.Helper()
	claim := claimBatch(w.t.Context(), w.t, w.Service, w.owner.User.ID, docgen.LaneDocx, batch)
	results := make([]docgen.Result, len(claim.Jobs))
	for i, job := range claim.Jobs {
		results[i] = docgen.Result{Job: job, Failures: docgen.Failures{Errors: []string{"it is broken"}}}
	}
	_, err := w.CompleteJobs(w.t.Context(), claim, results)
	must(w.t, err)
	return claim.Jobs[0].ID
}

// claimBatch claims the waiting jobs of a batch, like a slot. Jobs of other batches stay in the queue.
func claimBatch(ctx context.Context, t testing.TB, service *docgen.Service, userID int64, lane docgen.Lane, batch string) *docgen.Claim {
	t.Helper()
	claimed, others := &docgen.Claim{}, []*docgen.Claim{}
	for {
		claim, err := service.ClaimJobs(ctx, docgen.GenerateDocuments{UserID: userID, Lane: lane})
		must(t, err)
		switch {
		case len(claim.Jobs) == 0:
			for _, other := range others {
				must(t, service.ReleaseJobs(ctx, other, other.Jobs))
			}
			return claimed
		case claim.BatchID != batch:
			others = append(others, claim)
		default:
			claim.Jobs = append(claimed.Jobs, claim.Jobs...)
			claimed = claim
		}
	}
}

// TestBatchOnTheWire shows a batch from its creation to its merged file.
func TestBatchOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		asked := object{
			"bookmarks": false, "watermark": "DRAFT", "pictures": object{"quality": 80, "max_dpi": 150}, "password": "correct horse",
			"owner_password": "battery",
			"permissions":    object{"print": "low_quality", "copy": false}, "merged": object{"name": "All letters"},
		}
		made := w.do("POST /docgen_batches", request{body: pdfBatch(s, asked)}).want(w.t, 202)["id"].(string)
		batchIs := func(t *testing.T, options, protected, jobs, merged string) {
			t.Helper()
			got := w.do("GET /docgen_batches/"+made, request{}).want(t, 200)
			ended := "null"
			if got["ended_at"] != nil {
				ended = `"` + fmt.Sprint(got["ended_at"]) + `"`
			}
			want := `{"id":"` + made + `","type":"docgen_batch","template_file":{"id":"` + id(s.file) + `","type":"file"},
				"template_file_version":{"id":"` + id(s.version) + `","type":"file_version"},"destination_folder":{"id":"` + id(s.folder) +
				`","type":"folder"},
				"output_type":"pdf","options":` + options + `,"is_accepting":false,"is_protected":` + protected + `,"jobs":` + jobs +
				`,"retry_of":null,"merged":` + merged + `,
				"created_at":"` + fmt.Sprint(got["created_at"]) + `","canceled_at":null,"ended_at":` + ended +
				`,"created_by":{"id":"` + id(w.owner.User.ID) + `","type":"user"},
				"enterprise":{"id":"` + id(w.owner.User.EnterpriseID) + `","type":"enterprise"},"source":"api"}`
			var v any
			must(t, json.Unmarshal([]byte(want), &v))
			if fmt.Sprint(got) != fmt.Sprint(v) { // maps are printed in order
				t.Errorf("got  %v\nwant %v", got, v)
			}
		}
		const shown = `{"pdf":{"bookmarks":false,"watermark":"DRAFT","pictures":{"quality":80,"max_dpi":150},
			"permissions":{"print":"low_quality","copy":false},"merged":{"name":"All letters"}}}`
		w.t.Run("that waits", func(t *testing.T) {
			batchIs(t, shown, "true", `{"total":2,"pending":2,"submitted":0,"completed":0,"completed_with_error":0,"failed":0,"canceled":0}`,
				`{"name":"All letters.pdf","status":"pending","output_file":null,"output_file_version":null,"failures":null}`)
		})
		w.work(made)
		ctx := w.t.Context()
		m, err := w.ClaimMerge(ctx, docgen.MergeDocuments{BatchID: made}, false)
		must(w.t, err)
		output, err := w.SaveMerged(ctx, m, strings.NewReader("merged"))
		must(w.t, err)
		_, err = w.CompleteMerge(ctx, m, &output, docgen.Failures{})
		must(w.t, err)
		w.t.Run("that has ended", func(t *testing.T) {
			merged := w.do("GET /docgen_batches/"+made, request{}).want(t, 200)["merged"].(object)
			file := merged["output_file"].(object)["id"].(string)
			v := w.do("GET /files/"+file, request{}).want(t, 200)
			batchIs(t, shown, "true", `{"total":2,"pending":0,"submitted":0,"completed":1,"completed_with_error":0,"failed":1,"canceled":0}`,
				`{"name":"All letters.pdf","status":"completed_with_error","output_file":{"id":"`+file+`","type":"file"},
				"output_file_version":{"id":"`+v["file_version"].(object)["id"].(string)+`","type":"file_version"},
				"failures":{"errors":["1 of the 2 documents could not be generated: the failures of their jobs say why."],
				"warnings":[],"details":[],"count":1,"omitted":0}}`)
			if v["name"] != "All letters.pdf" || v["parent"].(object)["id"] != id(s.folder) {
				t.Errorf("the merged file is %v in %v", v["name"], v["parent"])
			}
		})
		w.t.Run("with passwords that are never shown", func(t *testing.T) {
			if lines := append(w.logs.find("horse"), w.logs.find("battery")...); len(lines) > 0 {
				t.Errorf("in the log: %q", lines)
			}
			heard := w.do("GET /webhook_deliveries", request{}).want(t, 200)["entries"].([]any)
			if len(heard) < 2 {
				t.Errorf("%d deliveries, want those of the files too", len(heard))
			}
			for _, entry := range heard {
				text := string(w.do("GET /webhook_deliveries/"+entry.(object)["id"].(string), request{}).text)
				if strings.Contains(text, "horse") || strings.Contains(text, "battery") {
					t.Errorf("in a notification: %s", text)
				}
			}
		})
		w.t.Run("that asks for nothing", func(t *testing.T) {
			made = w.do("POST /docgen_batches", request{body: with(pdfBatch(s, nil), object{"options": nil})}).want(t, 202)["id"].(string)
			batchIs(t, "{}", "false", `{"total":2,"pending":2,"submitted":0,"completed":0,"completed_with_error":0,"failed":0,"canceled":0}`, "null")
		})
	})
}

// TestInvalidPDFOptions shows that all problems with the options are reported at once, also in a dry run.
func TestInvalidPDFOptions(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		for name, tt := range map[string]struct {
			options object
			want    []string // names of fields of options.pdf
		}{
			"a standard that is encrypted and merged": {
				object{"standard": "PDF/A-2b", "attach_data": true, "tagged": false, "password": "x", "permissions": object{"copy": false},
					"merged": object{"name": "All"}},
				[]string{"attach_data", "tagged", "merged", "password", "permissions"},
			},
			"invalid words": {object{"standard": "PDF/X", "permissions": object{"print": "red"}}, []string{"permissions.print", "standard"}},
			"other types": {object{"watermark": 1, "password": 2, "pictures": object{"quality": "high"}, "more": 1},
				[]string{"more", "password", "pictures.quality", "watermark"}},
			"nothing at all": {object{"password": "", "pictures": object{"quality": 0}, "merged": object{}},
				[]string{"merged.name", "password", "pictures.quality"}},
		} {
			w.t.Run(name, func(t *testing.T) {
				for _, dry := range []bool{false, true} {
					body := pdfBatch(s, tt.options)
					body["options"].(object)["dry_run"] = dry
					v := w.do("POST /docgen_batches", request{body: body}).want(t, 400)
					var got []string
					for _, problem := range v["context_info"].(object)["errors"].([]any) {
						got = append(got, strings.TrimPrefix(problem.(object)["name"].(string), "options.pdf."))
					}
					slices.Sort(got)
					slices.Sort(tt.want)
					if !slices.Equal(got, tt.want) {
						t.Errorf("problems with %q, want %q", got, tt.want)
					}
				}
			})
		}
		w.t.Run("for another type of output", func(t *testing.T) {
			body := with(pdfBatch(s, object{"watermark": "DRAFT"}), object{"output_type": "docx"})
			v := w.do("POST /docgen_batches", request{body: body}).want(t, 400)
			if message := fmt.Sprint(v["message"]); !strings.Contains(message, `options.pdf requires output_type "pdf"`) {
				t.Errorf("message %q", message)
			}
		})
	})
}

// TestDeleteBatchOnTheWire deletes a batch as soon as its merged file is done, and again.
func TestDeleteBatchOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		made := w.do("POST /docgen_batches", request{body: pdfBatch(w.scene(), object{"merged": object{"name": "All"}})}).want(w.t,
			202)["id"].(string)
		w.do("DELETE /docgen_batches/"+made, request{}).want(w.t, 409)
		w.work(made)
		w.do("DELETE /docgen_batches/"+made, request{}).want(w.t, 409)
		m, err := w.ClaimMerge(w.t.Context(), docgen.MergeDocuments{BatchID: made}, false)
		must(w.t, err)
		_, err = w.CompleteMerge(w.t.Context(), m, nil, docgen.Failures{Errors: []string{"No."}})
		must(w.t, err)
		w.do("DELETE /docgen_batches/"+made, request{}).want(w.t, 204)
		for _, call := range []string{"DELETE /docgen_batches/", "GET /docgen_batches/", "GET /docgen_batch_jobs/"} {
			w.do(call+made, request{}).want(w.t, 404)
		}
	})
}
