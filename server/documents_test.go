package server_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// letterTemplate returns the template of the example letter, and its data.
func letterTemplate(t *testing.T) (template, data string) {
	t.Helper()
	file, err := os.ReadFile("../examples/letter/template.docx")
	must(t, err)
	text, err := os.ReadFile("../examples/letter/data.json")
	must(t, err)
	return string(file), string(text)
}

// wordText returns the text of a Word document, without its formatting.
func wordText(t *testing.T, file []byte) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	must(t, err)
	part, err := archive.Open("word/document.xml")
	must(t, err)
	defer part.Close()
	var xml bytes.Buffer
	_, err = xml.ReadFrom(part)
	must(t, err)
	return xml.String()
}

func TestDocumentOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		template, data := wordFile(w.t, "Dear {{name}},"), `{"name": "Ada"}`
		parts := form{{"template", template}, {"user_input", data}, {"output_type", "docx"}, {"generated_file_name", "Offer – Ada"}}
		res := w.do("POST /docgen_documents", request{body: parts})
		if res.StatusCode != http.StatusOK || !strings.Contains(wordText(w.t, res.text), "Dear Ada,") {
			w.t.Fatalf("status %d, %d bytes", res.StatusCode, len(res.text))
		}
		for header, want := range map[string]string{
			"Content-Disposition": `attachment; filename="Offer _ Ada.docx"; filename*=UTF-8''Offer%20%E2%80%93%20Ada.docx`,
			"Content-Type":        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
			"Docgen-Status":       "completed", "Docgen-Failures": "", "Docgen-Output-File": "", "Preference-Applied": "",
		} {
			if got := res.Header.Get(header); got != want {
				w.t.Errorf("%s: %q, want %q", header, got, want)
			}
		}
		if names := w.do("GET /folders/0/items", request{}).want(w.t, 200)["entries"].([]any); len(names) > 0 {
			w.t.Errorf("the root folder has %v, want nothing", names)
		}

		body := object{"template": base64.StdEncoding.EncodeToString([]byte(template)), "user_input": object{}, "output_type": "docx",
			"destination_folder": object{"id": "0", "type": "folder"}}
		asJSON := request{body: body, header: http.Header{"Accept": {"application/json"}}}
		v := w.do("POST /docgen_documents", asJSON).want(w.t, 200)
		content, err := base64.StdEncoding.DecodeString(v["content"].(string))
		if err != nil || !strings.Contains(wordText(w.t, content), "{{") || v["status"] != "completed_with_error" {
			w.t.Errorf("the document without data is %v, %v", v, err)
		}
		if v["failures"].(object)["count"] == 0.0 || v["page_count"] != nil || v["name"] != "Document.docx" {
			w.t.Errorf("the document is %v", v)
		}
		file := v["output_file"].(object)["id"].(string)
		if got := w.do("GET /files/"+file, request{}).want(w.t, 200); got["name"] != "Document.docx" {
			w.t.Errorf("the stored file is %v", got)
		}
	})
}

func TestFailuresOfDocumentsInHeader(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		template, _ := letterTemplate(w.t)
		res := w.do("POST /docgen_documents", request{body: form{{"template", template}, {"user_input", "{}"}, {"output_type", "docx"}}})
		header := res.Header.Get("Docgen-Failures")
		var found struct {
			Errors, Warnings []string
			Omitted          int
		}
		must(w.t, json.Unmarshal([]byte(header), &found))
		if len(header) > 4<<10 || len(found.Errors) == 0 || strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }) {
			w.t.Errorf("the header is %q", header)
		}
		res = w.do("POST /docgen_documents", request{body: form{
			{"template", template}, {"user_input", `{"x": "` + strings.Repeat("ü", 10) + `"}`}, {"output_type", "docx"},
			{"options", `{"missing": "error"}`}}})
		v := res.want(w.t, 422, "document_failed")
		failures := v["context_info"].(object)["failures"].(object)
		if len(failures["errors"].([]any)) == 0 || v["message"] != failures["errors"].([]any)[0] {
			w.t.Errorf("the error is %v", v)
		}
	})
}

