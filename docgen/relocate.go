package docgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"platen/store"
)

// The content of an archive is stored according to its storage policy. Moving files into or out of an archive only
// records the new policy of their contents. A task relocates them: it copies a content, updates the version, and
// removes the content that no version refers to any more. Contents that it could not relocate are tried again later,
// and are read from the old place until then.

// RelocateContents is the task that moves contents to the stores of their policies.
type RelocateContents struct {
	Hourly bool `json:"hourly,omitempty"` // repeats every hour, for contents that could not be relocated
}

// Kind names the task.
func (RelocateContents) Kind() string { return "relocate_contents" }

// RelocationQueue is the queue of the task. Contents can be large, and documents must not wait for them.
const RelocationQueue = "relocation"

const (
	relocationBudget  = 60 * time.Second // no content is started after this; the queue gives a task 120 s
	relocationPortion = 100              // versions read at once
)

// faultsReported is the number of errors of single items after which a task ends, because the items are probably not
// the cause.
const faultsReported = 10

// settle sets the target storage policy of the contents of an item and everything below it, and enqueues their
// relocation.
func settle(ctx context.Context, tx *store.Tx, itemID, policyID int64) error {
	elsewhere, err := tx.SetTreePolicy(ctx, itemID, policyID)
	if err != nil || elsewhere == 0 {
		return err
	}
	_, err = tx.Enqueue(ctx, store.Job{Task: RelocateContents{}, Queue: RelocationQueue})
	return err
}

// ScheduleRelocation schedules the relocation of contents, now and then every hour for as long as the task is snoozed.
func (s *Service) ScheduleRelocation(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: RelocateContents{Hourly: true}, Queue: RelocationQueue, Unique: true, Priority: 4})
		return err
	})
}

// Relocate moves contents to the stores of their policies, and returns their number. If more is true, its time was up,
// and it must be called again. Contents that cannot be moved do not prevent the relocation of others.
func (s *Service) Relocate(ctx context.Context) (moved int, more bool, err error) {
	began := s.now()
	var faults []error
	for last := int64(0); ; {
		var versions []store.FileVersion
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			versions, err = q.MisplacedVersions(ctx, last, relocationPortion)
			return err
		})
		if err != nil || len(versions) == 0 {
			return moved, false, errors.Join(append(faults, err)...)
		}
		for _, version := range versions {
			if s.now().Sub(began) > relocationBudget {
				return moved, true, errors.Join(faults...)
			}
			carried, err := s.relocate(ctx, version)
			if err != nil {
				faults = append(faults, fmt.Errorf("relocate the content of version %d: %w", version.ID, err))
			}
			if ctx.Err() != nil || len(faults) == faultsReported {
				return moved, false, errors.Join(faults...)
			}
			if carried {
				moved++
			}
			last = version.ID
		}
	}
}

// relocate moves one content. It can be interrupted and repeated at any point: there is always a content at the
// location in the version's row, and objects without a row are swept. It returns false if the target has changed
// meanwhile.
func (s *Service) relocate(ctx context.Context, version store.FileVersion) (bool, error) {
	copied, err := s.copyContent(ctx, version)
	if err != nil {
		return false, err
	}
	var moved int64
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if err := s.lockFile(ctx, tx, version.FileID); err != nil {
			return err
		}
		var err error
		moved, err = tx.MoveVersion(ctx, store.MoveVersionParams{
			ID: version.ID, OldKey: version.BlobKey, OldPolicyID: version.StoragePolicyID, NewKey: copied.key, NewPolicyID: copied.policy,
		})
		if err != nil || moved == 0 {
			return err
		}
		return copied.insertBlocks(ctx, tx)
	})
	switch {
	case err != nil: // it is unknown which object the row refers to; the other one is swept
		return false, err
	case moved == 0:
		return false, s.discard(ctx, copied)
	}
	_, err = s.removeUnnamed(ctx, []store.ContentPlace{{Key: version.BlobKey, PolicyID: version.StoragePolicyID}})
	return true, err
}

// lockFile prevents others from changing a file, copying one of its versions, and locking its tree exclusively, until
// the transaction ends. A deleted file needs no lock.
func (s *Service) lockFile(ctx context.Context, tx *store.Tx, id int64) error {
	_, err := steady(ctx, tx, File, lockRow(ctx, tx), func() (place, error) {
		chain, err := tx.ItemChain(ctx, id, 0, 0)
		if err == nil && len(chain) == 0 {
			err = NotFound(File.String(), id)
		}
		return s.placeOf(chain), err
	})
	if IsCode(err, CodeNotFound) {
		return nil
	}
	return err
}

// copyContent creates a durable copy of the content of a version in the store of its policy, under a new key, because a copy from an
// interrupted attempt may just be being swept.
func (s *Service) copyContent(ctx context.Context, version store.FileVersion) (copied content, err error) {
	r, err := s.open(ctx, version, 0, -1)
	if err != nil {
		return content{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	copied, err = s.putContent(ctx, version.WantedPolicyID, io.LimitReader(r, version.Size+1))
	if err != nil {
		return copied, err
	}
	if copied.size != version.Size || !strings.EqualFold(copied.sha1, version.Sha1) {
		return copied, errors.Join(errors.New("the size or the SHA-1 of the stored content does not match the upload"), s.discard(ctx, copied))
	}
	return copied, nil
}
