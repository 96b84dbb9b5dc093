package server_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

func digest(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestUpload(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		attributes := func(name string) [2]string {
			return [2]string{"attributes", fmt.Sprintf(`{"name":%q,"parent":{"id":%d}}`, name, s.folder)}
		}
		content := [2]string{"file", "hello"}
		md5 := func(value string) http.Header { return http.Header{"Content-Md5": {value}} }
		tests := []struct {
			name    string
			request request
			status  int
			code    string
			problem string
		}{
			{"right", request{body: form{attributes("a.txt"), content}}, 201, "", ""},
			{"right, with the digest", request{body: form{attributes("b.txt"), content}, header: md5(digest("hello"))}, 201, "", ""},
			{"right, with the digest in capitals", request{body: form{attributes("c.txt"), content},
				header: md5(strings.ToUpper(digest("hello")))}, 201, "", ""},
			{"an empty file", request{body: form{attributes("d.txt"), {"file", ""}}}, 201, "", ""},
			{"with times", request{body: form{{"attributes",
				fmt.Sprintf(`{"name":"e","parent":{"id":"%d"},"content_created_at":"2020-01-01T00:00:00Z",`+
					`"content_modified_at":"2020-01-02T01:00:00+01:00"}`, s.folder)}, content}}, 201, "", ""},
			{"another digest", request{body: form{attributes("f.txt"), content}, header: md5(digest("other"))}, 400, "bad_digest", ""},
			{"an invalid digest", request{body: form{attributes("f.txt"), content}, header: md5("XUFAKrxLKna5cZ2REBfFkg==")}, 400,
				"bad_digest", ""},
			{"parts in the wrong order", request{body: form{content, attributes("f.txt")}}, 400, "metadata_after_file_contents", ""},
			{"no attributes", request{body: form{content}}, 400, "metadata_after_file_contents", ""},
			{"no file", request{body: form{attributes("f.txt")}}, 400, "bad_request", "missing_parameter file"},
			{"two files", request{body: form{attributes("f.txt"), content, {"file", "other"}}}, 400, "bad_request", "invalid_parameter file"},
			{"attributes twice", request{body: form{attributes("f.txt"), attributes("g.txt"), content}}, 400, "bad_request",
				"invalid_parameter attributes"},
			{"attributes again after the file", request{body: form{attributes("f.txt"), content, attributes("g.txt")}}, 400, "bad_request",
				"invalid_parameter attributes"},
			{"another part after the file", request{body: form{attributes("f.txt"), content, {"note", "x"}}}, 400, "bad_request",
				"invalid_parameter note"},
			{"a part without a name after the file", request{body: form{attributes("f.txt"), content, {"", "x"}}}, 400, "bad_request",
				"invalid_parameter "},
			{"another part before the file", request{body: form{attributes("f.txt"), {"note", "x"}, content}}, 400, "bad_request",
				"invalid_parameter file"},
			{"the content under another name", request{body: form{attributes("g.txt"), {"contents", "hello"}}}, 201, "", ""},
			{"the content without a name", request{body: form{attributes("h.txt"), {"", "hello"}}}, 201, "", ""},
			{"null for what may be omitted", request{body: form{{"attributes", `{"name":"i.txt","parent":{"id":"0","type":null},` +
				`"content_created_at":null}`}, content}}, 201, "", ""},
			{"null for what is required", request{body: form{{"attributes", `{"name":null,"parent":{"id":"0"}}`}, content}}, 400, "bad_request",
				"invalid_parameter name"},
			{"an unknown attribute", request{body: form{{"attributes", `{"name":"f.txt","parent":{"id":"0"},"size":5}`}, content}}, 400,
				"bad_request", "invalid_parameter size"},
			{"a name with a space first", request{body: form{attributes(" f.txt"), content}}, 400, "item_name_invalid", "invalid_parameter name"},
			{"the digest twice", request{body: form{attributes("f.txt"), content},
				header: http.Header{"Content-Md5": {digest("hello"), digest("hello")}}}, 400, "bad_request", "invalid_parameter Content-Md5"},
			{"no parts", request{body: form{}}, 400, "bad_request", "missing_parameter attributes"},
			{"another part", request{body: form{{"meta", "{}"}, content}}, 400, "metadata_after_file_contents", ""},
			{"attributes that are no JSON", request{body: form{{"attributes", "name=x"}, content}}, 400, "bad_request", ""},
			{"attributes without a name", request{body: form{{"attributes", `{"parent":{"id":"0"}}`}, content}}, 400, "bad_request",
				"missing_parameter name"},
			{"attributes without a parent", request{body: form{{"attributes", `{"name":"x"}`}, content}}, 400, "bad_request",
				"missing_parameter parent"},
			{"attributes with an invalid time",
				request{body: form{{"attributes", `{"name":"x","parent":{"id":"0"},"content_created_at":"yesterday"}`}, content}}, 400,
				"bad_request", "invalid_parameter content_created_at"},
			{"a name that cannot be", request{body: form{attributes(".."), content}}, 400, "item_name_invalid", "invalid_parameter name"},
			{"not multipart", request{body: "hello"}, 415, "unsupported_media_type", ""},
			{"multipart without a boundary", request{body: "x", header: http.Header{"Content-Type": {"multipart/form-data"}}}, 400,
				"bad_request", ""},
			{"multipart that ends too early",
				request{body: "--b\r\nContent-Disposition: form-data; " +
					"name=\"attributes\"\r\n\r\n{\"name\":\"f.txt\",\"parent\":{\"id\":0}}\r\n--b\r\nContent-Disposition: form-data; " +
					"name=\"file\"\r\n\r\nhalf",
					header: http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}}, 400, "bad_request", ""},
			{"malformed multipart", request{body: "x", header: http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}}, 400,
				"bad_request", ""},
		}
		for _, tt := range tests {
			w.t.Run(tt.name, func(t *testing.T) {
				var v object
				if tt.code == "" {
					v = w.do("POST /files/content", tt.request).want(t, tt.status)
				} else {
					v = w.do("POST /files/content", tt.request).want(t, tt.status, tt.code)
				}
				if got := strings.Join(problems(v), " "); tt.problem != "" && !strings.Contains(got, tt.problem) {
					t.Errorf("problems %q, want %s", got, tt.problem)
				}
			})
		}
		w.t.Run("leaves nothing of what failed", func(t *testing.T) {
			for _, e := range w.do(at("GET /folders/{folder_id}/items", s), request{}).want(t, 200)["entries"].([]any) {
				if name := e.(object)["name"]; name == "f.txt" {
					t.Errorf("there is a file %s", name)
				}
			}
		})
	})
}

