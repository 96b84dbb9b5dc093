package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"platen/server"
)

// withKey is a request of the owner with an idempotency key.
func withKey(key string, body any) request {
	return request{body: body, header: http.Header{"Idempotency-Key": {key}}}
}

func (r response) replayed() bool { return r.Header.Get("Idempotent-Replayed") == "true" }

func newFolder(name string) object { return object{"name": name, "parent": object{"id": "0"}} }

func TestIdempotencyKey(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		first := w.do("POST /folders", withKey(`"a key"`, newFolder("a")))
		first.want(t, 201)
		if first.replayed() {
			t.Error("the first response says that it is a replay")
		}
		again := w.do("POST /folders", withKey(`"a key"`, newFolder("a")))
		again.want(t, 201)
		if !again.replayed() || !bytes.Equal(again.text, first.text) {
			t.Errorf("the replayed response is %v\n%s\nthe first one was\n%s", again.Header, again.text, first.text)
		}
		for call, body := range map[string]any{
			"POST /folders": newFolder("b"), "POST /folders?fields=name": newFolder("a"), "POST /collaborations": newFolder("a"),
		} {
			w.do(call, withKey(`"a key"`, body)).want(t, 422, "idempotency_key_reused")
		}
		other := w.do("POST /folders", request{as: "other", body: newFolder("b"), header: http.Header{"Idempotency-Key": {"\"a key\""}}})
		if other.want(t, 201); other.replayed() {
			t.Error("users share keys")
		}
		w.do("POST /folders", withKey("bare-key", object{"name": 7})).want(t, 400)
		w.do("POST /folders", withKey("bare-key", newFolder("c"))).want(t, 201)
		if !w.do("POST /folders", withKey(`"bare-key"`, newFolder("c"))).replayed() {
			t.Error("a key without quotes is not the same as with quotes")
		}
		w.do("GET /users/me", withKey("bare-key", nil)).want(t, 200)
		w.clock.Add((24 * time.Hour).Microseconds())
		w.do("POST /folders", withKey(`"a key"`, newFolder("a"))).want(t, 409, "item_name_in_use")
	})
}

