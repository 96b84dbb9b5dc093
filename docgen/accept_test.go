package docgen_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"platen/docgen"
)

// streamed returns a batch without documents, from a template that was read.
func (w *world) streamed() docgen.NewBatch {
	w.t.Helper()
	template := w.template(w.alice, 0, fmt.Sprintf("t%d.docx", w.count("SELECT COUNT(*) FROM items")))
	must(w.t, w.SaveReading(w.t.Context(), template.VersionID, docgen.Reading{Schema: []byte(csvSchema)}))
	return docgen.NewBatch{TemplateID: template.ID, InputSource: docgen.InputSource, OutputType: docgen.OutputDocx}
}

var csvFormat = docgen.DataFormat{Format: docgen.FormatCSV, Name: "Invoice {{number}}"}

// csvOf returns a CSV with n rows, and calls a function before it generates each.
func csvOf(n int, before func(row int)) io.Reader {
	return &generated{rows: n, before: before, text: []byte("number,total,customer.name\n")}
}

type generated struct {
	rows, next int
	before     func(row int)
	text       []byte
}

func (g *generated) Read(p []byte) (int, error) {
	for ; g.next < g.rows && len(g.text) < len(p); g.next++ {
		g.before(g.next)
		g.text = fmt.Appendf(g.text, "%d,%d.50,Ada\n", g.next, g.next)
	}
	if len(g.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, g.text)
	g.text = g.text[n:]
	return n, nil
}

// The rows of a batch are stored while they arrive. Nothing is generated before all are durable.
func TestAcceptBatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		b := w.streamed()
		const rows = 12_000
		stored := make(chan error, 1)
		var id string
		id, err := w.AcceptBatch(ctx, w.alice, b, csvFormat, csvOf(rows, func(i int) {
			if i == rows-1 {
				stored <- w.checkAccepting()
			}
		}))
		must(t, err)
		must(t, <-stored)
		found, err := w.Batch(ctx, w.alice, id)
		must(t, err)
		if found.Accepting || found.Jobs[docgen.StatusPending] != rows {
			t.Errorf("the batch is %+v", found)
		}
		if shape := query[string](w, "SELECT shape FROM docgen_batches"); !strings.Contains(shape[0], "customer") {
			t.Errorf("the shape of the data is %q", shape)
		}
		names := map[string]bool{}
		for len(names) < 20 {
			claim, err := w.ClaimJobs(ctx, docgen.GenerateDocuments{UserID: w.alice.User.ID, Lane: docgen.LaneDocx})
			must(t, err)
			for _, job := range claim.Jobs {
				names[job.FileName] = true
				input, err := w.Input(ctx, job.ID)
				must(t, err)
				n := strings.TrimSuffix(strings.TrimPrefix(job.FileName, "Invoice "), ".docx")
				if want := `{"number":"` + n + `","total":` + n + `.50,"customer":{"name":"Ada"}}`; string(input) != want {
					t.Errorf("the data of %s is %s, want %s", job.FileName, input, want)
				}
			}
		}
		if removed, _, err := w.RemoveBatches(ctx); removed != 0 || err != nil {
			t.Errorf("%d batches were removed, %v", removed, err)
		}
	})
}

// checkAccepting checks what others see of the batch that is being received.
func (w *world) checkAccepting() error {
	ctx := w.t.Context()
	id := query[string](w, "SELECT id FROM docgen_batches")[0]
	found, err := w.Batch(ctx, w.alice, id)
	if err != nil || !found.Accepting || found.Jobs[docgen.StatusPending] == 0 {
		return fmt.Errorf("the batch that is being received: %+v, %w", found, err)
	}
	if _, err := w.Batch(ctx, w.bob, id); !docgen.IsCode(err, docgen.CodeNotFound) {
		return fmt.Errorf("another user sees it: %w", err)
	}
	jobs, err := w.Jobs(ctx, w.alice, docgen.JobFilter{}, docgen.PageRequest{})
	if err != nil || len(jobs.Entries) > 0 {
		return fmt.Errorf("%d jobs are listed, %w", len(jobs.Entries), err)
	}
	claim, err := w.ClaimJobs(ctx, docgen.GenerateDocuments{UserID: w.alice.User.ID, Lane: docgen.LaneDocx})
	if err != nil || len(claim.Jobs) > 0 {
		return fmt.Errorf("%d jobs are claimed, %w", len(claim.Jobs), err)
	}
	return nil
}

