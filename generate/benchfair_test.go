package generate_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"platen/docgen"
	"platen/generate"
	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"
	"platen/store"
	"platen/store/storetest"
)

// BenchmarkFair measures how long single documents of one user wait, from when CreateBatch has returned until their rendering,
// or of a PDF its conversion, starts. The server is idle at first. Then another user always has more work queued than the server
// can do. The longest document in progress, from its start to its end, is measured in the same run.
func BenchmarkFair(b *testing.B) {
	const long = 60_000 // paragraphs
	for _, load := range []struct {
		name                           string
		output                         string
		batches, documents, paragraphs int
	}{
		{"60 batches of 100 docx", docgen.OutputDocx, 60, 100, 0},
		{"10 batches of 50 PDFs", docgen.OutputPDF, 10, 50, 0},
		{"6 PDFs of 60,000 paragraphs", docgen.OutputPDF, 6, 1, long},
	} {
		run := func(b *testing.B, cfg store.Config) {
			f := newFairness(b, cfg, load.output)
			for range b.N {
				idle := f.samples(fairSamples)
				stop := f.load(load.output, load.batches, load.documents, load.paragraphs)
				waits := f.samples(fairSamples)
				stop()
				report(b, "idle", idle)
				report(b, "loaded", waits)
				longest := f.spans.longestDocument()
				b.ReportMetric(longest.Seconds()*1000, "longest-document-ms")
				b.ReportMetric(quantile(waits, 0.99).Seconds()/longest.Seconds(), "p99/longest")
			}
			b.ReportMetric(0, "ns/op")
		}
		b.Run(load.name+"/sqlite", func(b *testing.B) { run(b, storetest.SQLite(b)) })
		b.Run(load.name+"/postgres", func(b *testing.B) { run(b, storetest.Postgres(b)) })
	}
}

// fairSamples is the number of documents of the other user, idle and loaded.
const fairSamples = 100

func report(b *testing.B, name string, waits []time.Duration) {
	b.Helper()
	b.ReportMetric(quantile(waits, 0.5).Seconds()*1000, name+"-p50-ms")
	b.ReportMetric(quantile(waits, 0.99).Seconds()*1000, name+"-p99-ms")
}

