package docgen

import (
	"context"
	"strconv"

	"platen/store"
)

// transferOwnership makes a collaborator the owner of an item and of everything below it. The item moves to the new
// owner's root folder, with a number in its name if the name is taken there. The previous owner becomes a co-owner.
func (s *Service) transferOwnership(ctx context.Context, c *Caller, id int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var newOwner *Caller
		err := lockTrees(ctx, tx, func() (trees []int64, err error) {
			newOwner, trees, err = s.findTransfer(ctx, tx, c, id)
			return trees, err
		})
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
		root, err := s.lockFolder(ctx, tx, newOwner, rootID)
		if err != nil {
			return err
		}
		err = s.audit(ctx, tx, c, AuditOwnerChanged, auditOf(Kind(p.row.Kind).String(), p.row.ID), "from", strconv.FormatInt(p.row.OwnerID, 10),
			"to", strconv.FormatInt(newOwner.User.ID, 10))
		if err != nil {
			return err
		}
		return s.moveToOwner(ctx, tx, c, p, root)
	})
}

// findTransfer returns the new owner of an item, and the trees that it moves from and to.
func (s *Service) findTransfer(ctx context.Context, tx *store.Tx, c *Caller, id int64) (newOwner *Caller, trees []int64, err error) {
	found, err := s.findCollaboration(ctx, tx.Queries, c, id)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case !found.place.may.Can(MayOwn | MayEdit):
		return nil, nil, failf(CodeForbidden, "Access denied – only the owner can transfer ownership.")
	case found.row.Status != CollaborationAccepted:
		return nil, nil, failf(CodeInvalidStatus,
			"The user has not accepted the invitation yet. Only users who have accepted can become the owner.")
	}
	user, err := tx.User(ctx, found.row.UserID.Int64)
	if err != nil {
		return nil, nil, err
	}
	if !isActive(user.User) {
		return nil, nil, failf(CodeInvalidStatus, "The user is not active. Only active users can become the owner.")
	}
	newOwner = callerOf(user.User, false)
	return newOwner, []int64{found.place.tree(), newOwner.rootID}, nil
}

// moveToOwner moves an item into the root folder of its new owner.
func (s *Service) moveToOwner(ctx context.Context, tx *store.Tx, c *Caller, p, root place) error {
	row, now := p.row, s.micros()
	row.ParentID = parentOf(root.row.ID)
	var err error
	if row.Name, err = freeName(ctx, tx, row.ParentID, Kind(row.Kind), row.Name); err != nil {
		return err
	}
	_, err = tx.UpdateItem(ctx, store.UpdateItemParams{
		ID: row.ID, ParentID: row.ParentID, Name: row.Name, NameKey: foldKey(row.Name), Description: row.Description,
		ModifiedAt: now, ModifiedBy: c.User.ID, Etag: row.Etag,
	})
	if err != nil {
		return lateTaken(err)
	}
	if err := s.handOver(ctx, tx, c, p, root); err != nil {
		return err
	}
	err = insertCollaboration(ctx, tx, store.InsertCollaborationParams{
		ID: s.newID(), ItemID: row.ID, UserID: userID(p.row.OwnerID), Role: string(RoleCoOwner),
		Status: CollaborationAccepted, AcknowledgedAt: now, CreatedAt: now, CreatedBy: c.User.ID, ModifiedAt: now,
	})
	if err != nil {
		return err
	}
	return s.fire(ctx, tx, c, append(renameEvents(p, row.Name), moveEvents(p, root, root.row.ID)...)...)
}
