package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"platen/store"
)

// Collaboration gives a user a role on an item and on everything in it, once it is accepted.
type Collaboration struct {
	ID             int64
	Item           *Item    // listing form; nil unless it is accepted
	User           *UserRef // nil while no user has the invited login
	InviteLogin    string   // the invited login until the collaboration is accepted; "" for an existing user
	Role           Role
	Status         string    // CollaborationAccepted, CollaborationPending or CollaborationRejected
	AccessOnly     bool      // hides the location of the item from the user
	CanViewPath    bool      // shows the user the names of the folders above the item
	ExpiresAt      time.Time // zero: never
	AcknowledgedAt time.Time // when it was accepted or rejected; zero: not yet
	CreatedBy      UserRef
	CreatedAt      time.Time
	ModifiedAt     time.Time
}

// The statuses of a collaboration. A collaboration with a user of this server is accepted immediately. An invitation of an unknown login is
// pending until a user with that login exists, and accepts or rejects it.
const (
	CollaborationAccepted = "accepted"
	CollaborationPending  = "pending"
	CollaborationRejected = "rejected"
)

// NewCollaboration describes a collaboration to create. The user is given by id or by login.
type NewCollaboration struct {
	ItemKind    Kind
	ItemID      int64
	UserID      int64  // 0 if identified by Login
	Login       string // empty if identified by UserID
	Role        Role
	AccessOnly  bool
	CanViewPath bool      // for folders only
	ExpiresAt   time.Time // zero: never
}

// CollaborationProblems returns everything that is wrong with a new collaboration, as far as it can be checked without
// the item and the user.
func (s *Service) CollaborationProblems(n NewCollaboration) []Problem {
	var problems []Problem
	if _, ok := rolePermissions[n.Role]; !ok {
		problems = append(problems, roleProblem(n.Role))
	}
	switch {
	case n.UserID != 0:
	case n.Login == "":
		problems = append(problems, Problem{Reason: ReasonMissing, Name: "accessible_by.id",
			Message: "'accessible_by' must have an id or a login"})
	default:
		problems = append(problems, loginProblems("accessible_by.login", n.Login)...)
	}
	if n.CanViewPath {
		problems = append(problems, pathProblems(n.ItemKind)...)
	}
	return append(problems, s.expiryProblems(n.ExpiresAt)...)
}

// roleProblem returns the Problem of an invalid role.
func roleProblem(role Role) Problem {
	if role == RoleOwner {
		return invalidField("role", "owner is not a role for a new collaboration: assign another role first, and then change it to owner")
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(rolePermissions)) {
		names = append(names, string(name))
	}
	return invalidField("role", "%q is not a role of a collaborator; the roles are %s", role, strings.Join(names, ", "))
}

// pathProblems returns the problems of showing the path to an item.
func pathProblems(kind Kind) []Problem {
	if kind == Folder {
		return nil
	}
	return []Problem{invalidField("can_view_path", "only a collaboration on a folder can show the path to it")}
}

// expiryProblems returns the problems of the time at which a collaboration ends.
func (s *Service) expiryProblems(at time.Time) []Problem {
	if at.IsZero() || at.After(s.now()) {
		return nil
	}
	return []Problem{invalidField("expires_at", "expires_at must be a time in the future, or null for never")}
}

// grant checks that a caller with some permissions may give a role, which must not have more permissions.
func grant(may Permissions, role Role) error {
	if may.Can(rolePermissions[role]) {
		return nil
	}
	return failf(CodeForbidden, "Access denied – you cannot assign a role (%s) with more permissions than your own.", role)
}

// grantPath returns an Error if a caller with these permissions may not show others the path of an item.
func grantPath(may Permissions) error {
	if may.Can(MayManage) {
		return nil
	}
	return failf(CodeForbidden, "Access denied – only the owner and co-owners can set can_view_path.")
}

