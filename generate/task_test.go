package generate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/generate"
	"platen/store"
	"platen/store/storetest"
)

// hurried returns a clock on which a minute passes with every call.
func hurried() func() time.Time {
	var minutes atomic.Int64
	return func() time.Time { return time.Now().Add(time.Duration(minutes.Add(1)) * time.Minute) }
}

func TestTaskContinuesAfterTimeout(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		template := w.template("T.docx", docxOf(t, "{{a}}"))
		w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`, `{"a": 2}`, `{"a": 3}`)
		task := docgen.GenerateDocuments{UserID: w.caller.User.ID, Lane: docgen.LaneDocx}
		g := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler), Now: hurried()})

		for made := 1; made <= 3; made++ {
			if err := g.GenerateDocuments(t.Context(), task); !errors.Is(err, generate.ErrUnfinished) {
				t.Fatalf("after %d documents: %v", made, err)
			}
			if names := w.names(); len(names) != made {
				t.Fatalf("the folder holds %q, want %d documents", names, made)
			}
		}
		must(t, g.GenerateDocuments(t.Context(), task)) // it has nothing left to do
		if names := w.names(); len(names) != 3 {
			t.Errorf("the folder holds %q", names)
		}
	})
}

// countingBlobs counts how often contents are opened.
type countingBlobs struct {
	blob.Store
	opened atomic.Int64
}

func (c *countingBlobs) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	c.opened.Add(1)
	return c.Store.Open(ctx, key, offset, length)
}

func TestTemplateIsCompiledOnce(t *testing.T) {
	blobs := &countingBlobs{Store: newBlobs(t)}
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), blobs)
	template := w.template("T.docx", docxOf(t, "{{a}}"))
	blobs.opened.Store(0)
	g := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler)})
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			if err := g.ReadTags(t.Context(), docgen.ReadTags{VersionID: template.VersionID}); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	if n := blobs.opened.Load(); n != 1 {
		t.Errorf("the template was read %d times, want once", n)
	}
}

func TestCacheEvictsOldTemplates(t *testing.T) {
	blobs := &countingBlobs{Store: newBlobs(t)}
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)), blobs)
	g := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler), TemplateCache: 1})
	var versions []int64
	for i := range 2 {
		versions = append(versions, w.template(fmt.Sprintf("T%d.docx", i), docxOf(t, "{{a}}")).VersionID)
	}
	blobs.opened.Store(0)
	for range 2 {
		for _, version := range versions {
			must(t, g.ReadTags(t.Context(), docgen.ReadTags{VersionID: version}))
		}
	}
	if n := blobs.opened.Load(); n != 4 {
		t.Errorf("two templates were read %d times for four uses without room for one, want 4", n)
	}
}

// A batch of an earlier release joins its lanes even if the queue gave up the task that was to add it: its documents
// are generated, and do not wait forever.
func TestBatchOfLostTaskIsRequeued(t *testing.T) {
	cfg := storetest.SQLite(t)
	db, raw := storetest.Open(t, cfg), storetest.Raw(t, cfg)
	w := newWorld(t, db, newBlobs(t))
	template := w.template("T.docx", docxOf(t, "{{a}}"))
	batch := w.batch(template.ID, docgen.OutputDocx, `{"a": 1}`)
	// In the state in which the earlier release left them.
	for _, statement := range []string{"DELETE FROM docgen_turns", "UPDATE docgen_jobs SET waiting = FALSE"} {
		_, err := raw.ExecContext(t.Context(), statement)
		must(t, err)
	}
	task := docgen.GenerateRange{BatchID: batch}
	args, err := json.Marshal(task)
	must(t, err)
	must(t, w.maker.TaskFailed(t.Context(), task.Kind(), args, store.ErrLost))
	must(t, w.maker.GenerateDocuments(t.Context(), docgen.GenerateDocuments{UserID: w.caller.User.ID, Lane: docgen.LaneDocx}))
	if names := w.names(); len(names) != 1 {
		t.Errorf("the folder holds %q, want the document", names)
	}
}

// If the database is busy when the tags of a template are saved, the template does not fail.
func TestSavingTagsWaitsForTheDatabase(t *testing.T) {
	cfg := storetest.SQLite(t)
	cfg.WriteWait = time.Second // enough for the preparation on a busy machine
	db, raw := storetest.Open(t, cfg), storetest.Raw(t, cfg)
	w := newWorld(t, db, newBlobs(t))
	template := w.template("T.docx", docxOf(t, "{{a}}"))
	other, err := raw.Conn(t.Context())
	must(t, err)
	defer other.Close()
	_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	err = w.maker.ReadTags(t.Context(), docgen.ReadTags{VersionID: template.VersionID})
	if _, paused := errors.AsType[*generate.PauseError](err); !paused || docgen.ShortageOf(err) != docgen.ShortOfDatabase {
		t.Errorf("with a busy database: %v, want a pause", err)
	}
	_, err = other.ExecContext(t.Context(), "ROLLBACK")
	must(t, err)
	must(t, w.maker.ReadTags(t.Context(), docgen.ReadTags{VersionID: template.VersionID}))
}