func TestUploadedFile(t *testing.T) {
	run(t, func(w *world) {
		body := form{{"attributes", `{"name":"Größe & Co.txt","parent":{"id":"0"},"content_created_at":"2020-01-01T00:00:00+02:00"}`},
			{"file", "hello"}}
		v := w.do("POST /files/content?fields=name,size,sha1,content_created_at,version_number,extension,permissions",
			request{body: body}).want(w.t, 201)
		file := v["entries"].([]any)[0].(object)
		for name, want := range map[string]any{
			"type": "file", "etag": "0", "name": "Größe & Co.txt", "size": 5.0, "sha1": digest("hello"),
			"content_created_at": "2019-12-31T22:00:00+00:00", "version_number": "1", "extension": "txt",
		} {
			if file[name] != want {
				w.t.Errorf("%s is %v, want %v", name, file[name], want)
			}
		}
		if may := file["permissions"].(object); may["can_download"] != true || may["can_share"] != true || len(may) != 12 {
			w.t.Errorf("permissions %v", may)
		}
		if _, ok := file["description"]; ok {
			w.t.Error("there is a field that was not asked for")
		}
		path := "/files/" + file["id"].(string)

		w.t.Run("renamed by a new version", func(t *testing.T) {
			body := form{{"attributes", `{"name":"second.txt"}`}, {"file", "hello again"}}
			stale := http.Header{"If-Match": {"7"}}
			w.do("POST "+path+"/content", request{body: body, header: stale}).want(t, 412, "precondition_failed")
			v := w.do("POST "+path+"/content", request{body: body, header: http.Header{"If-Match": {`"0"`}}}).want(t, 200)
			if got := v["entries"].([]any)[0].(object); got["name"] != "second.txt" || got["etag"] == "0" || got["sha1"] != digest("hello again") {
				t.Errorf("the file is %v", got)
			}
		})
		w.t.Run("a new version without attributes", func(t *testing.T) {
			for _, body := range []form{
				{{"file", "v"}}, {{"contents", "w"}}, {{"attributes", `{"name":null}`}, {"file", "hello again"}},
			} {
				v := w.do("POST "+path+"/content", request{body: body}).want(t, 200)
				if got := v["entries"].([]any)[0].(object); got["name"] != "second.txt" || got["sha1"] != digest(body[len(body)-1][1]) {
					t.Errorf("after %v, the file is %v", body, got)
				}
			}
			w.do("POST "+path+"/content", request{body: form{{"file", "v"}, {"attributes", "{}"}}}).want(t, 400, "metadata_after_file_contents")
			w.do("POST "+path+"/content", request{body: form{{"attributes", "{}"}}}).want(t, 400, "bad_request")
		})
		w.t.Run("its first version is kept", func(t *testing.T) {
			version := w.do("GET /folders/0/items?fields=version_number,file_version", request{}).want(t, 200)
			if n := version["entries"].([]any)[0].(object)["version_number"]; n != "5" {
				t.Errorf("version_number %v, want 5", n)
			}
			res := w.do("GET "+path+"/content", request{})
			if string(res.text) != "hello again" {
				t.Errorf("the current content is %q", res.text)
			}
		})
	})
}

