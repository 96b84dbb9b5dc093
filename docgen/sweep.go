package docgen

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"time"

	"platen/store"
)

// sweepAge is how old a blob without a row must be to be an orphan: a younger one may belong to an upload or a document
// that is still under way.
const sweepAge = 24 * time.Hour

// sweepPortion is how many contents are looked up at once.
const sweepPortion = 1000

// SweepBlobs is the task of removing orphans.
type SweepBlobs struct{}

// Kind names the task.
func (SweepBlobs) Kind() string { return "sweep_blobs" }

// Sweep removes the contents that no version names, which a crash left between making them durable and naming them, and
// returns how many there were. A key is never used twice, so nothing will name them.
func (s *Service) Sweep(ctx context.Context) (removed int, err error) {
	for _, p := range s.policies {
		n, err := s.sweepPolicy(ctx, p)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("sweep storage policy %q: %w", p.Name, err)
		}
	}
	return removed, nil
}

func (s *Service) sweepPolicy(ctx context.Context, p StoragePolicy) (removed int, err error) {
	var keys []string
	for info, err := range p.blobs.List(ctx, blobPrefix) {
		if err != nil {
			return removed, fmt.Errorf("list contents: %w", err)
		}
		_, err := strconv.ParseInt(path.Base(info.Key), 10, 64)
		if err != nil || s.now().Sub(info.Modified) < sweepAge {
			continue // none of ours, or perhaps still under way
		}
		keys = append(keys, info.Key)
		if len(keys) < sweepPortion {
			continue
		}
		n, err := s.sweep(ctx, p, keys)
		removed += n
		if err != nil {
			return removed, err
		}
		keys = keys[:0]
	}
	n, err := s.sweep(ctx, p, keys)
	return removed + n, err
}

// sweep removes those of some contents that no version names, and returns how many there were.
func (s *Service) sweep(ctx context.Context, p StoragePolicy, keys []string) (removed int, err error) {
	var orphans []string
	err = s.db.Read(ctx, func(q *store.Queries) error {
		orphans = nil
		for _, key := range keys {
			named, err := q.BlobNamed(ctx, key, p.ID)
			if err != nil {
				return err
			}
			if !named {
				orphans = append(orphans, key)
			}
		}
		return nil
	})
	for _, key := range orphans {
		if err := p.blobs.Delete(ctx, key); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, err
}

// ScheduleSweep has orphans removed, now and then once a day for as long as the task is snoozed.
func (s *Service) ScheduleSweep(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: SweepBlobs{}, Unique: true, Priority: 4})
		return err
	})
}
