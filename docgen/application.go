package docgen

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"database/sql"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"platen/store"
)

// Application is a client that gets access tokens without a user (OAuth 2.0): for its own service account and, if the operator allows it,
// for users.
type Application struct {
	ID          int64
	Name        string
	ClientID    string
	Scopes      []Scope // that its tokens can have
	ActsAsUsers bool
	Account     UserRef // its service account
	Keys        []ApplicationKey
	CreatedAt   time.Time
}

// ApplicationKey is a public key that verifies the assertions of an application.
type ApplicationKey struct {
	Name      string // the kid of assertions
	CreatedAt time.Time
}

// NewApplication describes an application to create.
type NewApplication struct {
	Name        string
	Scopes      []Scope // nil means those of an ordinary user
	ActsAsUsers bool
}

// accountDomain is the domain in the logins of service accounts. It never receives mail (RFC 2606).
const accountDomain = "@app.platen.invalid"

// Limits of an application's keys.
const (
	maxKeyName = 128  // characters
	minKeyBits = 2048 // RSA
	maxKeys    = 10   // of one application
)

// CreateApplication creates an application with a service account, and returns it with its secret. Only a hash of the
// secret is stored. It is reserved for the operator; AddApplication is for administrators.
func (s *Service) CreateApplication(ctx context.Context, n NewApplication) (Application, string, error) {
	return s.createApplication(ctx, s.Operator(), n)
}

func (s *Service) createApplication(ctx context.Context, c *Caller, n NewApplication) (Application, string, error) {
	if len(n.Scopes) == 0 {
		n.Scopes = scopesOf(RoleUser)
	}
	if err := Invalid(n.problems()...); err != nil {
		return Application{}, "", err
	}
	clientID, secret := strings.ToLower(rand.Text()), newToken()
	var app Application
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if !c.operator {
			if err := checkApplications(ctx, tx.Queries, s.enterprise.id); err != nil {
				return err
			}
		}
		account, err := s.newUserRow(s.enterprise.id, KindService, NewUser{Login: "AutomationUser_" + clientID + accountDomain, Name: n.Name})
		if err != nil {
			return err
		}
		if _, err := s.insertUser(ctx, tx, account); err != nil {
			return err
		}
		added, err := tx.InsertApplication(ctx, store.InsertApplicationParams{
			ID: s.newID(), EnterpriseID: s.enterprise.id, Name: n.Name, NameKey: foldKey(n.Name), Scopes: FormatScopes(n.Scopes),
			ServiceAccountID: userID(account.ID), CreatedAt: s.micros(),
			ClientID: clientID, SecretHash: hashToken(secret), ActsAsUsers: n.ActsAsUsers,
		})
		if err != nil {
			return err
		}
		if added == 0 {
			return failf(CodeConflict, "An application with the name %q already exists.", n.Name)
		}
		if app, err = s.application(ctx, tx.Queries, clientID); err != nil {
			return err
		}
		return s.audit(ctx, tx, c, AuditAppCreated, auditOf("application", app.ID), "name", app.Name, "scopes",
			FormatScopes(app.Scopes),
			"acts_as_users", strconv.FormatBool(app.ActsAsUsers))
	})
	return app, secret, err
}

func (n NewApplication) problems() []Problem {
	problems := nameProblems(n.Name)
	if foldKey(n.Name) == foldKey(CommandLineApplication) {
		problems = append(problems, invalidField("name", "the name %q is reserved for tokens from platen token create", CommandLineApplication))
	}
	known := scopesOf(RoleAdmin)
	for _, scope := range n.Scopes {
		if !slices.Contains(known, scope) {
			problems = append(problems, invalidField("scope", "%q is not a scope; the scopes are %s", scope, listScopes(known)))
		}
	}
	return problems
}

