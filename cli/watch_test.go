package cli

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"platen/client"
	"platen/docx/compile/compiletest"
)

// watching is a watcher in a test, which looks when the test says so.
type watching struct {
	*watcher
	t       *testing.T
	dir     string
	printed bytes.Buffer
	written time.Time // of the file that was written last
}

// watch begins to watch a folder with some files.
func watch(t *testing.T, cmd watchCmd, files map[string]string) *watching {
	t.Helper()
	w := &watching{t: t, dir: t.TempDir(), written: time.Now()}
	for name, content := range files {
		w.save(name, content)
	}
	cmd.Dir = w.dir
	watcher, err := cmd.watcher(&w.printed)
	if err != nil {
		t.Fatal(err)
	}
	w.watcher = watcher
	if err := w.begin(); err != nil {
		t.Fatal(err)
	}
	return w
}

// save writes a file. A name that ends in .docx gets a document with the content as its only paragraph. Each file is newer than the last.
func (w *watching) save(name, content string) {
	w.t.Helper()
	if strings.HasSuffix(name, wordExtension) && content != "" {
		content = string(compiletest.Build(w.t, map[string]string{"document.xml": "<w:p><w:r><w:t>" + content + "</w:t></w:r></w:p>"}))
	}
	w.write(name, content)
}

func (w *watching) write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	w.written = w.written.Add(time.Second)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err := errors.Join(err, os.WriteFile(path, []byte(content), 0o644), os.Chtimes(path, w.written, w.written)); err != nil {
		w.t.Fatal(err)
	}
}

// looks calls look several times, and returns what was printed.
func (w *watching) looks(n int) string {
	w.t.Helper()
	w.printed.Reset()
	for range n {
		w.look(w.t.Context())
	}
	return w.printed.String()
}

func mustPrint(t *testing.T, printed string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(printed) {
			t.Errorf("no %s in\n%s", pattern, printed)
		}
	}
}

func TestWatch(t *testing.T) {
	w := watch(t, watchCmd{}, map[string]string{
		"letter.docx": "Dear {{name}}", "letter.tests/ada.json": `{"name": "Ada"}`,
		"letter.tests/ada.expect.json": `{"contains": ["Dear Ada"]}`,
		"main.docx":                    `{{include "part.docx"}}`, "part.docx": "part",
	})
	mustPrint(t, w.printed.String(), `^Watching 3 templates in `)
	if printed := w.looks(4); printed != "" {
		t.Errorf("without a change, it prints\n%s", printed)
	}

	// Each save is handled once, after the file has stopped changing.
	w.save("letter.docx", "Dear {{name}}!")
	if printed := w.looks(1); printed != "" {
		t.Errorf("while the file may still change, it prints\n%s", printed)
	}
	mustPrint(t, w.looks(1), `letter.docx\n`, `letter.docx: no errors\n`, `ok    .*letter.docx: 1 sample\n`,
		`documents in .*letter.tests/out\n`)
	if printed := w.looks(4); printed != "" {
		t.Errorf("after the change, it prints\n%s", printed)
	}
	lines, err := outlineOf(filepath.Join(w.dir, "letter.tests", "out", "ada.docx"))
	if err != nil || lines[len(lines)-1].Text != "Dear Ada!" {
		t.Errorf("the document is %v, error %v", lines, err)
	}

	// Mistakes, and differences.
	w.save("letter.docx", "Dear {{if name}}")
	mustPrint(t, w.looks(2), `: 1 mistake\n`)
	w.save("letter.docx", "Hello {{name}}")
	mustPrint(t, w.looks(2), `FAIL  .*letter.docx: ada\n`, `want: Dear Ada`)
	w.save("letter.tests/ada.expect.json", `{"contain": []}`)
	mustPrint(t, w.looks(2), `there is no field "contain"`)
	w.save("letter.tests/ada.expect.json", `{"contains": ["Hello"]}`)
	mustPrint(t, w.looks(2), `ok    .*letter.docx: 1 sample\n`)

	// A changed part affects the template that includes it.
	w.save("part.docx", "other {{part}}")
	if printed := w.looks(2); strings.Count(printed, "no errors") != 2 || !strings.Contains(printed, "main.docx") {
		t.Errorf("for two templates, it prints\n%s", printed)
	}
}

// Word writes to temporary files, renames, and leaves locks. Other programs write in several steps.
func TestWatchWhileProgramsSave(t *testing.T) {
	w := watch(t, watchCmd{}, map[string]string{"letter.docx": "Dear"})
	w.write("~$letter.docx", "lock")
	w.write(".~lock.letter.docx#", "lock")
	w.write("~WRL0001.tmp", "half")
	if printed := w.looks(3); printed != "" {
		t.Errorf("for temporary files, it prints\n%s", printed)
	}
	full := string(compiletest.Build(t, map[string]string{"document.xml": `<w:p><w:r><w:t>Hello</w:t></w:r></w:p>`}))
	w.write("letter.docx", full[:len(full)/2])
	if printed := w.looks(3); printed != "" {
		t.Errorf("for half a file, it prints\n%s", printed)
	}
	w.write("letter.docx", full)
	mustPrint(t, w.looks(2), `letter.docx: no errors\n`)
	if err := os.Remove(filepath.Join(w.dir, "letter.docx")); err != nil {
		t.Fatal(err)
	}
	if printed := w.looks(3); printed != "" {
		t.Errorf("for a removed file, it prints\n%s", printed)
	}
	w.save("letter.docx", "Back {{again}}")
	mustPrint(t, w.looks(2), `letter.docx: no errors\n`)
	w.write("letter.docx", "PK no document")
	mustPrint(t, w.looks(patientLooks+2), `the file is damaged`)
}

