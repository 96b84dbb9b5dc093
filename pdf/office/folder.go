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

// folderPattern matches the folder of an Office, which contains a folder for each worker.
const folderPattern = "platen-pdf-*"

// folder is a private folder, locked for the lifetime of the process. The kernel releases the lock when the process
// exits, for whatever reason.
type folder struct {
	path string
	lock *os.File // the folder itself
}

// newFolder creates a folder in base. It first removes the folders of processes that exited without removing them.
func newFolder(base string) (*folder, error) {
	if err := sweep(base); err != nil {
		return nil, fmt.Errorf("remove leftover folders of workers: %w", err)
	}
	for {
		path, err := os.MkdirTemp(base, folderPattern)
		if err != nil {
			return nil, fmt.Errorf("create a folder for LibreOffice: %w", err)
		}
		lock, err := hold(path)
		if err == nil {
			return &folder{path, lock}, nil
		}
		// A concurrent sweep of another process locked or removed the folder first.
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("create a folder for LibreOffice: %w", err), os.Remove(path))
		}
	}
}

// hold locks a folder. It fails if path is not a folder, or if another process holds it.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := os.Lstat(path); err != nil { // swept between Open and Flock
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the folders in base that no process holds. A worker can outlive its server briefly and may still be
// writing. It removes its own files, and the next sweep removes the rest of its folder.
func sweep(base string) error {
	paths, err := filepath.Glob(filepath.Join(base, folderPattern))
	if err != nil {
		return err
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !ours(info) {
			continue // removed, or owned by another user
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

// ours reports whether a file belongs to the user of this process.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// remove removes the folder with its contents, and the folders that other processes have left since it was created.
func (f *folder) remove() error {
	return errors.Join(os.RemoveAll(f.path), f.lock.Close(), sweep(filepath.Dir(f.path)))
}

// prepareFolder creates the folder of a worker, with the files that LibreOffice needs to start.
func (w *worker) prepareFolder() (*os.Root, error) {
	if err := os.MkdirAll(filepath.Join(w.folder, profileFolder, "user"), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of a LibreOffice worker: %w", err)
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
	// Each start uses our settings, not those that LibreOffice changed itself.
	return errors.Join(root.WriteFile(fontsFile, fonts.Bytes(), 0o600),
		root.WriteFile(filepath.Join(profileFolder, "user", "registrymodifications.xcu"), settings, 0o600))
}