// nameProblems returns the problems of a name of a user or an application.
func nameProblems(name string) []Problem {
	if strings.TrimSpace(name) == "" || !keepable(name) || utf8.RuneCountInString(name) > maxLoginLength {
		return []Problem{invalidField("name", "the name must have 1 to %d characters", maxLoginLength)}
	}
	return nil
}

// Applications returns all applications, ordered by name.
func (s *Service) Applications(ctx context.Context) ([]Application, error) {
	var apps []Application
	err := s.db.Read(ctx, func(q *store.Queries) error {
		rows, err := q.Applications(ctx, s.enterprise.id)
		if err != nil {
			return err
		}
		apps = make([]Application, len(rows))
		for i, row := range rows {
			if apps[i], err = describeApplication(ctx, q, row); err != nil {
				return err
			}
		}
		return nil
	})
	return apps, err
}

// Application returns an application by its name or its client id.
func (s *Service) Application(ctx context.Context, name string) (Application, error) {
	var app Application
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		app, err = s.application(ctx, q, name)
		return err
	})
	return app, err
}

func (s *Service) application(ctx context.Context, q *store.Queries, name string) (Application, error) {
	row, err := s.applicationRow(ctx, q, name)
	if err != nil {
		return Application{}, err
	}
	return describeApplication(ctx, q, row)
}

func (s *Service) applicationRow(ctx context.Context, q *store.Queries, name string) (store.Application, error) {
	row, err := q.ApplicationByName(ctx, s.enterprise.id, foldKey(name))
	if errors.Is(err, sql.ErrNoRows) && keepable(name) {
		row, err = q.ApplicationByClient(ctx, name)
	}
	if errors.Is(err, sql.ErrNoRows) || err == nil && row.ClientID == "" {
		return row, failf(CodeNotFound, "There is no application with the name or the client id %q.", name)
	}
	return row, err
}

func describeApplication(ctx context.Context, q *store.Queries, row store.Application) (Application, error) {
	app := Application{
		ID: row.ID, Name: row.Name, ClientID: row.ClientID, Scopes: parseScopes(row.Scopes), ActsAsUsers: row.ActsAsUsers,
		Keys: []ApplicationKey{}, CreatedAt: timeOf(row.CreatedAt),
	}
	keys, err := q.ApplicationKeys(ctx, row.ID)
	if err != nil {
		return app, err
	}
	for _, key := range keys {
		app.Keys = append(app.Keys, ApplicationKey{Name: key.Name, CreatedAt: timeOf(key.CreatedAt)})
	}
	app.Account, err = userRefs{}.get(ctx, q, row.ServiceAccountID.Int64)
	return app, err
}

// changeApplication changes an application. Until it returns, nobody else can change the application or get a token for
// it.
func (s *Service) changeApplication(ctx context.Context, name string, change func(*store.Tx, store.Application) error) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := s.applicationRow(ctx, tx.Queries, name)
		if err != nil {
			return err
		}
		if row, err = tx.LockApplication(ctx, row.ID); err != nil {
			return err
		}
		return change(tx, row)
	})
}

// AddApplicationKey lets an application sign assertions with the private key that belongs to an RSA public key, in PEM. It returns the name
// of the key: keyName or, if that is empty, one derived from the key.
func (s *Service) AddApplicationKey(ctx context.Context, name, keyName string, public []byte) (string, error) {
	key, err := jwt.ParseRSAPublicKeyFromPEM(public)
	if err != nil || key.N.BitLen() < minKeyBits {
		return "", Invalid(invalidField("public_key",
			"the public key must be an RSA key of at least %d bits, in PEM format (openssl rsa -in private.pem -pubout)", minKeyBits))
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", err
	}
	if keyName == "" {
		sum := sha256.Sum256(der)
		keyName = hex.EncodeToString(sum[:4])
	}
	if !keepable(keyName) || utf8.RuneCountInString(keyName) > maxKeyName {
		return "", Invalid(invalidField("key_id", "the key id must have 1 to %d characters", maxKeyName))
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return keyName, s.changeApplication(ctx, name, func(tx *store.Tx, app store.Application) error {
		keys, err := tx.ApplicationKeys(ctx, app.ID)
		if err != nil {
			return err
		}
		if len(keys) >= maxKeys {
			return failf(CodeConflict, "The application already has %d keys, the maximum. Remove one first.", maxKeys)
		}
		added, err := tx.InsertApplicationKey(ctx, store.InsertApplicationKeyParams{
			ApplicationID: app.ID, Name: keyName, PublicKey: string(text), CreatedAt: s.micros(),
		})
		if err == nil && added == 0 {
			return failf(CodeConflict, "The application already has a key with the id %q.", keyName)
		}
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, s.Operator(), AuditAppKeyAdded, auditOf("application", app.ID), "name", app.Name, "key", keyName)
	})
}

