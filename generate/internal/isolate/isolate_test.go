package isolate

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"platen/docx"
)

func TestMain(m *testing.M) {
	misbehave = func(o Order) {
		switch {
		case strings.Contains(string(o.Data), "segfault"):
			syscall.Kill(os.Getpid(), syscall.SIGSEGV) //nolint:errcheck // the test sees it
			select {}
		case strings.Contains(string(o.Data), "hang"):
			for {
				<-time.After(time.Hour)
			}
		case strings.Contains(string(o.Data), "memory"):
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
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", head + `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` +
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

func run(t *testing.T, ctx context.Context, text, data string, sources Sources) (string, docx.Report, error) { //nolint:revive // t first
	t.Helper()
	var made bytes.Buffer
	order := Order{Template: docxOf(t, text), Data: []byte(data), Now: time.Now(), Images: sources.Picture != nil, Memory: 512 << 20}
	report, err := Run(ctx, "/proc/self/exe", order, sources, &made)
	if err != nil {
		return "", report, err
	}
	z, err := zip.NewReader(bytes.NewReader(made.Bytes()), int64(made.Len()))
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

func TestADocumentInAProcess(t *testing.T) {
	xml, report, err := run(t, t.Context(), "Dear {{name}} {{gone}}", `{"name":"Ada"}`, Sources{})
	if err != nil || !strings.Contains(xml, "Dear Ada") || len(report.Errors) != 1 {
		t.Errorf("%v, %+v, %s", err, report, xml)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for _, tt := range []struct{ text, data, want string }{
		{"{{if a}}", `{}`, "The template cannot be used: "},
		{"{{a}}", `{`, "The input data cannot be read: "},
	} {
		_, _, err := run(t, t.Context(), tt.text, tt.data, Sources{})
		if failed, ok := errors.AsType[*FailedError](err); !ok || !strings.HasPrefix(failed.Message, tt.want) {
			t.Errorf("%s with %s: %v, want %s", tt.text, tt.data, err, tt.want)
		}
	}
}

func TestAProcessMayDie(t *testing.T) {
	for _, data := range []string{`{"a":"segfault"}`, `{"a":"memory"}`} {
		_, _, err := run(t, t.Context(), "{{a}}", data, Sources{})
		if died, ok := errors.AsType[*DiedError](err); !ok || died.How == "" {
			t.Errorf("%s: %v, want that the process died", data, err)
		}
	}
}

func TestAProcessEndsWithItsTask(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	time.AfterFunc(100*time.Millisecond, func() { cancel(stop) })
	if _, _, err := run(t, ctx, "{{a}}", `{"a":"hang"}`, Sources{}); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
}

func TestAProcessAsks(t *testing.T) {
	asked := ""
	sources := Sources{Picture: func(_ context.Context, address string) ([]byte, error) {
		asked = address
		return nil, errors.New("is not to be had")
	}}
	_, report, err := run(t, t.Context(), "{{p :: image}}", `{"p":"https://example.com/a.png"}`, sources)
	if err != nil || asked != "https://example.com/a.png" || len(report.Errors) == 0 {
		t.Errorf("asked for %q: %v, %+v", asked, err, report)
	}
}
