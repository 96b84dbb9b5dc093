package server_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// pathOf returns the path of a URL of the API.
func (w *world) pathOf(address any) string {
	w.t.Helper()
	path, ok := strings.CutPrefix(fmt.Sprint(address), w.url+"/2.0")
	if !ok {
		w.t.Fatalf("the URL is %s", address)
	}
	return path
}

// unzipped returns the paths in a ZIP file, each with the content.
func (w *world) unzipped(content []byte) (files []string) {
	w.t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	must(w.t, err)
	for _, file := range archive.File {
		r, err := file.Open()
		must(w.t, err)
		text, err := io.ReadAll(r) // checks the checksum
		must(w.t, err)
		files = append(files, file.Name+" "+string(text))
	}
	return files
}

func TestZipDownload(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		ctx := w.t.Context()
		made := func(c *docgen.Caller, parent int64, name, text string) int64 {
			file, err := w.CreateFile(ctx, c, docgen.NewFile{Name: name, ParentID: parent}, strings.NewReader(text))
			must(w.t, err)
			return file.ID
		}
		inner, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "COM1: «ä»", ParentID: s.folder})
		must(w.t, err)
		large := strings.Repeat("0123456789abcdef", 40_000)
		made(w.owner, inner.ID, "large.bin", large)
		same := made(w.owner, 0, "Invoice.docx", "another")
		items := []object{ref(s.folder, "folder"), ref(s.file, "file"), ref(same, "file")}

		reply := w.do("POST /zip_downloads", request{body: object{"items": items, "download_file_name": "Januar «1».zip"}}).want(w.t, 202)
		conflicts := []any{[]any{
			object{"id": id(s.file), "type": "file", "original_name": "Invoice.docx", "download_name": "Invoice.docx"},
			object{"id": id(same), "type": "file", "original_name": "Invoice.docx", "download_name": "Invoice (1).docx"},
		}}
		if got := fmt.Sprint(reply["name_conflicts"]); got != fmt.Sprint(conflicts) {
			w.t.Errorf("conflicts %s", got)
		}
		content, status := w.pathOf(reply["download_url"]), w.pathOf(reply["status_url"])
		w.do("GET "+status, request{}).want(w.t, 404, "not_found")
		browser := request{as: "guest", without: []string{"svc-version"}}
		head := w.do("HEAD "+content, browser)
		res := w.do("GET "+content, browser)
		const disposition = `attachment; filename="Januar _1_.zip"; filename*=UTF-8''Januar%20%C2%AB1%C2%BB.zip`
		for _, res := range []response{head, res} {
			h := res.Header
			if res.StatusCode != http.StatusOK || h.Get("Content-Type") != "application/zip" || h.Get("Content-Disposition") != disposition {
				w.t.Fatalf("status %d, %v: %s", res.StatusCode, h, res.text)
			}
		}
		folder, err := w.Folder(ctx, w.owner, s.folder)
		must(w.t, err)
		want := []string{folder.Name + "/ ", folder.Name + "/COM1_ «ä»/ ", folder.Name + "/COM1_ «ä»/large.bin " + large,
			folder.Name + "/Invoice.docx 0123456789", "Invoice.docx 0123456789", "Invoice (1).docx another"}
		if got := w.unzipped(res.text); !slices.Equal(got, want) {
			w.t.Errorf("the ZIP file has %.300q", got)
		}
		w.unzip(res.text)
		w.do("GET "+content, browser).want(w.t, 404, "not_found")
		w.do("HEAD "+content, browser)
		progress := w.do("GET "+status, request{}).want(w.t, 200)
		if want := (object{"total_file_count": 4.0, "downloaded_file_count": 4.0, "skipped_file_count": 0.0, "skipped_folder_count": 0.0,
			"state": "succeeded"}); fmt.Sprint(progress) != fmt.Sprint(want) {
			w.t.Errorf("the status is %v", progress)
		}
		w.do("GET "+status, request{as: "reader"}).want(w.t, 404, "not_found")
		if lines := w.logs.find(strings.Split(content, "/")[2][:20]); len(lines) > 0 {
			w.t.Errorf("the log has the ticket: %s", lines)
		}
	})
}

// TestZipDownloadErrors requests downloads that cannot be, and ends the permission for others.
func TestZipDownloadErrors(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		for _, tt := range []struct {
			body   any
			status int
			code   string
		}{
			{object{}, 400, "bad_request"},
			{object{"items": []object{}}, 400, "bad_request"},
			{object{"items": []object{ref(0, "folder")}}, 400, "bad_request"},
			{object{"items": []object{ref(s.file, "web_link")}}, 400, "bad_request"},
			{object{"items": []object{ref(s.file, "folder")}}, 404, "not_found"},
			{object{"items": slices.Repeat([]object{ref(s.file, "file")}, 2)}, 400, "bad_request"},
			{object{"items": []object{ref(s.file, "file")}, "download_file_name": "a/b"}, 400, "item_name_invalid"},
			{object{"items": []object{ref(s.file, "file")}, "download_file_name": strings.Repeat("x", 300)}, 400, "item_name_too_long"},
			{object{"items": []object{ref(s.file, "file")}, "format": "tar"}, 400, "bad_request"},
		} {
			w.do("POST /zip_downloads", request{body: tt.body}).want(w.t, tt.status, tt.code)
		}
		reply := w.do("POST /zip_downloads", request{as: "reader", body: object{"items": []object{ref(s.folder, "folder")}}}).want(w.t, 202)
		content := w.pathOf(reply["download_url"])
		for _, entry := range w.do(at("GET /folders/{folder_id}/collaborations", s), request{}).want(w.t, 200)["entries"].([]any) {
			w.do("DELETE /collaborations/"+entry.(object)["id"].(string), request{}).want(w.t, 204)
		}
		w.do("GET "+content, request{as: "guest"}).want(w.t, 404, "not_found")
		w.do("HEAD "+content, request{as: "guest"})
		w.do("GET /zip_downloads/x/content", request{}).want(w.t, 401, "unauthorized")
		w.do("GET /zip_downloads/"+s.ticket+"/content", request{}).want(w.t, 401, "unauthorized")
		w.do("GET /downloads/"+s.zip, request{}).want(w.t, 401, "unauthorized")
		w.do("GET /zip_downloads/x/status", request{}).want(w.t, 404, "not_found")
		w.clock.Add(docgen.ZipTTL.Microseconds())
		w.do("GET /zip_downloads/"+s.zip+"/content", request{as: "guest"}).want(w.t, 401, "unauthorized")
	})
}

// TestZipOfDamage breaks off a download whose content is damaged, after it has begun.
func TestZipOfDamage(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		ctx := w.t.Context()
		s := w.scene()
		var keys []string
		for info, err := range w.blobs.List(ctx, "versions/") {
			must(w.t, err)
			keys = append(keys, info.Key)
		}
		for _, key := range keys {
			must(w.t, w.blobs.Delete(ctx, key))
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/2.0/zip_downloads/"+s.zip+"/content", http.NoBody)
		must(w.t, err)
		if res, err := http.DefaultClient.Do(req); err == nil {
			_, err = io.ReadAll(res.Body)
			must(w.t, res.Body.Close())
			if err == nil {
				w.t.Error("the client took a part for the whole")
			}
		}
		progress := w.do("GET /zip_downloads/"+s.zip+"/status", request{}).want(w.t, 200)
		if progress["state"] != "failed" {
			w.t.Errorf("the status is %v", progress)
		}
	})
}
