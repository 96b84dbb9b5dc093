package server_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"platen/docgen"
)

// shaHeader returns the value of a Digest header.
func shaHeader(text string) string {
	sum := sha1.Sum([]byte(text))
	return "sha=" + base64.StdEncoding.EncodeToString(sum[:])
}

// partHeader returns the headers of a part, which is the whole content.
func partHeader(text string) http.Header {
	return http.Header{"Content-Type": {"application/octet-stream"}, "Digest": {shaHeader(text)},
		"Content-Range": {fmt.Sprintf("bytes 0-%d/%d", len(text)-1, len(text))}}
}

// session starts an upload of the content "text" in parts, and sends its only part.
func (w *world) session(c *docgen.Caller, folder int64) (session, part int64) {
	w.t.Helper()
	name := fmt.Sprintf("session %d", w.clock.Add(1))
	made, err := w.CreateUpload(w.t.Context(), c, docgen.NewUpload{ParentID: folder, Name: name, Size: 4})
	must(w.t, err)
	saved, err := w.SavePart(w.t.Context(), c, made.ID, docgen.UploadPart{Size: 4, SHA1: digest("text")}, 4, strings.NewReader("text"))
	must(w.t, err)
	return made.ID, saved.ID
}

// commitOf returns the body that commits a session of the content "text".
func commitOf(part int64) object {
	return object{"parts": []object{{"part_id": id(part), "offset": 0, "size": 4, "sha1": digest("text")}}}
}

func TestUploadSessions(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		content := strings.Repeat("x", docgen.UploadPartSize) + "the end"
		request1 := object{"folder_id": id(s.folder), "file_name": "large.bin", "file_size": len(content)}
		v := w.do("POST /files/upload_sessions", request{body: request1}).want(w.t, 201)
		path := "/files/upload_sessions/" + v["id"].(string)
		if v["total_parts"] != 2.0 || v["part_size"] != float64(docgen.UploadPartSize) ||
			v["session_endpoints"].(object)["commit"] != w.url+"/2.0"+path+"/commit" {
			w.t.Errorf("the session is %v", v)
		}
		var parts []object
		for i, text := range []string{content[:docgen.UploadPartSize], content[docgen.UploadPartSize:]} {
			from := i * docgen.UploadPartSize
			h := partHeader(text)
			h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from+len(text)-1, len(content)))
			for range 2 { // a repeated request changes nothing
				part := w.do("PUT "+path, request{body: []byte(text), header: h}).want(w.t, 200)["part"].(object)
				if parts = append(parts[:i], part); part["offset"] != float64(from) || part["sha1"] != digest(text) {
					w.t.Errorf("the part is %v", part)
				}
			}
			if v := w.do("GET "+path, request{}).want(w.t, 200); v["num_parts_processed"] != float64(i+1) {
				w.t.Errorf("the session is %v", v)
			}
		}
		if v := w.do("GET "+path+"/parts?limit=1&offset=1", request{}).want(w.t, 200); v["total_count"] != 2.0 ||
			v["entries"].([]any)[0].(object)["part_id"] != parts[1]["part_id"] {
			w.t.Errorf("the parts are %v", v)
		}
		commit := request{body: object{"parts": parts, "attributes": object{"content_modified_at": "2020-01-01T00:00:00Z"}},
			header: http.Header{"Digest": {shaHeader(content)}}}
		w.do("POST "+path+"/commit", request{body: commit.body, header: http.Header{"Digest": {shaHeader("x")}}}).want(w.t, 400, "bad_digest")
		w.do("POST "+path+"/commit", request{body: commit.body}).want(w.t, 400, "bad_request")
		file := w.do("POST "+path+"/commit", commit).want(w.t, 201)["entries"].([]any)[0].(object)
		if file["name"] != "large.bin" || file["content_modified_at"] != "2020-01-01T00:00:00+00:00" {
			w.t.Errorf("the file is %v", file)
		}
		res := w.do("GET /files/"+file["id"].(string)+"/content", request{})
		if !bytes.Equal(res.text, []byte(content)) {
			w.t.Errorf("the content has %d bytes", len(res.text))
		}
		w.do("GET "+path, request{}).want(w.t, 404, "not_found")

		v = w.do("POST /files/"+file["id"].(string)+"/upload_sessions", request{body: object{"file_size": 4}}).want(w.t, 201)
		path = "/files/upload_sessions/" + v["id"].(string)
		for name, change := range map[string]func(h http.Header){
			"Digest":          func(h http.Header) { h.Set("Digest", "sha=text") },
			"Content-Range":   func(h http.Header) { h.Set("Content-Range", "bytes 0-4/4") },
			"Content-Range 2": func(h http.Header) { h.Del("Content-Range") },
			"Content-Range 3": func(h http.Header) { h.Set("Content-Range", "bytes 3-0/4") },
		} {
			h := partHeader("text")
			change(h)
			v := w.do("PUT "+path, request{body: []byte("text"), header: h}).want(w.t, 400, "bad_request")
			if got := problems(v); len(got) != 1 || !strings.HasPrefix(name, strings.TrimPrefix(got[0], "invalid_parameter ")) {
				w.t.Errorf("%s: problems %q", name, got)
			}
		}
		w.do("PUT "+path, request{body: []byte("TEXT"), header: partHeader("text")}).want(w.t, 400, "bad_digest")
		w.do("PUT "+path, request{body: object{}}).want(w.t, 400, "bad_request")
		w.do("DELETE "+path, request{}).want(w.t, 204)
		w.do("DELETE "+path, request{}).want(w.t, 404, "not_found")
		w.do("GET /files/upload_sessions/abc", request{}).want(w.t, 404, "not_found")
	})
}
