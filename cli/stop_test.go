package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"platen/client"
)

// A server that gets a signal to stop finishes its work first.
func TestStopping(t *testing.T) {
	t.Parallel()
	t.Run("a request under way is answered, and no other is taken", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		server := newServer(t, data)
		upload := newSlowUpload(t, server, newVisitor(t, server, "--data="+data).token)
		server.terminate(t)
		server.awaitDeaf(t)
		if status := upload.finish(); status != http.StatusCreated {
			t.Errorf("status %d, want 201", status)
		}
		server.awaitEnd(t)
	})
	t.Run("a request that takes too long is broken off", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		server := newServer(t, data, "--drain=100ms")
		upload := newSlowUpload(t, server, newVisitor(t, server, "--data="+data).token)
		server.terminate(t)
		server.awaitEnd(t)
		if status := upload.finish(); status == http.StatusCreated {
			t.Error("the upload is said to be there")
		}
		if !strings.Contains(server.logged(), "requests aborted") {
			t.Errorf("the log does not say so:\n%s", server.logged())
		}
	})
	t.Run("a batch continues after the next start", func(t *testing.T) {
		t.Parallel()
		const count = 200
		data := t.TempDir()
		server := newServer(t, data, "--workers=1")
		v := newVisitor(t, server, "--data="+data)
		template, _ := v.mustTemplate("Letter.docx", exampleLetter(t))
		folder := v.mustFolder("Letters")
		documents, _ := letters(count)
		batch := v.mustBatch(template, folder, documents)
		v.awaitSome(batch, 1)
		server.terminate(t)
		server.awaitEnd(t)

		v.visit(newServer(t, data))
		if jobs := v.mustAwait(batch); len(jobs) != count || len(v.files(folder)) != count {
			t.Errorf("%d jobs and %d files, want %d", len(jobs), len(v.files(folder)), count)
		}
	})
}

// terminate sends a server the signal to stop.
func (c *child) terminate(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// awaitEnd waits until the server has ended without an error.
func (c *child) awaitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.Fatalf("the server does not stop:\n%s", c.logged())
	}
	if c.result != nil {
		t.Errorf("the server ended with %v:\n%s", c.result, c.logged())
	}
}

// awaitDeaf waits until the server accepts no more connections.
func (c *child) awaitDeaf(t *testing.T) {
	t.Helper()
	address, err := url.Parse(c.url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = until(ctx, func() (bool, error) {
		if conn, err := net.Dial("tcp", address.Host); err == nil {
			return false, conn.Close()
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("the server still takes connections: %v", err)
	}
}

// slowUpload is an upload of which the server has read the first part.
type slowUpload struct {
	body   *io.PipeWriter
	rest   []byte
	status chan int // 0 if there was no response
}

// newSlowUpload starts an upload, and returns when the server has started to read it.
func newSlowUpload(t *testing.T, server *child, token string) *slowUpload {
	t.Helper()
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	if err := parts.WriteField("attributes", `{"name": "slow.txt", "parent": {"id": "0"}}`); err != nil {
		t.Fatal(err)
	}
	file, err := parts.CreateFormFile("file", "slow.txt")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(file, strings.Repeat("slow ", 1000))
	if err := parts.Close(); err != nil {
		t.Fatal(err)
	}

	reading := make(chan struct{})
	trace := &httptrace.ClientTrace{Got100Continue: func() { close(reading) }}
	r, w := io.Pipe()
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, server.url+
		"/2.0/files/content", r)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("svc-version", client.Version)
	request.Header.Set("Content-Type", parts.FormDataContentType())
	request.Header.Set("Expect", "100-continue") // the server asks for the body when it reads it
	u := &slowUpload{body: w, rest: form.Bytes(), status: make(chan int, 1)}
	go func() {
		transport := &http.Transport{ExpectContinueTimeout: patience}
		defer transport.CloseIdleConnections()
		response, err := transport.RoundTrip(request)
		if err != nil {
			r.CloseWithError(err)
			u.status <- 0
			return
		}
		defer response.Body.Close()
		u.status <- response.StatusCode
	}()
	select {
	case <-reading:
	case <-time.After(patience):
		t.Fatal("the server does not read the upload")
	}
	return u
}

// finish sends the rest and returns the status of the response, or 0 if there is none.
func (u *slowUpload) finish() int {
	if _, err := u.body.Write(u.rest); err == nil { // otherwise, the connection is closed, and the status explains why
		_ = u.body.Close()
	}
	return <-u.status
}
