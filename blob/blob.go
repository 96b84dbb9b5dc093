// Package blob stores contents of any size under keys: written once, never changed, read completely or in part. Contents are streamed and
// never held in memory.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// MaxKeyLength is the maximum length of a key, in bytes.
const MaxKeyLength = 200

// The errors that a Store returns, possibly wrapped.
var (
	ErrNotExist = fs.ErrNotExist // no object has this key
	ErrExist    = fs.ErrExist    // an object already has this key
	ErrNoSpace  = errors.New("no space left for contents")
	ErrRange    = errors.New("the range starts after the end of the object")
	ErrKey      = errors.New("not a key")
	ErrTooLarge = errors.New("the object is larger than allowed")
)

// Info describes an object.
type Info struct {
	Key      string
	Size     int64 // bytes
	Modified time.Time
}

// Store is a place for objects. Its methods are safe for concurrent use. Package blobtest contains the tests that every implementation
// must pass.
//
// A key is 1 to [MaxKeyLength] bytes of a-z, 0-9, '.', '_', '-', and '/', where '/' separates parts that are not empty and do not start
// with '.'. Any other key is an ErrKey.
type Store interface {
	// Put stores the data of r until io.EOF and returns its size. When Put returns nil, the object is durable; before that, and if Put
	// fails, no part of it is visible. It fails with ErrExist if an object already has the key, ErrNoSpace if there is no space, ctx's
	// error if ctx ends first, and r's error if r fails. r may then have been read in part.
	Put(ctx context.Context, key string, r io.Reader) (size int64, err error)

	// Open reads length bytes of an object from offset, or to its end if length is negative or too large. It fails with ErrNotExist, or
	// with ErrRange if offset is not between 0 and the object's size. Reads fail once ctx has ended. The caller must close the reader. If
	// the object is deleted in the meantime, reads may fail.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)

	// Stat describes an object, or fails with ErrNotExist.
	Stat(ctx context.Context, key string) (Info, error)

	// Delete removes an object. It is not an error if there is none.
	Delete(ctx context.Context, key string) error

	// List yields every object whose key starts with prefix, in no particular order. Objects that are stored or deleted in the meantime
	// may be missing. It ends with the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]

	// Check returns an error if objects currently cannot be stored, for a readiness probe.
	Check(ctx context.Context) error

	// Close releases the resources of the store. Open readers remain usable.
	Close() error
}

// Open opens the store at a location: the path of a directory, or a file:// URL. It creates a missing directory.
//
// This is the only place that knows which kinds of store exist. For the folder of a store, use [Folder].
func Open(location string) (Store, error) {
	dir, err := pathOf(location)
	if err != nil {
		return nil, err
	}
	return OpenDisk(dir)
}

// OpenExisting is Open for an existing store. It fails with ErrNotExist instead of creating a directory.
func OpenExisting(location string) (Store, error) {
	dir, err := pathOf(location)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open blob store %s: %w", dir, syscall.ENOTDIR)
	}
	return OpenDisk(dir)
}

// Folder returns the directory of the store at a location. ok is false if it has none.
func Folder(location string) (dir string, ok bool) {
	dir, err := pathOf(location)
	return dir, err == nil
}

// pathOf returns the directory of a location.
func pathOf(location string) (string, error) {
	scheme, _, isURL := strings.Cut(location, "://")
	if !isURL {
		return location, nil
	}
	u, err := url.Parse(location)
	if err != nil {
		return "", fmt.Errorf("open blob store: %w", err)
	}
	if scheme != "file" || u.Host != "" {
		return "", fmt.Errorf("open blob store %s: use the path of a directory or file:///path", u.Redacted())
	}
	return u.Path, nil
}

// ReadAll returns a complete object of at most limit bytes, or fails with ErrTooLarge.
func ReadAll(ctx context.Context, s Store, key string, limit int64) ([]byte, error) {
	info, err := s.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	if info.Size > limit {
		return nil, fmt.Errorf("read %s: %w: %d bytes, at most %d", key, ErrTooLarge, info.Size, limit)
	}
	r, err := s.Open(ctx, key, 0, info.Size)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, info.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return data, nil
}

// CheckKey returns ErrKey, with the key and the reason, if a key is not valid.
func CheckKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%w: it is empty", ErrKey)
	case len(key) > MaxKeyLength:
		return fmt.Errorf("%w: it has %d bytes, at most %d", ErrKey, len(key), MaxKeyLength)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part[0] == '.' {
			return fmt.Errorf("%w: %q has a part that is empty or starts with a dot", ErrKey, key)
		}
	}
	if i := strings.IndexFunc(key, func(r rune) bool { return !keyRune(r) }); i >= 0 {
		return fmt.Errorf("%w: %q has a byte at %d other than a-z 0-9 . _ - /", ErrKey, key, i)
	}
	return nil
}

func keyRune(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("._-/", r)
}

// contextReader fails once its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