// CreateCollaboration gives a user a role on an item, or invites an unknown login.
func (s *Service) CreateCollaboration(ctx context.Context, c *Caller, n NewCollaboration) (*Collaboration, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	if err := Invalid(s.CollaborationProblems(n)...); err != nil {
		return nil, err
	}
	if n.ItemKind == Folder && n.ItemID == rootID {
		return nil, failf(CodeRootCollaboration, "Collaborations are not available on the root folder. Share a folder inside it.")
	}
	var made *Collaboration
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lock(ctx, tx, c, n.ItemKind, n.ItemID, MayInvite, "")
		if err != nil {
			return err
		}
		if err := checkGrants(p, n); err != nil {
			return err
		}
		row, err := s.newCollaborationRow(ctx, tx, c, p, n)
		if err != nil {
			return err
		}
		if err := insertCollaboration(ctx, tx, row); err != nil {
			return err
		}
		if made, err = readCollaboration(ctx, tx.Queries, row.ID); err != nil {
			return err
		}
		if err := s.auditShare(ctx, tx, c, AuditShared, row.ID, p.row, string(made.Role), row.UserID.Int64); err != nil {
			return err
		}
		return s.fireShared(ctx, tx, c, CollaborationWasCreated, made, p.row)
	})
	return made, err
}

// checkGrants checks that a caller may create a collaboration with its role and options.
func checkGrants(p place, n NewCollaboration) error {
	if p.archive != nil {
		return failf(CodeForbidden, "Access denied – items in an archive cannot have collaborations.")
	}
	if n.CanViewPath {
		if err := grantPath(p.may); err != nil {
			return err
		}
	}
	return grant(p.may, n.Role)
}

// newCollaborationRow returns the row of a new collaboration on an item.
func (s *Service) newCollaborationRow(ctx context.Context, tx *store.Tx, c *Caller, p place,
	n NewCollaboration) (store.InsertCollaborationParams, error) {
	now := s.micros()
	row := store.InsertCollaborationParams{
		ID: s.newID(), ItemID: p.row.ID, Role: string(n.Role), Status: CollaborationAccepted,
		IsAccessOnly: n.AccessOnly, CanViewPath: n.CanViewPath, ExpiresAt: microsOf(n.ExpiresAt, 0),
		AcknowledgedAt: now, CreatedAt: now, CreatedBy: c.User.ID, ModifiedAt: now,
	}
	user, err := s.invited(ctx, tx, n)
	switch {
	case err != nil:
		return row, err
	case user == nil:
		row.InviteLogin, row.InviteKey = n.Login, foldKey(n.Login)
		row.Status, row.AcknowledgedAt = CollaborationPending, 0
	case user.ID == p.row.OwnerID:
		return row, failf(CodeCollaborator, "The user owns the %s.", n.ItemKind)
	default:
		row.UserID = userID(user.ID)
	}
	return row, nil
}

// insertCollaboration adds a collaboration, and replaces one that has ended.
func insertCollaboration(ctx context.Context, tx *store.Tx, row store.InsertCollaborationParams) error {
	err := tx.DeleteEndedCollaborations(ctx, store.DeleteEndedCollaborationsParams{
		ItemID: row.ItemID, UserID: row.UserID, InviteKey: row.InviteKey, ExpiresAt: row.CreatedAt,
	})
	if err != nil {
		return err
	}
	added, err := tx.InsertCollaboration(ctx, row)
	if err == nil && added == 0 {
		return failf(CodeCollaborator, "The user is already a collaborator, or invited. Change the role instead.")
	}
	return err
}

// readCollaboration returns a collaboration after the access check.
func readCollaboration(ctx context.Context, q *store.Queries, id int64) (*Collaboration, error) {
	row, err := q.Collaboration(ctx, id)
	if err != nil {
		return nil, err
	}
	return collaborationOf(ctx, q, userRefs{}, row.Collaboration, row.Item)
}

