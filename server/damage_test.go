package server_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestDamagedContentIsNotServed: a complete response has exactly the uploaded bytes.
func TestDamagedContentIsNotServed(t *testing.T) {
	const block = 256 << 10
	run(t, func(w *world) {
		s := w.scene()
		text := strings.Repeat("0123456789abcdef", 3*block/16)
		w.do(at("POST /files/{file_id}/content", s), request{body: form{{"attributes", `{"name":"a.bin"}`}, {"file", text}}}).want(w.t, 200)
		get := func(rng string) (status int, body []byte, err error) {
			req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+"/2.0/files/"+id(s.file)+"/content", http.NoBody)
			must(w.t, err)
			req.Header.Set("Authorization", "Bearer "+w.tokens["owner"])
			req.Header.Set("svc-version", "2025.0")
			if rng != "" {
				req.Header.Set("Range", rng)
			}
			res, err := http.DefaultClient.Do(req)
			must(w.t, err)
			defer res.Body.Close()
			body, err = io.ReadAll(res.Body)
			return res.StatusCode, body, err
		}
		var key string
		for info, err := range w.blobs.List(w.t.Context(), "versions/") {
			must(w.t, err)
			if info.Size == int64(len(text)) {
				key = info.Key
			}
		}
		replace := func(data string) {
			must(w.t, w.blobs.Delete(w.t.Context(), key))
			_, err := w.blobs.Put(w.t.Context(), key, strings.NewReader(data))
			must(w.t, err)
		}
		replace(text[:block+77] + "!" + text[block+78:])
		if status, body, err := get(""); status != 200 || err == nil || len(body) > block {
			w.t.Errorf("all of it: status %d, %d bytes, %v, want a response that is cut short of the damage", status, len(body), err)
		}
		if status, body, err := get("bytes=0-99"); status != 206 || err != nil || string(body) != text[:100] {
			w.t.Errorf("a range without damage: status %d, %d bytes, %v", status, len(body), err)
		}
		damaged := request{header: http.Header{"Range": {"bytes=" + strconv.Itoa(block) + "-"}}}
		w.do(at("GET /files/{file_id}/content", s), damaged).want(w.t, 500, "content_damaged")
		must(w.t, w.blobs.Delete(w.t.Context(), key))
		w.do(at("GET /files/{file_id}/content", s), request{}).want(w.t, 500, "content_damaged")
	})
}
