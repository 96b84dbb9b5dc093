package generate_test

import (
	"context"
	"crypto/sha1" //nolint:gosec // as the interface has it
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/docgen"
	"platen/generate"
	"platen/pdf"
	"platen/store"
	"platen/store/storetest"
)

// asking is an engine that records which documents it must convert in isolation.
type asking struct {
	holding
	mu       sync.Mutex
	isolated map[string]bool // by the text of the document
}

func (a *asking) Convert(_ context.Context, r pdf.Request) (*pdf.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isolated[documentText(a.t, r.Document)] = r.Again
	return &pdf.Result{PDF: r.Document}, nil
}

// The database of an earlier release has a queued document that is marked for isolation. It is generated in isolation,
// and the other document of its batch is not.
func TestIsolatedDocumentsOfEarlierRelease(t *testing.T) {
	storetest.RunPending(t, func(t *testing.T, cfg store.Config) {
		blobs := newBlobs(t)
		put := func(key, content string) {
			_, err := blobs.Put(t.Context(), key, strings.NewReader(content))
			must(t, err)
		}
		template := docxOf(t, "Dear {{name}}")
		put("contents", "THEBLOBSTOREOFTHEOLDSERVER")
		put("versions/51", string(template))
		digest := sha1.Sum(template) //nolint:gosec // the API defines it
		raw := storetest.Raw(t, cfg)
		for _, statement := range []string{
			"UPDATE docgen_jobs SET apart = TRUE WHERE id = 74", // as it was when LibreOffice ended with it
			`UPDATE docgen_inputs SET data = '{"name":"Ada"}' WHERE job_id = 74`,
			fmt.Sprintf("UPDATE file_versions SET size = %d, sha1 = '%s' WHERE id = 51", len(template), hex.EncodeToString(digest[:])),
		} {
			_, err := raw.ExecContext(t.Context(), statement)
			must(t, err)
		}
		engine := &asking{holding: holding{t: t}, isolated: map[string]bool{}}
		db := storetest.Open(t, cfg)
		service, err := docgen.New(t.Context(), docgen.Config{Store: db, Blobs: blobs, FaultPause: time.Millisecond})
		must(t, err)
		w := &world{t: t, service: service}
		w.generate(db, generate.Config{PDF: engine})
		w.caller, err = w.service.Authenticate(t.Context(), "a token of long ago")
		must(t, err)
		w.start()
		for _, job := range w.jobs("7d0b6d8e-3a53-4c8c-9d4b-0f6f4f0f7a11") {
			if job.Status != docgen.StatusCompleted {
				t.Errorf("job %d is %s: %q", job.ID, job.Status, job.Failures.Errors)
			}
		}
		if got := engine.isolated; len(got) != 2 || got["Dear Grace"] || !got["Dear Ada"] {
			t.Errorf("converted are %v, want that Ada's is isolated", got)
		}
	})
}
