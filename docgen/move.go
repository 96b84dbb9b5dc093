package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"platen/store"
)

// lockMove locks what a move changes. Without the lock, two folders that are moved into each other at the same time would no longer have a
// root, and items that are added to a folder while it moves to another tree would count for the wrong owner. For a file, it prevents
// exclusive locks on the two trees.
func (s *Service) lockMove(ctx context.Context, tx *store.Tx, c *Caller, kind Kind, id int64, change ItemChange) error {
	if kind == Folder {
		return lockTrees(ctx, tx, func() ([]int64, error) {
			p, target, err := s.findMove(ctx, tx.Queries, c, kind, id, change)
			if err != nil || p.tree() == target.tree() {
				return nil, err
			}
			return []int64{p.tree(), target.tree()}, nil
		})
	}
	p, target, err := s.findMove(ctx, tx.Queries, c, kind, id, change)
	if err != nil {
		return err
	}
	return tx.LockTreesShared(ctx, p.tree(), target.tree())
}

// findMove returns an item and the target folder of a change, if the caller may move the item there.
func (s *Service) findMove(ctx context.Context, q *store.Queries, c *Caller, kind Kind, id int64,
	change ItemChange) (p, target place, err error) {
	if p, err = s.find(ctx, q, c, kind, id, MayEdit); err != nil {
		return p, target, err
	}
	targetID, err := s.targetID(ctx, q, c, change)
	if err != nil {
		return p, target, err
	}
	target, err = s.find(ctx, q, c, Folder, targetID, MayUpload)
	if IsCode(err, CodeNotFound) && change.ParentOwner != 0 {
		err = noParentOwner(change)
	}
	if err == nil {
		err = checkMove(p, target)
	}
	return p, target, err
}

// checkMove returns the Error of a move that is impossible or not permitted.
func checkMove(p, target place) error {
	if err := p.changeable(); err != nil {
		return err
	}
	if target.isBelow(p) {
		return failf(CodeCycle, "A folder cannot be moved into itself or into a folder below it.")
	}
	return p.mayGo(target)
}

// targetID returns the id in the database of the target folder of a change.
func (s *Service) targetID(ctx context.Context, q *store.Queries, c *Caller, change ItemChange) (int64, error) {
	if *change.ParentID != rootID || change.ParentOwner == 0 {
		return s.folderRow(c, *change.ParentID), nil
	}
	owner, err := q.User(ctx, change.ParentOwner)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, noParentOwner(change)
	}
	return owner.User.RootFolderID, err
}

// isBelow reports whether a place is below the other one or the same.
func (p place) isBelow(other place) bool {
	return slices.ContainsFunc(p.chain, func(link store.ItemChainRow) bool { return link.Item.ID == other.row.ID })
}

// mayGo returns an Error if the item may not be moved into a folder. The owner of a folder owns everything in it, so a
// move may transfer ownership.
func (p place) mayGo(target place) error {
	if p.row.OwnerID == target.row.OwnerID || p.may.Can(MayOwn) {
		return nil
	}
	return failf(CodeForbidden, "Access denied – only the owner of the %s can move it to a folder of another owner.", Kind(p.row.Kind))
}

// lockTrees locks trees until the end of the transaction. It calls find, which returns their ids, and calls it again
// after locking: from then on, its result is stable.
func lockTrees(ctx context.Context, tx *store.Tx, find func() ([]int64, error)) error {
	if _, err := tx.LockSetting(ctx, settingTree); err != nil { // keeps folders in their trees
		return err
	}
	held, err := find()
	if err != nil {
		return err
	}
	if err := tx.LockTrees(ctx, held...); err != nil {
		return err
	}
	now, err := find()
	if err == nil && !slices.Equal(now, held) {
		return failf(CodeConflict, "The item was just moved. Retry.")
	}
	return err
}

// noParentOwner returns the Error for a user who does not exist, or to whose root folder the caller may not add items.
func noParentOwner(change ItemChange) error {
	return Invalid(invalidField("parent.user_id", "user %d does not exist, or you may not add items to their root folder", change.ParentOwner))
}