func quantile(times []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// fairness is a server with two users.
type fairness struct {
	b        *testing.B
	w        *world
	spans    *startTimes
	document func() (docgen.Job, time.Time) // generates one document of the other user, and returns when its batch was accepted
}

func newFairness(b *testing.B, db store.Config, output string) *fairness {
	b.Helper()
	spans := &startTimes{documents: map[trace.SpanID]*timedDocument{}, last: output}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	var engine *office.Office
	cfg := generate.Config{Tracer: provider.Tracer("platen"), Cores: runtime.GOMAXPROCS(0)}
	runtime.GOMAXPROCS(cfg.Cores + generate.SpareProcs) // as platen serve does
	b.Cleanup(func() { runtime.GOMAXPROCS(cfg.Cores) })
	if output == docgen.OutputPDF {
		engine = newOffice(b)
		cfg.PDF = pdf.Engine(engine)
	}
	w := newWorldAs(b, storetest.Open(b, db), newBlobs(b), cfg)
	theirs, template := w.otherUser()
	f := &fairness{b: b, w: w, spans: spans, document: func() (docgen.Job, time.Time) {
		batch := theirs.batch(template, output, `{"a": 1}`)
		accepted := time.Now()
		return theirs.jobs(batch)[0], accepted
	}}
	w.start()
	f.document() // warm up: compile its template, and start LibreOffice
	return f
}

// samples generates documents in sequence, and returns how long each one waited.
func (f *fairness) samples(n int) []time.Duration {
	f.b.Helper()
	waits := make([]time.Duration, n)
	for i := range waits {
		job, accepted := f.document()
		waits[i] = max(0, f.spans.startOf(job.ID).Sub(accepted))
	}
	return waits
}

// load keeps the server busy with the batches of the first user: as soon as half of them have ended, it adds as many.
func (f *fairness) load(output string, batches, documents, paragraphs int) (stop func()) {
	f.b.Helper()
	ctx, cancel := context.WithCancel(f.b.Context())
	template := f.w.template("Load.docx", example(f.b, "letter/template.docx"))
	if paragraphs > 0 {
		document := new(pdftest.Document)
		for i := range paragraphs {
			document.Paragraph(fmt.Sprintf("This is paragraph %d of a long document.", i))
		}
		template = f.w.template("Long.docx", document.Bytes())
	}
	var posting sync.WaitGroup
	started := make(chan struct{})
	posting.Go(func() {
		for round := 0; ctx.Err() == nil; round++ {
			var ids []string
			for i := range batches {
				ids = append(ids, f.batch(template.ID, output, fmt.Sprintf("%d-%d", round, i), documents))
			}
			if round == 0 {
				close(started)
			}
			for ctx.Err() == nil && f.unfinished(ids) > batches/2 {
				select {
				case <-ctx.Done():
				case <-time.After(50 * time.Millisecond):
				}
			}
		}
	})
	<-started
	return func() {
		cancel()
		posting.Wait()
	}
}

func (f *fairness) batch(template int64, output, name string, documents int) string {
	batch := docgen.NewBatch{TemplateID: template, InputSource: docgen.InputSource, DestinationID: f.w.folder, OutputType: output}
	for i := range documents {
		input := new(docgen.Inputs).Parse(letterInput(f.b, i))
		batch.Documents = append(batch.Documents, docgen.NewDocument{Name: fmt.Sprintf("%s-%d", name, i), Input: input})
	}
	id, err := f.w.service.CreateBatch(docgen.ForCaller(f.b.Context(), f.w.caller), f.w.caller, batch)
	must(f.b, err)
	return id
}

func (f *fairness) unfinished(ids []string) int {
	left := 0
	for _, id := range ids {
		batch, err := f.w.service.Batch(f.b.Context(), f.w.caller, id)
		must(f.b, err)
		if batch.Jobs[docgen.StatusPending]+batch.Jobs[docgen.StatusSubmitted] > 0 {
			left++
		}
	}
	return left
}

// startTimes records from the spans of documents when they started and ended.
type startTimes struct {
	mu        sync.Mutex
	documents map[trace.SpanID]*timedDocument
	byJob     []*timedDocument
	last      string // the type of output, which determines what starts last
}

type timedDocument struct {
	job            int64
	started, ended time.Time
}

// startsWith is the name of the span with which a document of a type starts.
var startsWith = map[string]string{docgen.OutputDocx: "render", docgen.OutputPDF: "convert to PDF"}

func (s *startTimes) OnStart(_ context.Context, span sdktrace.ReadWriteSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch span.Name() {
	case "document":
		d := new(timedDocument)
		for _, a := range span.Attributes() {
			if a.Key == "platen.job_id" {
				d.job = a.Value.AsInt64()
			}
		}
		s.documents[span.SpanContext().SpanID()] = d
		s.byJob = append(s.byJob, d)
	case startsWith[s.last]:
		if d := s.documents[span.Parent().SpanID()]; d != nil {
			d.started = span.StartTime()
		}
	}
}

func (s *startTimes) OnEnd(span sdktrace.ReadOnlySpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[span.SpanContext().SpanID()]; d != nil {
		d.ended = span.EndTime()
		delete(s.documents, span.SpanContext().SpanID())
	}
}

func (s *startTimes) Shutdown(context.Context) error   { return nil }
func (s *startTimes) ForceFlush(context.Context) error { return nil }

// startOf returns when the document of a job started. The job must have ended.
func (s *startTimes) startOf(job int64) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range slices.Backward(s.byJob) {
		if d.job == job && !d.started.IsZero() {
			return d.started
		}
	}
	panic(fmt.Sprintf("job %d has not started", job))
}

// longestDocument returns the longest time from the start of a document to its end.
func (s *startTimes) longestDocument() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var longest time.Duration
	for _, d := range s.byJob {
		if !d.started.IsZero() && !d.ended.IsZero() {
			longest = max(longest, d.ended.Sub(d.started))
		}
	}
	return longest
}
