package generate_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/blob"
	"platen/docgen"
	"platen/generate"
	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/raster"
	"platen/store"
	"platen/store/storetest"
)

func TestMain(m *testing.M) {
	generate.Worker(os.Args)
	office.Worker(os.Args)
	raster.Worker(os.Args)
	storetest.Main(m)
}

// waitLimit is how long a test waits for an event that should take moments.
const waitLimit = 10 * time.Minute

// pdfWorkers is the number of concurrent conversions.
const pdfWorkers = 2

// world is a service with a user, a destination folder, and a queue that a test can start.
type world struct {
	t       testing.TB
	service *docgen.Service
	caller  *docgen.Caller
	folder  int64
	queue   *store.Queue
	maker   *generate.Generator
	metrics *prometheus.Registry
}

func newWorld(t testing.TB, db *store.DB, blobs blob.Store) *world {
	t.Helper()
	return newWorldWithPDF(t, db, blobs, nil)
}

// newWorldWithPDF returns a world with a PDF engine.
func newWorldWithPDF(t testing.TB, db *store.DB, blobs blob.Store, engine pdf.Engine) *world {
	t.Helper()
	return newWorldAs(t, db, blobs, generate.Config{PDF: engine})
}

// newWorldAs returns a world with a generator that a test configures.
func newWorldAs(t testing.TB, db *store.DB, blobs blob.Store, cfg generate.Config) *world {
	t.Helper()
	ctx := t.Context()
	service, err := docgen.New(ctx, docgen.Config{Store: db, Blobs: blobs, FaultPause: time.Millisecond})
	must(t, err)
	_, err = service.CreateUser(ctx, docgen.NewUser{Login: "ann@example.com", Name: "Ann"})
	must(t, err)
	token, err := service.CreateToken(ctx, docgen.NewToken{Login: "ann@example.com"})
	must(t, err)
	w := &world{t: t, service: service}
	w.caller, err = service.Authenticate(ctx, token)
	must(t, err)
	folder, err := service.CreateFolder(ctx, w.caller, docgen.NewFolder{Name: "Output"})
	must(t, err)
	w.folder = folder.ID
	w.generate(db, cfg)
	return w
}

// generate creates the generator of a world, and a queue that is not started.
func (w *world) generate(db *store.DB, cfg generate.Config) {
	w.t.Helper()
	service := w.service
	poll := 10 * time.Millisecond
	if _, measured := w.t.(*testing.B); measured {
		poll = 0 // as on a server: polling that often takes a tenth of a core
	}

	w.metrics = prometheus.NewRegistry()
	cfg.Service, cfg.Metrics, cfg.PDFWorkers = service, w.metrics, pdfWorkers
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	g := generate.New(cfg)
	w.queue = store.NewQueue(db, store.QueueConfig{
		Workers: map[string]int{
			store.DefaultQueue: 1, docgen.TagQueue: 8, docgen.ManyTagsQueue: 8, docgen.MergeQueue: 8, docgen.SampleQueue: 2,
			docgen.LaneDocx.Queue(): 100, docgen.LanePDF.Queue(): 100, docgen.LaneIsolated.Queue(): 100,
			docgen.CancelQueue: 1,
		},
		Exhausted: g.TaskFailed,
		Backoff:   func(int) time.Duration { return time.Millisecond },
		Poll:      poll,
	})
	store.Handle(w.queue, snoozing(g.ReadTags))
	store.Handle(w.queue, snoozing(g.CheckSamples))
	store.Handle(w.queue, snoozing(g.GenerateDocuments))
	store.Handle(w.queue, func(ctx context.Context, _ docgen.WakeDocuments) error {
		return errors.Join(service.WakeDocuments(ctx), store.Snooze(poll+time.Millisecond))
	})
	store.Handle(w.queue, snoozing(g.MergeDocuments))
	store.Handle(w.queue, func(ctx context.Context, _ docgen.CancelJobs) error {
		_, err := service.CancelJobs(ctx)
		return err
	})
	w.maker = g
}

// snoozing runs a task again if it asks for that, like the server.
func snoozing[T store.Task](work func(context.Context, T) error) func(context.Context, T) error {
	return func(ctx context.Context, task T) error {
		err := work(ctx, task)
		if _, paused := errors.AsType[*generate.PauseError](err); paused || errors.Is(err, generate.ErrUnfinished) {
			return store.Snooze(time.Millisecond)
		}
		return err
	}
}

// start starts the queue, until the test ends.
func (w *world) start() {
	w.t.Helper()
	must(w.t, w.service.ScheduleDocuments(w.t.Context()))
	must(w.t, w.queue.Start(context.WithoutCancel(w.t.Context())))
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		must(w.t, w.queue.Stop(ctx))
	})
}

