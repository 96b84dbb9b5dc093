package server_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/server"
	"platen/store/storetest"
)

// benchItems is the number of files in the folder of the benchmarks.
const benchItems = 1_000_000

// reader is a server on SQLite with a batch of 100 jobs and a folder of a million files, and the data for the floors.
type reader struct {
	client     *http.Client
	api, floor *httptest.Server
	token      string
	db         *sql.DB
	answer     []byte                      // of the floor
	query      func(context.Context) error // of the floor
	job, batch string
	folder     int64
	template   int64
	marker     string // of a position in the middle of the folder
}

// BenchmarkRead sends read requests over a connection, with authentication and everything else that a server does. The
// floor of each is a handler that sends the same bytes after the same prepared query on the same database. The two
// alternate, so that other load on the machine affects both. The results are medians.
func BenchmarkRead(b *testing.B) {
	r := newReader(b)
	items := fmt.Sprintf("/folders/%d/items?limit=100", r.folder)
	children := "SELECT * FROM items WHERE parent_id = $1 AND trashed_at = 0 "
	for _, read := range []struct {
		name, path, query string
		args              []any
	}{
		{"job", "/docgen_jobs/" + r.job, jobsAndBatches + "WHERE docgen_jobs.id = $1", []any{r.job}},
		{"batch of 100 jobs", "/docgen_batch_jobs/" + r.batch, jobsAndBatches +
			"WHERE docgen_jobs.batch_id = $1 AND docgen_jobs.id > 0 ORDER BY docgen_jobs.id LIMIT 101",
			[]any{r.batch}},
		{"100 of a million items by marker", items + "&usemarker=true&marker=" + url.QueryEscape(r.marker),
			children + "AND (kind, id) > (1, $2) ORDER BY kind, id LIMIT 101", []any{r.folder, benchItems / 2}},
		{"100 of a million items at offset 300000", items + "&offset=300000", children + "ORDER BY kind, name_key LIMIT 100 OFFSET 300000",
			[]any{r.folder}},
	} {
		r.answer = r.get(b, r.api, read.path)
		stmt, err := r.db.PrepareContext(b.Context(), read.query)
		must(b, err)
		r.query = func(ctx context.Context) error { return scanAll(ctx, stmt, read.args...) }
		b.Run(read.name, func(b *testing.B) { r.read(b, read.path) })
		must(b, stmt.Close())
	}
}

const jobsAndBatches = "SELECT * FROM docgen_jobs JOIN docgen_batches ON docgen_batches.id = docgen_jobs.batch_id "

// BenchmarkManyClients lets 64 clients read at once. It reports the median and the 99th percentile of their latency,
// and the number of failed requests.
func BenchmarkManyClients(b *testing.B) {
	r := newReader(b)
	for name, path := range map[string]string{
		"job": "/docgen_jobs/" + r.job, "batch of 100 jobs": "/docgen_batch_jobs/" + r.batch,
		"100 of a million items by marker": fmt.Sprintf("/folders/%d/items?limit=100&usemarker=true&marker=%s", r.folder,
			url.QueryEscape(r.marker)),
	} {
		b.Run(name, func(b *testing.B) { r.manyClients(b, path) })
	}
}

const benchClients = 64

func (r *reader) manyClients(b *testing.B, path string) {
	var mu sync.Mutex
	var waits []time.Duration
	wrong := 0
	b.SetParallelism(max(benchClients/runtime.GOMAXPROCS(0), 1))
	b.RunParallel(func(pb *testing.PB) {
		var mine []time.Duration
		failed := 0
		for pb.Next() {
			began := time.Now()
			if _, err := r.fetch(b.Context(), r.api, path); err != nil {
				failed++
			}
			mine = append(mine, time.Since(began))
		}
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, mine...)
		wrong += failed
	})
	b.ReportMetric(micros(quantile(waits, 50)), "µs-median")
	b.ReportMetric(micros(quantile(waits, 99)), "µs-p99")
	b.ReportMetric(float64(wrong), "errors")
}

func (r *reader) read(b *testing.B, path string) {
	var server, floor []time.Duration
	for b.Loop() {
		server = append(server, r.time(b, r.api, path))
		floor = append(floor, r.time(b, r.floor, path))
	}
	b.ReportMetric(micros(quantile(server, 50)), "µs-server")
	b.ReportMetric(micros(quantile(floor, 50)), "µs-floor")
	b.ReportMetric(micros(quantile(server, 50))/micros(quantile(floor, 50)), "times-floor")
}

// time returns the duration of a request.
func (r *reader) time(b *testing.B, from *httptest.Server, path string) time.Duration {
	began := time.Now()
	r.get(b, from, path)
	return time.Since(began)
}

// quantile returns the duration that the given percentage of all durations does not exceed.
func quantile(of []time.Duration, percent int) time.Duration {
	slices.Sort(of)
	return of[min(len(of)*percent/100, len(of)-1)]
}

func micros(d time.Duration) float64 { return float64(d.Microseconds()) }

func (r *reader) get(b *testing.B, from *httptest.Server, path string) []byte {
	text, err := r.fetch(b.Context(), from, path)
	must(b, err)
	return text
}

