package isolate

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"platen/docx"
	"platen/pdf/finish"
)

func TestMain(m *testing.M) {
	misbehave = func(t task) {
		var said string
		if t.Merge != nil {
			said = strings.Join(t.Merge.Names, " ")
		} else {
			said = string(t.Document.Data)
		}
		switch {
		case strings.Contains(said, "segfault"):
			syscall.Kill(os.Getpid(), syscall.SIGSEGV) //nolint:errcheck // the test sees it
			select {}
		case strings.Contains(said, "oom"): // to end unless it is the first that the kernel ends when memory runs out
			if score, err := os.ReadFile("/proc/self/oom_score_adj"); err != nil || strings.TrimSpace(string(score)) != "1000" {
				os.Exit(1)
			}
		case strings.Contains(said, "hang"):
			for {
				<-time.After(time.Hour)
			}
		case strings.Contains(said, "memory"):
			var all [][]byte
			for {
				all = append(all, bytes.Repeat([]byte{1}, 1<<26))
				_ = all
			}
		}
	}
	Worker(os.Args)
	os.Exit(m.Run())
}

func docxOf(t *testing.T, text string) []byte {
	t.Helper()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	const head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	for _, entry := range [][2]string{
		{"[Content_Types].xml", head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ` +
			`ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ` +
			`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", head + `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>` +
			`<w:t>` +
			text + `</w:t></w:r></w:p></w:body></w:document>`},
	} {
		w, err := z.Create(entry[0])
		if err == nil {
			_, err = io.WriteString(w, entry[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func made(t *testing.T, ctx context.Context, text, data string, sources Sources) (string, docx.Report, error) { //nolint:revive // t first
	t.Helper()
	var file bytes.Buffer
	order := Order{Template: docxOf(t, text), Data: []byte(data), Now: time.Now(), Images: sources.Picture != nil, Memory: 512 << 20}
	report, err := Run(ctx, "/proc/self/exe", order, sources, &file)
	if err != nil {
		return "", report, err
	}
	z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	part, err := z.Open("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	xml, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(xml), report, nil
}

func TestDocumentInProcess(t *testing.T) {
	xml, report, err := made(t, t.Context(), "Dear {{name}} {{gone}}", `{"name":"Ada"}`, Sources{})
	if err != nil || !strings.Contains(xml, "Dear Ada") || len(report.Errors) != 1 {
		t.Errorf("%v, %+v, %s", err, report, xml)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for _, tt := range []struct{ text, data, want string }{
		{"{{if a}}", `{}`, "The template cannot be used: "},
		{"{{a}}", `{`, "The input data cannot be read: "},
	} {
		_, _, err := made(t, t.Context(), tt.text, tt.data, Sources{})
		if failed, ok := errors.AsType[*FailedError](err); !ok || !strings.HasPrefix(failed.Message, tt.want) {
			t.Errorf("%s with %s: %v, want %s", tt.text, tt.data, err, tt.want)
		}
	}
}

func TestProcessCrash(t *testing.T) {
	for _, data := range []string{`{"a":"segfault"}`, `{"a":"memory"}`} {
		_, _, err := made(t, t.Context(), "{{a}}", data, Sources{})
		if died, ok := errors.AsType[*DiedError](err); !ok || died.How == "" {
			t.Errorf("%s: %v, want that the process died", data, err)
		}
	}
}

// If memory runs out, the kernel ends the process rather than the server. Otherwise, the document would crash servers
// again and again.
func TestProcessIsKilledBeforeServer(t *testing.T) {
	if _, _, err := made(t, t.Context(), "{{a}}", `{"a":"oom"}`, Sources{}); err != nil {
		t.Error(err)
	}
}

// page returns a PDF of one page that is padded to a size, in bytes.
func page(word string, size int) finish.Document {
	content := "BT /F1 24 Tf 20 40 Td (" + word + ") Tj ET" + strings.Repeat(" ", size)
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 " +
			"R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
		fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content),
	}
	file, table := "%PDF-1.7\n", ""
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(file))
		file += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	file = fmt.Sprintf("%sxref\n0 5\n0000000000 65535 f \n%strailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", file, table, len(file))
	return finish.Document{Name: word, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(file)), nil }}
}

func TestMergeInAProcess(t *testing.T) {
	for name, protection := range map[string]*finish.Protection{"plain": nil, "protected": {UserPassword: "s3cret"}} {
		t.Run(name, func(t *testing.T) {
			var merged bytes.Buffer
			documents := []finish.Document{page("one", 0), page("two", pieceSize-700), page("three", 3*pieceSize)}
			if err := Merge(t.Context(), "/proc/self/exe", 0, documents, protection, &merged); err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			all := finish.Document{Password: "s3cret",
				Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(merged.Bytes())), nil }}
			if err := finish.Merge(&again, []finish.Document{all}, nil); err != nil {
				t.Fatal(err)
			}
			if pages, err := finish.Pages(again.Bytes()); pages != 3 || err != nil || !strings.Contains(again.String(), "(three)") {
				t.Errorf("%d pages, %v", pages, err)
			}
			if encrypted := strings.Contains(merged.String(), "/Encrypt"); encrypted != (protection != nil) {
				t.Errorf("encrypted: %t", encrypted)
			}
		})
	}
}

// Problems of a document are reported as such; errors of the server, and of the writer of the result, are passed on
// unchanged.
func TestMergeFailsInAProcess(t *testing.T) {
	broken := finish.Document{Name: "broken", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("no PDF")), nil }}
	err := Merge(t.Context(), "/proc/self/exe", 0, []finish.Document{page("one", 0), broken}, nil, io.Discard)
	if failed, ok := errors.AsType[*FailedError](err); !ok || !strings.Contains(failed.Message, `document "broken"`) {
		t.Errorf("a broken document: %v", err)
	}
	lost := errors.New("lost")
	gone := finish.Document{Name: "gone", Open: func() (io.ReadCloser, error) { return nil, lost }}
	if err := Merge(t.Context(), "/proc/self/exe", 0, []finish.Document{page("one", 0), gone}, nil, io.Discard); !errors.Is(err, lost) {
		t.Errorf("a document that is lost: %v", err)
	}
	torn := finish.Document{Name: "torn", Open: func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(lost)), nil }}
	if err := Merge(t.Context(), "/proc/self/exe", 0, []finish.Document{torn}, nil, io.Discard); !errors.Is(err, lost) {
		t.Errorf("a document that cannot be read: %v", err)
	}
	err = Merge(t.Context(), "/proc/self/exe", 0, []finish.Document{page("segfault", 0)}, nil, io.Discard)
	if died, ok := errors.AsType[*DiedError](err); !ok || died.How == "" || !strings.HasPrefix(died.Error(), "The process that merged") {
		t.Errorf("%v, want that the process died", err)
	}
}

func TestProcessEndsWithTask(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	time.AfterFunc(100*time.Millisecond, func() { cancel(stop) })
	if _, _, err := made(t, ctx, "{{a}}", `{"a":"hang"}`, Sources{}); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
}

func TestProcessRequestsFiles(t *testing.T) {
	asked := ""
	sources := Sources{Picture: func(_ context.Context, address string) ([]byte, error) {
		asked = address
		return nil, errors.New("is not to be had")
	}}
	_, report, err := made(t, t.Context(), "{{p :: image}}", `{"p":"https://example.com/a.png"}`, sources)
	if err != nil || asked != "https://example.com/a.png" || len(report.Errors) == 0 {
		t.Errorf("asked for %q: %v, %+v", asked, err, report)
	}
}
