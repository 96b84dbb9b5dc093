package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"platen/store"
)

// A session is a token that a person gets with a login and a password. It has all scopes of the user except access to the content of
// others, belongs to the application of tokens from platen token create, and is accepted only from a cookie. It ends when it is too old,
// or was not used for a while.

// How long sessions are valid.
const (
	sessionTTL, sessionIdle       = 12 * time.Hour, 2 * time.Hour
	rememberedTTL, rememberedIdle = 30 * 24 * time.Hour, 7 * 24 * time.Hour
)

// maxSessions is the number of sessions of a user. A further one ends the oldest.
const maxSessions = 50

// SignIn is an attempt to begin a session.
type SignIn struct {
	Login, Password string
	Remember        bool
	Address         string // of the client, or its network, for limits
}

// Session is a session of a user.
type Session struct {
	ID        int64
	CreatedAt time.Time
	UsedAt    time.Time // late by up to about a minute; zero if it was not used yet
	ExpiresAt time.Time // whether it is used or not
	IdleTTL   time.Duration
	Address   string
	Agent     string
	Current   bool // the one of the request
}

// NewSession is a session that has just begun.
type NewSession struct {
	Session
	User     UserRef
	Secret   string // for the cookie; only its hash is stored
	Remember bool
}

// errSignIn is the same whatever is wrong with a login or a password, and takes as long.
func errSignIn() error { return failf(CodeUnauthorized, "Login and password do not match.") }

// SignIn begins a session. An unknown login, a wrong password, a user without a password, and an inactive user look alike. After too many
// failures, the error is a *SignInLimitError.
func (s *Service) SignIn(ctx context.Context, n SignIn) (NewSession, error) {
	if !keepable(n.Login) || len(n.Login) > 4*maxLoginLength || len(n.Password) > maxPasswordBytes {
		return NewSession{}, errSignIn() // no user has these, and everyone knows
	}
	stored, err := s.signInRow(ctx, foldKey(n.Login), n.Address)
	if err != nil {
		return NewSession{}, err
	}
	try := attempt{login: foldKey(n.Login), address: n.Address, known: stored.Known}
	if err := s.attempts.begin(try, s.now()); err != nil {
		s.NoteDenied(ctx, nil, "sign_in", "sign_in_limit")
		return NewSession{}, err
	}
	good, err := s.passwords.matches(ctx, s.passwords.address(n.Address), n.Password, stored.Hash)
	if err != nil {
		s.attempts.undo(try, false)
		return NewSession{}, err
	}
	if !good || !stored.Active {
		s.NoteDenied(ctx, nil, "sign_in", "sign_in_failed")
		return NewSession{}, errSignIn()
	}
	made, err := s.beginSession(ctx, stored, n)
	if err == nil {
		s.attempts.undo(try, true)
	} else if !IsCode(err, CodeUnauthorized) {
		s.attempts.undo(try, false)
	}
	return made, err
}

// signInUser is what signing in needs to know of a user: nothing if the login is unknown.
type signInUser struct {
	UserID int64
	Hash   string // of the password; empty for none
	Active bool
	Known  bool // the user is signed in from the address
}

func (s *Service) signInRow(ctx context.Context, loginKey, address string) (signInUser, error) {
	var found signInUser
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := q.UserToSignIn(ctx, address, s.micros(), loginKey)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		found = signInUser{UserID: row.User.ID, Hash: row.Hash, Known: row.Known,
			Active: isActive(row.User) && row.User.Kind == KindManaged && !row.User.PlatformOnly}
		return err
	})
	return found, err
}

// beginSession begins a session, unless the password or the user changed after it was checked.
func (s *Service) beginSession(ctx context.Context, checked signInUser, n SignIn) (NewSession, error) {
	made := NewSession{Secret: newToken(), Remember: n.Remember}
	ttl, idle := sessionTTL, sessionIdle
	if n.Remember {
		ttl, idle = rememberedTTL, rememberedIdle
	}
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, checked.UserID); err != nil {
			return err
		}
		row, err := tx.User(ctx, checked.UserID)
		if err != nil {
			return err
		}
		hash, err := tx.PasswordOf(ctx, checked.UserID)
		if errors.Is(err, sql.ErrNoRows) || err == nil && (hash != checked.Hash || !isActive(row.User)) {
			return errSignIn()
		}
		if err != nil {
			return err
		}
		app, err := s.handApplication(ctx, tx)
		if err != nil {
			return err
		}
		from, _ := ctx.Value(originKey{}).(Origin)
		session := store.InsertSessionParams{
			ID: s.newID(), Hash: hashToken(made.Secret), UserID: checked.UserID, ApplicationID: app, Scopes: FormatScopes(sessionScopes(row.User)),
			CreatedAt: s.micros(), ExpiresAt: s.now().Add(ttl).UnixMicro(), Idle: idle.Microseconds(), Address: auditText(n.Address, maxAuditText),
			Agent: auditText(from.Agent, maxAuditText),
		}
		if err := tx.InsertSession(ctx, session); err != nil {
			return err
		}
		if err := tx.DeleteOldSessions(ctx, checked.UserID, maxSessions); err != nil {
			return err
		}
		made.User = refOf(row.User)
		made.Session = Session{
			ID: session.ID, CreatedAt: timeOf(session.CreatedAt), ExpiresAt: timeOf(session.ExpiresAt), IdleTTL: idle, Address: session.Address,
			Agent: session.Agent,
		}
		by := &Caller{User: User{ID: row.User.ID}, ActorID: row.User.ID, ApplicationID: app, TokenID: session.ID}
		return s.audit(ctx, tx, by, AuditSignedIn, auditOf("session", session.ID))
	})
	return made, err
}

