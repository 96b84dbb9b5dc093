package docgen

import (
	"context"
	"database/sql"
	"errors"

	"platen/store"
)

// invited returns the user for a new collaboration, or nil if no user has the login. In that case, no user can get it
// until the transaction ends.
func (s *Service) invited(ctx context.Context, tx *store.Tx, n NewCollaboration) (*store.User, error) {
	user, err := named(ctx, tx, n)
	if errors.Is(err, sql.ErrNoRows) && n.UserID == 0 {
		if _, err := tx.LockSetting(ctx, settingInvitations); err != nil {
			return nil, err
		}
		if user, err = named(ctx, tx, n); errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
	}
	if err == nil { // the user cannot be deleted until the collaboration is committed
		if _, err = tx.LockUser(ctx, user.ID); err == nil {
			user, err = named(ctx, tx, n)
		}
	}
	if errors.Is(err, sql.ErrNoRows) || err == nil && !s.isColleague(user) {
		return nil, Invalid(invalidField("accessible_by", "the user does not exist: send the id or login of a user of this server"))
	}
	return &user, err
}

// named returns a user by id or by login.
func named(ctx context.Context, tx *store.Tx, n NewCollaboration) (store.User, error) {
	if n.UserID == 0 {
		return tx.UserByLogin(ctx, foldKey(n.Login))
	}
	row, err := tx.User(ctx, n.UserID)
	return row.User, err
}

// isColleague reports whether items can be shared with a user.
func (s *Service) isColleague(user store.User) bool {
	return user.EnterpriseID == s.enterprise.id && user.ID != s.enterprise.accountID && user.DeletedAt == 0
}

// bindInvitations gives a user with a new login the collaborations to which that login was invited, unless the user already has one on the
// same item. It must be the last step of a transaction, because others who invite unknown logins wait from then on.
func (s *Service) bindInvitations(ctx context.Context, tx *store.Tx, id int64, loginKey string) error {
	if _, err := tx.LockSetting(ctx, settingInvitations); err != nil {
		return err
	}
	if err := tx.DeleteInvitedEnded(ctx, userID(id), loginKey, s.micros()); err != nil {
		return err
	}
	if err := tx.DeleteNeedlessInvitations(ctx, id, loginKey, userID(id)); err != nil {
		return err
	}
	_, err := tx.BindInvitations(ctx, userID(id), loginKey)
	return err
}

// answerInvitation accepts or rejects an invitation on behalf of the invited user.
func (s *Service) answerInvitation(ctx context.Context, tx *store.Tx, c *Caller, found share, answer string) error {
	if !found.matches(c) {
		return failf(CodeForbidden, "Access denied – only the invited user can accept or reject an invitation.")
	}
	if found.row.Status != CollaborationPending {
		return failf(CodeInvalidStatus, "The invitation was already answered: it is %s.", found.row.Status)
	}
	_, err := tx.AnswerInvitation(ctx, found.row.ID, answer, s.micros())
	return err
}

// Invitations returns one page by offset of the caller's pending invitations, in ascending order of id.
func (s *Service) Invitations(ctx context.Context, c *Caller, r OffsetRequest) (OffsetPage[Collaboration], error) {
	if err := c.require(ScopeRead); err != nil {
		return OffsetPage[Collaboration]{}, err
	}
	me, now := c.User.ID, s.micros()
	var result OffsetPage[Collaboration]
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		result, err = pageAt(c, r,
			func() (int64, error) { return q.CountInvitations(ctx, me, now) },
			func(limit, offset int32) ([]Collaboration, error) {
				rows, err := q.Invitations(ctx, me, now, limit, offset)
				return collaborationsOf(ctx, q, rows, store.Item{}, err) // pending ones show no item
			})
		return err
	})
	return result, err
}