// handOver completes the move of an item and everything below it to another folder. In a new tree, the item belongs to
// the owner of the tree, loses its collaborations and shared links if the tree is an archive, and its contents move to
// the archive's storage policy. It also updates the usage of folders and archives.
func (s *Service) handOver(ctx context.Context, tx *store.Tx, c *Caller, from, to place) error {
	var size int64
	if from.tree() != to.tree() {
		if err := s.joinTree(ctx, tx, c, from, to); err != nil {
			return err
		}
		var err error
		if size, err = archivedSize(ctx, tx, from.row.ID, from, to); err != nil {
			return err
		}
	}
	return addUsage(ctx, tx, usage{from.above(), -1, -size}, usage{to, 1, size})
}

// maxOwnerItems is the number of files and folders that can change owner at once, in one transaction that blocks others (ADR 29).
const maxOwnerItems = 5_000

// mayChangeOwner returns an Error if a tree is too large for a caller to transfer to another owner. There is no limit for callers who
// manage the content of the enterprise.
func mayChangeOwner(ctx context.Context, tx *store.Tx, c *Caller, p place) error {
	if c.has(ScopeGlobalContent) {
		return nil
	}
	count, err := tx.TreeItems(ctx, p.row.ID, maxOwnerItems+1, true)
	if err == nil && count > maxOwnerItems {
		kind := Kind(p.row.Kind)
		return Invalid(invalidField(kind.String(),
			"%s %d contains more than the %d files and folders that can change owner at once, including the trash: move "+
				"its items in parts, or ask an administrator to move it", kind, p.row.ID, maxOwnerItems))
	}
	return err
}

// joinTree transfers an item and everything below it to the owner of its new tree, and deletes collaborations and shared links if the
// tree is an archive.
func (s *Service) joinTree(ctx context.Context, tx *store.Tx, c *Caller, from, to place) error {
	if from.row.OwnerID != to.row.OwnerID {
		if err := mayChangeOwner(ctx, tx, c, from); err != nil {
			return err
		}
		if err := s.fitsNewOwner(ctx, tx, c, from, to.row.OwnerID); err != nil {
			return err
		}
		if err := s.transferTree(ctx, tx, from.row.ID, from.row.OwnerID, to.row.OwnerID); err != nil {
			return err
		}
	}
	if to.archive != nil && from.tree() != to.tree() {
		if err := tx.DeleteTreeShares(ctx, from.row.ID); err != nil {
			return err
		}
	}
	if from.policy() == to.policy() {
		return nil
	}
	return settle(ctx, tx, from.row.ID, to.policy())
}

// transferTree makes a user the owner of an item and of everything below it. It deletes the user's collaborations there, because an
// owner needs none.
func (s *Service) transferTree(ctx context.Context, tx *store.Tx, itemID, from, ownerID int64) error {
	if err := tx.SetTreeOwner(ctx, itemID, ownerID); err != nil {
		return err
	}
	if err := tx.DeleteTreeCollaborationsOf(ctx, itemID, ownerID); err != nil {
		return err
	}
	return s.chargeMove(ctx, tx, itemID, from, ownerID)
}

// A usage is a change of the usage of a folder: items directly in it, and bytes in its archive, if it is in one.
type usage struct {
	folder place
	items  int64
	bytes  int64
}

// addUsage changes the usage of folders and archives. It must be the last step of a transaction, because other transactions that
// write to the same folders wait from then on. It locks them in the order of their ids.
func addUsage(ctx context.Context, tx *store.Tx, changes ...usage) error {
	slices.SortFunc(changes, func(a, b usage) int { return cmp.Compare(a.folder.row.ID, b.folder.row.ID) })
	for _, u := range changes {
		if u.items != 0 {
			if err := tx.AddFolderItems(ctx, u.folder.row.ID, u.items); err != nil {
				return err
			}
		}
	}
	changes = slices.DeleteFunc(changes, func(u usage) bool { return u.folder.archive == nil || u.bytes == 0 })
	slices.SortFunc(changes, func(a, b usage) int { return cmp.Compare(a.folder.archive.ID, b.folder.archive.ID) })
	for _, u := range changes {
		if err := tx.AddArchiveSize(ctx, u.folder.archive.ID, u.bytes); err != nil {
			return err
		}
	}
	return nil
}
