package docx_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"platen/docx"
	"platen/docx/lang"
	"platen/ooxml"
)

// work is a template and the data that it is filled with.
type work struct {
	name     string
	template func(*syntax, testing.TB) []byte
	data     func(testing.TB) []byte
}

var works = []work{
	{"letter", (*syntax).letter, letterData},
	{"invoice-10", (*syntax).invoice, invoiceOf(10)},
	{"invoice-100", (*syntax).invoice, invoiceOf(100)},
	{"invoice-1000", (*syntax).invoice, invoiceOf(1000)},
	{"invoice-10000", (*syntax).invoice, invoiceOf(10000)},
	{"contract", (*syntax).contract, contractData},
}

func invoiceOf(rows int) func(testing.TB) []byte {
	return func(t testing.TB) []byte { return invoiceData(t, rows) }
}

// BenchmarkWorks generates each document on one core, in turn with its floor, and reports medians: of the whole execution,
// with its data read from JSON; of reading the data alone; of the floor, which packs the same document; and the ratios of the time and
// the size to those of the floor.
func BenchmarkWorks(b *testing.B) {
	for _, w := range works {
		b.Run(w.name, func(b *testing.B) { benchmarkWork(b, w) })
	}
}

func benchmarkWork(b *testing.B, w work) {
	text := w.data(b)
	tpl, err := parse(w.template(ours, b))
	if err != nil {
		b.Fatal(err)
	}
	var out counter
	platen := func() {
		if _, err := tpl.Execute(b.Context(), &out, decode(b, string(text)), docx.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	file, report := execute(b, tpl, decode(b, string(text)))
	if len(report.Errors) > 0 {
		b.Fatal(report.Errors)
	}
	fast, usual := newFloor(b, file, 1), newFloor(b, file, ooxml.CompressionLevel)
	times := alternate(b, platen, func() { decode(b, string(text)) }, func() { fast.write(b, io.Discard) },
		func() { usual.write(b, io.Discard) })
	report4 := []string{"platen-µs", "decode-µs", "floor-µs", fmt.Sprintf("level%d-µs", ooxml.CompressionLevel)}
	for i, unit := range report4 {
		b.ReportMetric(float64(times[i])/1e3, unit)
	}
	var size counter
	usual.write(b, &size)
	b.ReportMetric(float64(times[0])/float64(times[2]), "times-floor")
	b.ReportMetric(float64(len(file))/float64(size), "times-size")
	b.ReportMetric(0, "ns/op")
}

// counter counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// alternate runs functions in turn, each often enough for the clock and the caches, and returns the median time of each.
func alternate(b *testing.B, functions ...func()) []time.Duration {
	const atLeast = time.Millisecond
	often := make([]int, len(functions))
	for i, f := range functions {
		f()
		start := time.Now()
		f()
		often[i] = 1 + int(atLeast/(time.Since(start)+1))
	}
	times := make([][]time.Duration, len(functions))
	for b.Loop() {
		for i, f := range functions {
			start := time.Now()
			for range often[i] {
				f()
			}
			times[i] = append(times[i], time.Since(start)/time.Duration(often[i]))
		}
	}
	medians := make([]time.Duration, len(functions))
	for i := range times {
		slices.Sort(times[i])
		medians[i] = times[i][len(times[i])/2]
	}
	return medians
}

// floor is the least work to pack a document: concatenate its pieces, deflate the parts that executions change, and copy the others in
// their compressed form.
type floor struct {
	entries []*zip.File
	packed  map[string][]byte   // of the entries, as they are in the file
	pieces  map[string][][]byte // of the parts that change
	buf     []byte
	deflate *flate.Writer
}

func newFloor(t testing.TB, file []byte, level int) *floor {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	f := &floor{entries: zr.File, packed: map[string][]byte{}, pieces: map[string][][]byte{}}
	content := unpack(t, file)
	for _, name := range []string{"word/document.xml", "word/header1.xml", "word/footer1.xml"} {
		if content[name] != "" {
			f.pieces[name] = cutAtTexts([]byte(content[name]))
		}
	}
	for _, e := range f.entries {
		offset, err := e.DataOffset()
		if err != nil {
			t.Fatal(err)
		}
		f.packed[e.Name] = file[offset : offset+int64(e.CompressedSize64)]
	}
	if f.deflate, err = flate.NewWriter(nil, level); err != nil {
		t.Fatal(err)
	}
	return f
}

// cutAtTexts cuts a part where its texts begin and end, as values do.
func cutAtTexts(xml []byte) [][]byte {
	const open, end = `<w:t xml:space="preserve">`, `</w:t>`
	var pieces [][]byte
	for sep := open; ; {
		i := bytes.Index(xml, []byte(sep))
		if i < 0 {
			return append(pieces, xml)
		}
		if sep == open {
			i, sep = i+len(open), end
		} else {
			sep = open
		}
		pieces, xml = append(pieces, xml[:i]), xml[i:]
	}
}

type deflater struct{ *flate.Writer }

func (f *floor) write(t testing.TB, w io.Writer) {
	zw := zip.NewWriter(w)
	zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		f.deflate.Reset(w)
		return deflater{f.deflate}, nil
	})
	for _, e := range f.entries {
		if err := f.writeEntry(zw, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
}

func (f *floor) writeEntry(zw *zip.Writer, e *zip.File) error {
	pieces, changes := f.pieces[e.Name]
	if !changes {
		w, err := zw.CreateRaw(&e.FileHeader)
		if err == nil {
			_, err = w.Write(f.packed[e.Name])
		}
		return err
	}
	w, err := zw.Create(e.Name)
	if err != nil {
		return err
	}
	f.buf = f.buf[:0]
	for _, piece := range pieces {
		if f.buf = append(f.buf, piece...); len(f.buf) >= 64<<10 {
			if _, err := w.Write(f.buf); err != nil {
				return err
			}
			f.buf = f.buf[:0]
		}
	}
	_, err = w.Write(f.buf)
	return err
}

// BenchmarkExecute is the execution alone, of data that has been read.
func BenchmarkExecute(b *testing.B) {
	for _, w := range works {
		b.Run(w.name, func(b *testing.B) {
			tpl, err := parse(w.template(ours, b))
			if err != nil {
				b.Fatal(err)
			}
			data := decode(b, string(w.data(b)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tpl.Execute(b.Context(), io.Discard, data, docx.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParse compiles a template; the bytes are those of its XML, of all parts.
func BenchmarkParse(b *testing.B) { benchmarkCompiling(b, nil) }

// BenchmarkFirst compiles a template and executes it once, on data without anything in it.
func BenchmarkFirst(b *testing.B) { benchmarkCompiling(b, new(lang.Object)) }

func benchmarkCompiling(b *testing.B, data *lang.Object) {
	for _, w := range []work{works[0], works[1], works[5]} {
		b.Run(w.name, func(b *testing.B) {
			file := w.template(ours, b)
			size := 0
			for name, content := range unpack(b, file) {
				if name != "word/media/image1.png" {
					size += len(content)
				}
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				tpl, err := parse(file)
				if err == nil && data != nil {
					_, err = tpl.Execute(b.Context(), io.Discard, data, docx.Options{})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMemory generates an invoice with few and with many rows. It reports, in MiB, the largest live memory besides the data while the
// invoice is written, and the memory of the data: as JSON, and in total.
func BenchmarkMemory(b *testing.B) {
	tpl, err := parse(ours.invoice(b))
	if err != nil {
		b.Fatal(err)
	}
	for _, rows := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			text := string(invoiceData(b, rows))
			for b.Loop() {
				empty := liveBytes()
				data, err := lang.DecodeText(text)
				if err != nil {
					b.Fatal(err)
				}
				w := &liveWriter{base: liveBytes()}
				if _, err := tpl.Execute(b.Context(), w, data, docx.Options{}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(w.most)/(1<<20), "execution-MiB")
				b.ReportMetric(float64(w.base-empty+int64(len(text)))/(1<<20), "data-MiB")
				b.ReportMetric(float64(len(text))/(1<<20), "json-MiB")
				runtime.KeepAlive(data)
			}
		})
	}
}

// liveBytes is the memory that is in use.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// liveWriter notes how much more than at first is in use at most when something is written to it. It looks at each megabyte.
type liveWriter struct {
	base, most, written, looked int64
}

func (w *liveWriter) Write(p []byte) (int, error) {
	if w.written += int64(len(p)); w.looked == 0 || w.written-w.looked > 1<<20 {
		w.looked = w.written
		w.most = max(w.most, liveBytes()-w.base)
	}
	return len(p), nil
}

// BenchmarkAttacks generates documents that cost as much as possible for little data, with the default budgets, and reports the sizes of
// the files. The first one exceeds the budget of its content.
func BenchmarkAttacks(b *testing.B) {
	item := func(format string) func(int) string { return func(i int) string { return fmt.Sprintf(format, i) } }
	for _, a := range []struct{ name, text, data string }{
		{"join", `{{for x in l}}{{l :: join(s)}}{{endfor}}`, `{"l":` + listOf(2000, item(`%d`)) + `,"s":"` +
			strings.Repeat("separator ", 50) + `"}`},
		{"codes", `{{for x in l}}{{x :: qrcode}}{{endfor}}`, `{"l":` + listOf(2000, item(`"https://example.com/items/%d"`)) + `}`},
		{"long-codes", `{{for x in l}}{{$string(x, s) :: qrcode}}{{endfor}}`, `{"l":` + listOf(2000, item(`%d`)) + `,"s":"` +
			strings.Repeat("separator ", 220) + `"}`},
		{"equal-codes", `{{for x in l}}{{s :: qrcode}}{{endfor}}`, `{"l":` + listOf(2000, item(`%d`)) + `,"s":"` +
			strings.Repeat("separator ", 220) + `"}`},
	} {
		b.Run(a.name, func(b *testing.B) {
			tpl := mustParse(b, map[string]string{"document.xml": para(a.text)})
			data := decode(b, a.data)
			for b.Loop() {
				report, err := tpl.Execute(b.Context(), io.Discard, data, docx.Options{})
				if _, exceeded := errors.AsType[*docx.BudgetError](err); err != nil && !exceeded {
					b.Fatal(err)
				}
				b.ReportMetric(float64(report.Used.Size)/1e6, "file-MB")
				b.ReportMetric(float64(report.Used.Content)/1e6, "content-MB")
				b.ReportMetric(float64(report.Used.Steps)/1e6, "Msteps")
			}
		})
	}
}
