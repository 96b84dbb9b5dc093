package docgen

import (
	"context"

	"platen/store"
)

// giveAway makes a collaborator the owner of an item and of all below it. The item then lies in the new owner's root
// folder, under a name with a number where its own is taken there, and who owned it is a co-owner.
func (s *Service) giveAway(ctx context.Context, c *Caller, id int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockSetting(ctx, settingTree); err != nil { // as for any move, see holdMove
			return err
		}
		heir, err := s.holdGift(ctx, tx, c, id)
		if err != nil {
			return err
		}
		found, err := s.lockCollaboration(ctx, tx, c, id)
		if err != nil {
			return err
		}
		p, err := s.lock(ctx, tx, c, Kind(found.item.Kind), found.item.ID, MayOwn|MayEdit, "")
		if err != nil {
			return err
		}
		root, err := s.lockFolder(ctx, tx, heir, rootID)
		if err != nil {
			return err
		}
		return s.inherit(ctx, tx, c, p, root)
	})
}

// holdGift keeps everybody else out of the trees that an item goes from and to, and returns who gets it.
func (s *Service) holdGift(ctx context.Context, tx *store.Tx, c *Caller, id int64) (*Caller, error) {
	found, err := s.findCollaboration(ctx, tx.Queries, c, id)
	if err != nil {
		return nil, err
	}
	switch {
	case !found.place.may.Can(MayOwn | MayEdit):
		return nil, failf(CodeForbidden, "Access denied – only the owner makes another user the owner.")
	case found.row.Status != CollaborationAccepted:
		return nil, failf(CodeInvalidStatus, "The user has not accepted the invitation, and cannot become the owner before.")
	}
	user, err := tx.User(ctx, found.row.UserID.Int64)
	if err != nil {
		return nil, err
	}
	if !isActive(user.User) {
		return nil, failf(CodeInvalidStatus, "The user is not active, and cannot become the owner.")
	}
	heir := &Caller{User: userOf(user.User, ""), rootID: user.User.RootFolderID}
	return heir, tx.HoldTrees(ctx, found.place.tree(), heir.rootID)
}

// inherit moves an item into the root folder of its new owner.
func (s *Service) inherit(ctx context.Context, tx *store.Tx, c *Caller, p, root place) error {
	row, now := p.row, s.micros()
	row.ParentID = parentOf(root.row.ID)
	var err error
	if row.Name, err = freeName(ctx, tx, root.row.ID, row.Name); err != nil {
		return err
	}
	_, err = tx.UpdateItem(ctx, store.UpdateItemParams{
		ID: row.ID, ParentID: row.ParentID, Name: row.Name, NameKey: foldKey(row.Name), Description: row.Description,
		ModifiedAt: now, ModifiedBy: c.User.ID, Etag: row.Etag,
	})
	if err != nil {
		return lateTaken(err)
	}
	if err := handOver(ctx, tx, p, root); err != nil {
		return err
	}
	return insertCollaboration(ctx, tx, store.InsertCollaborationParams{
		ID: s.newID(), ItemID: row.ID, UserID: userID(p.row.OwnerID), Role: string(RoleCoOwner),
		Status: CollaborationAccepted, AcknowledgedAt: now, CreatedAt: now, CreatedBy: c.User.ID, ModifiedAt: now,
	})
}

// freeName returns a name or, where it is taken in a folder, the name with the first number that is free.
func freeName(ctx context.Context, tx *store.Tx, folderID int64, name string) (string, error) {
	taken, err := tx.CountNames(ctx, parentOf(folderID), foldKey(name))
	if err != nil || taken == 0 {
		return name, err
	}
	n, err := freeNumber(ctx, tx, store.InsertItemParams{ParentID: parentOf(folderID)}, name, 0)
	return numberedName(name, n), err
}