// RemoveApplicationKey removes a key. Tokens that were issued with it stay valid.
func (s *Service) RemoveApplicationKey(ctx context.Context, name, keyName string) error {
	return s.changeApplication(ctx, name, func(tx *store.Tx, app store.Application) error {
		removed, err := tx.DeleteApplicationKey(ctx, app.ID, kept(keyName))
		if err == nil && removed == 0 {
			return failf(CodeNotFound, "The application has no key with the id %q.", keyName)
		}
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, s.Operator(), AuditAppKeyRemoved, auditOf("application", app.ID), "name", app.Name, "key", keyName)
	})
}

// RenewSecret replaces the secret of an application and returns the new one. The old secret is rejected from then on.
func (s *Service) RenewSecret(ctx context.Context, name string) (string, error) {
	secret := newToken()
	return secret, s.changeApplication(ctx, name, func(tx *store.Tx, app store.Application) error {
		return s.setSecret(ctx, tx, s.Operator(), app, secret)
	})
}

func (s *Service) setSecret(ctx context.Context, tx *store.Tx, c *Caller, app store.Application, secret string) error {
	if err := tx.SetApplicationSecret(ctx, app.ID, hashToken(secret)); err != nil {
		return err
	}
	return s.audit(ctx, tx, c, AuditAppSecret, auditOf("application", app.ID), "name", app.Name)
}

// DeleteApplication deletes an application with all its tokens and keys. Its service account becomes inactive but still
// owns its items, and its name can be used again.
func (s *Service) DeleteApplication(ctx context.Context, name string) error {
	return s.changeApplication(ctx, name, s.endApplication(ctx, s.Operator()))
}

// endApplication returns a function that deletes an application for a caller.
func (s *Service) endApplication(ctx context.Context, c *Caller) func(*store.Tx, store.Application) error {
	return func(tx *store.Tx, app store.Application) error {
		for _, remove := range []func(context.Context, int64) error{
			tx.DeleteTokensOfApplication, tx.DeleteRefreshTokensOfApplication, tx.DeleteApplicationKeys, tx.DeleteAssertionsOfApplication,
			tx.DeleteSigningKeys,
		} {
			if err := remove(ctx, app.ID); err != nil {
				return err
			}
		}
		const reason = "Its application was deleted."
		if err := tx.CancelDeliveriesOfApplication(ctx, app.ID, s.micros(), reason); err != nil {
			return err
		}
		if err := tx.DeleteWebhooksOfApplication(ctx, app.ID, reason, s.micros()); err != nil {
			return err
		}
		if err := tx.SetUserStatus(ctx, app.ServiceAccountID.Int64, StatusInactive, s.micros()); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, c, AuditAppDeleted, auditOf("application", app.ID), "name", app.Name); err != nil {
			return err
		}
		return tx.EndApplication(ctx, app.ID, endedKey(app.ID))
	}
}

// endedKey returns the key for a name or login that can be used again. No text folds to this key.
func endedKey(id int64) string { return "ended " + strconv.FormatInt(id, 10) }

// EnterpriseID returns the id of the server's enterprise.
func (s *Service) EnterpriseID() int64 { return s.enterprise.id }
