package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"platen/fair"
	"platen/store"
)

// Caller is the user on whose behalf an operation runs. Authenticate and As create one from a token, callerOf from a
// user.
type Caller struct {
	User          User
	ActorID       int64 // the user who owns the token, who differs from User when acting on behalf of another user
	ApplicationID int64
	TokenID       int64 // 0 without a token
	Scopes        []Scope
	rootID        int64    // the user's root folder, which the API calls 0
	actsAsUsers   bool     // the token lets the user act for others
	operator      bool     // created by Operator
	link          *linkUse // the shared link that the caller uses; nil for none
	session       bool     // the token is that of a session
	expiresAt     int64    // when the token expires; 0: never

	// Room is called before an operation uses that many more bytes of memory for its result. An error ends the
	// operation. If Room is nil, memory is not limited.
	Room func(bytes int64) error
}

// room requests memory.
func (c *Caller) room(bytes int) error {
	if c.Room == nil {
		return nil
	}
	return c.Room(int64(bytes))
}

// has reports whether the token has a scope. A scope for reading and writing includes reading.
func (c *Caller) has(scope Scope) bool {
	return slices.Contains(c.Scopes, scope) || scope == ScopeRead && slices.Contains(c.Scopes, ScopeWrite)
}

// require returns an Error if the token lacks the scope that an operation needs.
func (c *Caller) require(scope Scope) error {
	if c.has(scope) {
		return nil
	}
	return failf(CodeScope, "The request requires higher privileges than provided by the access token: it lacks the scope %s.", scope)
}

// Authenticate returns the Caller for an access token. The secret of a session is not one.
func (s *Service) Authenticate(ctx context.Context, token string) (*Caller, error) {
	return s.authenticate(ctx, token, false)
}

func (s *Service) authenticate(ctx context.Context, token string, session bool) (*Caller, error) {
	unknown := failf(CodeUnauthorized, "The access token is unknown or has expired.")
	var caller *Caller
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := q.TokenByHash(ctx, hashToken(token))
		if errors.Is(err, sql.ErrNoRows) {
			return unknown
		}
		if err != nil {
			return err
		}
		if session != (row.Token.Idle > 0) {
			return unknown
		}
		if caller = s.callerWith(row.Token, row.User, row.Application); caller == nil {
			return unknown
		}
		s.uses.note(row.Token.ID, row.Token.UsedAt, s.micros())
		return nil
	})
	return caller, err
}

// callerWith returns the caller of a token, or nil if the token has expired or its user is not active.
func (s *Service) callerWith(token store.Token, user store.User, app store.Application) *Caller {
	expired := token.ExpiresAt != 0 && token.ExpiresAt <= s.micros() || token.Idle > 0 && idleAt(token) <= s.micros()
	if expired || !isActive(user) {
		return nil
	}
	return &Caller{
		User:          userOf(user, ""),
		ActorID:       user.ID,
		ApplicationID: token.ApplicationID,
		TokenID:       token.ID,
		Scopes:        allowed(parseScopes(token.Scopes), user), // the role may have lost scopes since the token was issued
		rootID:        user.RootFolderID,
		actsAsUsers:   actsAsUsers(app, user),
		session:       token.Idle > 0,
		expiresAt:     token.ExpiresAt,
	}
}

// actsAsUsers reports whether a token of an application allows acting for other users: it must belong to an
// administrator or to the application's service account.
func actsAsUsers(app store.Application, user store.User) bool {
	own := user.ID == app.ServiceAccountID.Int64
	return app.ActsAsUsers && (own || user.Kind == KindManaged && user.Role != RoleUser)
}

// As returns a Caller that acts for another user, with the scopes of the token that this user can have. The application
// of the token must be allowed to act for users, and the caller must be an administrator or a service account.
func (s *Service) As(ctx context.Context, c *Caller, userID int64) (*Caller, error) {
	if userID == c.User.ID {
		return c, nil
	}
	if !c.actsAsUsers {
		return nil, failf(CodeForbidden, "Access denied – only administrators and service accounts can act for another user, and only "+
			"if their application may.")
	}
	var as *Caller
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := s.account(ctx, q, userID)
		if err != nil {
			return err
		}
		switch {
		case row.Kind == KindService || !isActive(row):
			return failf(CodeForbidden, "Access denied – user %d is inactive or a service account, so no one can act for them.", userID)
		case c.User.Role == RoleCoadmin && row.Role == RoleAdmin:
			return failf(CodeForbidden, "Access denied – a co-administrator cannot act for an administrator.")
		}
		as = &Caller{
			User: userOf(row, ""), ActorID: c.ActorID, ApplicationID: c.ApplicationID, TokenID: c.TokenID,
			Scopes: allowed(c.Scopes, row), rootID: row.RootFolderID,
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return as, s.recordActing(ctx, as)
}

// callerOf returns the caller for background work on behalf of a user. If globalContent is set, the caller can access
// all content, as far as the user's current role allows it.
func callerOf(user store.User, globalContent bool) *Caller {
	c := &Caller{User: userOf(user, ""), rootID: user.RootFolderID}
	if globalContent && isActive(user) {
		c.Scopes = allowed([]Scope{ScopeGlobalContent}, user)
	}
	return c
}

// ForCaller returns a context in which operations take turns with those of other users. All tokens of a user have one share, even if they
// act for other users.
func ForCaller(ctx context.Context, c *Caller) context.Context {
	return fair.For(ctx, fair.Claimant{User: c.ActorID, Weight: int(c.User.Weight)})
}

// guests is the claimant for all requests without an account.
const guests = -1

// ForGuest returns a context in which operations of requests without an account share capacity fairly with those of
// users. All guests together have one share.
func ForGuest(ctx context.Context) context.Context {
	return fair.For(ctx, fair.Claimant{User: guests, Weight: 1})
}

// Operator returns the caller of commands on the machine of the server. It has the permissions of an administrator for users and tokens. It
// is not the account of a person: its user is that of the enterprise.
func (s *Service) Operator() *Caller {
	return &Caller{
		User:    User{ID: s.enterprise.accountID, Name: s.enterprise.name, Kind: KindService, Role: RoleAdmin, EnterpriseID: s.enterprise.id},
		ActorID: s.enterprise.accountID, Scopes: scopesOf(RoleAdmin), rootID: s.enterprise.rootID, operator: true,
	}
}

// ref returns a reference to the user that the caller acts as.
func (c *Caller) ref() UserRef {
	if c.User.ID == 0 {
		return UserRef{ID: anonymousID, Name: anonymousName}
	}
	return UserRef{ID: c.User.ID, Name: c.User.Name, Login: c.User.Login}
}

// String returns the caller for logs, without the token.
func (c *Caller) String() string { return fmt.Sprintf("user %d", c.User.ID) }
