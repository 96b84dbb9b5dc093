package generate_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"platen/docgen"
	"platen/docx"
	"platen/docx/lang"
	"platen/pdf"
	"platen/pdf/office"
	"platen/store/storetest"
)

// BenchmarkPDFs measures a batch of one-page letters as PDFs, from its acceptance until the last job is completed. It
// alternates with the engine alone, which converts the same documents without a service, and compares the times.
func BenchmarkPDFs(b *testing.B) {
	const documents = 200
	engine := newOffice(b)
	letters := renderedLetters(b, documents)
	engineAlone(b, engine, letters[:2*pdfWorkers]) // warm up
	var batch, alone time.Duration
	for range b.N {
		batch += batchOfPDFs(b, engine, documents)
		alone += engineAlone(b, engine, letters)
	}
	per := func(d time.Duration) float64 { return float64(documents*b.N) / d.Seconds() }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(per(batch), "documents/s")
	b.ReportMetric(per(alone), "engine-documents/s")
	b.ReportMetric(batch.Seconds()/alone.Seconds(), "times-engine")
}

func batchOfPDFs(b *testing.B, engine *office.Office, documents int) time.Duration {
	b.Helper()
	counting := &counted{Engine: engine, all: make(chan struct{})}
	counting.left.Store(int64(documents))
	w := newWorldWithPDF(b, storetest.Open(b, storetest.SQLite(b)), newBlobs(b), counting)
	id := w.lettersAs(docgen.OutputPDF, documents)
	begun := time.Now()
	must(b, w.queue.Start(context.WithoutCancel(b.Context())))
	<-counting.all
	w.ended(id)
	took := time.Since(begun)
	must(b, w.queue.Stop(b.Context()))
	return took
}

// counted is an engine that reports when it has converted a number of documents. Polling the service for that would
// take as much of a core as the service needs.
type counted struct {
	pdf.Engine
	left atomic.Int64
	all  chan struct{}
}

func (c *counted) Convert(ctx context.Context, request pdf.Request) (*pdf.Result, error) {
	defer func() {
		if c.left.Add(-1) == 0 {
			close(c.all)
		}
	}()
	return c.Engine.Convert(ctx, request)
}

func renderedLetters(b *testing.B, documents int) [][]byte {
	b.Helper()
	file := example(b, "letter/template.docx")
	template, err := docx.Parse(bytes.NewReader(file), int64(len(file)))
	must(b, err)
	letters := make([][]byte, documents)
	for i := range letters {
		data, err := lang.Decode(letterInput(b, i))
		must(b, err)
		var letter bytes.Buffer
		_, err = template.Execute(b.Context(), &letter, data, docx.Options{ForPDF: true})
		must(b, err)
		letters[i] = letter.Bytes()
	}
	return letters
}

func engineAlone(b *testing.B, engine *office.Office, letters [][]byte) time.Duration {
	b.Helper()
	begun := time.Now()
	var all errgroup.Group
	all.SetLimit(2 * pdfWorkers)
	for _, letter := range letters {
		all.Go(func() error {
			_, err := engine.Convert(b.Context(), pdf.Request{Document: letter, Options: pdf.Options{Tagged: true, Bookmarks: true}, Kind: "letter"})
			return err
		})
	}
	must(b, all.Wait())
	return time.Since(begun)
}
