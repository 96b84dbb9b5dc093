package docgen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Disk is a file system that the service stores data on.
type Disk struct {
	Name string                // for logs and metrics
	Free func() (int64, error) // returns the number of bytes that can still be written
	Size func() (int64, error) // returns the size in bytes; nil if unknown
}

// roomEvery is the time for which the measured free space of disks is used.
const roomEvery = time.Second

// room measures the free space of some disks.
type room struct {
	disks   []Disk
	minimum int64 // bytes that must be free on each

	mu      sync.Mutex
	checked time.Time
	problem error
}

// check returns an error that names the disks with too little free space. The result may be up to a second old.
func (r *room) check(now time.Time) error {
	if r.minimum <= 0 || len(r.disks) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if age := now.Sub(r.checked); !r.checked.IsZero() && age >= 0 && age < roomEvery {
		return r.problem
	}
	var problems []error
	for _, disk := range r.disks {
		free, err := disk.Free()
		if err == nil && free < r.minimum {
			err = fmt.Errorf("%w: %d bytes are free, but %d are required", errLowRoom, free, r.minimum)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("disk of %s: %w", disk.Name, err))
		}
	}
	r.checked, r.problem = now, errors.Join(problems...)
	return r.problem
}

// errLowRoom explains why nothing new is accepted: a disk is almost full.
var errLowRoom = errors.New("the disk is almost full")

// CheckRoom returns an Error if the server must not write temporary files because a disk is almost full.
func (s *Service) CheckRoom(ctx context.Context) error { return s.checkRoom(ctx) }

// checkRoom returns an Error if the server accepts no new content or batches because a disk is almost full. The
// remaining space is reserved for work already accepted.
func (s *Service) checkRoom(context.Context) error {
	err := s.room.check(s.now())
	if !errors.Is(err, errLowRoom) {
		return nil // a disk that cannot be checked shows in Ready; writing to it will show whether it works
	}
	return &Error{
		Code: CodeStorageFull, RetryAfter: fullRetryAfter,
		Message: "The server is almost out of disk space and accepts no new content. Permanently delete files, or contact the operator " +
			"of the server.",
	}
}
