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

// SweepBlobs is the task of removing orphans.
type SweepBlobs struct{}

// Kind names the task.
func (SweepBlobs) Kind() string { return "sweep_blobs" }

// Sweep removes the contents that no version names, which a crash left between making them durable and naming them, and
// returns how many there were.
func (s *Service) Sweep(ctx context.Context) (removed int, err error) {
	for info, err := range s.blobs.List(ctx, blobPrefix) {
		if err != nil {
			return removed, fmt.Errorf("list contents: %w", err)
		}
		if s.now().Sub(info.Modified) < sweepAge {
			continue
		}
		named, err := s.named(ctx, info.Key)
		if err != nil {
			return removed, err
		}
		if named {
			continue
		}
		if err := s.blobs.Delete(ctx, info.Key); err != nil {
			return removed, fmt.Errorf("sweep: %w", err)
		}
		removed++
	}
	return removed, nil
}

// named tells whether a version names a content. What does not look like a version's is left alone.
func (s *Service) named(ctx context.Context, key string) (bool, error) {
	id, err := strconv.ParseInt(path.Base(key), 10, 64)
	if err != nil {
		return true, nil
	}
	err = s.db.Read(ctx, func(q *store.Queries) error {
		_, err := q.Version(ctx, id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return true, err
}

// ScheduleSweep has orphans removed, now and then once a day for as long as the task is snoozed.
func (s *Service) ScheduleSweep(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: SweepBlobs{}, Unique: true, Priority: 4})
		return err
	})
}
