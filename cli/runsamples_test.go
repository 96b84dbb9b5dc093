package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platen/docx"
)

// deepFolder returns a folder in which a path may have only some more bytes. Files below with a longer path cannot be opened, by any user.
func deepFolder(t *testing.T, more int) string {
	t.Helper()
	const longest = 4095 // bytes of a path
	folder := t.TempDir()
	for room := longest - more - len(folder); room > 1; room = longest - more - len(folder) {
		folder += "/" + strings.Repeat("f", min(room-1, 200))
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

// closeFolder creates a folder in another one that cannot be read.
func closeFolder(t *testing.T, deep string) {
	t.Helper()
	root, err := os.OpenRoot(deep)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(root.Mkdir(strings.Repeat("s", 100), 0o755), root.Close()); err != nil {
		t.Fatal(err)
	}
}

// A folder that cannot be read is an error, but does not hide the results of other folders.
func TestFolderThatCannotBeRead(t *testing.T) {
	w := &watching{t: t, dir: deepFolder(t, len("/x.tests/.platen-12345678901234567890123456.tmp"))}
	w.save("x.docx", "Dear {{name}}")
	w.write("x.tests/a.json", `{"name": "Ada"}`)
	closeFolder(t, w.dir)
	tests, problems, err := findTests(w.dir)
	if err != nil || len(tests) != 1 || len(tests[0].samples) != 1 || len(problems) != 1 || !strings.Contains(problems[0], "name too long") {
		t.Errorf("%d templates, the problems %q, error %v", len(tests), problems, err)
	}
}

// A golden document that cannot be written is not reported as written, and the differences stay.
func TestUpdateThatFails(t *testing.T) {
	// The golden document can be read, but the path of a temporary file next to it is too long.
	folder := deepFolder(t, len("/x.tests/a.docx"))
	w := &watching{t: t, dir: folder}
	w.save("x.docx", "Dear {{name}}")
	w.write("x.tests/a.json", `{"name": "Ada"}`)
	w.save("x.tests/a.docx", "Dear Bob")
	r := &sampleRunner{update: true}
	tests := testsOf(filepath.Join(folder, "x.docx"))
	report := newTestReport([]testedTemplate{r.run(t.Context(), &tests, func() (*docx.Template, error) {
		return parseTemplate(tests.path)
	})})
	var printed strings.Builder
	if err := report.print(&printed); err != nil {
		t.Fatal(err)
	}
	mustPrint(t, printed.String(), `^FAIL  `, `want: Dear Bob\n`, `got:  Dear Ada\n`, `a.docx was not written: .*name too long`, `1 failed\n$`)
	if strings.Contains(printed.String(), "wrote") || report.Updated != 0 {
		t.Errorf("it prints\n%s", printed.String())
	}
}
