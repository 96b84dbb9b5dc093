package docgen

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"platen/store"
)

// Operations of administrators on applications. An application never gets more than its creator has: a caller who gets the secret of an
// application, by creating it or with a new secret, must have a token with all scopes of the application, and may act for users if the
// application may.

// maxApplications is the number of applications up to which administrators can create more. The operator has no limit.
const maxApplications = 1000

// requireAppManager returns an Error unless the caller is an administrator, not someone who acts for one.
func (c *Caller) requireAppManager() error {
	if err := c.require(ScopeEnterprise); err != nil {
		return err
	}
	if c.User.Role != RoleAdmin || c.User.Kind != KindManaged || c.ActorID != c.User.ID {
		return failf(CodeForbidden, "Access denied – only administrators can manage applications.")
	}
	return nil
}

// checkCovers returns an Error if an application has or would have permissions that the token of the caller lacks.
func (c *Caller) checkCovers(scopes []Scope, actsAsUsers bool) error {
	for _, scope := range scopes {
		if !c.has(scope) {
			return failf(CodeForbidden, "Access denied – the application has the scope %s, which your token lacks.", scope)
		}
	}
	if actsAsUsers && !c.actsAsUsers {
		return failf(CodeForbidden, "Access denied – the application may act for users, but your token may not.")
	}
	return nil
}

func checkApplications(ctx context.Context, q *store.Queries, enterpriseID int64) error {
	n, err := q.CountApplications(ctx, enterpriseID)
	if err == nil && n >= maxApplications {
		return failf(CodeConflict, "There are already %d applications, the maximum. Delete one first.", n)
	}
	return err
}

// ListApplications returns one page of the applications that can request tokens, in ascending order of id.
func (s *Service) ListApplications(ctx context.Context, c *Caller, r PageRequest) (Page[Application], error) {
	if err := c.requireAppManager(); err != nil {
		return Page[Application]{}, err
	}
	var result Page[Application]
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		describe := func(rows []store.Application, err error) ([]Application, error) {
			apps := make([]Application, len(rows))
			for i := 0; err == nil && i < len(rows); i++ {
				apps[i], err = describeApplication(ctx, q, rows[i])
			}
			return apps, err
		}
		result, err = page(s, c, r, list[Application]{
			name: "applications",
			keys: 1,
			key:  func(app Application) []int64 { return []int64{app.ID} },
			after: func(from []int64, limit int32) ([]Application, error) {
				return describe(q.ApplicationsAfter(ctx, s.enterprise.id, from[0], limit))
			},
			before: func(from []int64, limit int32) ([]Application, error) {
				return describe(q.ApplicationsBefore(ctx, s.enterprise.id, from[0], limit))
			},
		})
		return err
	})
	return result, err
}

// AddApplication is CreateApplication for an administrator.
func (s *Service) AddApplication(ctx context.Context, c *Caller, n NewApplication) (Application, string, error) {
	if err := c.requireAppManager(); err != nil {
		return Application{}, "", err
	}
	if err := Invalid(n.problems()...); err != nil {
		return Application{}, "", err
	}
	if len(n.Scopes) == 0 {
		n.Scopes = scopesOf(RoleUser)
	}
	n.Scopes = slices.Compact(slices.Sorted(slices.Values(n.Scopes)))
	if err := c.checkCovers(n.Scopes, n.ActsAsUsers); err != nil {
		return Application{}, "", err
	}
	return s.createApplication(ctx, c, n)
}

// changeApplicationOf is changeApplication for an administrator.
func (s *Service) changeApplicationOf(ctx context.Context, c *Caller, id int64, change func(*store.Tx, store.Application) error) error {
	if err := c.requireAppManager(); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := tx.LockApplication(ctx, id)
		if errors.Is(err, sql.ErrNoRows) || err == nil && row.EnterpriseID != s.enterprise.id {
			return NotFound("application", id)
		}
		if err != nil {
			return err
		}
		return change(tx, row)
	})
}

// ReplaceSecret is RenewSecret for an administrator.
func (s *Service) ReplaceSecret(ctx context.Context, c *Caller, id int64) (string, error) {
	secret := newToken()
	return secret, s.changeApplicationOf(ctx, c, id, func(tx *store.Tx, app store.Application) error {
		if err := c.checkCovers(parseScopes(app.Scopes), app.ActsAsUsers); err != nil {
			return err
		}
		return s.setSecret(ctx, tx, c, app, secret)
	})
}

// RemoveApplication is DeleteApplication for an administrator.
func (s *Service) RemoveApplication(ctx context.Context, c *Caller, id int64) error {
	return s.changeApplicationOf(ctx, c, id, s.endApplication(ctx, c))
}
