package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"platen/docgen"
	"platen/pdf/finish"
	"platen/server"
)

// pagePDF returns a PDF of one page with a word on it.
func pagePDF(word string) string {
	content := "BT /F1 24 Tf 20 40 Td (" + word + ") Tj ET"
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 " +
			"R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
		fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content),
	}
	file, table := "%PDF-1.7\n", ""
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(file))
		file += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	return fmt.Sprintf("%sxref\n0 5\n0000000000 65535 f \n%strailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", file, table, len(file))
}

// wantPDF checks that a response is a PDF with pages that have the words.
func (w *world) wantPDF(res response, name string, words ...string) {
	w.t.Helper()
	h := res.Header
	if res.StatusCode != http.StatusOK || h.Get("Content-Type") != "application/pdf" || res.ContentLength != int64(len(res.text)) ||
		!strings.Contains(h.Get("Content-Disposition"), `filename="`+name+`"`) {
		w.t.Fatalf("status %d, %v: %.300s", res.StatusCode, h, res.text)
	}
	if n, err := finish.Pages(res.text); n != len(words) || err != nil {
		w.t.Errorf("%d pages, %v, want %d", n, err, len(words))
	}
	for _, word := range words {
		if !strings.Contains(string(res.text), "("+word+")") {
			w.t.Errorf("the page %s is missing", word)
		}
	}
}

// TestMergedBatch downloads the documents of a batch as one PDF.
func TestMergedBatch(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		ctx := w.t.Context()
		ended := func(outputType string, texts ...string) string {
			batch := docgen.NewBatch{TemplateID: s.file, InputSource: docgen.InputSource, DestinationID: s.folder, OutputType: outputType}
			for i := range texts {
				document := docgen.NewDocument{Name: fmt.Sprint("Doc ", i), Input: new(docgen.Inputs).Parse([]byte(`{}`))}
				batch.Documents = append(batch.Documents, document)
			}
			made, err := w.CreateBatch(ctx, w.owner, batch)
			must(w.t, err)
			lane := docgen.LanePDF
			if outputType == docgen.OutputDocx {
				lane = docgen.LaneDocx
			}
			claim := claimBatch(ctx, w.t, w.Service, w.owner.User.ID, lane, made)
			results := make([]docgen.Result, len(claim.Jobs))
			for i, job := range claim.Jobs {
				if results[i].Job = job; texts[i] == "" {
					results[i].Failures.Errors = []string{"it is broken"}
					continue
				}
				output, err := w.SaveOutput(ctx, job, strings.NewReader(texts[i]))
				must(w.t, err)
				results[i].Output = &output
			}
			_, err = w.CompleteJobs(ctx, claim, results)
			must(w.t, err)
			return "/docgen_batches/" + made + "/content?output_type="
		}
		whole := ended(docgen.OutputPDF, pagePDF("one"), pagePDF("two"))
		name := "Batch " + strings.Split(whole, "/")[2] + ".pdf"
		w.wantPDF(w.do("GET "+whole+"pdf", request{}), name, "one", "two")
		if res := w.do("HEAD "+whole+"pdf", request{}); res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/pdf" {
			w.t.Errorf("HEAD: status %d, %v", res.StatusCode, res.Header)
		}
		if got := w.unzipped(w.do("GET "+whole+"zip", request{}).text); len(got) != 2 {
			w.t.Errorf("the ZIP file has %d files", len(got))
		}
		w.do("GET "+whole+"tar", request{}).want(w.t, 400, "bad_request")
		w.do("GET "+whole+"pdf", request{as: "other"}).want(w.t, 404, "not_found")
		for text, path := range map[string]string{
			"1 documents could not be generated": ended(docgen.OutputPDF, pagePDF("one"), ""),
			"Other files: Doc 0":                 ended(docgen.OutputDocx, "text"),
			"cannot be read":                     ended(docgen.OutputPDF, pagePDF("one"), "no PDF"),
		} {
			v := w.do("GET "+path+"pdf", request{}).want(w.t, 409, "conflict")
			if message := fmt.Sprint(v["message"]); !strings.Contains(message, text) {
				w.t.Errorf("message %q, want %q", message, text)
			}
		}
	})
}

