package docgen

import (
	"context"
	"strconv"

	"platen/store"
)

// giveAway makes a collaborator the owner of an item and of all below it. The item then lies in the new owner's root
// folder, under a name with a number where its own is taken there, and who owned it is a co-owner.
func (s *Service) giveAway(ctx context.Context, c *Caller, id int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var heir *Caller
		err := holdTrees(ctx, tx, func() (trees []int64, err error) {
			heir, trees, err = s.findGift(ctx, tx, c, id)
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
		root, err := s.lockFolder(ctx, tx, heir, rootID)
		if err != nil {
			return err
		}
		err = s.audit(ctx, tx, c, AuditOwnerChanged, auditOf(Kind(p.row.Kind).String(), p.row.ID), "from", strconv.FormatInt(p.row.OwnerID, 10),
			"to", strconv.FormatInt(heir.User.ID, 10))
		if err != nil {
			return err
		}
		return s.inherit(ctx, tx, c, p, root)
	})
}

// findGift returns who gets an item, and the trees that it goes from and to.
func (s *Service) findGift(ctx context.Context, tx *store.Tx, c *Caller, id int64) (heir *Caller, trees []int64, err error) {
	found, err := s.findCollaboration(ctx, tx.Queries, c, id)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case !found.place.may.Can(MayOwn | MayEdit):
		return nil, nil, failf(CodeForbidden, "Access denied – only the owner makes another user the owner.")
	case found.row.Status != CollaborationAccepted:
		return nil, nil, failf(CodeInvalidStatus, "The user has not accepted the invitation, and cannot become the owner before.")
	}
	user, err := tx.User(ctx, found.row.UserID.Int64)
	if err != nil {
		return nil, nil, err
	}
	if !isActive(user.User) {
		return nil, nil, failf(CodeInvalidStatus, "The user is not active, and cannot become the owner.")
	}
	heir = callerOf(user.User, false)
	return heir, []int64{found.place.tree(), heir.rootID}, nil
}

// inherit moves an item into the root folder of its new owner.
func (s *Service) inherit(ctx context.Context, tx *store.Tx, c *Caller, p, root place) error {
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