// TestInterruptedUpload sends half of an upload and closes the connection.
func TestInterruptedUpload(t *testing.T) {
	run(t, func(w *world) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		must(w.t, err)
		defer conn.Close()
		body := "--b\r\nContent-Disposition: form-data; name=\"attributes\"\r\n\r\n{\"name\":\"half.txt\",\"parent\":{\"id\":\"0\"}}\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\nhalf of it"
		_, err = fmt.Fprintf(conn, "POST /2.0/files/content HTTP/1.1\r\nHost: x\r\nsvc-version: 2025.0\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000\r\n\r\n%s", w.tokens["owner"], body)
		must(w.t, err)
		must(w.t, conn.(*net.TCPConn).CloseWrite())
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must(w.t, err)
		text, err := io.ReadAll(res.Body)
		must(w.t, err)
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "ended before it was complete") {
			w.t.Errorf("status %d: %s", res.StatusCode, text)
		}
		if v := w.do("GET /folders/0/items", request{}).want(w.t, 200); v["total_count"] != 0.0 {
			w.t.Errorf("the folder holds %v", v["entries"])
		}
	})
}

func TestUploadTooLarge(t *testing.T) {
	runWith(t, server.Config{RateLimits: noLimits}, docgen.Limits{UploadBytes: 1000}, func(w *world) {
		upload := func(size int) response {
			name := fmt.Sprint(size)
			return w.do("POST /files/content", request{body: form{{"attributes", `{"name":"` + name + `","parent":{"id":"0"}}`},
				{"file", strings.Repeat("x", size)}}})
		}
		upload(1000).want(w.t, 201)
		if v := upload(1001).want(w.t, 403, "file_size_limit_exceeded"); !strings.Contains(v["message"].(string), "1000") {
			w.t.Errorf("the message %q does not name the limit", v["message"])
		}
		v := upload(3 << 20).json(w.t)
		if v["code"] != "file_size_limit_exceeded" {
			w.t.Errorf("code %v", v["code"])
		}
	})
}