// TestMergedFolder downloads a folder as one PDF.
func TestMergedFolder(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		ctx := w.t.Context()
		folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "PDFs", ParentID: s.folder})
		must(w.t, err)
		add := func(name, text string) int64 {
			file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: name, ParentID: folder.ID}, strings.NewReader(text))
			must(w.t, err)
			return file.ID
		}
		add("b.pdf", pagePDF("two"))
		add("a.PDF", pagePDF("one"))
		body := object{"items": []object{ref(folder.ID, "folder")}, "output_type": "pdf"}
		create := func() (content, status string) {
			reply := w.do("POST /zip_downloads", request{body: body}).want(w.t, 202)
			return "GET " + w.pathOf(reply["download_url"]), "GET " + w.pathOf(reply["status_url"])
		}
		content, status := create()
		w.wantPDF(w.do(content, request{as: "guest"}), "PDFs.pdf", "one", "two")
		if got := w.do(status, request{}).want(w.t, 200); got["state"] != "succeeded" || got["downloaded_file_count"] != 2.0 {
			w.t.Errorf("the status is %v", got)
		}
		sealed, err := finish.Encrypt([]byte(pagePDF("sealed")), finish.Protection{UserPassword: "s3cret", OwnerPassword: "owner",
			Permissions: finish.AllPermissions()})
		must(w.t, err)
		first := add("sealed 1.pdf", string(sealed))
		add("sealed 2.pdf", string(sealed))
		content, status = create()
		v := w.do(content, request{as: "guest"}).want(w.t, 409, "conflict")
		if message := fmt.Sprint(v["message"]); !strings.Contains(message, "sealed 1") || !strings.Contains(message, "sealed 2") {
			w.t.Errorf("message %q", message)
		}
		if got := w.do(status, request{}).want(w.t, 200); got["state"] != "failed" || got["downloaded_file_count"] != 0.0 {
			w.t.Errorf("the status is %v", got)
		}
		_, err = w.UpdateFile(ctx, w.owner, first, docgen.ItemChange{Name: new("sealed.docx")})
		must(w.t, err)
		w.do(content, request{as: "guest"}).want(w.t, 409, "conflict") // it can start again
		v = w.do("POST /zip_downloads", request{body: body}).want(w.t, 409, "conflict")
		if message := fmt.Sprint(v["message"]); !strings.Contains(message, "PDFs/sealed.docx") {
			w.t.Errorf("message %q", message)
		}
	})
}

// TestMergedOnFullDisk merges more bytes than the server keeps for requests.
func TestMergedOnFullDisk(t *testing.T) {
	cfg := server.Config{RateLimits: noLimits, InFlight: server.InFlight{Disk: 4 << 20}}
	runOnce(t, cfg, func(w *world) {
		s := w.scene()
		ctx := w.t.Context()
		items := []object{}
		for i := range 6 {
			text := pagePDF(strings.Repeat(fmt.Sprint(i), 1<<20))
			file, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: fmt.Sprint(i, ".pdf"), ParentID: s.folder}, strings.NewReader(text))
			must(w.t, err)
			items = append(items, ref(file.ID, "file"))
		}
		reply := w.do("POST /zip_downloads", request{body: object{"items": items, "output_type": "pdf"}}).want(w.t, 202)
		content := "GET " + w.pathOf(reply["download_url"])
		if res := w.do(content, request{as: "guest"}); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
			w.t.Errorf("status %d, %v: %.300s", res.StatusCode, res.Header, res.text)
		}
		w.do("GET "+w.pathOf(reply["status_url"]), request{}).want(w.t, 200)
	})
}