// sessionScopes returns the scopes of a user's sessions. Access to the content of all users must be requested explicitly, with a token.
func sessionScopes(user store.User) []Scope {
	var scopes []Scope
	for _, scope := range scopesOf(user.Role) {
		if scope != ScopeGlobalContent {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

// idleAt returns when a session ends if it is not used anymore; 0 for another token.
func idleAt(token store.Token) int64 {
	if token.Idle == 0 {
		return 0
	}
	return max(token.UsedAt, token.CreatedAt) + token.Idle
}

// AuthenticateSession returns the Caller for the secret of a session. Other tokens are not accepted.
func (s *Service) AuthenticateSession(ctx context.Context, secret string) (*Caller, error) {
	return s.authenticate(ctx, secret, true)
}

// requireSession returns an Error unless the caller is signed in, and acts for nobody else.
func (c *Caller) requireSession() error {
	if !c.session || c.ActorID != c.User.ID {
		return failf(CodeForbidden, "Access denied – only a person who is signed in can do that, not a token.")
	}
	return nil
}

// Sessions returns the sessions of the caller, the newest first.
func (s *Service) Sessions(ctx context.Context, c *Caller) ([]Session, error) {
	if err := c.requireSession(); err != nil {
		return nil, err
	}
	var sessions []Session
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		rows, err := q.SessionsOfUser(ctx, c.User.ID, maxSessions, s.micros())
		if err != nil {
			return err
		}
		sessions = make([]Session, len(rows))
		for i, row := range rows {
			sessions[i] = Session{
				ID: row.ID, CreatedAt: timeOf(row.CreatedAt), UsedAt: timeOf(row.UsedAt), ExpiresAt: timeOf(row.ExpiresAt),
				IdleTTL: time.Duration(row.Idle) * time.Microsecond, Address: row.Address, Agent: row.Agent, Current: row.ID == c.TokenID,
			}
		}
		return nil
	})
	return sessions, err
}

// EndSession ends a session of the caller.
func (s *Service) EndSession(ctx context.Context, c *Caller, id int64) error {
	if err := c.requireSession(); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		ended, err := tx.DeleteSession(ctx, id, c.User.ID)
		if err != nil {
			return err
		}
		if ended == 0 {
			return NotFound("session", id)
		}
		return s.audit(ctx, tx, c, AuditSignedOut, auditOf("session", id))
	})
}

// EndSessions ends all sessions of the caller, that of the request too.
func (s *Service) EndSessions(ctx context.Context, c *Caller) error {
	if err := c.requireSession(); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil { // sessions that are beginning wait, and end too
			return err
		}
		ended, err := tx.DeleteSessions(ctx, c.User.ID, 0)
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, c, AuditSignedOut, auditOf("user", c.User.ID), "sessions", strconv.FormatInt(ended, 10))
	})
}

// Invitation lets a user set a password, once.
type Invitation struct {
	User      UserRef
	Secret    string // only its hash is stored
	ExpiresAt time.Time
}

// invitationTTL is how long an invitation is valid.
const invitationTTL = 72 * time.Hour

// InviteUser returns a secret with which a user sets a password. An earlier one becomes invalid. The secret lets its holder act as the
// user, so the caller must be allowed to do that anyway: act for users, with all scopes that the user's sessions have.
func (s *Service) InviteUser(ctx context.Context, c *Caller, userID int64) (Invitation, error) {
	if err := c.requireManager(); err != nil {
		return Invitation{}, err
	}
	made := Invitation{Secret: newToken(), ExpiresAt: s.now().Add(invitationTTL)}
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := s.lockManaged(ctx, tx, c, userID)
		if err != nil {
			return err
		}
		if err := c.checkInvites(row); err != nil {
			return err
		}
		err = tx.SaveInvitation(ctx, store.SaveInvitationParams{
			UserID: userID, Hash: hashToken(made.Secret), CreatedAt: s.micros(), ExpiresAt: made.ExpiresAt.UnixMicro(),
		})
		if err != nil {
			return err
		}
		made.User = refOf(row)
		return s.audit(ctx, tx, c, AuditUserInvited, auditOf("user", userID))
	})
	return made, err
}