func TestWatchOut(t *testing.T) {
	out := t.TempDir()
	w := watch(t, watchCmd{Out: out}, map[string]string{"a/letter.docx": "Dear", "a/letter.tests/ada.json": `{}`})
	w.save("a/letter.docx", "Hello")
	mustPrint(t, w.looks(2), `documents in `+out+`/a/letter\n`)
	if _, err := os.Stat(filepath.Join(out, "a", "letter", "ada.docx")); err != nil {
		t.Error(err)
	}
	cmd := watchCmd{Dir: w.dir, Out: filepath.Join(w.dir, "documents")}
	if _, err := cmd.watcher(&w.printed); err == nil || !strings.Contains(err.Error(), "must be outside of") {
		t.Errorf("for a folder among the templates, the error is %v", err)
	}
}

// The command handles saves until it is interrupted.
func TestWatchCommand(t *testing.T) {
	t.Parallel()
	w := &watching{t: t, dir: t.TempDir(), written: time.Now()}
	w.save("letter.docx", "Dear")
	cmd := exec.CommandContext(t.Context(), "platen", "watch", w.dir, "--poll=50ms")
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	command := &listeningCommand{cmd, newPrinted(out), newPrinted(strings.NewReader(""))}
	command.lines.await(t, `^Watching 1 template in `)
	w.save("letter.docx", "Dear {{name}}")
	command.lines.await(t, `letter.docx: no errors$`)
	command.lines.await(t, `^    done in `)
	command.interrupt(t)
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
	printed := w.looks(2)
	mustPrint(t, printed, `uploaded as version \d+ of file \d+\n`)
	id := regexp.MustCompile(`of file (\d+)`).FindStringSubmatch(printed)[1]
	if _, err := v.GetTemplate(t.Context(), id); err != nil {
		t.Error(err)
	}
	w.save("letter.docx", "Dear {{name}} from {{city}}")
	mustPrint(t, w.looks(2), `uploaded as version \d+ of file `+id+`\n`, `the data now needs: city\n`)
	versions, err := v.ListVersions(t.Context(), id, &client.ListVersionsParams{})
	if err != nil || len(versions.JSON200.Entries) != 1 {
		t.Errorf("there are other former versions than one: %v, error %v", versions.JSON200, err)
	}

	w.save("letter.docx", "Dear {{if name}}")
	mustPrint(t, w.looks(2), `1 mistake`, `not uploaded\n`)
	w.save("letter.docx", "Dear {{missing}}")
	mustPrint(t, w.looks(2), `FAIL`, `not uploaded\n`)
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
	mustPrint(t, w.looks(2), `not uploaded: .*connection refused. The next save tries again.\n`)
	w.upload.api = api
	w.save("letter.docx", "Hello, {{name}}")
	mustPrint(t, w.looks(2), `uploaded as version \d+ of file `+id+`\n`)

	// A file that is saved during the check is checked again. What is uploaded is what was checked.
	now := w.now
	w.now = func() time.Time {
		w.now = now
		w.save("letter.docx", "Hello {{missing}}")
		return now()
	}
	w.save("letter.docx", "Good morning {{name}}")
	mustPrint(t, w.looks(2), `uploaded as version \d+ of file `+id+`\n`)
	reading, err := v.ListTags(t.Context(), id, &client.ListTagsParams{})
	if err != nil || len(reading.JSON200.Entries) != 1 || reading.JSON200.Entries[0].TagContent != "{{name}}" {
		t.Errorf("the server has the tags %v, error %v", reading.JSON200, err)
	}
	mustPrint(t, w.looks(2), `FAIL`, `not uploaded\n`)

	// Two templates of the same name would replace each other.
	w.save("sub/letter.docx", "Other")
	mustPrint(t, w.looks(2), `not uploaded: .*letter.docx has the same name`)
}

// A folder that cannot be read for a while, such as a network drive, is reported once, and its end too.
func TestWatchWithoutItsFolder(t *testing.T) {
	w := watch(t, watchCmd{}, map[string]string{"letter.docx": "Dear"})
	away := w.dir + ".away"
	if err := os.Rename(w.dir, away); err != nil {
		t.Fatal(err)
	}
	if printed := w.looks(patientLooks - 1); printed != "" {
		t.Errorf("at once, it prints\n%s", printed)
	}
	mustPrint(t, w.looks(10), `^The templates cannot be read: .*\. Watching continues\.\n$`)
	if err := os.Rename(away, w.dir); err != nil {
		t.Fatal(err)
	}
	mustPrint(t, w.looks(10), `^.* can be read again\.\n$`)
	w.save("letter.docx", "Dear {{name}}")
	mustPrint(t, w.looks(2), `letter.docx: no errors\n`)
}
