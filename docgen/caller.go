package docgen

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"platen/store"
)

// Scope is what a token may be used for.
type Scope string

// The scopes. Each operation names the one it needs. With ScopeGlobalContent a caller may do with every item of the
// enterprise what its owner may, as far as the other scopes go.
const (
	ScopeRead          Scope = "root_readonly"
	ScopeWrite         Scope = "root_readwrite"
	ScopeDocGen        Scope = "docgen.readwrite"
	ScopeWebhooks      Scope = "manage_webhook"
	ScopeManagedUsers  Scope = "manage_managed_users"
	ScopeAppUsers      Scope = "manage_app_users"
	ScopeEnterprise    Scope = "manage_enterprise_properties"
	ScopeGlobalContent Scope = "enterprise_content"
)

// scopesOf lists every scope that a token of a user with the role may have.
func scopesOf(role string) []Scope {
	scopes := []Scope{ScopeRead, ScopeWrite, ScopeDocGen, ScopeWebhooks}
	if role == RoleAdmin || role == RoleCoadmin {
		scopes = append(scopes, ScopeManagedUsers, ScopeAppUsers, ScopeEnterprise, ScopeGlobalContent)
	}
	return scopes
}

// Caller is who an operation acts for. Only Authenticate makes one.
type Caller struct {
	User          User
	ApplicationID int64
	Scopes        []Scope
	rootID        int64 // the user's root folder, which the interface calls 0
}

// has tells whether the token has a scope; reading and writing is also reading.
func (c *Caller) has(scope Scope) bool {
	return slices.Contains(c.Scopes, scope) || scope == ScopeRead && slices.Contains(c.Scopes, ScopeWrite)
}

// require returns the Error of a token without the scope that an operation needs.
func (c *Caller) require(scope Scope) error {
	if c.has(scope) {
		return nil
	}
	return failf(CodeScope, "The request requires higher privileges than provided by the access token: it lacks the scope %s.", scope)
}

// Authenticate returns the Caller of an access token.
func (s *Service) Authenticate(ctx context.Context, token string) (*Caller, error) {
	unknown := failf(CodeUnauthorized, "The access token is unknown or has expired.")
	var caller *Caller
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := q.TokenByHash(ctx, hashToken(token))
		if errors.Is(err, sql.ErrNoRows) {
			return unknown
		}
		if err != nil {
			return err
		}
		expired := row.Token.ExpiresAt != 0 && row.Token.ExpiresAt <= s.micros()
		if expired || row.User.Status == StatusInactive {
			return unknown
		}
		caller = &Caller{
			User:          userOf(row.User, ""),
			ApplicationID: row.Token.ApplicationID,
			Scopes:        parseScopes(row.Token.Scopes),
			rootID:        row.User.RootFolderID,
		}
		return nil
	})
	return caller, err
}

// tokenBytes is how much randomness a token carries.
const tokenBytes = 32

// NewToken describes an access token to be made.
type NewToken struct {
	Login  string        // whom the token acts for
	Scopes []Scope       // none: every scope the user may have
	TTL    time.Duration // 0: never expires
}

// tokenApplication is the application that tokens made by hand belong to.
const tokenApplication = "Command line"

// CreateToken makes an access token for a user and returns it. It is not kept: only its hash is.
func (s *Service) CreateToken(ctx context.Context, t NewToken) (string, error) {
	if t.TTL < 0 {
		return "", Invalid(invalidField("ttl", "a token cannot expire before it is made: give a positive time, or none"))
	}
	token := base64.RawURLEncoding.EncodeToString(randomBytes(tokenBytes))
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		user, err := tx.UserByLogin(ctx, foldKey(t.Login))
		if errors.Is(err, sql.ErrNoRows) {
			return failf(CodeNotFound, "There is no user with the login %q.", t.Login)
		}
		if err != nil {
			return err
		}
		scopes, err := grantable(t.Scopes, user.Role)
		if err != nil {
			return err
		}
		app, err := s.application(ctx, tx, user.EnterpriseID)
		if err != nil {
			return err
		}
		row := store.InsertTokenParams{
			ID: s.newID(), Hash: hashToken(token), UserID: user.ID, ApplicationID: app,
			Scopes: formatScopes(scopes), CreatedAt: s.micros(),
		}
		if t.TTL > 0 {
			row.ExpiresAt = s.now().Add(t.TTL).UnixMicro()
		}
		return tx.InsertToken(ctx, row)
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// application returns the application that tokens made by hand belong to, which comes into being with the first.
func (s *Service) application(ctx context.Context, tx *store.Tx, enterpriseID int64) (int64, error) {
	_, err := tx.InsertApplication(ctx, store.InsertApplicationParams{
		ID: s.newID(), EnterpriseID: enterpriseID, Name: tokenApplication, NameKey: foldKey(tokenApplication),
		Scopes: formatScopes(scopesOf(RoleAdmin)), CreatedAt: s.micros(),
	})
	if err != nil {
		return 0, err
	}
	app, err := tx.ApplicationByName(ctx, enterpriseID, foldKey(tokenApplication))
	return app.ID, err
}

// grantable checks the scopes asked for against those that the user's role allows. None asked for are all of them, but for
// the power over everybody's content, which is not had by the way.
func grantable(asked []Scope, role string) ([]Scope, error) {
	allowed := scopesOf(role)
	if len(asked) == 0 {
		return slices.DeleteFunc(allowed, func(scope Scope) bool { return scope == ScopeGlobalContent }), nil
	}
	var problems []Problem
	for _, scope := range asked {
		if !slices.Contains(allowed, scope) {
			problems = append(problems, invalidField("scope",
				"a token of this user cannot have the scope %q; it can have %s", scope, strings.ReplaceAll(formatScopes(allowed), " ", ", ")))
		}
	}
	return asked, Invalid(problems...)
}

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func formatScopes(scopes []Scope) string {
	words := make([]string, len(scopes))
	for i, scope := range scopes {
		words[i] = string(scope)
	}
	return strings.Join(words, " ")
}

func parseScopes(text string) []Scope {
	var scopes []Scope
	for word := range strings.FieldsSeq(text) {
		scopes = append(scopes, Scope(word))
	}
	return scopes
}

// String names the caller for logs, without the token.
func (c *Caller) String() string { return fmt.Sprintf("user %d", c.User.ID) }