func collaborationOf(ctx context.Context, q *store.Queries, users userRefs, row store.Collaboration,
	item store.Item) (*Collaboration, error) {
	collaboration := &Collaboration{
		ID: row.ID, Role: Role(row.Role), Status: row.Status, AccessOnly: row.IsAccessOnly, CanViewPath: row.CanViewPath,
		ExpiresAt: timeOf(row.ExpiresAt), AcknowledgedAt: timeOf(row.AcknowledgedAt),
		CreatedAt: timeOf(row.CreatedAt), ModifiedAt: timeOf(row.ModifiedAt),
	}
	if row.Status == CollaborationAccepted {
		shown := listed(item.Listed())
		collaboration.Item = &shown
	} else {
		collaboration.InviteLogin = row.InviteLogin
	}
	if row.UserID.Valid {
		user, err := users.get(ctx, q, row.UserID.Int64)
		if err != nil {
			return nil, err
		}
		collaboration.User = &user
	}
	var err error
	collaboration.CreatedBy, err = users.get(ctx, q, row.CreatedBy)
	return collaboration, err
}

// share is a collaboration that was found for a caller.
type share struct {
	row   store.Collaboration
	item  store.Item
	place place // the item as the caller sees it; empty if the caller is invited and cannot see it yet
}

// findCollaboration returns a collaboration that a caller may see: one on an item that the caller sees, or an
// invitation for the caller. An expired collaboration is not found.
func (s *Service) findCollaboration(ctx context.Context, q *store.Queries, c *Caller, id int64) (share, error) {
	row, err := q.Collaboration(ctx, id)
	ended := err == nil && row.Collaboration.ExpiresAt != 0 && row.Collaboration.ExpiresAt <= s.micros()
	if errors.Is(err, sql.ErrNoRows) || ended {
		return share{}, NotFound("collab", id)
	}
	found := share{row: row.Collaboration, item: row.Item}
	if err != nil {
		return found, err
	}
	p, err := s.find(ctx, q, c, Kind(row.Item.Kind), row.Item.ID, MaySee)
	if IsCode(err, CodeNotFound) {
		lies, err := s.placeAt(ctx, q, Kind(row.Item.Kind), row.Item.ID)
		if err == nil && (!found.matches(c) || removedAny(lies.chain)) { // else invited
			err = NotFound("collab", id)
		}
		return found, err
	}
	found.place = p
	return found, err
}

// matches reports whether the caller is the collaborator.
func (f share) matches(c *Caller) bool { return f.row.UserID.Valid && f.row.UserID.Int64 == c.User.ID }

// Collaboration returns a collaboration on an item that the caller sees, or an invitation for the caller.
func (s *Service) Collaboration(ctx context.Context, c *Caller, id int64) (*Collaboration, error) {
	if err := c.require(ScopeRead); err != nil {
		return nil, err
	}
	var found *Collaboration
	err := s.db.Read(ctx, func(q *store.Queries) error {
		f, err := s.findCollaboration(ctx, q, c, id)
		if err != nil {
			return err
		}
		found, err = collaborationOf(ctx, q, userRefs{}, f.row, f.item)
		return err
	})
	return found, err
}

// DeleteCollaboration deletes a collaboration: the caller's own, one on an item that the caller manages, or a pending
// invitation for the caller.
func (s *Service) DeleteCollaboration(ctx context.Context, c *Caller, id int64) error {
	if err := c.require(ScopeWrite); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		found, err := s.lockCollaboration(ctx, tx, c, id)
		if err != nil {
			return err
		}
		withdrawn := found.row.Status == CollaborationPending && found.row.CreatedBy == c.User.ID
		if !found.matches(c) && !withdrawn && !found.place.may.Can(MayManage) {
			return failf(CodeForbidden, "Access denied – only the owner, co-owners, and the collaborator can delete a collaboration.")
		}
		ended, err := collaborationOf(ctx, tx.Queries, userRefs{}, found.row, found.item)
		if err != nil {
			return err
		}
		if _, err := tx.DeleteCollaboration(ctx, id); err != nil {
			return err
		}
		if err := s.auditShare(ctx, tx, c, AuditShareEnded, id, found.item, string(ended.Role), found.row.UserID.Int64); err != nil {
			return err
		}
		return s.fireShared(ctx, tx, c, CollaborationWasRemoved, ended, found.item)
	})
}

