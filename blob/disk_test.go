package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"platen/blob"
	"platen/blob/blobtest"
)

func open(t testing.TB, dir string) blob.Store {
	t.Helper()
	s, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestDisk(t *testing.T) {
	for name, open := range map[string]func(string) (blob.Store, error){"drafts": blob.Open, "drafts with names": blob.OpenDiskNamed} {
		t.Run(name, func(t *testing.T) {
			blobtest.Run(t, func(t *testing.T) blob.Store {
				dir := filepath.Join(t.TempDir(), "made", "by", "open")
				s, err := open(dir)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { wantTemporary(t, dir, 0) })
				return s
			})
		})
	}
}

// wantTemporary fails the test unless a store has the given number of temporary files.
func wantTemporary(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(dir, "tmp", "*", "*"))
	if err != nil || len(entries) != want {
		t.Errorf("%d temporary files, %v, want %d", len(entries), err, want)
	}
}

func TestOpenLocation(t *testing.T) {
	dir := t.TempDir()
	for _, location := range []string{dir, "file://" + dir} {
		if err := open(t, location).Check(t.Context()); err != nil {
			t.Errorf("%s: %v", location, err)
		}
		if folder, ok := blob.Folder(location); folder != dir || !ok {
			t.Errorf("Folder(%q) = %q, %v, want %q", location, folder, ok, dir)
		}
	}
	missing := filepath.Join(dir, "missing")
	if _, err := blob.OpenExisting(missing); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("OpenExisting of a missing directory = %v, want ErrNotExist", err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("OpenExisting made the directory")
	}
	existing, err := blob.OpenExisting("file://" + dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := existing.Close(); err != nil {
		t.Error(err)
	}
	for _, location := range []string{"gopher://x", "file://host/x", "http://[::1"} {
		if _, err := blob.Open(location); err == nil {
			t.Errorf("Open(%q) succeeded", location)
		}
		if folder, ok := blob.Folder(location); ok {
			t.Errorf("Folder(%q) = %q, want none", location, folder)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.Open(file); err == nil {
		t.Error("Open of a file succeeded")
	}
}

func TestObjectsSurviveReopening(t *testing.T) {
	dir := t.TempDir()
	if _, err := open(t, dir).Put(t.Context(), "a/b", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if got, err := blob.ReadAll(t.Context(), open(t, dir), "a/b", 1); string(got) != "x" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOpenRemovesDrafts(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "tmp", "7f"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"stale": 2 * time.Hour, "being-written": 0} {
		path := filepath.Join(dir, "tmp", "7f", name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir)
	wantTemporary(t, dir, 1)
	if _, err := os.Stat(filepath.Join(dir, "tmp", "7f", "being-written")); err != nil {
		t.Error(err)
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		full := &os.PathError{Op: "write", Path: "x", Err: errno}
		if _, err := s.Put(t.Context(), "k", iotest.ErrReader(full)); !errors.Is(err, blob.ErrNoSpace) {
			t.Errorf("%v is told as %v, want ErrNoSpace", errno, err)
		}
	}
	wantTemporary(t, dir, 0)
}

// TestLinksOutOfTheStoreAreNotFollowed puts symbolic links among the objects.
func TestLinksOutOfTheStoreAreNotFollowed(t *testing.T) {
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	if _, err := s.Put(t.Context(), "k", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	objects, err := filepath.Glob(filepath.Join(dir, "*", "k"))
	if err != nil || len(objects) != 1 {
		t.Fatal(objects, err)
	}
	if err := errors.Join(os.Remove(objects[0]), os.Symlink(secret, objects[0])); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Open(t.Context(), "k", 0, -1); err == nil {
		r.Close()
		t.Error("a link out of the store was followed")
	}
}

func TestCheckFindsDeletedStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if s.Check(t.Context()) == nil {
		t.Error("Check = nil")
	}
}

func FuzzKey(f *testing.F) {
	for _, key := range []string{"a", "a/b.c-d_e", "../a", "a//b", ".", "ä", "\x00"} {
		f.Add(key)
	}
	dir := f.TempDir()
	s := open(f, filepath.Join(dir, "store"))
	f.Fuzz(func(t *testing.T, key string) {
		_, err := s.Put(t.Context(), key, strings.NewReader(key))
		if wrong := blob.CheckKey(key); wrong != nil {
			if !errors.Is(err, blob.ErrKey) {
				t.Errorf("Put(%q) = %v, want ErrKey", key, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := blob.ReadAll(t.Context(), s, key, blob.MaxKeyLength); string(got) != key || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if err := s.Delete(t.Context(), key); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
			t.Errorf("beside the store: %v, %v", entries, err)
		}
	})
}

// TestLargeFilesArePaced checks that a large file is passed to the disk while it is written, so that at most two parts wait in memory.
func TestLargeFilesArePaced(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 5*blob.Pace + 1
	var begun, arrived int64
	_, err = blob.WritePaced(f, io.LimitReader(zeros{}, size), func(end int64) {
		if begun = end; begun-arrived > 2*blob.Pace {
			t.Errorf("%d bytes wait for the disk at once", begun-arrived)
		}
	}, func(end int64) { arrived = end })
	if err != nil {
		t.Fatal(err)
	}
	if begun != 5*blob.Pace || arrived != 4*blob.Pace {
		t.Errorf("%d bytes were handed to the disk, and %d awaited", begun, arrived)
	}
	if info, err := f.Stat(); err != nil || info.Size() != size {
		t.Errorf("the file is %v, %v", info, err)
	}
}

// zeros is a reader that never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

const documentSize = 20 << 10 // bytes of a small document

func BenchmarkPut(b *testing.B) {
	s, content := open(b, b.TempDir()), bytes.Repeat([]byte("x"), documentSize)
	b.SetBytes(documentSize)
	n := 0
	for b.Loop() {
		n++
		if _, err := s.Put(b.Context(), fmt.Sprint(n), bytes.NewReader(content)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutParallel runs 16 Puts at a time. The file system lets their fsyncs share commits of its journal.
func BenchmarkPutParallel(b *testing.B) {
	s, content := open(b, b.TempDir()), bytes.Repeat([]byte("x"), documentSize)
	b.SetBytes(documentSize)
	b.SetParallelism(4)
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Put(b.Context(), fmt.Sprint(n.Add(1)), bytes.NewReader(content)); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkPutBesideLarge puts small objects while four large ones are being put at any time, and reports the longest times.
func BenchmarkPutBesideLarge(b *testing.B) {
	const large = 256 << 20
	s, content := open(b, b.TempDir()), bytes.Repeat([]byte("x"), documentSize)
	ctx, cancel := context.WithCancel(b.Context())
	var others sync.WaitGroup
	for i := range 4 {
		others.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("large/%d/%d", i, n)
				if _, err := s.Put(ctx, key, io.LimitReader(zeros{}, large)); err != nil && ctx.Err() == nil {
					b.Error(err)
				}
				if err := s.Delete(b.Context(), key); err != nil && ctx.Err() == nil {
					b.Error(err)
				}
			}
		})
	}
	var times []time.Duration
	for b.Loop() {
		begun := time.Now()
		if _, err := s.Put(b.Context(), fmt.Sprint(len(times)), bytes.NewReader(content)); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begun))
	}
	b.StopTimer()
	cancel()
	others.Wait()
	slices.Sort(times)
	b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "p99-ms")
	b.ReportMetric(times[len(times)-1].Seconds()*1000, "longest-ms")
}

// BenchmarkPutFloor measures the minimum cost of a durable file: write, fsync, rename, and fsync of the directory.
func BenchmarkPutFloor(b *testing.B) {
	dir, content := b.TempDir(), bytes.Repeat([]byte("x"), documentSize)
	folder, err := os.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	b.SetBytes(documentSize)
	n := 0
	for b.Loop() {
		n++
		if err := durableFile(folder, filepath.Join(dir, fmt.Sprint(n)), content); err != nil {
			b.Fatal(err)
		}
	}
}

func durableFile(folder *os.File, path string, content []byte) error {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close(), os.Rename(path+".tmp", path), folder.Sync())
}

func BenchmarkOpen(b *testing.B) {
	s, content := open(b, b.TempDir()), bytes.Repeat([]byte("x"), documentSize)
	if _, err := s.Put(b.Context(), "k", bytes.NewReader(content)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(documentSize)
	for b.Loop() {
		if _, err := blob.ReadAll(b.Context(), s, "k", documentSize); err != nil {
			b.Fatal(err)
		}
	}
}
