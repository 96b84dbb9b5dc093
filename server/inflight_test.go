package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"platen/docgen"
	"platen/server"
)

// A heldRequest has sent part of its body, and the server has started to read it.
type heldRequest struct {
	t    *testing.T
	rest []byte
	body *io.PipeWriter
	done chan *http.Response
}

// hold sends the header of a request and, once the server reads it, the body without the last byte. If chunked is set,
// it does not declare the length of the body.
func (w *world) hold(token string, body []byte, chunked bool) *heldRequest {
	w.t.Helper()
	reader, writer := io.Pipe()
	h := &heldRequest{t: w.t, body: writer, done: make(chan *http.Response, 1)}
	reading := make(chan struct{})
	trace := &httptrace.ClientTrace{Got100Continue: func() { close(reading) }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(w.t.Context(), trace), http.MethodPost, w.url+"/2.0/docgen_batches",
		reader)
	must(w.t, err)
	if !chunked {
		req.ContentLength = int64(len(body))
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Svc-Version", "2025.0")
	req.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 1 << 40}}
	go func() {
		defer close(h.done)
		res, err := client.Do(req)
		if err != nil {
			w.t.Errorf("the request that was held: %v", err)
			return
		}
		h.done <- res
	}()
	w.t.Cleanup(func() { writer.Close(); client.CloseIdleConnections() }) //nolint:errcheck // a pipe closes without errors
	<-reading
	h.rest = body[len(body)-1:]
	_, err = writer.Write(body[:len(body)-1])
	must(w.t, err)
	return h
}

// end sends the last byte, and returns the status of the response.
func (h *heldRequest) end() int {
	h.t.Helper()
	_, err := h.body.Write(h.rest)
	must(h.t, err)
	must(h.t, h.body.Close())
	res := <-h.done
	if res == nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

// expectContinue makes the client wait with the body until the server asks for it.
var expectContinue = http.Header{"Expect": {"100-continue"}}

// batchOfSize returns the body of a batch with a text of the given size.
func batchOfSize(t *testing.T, s scene, size int) []byte {
	t.Helper()
	text, err := json.Marshal(with(batch(s), object{"document_generation_data": []object{
		{"generated_file_name": "Large", "user_input": object{"name": strings.Repeat("n", size)}},
	}}))
	must(t, err)
	return text
}

func TestBodiesInFlight(t *testing.T) {
	limits := server.InFlight{Disk: 12 << 20, Memory: 64 << 20, Folder: t.TempDir()}
	runOnce(t, server.Config{RateLimits: noLimits, InFlight: limits}, func(w *world) {
		s := w.scene()
		large := batchOfSize(w.t, s, 2<<20)
		held := w.hold(w.tokens["owner"], large, false)
		send := func(caller string) response {
			return w.do("POST /docgen_batches", request{as: caller, body: string(large), header: expectContinue})
		}
		w.t.Run("a user has a share", func(t *testing.T) {
			res := send("owner")
			res.want(t, 503, "server_busy")
			if retry := res.Header.Get("Retry-After"); retry != "2" {
				t.Errorf("Retry-After is %q", retry)
			}
		})
		w.t.Run("others are not disturbed", func(t *testing.T) {
			if res := send("editor"); res.StatusCode == http.StatusServiceUnavailable {
				t.Error("another user's batch was refused")
			}
		})
		w.t.Run("small bodies are not disturbed", func(t *testing.T) {
			w.do("POST /docgen_batches", request{body: batch(s)}).want(t, 202)
		})
		w.t.Run("a held body is taken", func(t *testing.T) {
			if status := held.end(); status != 202 {
				t.Errorf("status %d", status)
			}
		})
		w.t.Run("its room is given back", func(t *testing.T) { send("owner").want(t, 202) })
		w.t.Run("a body of unknown length counts too", func(t *testing.T) {
			chunked := w.hold(w.tokens["owner"], large, true)
			if status := chunked.end(); status != 202 {
				t.Errorf("status %d", status)
			}
		})
		w.t.Run("what arrives is what was sent", func(t *testing.T) {
			page, err := w.Jobs(t.Context(), w.owner, docgen.JobFilter{}, docgen.PageRequest{Limit: 1000})
			must(t, err)
			last := page.Entries[len(page.Entries)-1]
			input, err := w.Input(t.Context(), last.ID)
			must(t, err)
			var got struct{ Name string }
			must(t, json.Unmarshal(input, &got))
			if got.Name != strings.Repeat("n", 2<<20) {
				t.Errorf("the input has %d bytes", len(got.Name))
			}
		})
		w.t.Run("a large body with a fault is refused", func(t *testing.T) {
			broken := bytes.Replace(large, []byte("nnn"), []byte("n\x00n"), 1)
			w.do("POST /docgen_batches", request{body: string(broken)}).want(t, 400, "bad_request")
		})
	})
}

func TestRequestsInFlight(t *testing.T) {
	limits := server.InFlight{Requests: 8} // one for each user
	runOnce(t, server.Config{RateLimits: noLimits, InFlight: limits}, func(w *world) {
		s := w.scene()
		body, err := json.Marshal(batch(s))
		must(w.t, err)
		held := w.hold(w.tokens["owner"], body, false)
		w.do("GET /docgen_jobs", request{}).want(w.t, 503, "server_busy")
		w.do("GET /docgen_jobs", request{as: "other"}).want(w.t, 200)
		if status := held.end(); status != 202 {
			w.t.Errorf("status %d", status)
		}
		w.do("GET /docgen_jobs", request{}).want(w.t, 200)
	})
}

func TestBodiesOfManyUsersInFlight(t *testing.T) {
	limits := server.InFlight{Disk: 5 << 20, Folder: t.TempDir()}
	runOnce(t, server.Config{RateLimits: noLimits, InFlight: limits}, func(w *world) {
		s := w.scene()
		large := batchOfSize(w.t, s, 2<<20)
		var held []*heldRequest
		for _, caller := range []string{"owner", "editor"} {
			held = append(held, w.hold(w.tokens[caller], large, false))
		}
		res := w.do("POST /docgen_batches", request{as: "reader", body: string(large), header: expectContinue})
		res.want(w.t, 503, "server_busy")
		if message := fmt.Sprint(res.json(w.t)["message"]); !strings.Contains(message, "bytes of request bodies") {
			w.t.Errorf("message %q", message)
		}
		for _, h := range held {
			if status := h.end(); status == 503 {
				w.t.Error("a body that was taken was refused in the end")
			}
		}
	})
}