// checkInvites returns an Error unless the caller may let a user set a password.
func (c *Caller) checkInvites(row store.User) error {
	switch {
	case row.PlatformOnly || !isActive(row):
		return failf(CodeConflict, "User %d is inactive, or only applications use it, so the user cannot sign in.", row.ID)
	case c.operator:
		return nil
	case !c.actsAsUsers:
		return failf(CodeForbidden, "Access denied – someone who sets the password of a user can act as the user, which your token may not.")
	}
	for _, scope := range sessionScopes(row) {
		if !c.has(scope) {
			return failf(CodeForbidden, "Access denied – sessions of the user have the scope %s, which your token lacks.", scope)
		}
	}
	return nil
}

// errInvitation is the error for an unknown, used, or expired invitation.
func errInvitation() error {
	return failf(CodeUnauthorized, "The invitation is unknown, was already used, or has expired. Ask an administrator for another one.")
}

// AcceptInvitation sets the password of an invited user, and ends the user's sessions. address is that of the client, or its network.
func (s *Service) AcceptInvitation(ctx context.Context, secret, password, address string) error {
	invited, err := s.invitedUser(ctx, secret)
	if err != nil {
		return err
	}
	if err := Invalid(passwordProblems("password", password, invited.Login)...); err != nil {
		return err
	}
	hash, err := s.passwords.hash(ctx, s.passwords.address(address), password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, invited.ID); err != nil {
			return err
		}
		used, err := tx.UseInvitation(ctx, hashToken(secret), s.micros())
		if err != nil {
			return err
		}
		row, err := tx.User(ctx, invited.ID)
		if err != nil {
			return err
		}
		if used == 0 || !isActive(row.User) {
			return errInvitation()
		}
		by := &Caller{User: User{ID: invited.ID}, ActorID: invited.ID}
		return s.setPassword(ctx, tx, by, hash, "invitation")
	})
}

// invitedUser returns the user of an invitation.
func (s *Service) invitedUser(ctx context.Context, secret string) (store.User, error) {
	var row store.UserInvitedRow
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		row, err = q.UserInvited(ctx, hashToken(secret), s.micros())
		return err
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && !isActive(row.User) {
		s.NoteDenied(ctx, nil, "accept_invitation", string(CodeUnauthorized))
		return store.User{}, errInvitation()
	}
	return row.User, err
}

// setPassword stores the hash of a user's password, and ends all sessions of the user but the caller's, and an invitation.
func (s *Service) setPassword(ctx context.Context, tx *store.Tx, c *Caller, hash, how string) error {
	if err := tx.SavePassword(ctx, c.User.ID, hash, s.micros()); err != nil {
		return err
	}
	if err := tx.DeleteInvitation(ctx, c.User.ID); err != nil {
		return err
	}
	ended, err := tx.DeleteSessions(ctx, c.User.ID, c.TokenID)
	if err != nil {
		return err
	}
	return s.audit(ctx, tx, c, AuditPasswordSet, auditOf("user", c.User.ID), "with", how, "ended_sessions", strconv.FormatInt(ended, 10))
}

// ChangePassword changes the password of a caller who is signed in and knows the current one, and ends all other sessions. Wrong passwords
// count like failed attempts to sign in.
func (s *Service) ChangePassword(ctx context.Context, c *Caller, current, password, address string) error {
	if err := c.requireSession(); err != nil {
		return err
	}
	if err := Invalid(passwordProblems("new_password", password, c.User.Login)...); err != nil {
		return err
	}
	if len(current) > maxPasswordBytes {
		return failf(CodeForbidden, "The current password is wrong.")
	}
	var stored string
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		stored, err = q.PasswordOf(ctx, c.User.ID)
		return err
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	try := attempt{login: foldKey(c.User.Login), address: fmt.Sprintf("session of user %d", c.User.ID), known: true}
	if err := s.attempts.begin(try, s.now()); err != nil {
		return err
	}
	good, err := s.passwords.matches(ctx, s.passwords.address(address), current, stored)
	if err != nil {
		s.attempts.undo(try, false)
		return err
	}
	if !good {
		return failf(CodeForbidden, "The current password is wrong.")
	}
	s.attempts.undo(try, true)
	hash, err := s.passwords.hash(ctx, s.passwords.address(address), password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil {
			return err
		}
		if err := s.stillValid(ctx, tx.Queries, c); err != nil {
			return err
		}
		if now, err := tx.PasswordOf(ctx, c.User.ID); err != nil || now != stored {
			return failf(CodeConflict, "The password was changed at the same time. Sign in again.")
		}
		return s.setPassword(ctx, tx, c, hash, "current password")
	})
}
