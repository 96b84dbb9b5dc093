package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	lockName     = "platen.lock"
	lockPoll     = 20 * time.Millisecond
	maxPIDLength = 20 // bytes
)

// ErrLocked is returned when another process holds a lock.
var ErrLocked = errors.New("in use by another process")

// DirLock is the exclusive right to run a server on a data directory. It ends with [DirLock.Unlock], or when the process ends in any way.
type DirLock struct{ file *os.File }

// LockDir creates dir if it is missing, and locks it for this process. If another process holds the lock, the error wraps [ErrLocked] and
// names the directory and that process.
func LockDir(dir string) (*DirLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	f, err := lockFile(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("lock data directory %s: %w", dir, err)
	}
	return &DirLock{f}, nil
}

// Unlock releases the directory.
func (l *DirLock) Unlock() error { return l.file.Close() }

// lockFile locks a file, which it creates if it is missing, and writes the id of this process into it. Closing the file unlocks it. The
// file is not removed: otherwise two processes could lock two files of the same name.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w%s", filepath.Base(path), ErrLocked, holder(f))
		}
		return nil, fmt.Errorf("flock %s: %w", path, err)
	}
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if err := errors.Join(f.Truncate(0), writeAt(f, pid)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// holder describes the process that holds the lock, as far as the file says.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.LimitReader(f, maxPIDLength))
	pid := strings.TrimSpace(string(text))
	if err != nil || pid == "" {
		return ""
	}
	return " (pid " + pid + ")"
}

// waitLockFile is lockFile for a lock that others hold briefly. It waits for the lock.
func waitLockFile(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := lockFile(path)
		if !errors.Is(err, ErrLocked) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(lockPoll):
		}
	}
}
