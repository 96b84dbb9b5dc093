package docgen

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"

	"platen/store"
)

// sweepAge is the minimum age of an orphan. A younger object without a row may belong to an upload or a document in
// progress.
const sweepAge = 24 * time.Hour

// sweepPortion is the number of contents that are looked up at once.
const sweepPortion = 1000

// SweepBlobs is the task that deletes orphans.
type SweepBlobs struct{}

// Kind names the task.
func (SweepBlobs) Kind() string { return "sweep_blobs" }

// Sweep removes the contents that no version refers to, and returns their number. They are left by crashes before a version was added. Keys
// are never used twice, so no version will refer to them. A storage policy that fails does not stop the others.
func (s *Service) Sweep(ctx context.Context) (removed int, err error) {
	for _, p := range s.policies {
		n, swept := s.sweepPolicy(ctx, p)
		removed += n
		if swept != nil {
			err = errors.Join(err, fmt.Errorf("sweep storage policy %q: %w", p.Name, swept))
		}
	}
	n, swept := s.sweepUploads(ctx)
	return removed + n, errors.Join(err, swept, s.sweepChecksums(ctx), s.sweepZips(ctx))
}

// sweepChecksums deletes the checksums of contents that no version refers to anymore.
func (s *Service) sweepChecksums(ctx context.Context) error {
	for {
		var removed int64
		err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
			removed, err = tx.DeleteUnusedBlocks(ctx, sweepPortion)
			return err
		})
		if err != nil {
			return fmt.Errorf("sweep checksums: %w", err)
		}
		if removed < sweepPortion {
			return nil
		}
	}
}

func (s *Service) sweepPolicy(ctx context.Context, p StoragePolicy) (removed int, err error) {
	var old []store.ContentPlace
	for info, err := range p.blobs.List(ctx, blobPrefix) {
		if err != nil {
			return removed, fmt.Errorf("list contents: %w", err)
		}
		if !isBlobKey(info.Key) || s.now().Sub(info.Modified) < sweepAge {
			continue // not created by Platen, or possibly still in progress
		}
		old = append(old, store.ContentPlace{Key: info.Key, PolicyID: p.ID})
		if len(old) < sweepPortion {
			continue
		}
		n, err := s.removeUnnamed(ctx, old)
		removed += n
		if err != nil {
			return removed, err
		}
		old = old[:0]
	}
	n, err := s.removeUnnamed(ctx, old)
	return removed + n, err
}

// isBlobKey reports whether a key has the format of blobKey.
func isBlobKey(key string) bool {
	id, err := strconv.ParseInt(path.Base(key), 10, 64)
	return err == nil && key == blobKey(id)
}

// ScheduleSweep schedules the deletion of orphans, now and then once a day for as long as the task is snoozed.
func (s *Service) ScheduleSweep(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: SweepBlobs{}, Unique: true, Priority: 4, Tries: maintenanceTries})
		return err
	})
}
