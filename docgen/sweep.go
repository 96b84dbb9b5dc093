package docgen

import (
	"context"
	"database/sql"
	"errors"
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
// returns how many there were.
func (s *Service) Sweep(ctx context.Context) (removed int, err error) {
	keys := map[int64]string{} // by version
	for info, err := range s.blobs.List(ctx, blobPrefix) {
		if err != nil {
			return removed, fmt.Errorf("list contents: %w", err)
		}
		version, err := strconv.ParseInt(path.Base(info.Key), 10, 64)
		if err != nil || s.now().Sub(info.Modified) < sweepAge {
			continue // none of ours, or perhaps still under way
		}
		keys[version] = info.Key
		if len(keys) < sweepPortion {
			continue
		}
		n, err := s.sweep(ctx, keys)
		removed += n
		if err != nil {
			return removed, err
		}
		clear(keys)
	}
	n, err := s.sweep(ctx, keys)
	return removed + n, err
}

// sweep removes those of some contents that no version names, and returns how many there were.
func (s *Service) sweep(ctx context.Context, keys map[int64]string) (removed int, err error) {
	err = s.db.Read(ctx, func(q *store.Queries) error {
		for version := range keys {
			if _, err := q.Version(ctx, version); err == nil {
				delete(keys, version)
			} else if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		if err := s.blobs.Delete(ctx, key); err != nil {
			return removed, fmt.Errorf("sweep: %w", err)
		}
		removed++
	}
	return removed, nil
}

// ScheduleSweep has orphans removed, now and then once a day for as long as the task is snoozed.
func (s *Service) ScheduleSweep(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: SweepBlobs{}, Unique: true, Priority: 4})
		return err
	})
}
