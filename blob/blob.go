// Package blob keeps contents: streams of bytes under keys, written once and read many times. It knows nothing of what
// they are. Disk keeps them in a directory; what every Store promises is checked by package blobtest.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"time"
)

// Errors of a Store, to be asked for with errors.Is.
var (
	ErrNotExist = errors.New("no content under the key")
	ErrExist    = errors.New("there is content under the key already")
	ErrNoSpace  = errors.New("no room left for contents")
	ErrKey      = errors.New("not a key")
)

// MaxKeyLength is the most bytes a key has.
const MaxKeyLength = 512

// Info is what is known of a content without reading it.
type Info struct {
	Key     string
	Size    int64
	ModTime time.Time // when it was put
}

// Store keeps contents. Its methods may be called from many goroutines.
//
// A key has up to MaxKeyLength bytes of a-z, 0-9, '.', '_', '-' and '/', with no empty element and none that begins with a
// dot; others are refused with ErrKey. A key under which there is content is never also the beginning, up to a '/', of
// another.
type Store interface {
	// Put keeps what r reads under a key and returns how many bytes there were. When it returns without an error, the
	// content survives a loss of power; until then nobody sees any of it, and after an error nothing is left of it. It
	// fails with ErrExist when there is content under the key, with ErrNoSpace when there is no room, and with r's own
	// error when reading fails. Nothing of r is kept in memory beyond a buffer.
	Put(ctx context.Context, key string, r io.Reader) (size int64, err error)

	// Open reads length bytes of the content under a key from an offset, or to its end when length is negative; fewer
	// when the content ends before. Reading fails when ctx ends. It fails with ErrNotExist when there is none. The caller
	// closes the reader.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)

	// Delete removes the content under a key. That there is none is no error.
	Delete(ctx context.Context, key string) error

	// List goes over the contents whose keys begin with a prefix, in no particular order. What comes or goes meanwhile
	// may or may not be seen. After an error it ends.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]

	// Check tells why contents cannot be put at present.
	Check(ctx context.Context) error

	// Close lets go of what the Store holds. No other method is called after it.
	Close() error
}

// Open opens the Store that a location names: a directory, as a path or as a file:// URL.
func Open(location string) (Store, error) {
	if scheme, rest, found := strings.Cut(location, "://"); found {
		if scheme != "file" || !strings.HasPrefix(rest, "/") {
			return nil, fmt.Errorf("open contents: %q is not a directory: give a path, or file:// with an absolute path", location)
		}
		location = rest
	}
	return OpenDisk(location)
}

var keyPattern = regexp.MustCompile(`^[a-z0-9_-][a-z0-9._-]*(/[a-z0-9_-][a-z0-9._-]*)*$`)

func checkKey(key string) error {
	if len(key) > MaxKeyLength || !keyPattern.MatchString(key) {
		return fmt.Errorf("%w: %.60q", ErrKey, key)
	}
	return nil
}
