package docgen

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"platen/store"
)

// All files in a tree count for its owner: every version, including past versions and versions in the trash, because all of them take disk
// space until they are permanently deleted. A copy counts in full although its content is stored only once. Usage
// changes in the transaction that adds or deletes the versions.

// Quota limits the storage of one user. 0 means no limit.
type Quota struct {
	Bytes int64 // total of all versions
	Files int64
}

// Space is the usage of a user, with the quota.
type Space struct {
	Bytes, Files int64
	Quota        Quota
}

// NoQuota is the space amount of a user without a limit, regardless of the server's default.
const NoQuota = -1

// quotaOf returns the quota of a user. The enterprise, which owns the archives, has none.
func (s *Service) quotaOf(row store.UserSpace) Quota {
	quota := s.quota
	if row.UserID == s.enterprise.accountID {
		quota = Quota{}
	}
	switch row.MaxBytes {
	case 0:
	case NoQuota:
		quota.Bytes = 0
	default:
		quota.Bytes = row.MaxBytes
	}
	return quota
}

// space returns the usage and the quota of a user.
func (s *Service) space(ctx context.Context, q *store.Queries, userID int64) (Space, error) {
	row, err := q.Space(ctx, userID)
	if errors.Is(err, sql.ErrNoRows) {
		row, err = store.UserSpace{UserID: userID}, nil
	}
	return Space{Bytes: row.Bytes, Files: row.Files, Quota: s.quotaOf(row)}, err
}

// fits returns an Error if additional files and bytes exceed a user's quota. Negative numbers always fit.
func (sp Space) fits(files, bytes int64) error {
	switch {
	case files > 0 && sp.Quota.Files > 0 && files > sp.Quota.Files-sp.Files:
		return failf(CodeStorageFull, "The owner of the folder has %d of at most %d files, including the trash. Permanently delete "+
			"files, or ask an "+
			"administrator for a larger quota.", sp.Files, sp.Quota.Files)
	case bytes > 0 && sp.Quota.Bytes > 0 && bytes > sp.Quota.Bytes-sp.Bytes:
		return failf(CodeStorageFull, "The owner of the folder uses %d of at most %d bytes, including past versions and the trash. "+
			"Permanently delete files, "+
			"or ask an administrator for a larger quota.", sp.Bytes, sp.Quota.Bytes)
	}
	return nil
}

// lockSpace returns the usage and the quota of a user. If there is a quota, the usage is locked until the transaction ends.
func (s *Service) lockSpace(ctx context.Context, tx *store.Tx, userID int64) (Space, error) {
	found, err := s.space(ctx, tx.Queries, userID)
	if err != nil || found.Quota == (Quota{}) {
		return found, err
	}
	row, err := tx.AddSpace(ctx, userID, 0, 0)
	return Space{Bytes: row.Bytes, Files: row.Files, Quota: s.quotaOf(row)}, err
}

// left returns the number of bytes that a user may still store.
func (sp Space) left() int64 {
	if sp.Quota.Bytes == 0 {
		return math.MaxInt64 - 1
	}
	return max(0, sp.Quota.Bytes-sp.Bytes)
}

// charge adds to the usage of a user, or subtracts from it, and returns the Error of an exceeded quota. Call it late
// in a transaction, before addUsage, because others that add files for the same user wait from then on.
func (s *Service) charge(ctx context.Context, tx *store.Tx, userID, files, bytes int64) error {
	if files == 0 && bytes == 0 {
		return nil
	}
	row, err := tx.AddSpace(ctx, userID, bytes, files)
	if err != nil {
		return err
	}
	before := Space{Bytes: row.Bytes - bytes, Files: row.Files - files, Quota: s.quotaOf(row)}
	return before.fits(files, bytes)
}

// chargeMove transfers the usage of a tree from one user to another.
func (s *Service) chargeMove(ctx context.Context, tx *store.Tx, itemID, from, to int64) error {
	if from == to {
		return nil
	}
	files, bytes, err := tx.TreeSpace(ctx, itemID)
	if err != nil {
		return err
	}
	if from < to { // in the order of their ids, so that opposite moves do not deadlock
		if err := s.charge(ctx, tx, from, -files, -bytes); err != nil {
			return err
		}
		return s.charge(ctx, tx, to, files, bytes)
	}
	if err := s.charge(ctx, tx, to, files, bytes); err != nil {
		return err
	}
	return s.charge(ctx, tx, from, -files, -bytes)
}
