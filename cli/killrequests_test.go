package cli

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the digest of the API
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestKilledDuringRequests kills a server while requests change something over a longer time. Afterward, clients continue as documented: an
// upload in parts continues with the parts that the server has, a broken stream has left nothing, and requests with a key that are repeated
// change something only once.
func TestKilledDuringRequests(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	k := &requestsKilling{t: t, data: data}
	k.start()
	k.visitor = newVisitor(t, k.server, "--data="+data)
	k.template, _ = k.visitor.mustTemplate("Letter.docx", exampleLetter(t))
	t.Run("upload in parts", k.upload)
	t.Run("streamed batch", k.stream)
	t.Run("requests with a key", k.keys)
	if err := k.server.stop(); err != nil {
		t.Error(err)
	}
}

// requestsKilling is a server that is killed during requests of a visitor.
type requestsKilling struct {
	t        *testing.T
	data     string
	server   *child
	visitor  *visitor
	template string
}

func (k *requestsKilling) start() {
	k.t.Helper()
	server, err := startServer(context.WithoutCancel(k.t.Context()), k.t.TempDir(), os.Environ(), "--data="+k.data, "--rate-requests=-1",
		"--rate-uploads=-1")
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		if server.result == nil {
			_ = server.kill() // it has ended unless the test failed
		}
	})
	if k.server = server; k.visitor != nil {
		k.visitor.visit(server)
	}
}

// restart kills the server, and starts another.
func (k *requestsKilling) restart(t *testing.T) {
	t.Helper()
	if err := k.server.kill(); err != nil {
		t.Fatal(err)
	}
	k.revive(t)
}

// revive starts another server after one was killed, as if the keys of its requests had been claimed long ago.
func (k *requestsKilling) revive(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(k.data, "platen.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE idempotency_keys SET claimed_until = 0"); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	k.start()
}

// send sends a request and returns the status and the body of the response, or the error of the connection.
func (k *requestsKilling) send(t *testing.T, method, path string, header http.Header, body io.Reader) (int, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, k.server.url+"/2.0"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header.Clone()
	}
	r.Header.Set("Authorization", "Bearer "+k.visitor.token)
	r.Header.Set("Svc-Version", "2025.0")
	if r.Header.Get("Content-Type") == "" && body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// object sends a request that must have a status, and returns the object of the response.
