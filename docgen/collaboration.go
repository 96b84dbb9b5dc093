package docgen

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"platen/store"
)

// Collaboration gives a user a role on an item and on all that lies below it.
type Collaboration struct {
	ID         int64
	Item       Item // listing form
	User       UserRef
	Role       Role
	CreatedBy  UserRef
	CreatedAt  time.Time
	ModifiedAt time.Time
}

// NewCollaboration describes a collaboration to be made. The user is named by id or by login.
type NewCollaboration struct {
	ItemKind Kind
	ItemID   int64
	UserID   int64  // 0: by Login
	Login    string // empty: by UserID
	Role     Role
}

// roleProblem says what is wrong with a role; nil when nothing is.
func roleProblem(role Role) error {
	if _, ok := rolePermissions[role]; ok {
		return nil
	}
	var names []string
	for name := range rolePermissions {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return Invalid(invalidField("role", "%q is no role of a collaborator; the roles are %s", role, strings.Join(names, ", ")))
}

// grant checks that a caller may give a role where the caller has permissions: nobody gives more than is theirs.
func grant(may Permissions, role Role) error {
	if may.Can(rolePermissions[role]) {
		return nil
	}
	return failf(CodeForbidden, "Access denied – you cannot give a role (%s) that may do more than you may.", role)
}

// CreateCollaboration lets a user of the same enterprise work with an item.
func (s *Service) CreateCollaboration(ctx context.Context, c *Caller, n NewCollaboration) (*Collaboration, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	if err := roleProblem(n.Role); err != nil {
		return nil, err
	}
	if n.ItemKind == Folder && n.ItemID == rootID {
		return nil, failf(CodeRootCollaboration, "Collaborations are not available on the root folder: share a folder in it.")
	}
	var made *Collaboration
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lock(ctx, tx, c, n.ItemKind, n.ItemID, MayInvite, "")
		if err != nil {
			return err
		}
		if err := grant(p.may, n.Role); err != nil {
			return err
		}
		user, err := invited(ctx, tx.Queries, c, n)
		if err != nil {
			return err
		}
		if p.archive != nil {
			return failf(CodeForbidden, "Access denied – nobody collaborates in an archive.")
		}
		if user.ID == p.row.OwnerID {
			return failf(CodeCollaborator, "The user owns the %s.", n.ItemKind)
		}
		id, now := s.newID(), s.micros()
		added, err := tx.InsertCollaboration(ctx, store.InsertCollaborationParams{
			ID: id, ItemID: p.row.ID, UserID: sql.NullInt64{Int64: user.ID, Valid: true}, Role: string(n.Role), Status: "accepted",
			AcknowledgedAt: now, CreatedAt: now, CreatedBy: c.User.ID, ModifiedAt: now,
		})
		if err != nil {
			return err
		}
		if added == 0 {
			return failf(CodeCollaborator, "The user is a collaborator of the %s already; change the role instead.", n.ItemKind)
		}
		row, err := tx.Collaboration(ctx, id)
		if err != nil {
			return err
		}
		made, err = collaborationOf(ctx, tx.Queries, row)
		return err
	})
	return made, err
}

// invited finds the user that a new collaboration names.
func invited(ctx context.Context, q *store.Queries, c *Caller, n NewCollaboration) (store.User, error) {
	var user store.User
	var err error
	if n.UserID != 0 {
		var row store.UserRow
		row, err = q.User(ctx, n.UserID)
		user = row.User
	} else {
		user, err = q.UserByLogin(ctx, foldKey(n.Login))
	}
	if errors.Is(err, sql.ErrNoRows) || err == nil && user.EnterpriseID != c.User.EnterpriseID {
		return user, Invalid(invalidField("accessible_by", "there is no such user: give the id or the login of a user of this server"))
	}
	return user, err
}

func collaborationOf(ctx context.Context, q *store.Queries, row store.CollaborationRow) (*Collaboration, error) {
	users := userRefs{}
	by, err := users.get(ctx, q, row.Collaboration.CreatedBy)
	if err != nil {
		return nil, err
	}
	user, err := users.get(ctx, q, row.Collaboration.UserID.Int64)
	return &Collaboration{
		ID: row.Collaboration.ID, Item: listed(row.Item), Role: Role(row.Collaboration.Role), User: user,
		CreatedBy: by, CreatedAt: timeOf(row.Collaboration.CreatedAt), ModifiedAt: timeOf(row.Collaboration.ModifiedAt),
	}, err
}

// findCollaboration returns a collaboration that a caller may see, being its user or seeing its item, and what the caller
// may do with the item.
func (s *Service) findCollaboration(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.CollaborationRow, Permissions, error) {
	row, err := q.Collaboration(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return row, 0, NotFound("collab", id)
	}
	if err != nil {
		return row, 0, err
	}
	p, err := s.find(ctx, q, c, Kind(row.Item.Kind), row.Item.ID, MaySee)
	if IsCode(err, CodeNotFound) {
		return row, 0, NotFound("collab", id)
	}
	return row, p.may, err
}

// Collaboration returns a collaboration on an item that the caller sees.
func (s *Service) Collaboration(ctx context.Context, c *Caller, id int64) (*Collaboration, error) {
	if err := c.require(ScopeRead); err != nil {
		return nil, err
	}
	var found *Collaboration
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, _, err := s.findCollaboration(ctx, q, c, id)
		if err != nil {
			return err
		}
		found, err = collaborationOf(ctx, q, row)
		return err
	})
	return found, err
}

// UpdateCollaboration changes the role of a collaborator.
func (s *Service) UpdateCollaboration(ctx context.Context, c *Caller, id int64, role Role) (*Collaboration, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	if err := roleProblem(role); err != nil {
		return nil, err
	}
	var changed *Collaboration
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		row, may, err := s.findCollaboration(ctx, tx.Queries, c, id)
		if err != nil {
			return err
		}
		if !may.Can(MayManage) {
			return failf(CodeForbidden, "Access denied – only the owner and co-owners change roles.")
		}
		changes, err := tx.UpdateCollaboration(ctx, id, string(role), s.micros())
		if err != nil {
			return err
		}
		if changes == 0 { // ended a moment ago
			return NotFound("collab", id)
		}
		if row, err = tx.Collaboration(ctx, row.Collaboration.ID); err != nil {
			return err
		}
		changed, err = collaborationOf(ctx, tx.Queries, row)
		return err
	})
	return changed, err
}

// DeleteCollaboration ends a collaboration: the collaborator's own, or any of an item that the caller manages.
func (s *Service) DeleteCollaboration(ctx context.Context, c *Caller, id int64) error {
	if err := c.require(ScopeWrite); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		row, may, err := s.findCollaboration(ctx, tx.Queries, c, id)
		if err != nil {
			return err
		}
		if row.Collaboration.UserID.Int64 != c.User.ID && !may.Can(MayManage) {
			return failf(CodeForbidden, "Access denied – only the owner, co-owners and the collaborator end a collaboration.")
		}
		_, err = tx.DeleteCollaboration(ctx, id)
		return err
	})
}