func TestMalformedIdempotencyKeys(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		for _, key := range []string{
			"", `""`, `"a`, `a"`, `"a"b`, `"a";p=1`, `"a", "b"`, `"\a"`, `"\`, "a b", "a,b", "a;b", "ü", `"ü"`, "\"a\tb\"", strings.Repeat("x", 256),
			`"` + strings.Repeat("x", 256) + `"`,
		} {
			got := w.do("POST /folders", withKey(key, newFolder("a"))).want(w.t, 400, "bad_request")
			if names := problems(got); len(names) != 1 || names[0] != "invalid_parameter Idempotency-Key" {
				w.t.Errorf("the problems of the key %q are %q", key, names)
			}
		}
		twice := withKey("a", newFolder("a"))
		twice.header["Idempotency-Key"] = []string{"a", "a"}
		w.do("POST /folders", twice).want(w.t, 400, "bad_request")
		for i, key := range []string{`"\"\\ ,;"`, strings.Repeat("x", 255), `"` + strings.Repeat("x", 254) + `"`, "8e03978e-40d5-43dd:/+=_"} {
			w.do("POST /folders", withKey(key, newFolder(fmt.Sprint("folder ", i)))).want(w.t, 201)
		}
		got := w.do("POST /webhook_keys/primary", request{as: "admin", header: http.Header{"Idempotency-Key": {"a"}}})
		if got.want(w.t, 400, "bad_request"); !bytes.Contains(got.text, []byte("secret")) {
			w.t.Errorf("the refusal does not say why: %s", got.text)
		}
	})
}

// A repeated upload has another boundary than the first one, but the same parts.
func TestIdempotencyKeyOfUploads(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		upload := func(name, content string) request {
			return withKey("upload", form{{"attributes", `{"name":"` + name + `","parent":{"id":"0"}}`}, {"file", content}})
		}
		content := strings.Repeat("0123456789\r\n--", 10_000)
		first := w.do("POST /files/content", upload("a.txt", content))
		first.want(t, 201)
		again := w.do("POST /files/content", upload("a.txt", content))
		again.want(t, 201)
		if !again.replayed() || !bytes.Equal(again.text, first.text) {
			t.Errorf("the replayed response is %s, the first one was %s", again.text, first.text)
		}
		w.do("POST /files/content", upload("b.txt", content)).want(t, 422, "idempotency_key_reused")
		w.do("POST /files/content", upload("a.txt", content+"x")).want(t, 422, "idempotency_key_reused")

		batchRequest := withKey("empty", nil)
		s := w.scene()
		call := fmt.Sprintf("POST /webhooks/%d/test", s.webhook)
		sent := w.do(call, batchRequest)
		if again := w.do(call, batchRequest); sent.StatusCode != again.StatusCode || sent.StatusCode < 300 != again.replayed() {
			t.Errorf("a request without a body: %d, and %d repeated", sent.StatusCode, again.StatusCode)
		}
	})
}

// A document is not kept for a repeated request, but its job, or the file that has it, is.
func TestIdempotencyKeyOfDocuments(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		parts := form{{"template", wordFile(t, "Dear {{name}},")}, {"user_input", `{"name":"Ada"}`}, {"output_type", "docx"}}
		later := withKey("later", parts)
		later.header.Set("Prefer", "respond-async")
		first := w.do("POST /docgen_documents", later)
		first.want(t, 202)
		again := w.do("POST /docgen_documents", later)
		again.want(t, 202)
		if !again.replayed() || !bytes.Equal(again.text, first.text) || again.Header.Get("Location") != first.Header.Get("Location") ||
			again.Header.Get("Preference-Applied") != "respond-async" {
			t.Errorf("replayed response %v %s, want %v %s", again.Header, again.text, first.Header, first.text)
		}

		stored := withKey("stored", append(parts, [2]string{"destination_folder", `{"id":"0","type":"folder"}`}))
		first = w.do("POST /docgen_documents", stored)
		if first.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %s", first.StatusCode, first.text)
		}
		again = w.do("POST /docgen_documents", stored)
		again.want(t, 409, "idempotency_result_lost")
		if file := first.Header.Get("Docgen-Output-File"); file == "" || !bytes.Contains(again.text, []byte("file "+file+".")) {
			t.Errorf("the response does not name file %q: %s", file, again.text)
		}

		for range 2 {
			if got := w.do("POST /docgen_documents", withKey("sent", parts)); got.StatusCode != http.StatusOK || got.replayed() {
				t.Errorf("status %d for a document that is not stored, replayed: %v", got.StatusCode, got.replayed())
			}
		}
	})
}

// A connection that breaks before the body is complete leaves the key free.
func TestIdempotencyKeyOfBrokenConnection(t *testing.T) {
	run(t, func(w *world) {
		head := "POST /2.0/folders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.tokens["owner"] +
			"\r\nsvc-version: 2025.0\r\nIdempotency-Key: k\r\nContent-Length: 39\r\n\r\n"
		c := w.wire(w.t)
		c.send(head + `{"name":"a",`)
		must(w.t, c.Close())
		for i := 0; ; i++ { // until the server has noticed
			if i == 50 {
				w.t.Fatal(w.logs.find("idempotency"))
			}
			got := w.do("POST /folders", withKey("k", newFolder("a")))
			if got.StatusCode != http.StatusConflict {
				got.want(w.t, 201)
				break
			}
			got.want(w.t, 409, "idempotency_key_in_use")
		}
		w.do("POST /folders", request{body: newFolder("a")}).want(w.t, 409, "item_name_in_use")
	})
}

// Of concurrent requests with a key, one creates a batch. The others get its response, or must wait.
func TestConcurrentIdempotencyKeys(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		var fresh, replayed atomic.Int64
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				switch got := w.do("POST /docgen_batches", withKey("k", batch(s))); {
				case got.StatusCode == http.StatusAccepted && got.replayed():
					replayed.Add(1)
				case got.StatusCode == http.StatusAccepted:
					fresh.Add(1)
				case got.StatusCode != http.StatusConflict || got.Header.Get("Retry-After") == "":
					w.t.Errorf("%d %v %s", got.StatusCode, got.Header, got.text)
				}
			})
		}
		all.Wait()
		if fresh.Load() != 1 {
			w.t.Errorf("%d requests created a batch, want 1; %d were replayed", fresh.Load(), replayed.Load())
		}
		if got := w.do("POST /docgen_batches", withKey("k", batch(s))); !got.replayed() {
			w.t.Errorf("the response is no replay: %s", got.text)
		}
	})
}
