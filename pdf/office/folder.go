package office

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// folderPattern names the folder of an Office, in which each worker has one.
const folderPattern = "platen-pdf-*"

// folder is a private folder that is held as long as the process lives: its lock ends with the process, however that ends.
type folder struct {
	path string
	lock *os.File // the folder itself
}

// newFolder makes a folder in base, and removes those that processes have left behind that ended without doing so.
func newFolder(base string) (*folder, error) {
	if err := sweep(base); err != nil {
		return nil, fmt.Errorf("remove the folders of workers that were left behind: %w", err)
	}
	for {
		path, err := os.MkdirTemp(base, folderPattern)
		if err != nil {
			return nil, fmt.Errorf("make a folder for LibreOffice: %w", err)
		}
		lock, err := hold(path)
		if err == nil {
			return &folder{path, lock}, nil
		}
		// Another process, which was sweeping, was quicker: then the folder is gone.
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("make a folder for LibreOffice: %w", err), os.Remove(path))
		}
	}
}

// hold locks a folder, if it is one and nobody else holds it.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := os.Lstat(path); err != nil { // swept between the two
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the folders in base that nobody holds. A worker outlives its server for a moment, and may be writing: what it writes it
// removes, and what is left of its folder then is found the next time.
func sweep(base string) error {
	paths, err := filepath.Glob(filepath.Join(base, folderPattern))
	if err != nil {
		return err
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !ours(info) {
			continue // gone, or of another user
		}
		lock, err := hold(path)
		if err != nil {
			continue // held
		}
		if err := os.RemoveAll(path); err != nil && !errors.Is(err, unix.ENOTEMPTY) {
			return errors.Join(err, lock.Close())
		}
		if err := lock.Close(); err != nil {
			return err
		}
	}
	return nil
}

// ours tells whether a file belongs to the user of this process.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// remove removes the folder and all that is in it, and what others have left behind since it was made.
func (f *folder) remove() error {
	return errors.Join(os.RemoveAll(f.path), f.lock.Close(), sweep(filepath.Dir(f.path)))
}

// prepareFolder makes the folder of a worker, with what LibreOffice starts from.
func (w *worker) prepareFolder() (*os.Root, error) {
	if err := os.MkdirAll(filepath.Join(w.folder, profileFolder, "user"), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of a LibreOffice worker: %w", err)
	}
	root, err := os.OpenRoot(w.folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder of a LibreOffice worker: %w", err)
	}
	if err := w.fillFolder(root); err != nil {
		return nil, errors.Join(fmt.Errorf("fill the folder of a LibreOffice worker: %w", err), root.Close())
	}
	return root, nil
}

func (w *worker) fillFolder(root *os.Root) error {
	if err := root.RemoveAll(documentsFolder); err != nil {
		return err
	}
	for _, name := range []string{documentsFolder, homeFolder} {
		if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	var fonts bytes.Buffer
	if err := w.office.fonts.WriteConfig(&fonts, filepath.Join(w.folder, homeFolder, "fontconfig")); err != nil {
		return err
	}
	// What LibreOffice has changed in its own settings is not wanted: each start begins with ours.
	return errors.Join(root.WriteFile(fontsFile, fonts.Bytes(), 0o600),
		root.WriteFile(filepath.Join(profileFolder, "user", "registrymodifications.xcu"), settings, 0o600))
}
