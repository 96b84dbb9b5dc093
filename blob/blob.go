// Package blob keeps contents of any size under keys: written once, never changed, read in whole or in part. Contents are
// streamed and never held in memory.
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

// MaxKeyLength is the length of the longest key, in bytes.
const MaxKeyLength = 200

// The errors that every Store tells apart, wrapped in more words.
var (
	ErrNotExist = fs.ErrNotExist // there is no object of this key
	ErrExist    = fs.ErrExist    // there is one already
	ErrNoSpace  = errors.New("no space left for contents")
	ErrRange    = errors.New("the range begins behind the end of the object")
	ErrKey      = errors.New("not a key")
	ErrTooLarge = errors.New("the object is larger than allowed")
)

// Info describes an object.
type Info struct {
	Key      string
	Size     int64 // bytes
	Modified time.Time
}

// Store is a place for objects. Its methods may be called from many goroutines. Package blobtest holds the tests that every
// implementation passes.
//
// A key is 1 to [MaxKeyLength] bytes of a-z, 0-9, '.', '_', '-' and '/', where '/' separates parts that are not empty and
// do not begin with '.'. Anything else is ErrKey.
type Store interface {
	// Put stores what r gives until io.EOF and returns its size. When Put returns nil the object is durable; until then
	// nobody sees it, nor ever when Put fails: not a part of it either. It fails with ErrExist when there is an object of
	// this key, with ErrNoSpace when there is no room, with ctx's error when ctx ends first, and with r's error when r
	// fails. r may have been read in part then.
	Put(ctx context.Context, key string, r io.Reader) (size int64, err error)

	// Open reads length bytes of an object from offset on, or to its end where length is negative or goes beyond it. It
	// fails with ErrNotExist, and with ErrRange when offset is not within 0 to the object's size. Reading fails once ctx
	// has ended. The caller closes the reader; an object deleted meanwhile may or may not be read to its end.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)

	// Stat describes an object, or fails with ErrNotExist.
	Stat(ctx context.Context, key string) (Info, error)

	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, key string) error

	// List yields every object whose key begins with prefix, in no particular order; those put or deleted meanwhile may or
	// may not be among them. It ends with the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]

	// Check reports why objects could not be stored at this moment, for a readiness probe.
	Check(ctx context.Context) error

	// Close releases what the store holds. Readers still open stay usable.
	Close() error
}

// Open opens the store at a location: the path of a directory, or the same as a file:// URL. A missing directory is made.
//
// This is the only place that knows which kinds of store there are. Whoever must know where one lies asks [Folder].
func Open(location string) (Store, error) {
	dir, err := pathOf(location)
	if err != nil {
		return nil, err
	}
	return OpenDisk(dir)
}

// OpenExisting is Open for a store that must be there: it fails with ErrNotExist instead of making a directory.
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

// Folder returns the directory of the store at a location; ok is false for a store that has none.
func Folder(location string) (dir string, ok bool) {
	dir, err := pathOf(location)
	return dir, err == nil
}

// pathOf returns the directory that a location means.
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
		return "", fmt.Errorf("open blob store %s: give the path of a directory or file:///path", u.Redacted())
	}
	return u.Path, nil
}

// ReadAll returns a whole object of at most limit bytes, or fails with ErrTooLarge.
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

// CheckKey returns ErrKey, with the key and the reason, for what is not a key.
func CheckKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%w: it is empty", ErrKey)
	case len(key) > MaxKeyLength:
		return fmt.Errorf("%w: it has %d bytes, at most %d", ErrKey, len(key), MaxKeyLength)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part[0] == '.' {
			return fmt.Errorf("%w: %q has a part that is empty or begins with a dot", ErrKey, key)
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
