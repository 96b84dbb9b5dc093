package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"platen/store"
)

// IssuedToken describes a valid access or refresh token. The token itself is not stored, and never shown again.
type IssuedToken struct {
	ID          int64
	Kind        string // TokenAccess, TokenRefresh, or TokenSession
	Name        string // empty if it has none
	User        UserRef
	Application ApplicationRef
	Scopes      []Scope
	CreatedAt   time.Time
	ExpiresAt   time.Time // zero: never
	UsedAt      time.Time // late by up to about a minute; zero for unused tokens, and for refresh tokens, which are replaced on use
	Current     bool      // the token of the caller's own request
}

// ApplicationRef is a reference to an application from other objects.
type ApplicationRef struct {
	ID   int64
	Name string
}

// The kinds of token.
const (
	TokenAccess  = "access"
	TokenRefresh = "refresh"
	TokenSession = "session" // of a person who is signed in
)

// TokenFilter selects the tokens of one user, or of all users whom the caller manages. The zero value selects the
// caller's own.
type TokenFilter struct {
	UserID int64
	All    bool
}

// problems returns the problems of a filter.
func (f TokenFilter) problems() []Problem {
	if f.All && f.UserID != 0 {
		return []Problem{invalidField("all", "all=true and user_id cannot be combined; send one of them")}
	}
	return nil
}

// Tokens returns one page of the valid tokens, in ascending order of id. A caller needs no scope to list its own tokens, and
// manage_managed_users or manage_app_users to list those of other users.
func (s *Service) Tokens(ctx context.Context, c *Caller, f TokenFilter, r PageRequest) (Page[IssuedToken], error) {
	if err := Invalid(f.problems()...); err != nil {
		return Page[IssuedToken]{}, err
	}
	own := !f.All && (f.UserID == 0 || f.UserID == c.User.ID)
	if own {
		f.UserID = c.User.ID
	} else if err := c.requireManager(); err != nil {
		return Page[IssuedToken]{}, err
	}
	var result Page[IssuedToken]
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		if !own && !f.All {
			if _, err := s.tokenOwner(ctx, q, c, f.UserID); err != nil {
				return err
			}
		}
		result, err = page(s, c, r, s.tokenList(ctx, q, c, f))
		return err
	})
	return result, err
}

// tokenOwner returns a user whose tokens a caller manages. The operator also manages those of service accounts.
func (s *Service) tokenOwner(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.User, error) {
	if c.operator {
		return s.account(ctx, q, id)
	}
	return s.managed(ctx, q, c, id)
}

func (s *Service) tokenList(ctx context.Context, q *store.Queries, c *Caller, f TokenFilter) list[IssuedToken] {
	l := list[IssuedToken]{
		name: fmt.Sprintf("tokens/%d/%t", f.UserID, f.All),
		keys: 1,
		key:  func(t IssuedToken) []int64 { return []int64{t.ID} },
	}
	if !f.All {
		params := store.UserTokensAfterParams{UserID: f.UserID, Now: s.micros()}
		l.after = func(from []int64, limit int32) ([]IssuedToken, error) {
			params.FromID, params.Count = from[0], limit
			return tokensOf(c, func(row store.UserTokensAfterRow) store.TokensAfterRow { return store.TokensAfterRow(row) })(
				q.UserTokensAfter(ctx, params))
		}
		l.before = func(from []int64, limit int32) ([]IssuedToken, error) {
			params.FromID, params.Count = from[0], limit
			return tokensOf(c, func(row store.UserTokensBeforeRow) store.TokensAfterRow { return store.TokensAfterRow(row) })(
				q.UserTokensBefore(ctx, store.UserTokensBeforeParams(params)))
		}
		return l
	}
	params := store.TokensAfterParams{
		Now: s.micros(), EnterpriseID: s.enterprise.id, SeesServices: c.operator, SeesAppUsers: c.manages(true),
		SeesManagedUsers: c.manages(false),
	}
	l.after = func(from []int64, limit int32) ([]IssuedToken, error) {
		params.FromID, params.Count = from[0], limit
		return tokensOf(c, func(row store.TokensAfterRow) store.TokensAfterRow { return row })(q.TokensAfter(ctx, params))
	}
	l.before = func(from []int64, limit int32) ([]IssuedToken, error) {
		params.FromID, params.Count = from[0], limit
		return tokensOf(c, func(row store.TokensBeforeRow) store.TokensAfterRow { return store.TokensAfterRow(row) })(
			q.TokensBefore(ctx, store.TokensBeforeParams(params)))
	}
	return l
}

