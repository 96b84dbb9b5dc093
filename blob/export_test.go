package blob

import (
	"io"
	"os"
)

// OpenDiskNamed opens a store on a disk as if files without a name could not be made there.
func OpenDiskNamed(dir string) (Store, error) {
	d, err := openDisk(dir)
	if err != nil {
		return nil, err
	}
	d.unnamed = false
	return d, nil
}

// Pace is how much of a file is handed to the disk at a time.
const Pace = pace

// WritePaced writes a file as Put does, and calls begun and arrived with the end of each part that the disk is handed and has.
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
