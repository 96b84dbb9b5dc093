package docgen

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"platen/store"
)

// How long tokens are valid.
const (
	AccessTokenTTL  = time.Hour
	refreshTokenTTL = 60 * 24 * time.Hour
)

// The grant types of GrantRequest.
const (
	GrantClient    = "client_credentials"
	GrantAssertion = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	GrantRefresh   = "refresh_token"
)

// GrantError explains why a client gets no token, in the terms of RFC 6749, section 5.2.
type GrantError struct {
	Reason      GrantReason
	Description string
}

// GrantReason is the error code of a GrantError.
type GrantReason string

// The reasons of a GrantError.
const (
	GrantInvalidRequest     GrantReason = "invalid_request"
	GrantInvalidClient      GrantReason = "invalid_client"
	GrantInvalid            GrantReason = "invalid_grant"
	GrantUnauthorizedClient GrantReason = "unauthorized_client"
	GrantUnsupported        GrantReason = "unsupported_grant_type"
	GrantInvalidScope       GrantReason = "invalid_scope"
)

func (e *GrantError) Error() string { return string(e.Reason) + ": " + e.Description }

func refuse(reason GrantReason, format string, args ...any) error {
	return &GrantError{Reason: reason, Description: fmt.Sprintf(format, args...)}
}

func invalidGrant(format string, args ...any) error {
	return refuse(GrantInvalid, "Grant credentials are invalid: "+format, args...)
}

func missingParameter(name string) error {
	return refuse(GrantInvalidRequest, "The parameter %s is required.", name)
}

// GrantRequest is a request for tokens. Fields that the grant type does not use are ignored.
type GrantRequest struct {
	Type         string // one of the grant types
	SubjectType  string // GrantClient: subjectEnterprise or subjectUser
	SubjectID    string
	Assertion    string // GrantAssertion
	Audience     string // the URL of the token endpoint
	RefreshToken string // GrantRefresh
	Scope        string // separated by spaces; empty for all scopes that the token can have
}

// Tokens are the tokens that a client gets.
type Tokens struct {
	Access  string
	Refresh string // empty if the grant has none
	Scopes  []Scope
}

// Client is an authenticated application.
type Client struct{ app store.Application }

// ID returns the client id.
func (c *Client) ID() string { return c.app.ClientID }

// AuthenticateClient returns the Client with the given id and secret.
func (s *Service) AuthenticateClient(ctx context.Context, id, secret string) (*Client, error) {
	invalid := refuse(GrantInvalidClient, "The client credentials are not valid")
	if !keepable(id) || id == "" {
		return nil, invalid
	}
	var client *Client
	err := s.db.Read(ctx, func(q *store.Queries) error {
		app, err := q.ApplicationByClient(ctx, id)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		// The hash for an unknown client is empty, and no secret matches it.
		if subtle.ConstantTimeCompare([]byte(hashToken(secret)), []byte(app.SecretHash)) != 1 {
			return invalid
		}
		client = &Client{app}
		return nil
	})
	return client, err
}

// Grant returns the tokens that a client requests, or a GrantError.
func (s *Service) Grant(ctx context.Context, client *Client, r GrantRequest) (Tokens, error) {
	switch r.Type {
	case "":
		return Tokens{}, missingParameter("grant_type")
	case GrantClient:
		return s.grantSubject(ctx, client, subject{r.SubjectType, r.SubjectID, "box_subject_type", "box_subject_id"}, r.Scope, nil)
	case GrantAssertion:
		return s.grantAssertion(ctx, client, r)
	case GrantRefresh:
		return s.grantRefresh(ctx, client, r)
	}
	return Tokens{}, refuse(GrantUnsupported, "The supported grant types are %s, %s, and %s.", GrantClient, GrantAssertion, GrantRefresh)
}

// A subject is the user on whose behalf a token acts, with the names of the parameters that specify it.
type subject struct{ kind, id, kindName, idName string }

// The kinds of subject: the enterprise, which means the application's service account, or a user.
const (
	subjectEnterprise = "enterprise"
	subjectUser       = "user"
)

func (u subject) problem() error {
	switch {
	case u.kind == "":
		return missingParameter(u.kindName)
	case u.kind != subjectEnterprise && u.kind != subjectUser:
		return refuse(GrantInvalidRequest, "%s must be %s or %s.", u.kindName, subjectEnterprise, subjectUser)
	case u.id == "":
		return missingParameter(u.idName)
	}
	return nil
}