// template uploads a file and marks it as a template.
func (w *world) template(name string, content []byte) *docgen.Item {
	w.t.Helper()
	file, err := w.service.CreateFile(w.t.Context(), w.caller, docgen.NewFile{Name: name}, bytes.NewReader(content))
	must(w.t, err)
	_, err = w.service.MarkTemplate(w.t.Context(), w.caller, file.ID)
	must(w.t, err)
	return file
}

// batch creates a batch with one document for each input.
func (w *world) batch(template int64, output string, inputs ...string) string {
	w.t.Helper()
	return w.batchWith(docgen.BatchOptions{}, template, output, inputs...)
}

func (w *world) batchWith(options docgen.BatchOptions, template int64, output string, inputs ...string) string {
	w.t.Helper()
	b := docgen.NewBatch{TemplateID: template, InputSource: docgen.InputSource, DestinationID: w.folder, OutputType: output,
		Options: options, Inputs: new(docgen.Inputs)}
	for i, input := range inputs {
		b.Documents = append(b.Documents, docgen.NewDocument{Name: fmt.Sprintf("Document %d", i+1), Input: b.Inputs.Parse([]byte(input))})
	}
	id, err := w.service.CreateBatch(docgen.ForCaller(w.t.Context(), w.caller), w.caller, b)
	must(w.t, err)
	return id
}

// jobs waits until every job of a batch has ended and returns them.
func (w *world) jobs(batch string) []docgen.Job {
	w.t.Helper()
	var jobs []docgen.Job
	waitFor(w.t, "the batch to end", func() bool {
		page, err := w.service.Jobs(w.t.Context(), w.caller, docgen.JobFilter{BatchID: new(batch)},
			docgen.PageRequest{Limit: docgen.MaxPageLimit})
		must(w.t, err)
		jobs = page.Entries
		for _, job := range jobs {
			if job.Status == docgen.StatusPending || job.Status == docgen.StatusSubmitted {
				return false
			}
		}
		return true
	})
	for i := range jobs { // lists have no failures
		job, err := w.service.Job(w.t.Context(), w.caller, jobs[i].ID)
		must(w.t, err)
		jobs[i] = job
	}
	return jobs
}

// text returns the text of a job's document.
func (w *world) text(job docgen.Job) string {
	w.t.Helper()
	content, err := w.service.Content(w.t.Context(), w.caller, job.OutputFileID, job.OutputVersionID)
	must(w.t, err)
	r, err := content.Open(w.t.Context(), 0, -1)
	must(w.t, err)
	defer r.Close()
	data, err := io.ReadAll(r)
	must(w.t, err)
	return documentText(w.t, data)
}

// names lists the items of the destination folder.
func (w *world) names() []string {
	w.t.Helper()
	page, err := w.service.ItemsByOffset(w.t.Context(), w.caller, w.folder, docgen.OffsetRequest{Limit: docgen.MaxPageLimit},
		docgen.ItemOrder{By: "name"})
	must(w.t, err)
	names := []string{}
	for _, item := range page.Entries {
		names = append(names, item.Name)
	}
	return names
}

// waitFor polls until a condition holds.
func waitFor(t testing.TB, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited %v in vain for %s", waitLimit, what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newBlobs returns a blob store in a directory of the test.
func newBlobs(t testing.TB) blob.Store {
	t.Helper()
	blobs, err := blob.Open(t.TempDir())
	must(t, err)
	return blobs
}

// zipOf returns a zip file of entries, each a name and a content.
func zipOf(t testing.TB, entries ...[2]string) []byte {
	t.Helper()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for _, entry := range entries {
		w, err := z.Create(entry[0])
		must(t, err)
		_, err = io.WriteString(w, entry[1])
		must(t, err)
	}
	must(t, z.Close())
	return file.Bytes()
}

// docxOf returns a Word file of paragraphs.
func docxOf(t testing.TB, paragraphs ...string) []byte {
	t.Helper()
	var body strings.Builder
	for _, p := range paragraphs {
		body.WriteString(`<w:p><w:r><w:t xml:space="preserve">` + p + `</w:t></w:r></w:p>`)
	}
	const head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	return zipOf(t, [][2]string{
		{"[Content_Types].xml", head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ` +
			`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", head + `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` +
			body.String() + `</w:body></w:document>`},
	}...)
}

// documentText returns the text of a Word file's body, with a line for each paragraph.
func documentText(t testing.TB, file []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	must(t, err)
	r, err := z.Open("word/document.xml")
	must(t, err)
	xml, err := io.ReadAll(r)
	must(t, errors.Join(err, r.Close()))
	var text strings.Builder
	for part := range strings.SplitSeq(strings.ReplaceAll(string(xml), "</w:p>", "\n"), "<") {
		_, after, _ := strings.Cut(part, ">")
		text.WriteString(after)
		text.WriteString(strings.Repeat("\n", strings.Count(part, "\n")-strings.Count(after, "\n")))
	}
	return strings.TrimSpace(text.String())
}
