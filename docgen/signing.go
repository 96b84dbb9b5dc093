package docgen

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"time"

	"platen/store"
)

// SigningKey is a key that signs the notifications of an application.
type SigningKey struct {
	Slot      string // KeyPrimary, KeySecondary, or keyRetired
	Secret    string // in the format of NewSecret
	CreatedAt time.Time
	ExpiresAt time.Time // for a retired key, when it stops signing; otherwise zero
}

// The slots of keys. Every application that has webhooks has a primary and a secondary key: while receivers switch to a new key in one
// slot, they use the other one. A replaced key can keep signing for a while.
const (
	KeyPrimary   = "primary"
	KeySecondary = "secondary"
	keyRetired   = "retired"
)

// A secret is SecretPrefix and the base64 of SecretBytes random bytes, like a symmetric secret in Standard Webhooks
// 1.0, "Signature scheme".
const (
	SecretPrefix = "whsec_"
	SecretBytes  = 32
)

// Limits of the time for which a replaced key still signs.
const (
	DefaultKeyOverlap = 24 * time.Hour
	MaxKeyOverlap     = 30 * 24 * time.Hour
)

// NewSecret returns a random signing key.
func NewSecret() string {
	return SecretPrefix + base64.StdEncoding.EncodeToString(randomBytes(SecretBytes))
}

// firstKeys creates a primary and a secondary key for an application without keys, and prevents others from changing
// its keys.
func (s *Service) firstKeys(ctx context.Context, tx *store.Tx, applicationID int64) error {
	if _, err := tx.HoldApplication(ctx, applicationID); err != nil {
		return err
	}
	keys, err := tx.SigningKeys(ctx, applicationID, s.micros())
	if err != nil || len(keys) > 0 {
		return err
	}
	for _, slot := range []string{KeyPrimary, KeySecondary} {
		if err := s.insertKey(ctx, tx, applicationID, slot); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) insertKey(ctx context.Context, tx *store.Tx, applicationID int64, slot string) error {
	return tx.InsertSigningKey(ctx, store.InsertSigningKeyParams{
		ID: s.newID(), ApplicationID: applicationID, Slot: slot, Secret: NewSecret(), CreatedAt: s.micros(),
	})
}

// requireKeeper returns an Error unless the caller may read and replace the keys of the application of its token.
// Anyone who knows the keys can forge notifications of this server.
func (c *Caller) requireKeeper(app store.Application) error {
	if err := c.require(ScopeWebhooks); err != nil {
		return err
	}
	if c.User.ID != app.ServiceAccountID.Int64 && c.User.Role == RoleUser {
		return failf(CodeForbidden, "Access denied – only administrators and the service account of the application can see and "+
			"replace its signing keys.")
	}
	return nil
}

// SigningKeys returns the current signing keys of the application of the caller's token. There are none before its
// first webhook.
func (s *Service) SigningKeys(ctx context.Context, c *Caller) ([]SigningKey, error) {
	var keys []SigningKey
	err := s.db.Read(ctx, func(q *store.Queries) error {
		app, err := q.ApplicationByID(ctx, c.ApplicationID)
		if err != nil {
			return err
		}
		if err := c.requireKeeper(app); err != nil {
			return err
		}
		keys, err = s.signingKeys(ctx, q, app.ID)
		return err
	})
	return keys, err
}

func (s *Service) signingKeys(ctx context.Context, q *store.Queries, applicationID int64) ([]SigningKey, error) {
	rows, err := q.SigningKeys(ctx, applicationID, s.micros())
	keys := make([]SigningKey, len(rows))
	for i, row := range rows {
		keys[i] = SigningKey{Slot: row.Slot, Secret: row.Secret, CreatedAt: timeOf(row.CreatedAt), ExpiresAt: timeOf(row.ExpiresAt)}
	}
	return keys, err
}

// RenewSigningKey replaces the key in a slot of the application of the caller's token, and returns the current signing
// keys. The replaced key still signs for the duration overlap, which may be 0.
func (s *Service) RenewSigningKey(ctx context.Context, c *Caller, slot string, overlap time.Duration) ([]SigningKey, error) {
	if err := c.require(ScopeWebhooks); err != nil {
		return nil, err
	}
	return s.renewKey(ctx, c, slot, overlap, func(tx *store.Tx) (store.Application, error) {
		app, err := tx.ApplicationByID(ctx, c.ApplicationID)
		if err != nil {
			return app, err
		}
		return app, c.requireKeeper(app)
	})
}

// RenewKeyOf is RenewSigningKey for an application given by name or client id. It is reserved for the operator.
func (s *Service) RenewKeyOf(ctx context.Context, name, slot string, overlap time.Duration) ([]SigningKey, error) {
	return s.renewKey(ctx, s.Operator(), slot, overlap, func(tx *store.Tx) (store.Application, error) {
		return s.signingApplication(ctx, tx.Queries, name)
	})
}

// KeysOf is SigningKeys for an application given by name or client id. It is reserved for the operator.
func (s *Service) KeysOf(ctx context.Context, name string) ([]SigningKey, error) {
	var keys []SigningKey
	err := s.db.Read(ctx, func(q *store.Queries) error {
		app, err := s.signingApplication(ctx, q, name)
		if err != nil {
			return err
		}
		keys, err = s.signingKeys(ctx, q, app.ID)
		return err
	})
	return keys, err
}

// signingApplication returns an application by its name or client id, including the one of tokens from platen token
// create.
func (s *Service) signingApplication(ctx context.Context, q *store.Queries, name string) (store.Application, error) {
	if foldKey(name) != foldKey(CommandLineApplication) {
		return s.applicationRow(ctx, q, name)
	}
	app, err := q.ApplicationByName(ctx, s.enterprise.id, foldKey(name))
	if errors.Is(err, sql.ErrNoRows) {
		err = failf(CodeNotFound, "No token from platen token create exists yet, so there are no keys for their webhooks.")
	}
	return app, err
}

func (s *Service) renewKey(ctx context.Context, c *Caller, slot string, overlap time.Duration,
	find func(*store.Tx) (store.Application, error)) ([]SigningKey, error) {
	if slot != KeyPrimary && slot != KeySecondary {
		return nil, Invalid(invalidField("slot", "slot must be %s or %s", KeyPrimary, KeySecondary))
	}
	if overlap < 0 || overlap > MaxKeyOverlap {
		return nil, Invalid(invalidField("overlap_seconds", "overlap_seconds must be from 0 to %d", int(MaxKeyOverlap.Seconds())))
	}
	var keys []SigningKey
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		app, err := find(tx)
		if err != nil {
			return err
		}
		if err := s.firstKeys(ctx, tx, app.ID); err != nil {
			return err
		}
		if err := tx.RetireSigningKey(ctx, app.ID, slot, s.now().Add(overlap).UnixMicro()); err != nil {
			return err
		}
		if err := s.insertKey(ctx, tx, app.ID, slot); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, c, AuditKeyRenewed, auditOf("application", app.ID), "slot", slot, "overlap", overlap.String()); err != nil {
			return err
		}
		keys, err = s.signingKeys(ctx, tx.Queries, app.ID)
		return err
	})
	return keys, err
}
