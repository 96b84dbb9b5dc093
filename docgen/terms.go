package docgen

import (
	"context"
	"time"

	"platen/store"
)

// CollaborationChange is a change of a collaboration. Empty and nil fields stay unchanged.
type CollaborationChange struct {
	Role        Role       // RoleOwner makes the collaborator the owner of the item
	Status      string     // the invited user's answer: CollaborationAccepted or CollaborationRejected
	CanViewPath *bool      // for folders only
	ExpiresAt   *time.Time // zero: never
}

// CollaborationChangeProblems returns everything that is wrong with a change, as far as it can be checked without the
// collaboration.
func (s *Service) CollaborationChangeProblems(change CollaborationChange) []Problem {
	var problems []Problem
	if _, ok := rolePermissions[change.Role]; !ok && change.Role != "" && change.Role != RoleOwner {
		problems = append(problems, roleProblem(change.Role))
	}
	switch change.Status {
	case "", CollaborationAccepted, CollaborationRejected:
	default:
		problems = append(problems, invalidField("status", "status must be %s or %s", CollaborationAccepted, CollaborationRejected))
	}
	if change.ExpiresAt != nil {
		problems = append(problems, s.expiryProblems(*change.ExpiresAt)...)
	}
	if change.Role == RoleOwner && change != (CollaborationChange{Role: RoleOwner}) {
		problems = append(problems, invalidField("role", "a new owner is no longer a collaborator: send the role owner without other fields"))
	}
	return problems
}

// UpdateCollaboration changes a collaboration, or answers an invitation. If the collaborator has become the owner of the item, the
// collaboration no longer exists, and UpdateCollaboration returns nil.
func (s *Service) UpdateCollaboration(ctx context.Context, c *Caller, id int64, change CollaborationChange) (*Collaboration, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	if err := Invalid(s.CollaborationChangeProblems(change)...); err != nil {
		return nil, err
	}
	if change.Role == RoleOwner {
		return nil, s.transferOwnership(ctx, c, id)
	}
	var changed *Collaboration
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		found, err := s.lockCollaboration(ctx, tx, c, id)
		if err != nil {
			return err
		}
		if err := s.changeCollaboration(ctx, tx, c, found, change); err != nil {
			return err
		}
		if changed, err = readCollaboration(ctx, tx.Queries, id); err != nil {
			return err
		}
		if err := s.auditShare(ctx, tx, c, AuditShareChanged, id, found.item, string(changed.Role), found.row.UserID.Int64); err != nil {
			return err
		}
		return s.fireShared(ctx, tx, c, change.trigger(), changed, found.item)
	})
	return changed, err
}

// trigger returns the trigger of a change.
func (change CollaborationChange) trigger() Trigger {
	switch change.Status {
	case CollaborationAccepted:
		return CollaborationWasAccepted
	case CollaborationRejected:
		return CollaborationWasRejected
	}
	return CollaborationWasUpdated
}

// changeCollaboration answers an invitation, or changes the terms of a collaboration. Clients repeat the role with an answer.
func (s *Service) changeCollaboration(ctx context.Context, tx *store.Tx, c *Caller, found share, change CollaborationChange) error {
	if change.Status != "" {
		if err := s.answerInvitation(ctx, tx, c, found, change.Status); err != nil {
			return err
		}
		if change.Role == Role(found.row.Role) {
			change.Role = ""
		}
		change.Status = ""
	}
	if change == (CollaborationChange{}) {
		return nil
	}
	return s.changeTerms(ctx, tx, found, change)
}

// changeTerms changes the role of a collaboration, the time of its end, and the visibility of the path.
func (s *Service) changeTerms(ctx context.Context, tx *store.Tx, found share, change CollaborationChange) error {
	row := found.row
	if !found.place.may.Can(MayManage) {
		return failf(CodeForbidden, "Access denied – only the owner and co-owners can change a collaboration.")
	}
	if row.Status == CollaborationRejected {
		return failf(CodeInvalidStatus, "The invitation was rejected. Invite the user again.")
	}
	if change.Role != "" {
		if err := grant(found.place.may, change.Role); err != nil {
			return err
		}
		row.Role = string(change.Role)
	}
	if change.ExpiresAt != nil {
		row.ExpiresAt = microsOf(*change.ExpiresAt, 0)
	}
	if change.CanViewPath != nil {
		if err := Invalid(pathProblems(Kind(found.item.Kind))...); *change.CanViewPath && err != nil {
			return err
		}
		row.CanViewPath = *change.CanViewPath
	}
	_, err := tx.UpdateCollaboration(ctx, store.UpdateCollaborationParams{
		ID: row.ID, Role: row.Role, ExpiresAt: row.ExpiresAt, CanViewPath: row.CanViewPath, ModifiedAt: s.micros(),
	})
	return err
}
