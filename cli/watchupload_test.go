package cli

import (
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"platen/client"
)

// uploads looks until a save is handled, waits for all uploads, and returns what was printed.
func (w *watching) uploads() string {
	w.t.Helper()
	w.looks(2)
	for w.upload.current != "" {
		w.upload.end(w.t.Context(), &w.printed, <-w.upload.done)
	}
	return w.printed.String()
}

// Templates without mistakes are uploaded. The next save tries a failed upload again.
func TestWatchUploads(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	folder := v.mustFolder("Templates")
	cmd := watchCmd{Folder: folder, remote: remote{Server: server.url, Token: v.token}}
	w := watch(t, cmd, map[string]string{"letter.docx": "Dear", "letter.tests/ada.json": `{"name": "Ada", "city": "Rome"}`})
	mustPrint(t, w.printed.String(), `uploading to folder `+folder)

	w.save("letter.docx", "Dear {{name}}")
	printed := w.uploads()
	mustPrint(t, printed, `uploaded as version \d+ of file \d+\n`)
	id := regexp.MustCompile(`of file (\d+)`).FindStringSubmatch(printed)[1]
	if _, err := v.GetTemplate(t.Context(), id); err != nil {
		t.Error(err)
	}
	w.save("letter.docx", "Dear {{name}} from {{city}}")
	mustPrint(t, w.uploads(), `uploaded as version \d+ of file `+id+`\n`, `the data now needs: city\n`)
	versions, err := v.ListVersions(t.Context(), id, &client.ListVersionsParams{})
	if err != nil || len(versions.JSON200.Entries) != 1 {
		t.Errorf("there are other former versions than one: %v, error %v", versions.JSON200, err)
	}

	w.save("letter.docx", "Dear {{if name}}")
	mustPrint(t, w.uploads(), `1 mistake`, `not uploaded\n`)
	w.save("letter.docx", "Dear {{missing}}")
	mustPrint(t, w.uploads(), `FAIL`, `not uploaded\n`)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := "http://" + free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	api := w.upload.api
	w.upload.api = client.New(away, v.token)
	w.save("letter.docx", "Hello {{name}}")
	mustPrint(t, w.uploads(), `not uploaded: .*connection refused. The next save tries again.\n`)
	w.upload.api = api
	w.save("letter.docx", "Hello, {{name}}")
	mustPrint(t, w.uploads(), `uploaded as version \d+ of file `+id+`\n`)

	// A file that is saved during the check is checked again. What is uploaded is what was checked.
	now := w.now
	w.now = func() time.Time {
		w.now = now
		w.save("letter.docx", "Hello {{missing}}")
		return now()
	}
	w.save("letter.docx", "Good morning {{name}}")
	mustPrint(t, w.uploads(), `uploaded as version \d+ of file `+id+`\n`)
	reading, err := v.ListTags(t.Context(), id, &client.ListTagsParams{})
	if err != nil || len(reading.JSON200.Entries) != 1 || reading.JSON200.Entries[0].TagContent != "{{name}}" {
		t.Errorf("the server has the tags %v, error %v", reading.JSON200, err)
	}
	mustPrint(t, w.uploads(), `FAIL`, `not uploaded\n`)

	// Two templates of the same name would replace each other.
	w.save("sub/letter.docx", "Other")
	mustPrint(t, w.uploads(), `not uploaded: .*letter.docx has the same name`)
}

// A server that does not answer does not keep the watcher from checking what is saved.
func TestWatchWithASilentServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := silent.Close(); err != nil {
			t.Error(err)
		}
	})
	cmd := watchCmd{Folder: "7", remote: remote{Server: "http://" + silent.Addr().String(), Token: "token"}}
	w := watch(t, cmd, map[string]string{"a.docx": "Dear", "b.docx": "Dear"})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w.ctx = ctx
	w.save("a.docx", "Dear {{name}}")
	mustPrint(t, w.looks(2), `a.docx: no errors\n    uploading\n`)
	for _, text := range []string{"Hello", "Hello again"} {
		w.save("b.docx", text)
		mustPrint(t, w.looks(2), `b.docx: no errors\n    uploaded later: the server has been busy with .*a.docx for \d+ s\n`)
	}
	if len(w.upload.waiting) != 1 {
		t.Errorf("%d uploads wait, want the last content of one template", len(w.upload.waiting))
	}
	w.save("a.docx", "Dear {{if name}}")
	mustPrint(t, w.looks(2), `1 mistake`)

	w.printed.Reset()
	stop()
	w.upload.end(ctx, &w.printed, <-w.upload.done)
	mustPrint(t, w.printed.String(), `a.docx\n    not uploaded: interrupted. `, `b.docx\n    not uploaded\n$`)

	w = watch(t, cmd, map[string]string{"a.docx": "Dear"})
	w.upload.longest = time.Millisecond
	if err := w.upload.check(t.Context(), &w.printed); err != nil {
		t.Error(err)
	}
	mustPrint(t, w.printed.String(), `Templates cannot be uploaded now: the server does not answer. Watching continues`)
	w.save("a.docx", "Dear {{name}}")
	mustPrint(t, w.uploads(), `    uploading\n`, `    not uploaded: the server does not answer. The next save tries again.\n$`)
}

// A wrong token or folder ends the command when it begins.
func TestWatchChecksTheServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	dir := t.TempDir()
	for name, tt := range map[string]struct{ folder, token, want string }{
		"token":  {"0", "wrong", "401"},
		"folder": {"4711", v.token, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := watchCmd{Dir: dir, Folder: tt.folder, Poll: time.Second, remote: remote{Server: server.url, Token: tt.token}}
			err := cmd.Run(t.Context(), &streams{out: io.Discard})
			if err == nil || !strings.Contains(err.Error(), "cannot be uploaded to folder "+tt.folder) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %s", err, tt.want)
			}
		})
	}
	w := watch(t, watchCmd{Folder: "0", remote: remote{Server: server.url, Token: v.token}}, nil)
	w.printed.Reset()
	if err := w.upload.check(t.Context(), &w.printed); err != nil || w.printed.Len() > 0 {
		t.Errorf("with a folder and a token that are right: %v\n%s", err, &w.printed)
	}
}
