package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"platen/docgen"
)

// TestShapes shows every object of the API in a response: all of its fields, with their values.
func TestShapes(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		ids := strings.NewReplacer("FILE", id(s.file), "VERSION", id(s.version), "FOLDER", id(s.folder), "BATCH", s.batch, "JOB", id(s.job),
			"ME", id(w.owner.User.ID))
		same := func(t *testing.T, got any, want string) {
			t.Helper()
			var v any
			must(t, json.Unmarshal([]byte(ids.Replace(want)), &v))
			if fmt.Sprint(got) != fmt.Sprint(v) { // maps are printed in order
				t.Errorf("got  %v\nwant %v", got, v)
			}
		}
		get := func(t *testing.T, path string) object { return w.do("GET "+ids.Replace(path), request{}).want(t, 200) }

		w.t.Run("the answer to marking a template", func(t *testing.T) {
			same(t, w.do("POST /docgen_templates", request{body: object{"file": ref(s.file, "file")}}).want(t, 201),
				`{"file":{"id":"FILE","type":"file"}}`)
		})
		w.t.Run("a template", func(t *testing.T) {
			const template = `{"file":{"id":"FILE","type":"file"},"file_name":"Invoice.docx","state":"ready","problem":null,` +
				`"defaults":{"missing":null,"locale":null,"time_zone":null},"samples_required":false,` +
				`"version_in_use":{"id":"VERSION","type":"file_version"},"current_version":{"id":"VERSION","type":"file_version"},` +
				`"check":{"mistakes":0,"warnings":0,"samples":{"total":1,"passed":0,"failed":0,"processing":1}}}`
			same(t, get(t, "/docgen_templates/FILE"), template)
			same(t, get(t, "/docgen_templates"), `{"entries":[`+template+`],"limit":100,"next_marker":null,"prev_marker":null}`)
		})
		w.t.Run("a tag", func(t *testing.T) {
			same(t, get(t, "/docgen_templates/FILE/tags?limit=7"),
				`{"entries":[{"tag_content":"{{ name `+
					`}}","tag_type":"text","json_paths":["name"]}],"limit":7,"next_marker":null,"prev_marker":null,"problem":null}`)
		})
		w.t.Run("a batch", func(t *testing.T) {
			v := w.do("POST /docgen_batches", request{body: batch(s)}).want(t, 202)
			if v["type"] != "docgen_batch" || len(v) != 2 || len(fmt.Sprint(v["id"])) != 36 {
				t.Errorf("the batch is %v", v)
			}
		})
		jobIs := func(t *testing.T, status, output, version, failures string) {
			t.Helper()
			job := get(t, "/docgen_jobs/JOB")
			created := fmt.Sprint(job["created_at"])
			same(t, job, `{"id":"JOB","type":"docgen_job","batch":{"id":"BATCH","type":"docgen_batch"},
				"template_file":{"id":"FILE","type":"file"},"template_file_version":{"id":"VERSION","type":"file_version"},
				"status":"`+status+`","output_type":"docx","output_file":`+output+`,"output_file_version":`+version+`,"failures":`+failures+`,
				"created_at":"`+created+`","created_by":{"id":"ME","type":"user"},"enterprise":{"id":"`+
				fmt.Sprint(job["enterprise"].(object)["id"])+`","type":"enterprise"},"source":"api"}`)
			list := get(t, "/docgen_batch_jobs/BATCH")
			if fmt.Sprint(list["entries"]) != fmt.Sprint([]any{job}) {
				t.Errorf("in the list it is %v", list["entries"])
			}
		}
		w.t.Run("a job that waits", func(t *testing.T) { jobIs(t, "pending", "null", "null", "null") })
		ctx := w.t.Context()
		claim := claimBatch(ctx, w.t, w.Service, w.owner.User.ID, docgen.LaneDocx, s.batch)
		w.t.Run("a job under way", func(t *testing.T) { jobIs(t, "submitted", "null", "null", "null") })
		output, err := w.SaveOutput(ctx, claim.Jobs[0], strings.NewReader("document"))
		must(w.t, err)
		_, err = w.CompleteJobs(ctx, claim, []docgen.Result{{Job: claim.Jobs[0], Output: &output}})
		must(w.t, err)
		w.t.Run("a job that is done", func(t *testing.T) {
			job := get(t, "/docgen_jobs/JOB")
			file := job["output_file"].(object)["id"].(string)
			made := get(t, "/files/"+file)
			version := made["file_version"].(object)["id"].(string)
			jobIs(t, "completed", `{"id":"`+file+`","type":"file"}`, `{"id":"`+version+`","type":"file_version"}`, "null")
			if made["name"] != "Letter.docx" || made["parent"].(object)["id"] != id(s.folder) {
				t.Errorf("the document is %v in %v", made["name"], made["parent"])
			}
		})
	})
}
