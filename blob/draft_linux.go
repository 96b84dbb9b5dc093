package blob

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a file without a name in a directory, see O_TMPFILE in open(2).
func openUnnamed(root *os.Root, dir string) (*os.File, error) {
	return root.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, fileMode)
}

// linkUnnamed gives an unnamed file a name in a directory.
func linkUnnamed(f, dir *os.File, name string) error {
	self := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	if err := unix.Linkat(unix.AT_FDCWD, self, int(dir.Fd()), name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.LinkError{Op: "link", Old: self, New: name, Err: err}
	}
	return nil
}

// beginFlush makes the disk start to write a part of a file, see sync_file_range(2). It guarantees nothing about durability.
func beginFlush(f *os.File, offset, length int64) error {
	return syncRange(f, offset, length, unix.SYNC_FILE_RANGE_WRITE)
}

// awaitFlush waits until the disk has written what beginFlush started.
func awaitFlush(f *os.File, offset, length int64) error {
	return syncRange(f, offset, length, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}

func syncRange(f *os.File, offset, length int64, flags int) error {
	err := unix.SyncFileRange(int(f.Fd()), offset, length, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ESPIPE) { // the file system does not support it
		return nil
	}
	return os.NewSyscallError("sync_file_range", err)
}