func (r *reader) fetch(ctx context.Context, from *httptest.Server, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.URL+"/2.0"+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("svc-version", "2025.0")
	req.Header.Set("Accept-Encoding", "identity")
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return text, err
}

// scanAll reads all rows of a query, as bytes.
func scanAll(ctx context.Context, query *sql.Stmt, args ...any) error {
	rows, err := query.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	row := make([]any, len(columns))
	for i := range row {
		row[i] = new(sql.RawBytes)
	}
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			return err
		}
	}
	return rows.Err()
}

func newReader(b *testing.B) *reader {
	b.Helper()
	config := storetest.SQLite(b)
	blobs, err := blob.Open(b.TempDir())
	must(b, err)
	service, err := docgen.New(b.Context(), docgen.Config{Store: storetest.Open(b, config), Blobs: blobs})
	must(b, err)
	r := &reader{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchClients}}}
	r.db, err = sql.Open("sqlite", "file:"+(&url.URL{Path: config.Path}).EscapedPath()+"?_pragma=busy_timeout(10000)")
	must(b, err)
	b.Cleanup(func() { must(b, r.db.Close()) })
	r.furnish(b, service)
	quiet := slog.New(slog.DiscardHandler)
	r.api = httptest.NewServer(server.New(server.Config{Service: service, Log: quiet, RateLimits: noLimits}))
	b.Cleanup(r.api.Close)
	r.floor = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if err := r.query(req.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write(r.answer); err != nil {
			b.Error(err)
		}
	}))
	b.Cleanup(r.floor.Close)
	r.fill(b)
	return r
}

// furnish creates the batch and the folder.
func (r *reader) furnish(b *testing.B, service *docgen.Service) {
	b.Helper()
	ctx := b.Context()
	_, err := service.CreateUser(ctx, docgen.NewUser{Login: "reader@example.com", Name: "Reader"})
	must(b, err)
	r.token, err = service.CreateToken(ctx, docgen.NewToken{Login: "reader@example.com"})
	must(b, err)
	caller, err := service.Authenticate(ctx, r.token)
	must(b, err)
	folder, err := service.CreateFolder(ctx, caller, docgen.NewFolder{Name: "Folder"})
	must(b, err)
	template, err := service.CreateFile(ctx, caller, docgen.NewFile{Name: "Letter.docx"}, strings.NewReader("text"))
	must(b, err)
	_, err = service.MarkTemplate(ctx, caller, template.ID)
	must(b, err)
	documents := make([]docgen.NewDocument, 100)
	for i := range documents {
		documents[i] = docgen.NewDocument{Name: fmt.Sprintf("Letter %d", i), Input: new(docgen.Inputs).Parse([]byte(`{}`))}
	}
	r.batch, err = service.CreateBatch(ctx, caller, docgen.NewBatch{
		TemplateID: template.ID, InputSource: docgen.InputSource, DestinationID: folder.ID, OutputType: docgen.OutputDocx, Documents: documents,
	})
	must(b, err)
	jobs, err := service.Jobs(ctx, caller, docgen.JobFilter{BatchID: new(r.batch)}, docgen.PageRequest{})
	must(b, err)
	r.job, r.folder = id(jobs.Entries[0].ID), folder.ID
	r.template = template.ID
}

// fill inserts files into the folder. A marker is the position of an entry, so the marker of the first page of the
// upper half is in the middle once the lower half is inserted.
func (r *reader) fill(b *testing.B) {
	b.Helper()
	r.insert(b, benchItems/2+1, benchItems)
	var page struct {
		Next string `json:"next_marker"`
	}
	must(b, json.Unmarshal(r.get(b, r.api, fmt.Sprintf("/folders/%d/items?usemarker=true&limit=1", r.folder)), &page))
	r.marker = page.Next
	r.insert(b, 1, benchItems/2)
}

// insert adds files with the ids from first to last, which a service no longer assigns.
func (r *reader) insert(b *testing.B, first, last int) {
	b.Helper()
	_, err := r.db.ExecContext(b.Context(), `WITH RECURSIVE n (i) AS (SELECT $1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
		INSERT INTO items (id, kind, parent_id, owner_id, name, name_key, description, etag, version_id, version_number, size, sha1,
			created_at, created_by, modified_at, modified_by, content_created_at, content_modified_at, trashed_at, trashed_by)
		SELECT n.i, 1, $3, items.owner_id, 'File ' || n.i || '.docx', lower(hex('File ' || n.i || '.docx')), '', 0, items.version_id, 1,
			items.size, items.sha1, items.created_at, items.created_by, items.modified_at, items.modified_by, items.content_created_at,
				items.content_modified_at, 0, 0
		FROM n JOIN items ON items.id = $4`, first, last, r.folder, r.template)
	must(b, err)
	_, err = r.db.ExecContext(b.Context(), `INSERT INTO folder_counts (folder_id, items) VALUES ($1, $2)
		ON CONFLICT (folder_id) DO UPDATE SET items = folder_counts.items + excluded.items`, r.folder, last-first+1)
	must(b, err)
}
