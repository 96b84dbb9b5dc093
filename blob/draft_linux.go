package blob

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a file in a directory that has no name there, see O_TMPFILE in open(2).
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