// auditShare records an action on a collaboration: its item, its role, and its user, which is 0 for an unknown login.
func (s *Service) auditShare(ctx context.Context, tx *store.Tx, c *Caller, action AuditAction, id int64, item store.Item, role string,
	user int64) error {
	return s.audit(ctx, tx, c, action, auditOf("collaboration", id), "item", fmt.Sprintf("%s %d", Kind(item.Kind), item.ID), "role", role,
		"user_id", strconv.FormatInt(user, 10))
}

// fireShared fires the event for a change of a collaboration on an item.
func (s *Service) fireShared(ctx context.Context, tx *store.Tx, c *Caller, trigger Trigger, of *Collaboration, item store.Item) error {
	p, err := s.placeAt(ctx, tx.Queries, Kind(item.Kind), item.ID)
	if err != nil {
		return err
	}
	return s.fire(ctx, tx, c, event{trigger: trigger, item: p, collaboration: of})
}

// lockCollaboration returns a collaboration that nobody else can change until the transaction ends.
func (s *Service) lockCollaboration(ctx context.Context, tx *store.Tx, c *Caller, id int64) (share, error) {
	if _, err := s.findCollaboration(ctx, tx.Queries, c, id); err != nil {
		return share{}, err
	}
	if _, err := tx.LockCollaboration(ctx, id); err != nil {
		return share{}, err
	}
	return s.findCollaboration(ctx, tx.Queries, c, id)
}

// Collaborations returns one page by marker of the collaborations on an item, including pending invitations, in
// ascending order of id. Every caller who sees the item can list them.
func (s *Service) Collaborations(ctx context.Context, c *Caller, kind Kind, itemID int64, r PageRequest) (Page[Collaboration], error) {
	if err := c.require(ScopeRead); err != nil {
		return Page[Collaboration]{}, err
	}
	var result Page[Collaboration]
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.find(ctx, q, c, kind, itemID, MaySee)
		if err != nil {
			return err
		}
		describe := func(rows []store.Collaboration, err error) ([]Collaboration, error) {
			return collaborationsOf(ctx, q, rows, p.row, err)
		}
		now := s.micros()
		result, err = page(s, c, r, list[Collaboration]{
			name: "collaborations/" + strconv.FormatInt(p.row.ID, 10),
			keys: 1,
			key:  func(c Collaboration) []int64 { return []int64{c.ID} },
			after: func(from []int64, limit int32) ([]Collaboration, error) {
				return describe(q.CollaborationsAfter(ctx, store.CollaborationsAfterParams{ItemID: p.row.ID, ID: from[0], ExpiresAt: now,
					Limit: limit}))
			},
			before: func(from []int64, limit int32) ([]Collaboration, error) {
				return describe(q.CollaborationsBefore(ctx, store.CollaborationsBeforeParams{ItemID: p.row.ID, ID: from[0], ExpiresAt: now,
					Limit: limit}))
			},
		})
		return err
	})
	return result, err
}

// collaborationsOf converts the result of a query for the collaborations on an item.
func collaborationsOf(ctx context.Context, q *store.Queries, rows []store.Collaboration, item store.Item,
	err error) ([]Collaboration, error) {
	users := userRefs{}
	list := make([]Collaboration, len(rows))
	for i, row := range rows {
		var one *Collaboration
		if one, err = collaborationOf(ctx, q, users, row, item); err != nil {
			break
		}
		list[i] = *one
	}
	return list, err
}