func TestInvalidDocumentRequests(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		s := w.scene()
		template, _ := letterTemplate(w.t)
		valid := func() object { return object{"template": "eA==", "user_input": object{}, "output_type": "pdf"} }
		parts := func(more ...[2]string) form {
			return append(form{{"template", template}, {"user_input", "{}"}, {"output_type", "pdf"}}, more...)
		}
		data := func(text string) form {
			return form{{"template", template}, {"user_input", text}, {"output_type", "pdf"}}
		}
		for name, tt := range map[string]struct {
			body any
			want string // reason and field of each problem
		}{
			"nothing":     {object{}, "missing_parameter file missing_parameter output_type missing_parameter user_input"},
			"no template": {object{"user_input": object{}, "output_type": "pdf"}, "missing_parameter file"},
			"not Base64":  {with(valid(), object{"template": "?"}), "invalid_parameter template"},
			"no content":  {with(valid(), object{"template": ""}), "invalid_parameter template"},

			"two templates":        {with(valid(), object{"file": ref(s.file, "file")}), "invalid_parameter template"},
			"unknown field":        {with(valid(), object{"zoom": 2}), "invalid_parameter zoom"},
			"a dry run":            {with(valid(), object{"options": object{"dry_run": true}}), "invalid_parameter options.dry_run"},
			"unknown part":         {parts([2]string{"data", "{}"}), "invalid_parameter data"},
			"repeated part":        {parts([2]string{"user_input", "{}"}), "invalid_parameter user_input"},
			"data that is no JSON": {data(`{"a": }`), "invalid_parameter user_input"},
			"more than one value":  {data(`{} {}`), "invalid_parameter user_input"},
			"a list of data":       {data(`[]`), "invalid_parameter user_input"},
			"a template as file":   {form{{"file", template}, {"user_input", "{}"}, {"output_type", "pdf"}}, "invalid_parameter file"},
			"a wrong type":         {form{{"template", template}, {"user_input", "{}"}, {"output_type", "doc"}}, "invalid_parameter output_type"},
			"options for images":   {parts([2]string{"options", `{"png":{"dpi":96}}`}), "invalid_parameter options.png"},
		} {
			w.t.Run(name, func(t *testing.T) {
				v := w.do("POST /docgen_documents", request{body: tt.body}).want(t, 400, "bad_request")
				if got := strings.Join(problems(v), " "); got != tt.want {
					t.Errorf("problems %q, want %q: %v", got, tt.want, v)
				}
			})
		}
	})
}

func TestDocumentsAsJobs(t *testing.T) {
	run(t, func(w *world) {
		template, data := letterTemplate(w.t)
		parts := form{{"template", template}, {"user_input", data}, {"output_type", "docx"}}
		prefer := func(values ...string) request { return request{body: parts, header: http.Header{"Prefer": values}} }
		for _, value := range []string{"respond-async", "wait=0", "handling=strict, Respond-Async"} {
			res := w.do("POST /docgen_documents", prefer(value))
			v := res.want(w.t, 202)
			location := res.Header.Get("Location")
			if v["type"] != "docgen_job" || location != w.url+"/2.0/docgen_jobs/"+v["id"].(string) ||
				res.Header.Get("Preference-Applied") != "respond-async" {
				w.t.Errorf("Prefer: %s: %v, %v", value, v, res.Header)
			}
			w.do("GET //"+strings.TrimPrefix(location, w.url+"/"), request{}).want(w.t, 200)
			w.do("GET /docgen_jobs/"+v["id"].(string), request{as: "other"}).want(w.t, 404)
		}
		res := w.do("POST /docgen_documents", prefer("wait=20"))
		if res.StatusCode != http.StatusOK || res.Header.Get("Preference-Applied") != "wait=20" {
			w.t.Errorf("Prefer: wait=20: status %d, %v", res.StatusCode, res.Header)
		}
		v := w.do("POST /docgen_documents", prefer("wait=soon")).want(w.t, 400, "bad_request")
		if got := problems(v); len(got) != 1 || got[0] != "invalid_parameter Prefer" {
			w.t.Errorf("problems %q", got)
		}
		parts[2][1] = "png"
		w.do("POST /docgen_documents", prefer("respond-async")).want(w.t, 400, "bad_request")
	})
}

