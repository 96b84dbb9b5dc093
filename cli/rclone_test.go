package cli

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // names the content of files
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An rcloned is a server as the unmodified rclone sees it: the hosted service, with an account.
type rcloned struct {
	t      *testing.T
	env    []string
	hosted *hosted
}

// newRcloned starts a server with --compat box, and configures rclone for a new user.
func newRcloned(t *testing.T) *rcloned {
	t.Helper()
	needProgram(t, "rclone")
	data := t.TempDir()
	server := newServer(t, data, "--compat=box", "--base-url=https://api.box.com", "--rate-requests=-1", "--rate-uploads=-1")
	visitor := newVisitor(t, server, "--data="+data)
	h := hostedAt(t, server.url)
	env := append(os.Environ(), h.env()...)
	env = append(env, "RCLONE_CONFIG="+filepath.Join(t.TempDir(), "none"), "RCLONE_CACHE_DIR="+t.TempDir(),
		"RCLONE_CONFIG_PLATEN_TYPE=box", "RCLONE_CONFIG_PLATEN_ACCESS_TOKEN="+visitor.token)
	return &rcloned{t, env, h}
}

// rclone runs a command that must succeed at the first attempt, and returns its output.
func (r *rcloned) rclone(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *rcloned) try(args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(r.t.Context(), "rclone", append(args, "--retries=1", "--low-level-retries=1")...)
	cmd.Env, cmd.Stdout, cmd.Stderr = r.env, &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("rclone %s: %w\n%s%s", strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), err
}

// A localTree is the files of a folder, by path: their content and when they were modified.
type localTree map[string]string

