package blob

import "os"

// pace is the size of the parts of a file that are written to the disk. At most two of them wait in memory.
const pace = 4 << 20

// pacedFile writes a file at the speed of the disk. Otherwise, a large file stays in memory until the sync at its end, and the file
// system makes others wait that sync a small file in the meantime, such as a commit of the database.
type pacedFile struct {
	file    *os.File
	written int64
	begun   int64 // number of bytes passed to the disk
	flush   func(f *os.File, offset, length int64) error
	await   func(f *os.File, offset, length int64) error
}

func paced(f *os.File) *pacedFile { return &pacedFile{file: f, flush: beginFlush, await: awaitFlush} }

// Write passes each complete part of the file to the disk, after the previous part has arrived there.
func (p *pacedFile) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.written += int64(n)
	for err == nil && p.written-p.begun >= pace {
		if err = p.flush(p.file, p.begun, pace); err == nil && p.begun > 0 {
			err = p.await(p.file, p.begun-pace, pace)
		}
		p.begun += pace
	}
	return n, err
}
