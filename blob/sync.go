package blob

import "sync"

// dirSyncer makes the names in directories durable for many goroutines at once: while one sync of a directory runs, those
// who come wait, and one sync then serves them all. It must be one that begins after they came.
type dirSyncer struct {
	sync func(dir string) error

	mu   sync.Mutex
	dirs map[string]*dirQueue
}

// dirQueue is a directory that is being synced, with those who wait for the next sync.
type dirQueue struct{ waiting []chan error }

// Sync returns when a sync of the directory that began after the call has ended, with its error.
func (s *dirSyncer) Sync(dir string) error {
	s.mu.Lock()
	if queue, running := s.dirs[dir]; running {
		done := make(chan error, 1)
		queue.waiting = append(queue.waiting, done)
		s.mu.Unlock()
		return <-done
	}
	if s.dirs == nil {
		s.dirs = map[string]*dirQueue{}
	}
	queue := &dirQueue{}
	s.dirs[dir] = queue
	s.mu.Unlock()
	err := s.sync(dir)
	s.serve(dir, queue)
	return err
}

// serve lets the first of those who wait go on with a sync for all of them, or ends the queue.
func (s *dirSyncer) serve(dir string, queue *dirQueue) {
	s.mu.Lock()
	waiting := queue.waiting
	queue.waiting = nil
	if len(waiting) == 0 {
		delete(s.dirs, dir)
	}
	s.mu.Unlock()
	if len(waiting) == 0 {
		return
	}
	go func() {
		err := s.sync(dir)
		for _, done := range waiting {
			done <- err
		}
		s.serve(dir, queue)
	}()
}