func TestDownload(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene() // a file of ten digits
		w.do(at("POST /files/{file_id}/content", s),
			request{body: form{{"attributes", `{"name":"Müller \"1\".docx"}`}, {"file", "abcdefghij"}}}).want(w.t, 200)
		etag := `"` + digest("abcdefghij") + `"`
		header := func(pairs ...string) http.Header {
			h := http.Header{}
			for i := 0; i < len(pairs); i += 2 {
				h.Set(pairs[i], pairs[i+1])
			}
			return h
		}
		tests := []struct {
			name   string
			query  string
			header http.Header
			status int
			text   string // of the content or, for an error, its code
			rng    string // Content-Range
		}{
			{"all", "", nil, 200, "abcdefghij", ""},
			{"an earlier version", "?version=" + id(s.version), nil, 200, "0123456789", ""},
			{"a version of no file", "?version=77", nil, 404, "not_found", ""},
			{"a version that is no number", "?version=first", nil, 400, "bad_request", ""},
			{"a range", "", header("Range", "bytes=2-4"), 206, "cde", "bytes 2-4/10"},
			{"a range to the end", "", header("Range", "bytes=7-"), 206, "hij", "bytes 7-9/10"},
			{"a range of the last", "", header("Range", "bytes=-3"), 206, "hij", "bytes 7-9/10"},
			{"a range that goes beyond", "", header("Range", "bytes=8-100"), 206, "ij", "bytes 8-9/10"},
			{"a range of an earlier version", "?version=" + id(s.version), header("Range", "bytes=0-0"), 206, "0", "bytes 0-0/10"},
			{"a range that begins beyond", "", header("Range", "bytes=10-"), 416, "range_not_satisfiable", "bytes */10"},
			{"a range of the last none", "", header("Range", "bytes=-0"), 416, "range_not_satisfiable", "bytes */10"},
			{"a range of the last none of what has changed", "", header("Range", "bytes=-00", "If-Range", `"old"`), 200, "abcdefghij", ""},
			{"a range twice", "", http.Header{"Range": {"bytes=0-1", "bytes=3-4"}}, 400, "bad_request", ""},
			{"an invalid range", "", header("Range", "bytes=x-y"), 200, "abcdefghij", ""},
			{"several ranges", "", header("Range", "bytes=0-1,3-4"), 200, "abcdefghij", ""},
			{"a range of another unit", "", header("Range", "pages=1-2"), 200, "abcdefghij", ""},
			{"a range of what has not changed", "", header("Range", "bytes=0-1", "If-Range", etag), 206, "ab", "bytes 0-1/10"},
			{"a range of what has changed", "", header("Range", "bytes=0-1", "If-Range", `"old"`), 200, "abcdefghij", ""},
			{"what the caller has", "", header("If-None-Match", etag), 304, "", ""},
			{"what the caller does not have", "", header("If-None-Match", `"old"`), 200, "abcdefghij", ""},
			{"what has changed", "", header("If-Match", `"old"`), 412, "precondition_failed", ""},
		}
		for _, tt := range tests {
			w.t.Run(tt.name, func(t *testing.T) {
				res := w.do(at("GET /files/{file_id}/content", s)+tt.query, request{header: tt.header})
				if res.StatusCode != tt.status || res.Header.Get("Content-Range") != tt.rng {
					t.Fatalf("status %d, Content-Range %q, want %d and %q: %s", res.StatusCode, res.Header.Get("Content-Range"), tt.status, tt.rng,
						res.text)
				}
				if tt.status >= 400 {
					res.want(t, tt.status, tt.text)
					if res.Header.Get("Content-Disposition") != "" || res.Header.Get("Content-Type") != "application/json" {
						t.Errorf("an error has the headers of a file: %v", res.Header)
					}
				} else if string(res.text) != tt.text {
					t.Errorf("content %q, want %q", res.text, tt.text)
				}
			})
		}
		w.t.Run("headers", func(t *testing.T) {
			res := w.do(at("GET /files/{file_id}/content", s), request{})
			for name, want := range map[string]string{
				"Content-Disposition":    `attachment; filename="M_ller _1_.docx"; filename*=UTF-8''M%C3%BCller%20%221%22.docx`,
				"Content-Length":         "10",
				"Accept-Ranges":          "bytes",
				"Etag":                   etag,
				"X-Content-Type-Options": "nosniff",
			} {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		})
		w.t.Run("HEAD", func(t *testing.T) {
			res := w.do(at("HEAD /files/{file_id}/content", s), request{})
			if res.StatusCode != http.StatusOK || res.ContentLength != 10 || len(res.text) != 0 {
				t.Errorf("status %d, length %d, %d bytes", res.StatusCode, res.ContentLength, len(res.text))
			}
		})
	})
}

