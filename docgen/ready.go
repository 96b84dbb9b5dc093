package docgen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"platen/store"
)

// Readiness is checked at most once in readyEvery, for any number of requests, and each check has readyTimeout to succeed.
const (
	readyEvery   = time.Second
	readyTimeout = 2 * time.Second
)

// readiness caches the latest result of a check. Its lock is held during the check, so that only one check runs at a
// time.
type readiness struct {
	mu      sync.Mutex
	checked time.Time
	problem map[string]error
}

// Ready reports why the service cannot work at the moment, by part: the error of each part, or nil if it works. It
// writes to the database and to every blob store. The result may be up to a second old.
func (s *Service) Ready(ctx context.Context) map[string]error {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if age := s.now().Sub(s.ready.checked); s.ready.problem != nil && age >= 0 && age < readyEvery {
		return s.ready.problem
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout) // other callers wait for the result
	defer cancel()
	s.ready.problem = map[string]error{"database": s.checkDatabase(ctx), "blobs": s.checkBlobs(ctx)}
	if s.room.minimum > 0 {
		s.ready.problem["disk"] = s.room.check(s.now())
	}
	s.ready.checked = s.now()
	return s.ready.problem
}

// checkDatabase writes a row without changing it.
func (s *Service) checkDatabase(ctx context.Context) error {
	return s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		_, err := tx.LockSetting(ctx, settingReady)
		return err
	})
}

// checkBlobs returns an error that names the storage policies that cannot store contents at the moment, or nil.
func (s *Service) checkBlobs(ctx context.Context) error {
	var problems []error
	for _, p := range s.policies {
		if err := p.blobs.Check(ctx); err != nil {
			problems = append(problems, fmt.Errorf("storage policy %q: %w", p.Name, err))
		}
	}
	return errors.Join(append(problems, s.checkStores(ctx))...)
}