// TestLateDocumentsBecomeJobs generates a document with an image on a host that never answers.
func TestLateDocumentsBecomeJobs(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		res := w.do("POST /docgen_documents", request{header: http.Header{"Prefer": {"wait=1"}}, body: form{
			{"template", wordFile(w.t, "{{note :: html}}")}, {"output_type", "docx"},
			{"user_input", `{"note": "<img src='https://images.example.com/a.png'>"}`}}})
		if v := res.want(w.t, 202); v["type"] != "docgen_job" || res.Header.Get("Preference-Applied") != "wait=1" {
			w.t.Errorf("the response is %v, %v", v, res.Header)
		}
	})
}

// wordFile returns a Word document with one paragraph.
func wordFile(t *testing.T, text string) string {
	t.Helper()
	const head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	for _, entry := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ` +
			`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` +
			`<w:p><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p></w:body></w:document>`},
	} {
		part, err := archive.Create(entry[0])
		must(t, err)
		_, err = part.Write([]byte(head + entry[1]))
		must(t, err)
	}
	must(t, archive.Close())
	return file.String()
}

func TestLargeTemplatesInRequests(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		v := w.do("POST /docgen_documents", request{body: form{{"template", strings.Repeat("x", 32<<20+1)}, {"user_input", "{}"},
			{"output_type", "docx"}}}).want(w.t, 400, "bad_request")
		if got := problems(v); len(got) != 1 || got[0] != "invalid_parameter template" {
			w.t.Errorf("problems %q", got)
		}
		w.do("POST /docgen_documents", request{body: form{{"template", strings.Repeat("x", 40<<20)}, {"user_input", "{}"},
			{"output_type", "docx"}}}).want(w.t, 413, "request_entity_too_large")
	})
}

func TestPageImagesAsFile(t *testing.T) {
	images := []docgen.Image{{Page: 1, PNG: []byte("one")}, {Page: 3, PNG: []byte("three")}}
	d := &docgen.Document{Name: "Offer.png", OutputType: docgen.OutputPNG, Images: images[:1]}
	name, mediaType, content, err := server.DocumentFile(d)
	if err != nil || name != "Offer.png" || mediaType != "image/png" || string(content) != "one" {
		t.Errorf("one image is %q, %q, %q, %v", name, mediaType, content, err)
	}
	d.Images = images
	name, mediaType, content, err = server.DocumentFile(d)
	if err != nil || name != "Offer.zip" || mediaType != "application/zip" {
		t.Fatalf("two images are %q, %q, %v", name, mediaType, err)
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	for i, want := range []string{"Offer-1.png", "Offer-3.png"} {
		if got := archive.File[i].Name; got != want {
			t.Errorf("image %d is %q, want %q", i, got, want)
		}
	}
}

func TestCheckOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		template := wordFile(w.t, "Dear {{name}},")
		v := w.do("POST /docgen_checks", request{body: form{{"template", template}, {"user_input", "{}"}, {"annotated", "true"}}}).want(w.t, 200)
		tags := v["tags"].([]any)
		if v["is_valid"] != true || len(tags) != 1 || v["data"].(object)["status"] != "completed_with_error" || v["annotated"] == nil {
			w.t.Errorf("the check is %v", v)
		}
		if sample := v["sample"].(object); sample["name"] == nil {
			w.t.Errorf("the sample is %v", sample)
		}
		v = w.do("POST /docgen_checks", request{body: form{{"template", wordFile(w.t, "{{if}}")}}}).want(w.t, 200)
		if v["is_valid"] != false || v["schema"] != nil || v["data"] != nil || len(v["failures"].(object)["errors"].([]any)) == 0 {
			w.t.Errorf("the check of a template with a mistake is %v", v)
		}
		v = w.do("POST /docgen_checks", request{body: object{"output_type": "pdf"}}).want(w.t, 400, "bad_request")
		if got := strings.Join(problems(v), " "); got != "invalid_parameter output_type missing_parameter file" {
			w.t.Errorf("problems %q", got)
		}
	})
}

func TestPreviewOnTheWire(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		body := form{{"template", wordFile(w.t, "Dear {{name}},")}, {"user_input", "{}"}}
		w.do("POST /docgen_previews", request{body: body}).want(w.t, 422, "document_failed") // there is no PDF engine
		v := w.do("POST /docgen_previews", request{body: append(body, [2]string{"output_type", "pdf"})}).want(w.t, 400, "bad_request")
		if got := problems(v); len(got) != 1 || got[0] != "invalid_parameter output_type" {
			w.t.Errorf("problems %q", got)
		}
	})
}
