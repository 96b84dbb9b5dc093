package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"platen/docgen"
	"platen/docx/expect"
)

// checkSample does the next check for the owner, with a difference or without.
func (w *world) checkSample(findings docgen.SampleFindings) {
	w.t.Helper()
	check, err := w.NextSample(w.t.Context(), docgen.CheckSamples{UserID: w.owner.User.ID})
	must(w.t, err)
	must(w.t, w.SaveSampleResult(w.t.Context(), check, len(findings.Differences) == 0, findings))
}

// sameJSON compares a response with JSON.
func sameJSON(t *testing.T, got object, want string) {
	t.Helper()
	var v any
	must(t, json.Unmarshal([]byte(want), &v))
	if fmt.Sprint(got) != fmt.Sprint(v) { // maps are printed in order
		t.Errorf("got  %v\nwant %v", got, v)
	}
}

func TestSamplesOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		list, one := at("GET /docgen_templates/{template_id}/samples", s), at("/docgen_templates/{template_id}/samples/", s)
		sameJSON(t, w.do(list, request{}).want(t, 200), `{"template_file":{"id":"`+id(s.file)+`","type":"file"},
			"template_file_version":{"id":"`+id(s.version)+`","type":"file_version"},"status":"processing","entries":[
			{"name":"paid","status":"processing","checked_at":null,"is_hidden":false,"differences":[],
			"omitted_differences":0,"warnings":[],"pages":null}]}`)
		w.checkSample(docgen.SampleFindings{Pages: 2, Warnings: []string{"a warning"}, Differences: []docgen.SampleDifference{
			{Kind: expect.MissingText, Part: "/word/document.xml", Place: "the document", Message: "not there", Want: "Ada"},
		}})
		report := w.do(list, request{}).want(t, 200)
		entry := report["entries"].([]any)[0].(object)
		delete(entry, "checked_at")
		sameJSON(t, entry, `{"name":"paid","status":"failed","is_hidden":false,"differences":[{"kind":"missing_text","part":"/word/document.xml",
			"heading":null,
			"place":"the document","message":"not there","want":"Ada","got":null}],"omitted_differences":0,"warnings":["a warning"],"pages":2}`)
		if report["status"] != "failed" {
			t.Errorf("the status is %v", report["status"])
		}

		body := object{
			"user_input": object{"name": "Ada", "n": 0.1}, "options": object{"locale": "de-CH", "strict": true},
			"expectations": object{"contains": []string{"Ada"}, "pages": object{"max": 2}}, "golden": ref(s.file, "file"),
			"time": "2026-01-31T12:00:00+01:00",
		}
		saved := w.do("PUT "+one+url.PathEscape("dû/a b"), request{body: body})
		saved.want(t, 400, "bad_request") // a name cannot have a slash
		saved = w.do("PUT "+one+url.PathEscape("dû b"), request{body: body})
		v := saved.want(t, 200)
		delete(v, "saved_at")
		sameJSON(t, v, `{"type":"docgen_sample","name":"dû b","template_file":{"id":"`+id(s.file)+`","type":"file"},"user_input":{"name":"Ada",
			"n":0.1},"options":{"locale":"de-CH","strict":true},"expectations":{"contains":["Ada"],"pages":{"max":2}},
			"golden":{"id":"`+id(s.file)+`","type":"file"},"time":"2026-01-31T11:00:00+00:00","saved_by":{
			"type":"user","id":"`+id(w.owner.User.ID)+`",
			"name":"owner","login":"owner@example.com"}}`)
		w.do("GET "+one+url.PathEscape("dû b"), request{}).want(t, 200)
		w.do("DELETE "+one+url.PathEscape("dû b"), request{}).want(t, 204)
		w.do("GET "+one+url.PathEscape("dû b"), request{}).want(t, 404, "not_found")
	})
}

// A sample keeps the time that was set, whatever it is.
func TestTimesOfSamples(t *testing.T) {
	run(t, func(w *world) {
		one := at("/docgen_templates/{template_id}/samples/paid", w.scene())
		for sent, want := range map[any]any{
			nil: nil, "1970-01-01T00:00:00Z": "1970-01-01T00:00:00+00:00", "0001-01-01T00:00:01Z": "0001-01-01T00:00:01+00:00",
			"9999-12-31T23:59:59Z": "9999-12-31T23:59:59+00:00",
		} {
			w.do("PUT "+one, request{body: object{"user_input": object{}, "time": sent}}).want(t, 200)
			if got := w.do("GET "+one, request{}).want(t, 200)["time"]; got != want {
				t.Errorf("time %v became %v, want %v", sent, got, want)
			}
		}
	})
}

// A token that cannot read files cannot have documents compared with one, and sees no differences.
func TestSamplesWithoutScopeToRead(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.tokens["docgen"] = w.token("owner", 0, docgen.ScopeDocGen)
		one := at("/docgen_templates/{template_id}/samples/paid", s)
		w.do("PUT "+one, request{as: "docgen", body: object{"user_input": object{}, "golden": ref(s.file, "file")}}).
			want(t, 403, "insufficient_scope")
		w.do("PUT "+one, request{as: "docgen", body: object{"user_input": object{}}}).want(t, 200)
		missing := docgen.SampleDifference{Kind: expect.MissingText, Message: "not there", Want: "Ada"}
		w.checkSample(docgen.SampleFindings{Differences: []docgen.SampleDifference{missing}})
		report := w.do(at("GET /docgen_templates/{template_id}/samples", s), request{as: "docgen"}).want(t, 200)
		entry := report["entries"].([]any)[0].(object)
		if entry["status"] != "failed" || entry["is_hidden"] != true || len(entry["differences"].([]any)) != 0 {
			t.Errorf("the result: %v", entry)
		}
	})
}

func TestRequiredSamplesOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		require := func(required bool) response {
			return w.do(at("PUT /docgen_templates/{template_id}", s), request{body: object{"samples_required": required}})
		}
		require(true).want(t, 409, "conflict")
		w.checkSample(docgen.SampleFindings{})
		if v := require(true).want(t, 200); v["samples_required"] != true || v["version_in_use"].(object)["id"] != id(s.version) {
			t.Errorf("required: %v", v)
		}
		_, err := w.CreateVersion(t.Context(), w.owner, docgen.NewVersion{FileID: s.file}, strings.NewReader("another version"))
		must(t, err)
		v := w.do(at("GET /docgen_templates/{template_id}", s), request{}).want(t, 200)
		if v["version_in_use"].(object)["id"] != id(s.version) {
			t.Errorf("a version that was not checked is in use: %v", v)
		}
		w.do(at("DELETE /docgen_templates/{template_id}/samples/paid", s), request{}).want(t, 409, "conflict")
		w.checkSample(docgen.SampleFindings{})
		v = w.do(at("GET /docgen_templates/{template_id}", s), request{}).want(t, 200)
		if v["version_in_use"].(object)["id"] == id(s.version) {
			t.Errorf("the version that passed is not in use: %v", v)
		}
		current := v["current_version"].(object)["id"]
		if check := v["check"].(object)["samples"].(object); check["total"] != 1.0 || check["passed"] != 1.0 || check["failed"] != 0.0 {
			t.Errorf("the check: %v", check)
		}
		worse, err := w.CreateVersion(t.Context(), w.owner, docgen.NewVersion{FileID: s.file}, strings.NewReader("a worse version"))
		must(t, err)
		v = w.do("GET /docgen_templates", request{}).want(t, 200)["entries"].([]any)[0].(object)
		if v["version_in_use"].(object)["id"] != current || v["current_version"].(object)["id"] != id(worse.VersionID) {
			t.Errorf("a version that was not checked: %v", v)
		}
		promote := func(as string, body object) response {
			return w.do(at("POST /files/{file_id}/versions/current", s), request{as: as, body: body})
		}
		body := ref(worse.VersionID, "file_version")
		body["reason"] = ""
		promote("owner", body).want(t, 400, "bad_request")
		body["reason"] = "The shop sends the VAT number from tonight on."
		w.tokens["writing"] = w.token("owner", 0, docgen.ScopeWrite)
		promote("writing", body).want(t, 403, "insufficient_scope")
		if v := promote("owner", body).want(t, 201); v["id"] != id(worse.VersionID) {
			t.Errorf("made current: %v", v)
		}
		v = w.do(at("GET /docgen_templates/{template_id}", s), request{}).want(t, 200)
		if v["version_in_use"].(object)["id"] != id(worse.VersionID) {
			t.Errorf("after the override: %v", v)
		}
		noted := w.do("GET /audit_events?action=template.version_promoted", request{as: "admin"}).want(t, 200)["entries"].([]any)
		if len(noted) != 1 || noted[0].(object)["details"].(object)["reason"] != body["reason"] ||
			noted[0].(object)["actor"].(object)["login"] != "owner@example.com" {
			t.Errorf("in the audit log: %v", noted)
		}
		if v = require(false).want(t, 200); v["samples_required"] != false {
			t.Errorf("no longer required: %v", v)
		}
		w.do(at("POST /docgen_templates/{template_id}/check_samples", s),
			request{body: object{"file_version": ref(s.version, "file_version")}}).want(t, 202)
		w.do(at("POST /docgen_templates/{template_id}/check_samples", s), request{}).want(t, 202)
		w.do(at("DELETE /docgen_templates/{template_id}/samples/paid", s), request{}).want(t, 204)
		w.do(at("POST /docgen_templates/{template_id}/check_samples", s), request{}).want(t, 409, "conflict")
	})
}

func TestInvalidSamples(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		for name, tt := range map[string]struct {
			body any
			want string
		}{
			"no input":              {object{}, "user_input"},
			"input of a wrong type": {object{"user_input": []int{}}, "user_input"},
			"an unknown field":      {object{"user_input": object{}, "expect": object{}}, "expect"},
			"unknown expectation": {object{"user_input": object{}, "expectations": object{"contain": []string{"x"}}},
				`no field \"contain\"`},
			"expectations of a wrong type": {object{"user_input": object{}, "expectations": object{"pages": "two"}}, "pages"},
			"an unknown locale":            {object{"user_input": object{}, "options": object{"locale": "xx-YY-zz"}}, "options.locale"},
			"another option":               {object{"user_input": object{}, "options": object{"dry_run": true}}, "options.dry_run"},
			"no such golden document":      {object{"user_input": object{}, "golden": ref(4711, "file")}, "golden.id"},
			"too large":                    {object{"user_input": object{"x": strings.Repeat("x", 1<<20)}}, "1048576 bytes"},
			"no time":                      {object{"user_input": object{}, "time": "yesterday"}, "time"},
			"the first time":               {object{"user_input": object{}, "time": "0001-01-01T00:00:00Z"}, "time"},
		} {
			t.Run(name, func(t *testing.T) {
				r := w.do(at("PUT /docgen_templates/{template_id}/samples/x", s), request{body: tt.body})
				r.want(t, 400, "bad_request")
				if !strings.Contains(string(r.text), tt.want) {
					t.Errorf("the response does not contain %s:\n%s", tt.want, r.text)
				}
			})
		}
		t.Run("far too large", func(t *testing.T) {
			body := object{"user_input": object{"x": strings.Repeat("x", 2<<20)}}
			w.do(at("PUT /docgen_templates/{template_id}/samples/x", s), request{body: body}).want(t, 413, "request_entity_too_large")
		})
	})
}
