package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"syscall"
)

// unfinished is the directory of contents that are being put; a key cannot begin with a dot.
const unfinished = ".unfinished"

// copyBuffer is how much of a content is in memory while it is put.
const copyBuffer = 64 << 10

// Disk is a Store in a directory of a local disk: a key is the path of a file.
type Disk struct {
	root *os.Root
	dirs dirSyncer
}

// OpenDisk opens the Store in a directory, which it makes where it is missing. One process at a time may do so: what an
// earlier one left unfinished is removed.
func OpenDisk(dir string) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open contents: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open contents: %w", err)
	}
	d := &Disk{root: root}
	d.dirs.sync = d.syncDir
	err = errors.Join(root.RemoveAll(unfinished), root.Mkdir(unfinished, 0o700))
	if err == nil {
		err = d.syncDir(".")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open contents: %w", err), root.Close())
	}
	return d, nil
}

// Put implements Store: the file is written and synced under another name, then gets its own, then the directory is synced.
func (d *Disk) Put(ctx context.Context, key string, r io.Reader) (size int64, err error) {
	if err := checkKey(key); err != nil {
		return 0, fmt.Errorf("put: %w", err)
	}
	temporary := path.Join(unfinished, rand.Text())
	defer func() {
		removed := d.root.Remove(temporary)
		if err != nil && !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	if size, err = d.write(ctx, temporary, r); err != nil {
		return 0, fmt.Errorf("put %s: %w", key, known(err))
	}
	if err := d.publish(temporary, key); err != nil {
		return 0, fmt.Errorf("put %s: %w", key, known(err))
	}
	return size, nil
}

func (d *Disk) write(ctx context.Context, name string, r io.Reader) (int64, error) {
	f, err := d.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	size, err := io.CopyBuffer(onlyWriter{f}, contextReader{ctx, r}, make([]byte, copyBuffer))
	if err == nil {
		err = f.Sync()
	}
	return size, errors.Join(err, f.Close())
}

// publish gives a finished file its own name, which nothing has yet, and makes the name durable.
func (d *Disk) publish(temporary, key string) error {
	dir := path.Dir(key)
	err := d.root.Link(temporary, key)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.makeDir(dir); err != nil {
			return err
		}
		err = d.root.Link(temporary, key)
	}
	if err != nil {
		return err
	}
	if err := d.dirs.Sync(dir); err != nil {
		return errors.Join(err, d.root.Remove(key))
	}
	return nil
}

// makeDir makes a directory with those above it, durable from the root down.
func (d *Disk) makeDir(dir string) error {
	if dir == "." {
		return nil
	}
	above := path.Dir(dir)
	if err := d.makeDir(above); err != nil {
		return err
	}
	if err := d.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.dirs.Sync(above)
}

func (d *Disk) syncDir(dir string) error {
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open implements Store.
func (d *Disk) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	f, err := d.root.Open(key)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", key, known(err))
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", key, err), f.Close())
	}
	var r io.Reader = contextReader{ctx, f}
	if length >= 0 {
		r = io.LimitReader(r, length)
	}
	return readCloser{r, f}, nil
}

// Delete implements Store. Directories stay: another Put may be about to use them.
func (d *Disk) Delete(_ context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if err := d.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// List implements Store.
func (d *Disk) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		err := fs.WalkDir(d.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case entry.IsDir():
				return enter(name, prefix)
			case !strings.HasPrefix(name, prefix) || checkKey(name) != nil:
				return nil
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if !yield(Info{Key: name, Size: info.Size(), ModTime: info.ModTime()}, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Info{}, fmt.Errorf("list: %w", err))
		}
	}
}

var errStopped = errors.New("the listing is no longer wanted")

// enter skips a directory in which no key can begin with a prefix.
func enter(dir, prefix string) error {
	if dir == "." || strings.HasPrefix(dir+"/", prefix) || strings.HasPrefix(prefix, dir+"/") {
		return nil
	}
	return fs.SkipDir
}

// Check implements Store: it puts a file and removes it.
func (d *Disk) Check(ctx context.Context) error {
	name := path.Join(unfinished, rand.Text())
	_, err := d.write(ctx, name, strings.NewReader("check"))
	if err = errors.Join(err, d.root.Remove(name)); err != nil {
		return fmt.Errorf("check contents: %w", known(err))
	}
	return nil
}

// Close implements Store.
func (d *Disk) Close() error { return d.root.Close() }

// known adds to an error of the file system the error of this package that it means.
func known(err error) error {
	for system, ours := range map[error]error{
		fs.ErrNotExist: ErrNotExist, fs.ErrExist: ErrExist, syscall.ENOSPC: ErrNoSpace, syscall.EDQUOT: ErrNoSpace,
	} {
		if errors.Is(err, system) {
			return fmt.Errorf("%w: %w", ours, err)
		}
	}
	return err
}

// contextReader stops reading when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// onlyWriter hides that a file can read from a reader by itself, which it does in portions of its own choosing.
type onlyWriter struct{ io.Writer }

type readCloser struct {
	io.Reader
	io.Closer
}
