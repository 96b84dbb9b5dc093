package office

import "testing"

// Misbehave lets the workers of this binary do something before each document. It is called before Worker.
func Misbehave(do func(documents string) error) { misbehave = do }

// Resident is the memory that a free worker holds, in bytes.
func (o *Office) Resident(tb testing.TB) int64 {
	tb.Helper()
	w := <-o.workers
	defer func() { o.workers <- w }()
	resident, err := w.process.resident()
	if err != nil {
		tb.Fatal(err)
	}
	return resident
}

// Folder is where the workers have their folders.
func (o *Office) Folder() string { return o.folder.path }

// Workers is how many documents are converted at once, without the spare workers.
func (o *Office) Workers() int { return o.cfg.Workers }