// grantSubject issues an access token for a subject if a check in the same transaction allows it.
func (s *Service) grantSubject(ctx context.Context, client *Client, of subject, scope string,
	before func(*store.Tx) error) (Tokens, error) {
	var tokens Tokens
	if err := of.problem(); err != nil {
		return tokens, err
	}
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		app, err := lockClient(ctx, tx, client)
		if err != nil {
			return err
		}
		user, err := s.subjectUser(ctx, tx.Queries, app, of)
		if err != nil {
			return err
		}
		if before != nil {
			if err := before(tx); err != nil {
				return err
			}
		}
		scopes, err := narrow(scope, allowed(parseScopes(app.Scopes), user))
		if err != nil {
			return err
		}
		tokens, err = s.issue(ctx, tx, app, user, scopes, 0)
		return err
	})
	return tokens, err
}

// lockClient prevents others from issuing or revoking tokens of an application.
func lockClient(ctx context.Context, tx *store.Tx, client *Client) (store.Application, error) {
	app, err := tx.LockApplication(ctx, client.app.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return app, refuse(GrantInvalidClient, "The client credentials are not valid")
	}
	return app, err
}

// subjectUser returns the user of a subject.
func (s *Service) subjectUser(ctx context.Context, q *store.Queries, app store.Application, of subject) (store.User, error) {
	id, err := strconv.ParseInt(of.id, 10, 64)
	if err != nil {
		return store.User{}, invalidGrant("%s is not an identifier.", of.idName)
	}
	if of.kind == subjectEnterprise {
		if id != s.enterprise.id {
			return store.User{}, invalidGrant("%s is not the enterprise of this server.", of.idName)
		}
		id = app.ServiceAccountID.Int64
	} else if !app.ActsAsUsers {
		return store.User{}, refuse(GrantUnauthorizedClient, "The application may not get tokens for users. "+
			"The operator can create one that may.")
	}
	user, err := s.account(ctx, q, id)
	if IsCode(err, CodeNotFound) || err == nil && (!isActive(user) || user.Kind == KindService && id != app.ServiceAccountID.Int64) {
		return user, invalidGrant("%s is not the id of an active user.", of.idName)
	}
	return user, err
}

// narrow returns the requested scopes, all of which must be among those that the token can have.
func narrow(scope string, can []Scope) ([]Scope, error) {
	asked := parseScopes(scope)
	if len(asked) == 0 {
		asked = can
	}
	if len(asked) == 0 || len(common(asked, can)) < len(asked) {
		return nil, refuse(GrantInvalidScope, "The token can have these scopes: %s.", listScopes(can))
	}
	slices.Sort(asked)
	return slices.Compact(asked), nil
}

// issue issues an access token.
func (s *Service) issue(ctx context.Context, tx *store.Tx, app store.Application, user store.User, scopes []Scope,
	grant int64) (Tokens, error) {
	tokens, id := Tokens{Access: newToken(), Scopes: scopes}, s.newID()
	by := &Caller{User: User{ID: user.ID}, ActorID: app.ServiceAccountID.Int64, ApplicationID: app.ID}
	if err := s.audit(ctx, tx, by, AuditTokenIssued, auditOf("token", id), "user", user.Login, "scopes", FormatScopes(scopes)); err != nil {
		return tokens, err
	}
	return tokens, tx.InsertToken(ctx, store.InsertTokenParams{
		ID: id, Hash: hashToken(tokens.Access), UserID: user.ID, ApplicationID: app.ID, Scopes: FormatScopes(scopes),
		CreatedAt: s.micros(), ExpiresAt: s.now().Add(AccessTokenTTL).UnixMicro(), GrantID: grant,
	})
}

// tokenGrant is the grant that refresh tokens continue, until all of its tokens end together.
type tokenGrant struct {
	id     int64
	app    store.Application
	user   store.User
	scopes []Scope
}

// issueGrant issues an access token and the next refresh token of a grant.
func (s *Service) issueGrant(ctx context.Context, tx *store.Tx, g tokenGrant, scopes []Scope) (Tokens, error) {
	tokens, err := s.issue(ctx, tx, g.app, g.user, scopes, g.id)
	if err != nil {
		return tokens, err
	}
	tokens.Refresh = newToken()
	return tokens, tx.InsertRefreshToken(ctx, store.InsertRefreshTokenParams{
		ID: s.newID(), Hash: hashToken(tokens.Refresh), GrantID: g.id, UserID: g.user.ID, ApplicationID: g.app.ID,
		Scopes: FormatScopes(g.scopes), CreatedAt: s.micros(), ExpiresAt: s.now().Add(refreshTokenTTL).UnixMicro(),
	})
}

// CreateGrant issues the first tokens of an application for a user. The operator requests them, not the application.
func (s *Service) CreateGrant(ctx context.Context, application, login string, scopes []Scope) (Tokens, error) {
	var tokens Tokens
	err := s.changeApplication(ctx, application, func(tx *store.Tx, app store.Application) error {
		user, err := userByLogin(ctx, tx.Queries, login)
		if err != nil {
			return err
		}
		if scopes, err = grantable(scopes, allowed(parseScopes(app.Scopes), user)); err != nil {
			return err
		}
		tokens, err = s.issueGrant(ctx, tx, tokenGrant{id: s.newID(), app: app, user: user, scopes: scopes}, scopes)
		return err
	})
	return tokens, err
}

