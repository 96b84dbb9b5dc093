package blob

import "os"

// pace is how much of a file is handed to the disk at a time. At most twice as much waits in memory.
const pace = 4 << 20

// pacedFile writes a file at the pace of the disk. Otherwise a large file waits in memory until it is synced at its end, and
// the file system makes everybody wait who syncs a small one meanwhile, such as a commit of the database.
type pacedFile struct {
	file    *os.File
	written int64
	begun   int64 // how much of it has been handed to the disk
	flush   func(f *os.File, offset, length int64) error
	await   func(f *os.File, offset, length int64) error
}

func paced(f *os.File) *pacedFile { return &pacedFile{file: f, flush: beginFlush, await: awaitFlush} }

// Write hands each part of the file to the disk when it is complete, after the part before it has arrived there.
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
