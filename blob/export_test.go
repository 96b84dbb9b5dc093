package blob

import (
	"io"
	"os"
)

// OpenDiskNamed opens a store on a disk as if its file system did not support unnamed files.
func OpenDiskNamed(dir string) (Store, error) {
	d, err := openDisk(dir)
	if err != nil {
		return nil, err
	}
	d.unnamed = false
	return d, nil
}

// Pace is the number of bytes of a file that are passed to the disk at a time.
const Pace = pace

// WritePaced writes a file as Put does. It calls begun when a part is passed to the disk, and arrived when it is written, each with the end
// of the part.
func WritePaced(f *os.File, r io.Reader, begun, arrived func(end int64)) (int64, error) {
	p := paced(f)
	p.flush = func(f *os.File, offset, length int64) error {
		begun(offset + length)
		return beginFlush(f, offset, length)
	}
	p.await = func(f *os.File, offset, length int64) error {
		arrived(offset + length)
		return awaitFlush(f, offset, length)
	}
	return io.Copy(p, r)
}