// Bad rows are reported with their lines, up to 100 and with their number, and the batch is discarded.
func TestAcceptBadRows(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		b := w.streamed()
		data := "number,total\n" + strings.Repeat("1,2\n", 3000) + strings.Repeat("1,x\n", 150)
		_, err := w.AcceptBatch(ctx, w.alice, b, csvFormat, strings.NewReader(data))
		wantCode(t, err, docgen.CodeBadRequest)
		e := asError(t, err)
		const first = `line 3002: total must be a number such as -1234.5, not "x"`
		if want := "Invalid input parameters in request: 150 of 3150 rows are invalid, and nothing was generated. The first problem is on " +
			first; e.Message != want {
			t.Errorf("message %q\nwant %q", e.Message, want)
		}
		if len(e.Problems) != 100 || e.Problems[0].Name != "data[3000].total" || e.Problems[0].Message != first {
			t.Errorf("%d problems, the first of which is %+v", len(e.Problems), e.Problems[0])
		}
		w.wantDiscarded()

		run, err := w.TryData(ctx, w.alice, b, csvFormat, strings.NewReader("number,customer.nmae\n1,2\n3,4\n"))
		must(t, err)
		if run.Documents != 2 || run.Incomplete != 0 {
			t.Errorf("the dry run is %+v", run)
		}
		_, err = w.TryData(ctx, w.alice, b, csvFormat, strings.NewReader(data))
		wantCode(t, err, docgen.CodeBadRequest)
		for _, data := range []string{"number\n", ""} {
			_, err = w.AcceptBatch(ctx, w.alice, b, csvFormat, strings.NewReader(data))
			wantCode(t, err, docgen.CodeBadRequest)
		}
		w.wantDiscarded()
	})
}

// wantDiscarded checks that no batch is left.
func (w *world) wantDiscarded() {
	w.t.Helper()
	_, _, err := w.RemoveBatches(w.t.Context())
	must(w.t, err)
	if n := w.count(rowsOfBatches); n != 0 {
		w.t.Errorf("%d rows are left", n)
	}
}

// Data that breaks off discards the batch, and so does a crash, after 10 minutes.
func TestAcceptInterrupted(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		b := w.streamed()
		broken := errors.New("connection reset by peer")
		data := io.MultiReader(io.LimitReader(csvOf(5000, func(int) {}), 40_000), &failing{broken})
		_, err := w.AcceptBatch(t.Context(), w.alice, b, csvFormat, data)
		if !errors.Is(err, broken) {
			t.Errorf("error = %v, want %v", err, broken)
		}
		w.wantDiscarded()

		ctx, cancel := context.WithCancel(t.Context())
		_, err = w.AcceptBatch(ctx, w.alice, b, csvFormat, csvOf(5000, func(i int) {
			if i == 3000 {
				cancel()
			}
		}))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want %v", err, context.Canceled)
		}
		w.wantDiscarded()

		crash := make(chan struct{})
		done := make(chan error)
		go func() {
			_, err := w.AcceptBatch(context.WithoutCancel(t.Context()), w.alice, b, csvFormat, csvOf(5000, func(i int) {
				if i == 4999 {
					crash <- struct{}{}
					<-crash
				}
			}))
			done <- err
		}()
		<-crash // as if the server ended here
		if removed, _, err := w.RemoveBatches(t.Context()); removed != 0 || err != nil {
			t.Errorf("%d batches were removed at once, %v", removed, err)
		}
		w.clock.advance(10 * time.Minute)
		w.wantDiscarded()
		close(crash)
		if err := <-done; err == nil {
			t.Error("a batch was accepted whose rows were removed")
		}
	})
}

