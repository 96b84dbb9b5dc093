package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platen/pdf/office"
)

// When a command is killed, its workers end too, and the next command removes their folders.
func TestKilledDuringPDFs(t *testing.T) {
	t.Parallel()
	if _, err := office.Find(""); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	work, in := filepath.Join(dir, "work"), filepath.Join(dir, "in")
	const documents = 500
	manyLetters(t, in, documents)
	convert := exec.CommandContext(t.Context(), "platen", "convert", in, "-o", filepath.Join(dir, "out"), "--pdf-folder="+work,
		"--pdf-workers=2")
	if err := convert.Start(); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(dir, "out", "*.pdf")
	awaitTrue(t, "PDFs are made", func() bool { return len(glob(t, made)) > 2 })
	if len(workersIn(t, work)) == 0 {
		t.Error("no worker runs")
	}
	if err := convert.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := convert.Wait(); err == nil {
		t.Fatal("it had ended: too late to show anything")
	}
	awaitTrue(t, "the workers end", func() bool { return len(workersIn(t, work)) == 0 })
	for _, path := range glob(t, made) {
		if content, err := os.ReadFile(path); err != nil || !strings.HasSuffix(strings.TrimSpace(string(content)), "%%EOF") {
			t.Errorf("%s is not whole (%v)", path, err)
		}
	}
	if left := glob(t, filepath.Join(work, "*")); len(left) != 1 {
		t.Errorf("%q is left, want the folder of the command", left)
	}
	platen(t, "convert", glob(t, filepath.Join(in, "*.docx"))[0], "-o", filepath.Join(dir, "one.pdf"), "--pdf-folder="+work)
	if left := glob(t, filepath.Join(work, "*")); len(left) != 0 {
		t.Errorf("%q is left", left)
	}
}

// manyLetters creates copies of a letter in a folder.
func manyLetters(t *testing.T, folder string, n int) {
	t.Helper()
	letter := exampleLetter(t)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.docx", i)), letter, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// workersIn returns the command lines of the workers with folders in a folder.
func workersIn(t *testing.T, folder string) (found []string) {
	t.Helper()
	for _, path := range glob(t, "/proc/[0-9]*/cmdline") {
		line, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(line), office.WorkerCommand) && strings.Contains(string(line), folder) {
			found = append(found, string(line))
		}
	}
	return found
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// awaitTrue waits until a condition holds.
func awaitTrue(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := until(ctx, func() (bool, error) { return holds(), nil }); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}
