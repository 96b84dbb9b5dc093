package blob

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// temporaryDir has a folder for each folder of objects, so that concurrent Puts rarely lock the same directory.
	temporaryDir = "tmp"
	fanOut       = 256  // folders, by the first byte of the hash of the key
	checkFolder  = "00" // for the file that Check writes
	listBatch    = 1000
	dirMode      = 0o700
	fileMode     = 0o600
	// separator replaces the '/' of a key in the name of a file. No key contains it.
	separator = "~"
	// staleAfter is the age of a temporary file that no process can still be writing.
	staleAfter = time.Hour
)

// disk is a Store in a directory of a local disk: each object is one file in one of 256 folders.
type disk struct {
	root    *os.Root
	unnamed bool // drafts need no name
}

// OpenDisk opens the store in a directory, which it creates if missing, and removes what interrupted Puts have left there.
func OpenDisk(dir string) (Store, error) {
	d, err := openDisk(dir)
	if err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	return d, nil
}

func openDisk(dir string) (*disk, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := makeDurable(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &disk{root: root}
	if err := d.removeStale(time.Now()); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	d.unnamed = d.hasUnnamed()
	return d, nil
}

// makeDurable creates a directory and its parents, each durable before anything is in it.
func makeDurable(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := makeDurable(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.Open(parent)
	return syncAndClose(f, err)
}

// makeFolder creates a folder for objects, and then the one for its temporary files. If the latter exists, the former exists too, and is
// durable.
func (d *disk) makeFolder(folder string) error {
	if err := d.mkdir(folder); err != nil {
		return err
	}
	if err := d.syncDir("."); err != nil {
		return err
	}
	return errors.Join(d.mkdir(temporaryDir), d.mkdir(path.Join(temporaryDir, folder)))
}

func (d *disk) mkdir(name string) error {
	if err := d.root.Mkdir(name, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (d *disk) removeStale(now time.Time) error {
	return d.readDir(temporaryDir, func(folder fs.DirEntry) error {
		dir := path.Join(temporaryDir, folder.Name())
		return d.readDir(dir, func(file fs.DirEntry) error {
			info, err := file.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || now.Sub(info.ModTime()) < staleAfter {
				return err
			}
			return d.remove(path.Join(dir, file.Name()))
		})
	})
}

func (d *disk) Close() error { return d.root.Close() }

// Put writes the file of the object and gives it its name once it is durable.
func (d *disk) Put(ctx context.Context, key string, r io.Reader) (int64, error) {
	name, err := fileName(key)
	if err != nil {
		return 0, fmt.Errorf("put: %w", err)
	}
	if _, err := d.root.Lstat(name); err == nil {
		return 0, fmt.Errorf("put %s: %w", key, ErrExist)
	}
	size, err := d.put(ctx, name, r)
	if err != nil {
		return 0, fmt.Errorf("put %s: %w", key, classify(err))
	}
	return size, nil
}

func (d *disk) put(ctx context.Context, name string, r io.Reader) (int64, error) {
	f, err := d.newDraft(path.Dir(name))
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(paced(f.File), contextReader{ctx, r})
	if err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, ctx.Err()); err == nil {
		err = d.publish(f, name)
	}
	return size, errors.Join(err, d.drop(f))
}

func (d *disk) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r, err := d.open(ctx, key, offset, length)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", key, err)
	}
	return r, nil
}

func (d *disk) open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	name, err := fileName(key)
	if err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	rest := info.Size() - offset
	if offset < 0 || rest < 0 {
		return nil, errors.Join(fmt.Errorf("%w: from %d of %d", ErrRange, offset, info.Size()), f.Close())
	}
	if length < 0 {
		length = rest
	}
	section := io.NewSectionReader(f, offset, min(length, rest))
	return struct {
		io.Reader
		io.Closer
	}{contextReader{ctx, section}, f}, nil
}

func (d *disk) Stat(_ context.Context, key string) (Info, error) {
	name, err := fileName(key)
	if err != nil {
		return Info{}, fmt.Errorf("stat: %w", err)
	}
	info, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, fmt.Errorf("stat %s: %w", key, err)
	}
	return Info{Key: key, Size: info.Size(), Modified: info.ModTime()}, nil
}

// Delete does not wait for the disk: an object that returns after a power failure is an orphan like any other.
func (d *disk) Delete(_ context.Context, key string) error {
	name, err := fileName(key)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if err := d.remove(name); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// errStopped ends the reading of folders when the caller of List stops.
var errStopped = errors.New("stopped")

func (d *disk) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		each := func(entry fs.DirEntry) error {
			key := strings.ReplaceAll(entry.Name(), separator, "/")
			if !strings.HasPrefix(key, prefix) {
				return ctx.Err()
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // deleted in the meantime
			}
			if err := cmp.Or(ctx.Err(), err); err != nil {
				return err
			}
			if !yield(Info{Key: key, Size: info.Size(), Modified: info.ModTime()}, nil) {
				return errStopped
			}
			return nil
		}
		for i := range fanOut {
			err := d.readDir(hex.EncodeToString([]byte{byte(i)}), each)
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil {
				yield(Info{}, fmt.Errorf("list: %w", err))
				return
			}
		}
	}
}

// Check writes a byte to the disk, which fails if the disk is full or read-only.
func (d *disk) Check(context.Context) error {
	f, err := d.newDraft(checkFolder)
	if err == nil {
		_, err = f.WriteString("x")
		err = errors.Join(err, f.Sync(), d.drop(f))
	}
	if err != nil {
		return fmt.Errorf("check blob store: %w", classify(err))
	}
	return nil
}

// readDir calls fn for each entry of a folder, which may be missing, with one batch in memory at a time.
func (d *disk) readDir(name string, fn func(fs.DirEntry) error) error {
	f, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(listBatch)
		for _, entry := range entries {
			if err := fn(entry); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// remove removes a file if it exists.
func (d *disk) remove(name string) error {
	if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *disk) syncDir(name string) error {
	f, err := d.root.Open(name)
	return syncAndClose(f, err)
}

func syncAndClose(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// fileName returns the path of a key's file within the store.
func fileName(key string) (string, error) {
	if err := CheckKey(key); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(key))
	return path.Join(hex.EncodeToString(sum[:1]), strings.ReplaceAll(key, "/", separator)), nil
}

// classify adds ErrNoSpace to an error of the operating system that means a full disk.
func classify(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}
