package docgen

import (
	"context"
	"slices"

	"platen/store"
)

// trash moves an item to the trash.
func (s *Service) trash(ctx context.Context, c *Caller, kind Kind, id int64, ifMatch string, check func(*store.Tx, place) error) error {
	if err := c.require(ScopeWrite); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		held := int64(0)
		if kind == Folder {
			var err error
			if held, err = s.holdArchive(ctx, tx, c, id); err != nil {
				return err
			}
		}
		p, err := s.lock(ctx, tx, c, kind, id, MayDelete, ifMatch)
		if err != nil {
			return err
		}
		if kind == Folder && p.archive != nil && p.tree() != held {
			return failf(CodeConflict, "The folder was just moved. Retry.")
		}
		if err := check(tx, p); err != nil {
			return err
		}
		size, err := archivedSize(ctx, tx, p.row.ID, p)
		if err != nil {
			return err
		}
		if _, err = tx.TrashItem(ctx, p.row.ID, s.micros(), c.User.ID); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{p.above(), -1, -size}); err != nil {
			return err
		}
		return s.fire(ctx, tx, c, event{trigger: kind.either(FileTrashed, FolderTrashed), item: p})
	})
}

// holdArchive locks the archive that contains a folder, so that its computed size stays correct. It returns the id of the archive, or 0 if
// there is none. The folder may have been moved to another place before the lock.
func (s *Service) holdArchive(ctx context.Context, tx *store.Tx, c *Caller, id int64) (int64, error) {
	p, err := s.find(ctx, tx.Queries, c, Folder, id, MaySee)
	if err != nil || p.archive == nil {
		return 0, err
	}
	return p.tree(), tx.LockTrees(ctx, p.tree())
}

// archivedSize returns the size of an item and everything below it if one of the places is in an archive, and otherwise
// 0.
func archivedSize(ctx context.Context, tx *store.Tx, itemID int64, places ...place) (int64, error) {
	if !slices.ContainsFunc(places, func(p place) bool { return p.archive != nil }) {
		return 0, nil
	}
	return tx.TreeSize(ctx, itemID)
}

// Trashed returns a file or folder that was moved to the trash.
func (s *Service) Trashed(ctx context.Context, c *Caller, kind Kind, id int64) (*Item, error) {
	if err := c.require(ScopeRead); err != nil {
		return nil, err
	}
	var item *Item
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.findTrashed(ctx, q, c, kind, id, MaySee)
		if err != nil {
			return err
		}
		item, err = s.describe(ctx, q, c, p)
		return err
	})
	return item, err
}

// Restoration describes how to restore an item from the trash.
type Restoration struct {
	Name     string // a new name; empty to keep the name
	ParentID *int64 // the folder to restore the item to if its original folder is in the trash; nil for none
}

// Restore takes a file or folder out of the trash and puts it back into its folder, with everything that was trashed
// with it.
func (s *Service) Restore(ctx context.Context, c *Caller, kind Kind, id int64, r Restoration) (*Item, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	if r.Name != "" {
		if err := s.checkName(r.Name); err != nil {
			return nil, err
		}
	}
	var item *Item
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		var p, target place
		err := lockTrees(ctx, tx, func() (_ []int64, err error) {
			if p, err = s.findTrashed(ctx, tx.Queries, c, kind, id, MayDelete); err != nil {
				return nil, err
			}
			if target, err = s.restoreTarget(ctx, tx.Queries, c, p, r); err != nil {
				return nil, err
			}
			return []int64{p.tree(), target.tree()}, nil
		})
		if err != nil {
			return err
		}
		if err := s.restoreTo(ctx, tx, c, p, target, r.Name); err != nil {
			return err
		}
		item, err = s.item(ctx, tx.Queries, c, kind, id)
		return err
	})
	return item, err
}

// restoreTarget finds the folder to which an item is restored. A caller who could delete the item from its folder may restore it there.
func (s *Service) restoreTarget(ctx context.Context, q *store.Queries, c *Caller, p place, r Restoration) (place, error) {
	above := p.above()
	if !trashedAny(above.chain) {
		return above, nil
	}
	if r.ParentID == nil {
		return place{}, Invalid(Problem{Reason: ReasonMissing, Name: "parent.id",
			Message: "its original folder is in the trash: restore that first, or select another parent"})
	}
	target, err := s.find(ctx, q, c, Folder, *r.ParentID, MayUpload)
	if err != nil {
		return place{}, err
	}
	return target, p.mayGo(target)
}

// restoreTo moves an item from the trash into a folder, with a new name or, if that is empty, with its old name.
func (s *Service) restoreTo(ctx context.Context, tx *store.Tx, c *Caller, p, target place, name string) error {
	row := p.row
	row.ParentID = parentOf(target.row.ID)
	if name != "" {
		row.Name = name
	}
	if err := s.nameFree(ctx, tx.Queries, c, row); err != nil {
		return err
	}
	_, err := tx.RestoreItem(ctx, store.RestoreItemParams{ID: row.ID, ParentID: row.ParentID, Name: row.Name, NameKey: foldKey(row.Name)})
	if err != nil {
		return lateTaken(err)
	}
	if err := s.joinTree(ctx, tx, c, p, target); err != nil {
		return err
	}
	size, err := archivedSize(ctx, tx, row.ID, target)
	if err != nil {
		return err
	}
	if err := addUsage(ctx, tx, usage{target, 1, size}); err != nil {
		return err
	}
	return s.fire(ctx, tx, c, event{trigger: Kind(row.Kind).either(FileRestored, FolderRestored), item: p, also: []place{target}})
}

// trashOf returns the listing of a caller's trash. For callers who manage the content of the enterprise, it includes the trash of archives.
func (s *Service) trashOf(c *Caller) store.Listing {
	listing := store.Listing{TrashOf: c.User.ID}
	if c.has(ScopeGlobalContent) {
		listing.TrashToo = s.enterprise.accountID
	}
	return listing
}

// Trash returns one page of the trash, by marker: the caller's items that were put into the trash themselves and, if the caller manages the
// content of the enterprise, those of archives. Folders come first, each kind in ascending order of id.
func (s *Service) Trash(ctx context.Context, c *Caller, r PageRequest) (Page[Item], error) {
	if err := c.require(ScopeRead); err != nil {
		return Page[Item]{}, err
	}
	var result Page[Item]
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		result, err = page(s, c, r, itemList(ctx, q, "trash", s.trashOf(c)))
		return err
	})
	return result, err
}

// TrashByOffset returns one page by offset of the same list, in the given order.
func (s *Service) TrashByOffset(ctx context.Context, c *Caller, r OffsetRequest, order ItemOrder) (OffsetPage[Item], error) {
	if err := c.require(ScopeRead); err != nil {
		return OffsetPage[Item]{}, err
	}
	var result OffsetPage[Item]
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		result, err = itemsAt(ctx, q, c, s.trashOf(c), r, order)
		return err
	})
	return result, err
}
