package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestBatchListOnTheWire lists batches with filters, newest first.
func TestBatchListOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.failJobs(s.batch)
		newer := w.do("POST /docgen_batches", request{body: batch(s)}).want(w.t, 202)["id"].(string)
		for query, want := range map[string][]string{
			"": {newer, s.batch}, "state=in_progress": {newer}, "state=ended": {s.batch}, "state=with_failures": {s.batch}, "state=canceled": {},
			"template_id=" + id(s.file): {newer, s.batch}, "output_type=pdf": {}, "created_after=2027-01-01T00:00:00Z": {},
			"created_before=2027-01-01T00:00:00Z&limit=1": {newer, s.batch},
		} {
			got, _ := w.walkByMarker("/docgen_batches?" + query)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				w.t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
		entry := w.do("GET /docgen_batches?state=ended", request{}).want(w.t, 200)["entries"].([]any)[0]
		if alone := w.do("GET /docgen_batches/"+s.batch, request{}).want(w.t, 200); fmt.Sprint(entry) != fmt.Sprint(any(alone)) {
			w.t.Errorf("listed %v, alone %v", entry, alone)
		}
		for query, name := range map[string]string{"state=running": "state", "output_type=odt": "output_type", "template_id=x": "template_id",
			"created_after=now": "created_after", "created_before=7": "created_before"} {
			v := w.do("GET /docgen_batches?"+query, request{}).want(w.t, 400)
			if !strings.Contains(fmt.Sprint(v["context_info"]), name) {
				w.t.Errorf("%s: %v", query, v)
			}
		}
	})
}

// TestJobFiltersOnTheWire lists jobs with filters, in both orders.
func TestJobFiltersOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.failJobs(s.batch)
		made := w.do("POST /docgen_batches", request{body: batch(s)}).want(w.t, 202)["id"].(string)
		newer := w.do("GET /docgen_batch_jobs/"+made, request{}).want(w.t, 200)["entries"].([]any)[0].(object)["id"].(string)
		older := id(s.job)
		for _, path := range []string{"/docgen_jobs", "/docgen_template_jobs/" + id(s.file)} {
			for query, want := range map[string][]string{
				"": {older, newer}, "direction=DESC": {newer, older}, "direction=ASC&limit=1": {older, newer}, "direction=DESC&limit=1": {newer, older},
				"status=failed": {older}, "status=pending,failed": {older, newer}, "status=submitted": {},
				"created_by=" + id(w.owner.User.ID):  {older, newer},
				"created_after=2027-01-01T00:00:00Z": {}, "created_before=2027-01-01T00:00:00Z": {older, newer},
			} {
				if got, _ := w.walkByMarker(path + "?" + query); fmt.Sprint(got) != fmt.Sprint(want) {
					w.t.Errorf("%s?%s: %v, want %v", path, query, got, want)
				}
			}
		}
		if got, _ := w.walkByMarker("/docgen_jobs?template_id=" + id(s.file)); len(got) != 2 {
			w.t.Errorf("jobs of the template %v", got)
		}
		if got, _ := w.walkByMarker("/docgen_batch_jobs/" + made + "?status=pending"); len(got) != 1 {
			w.t.Errorf("pending jobs of the batch %v", got)
		}
		for _, query := range []string{"status=done", "status=failed,", "direction=down", "created_by=me", "created_after=x",
			"created_before=x"} {
			w.do("GET /docgen_jobs?"+query, request{}).want(w.t, 400)
		}
		w.do("GET /docgen_jobs?template_id=x", request{}).want(w.t, 400)
		of := "/docgen_jobs?created_by=" + id(w.owner.User.ID)
		w.do("GET "+of, request{as: "other"}).want(w.t, 403)
		if entries := w.do("GET "+of, request{as: "admin"}).want(w.t, 200)["entries"].([]any); len(entries) != 2 {
			w.t.Errorf("%d jobs for an administrator", len(entries))
		}
		w.do("GET /docgen_jobs?created_by=1", request{as: "admin"}).want(w.t, 404)
	})
}

// TestCancelAndRetryOnTheWire cancels a batch, and retries its documents.
func TestCancelAndRetryOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.do("POST /docgen_batches/"+s.batch+"/retry", request{}).want(w.t, 409)
		canceled := w.do("POST /docgen_batches/"+s.batch+"/cancel", request{}).want(w.t, 202)
		if canceled["canceled_at"] == nil || canceled["ended_at"] != nil {
			w.t.Errorf("batch %v", canceled)
		}
		_, err := w.CancelJobs(w.t.Context())
		must(w.t, err)
		ended := w.do("GET /docgen_batches/"+s.batch+"?wait=60", request{}).want(w.t, 200)
		if jobs := ended["jobs"].(object); jobs["canceled"] != 1.0 || jobs["failed"] != 0.0 || jobs["total"] != 1.0 {
			w.t.Errorf("jobs %v", jobs)
		}
		job := w.do("GET /docgen_jobs/"+id(s.job)+"?wait=60", request{}).want(w.t, 200)
		if job["status"] != "failed" || job["failures"].(object)["code"] != "canceled" {
			w.t.Errorf("job %v", job)
		}
		w.do("POST /docgen_batches/"+s.batch+"/retry", request{}).want(w.t, 409)
		retry := w.do("POST /docgen_batches/"+s.batch+"/retry", request{body: object{"include_canceled": true}}).want(w.t, 202)["id"].(string)
		if of := w.do("GET /docgen_batches/"+retry, request{}).want(w.t, 200)["retry_of"].(object); of["id"] != s.batch {
			w.t.Errorf("retry of %v", of)
		}
		w.failJobs(retry)
		w.do("POST /docgen_batches/"+retry+"/cancel", request{}).want(w.t, 409)

		input := w.do("GET /docgen_jobs/"+id(s.job)+"/input", request{}).want(w.t, 200)
		if input["user_input"] == nil || input["generated_file_name"] == "" {
			w.t.Errorf("input %v", input)
		}
		made := w.do("POST /docgen_jobs/"+id(s.job)+"/retry", request{body: object{
			"user_input": object{"name": "Bob"}, "file_version": ref(s.version, "file_version"),
		}}).want(w.t, 202)
		if made["status"] != "pending" || made["type"] != "docgen_job" {
			w.t.Errorf("job %v", made)
		}
		corrected := w.do("GET /docgen_jobs/"+made["id"].(string)+"/input", request{}).want(w.t, 200)["user_input"]
		if fmt.Sprint(corrected) != "map[name:Bob]" {
			w.t.Errorf("corrected input %v", corrected)
		}
		for _, body := range []object{{"user_input": "text"}, {"password": "secret"}, {"unknown": 1},
			{"file_version": object{"id": "1", "type": "file"}}} {
			w.do("POST /docgen_jobs/"+id(s.job)+"/retry", request{body: body}).want(w.t, 400)
		}
		for _, wait := range []string{"-1", "61", "x", "1.5"} {
			w.do("GET /docgen_batches/"+s.batch+"?wait="+wait, request{}).want(w.t, 400)
			w.do("GET /docgen_jobs/"+id(s.job)+"?wait="+wait, request{}).want(w.t, 400)
		}
	})
}
