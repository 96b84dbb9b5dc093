package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// dataForm is the body of a streamed batch.
type dataForm struct {
	attributes        object
	fileName, typ     string // of the part data
	data              string
	first, last, name string // other parts, and the name of the data
}

func (f dataForm) encode(t *testing.T) (body []byte, contentType string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	if f.first != "" {
		must(t, w.WriteField(f.first, "x"))
	}
	if f.attributes != nil {
		must(t, w.WriteField("attributes", jsonText(t, f.attributes)))
	}
	name := f.name
	if name == "" {
		name = "data"
	}
	header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename=%q`, name, f.fileName)}}
	if f.typ != "" {
		header.Set("Content-Type", f.typ)
	}
	part, err := w.CreatePart(header)
	must(t, err)
	_, err = part.Write([]byte(f.data))
	must(t, err)
	if f.last != "" {
		must(t, w.WriteField(f.last, "x"))
	}
	must(t, w.Close())
	return buf.Bytes(), w.FormDataContentType()
}

// streamData sends a streamed batch of the owner.
func (w *world) streamData(f dataForm, header http.Header) response {
	w.t.Helper()
	body, contentType := f.encode(w.t)
	r := request{body: body, header: http.Header{"Content-Type": {contentType}}}
	maps.Copy(r.header, header)
	return w.do("POST /docgen_batches", r)
}

// streamedBatch returns the attributes of a streamed batch.
func streamedBatch(s scene, more object) object {
	attributes := with(batch(s), more)
	delete(attributes, "document_generation_data")
	return attributes
}

func TestStreamedBatches(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		s := w.scene()
		pattern := object{"generated_file_name": "Letter to {{name}}"}
		for _, f := range []dataForm{
			{fileName: "rows.csv", data: "name\r\nAda\r\nBob\r\n"},
			{fileName: "rows.txt", typ: "text/csv; charset=utf-8", data: "generated_file_name;name\nLetter to Ada;Ada\nLetter to Bob;Bob\n"},
			{typ: "application/x-ndjson", data: `{"user_input":{"name":"Ada"}}` + "\n" + `{"user_input":{"name":"Bob"}}`},
			{fileName: "rows.json", data: `[{"user_input":{"name":"Ada"}},{"user_input":{"name":"Bob"}}]`},
			{data: "name|x,y\nAda|1\nBob|2", attributes: object{"data_format": "csv", "csv": object{"delimiter": "|"}}},
			{data: "name,items[].x\nAda,1\nAda,2\nBob,1", attributes: object{"data_format": "csv", "csv": object{"group_by": []string{"name"}}}},
		} {
			f.attributes = with(streamedBatch(s, pattern), f.attributes)
			got := w.streamData(f, nil).want(t, 202)
			jobs, err := w.Jobs(t.Context(), w.owner, docgen.JobFilter{BatchID: new(fmt.Sprint(got["id"]))}, docgen.PageRequest{})
			must(t, err)
			if len(jobs.Entries) != 2 {
				t.Errorf("%q: %d jobs, want 2", f.data, len(jobs.Entries))
			}
			shown := w.do(fmt.Sprint("GET /docgen_batches/", got["id"]), request{}).want(t, 200)
			if shown["is_accepting"] != false {
				t.Errorf("the batch is %v", shown)
			}
		}
		try := dataForm{fileName: "rows.csv", data: "generated_file_name,naem\nA,Ada\n",
			attributes: streamedBatch(s, object{"options": object{"dry_run": true}})}
		tried := w.streamData(try, nil).want(t, 200)
		if finding := tried["findings"].([]any)[0].(object); finding["line"] != 2.0 || finding["generated_file_name"] != "A.docx" {
			t.Errorf("the dry run is %v", tried)
		}
		key := http.Header{"Idempotency-Key": {"stream"}}
		keyed := dataForm{fileName: "rows.csv", data: "name\nAda\n", attributes: streamedBatch(s, pattern)}
		first := w.streamData(keyed, key).want(t, 202)
		if again := w.streamData(keyed, key); !again.replayed() || again.json(t)["id"] != first["id"] {
			t.Errorf("the repeated response is %s, the first one %v", again.text, first)
		}
		keyed.data = "name\nBob\n"
		w.streamData(keyed, key).want(t, 422, "idempotency_key_reused")
	})
}

func TestStreamedBatchErrors(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		rows := "generated_file_name,name\nA,Ada\n"
		for _, tt := range []struct {
			name     string
			form     dataForm
			code     string
			problems []string
		}{
			{"an unknown format", dataForm{data: rows, fileName: "rows.xlsx"}, "bad_request", []string{"invalid_parameter data_format"}},
			{"a wrong format", dataForm{data: rows, attributes: object{"data_format": "xlsx"}}, "bad_request",
				[]string{"invalid_parameter data_format"}},
			{"csv for JSON", dataForm{data: rows, attributes: object{"data_format": "json", "csv": object{"delimiter": ","}}}, "bad_request",
				[]string{"invalid_parameter csv"}},
			{"a wrong delimiter", dataForm{data: rows, fileName: "a.csv", attributes: object{"csv": object{"delimiter": "x"}}}, "bad_request",
				[]string{"invalid_parameter csv.delimiter"}},
			{"a wrong pattern", dataForm{data: rows, fileName: "a.csv", attributes: object{"generated_file_name": "{{for x in y}}"}}, "bad_request",
				[]string{"invalid_parameter generated_file_name"}},
			{"documents in the attributes", dataForm{data: rows, fileName: "a.csv", attributes: object{"document_generation_data": []any{}}},
				"bad_request", []string{"invalid_parameter document_generation_data"}},
			{"a bad row", dataForm{data: "generated_file_name,name\nA,Ada\nB\n", fileName: "a.csv"}, "bad_request",
				[]string{"invalid_parameter data[1]"}},
			{"no rows", dataForm{fileName: "a.csv", data: "generated_file_name\n"}, "bad_request", []string{"invalid_parameter data"}},
			{"another part", dataForm{data: rows, fileName: "a.csv", name: "file"}, "bad_request",
				[]string{"invalid_parameter file", "missing_parameter data"}},
			{"a part after the data", dataForm{data: rows, fileName: "a.csv", last: "more"}, "bad_request", []string{"invalid_parameter more"}},
			{"the data first", dataForm{data: rows, fileName: "a.csv", first: "data"}, "metadata_after_file_contents", nil},
			{"another folder", dataForm{data: rows, fileName: "a.csv", attributes: object{"destination_folder": ref(4711, "folder")}},
				"bad_request", []string{"invalid_parameter destination_folder.id"}},
		} {
			tt.form.attributes = with(streamedBatch(s, nil), tt.form.attributes)
			got := w.streamData(tt.form, nil).want(w.t, 400, tt.code)
			if names := problems(got); tt.problems != nil && strings.Join(names, ", ") != strings.Join(tt.problems, ", ") {
				w.t.Errorf("%s: problems %q, want %q: %v", tt.name, names, tt.problems, got)
			}
		}
		for _, as := range []string{"other", "reader"} {
			body, contentType := dataForm{data: rows, fileName: "a.csv", attributes: streamedBatch(s, nil)}.encode(w.t)
			got := w.do("POST /docgen_batches", request{as: as, body: body, header: http.Header{"Content-Type": {contentType}}})
			if got.StatusCode != http.StatusNotFound && got.StatusCode != http.StatusForbidden {
				w.t.Errorf("%s gets %d %s", as, got.StatusCode, got.text)
			}
		}
	})
}

func TestStreamedBatchLimits(t *testing.T) {
	runWith(t, server.Config{RateLimits: noLimits}, docgen.Limits{StreamedDocuments: 3, StreamedBytes: 4096, BatchBytes: 100}, func(w *world) {
		s := w.scene()
		f := dataForm{fileName: "a.csv", data: "generated_file_name\nA\nB\nC\n", attributes: streamedBatch(s, nil)}
		w.streamData(f, nil).want(w.t, 202)
		f.data += "D\n"
		w.streamData(f, nil).want(w.t, 400, "bad_request")
		f.data = "generated_file_name,name\nA," + strings.Repeat("x", 2<<20)
		w.streamData(f, nil).want(w.t, 413, "request_entity_too_large")
	})
}

// A connection that breaks in the middle of the data discards the batch.
func TestBrokenStream(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		before := w.allJobs()
		data := "generated_file_name,name\n" + strings.Repeat("A,Ada\n", 20_000)
		body, contentType := dataForm{fileName: "a.csv", data: data, attributes: streamedBatch(s, nil)}.encode(w.t)
		c := w.wire(w.t)
		c.send(fmt.Sprintf("POST /2.0/docgen_batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nsvc-version: 2025.0\r\n"+
			"Content-Type: %s\r\nContent-Length: %d\r\nX-Request-Id: broken\r\n\r\n", w.tokens["owner"], contentType, len(body)))
		c.send(string(body[:len(body)-100]))
		must(w.t, c.Close())
		for w.logs.find(`"broken"`, `"msg":"request"`) == nil { // until the server has noticed
			w.do("GET /users/me", request{})
		}
		if n := w.allJobs(); n != before {
			w.t.Errorf("%d jobs are left of the batch", n-before)
		}
		w.streamData(dataForm{fileName: "a.csv", data: data, attributes: streamedBatch(s, nil)}, nil).want(w.t, 202)
	})
}

// allJobs returns the number of jobs that the owner can see.
func (w *world) allJobs() int {
	w.t.Helper()
	page, err := w.Jobs(w.t.Context(), w.owner, docgen.JobFilter{}, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	must(w.t, err)
	return len(page.Entries)
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}
