package server_test

import (
	"bytes"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/docx"
	"platen/docx/lang"
	"platen/generate"
	"platen/pdf"
	"platen/pdf/office"
	"platen/server"
	"platen/store/storetest"
)

// BenchmarkDocumentOnRequest compares the time of a request with the time of the engine alone, alternately, for a template in the request
// and for a stored one. It reports medians in milliseconds, and their difference.
func BenchmarkDocumentOnRequest(b *testing.B) {
	template, err := os.ReadFile("../examples/letter/template.docx")
	must(b, err)
	input, err := os.ReadFile("../examples/letter/data.json")
	must(b, err)
	self, err := os.Executable()
	must(b, err)
	engine, err := office.New(office.Config{Worker: self, Folder: b.TempDir(), Workers: 1})
	must(b, err)
	defer engine.Close()
	compiled, err := docx.Parse(bytes.NewReader(template), int64(len(template)))
	must(b, err)
	w := newRequester(b, engine, template)
	timed := func(work func()) time.Duration {
		began := time.Now()
		work()
		return time.Since(began)
	}
	for _, output := range []string{docgen.OutputDocx, docgen.OutputPDF} {
		if output == docgen.OutputPDF && engine.Available() != nil {
			continue
		}
		alone := func() {
			data, err := lang.Decode(input)
			must(b, err)
			var document bytes.Buffer
			_, err = compiled.Execute(b.Context(), &document, data, docx.Options{ForPDF: output == docgen.OutputPDF})
			must(b, err)
			if output == docgen.OutputPDF {
				_, err := engine.Convert(b.Context(), pdf.Request{Document: document.Bytes(), Options: pdf.Options{Tagged: true, Bookmarks: true}})
				must(b, err)
			}
		}
		fields := form{{"user_input", string(input)}, {"output_type", output}}
		for name, from := range map[string][2]string{
			"inline": {"template", string(template)}, "stored": {"file", `{"id":"` + id(w.stored) + `","type":"file"}`},
		} {
			b.Run(output+"/"+name, func(b *testing.B) {
				request := w.request(b, append(fields, from))
				request()
				var engines, requests []time.Duration
				for b.Loop() {
					engines = append(engines, timed(alone))
					requests = append(requests, timed(request))
				}
				b.ReportMetric(median(engines), "engine-ms")
				b.ReportMetric(median(requests), "request-ms")
				b.ReportMetric(median(requests)-median(engines), "overhead-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// median returns the median of times in milliseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}

// requester is a client of a server with a stored template.
type requester struct {
	url, token string
	stored     int64
}

func newRequester(b *testing.B, engine pdf.Engine, template []byte) *requester {
	b.Helper()
	ctx, log := b.Context(), slog.New(slog.DiscardHandler)
	blobs, err := blob.Open(b.TempDir())
	must(b, err)
	service, err := docgen.New(ctx, docgen.Config{Store: storetest.Open(b, storetest.SQLite(b)), Blobs: blobs})
	must(b, err)
	_, err = service.CreateUser(ctx, docgen.NewUser{Login: "ada@example.com", Name: "Ada"})
	must(b, err)
	w := &requester{}
	w.token, err = service.CreateToken(ctx, docgen.NewToken{Login: "ada@example.com"})
	must(b, err)
	caller, err := service.Authenticate(ctx, w.token)
	must(b, err)
	file, err := service.CreateFile(ctx, caller, docgen.NewFile{Name: "Letter.docx"}, bytes.NewReader(template))
	must(b, err)
	_, err = service.MarkTemplate(ctx, caller, file.ID)
	must(b, err)
	w.stored = file.ID
	served := httptest.NewServer(server.New(server.Config{
		Service: service, Generator: generate.New(generate.Config{Service: service, Log: log, PDF: engine}), Log: log, RateLimits: noLimits,
	}))
	b.Cleanup(served.Close)
	w.url = served.URL
	return w
}

// request returns a function that sends a form and receives a document.
func (w *requester) request(b *testing.B, fields form) func() {
	b.Helper()
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for _, field := range fields {
		must(b, parts.WriteField(field[0], field[1]))
	}
	must(b, parts.Close())
	return func() {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, w.url+"/2.0/docgen_documents", bytes.NewReader(body.Bytes()))
		must(b, err)
		r.Header = http.Header{"Authorization": {"Bearer " + w.token}, "Svc-Version": {"2025.0"}, "Content-Type": {parts.FormDataContentType()}}
		response, err := http.DefaultClient.Do(r)
		must(b, err)
		defer response.Body.Close()
		if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
			b.Fatalf("status %d, %v: %s", response.StatusCode, err, text)
		}
	}
}