// grantRefresh exchanges a refresh token for the next tokens. A refresh token is valid once. If it is used again, it was stolen, so all
// tokens of its grant are revoked.
func (s *Service) grantRefresh(ctx context.Context, client *Client, r GrantRequest) (Tokens, error) {
	var tokens Tokens
	var reused error
	if r.RefreshToken == "" {
		return tokens, missingParameter("refresh_token")
	}
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		reused = nil
		app, err := lockClient(ctx, tx, client)
		if err != nil {
			return err
		}
		row, err := tx.RefreshTokenByHash(ctx, hashToken(r.RefreshToken))
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && (row.ApplicationID != app.ID || row.ExpiresAt <= s.micros()):
			return invalidGrant("the refresh token is unknown, expired, or revoked.")
		case err != nil:
			return err
		case row.UsedAt != 0:
			reused = invalidGrant("the refresh token was already used, so all tokens of its grant were revoked.")
			by := &Caller{User: User{ID: row.UserID}, ActorID: app.ServiceAccountID.Int64, ApplicationID: app.ID}
			if err := s.insertAudit(ctx, tx, by, AuditTokenReused, AuditRefused, auditOf("token", row.ID)); err != nil {
				return err
			}
			return endGrant(ctx, tx, row.GrantID)
		}
		tokens, err = s.useRefreshToken(ctx, tx, app, row, r.Scope)
		return err
	})
	if err == nil {
		err = reused
	}
	return tokens, err
}

func (s *Service) useRefreshToken(ctx context.Context, tx *store.Tx, app store.Application, row store.RefreshToken,
	scope string) (Tokens, error) {
	user, err := s.account(ctx, tx.Queries, row.UserID)
	if IsCode(err, CodeNotFound) || err == nil && !isActive(user) {
		return Tokens{}, invalidGrant("the user of the refresh token is not active.")
	}
	if err != nil {
		return Tokens{}, err
	}
	granted := parseScopes(row.Scopes)
	scopes, err := narrow(scope, common(granted, allowed(parseScopes(app.Scopes), user)))
	if err != nil {
		return Tokens{}, err
	}
	if err := tx.UseRefreshToken(ctx, row.ID, s.micros()); err != nil {
		return Tokens{}, err
	}
	return s.issueGrant(ctx, tx, tokenGrant{id: row.GrantID, app: app, user: user, scopes: granted}, scopes)
}

// endGrant revokes all tokens of a grant.
func endGrant(ctx context.Context, tx *store.Tx, id int64) error {
	if err := tx.DeleteTokensOfGrant(ctx, id); err != nil {
		return err
	}
	return tx.DeleteRefreshTokensOfGrant(ctx, id)
}

// Revoke revokes a token of a client. An access token is revoked alone, a refresh token together with all tokens of its
// grant. An unknown token is not an error (RFC 7009).
func (s *Service) Revoke(ctx context.Context, client *Client, token string) error {
	if token == "" {
		return missingParameter("token")
	}
	hash := hashToken(token)
	return s.db.Write(ctx, func(tx *store.Tx) error {
		app, err := lockClient(ctx, tx, client)
		if err != nil {
			return err
		}
		access, err := tx.TokenByHash(ctx, hash)
		if err == nil {
			if access.Token.ApplicationID != app.ID {
				return errOthersToken()
			}
			if err := s.auditRevocation(ctx, tx, app, access.Token.ID, access.Token.UserID); err != nil {
				return err
			}
			return tx.DeleteToken(ctx, access.Token.ID)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		refresh, err := tx.RefreshTokenByHash(ctx, hash)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err == nil && refresh.ApplicationID != app.ID:
			return errOthersToken()
		case err != nil:
			return err
		}
		if err := s.auditRevocation(ctx, tx, app, refresh.ID, refresh.UserID); err != nil {
			return err
		}
		return endGrant(ctx, tx, refresh.GrantID)
	})
}

// auditRevocation records that an application revokes one of its tokens.
func (s *Service) auditRevocation(ctx context.Context, tx *store.Tx, app store.Application, token, user int64) error {
	by := &Caller{User: User{ID: user}, ActorID: app.ServiceAccountID.Int64, ApplicationID: app.ID}
	return s.audit(ctx, tx, by, AuditTokenRevoked, auditOf("token", token))
}

func errOthersToken() error {
	return refuse(GrantInvalidClient, "The token does not belong to this client.")
}
