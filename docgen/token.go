package docgen

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"platen/store"
)

// tokenBytes is the number of random bytes in a token, or in the secret of an application.
const tokenBytes = 32

func newToken() string { return base64.RawURLEncoding.EncodeToString(randomBytes(tokenBytes)) }

// hashToken returns the stored form of a token. A fast hash without salt is enough, because nobody can guess 256 random bits.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// NewToken describes an access token to create.
type NewToken struct {
	Login  string        // of the user on whose behalf the token acts
	Scopes []Scope       // nil means all scopes that the user may have
	TTL    time.Duration // 0: never expires
	Name   string        // chosen by the user; may be empty
}

// DefaultTokenTTL is the default lifetime of a token that a command creates.
const DefaultTokenTTL = 30 * 24 * time.Hour

// maxTokenName is the largest number of characters in the name of a token.
const maxTokenName = 100

// problems returns the problems of a new token, except those of its user and scopes.
func (t NewToken) problems() []Problem {
	var problems []Problem
	if t.TTL < 0 {
		problems = append(problems, invalidField("ttl", "ttl must be a positive duration, or never"))
	}
	if !keepable(t.Name) || strings.ContainsFunc(t.Name, unicode.IsControl) || utf8.RuneCountInString(t.Name) > maxTokenName {
		problems = append(problems, invalidField("name", "the name of a token can have at most %d characters, without control characters",
			maxTokenName))
	}
	return problems
}

// CommandLineApplication is the name of the application to which tokens from platen token create belong.
const CommandLineApplication = "Command line"

// CreateToken issues an access token for a user and returns it. Only a hash of it is stored.
func (s *Service) CreateToken(ctx context.Context, t NewToken) (string, error) {
	if err := Invalid(t.problems()...); err != nil {
		return "", err
	}
	token := newToken()
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		user, err := userByLogin(ctx, tx.Queries, t.Login)
		if err != nil {
			return err
		}
		scopes, err := grantable(t.Scopes, scopesOf(user.Role))
		if err != nil {
			return err
		}
		if len(t.Scopes) == 0 { // access to the content of all users must be requested explicitly
			scopes = slices.DeleteFunc(scopes, func(scope Scope) bool { return scope == ScopeGlobalContent })
		}
		app, err := s.handApplication(ctx, tx)
		if err != nil {
			return err
		}
		row := store.InsertTokenParams{
			ID: s.newID(), Hash: hashToken(token), UserID: user.ID, ApplicationID: app,
			Scopes: FormatScopes(scopes), CreatedAt: s.micros(), Name: t.Name,
		}
		if t.TTL > 0 {
			row.ExpiresAt = s.now().Add(t.TTL).UnixMicro()
		}
		if err := tx.InsertToken(ctx, row); err != nil {
			return err
		}
		return s.audit(ctx, tx, s.Operator(), AuditTokenIssued, auditOf("token", row.ID), "user", user.Login, "name", t.Name, "scopes",
			row.Scopes)
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// handApplication returns the application that tokens from platen token create belong to, and creates it if necessary.
func (s *Service) handApplication(ctx context.Context, tx *store.Tx) (int64, error) {
	_, err := tx.InsertApplication(ctx, store.InsertApplicationParams{
		ID: s.newID(), EnterpriseID: s.enterprise.id, Name: CommandLineApplication, NameKey: foldKey(CommandLineApplication),
		Scopes: FormatScopes(scopesOf(RoleAdmin)), CreatedAt: s.micros(), ActsAsUsers: true,
	})
	if err != nil {
		return 0, err
	}
	app, err := tx.ApplicationByName(ctx, s.enterprise.id, foldKey(CommandLineApplication))
	return app.ID, err
}

func userByLogin(ctx context.Context, q *store.Queries, login string) (store.User, error) {
	user, err := q.UserByLogin(ctx, foldKey(login))
	if errors.Is(err, sql.ErrNoRows) {
		return user, failf(CodeNotFound, "No user has the login %q.", login)
	}
	return user, err
}

// RemoveExpired removes expired tokens and assertions, and returns their number. It also removes old numbers of ended documents.
func (s *Service) RemoveExpired(ctx context.Context) (removed int64, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		removed = 0
		if _, err := tx.DeletePeriodsBefore(ctx, periodAt(s.now().Add(-periodsKept))); err != nil {
			return err
		}
		for _, remove := range []func(context.Context, int64) (int64, error){
			tx.DeleteTokensBefore, tx.DeleteRefreshTokensBefore, tx.DeleteAssertionsBefore, tx.DeleteIdleSessions, tx.DeleteInvitationsBefore,
		} {
			n, err := remove(ctx, s.micros())
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	return removed, err
}

// ExpiringSoon is the period that CountExpiring checks.
const ExpiringSoon = 7 * 24 * time.Hour

// CountExpiring counts the personal tokens that expire within ExpiringSoon, which only their users can replace. Applications replace their
// tokens themselves.
func (s *Service) CountExpiring(ctx context.Context) (int64, error) {
	var count int64
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		count, err = q.CountTokensExpiring(ctx, s.micros(), s.now().Add(ExpiringSoon).UnixMicro())
		return err
	})
	return count, err
}

// TokenNotice returns, once after an upgrade, the number of older tokens that never expire, so that the log can say that new ones do. It
// returns 0 at any other time.
func (s *Service) TokenNotice(ctx context.Context) (lasting int64, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		due, err := tx.DeleteSetting(ctx, settingTokenTTL)
		if lasting = 0; err != nil || due == 0 {
			return err
		}
		lasting, err = tx.CountTokensWithoutExpiry(ctx)
		return err
	})
	return lasting, err
}
