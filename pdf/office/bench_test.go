package office_test

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"
)

type benchmark struct {
	name     string
	document []byte
}

func benchmarked() []benchmark {
	return []benchmark{
		{"letter", pdftest.Letter("Amara Okafor")},
		{"invoice", pdftest.Invoice(100)},
		{"contract", pdftest.Contract(50)},
	}
}

// BenchmarkConvert compares one worker with the theoretical minimum: the time of LibreOffice alone, in a warm C
// process with the malloc of libc. Both convert the same document alternately.
func BenchmarkConvert(b *testing.B) {
	engine := newOffice(b, office.Config{Workers: 1, Recycle: 1 << 30})
	least := startFloor(b)
	for _, test := range benchmarked() {
		b.Run(test.name, func(b *testing.B) {
			convert(b, engine, test.document) // warm
			least.convert(b, test.document)
			var ours, floor durations
			for b.Loop() {
				begun := time.Now()
				convert(b, engine, test.document)
				ours = append(ours, time.Since(begun))
				floor = append(floor, least.convert(b, test.document))
			}
			b.ReportMetric(ours.milliseconds(), "ms/document")
			b.ReportMetric(floor.milliseconds(), "floor-ms")
			b.ReportMetric(ours.milliseconds()/floor.milliseconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkWorkers measures how much faster two workers are than one.
func BenchmarkWorkers(b *testing.B) {
	one, two := newOffice(b, office.Config{Workers: 1, Recycle: 1 << 30}), newOffice(b, office.Config{Workers: 2, Recycle: 1 << 30})
	for _, test := range benchmarked() {
		b.Run(test.name, func(b *testing.B) {
			documents := 16
			if test.name == "contract" {
				documents = 6
			}
			batch(b, one, 2, test.document)
			batch(b, two, 4, test.document)
			var single, double durations
			for b.Loop() {
				single = append(single, batch(b, one, documents, test.document))
				double = append(double, batch(b, two, documents, test.document))
			}
			b.ReportMetric(float64(documents)*1000/double.milliseconds(), "documents/s")
			b.ReportMetric(single.milliseconds()/double.milliseconds(), "times-one")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkCold compares a warm worker with the command line of LibreOffice, which starts for each document. Both
// convert alternately.
func BenchmarkCold(b *testing.B) {
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		b.Skip(err)
	}
	engine := newOffice(b, office.Config{Workers: 1})
	for _, test := range benchmarked() {
		b.Run(test.name, func(b *testing.B) {
			folder := b.TempDir()
			in := filepath.Join(folder, "document.docx")
			if err := os.WriteFile(in, test.document, 0o600); err != nil {
				b.Fatal(err)
			}
			cold := func() time.Duration {
				begun := time.Now()
				command := exec.CommandContext(b.Context(), soffice, "--headless", "-env:UserInstallation=file://"+folder+"/profile",
					"--convert-to", "pdf", "--outdir", folder, in)
				if out, err := command.CombinedOutput(); err != nil {
					b.Fatalf("soffice: %v\n%s", err, out)
				}
				return time.Since(begun)
			}
			cold() // creates its profile
			convert(b, engine, test.document)
			var warm, started durations
			for b.Loop() {
				started = append(started, cold())
				begun := time.Now()
				convert(b, engine, test.document)
				warm = append(warm, time.Since(begun))
			}
			b.ReportMetric(started.milliseconds(), "cold-ms")
			b.ReportMetric(warm.milliseconds(), "warm-ms")
			b.ReportMetric(started.milliseconds()/warm.milliseconds(), "times-warm")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkMemory measures the memory of a worker after many documents without a restart, and how much the server's
// has grown.
func BenchmarkMemory(b *testing.B) {
	const documents, interval = 2000, 250
	engine := newOffice(b, office.Config{Workers: 1, Recycle: 1 << 30, MaxMemory: 8 << 30})
	kinds := [][]byte{pdftest.Letter("Amara Okafor"), pdftest.Invoice(20), pdftest.Contract(3)}
	for range b.N {
		convert(b, engine, kinds[0])
		heap := liveHeap()
		for i := range documents {
			if i%interval == 0 {
				b.Logf("after %d documents the worker uses %d MiB", i, engine.Resident(b)>>20)
			}
			convert(b, engine, kinds[i%len(kinds)])
		}
		b.ReportMetric(float64(engine.Resident(b))/(1<<20), "worker-MiB")
		b.ReportMetric(float64(liveHeap()-heap)/(1<<20), "heap-growth-MiB")
	}
	b.ReportMetric(0, "ns/op")
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// batch converts a document many times, with one goroutine more than the engine has workers.
func batch(b *testing.B, engine *office.Office, documents int, document []byte) time.Duration {
	b.Helper()
	begun := time.Now()
	work := make(chan struct{}, documents)
	for range documents {
		work <- struct{}{}
	}
	close(work)
	var all sync.WaitGroup
	for range engine.Workers() + 1 {
		all.Go(func() {
			for range work {
				convert(b, engine, document)
			}
		})
	}
	all.Wait()
	return time.Since(begun)
}

func convert(tb testing.TB, engine *office.Office, document []byte) {
	tb.Helper()
	if _, err := engine.Convert(tb.Context(), pdf.Request{Document: document}); err != nil {
		tb.Error(err)
	}
}

// floor is the program testdata/floor.c.
type floor struct {
	folder  string
	orders  *bufio.Writer
	answers *bufio.Scanner
}

func startFloor(b *testing.B) *floor {
	b.Helper()
	program, err := office.Find("")
	if err != nil {
		b.Skip(err)
	}
	f := &floor{folder: b.TempDir()}
	binary := filepath.Join(f.folder, "floor")
	if out, err := exec.Command("gcc", "-O2", "-o", binary, "testdata/floor.c", "-ldl").CombinedOutput(); err != nil {
		b.Fatalf("gcc: %v\n%s", err, out)
	}
	command := exec.CommandContext(b.Context(), binary, program, "file://"+f.folder+"/profile")
	command.Env = append(os.Environ(), "SAL_USE_VCLPLUGIN=svp")
	in, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := in.Close(); err != nil {
			b.Error(err)
		}
		command.Wait() //nolint:errcheck // the context may have killed it
	})
	f.orders, f.answers = bufio.NewWriter(in), bufio.NewScanner(out)
	if !f.answers.Scan() {
		b.Fatal("the floor did not start")
	}
	return f
}

func (f *floor) convert(b *testing.B, document []byte) time.Duration {
	b.Helper()
	in := filepath.Join(f.folder, "floor.docx")
	if err := os.WriteFile(in, document, 0o600); err != nil {
		b.Fatal(err)
	}
	fmt.Fprintln(f.orders, &url.URL{Scheme: "file", Path: in}, "file://"+f.folder+"/floor.pdf")
	if err := f.orders.Flush(); err != nil || !f.answers.Scan() {
		b.Fatal("the floor exited", err)
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(f.answers.Text()), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}

type durations []time.Duration

// milliseconds returns the median, in milliseconds.
func (d durations) milliseconds() float64 {
	slices.Sort(d)
	return float64(d[len(d)/2]) / float64(time.Millisecond)
}
