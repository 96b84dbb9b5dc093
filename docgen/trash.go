package docgen

import (
	"context"

	"platen/store"
)

// trash puts an item into the trash.
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
			return failf(CodeConflict, "The folder was moved a moment ago. Retry.")
		}
		if err := check(tx, p); err != nil {
			return err
		}
		size, err := p.size(ctx, tx)
		if err != nil {
			return err
		}
		if _, err = tx.TrashItem(ctx, p.row.ID, s.micros(), c.User.ID); err != nil {
			return err
		}
		return grow(ctx, tx, growth{p, -size})
	})
}

// holdArchive keeps everybody else out of the archive that a folder lies in, so that what is summed up stays so. It returns
// the id of the archive; 0 for none. The folder may have been moved out of it, or into another, before it was held.
func (s *Service) holdArchive(ctx context.Context, tx *store.Tx, c *Caller, id int64) (int64, error) {
	p, err := s.find(ctx, tx.Queries, c, Folder, id, MaySee)
	if err != nil || p.archive == nil {
		return 0, err
	}
	return p.tree(), tx.HoldTrees(ctx, p.tree())
}

// size is what an item, with all below it, adds to the archive that it lies in; nothing outside of archives.
func (p place) size(ctx context.Context, tx *store.Tx) (int64, error) {
	if p.archive == nil {
		return 0, nil
	}
	return tx.TreeSize(ctx, p.row.ID)
}