func TestConditionalRequests(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		for _, path := range []string{at("/files/{file_id}", s), at("/folders/{folder_id}", s)} {
			res := w.do("GET "+path, request{})
			if etag := res.json(w.t)["etag"].(string); res.Header.Get("ETag") != `"`+etag+`"` {
				w.t.Errorf("%s: etag %s, header %s", path, etag, res.Header.Get("ETag"))
			}
			for header, want := range map[string]int{"0": 304, `"0"`: 304, `W/"0"`: 304, `"7", "0"`: 304, "*": 304, "1": 200, `"00"`: 200} {
				if res := w.do("GET "+path, request{header: http.Header{"If-None-Match": {header}}}); res.StatusCode != want {
					w.t.Errorf("%s: If-None-Match: %s: status %d, want %d", path, header, res.StatusCode, want)
				}
			}
			for _, header := range []string{"0", `"1"`} { // the second is the etag after the first change
				w.do("PUT "+path, request{body: object{"description": header}, header: http.Header{"If-Match": {header}}}).want(w.t, 200)
			}
		}
	})
}

func TestFields(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		keys := func(v object) int { return len(v) }
		for path, want := range map[string]int{
			at("/files/{file_id}?fields=size", s):                            4,
			at("/files/{file_id}?fields=id,etag,nonsense", s):                3,
			at("/files/{file_id}?fields=", s):                                22,
			at("/files/{file_id}?fields=", s) + url.QueryEscape("a, ,size"):  4,
			at("/folders/{folder_id}?fields=item_collection,permissions", s): 5,
			"/users/me?fields=role,enterprise":                               4,
		} {
			if got := w.do("GET "+path, request{}).want(w.t, 200); keys(got) != want {
				w.t.Errorf("%s: %d fields, want %d: %v", path, keys(got), want, got)
			}
		}
		entry := func(query string) object {
			return w.do(at("GET /folders/{folder_id}/items", s)+query, request{}).want(w.t, 200)["entries"].([]any)[0].(object)
		}
		if got := entry(""); len(got) != 7 || got["sha1"] != digest("0123456789") {
			w.t.Errorf("the short form of a file is %v", got)
		}
		if got := entry("?fields=size,parent,created_at"); len(got) != 5 || got["size"] != 10.0 || got["created_at"] == nil {
			w.t.Errorf("the entry with its size is %v", got)
		}
	})
}

func TestItemsChange(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		sub := w.do("POST /folders", request{body: object{"name": "sub", "parent": object{"id": s.folder}}}).want(w.t, 201)
		v := w.do(at("PUT /files/{file_id}", s),
			request{body: object{"name": "B.docx", "description": "the <b> one", "parent": object{"id": sub["id"]}}}).want(w.t, 200)
		if v["name"] != "B.docx" || v["description"] != "the <b> one" || v["parent"].(object)["id"] != sub["id"] {
			w.t.Errorf("the file is %v", v)
		}
		if path := v["path_collection"].(object); path["total_count"] != 3.0 {
			w.t.Errorf("its path is %v", path)
		}
		if v := w.do(at("GET /docgen_templates/{template_id}", s), request{}).want(w.t, 200); v["file_name"] != "B.docx" {
			w.t.Errorf("the template is %v", v)
		}
		w.do("PUT /folders/"+sub["id"].(string), request{body: object{"name": "renamed"}}).want(w.t, 200)
		w.do("PUT /folders/0", request{body: object{"name": "renamed"}}).want(w.t, 403, "access_denied_insufficient_permissions")
	})
}

// TestRangesOfEmptyFile requests ranges of an empty file, and gets the whole file: no Content-Range can describe zero bytes.
func TestRangesOfEmptyFile(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		v := w.do("POST /files/content", request{body: form{{"attributes", `{"name":"empty.txt","parent":{"id":"0"}}`},
			{"file", ""}}}).want(w.t, 201)
		file := v["entries"].([]any)[0].(object)["id"].(string)
		for _, asked := range []string{"bytes=-0", "bytes=-5", "bytes=0-", "bytes=0-0"} {
			res := w.do("GET /files/"+file+"/content", request{header: http.Header{"Range": {asked}}})
			if res.StatusCode != http.StatusOK || len(res.text) > 0 || res.Header.Get("Content-Range") != "" {
				w.t.Errorf("%s: status %d, Content-Range %q", asked, res.StatusCode, res.Header.Get("Content-Range"))
			}
		}
	})
}