// A slow batch is kept for as long as its data arrives, but not forever.
func TestAcceptSlowly(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		b := w.streamed()
		accept := func(rows int) error {
			data := &slow{w, strings.NewReader("number\n" + strings.Repeat("1\n", rows)), 6 * time.Minute}
			_, err := w.AcceptBatch(t.Context(), w.alice, b, csvFormat, data)
			return err
		}
		must(t, accept(10))
		wantCode(t, accept(70), docgen.CodeRefused)
	})
}

// slow is data of which a line arrives from time to time.
type slow struct {
	w    *world
	r    io.Reader
	wait time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	s.w.clock.advance(s.wait)
	return s.r.Read(p[:min(len(p), 2)])
}

func TestLimitsOfStreamedBatches(t *testing.T) {
	runWith(t, docgen.Limits{StreamedDocuments: 1200, Waiting: 2000}, func(t *testing.T, w *world) {
		ctx := t.Context()
		b := w.streamed()
		accept := func(rows int) error {
			_, err := w.AcceptBatch(ctx, w.alice, b, csvFormat, csvOf(rows, func(int) {}))
			return err
		}
		wantCode(t, accept(1201), docgen.CodeBadRequest)
		must(t, accept(1200))
		wantCode(t, accept(801), docgen.CodeRefused)
		must(t, accept(800))
		_, err := w.CreateBatch(ctx, w.alice, batchOf(w.template(w.alice, 0, "full.docx").ID, 0, numbered(`{"n": %d}`, 1)...))
		wantCode(t, err, docgen.CodeRefused)
		must(t, w.exec("UPDATE docgen_batches SET removed_at = $1", w.clock.now().Add(time.Minute).UnixMicro()))
		_, err = w.AcceptBatch(ctx, w.alice, b, csvFormat, strings.NewReader("number\n"))
		wantCode(t, err, docgen.CodeRefused) // there is no room
	})
}

// A user cannot stream more than 3 batches, even if all begin at the same moment, nor while many discarded ones are still being deleted.
func TestManyStreamedBatches(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		const all = 8
		b, results, accepted := w.streamed(), make(chan error), make(chan struct{})
		for range all {
			go func() {
				data := csvOf(1, func(int) { <-accepted })
				_, err := w.AcceptBatch(t.Context(), w.alice, b, csvFormat, data)
				results <- err
			}()
		}
		for range all - 3 {
			wantCode(t, <-results, docgen.CodeRefused)
		}
		close(accepted)
		for range 3 {
			must(t, <-results)
		}
		for range 10 {
			_, err := w.AcceptBatch(t.Context(), w.alice, b, csvFormat, strings.NewReader("number,total\n1,x\n"))
			wantCode(t, err, docgen.CodeBadRequest)
		}
		_, err := w.AcceptBatch(t.Context(), w.alice, b, csvFormat, csvOf(1, func(int) {}))
		wantCode(t, err, docgen.CodeRefused)
		removed, _, err := w.RemoveBatches(t.Context())
		if must(t, err); removed != 10 {
			t.Errorf("%d batches were removed, want 10", removed)
		}
		_, err = w.AcceptBatch(t.Context(), w.alice, b, csvFormat, csvOf(1, func(int) {}))
		must(t, err)
	})
}

// The disk is checked for each portion.
func TestAcceptOnLowDisk(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var free atomic.Int64
		free.Store(1000)
		clock := &w.clock
		w = w.again(docgen.Config{Disks: []docgen.Disk{{Name: "data", Free: func() (int64, error) { return free.Load(), nil }}}, MinFree: 1000})
		b := w.streamed()
		_, err := w.AcceptBatch(t.Context(), w.alice, b, csvFormat, csvOf(20_000, func(i int) {
			if i == 10_000 {
				free.Store(999)
				clock.advance(time.Second)
			}
		}))
		wantCode(t, err, docgen.CodeStorageFull)
	})
}
