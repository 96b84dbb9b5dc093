package office

import "testing"

// Misbehave sets what the workers of this binary do before each document. Call it before Worker.
func Misbehave(do func(documents string) error) { misbehave = do }

// Resident returns the resident memory of a free worker, in bytes.
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

// Folder returns the folder that contains the workers' folders.
func (o *Office) Folder() string { return o.folder.path }

// Workers returns the number of documents converted at once, not counting spare workers.
func (o *Office) Workers() int { return o.cfg.Workers }
