package docgen

import (
	"context"
	"time"

	"platen/store"
)

// Limits of the tokens that users create for themselves.
const (
	maxOwnTokens   = 200                  // valid tokens of a user and an application, with those that others created
	maxOwnTokenTTL = 365 * 24 * time.Hour // of tokens that a token without expiry creates
)

// OwnToken is a token that its user has just created.
type OwnToken struct {
	IssuedToken
	Token string // shown once: only its hash is stored
}

// CreateOwnToken issues an access token for the caller, with the same application. The new token has no scope that the caller's token
// lacks, and does not outlive it: a token that is stolen for an hour must not give access for a year. A person who is
// signed in has no such limit, nor does the operator.
func (s *Service) CreateOwnToken(ctx context.Context, c *Caller, t NewToken) (OwnToken, error) {
	if err := Invalid(t.problems()...); err != nil {
		return OwnToken{}, err
	}
	if c.ActorID != c.User.ID || c.User.Kind != KindManaged {
		return OwnToken{}, failf(CodeForbidden, "Access denied – users create tokens only for themselves, and service accounts get theirs at "+
			"/oauth2/token.")
	}
	scopes, err := grantable(t.Scopes, c.Scopes)
	if err != nil {
		return OwnToken{}, err
	}
	expires, err := s.ownTokenExpiry(c, t.TTL)
	if err != nil {
		return OwnToken{}, err
	}
	made := OwnToken{Token: newToken()}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil {
			return err
		}
		n, err := tx.CountTokensOfUser(ctx, c.User.ID, c.ApplicationID, s.micros())
		if err != nil {
			return err
		}
		if n >= maxOwnTokens {
			return failf(CodeConflict, "You already have %d tokens, the maximum. Revoke one first.", n)
		}
		app, err := tx.HoldApplication(ctx, c.ApplicationID) // so that the token is not added to an application that is being deleted
		if err != nil {
			return err
		}
		row := store.InsertTokenParams{
			ID: s.newID(), Hash: hashToken(made.Token), UserID: c.User.ID, ApplicationID: app.ID, Scopes: FormatScopes(scopes),
			CreatedAt: s.micros(), ExpiresAt: expires.UnixMicro(), Name: t.Name,
		}
		if err := s.stillValid(ctx, tx.Queries, c); err != nil {
			return err
		}
		made.IssuedToken = IssuedToken{
			ID: row.ID, Kind: TokenAccess, Name: t.Name, User: c.ref(), Application: ApplicationRef{app.ID, app.Name}, Scopes: scopes,
			CreatedAt: timeOf(row.CreatedAt), ExpiresAt: timeOf(row.ExpiresAt),
		}
		if err := tx.InsertToken(ctx, row); err != nil {
			return err
		}
		return s.audit(ctx, tx, c, AuditTokenIssued, auditOf("token", row.ID), "user", c.User.Login, "name", t.Name, "scopes", row.Scopes)
	})
	return made, err
}

// stillValid returns an Error if the token of the caller was revoked after the request began, so that revoking all tokens of a user leaves
// none. The caller must have locked the user.
func (s *Service) stillValid(ctx context.Context, q *store.Queries, c *Caller) error {
	row, err := q.TokenByID(ctx, c.TokenID)
	if err != nil || row.UserID != c.User.ID {
		return failf(CodeUnauthorized, "The access token is unknown or has expired.")
	}
	return nil
}

// ownTokenExpiry returns when a new token of the caller expires: after ttl or, if that is 0, after DefaultTokenTTL or with the caller's
// token.
func (s *Service) ownTokenExpiry(c *Caller, ttl time.Duration) (time.Time, error) {
	latest := s.now().Add(maxOwnTokenTTL)
	if !c.session && c.expiresAt != 0 && c.expiresAt < latest.UnixMicro() {
		latest = timeOf(c.expiresAt)
	}
	if ttl == 0 {
		if usual := s.now().Add(DefaultTokenTTL); usual.Before(latest) {
			return usual, nil
		}
		return latest, nil
	}
	if ttl > maxOwnTokenTTL || s.now().Add(ttl).After(latest) {
		return latest, Invalid(invalidField("expires_in", "the token can be valid for %d seconds at most, until your own token expires",
			int64(latest.Sub(s.now())/time.Second)))
	}
	return s.now().Add(ttl), nil
}