func treeOf(t *testing.T, folder string) localTree {
	t.Helper()
	tree := localTree{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		tree[name] = fmt.Sprintf("%x %s", sha1.Sum(content), info.ModTime().UTC().Format(time.RFC3339)) //nolint:gosec // see above
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// write creates a file that was modified at a time.
func write(t *testing.T, folder, name, content string, modified time.Time) {
	t.Helper()
	path := filepath.Join(folder, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err = errors.Join(err, os.Chtimes(path, modified, modified)); err != nil {
		t.Fatal(err)
	}
}

// files is the number of files of TestRcloneSync, without those that the test adds.
const files = 1000

// TestRclone uses a server with the commands of rclone that change single files and folders.
func TestRclone(t *testing.T) {
	r := newRcloned(t)
	t.Parallel()
	past := time.Date(2020, 2, 29, 12, 30, 15, 0, time.UTC)
	here, there := t.TempDir(), t.TempDir()
	write(t, here, "a.txt", "first", past)
	write(t, here, "Büro/ leading space.txt", "second", past.Add(time.Hour))
	write(t, here, "Büro/trailing space ", "third", past.Add(time.Hour))
	write(t, here, "Büro/100% “quoted” & more", "fourth", past)
	write(t, here, "deep/er/and/deeper/empty", "", past.Add(2*time.Hour))
	tree := treeOf(t, here)

	r.rclone("copy", here, "platen:up")
	r.rclone("check", here, "platen:up")
	r.rclone("check", "--download", here, "platen:up")
	r.rclone("copy", "platen:up", there)
	want := func(folder string) {
		t.Helper()
		if diff := cmp.Diff(tree, treeOf(t, folder)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	want(there)

	// Copies, moves, and changes in the server.
	r.rclone("copy", "platen:up", "platen:copied")
	r.rclone("check", here, "platen:copied")
	r.rclone("moveto", "platen:copied/a.txt", "platen:copied/deep/b.txt")
	r.rclone("move", "platen:copied/Büro", "platen:moved/Büro")
	r.rclone("touch", "--timestamp=2019-01-02T03:04:05", "platen:copied/deep/b.txt")
	r.rclone("deletefile", "platen:copied/deep/er/and/deeper/empty")
	r.rclone("rmdir", "platen:copied/deep/er/and/deeper")
	listed := r.rclone("lsf", "-R", "--files-only", "--format=tps", "--separator=|", "platen:copied")
	if want := "2019-01-02 03:04:05|deep/b.txt|5"; strings.TrimSpace(listed) != want {
		t.Errorf("the copy has %s, want %s", listed, want)
	}
	if text := r.rclone("cat", "--offset=2", "--count=3", "platen:copied/deep/b.txt"); text != "rst" {
		t.Errorf("a part of the file is %q", text)
	}
	r.rclone("check", filepath.Join(here, "Büro"), "platen:moved/Büro")

	// A new version, and another time for the same content.
	write(t, here, "a.txt", "new content", past.Add(3*time.Hour))
	write(t, here, "Büro/ leading space.txt", "second", past.Add(4*time.Hour))
	tree = treeOf(t, here)
	r.rclone("copy", here, "platen:up")
	r.rclone("copy", "platen:up", there)
	want(there)

	r.rclone("purge", "platen:up")
	r.rclone("delete", "platen:moved")
	if listed := r.rclone("lsf", "-R", "--files-only", "platen:"); listed != "deep/b.txt\n" && listed != "copied/deep/b.txt\n" {
		t.Errorf("the files are %s", listed)
	}
	r.rclone("cleanup", "platen:") // deletes everything in the trash permanently
	if about := r.rclone("about", "--json", "platen:"); !strings.Contains(about, `"used": 5`) {
		t.Errorf("the account is %s", about)
	}
	if link := r.rclone("link", "platen:copied/deep/b.txt"); !strings.HasPrefix(link, "https://api.box.com/s/") {
		t.Errorf("a link: %s", link)
	}
}

// TestRcloneLarge copies a file that rclone uploads in parts, and then a new version of it.
func TestRcloneLarge(t *testing.T) {
	r := newRcloned(t)
	t.Parallel()
	past := time.Date(2020, 2, 29, 12, 30, 15, 0, time.UTC)
	here, there := t.TempDir(), t.TempDir()
	const size = 55_000_000 // rclone uploads up to 50 MiB in one piece
	for _, line := range []string{"a line of a large file\n", "a line of its second version\n"} {
		write(t, here, "large.txt", strings.Repeat(line, size/len(line)), past)
		r.rclone("copy", here, "platen:large")
		r.rclone("check", here, "platen:large")
		r.rclone("copy", "platen:large", there)
		if diff := cmp.Diff(treeOf(t, here), treeOf(t, there)); diff != "" {
			t.Errorf("-here +there:\n%s", diff)
		}
		past = past.AddDate(0, 1, 0)
	}
	for _, want := range []string{"POST /api/2.0/files/upload_sessions ", "PUT /api/2.0/files/upload_sessions/", "/commit 201"} {
		if !slices.ContainsFunc(r.hosted.requests(), func(request string) bool { return strings.Contains(request, want) }) {
			t.Errorf("rclone sent no %s", want)
		}
	}
}

// TestRcloneSync synchronizes a folder in both directions.
func TestRcloneSync(t *testing.T) {
	r := newRcloned(t)
	t.Parallel()
	count := files
	if testing.Short() {
		count = 60
	}
	past := time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)
	here, there := t.TempDir(), t.TempDir()
	name := func(i int) string { return fmt.Sprintf("folder %d/file %d.txt", i%17, i) }
	for i := range count {
		write(t, here, name(i), strings.Repeat(fmt.Sprint(i, " "), i%50), past.Add(time.Duration(i)*time.Minute))
	}
	same := func() {
		t.Helper()
		if diff := cmp.Diff(treeOf(t, here), treeOf(t, there)); diff != "" {
			t.Errorf("-here +there:\n%s", diff)
		}
	}
	r.rclone("sync", here, "platen:synced")
	r.rclone("check", here, "platen:synced")
	r.rclone("sync", "platen:synced", there)
	same()

	// Changes here reach the other side, and those there come back.
	for i := range count / 10 {
		write(t, here, name(i), "changed "+strconv.Itoa(i), past.AddDate(1, 0, i))
		write(t, here, "new "+name(i), "new", past.AddDate(2, 0, i))
		if err := os.Remove(filepath.Join(here, name(count/2+i))); err != nil {
			t.Fatal(err)
		}
	}
	r.rclone("sync", here, "platen:synced")
	r.rclone("sync", "platen:synced", there)
	same()
	for i := range count / 10 {
		write(t, there, name(i), "changed again "+strconv.Itoa(i), past.AddDate(3, 0, i))
		if err := os.Remove(filepath.Join(there, "new "+name(i))); err != nil {
			t.Fatal(err)
		}
	}
	r.rclone("sync", there, "platen:synced")
	r.rclone("sync", "platen:synced", here)
	same()

	before := len(r.hosted.requests())
	r.rclone("sync", here, "platen:synced")
	for _, request := range r.hosted.requests()[before:] {
		if !strings.HasPrefix(request, "GET /2.0/folders/") {
			t.Errorf("with nothing to do, rclone sent %s", request)
		}
	}
}
