package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"platen/docx/compile/compiletest"
	"platen/docx/expect"
)

// watching is a watcher in a test, which looks when the test says so.
type watching struct {
	*watcher
	t       *testing.T
	dir     string
	printed bytes.Buffer
	written time.Time // of the file that was written last
	ctx     context.Context
}

// watch begins to watch a folder with some files.
func watch(t *testing.T, cmd watchCmd, files map[string]string) *watching {
	t.Helper()
	w := &watching{t: t, dir: t.TempDir(), written: time.Now(), ctx: t.Context()}
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
		w.look(w.ctx)
	}
	return w.printed.String()
}

// names lists the entries of a folder.
func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return strings.Join(all, " ")
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
	if err != nil || !slices.ContainsFunc(lines, func(line expect.Line) bool { return line.Text == "Dear Ada!" }) {
		t.Errorf("the document is %v, error %v", lines, err)
	}

	// Mistakes, and differences. The documents of earlier runs are not taken for results.
	w.save("letter.docx", "Dear {{if name}}")
	mustPrint(t, w.looks(2), `: 1 mistake\n`, `removed the earlier document of ada\n`)
	w.save("letter.docx", "Dear {{name}}")
	w.save("letter.tests/bob.json", `{"name": "Bob"}`)
	mustPrint(t, w.looks(2), `ok    .*letter.docx: 2 samples\n`)
	w.write("letter.tests/out/notes.docx", "my own")
	w.save("letter.tests/ada.json", `[]`)
	if err := os.Remove(filepath.Join(w.dir, "letter.tests", "bob.json")); err != nil {
		t.Fatal(err)
	}
	mustPrint(t, w.looks(2), `FAIL  .*letter.docx: ada\n`, `removed the earlier documents of ada, bob\n`)
	if left := names(t, filepath.Join(w.dir, "letter.tests", "out")); left != "notes.docx" {
		t.Errorf("in the folder are %s", left)
	}
	w.save("letter.tests/ada.json", `{"name": "Ada"}`)
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
	mustPrint(t, w.looks(patientLooks+2), `the file is incomplete or damaged`)
}

func TestWatchOut(t *testing.T) {
	out := t.TempDir()
	w := watch(t, watchCmd{Out: out}, map[string]string{"a/letter.docx": "Dear", "a/letter.tests/ada.json": `{}`})
	w.save("a/letter.docx", "Hello")
	mustPrint(t, w.looks(2), `documents in `+out+`/a/letter\n`)
	if _, err := os.Stat(filepath.Join(out, "a", "letter", "ada.docx")); err != nil {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Fatal(err)
	}
	for dir, out := range map[string]string{
		w.dir: filepath.Join(w.dir, "documents"), w.dir + "/": filepath.Join(link, "new", "documents"), link: filepath.Join(w.dir, "a"),
		filepath.Join(w.dir, "a", "letter.docx"): filepath.Join(w.dir, "a", "letter.tests", "out"),
	} {
		cmd := watchCmd{Dir: dir, Out: out}
		if _, err := cmd.watcher(&w.printed); err == nil || !strings.Contains(err.Error(), "must be outside of") {
			t.Errorf("for templates in %s and documents in %s, the error is %v", dir, out, err)
		}
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(out, "a")), os.Symlink(filepath.Join(w.dir, "a"), filepath.Join(out, "a"))); err != nil {
		t.Fatal(err)
	}
	w.save("a/letter.docx", "Hello again")
	mustPrint(t, w.looks(2), `--out must be outside of`)
	if left := names(t, filepath.Join(w.dir, "a")); left != "letter.docx letter.tests" && left != "letter letter.docx letter.tests" {
		t.Errorf("in the folder are %s", left)
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

// A folder below that cannot be read is reported. The others are watched.
func TestWatchWithAFolderThatCannotBeRead(t *testing.T) {
	w := &watching{t: t, dir: deepFolder(t, len("/x.tests/.platen-12345678901234567890123456.tmp")), written: time.Now(), ctx: t.Context()}
	w.save("x.docx", "Dear")
	closeFolder(t, w.dir)
	watcher, err := (&watchCmd{Dir: w.dir}).watcher(&w.printed)
	if err != nil {
		t.Fatal(err)
	}
	if w.watcher = watcher; w.begin() != nil {
		t.Fatal(w.begin())
	}
	mustPrint(t, w.looks(10), `^The templates cannot be read: .*name too long. Watching continues.\n$`)
	w.save("x.docx", "Dear {{name}}")
	mustPrint(t, w.looks(2), `x.docx: no errors\n`)
}
