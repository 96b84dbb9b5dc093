package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platen/store"
)

func TestLockDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	lock, err := store.LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory %v, %v; want mode 0700", info, err)
	}
	_, err = store.LockDir(dir)
	if !errors.Is(err, store.ErrLocked) {
		t.Fatalf("second lock = %v, want ErrLocked", err)
	}
	for _, want := range []string{dir, fmt.Sprintf("pid %d", os.Getpid())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %q", err, want)
		}
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := store.LockDir(dir)
	if err != nil {
		t.Fatalf("after Unlock: %v", err)
	}
	if err := again.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestLockDirCannotBeCreated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.LockDir(file); err == nil || errors.Is(err, store.ErrLocked) {
		t.Errorf("LockDir of a file = %v, want another error than ErrLocked", err)
	}
}
