package docgen

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"platen/store"
)

// Purge permanently deletes a file or folder in the trash, with everything below it. Only the owner may do this, unless
// the owner's status forbids it.
func (s *Service) Purge(ctx context.Context, c *Caller, kind Kind, id int64) error {
	if err := c.require(ScopeWrite); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		err := lockTrees(ctx, tx, func() ([]int64, error) {
			p, err := s.findTrashed(ctx, tx.Queries, c, kind, id, MayOwn|MayDelete)
			if err != nil {
				return nil, err
			}
			return []int64{p.tree()}, nil
		})
		if err != nil {
			return err
		}
		matched, err := s.purge(ctx, tx, c, kind, id)
		if err != nil {
			return err
		}
		if err := s.audit(ctx, tx, c, AuditPurged, auditOf(kind.String(), id)); err != nil {
			return err
		}
		return s.enqueue(ctx, tx, matched)
	})
}

// purge permanently removes an item and everything in it, including the trash: versions, collaborations, and the readings of templates.
// Batches and jobs stay, and those that still need the template fail. Items beyond the limit of one transaction are hidden now, and removed
// by RemoveTrees. Tasks remove contents without versions. The caller must lock the tree with LockTrees, update the
// usage of the archive, and enqueue the returned notifications last.
func (s *Service) purge(ctx context.Context, tx *store.Tx, c *Caller, kind Kind, itemID int64) (notifications, error) {
	matched, err := s.matchPurge(ctx, tx, c, kind, itemID)
	if err != nil {
		return notifications{}, err
	}
	all, err := s.removeSome(ctx, tx, kind, itemID)
	if err == nil && !all {
		err = s.removeLater(ctx, tx, itemID)
	}
	return matched, err
}

// purgeOldTrash permanently deletes the items that were put into the trash before a time. For webhooks, the account of the enterprise does
// it. Items that cannot be deleted do not prevent the deletion of others.
func (s *Service) purgeOldTrash(ctx context.Context, before int64, end time.Time) (purged int64, err error) {
	caller := s.Operator()
	var faults []error
	for last := int64(0); !s.now().After(end); {
		var rows []store.OldTrashRow
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			rows, err = q.OldTrash(ctx, before, last, oldPortion)
			return err
		})
		if err != nil || len(rows) == 0 {
			return purged, errors.Join(append(faults, err)...)
		}
		for _, row := range rows {
			if len(faults) == faultsReported {
				return purged, errors.Join(faults...)
			}
			last = row.ID
			err := s.Purge(ctx, caller, Kind(row.Kind), row.ID)
			switch {
			case err == nil:
				purged++
			case !IsCode(err, CodeNotFound) && !IsCode(err, CodeNotTrashed): // otherwise, it was restored or deleted meanwhile
				faults = append(faults, fmt.Errorf("delete %s %d from the trash: %w", Kind(row.Kind), row.ID, err))
			}
		}
	}
	return purged, errors.Join(faults...)
}

// purgeOldVersions permanently deletes the versions of files that were put into the trash before a time. Files whose versions cannot be
// deleted do not prevent the deletion of others.
func (s *Service) purgeOldVersions(ctx context.Context, before int64, end time.Time) (purged int64, err error) {
	var faults []error
	for last := int64(0); !s.now().After(end); {
		var files []int64
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			files, err = q.OldVersionFiles(ctx, before, last, oldPortion)
			return err
		})
		if err != nil || len(files) == 0 {
			return purged, errors.Join(append(faults, err)...)
		}
		for _, id := range files {
			if len(faults) == faultsReported {
				return purged, errors.Join(faults...)
			}
			last = id
			for all := false; !all && !s.now().After(end); {
				var n int
				if n, all, err = s.purgeVersions(ctx, id, before); err != nil {
					faults = append(faults, fmt.Errorf("delete versions of file %d from the trash: %w", id, err))
					break
				}
				purged += int64(n)
			}
		}
	}
	return purged, errors.Join(faults...)
}

// purgeVersions deletes a portion of the versions of a file that were put into the trash before a time, and returns their number. all
// reports whether none are left.
func (s *Service) purgeVersions(ctx context.Context, fileID, before int64) (purged int, all bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		purged, all = 0, false
		p, err := steady(ctx, tx, File, lockRow(ctx, tx), func() (place, error) { return s.standing(ctx, tx.Queries, File, fileID) })
		if all = IsCode(err, CodeNotFound); all {
			return nil
		}
		if err != nil {
			return err
		}
		versions, err := tx.OldVersions(ctx, fileID, before, removalPortion)
		if err != nil {
			return err
		}
		if all = len(versions) == 0; all {
			return nil
		}
		r := &remover{tx: tx, room: removalPortion}
		if _, err := r.versions(ctx, versions); err != nil {
			return err
		}
		if purged = len(r.portion.Versions); purged == 0 { // the portion had only tags of the first version
			return nil
		}
		if err := s.audit(ctx, tx, s.Operator(), AuditPurged, auditOf(File.String(), fileID), "versions", strconv.Itoa(purged)); err != nil {
			return err
		}
		return s.deletePortion(ctx, tx, r.portion, p.row.OwnerID)
	})
	return purged, all, err
}

// RemoveContents is the task that deletes the contents of deleted versions, unless other versions refer to them.
type RemoveContents struct {
	Contents []store.ContentPlace `json:"contents"`
}

// Kind names the task.
func (RemoveContents) Kind() string { return "remove_contents" }

// RemoveContents removes the given contents that no version refers to.
//
// No version can begin to refer to one of them meanwhile: a new reference to an existing content is copied from an existing version, which
// is locked until the end of the transaction.
func (s *Service) RemoveContents(ctx context.Context, task RemoveContents) error {
	_, err := s.removeUnnamed(ctx, task.Contents)
	return err
}

// removeUnnamed removes the given contents that no version refers to, and returns their number.
func (s *Service) removeUnnamed(ctx context.Context, contents []store.ContentPlace) (removed int, err error) {
	var unnamed []store.ContentPlace
	err = s.db.Read(ctx, func(q *store.Queries) error {
		unnamed = nil
		for _, at := range contents {
			named, err := q.IsContentNamed(ctx, at.Key, at.PolicyID)
			if err != nil {
				return err
			}
			if !named {
				unnamed = append(unnamed, at)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, at := range unnamed {
		if err := s.deleteBlob(ctx, at.PolicyID, at.Key); err != nil {
			return removed, fmt.Errorf("remove content: %w", err)
		}
		removed++
	}
	return removed, nil
}