// tokensOf returns a function that converts the rows of a query, which have the same columns in all list queries.
func tokensOf[Row any](c *Caller, row func(Row) store.TokensAfterRow) func([]Row, error) ([]IssuedToken, error) {
	return func(rows []Row, err error) ([]IssuedToken, error) {
		tokens := make([]IssuedToken, len(rows))
		for i := range rows {
			t := row(rows[i])
			tokens[i] = IssuedToken{
				ID: t.ID, Kind: t.Kind, Name: t.Name, User: UserRef{ID: t.UserID, Name: t.UserName, Login: t.Login},
				Application: ApplicationRef{ID: t.ApplicationID, Name: t.ApplicationName}, Scopes: parseScopes(t.Scopes),
				CreatedAt: timeOf(t.CreatedAt), ExpiresAt: timeOf(t.ExpiresAt), UsedAt: timeOf(t.UsedAt), Current: t.ID == c.TokenID,
			}
		}
		return tokens, err
	}
}

// RevokeToken ends a token immediately: an access token alone, and a refresh token with all tokens of the same grant. Every token may
// revoke itself, and tokens of the same user whose scopes it has. Callers who manage a user may revoke the user's other tokens. Only
// administrators may revoke those of administrators.
func (s *Service) RevokeToken(ctx context.Context, c *Caller, id int64) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		t, err := s.revocable(ctx, tx.Queries, c, id)
		if err != nil {
			return err
		}
		if err := s.audit(ctx, tx, c, AuditTokenRevoked, auditOf("token", id), "user_id", strconv.FormatInt(t.userID, 10)); err != nil {
			return err
		}
		if t.grantID != 0 {
			return endGrant(ctx, tx, t.grantID)
		}
		return tx.DeleteToken(ctx, id)
	})
}

// A revocable is a token that is about to be revoked.
type revocable struct {
	userID  int64
	scopes  []Scope
	grantID int64 // of the grant that ends with the token; 0 for none
}

// revocable returns a token that a caller may revoke. A token that the caller may not even list is not found.
func (s *Service) revocable(ctx context.Context, q *store.Queries, c *Caller, id int64) (revocable, error) {
	t, err := s.tokenByID(ctx, q, id)
	if err != nil {
		return t, err
	}
	own := t.userID == c.User.ID
	covered := !slices.ContainsFunc(t.scopes, func(scope Scope) bool { return !c.has(scope) })
	if id == c.TokenID || own && covered {
		return t, nil
	}
	owner, err := s.tokenOwner(ctx, q, c, t.userID)
	switch {
	case IsCode(err, CodeNotFound) && own:
		return t, failf(CodeForbidden, "Access denied – the token has scopes that yours lacks. Revoke it with a token that has them.")
	case IsCode(err, CodeNotFound):
		return t, NotFound("token", id)
	case err == nil && owner.Role == RoleAdmin && c.User.Role != RoleAdmin:
		return t, failf(CodeForbidden, "Access denied – only administrators can revoke tokens of administrators.")
	}
	return t, err
}

// tokenByID returns a valid access or refresh token of any user.
func (s *Service) tokenByID(ctx context.Context, q *store.Queries, id int64) (revocable, error) {
	access, err := q.TokenByID(ctx, id)
	if err == nil && (access.ExpiresAt == 0 || access.ExpiresAt > s.micros()) {
		return revocable{userID: access.UserID, scopes: parseScopes(access.Scopes)}, nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return revocable{}, err
	}
	refresh, err := q.RefreshTokenByID(ctx, id)
	if err == nil && refresh.UsedAt == 0 && refresh.ExpiresAt > s.micros() {
		return revocable{userID: refresh.UserID, scopes: parseScopes(refresh.Scopes), grantID: refresh.GrantID}, nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return revocable{}, err
	}
	return revocable{}, NotFound("token", id)
}