func (k *requestsKilling) object(t *testing.T, want int, method, path string, header http.Header, body io.Reader) map[string]any {
	t.Helper()
	status, text, err := k.send(t, method, path, header, body)
	if err != nil || status != want {
		t.Fatalf("%s %s: status %d, want %d: %s, %v", method, path, status, want, text, err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func (k *requestsKilling) upload(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)
	body := fmt.Sprintf(`{"folder_id":"0","file_name":"large.bin","file_size":%d}`, len(content))
	session := k.object(t, 201, "POST", "/files/upload_sessions", nil, strings.NewReader(body))
	path, size := "/files/upload_sessions/"+session["id"].(string), int(session["part_size"].(float64))
	var parts []any
	put := func(from int, body io.Reader) (int, []byte, error) {
		part := content[from:min(from+size, len(content))]
		sum := sha1.Sum(part)
		return k.send(t, "PUT", path, http.Header{
			"Content-Type": {"application/octet-stream"}, "Digest": {"sha=" + base64.StdEncoding.EncodeToString(sum[:])},
			"Content-Range": {fmt.Sprintf("bytes %d-%d/%d", from, from+len(part)-1, len(content))},
		}, body)
	}
	save := func(from int) {
		t.Helper()
		status, text, err := put(from, bytes.NewReader(content[from:min(from+size, len(content))]))
		var saved struct{ Part any }
		if err != nil || status != http.StatusOK || json.Unmarshal(text, &saved) != nil {
			t.Fatalf("part at %d: %d, %s, %v", from, status, text, err)
		}
		parts = append(parts, saved.Part)
	}
	save(0)
	save(size)
	half, ended := newHalf(content[2*size:][:size/8]), make(chan error)
	go func() {
		_, _, err := put(2*size, half)
		ended <- err
	}()
	<-half.sent
	k.restart(t)
	close(half.more)
	if err := <-ended; err == nil {
		t.Error("the server that was killed has answered")
	}
	if v := k.object(t, 200, "GET", path+"/parts", nil, nil); v["total_count"] != 2.0 {
		t.Errorf("the parts are %v, want 2", v)
	}
	save(2 * size)
	commit, err := json.Marshal(map[string]any{"parts": parts})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha1.Sum(content)
	v := k.object(t, 201, "POST", path+"/commit", http.Header{"Digest": {"sha=" + base64.StdEncoding.EncodeToString(sum[:])}},
		bytes.NewReader(commit))
	file := v["entries"].([]any)[0].(map[string]any)
	if got := sha1.Sum(k.visitor.mustDownload(file["id"].(string))); hex.EncodeToString(got[:]) != file["sha1"] || got != sum {
		t.Errorf("the file is %v, want the SHA-1 %x", file, sum)
	}
}

// half is a body of which a part is sent at once, and nothing more until more is closed. Then it breaks.
type half struct {
	io.Reader
	sent, more chan struct{}
	once       sync.Once
}

func newHalf(content []byte) *half {
	return &half{Reader: bytes.NewReader(content), sent: make(chan struct{}), more: make(chan struct{})}
}

func (h *half) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if err == io.EOF {
		h.once.Do(func() { close(h.sent) })
		<-h.more
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func (k *requestsKilling) stream(t *testing.T) {
	const rows, boundary = 3000, "boundary"
	folder := k.visitor.mustFolder("Streamed")
	var body strings.Builder
	fmt.Fprintf(&body, "--%[1]s\r\nContent-Disposition: form-data; name=\"attributes\"\r\n\r\n%[2]s\r\n--%[1]s\r\n"+
		"Content-Disposition: form-data; name=\"data\"; filename=\"rows.csv\"\r\n\r\ngenerated_file_name,customer.name\n", boundary,
		`{"file":{"id":"`+k.template+`","type":"file"},"destination_folder":{"id":"`+folder+
			`","type":"folder"},"input_source":"api","output_type":"docx"}`)
	for i := range rows {
		fmt.Fprintf(&body, "Letter %d,%s\n", i, strings.Repeat("Ada ", 200)) // more than the buffers of the connection
	}
	fmt.Fprintf(&body, "\r\n--%s--\r\n", boundary)
	header := http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}, "Idempotency-Key": {"stream"}}
	broken, ended := newHalf([]byte(body.String())[:body.Len()*3/4]), make(chan error)
	go func() {
		_, _, err := k.send(t, "POST", "/docgen_batches", header, broken)
		ended <- err
	}()
	<-broken.sent
	k.awaitRows(t, rows/2)
	k.restart(t)
	close(broken.more)
	if err := <-ended; err == nil {
		t.Error("the server that was killed has answered")
	}
	if v := k.object(t, 200, "GET", "/docgen_batches", nil, nil); len(v["entries"].([]any)) != 0 {
		t.Errorf("a batch is left: %v", v)
	}
	first := k.object(t, 202, "POST", "/docgen_batches", header, strings.NewReader(body.String()))
	again := k.object(t, 202, "POST", "/docgen_batches", header, strings.NewReader(body.String()))
	if first["id"] != again["id"] {
		t.Errorf("the repeated request created %v, not %v", again, first)
	}
	k.awaitFiles(t, folder, rows)
}

// awaitFiles waits until no batch is in progress. Then a folder must have the wanted files.
func (k *requestsKilling) awaitFiles(t *testing.T, folder string, want int) {
	t.Helper()
	awaitTrue(t, "no batch is in progress", func() bool {
		v := k.object(t, 200, "GET", "/docgen_batches?state=in_progress&limit=1", nil, nil)
		return len(v["entries"].([]any)) == 0
	})
	if names := k.visitor.files(folder); len(names) != want {
		t.Errorf("the folder has %d files, want %d", len(names), want)
	}
}

// awaitRows waits until some jobs of a batch that is being received are durable.
func (k *requestsKilling) awaitRows(t *testing.T, some int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(k.data, "platen.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	awaitTrue(t, "rows are stored", func() bool {
		var n int
		err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM docgen_jobs").Scan(&n)
		return err == nil && n >= some
	})
}

// keys sends requests with keys until the server was killed, and repeats all of them.
func (k *requestsKilling) keys(t *testing.T) {
	const senders, each = 4, 25
	folder := k.visitor.mustFolder("Keyed")
	body := func(key string) io.Reader {
		return strings.NewReader(`{"file":{"id":"` + k.template + `","type":"file"},"destination_folder":{"id":"` + folder +
			`","type":"folder"},"input_source":"api","output_type":"docx","document_generation_data":[{"generated_file_name":"` + key +
			`","user_input":{}}]}`)
	}
	send := func(key string) (int, []byte, error) {
		return k.send(t, "POST", "/docgen_batches", http.Header{"Idempotency-Key": {`"` + key + `"`}}, body(key))
	}
	var mu sync.Mutex
	ids := map[string]string{} // of the batches whose responses arrived, by key
	enough := make(chan struct{})
	var sending sync.WaitGroup
	for n := range senders {
		sending.Go(func() {
			for i := range each {
				key := fmt.Sprintf("key %d.%d", n, i)
				status, text, err := send(key)
				var made struct{ ID string }
				if err == nil && status != http.StatusAccepted {
					t.Errorf("%s: status %d, %s", key, status, text)
				}
				mu.Lock()
				if err == nil && status == http.StatusAccepted && json.Unmarshal(text, &made) == nil {
					ids[key] = made.ID
					if len(ids) == senders*each/4 {
						close(enough)
					}
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	if err := k.server.kill(); err != nil {
		t.Fatal(err)
	}
	sending.Wait()
	lost := senders*each - len(ids)
	k.revive(t)
	for n := range senders {
		for i := range each {
			key := fmt.Sprintf("key %d.%d", n, i)
			status, text, err := send(key)
			var made struct{ ID string }
			if err != nil || status != http.StatusAccepted || json.Unmarshal(text, &made) != nil {
				t.Errorf("%s: status %d, %s, %v", key, status, text, err)
			}
			if known := ids[key]; known != "" && known != made.ID {
				t.Errorf("%s created the batches %s and %s", key, known, made.ID)
			}
		}
	}
	t.Logf("%d of %d requests had no response", lost, senders*each)
	k.awaitFiles(t, folder, senders*each)
}
