package docgen

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"platen/store"
)

// How a shared link gives access. WithLink opens a link for a caller, and find adds its permissions. Both read the link again, so that
// everything that ends it does so at once.

// LinkPath is the path of the pages of shared links. The secret of a link follows.
const LinkPath = "/s/"

// PassTTL is how long a visitor who knows the password of a link need not enter it again.
const PassTTL = time.Hour

// The user in events that someone without an account causes. Box has the same id for them; no user of this server does.
const (
	anonymousID   = 2
	anonymousName = "Anonymous"
)

// The sizes of signed texts: the id of a link and a part of its digest; the id, the end, and the digest of a pass.
const (
	secretMAC  = 16
	secretSize = 8 + secretMAC
	passSize   = 16 + sha256.Size

	secretPurpose = "shared links"
	passPurpose   = "passes of shared links"
)

// linkUse is the use of a shared link by a caller.
type linkUse struct {
	id       int64
	password int64 // identifies the password that the caller knows, see passwordMark; 0 if the link had none
}

// LinkKey is what a caller presents to use a shared link.
type LinkKey struct {
	Secret   string // the last segment of the URL
	Password string // empty for none
	Pass     string // of Pass, instead of the password; empty for none

	// Attempt is called before a password is compared, which costs time. An error ends the operation.
	Attempt func(linkID int64) error
}

// LinkedItem is the item of a shared link.
type LinkedItem struct {
	Kind Kind
	ID   int64
}

// ErrLinkPassword is the error for a missing or wrong password of a shared link.
var ErrLinkPassword = failf(CodeForbidden, "Access denied – the shared link has a password, and the request has none, or a wrong one.")

// errNoLink is the error for a link that does not exist, and for one that stopped working. Nobody learns which.
var errNoLink = failf(CodeNotFound, "The shared link does not exist, or has stopped working. Ask for a new one.")

// SetBaseURL sets the URL of the server for clients, for the URLs of shared links. Commands on the machine of the server use the one that
// was set last.
func (s *Service) SetBaseURL(ctx context.Context, url string) error {
	url = strings.TrimSuffix(url, "/")
	s.baseURL.Store(&url)
	return s.db.Write(ctx, func(tx *store.Tx) error {
		stored, err := tx.Setting(ctx, settingBaseURL)
		if err != nil || stored == url {
			return err
		}
		return tx.SetSetting(ctx, settingBaseURL, url)
	})
}

// linkSecret returns the secret in the URL of a link. It is computed, so that the URL can be shown again although it is not stored.
func (s *Service) linkSecret(id int64) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(id)) //nolint:gosec // the bits of the number
	return base64.RawURLEncoding.EncodeToString(append(b, s.mac(secretPurpose, b)[:secretMAC]...))
}

// linkID returns the id of the link with a secret. It reads no rows, so guessing costs the database nothing.
func (s *Service) linkID(secret string) (id int64, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	if err != nil || len(b) != secretSize {
		return 0, false
	}
	id = int64(binary.BigEndian.Uint64(b)) //nolint:gosec // the bits of the number
	return id, hmac.Equal([]byte(secret), []byte(s.linkSecret(id)))
}

// Visitor returns the caller of a request without an account, who sees nothing without a shared link.
func (s *Service) Visitor() *Caller { return &Caller{Scopes: []Scope{ScopeRead}} }

// WithLink returns a caller who has, in addition, the permissions of a shared link, and the item of the link. The Error has CodeNotFound
// for a link that does not exist or no longer works, CodeUnauthorized for a visitor if the link is for users only, and is ErrLinkPassword
// without the right password.
func (s *Service) WithLink(ctx context.Context, c *Caller, key LinkKey) (*Caller, LinkedItem, error) {
	id, ok := s.linkID(key.Secret)
	if !ok {
		return nil, LinkedItem{}, errNoLink
	}
	var found store.SharedLinkRow
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		found, err = q.SharedLink(ctx, id)
		if errors.Is(err, sql.ErrNoRows) {
			err = errNoLink
		}
		return err
	})
	if err != nil {
		return nil, LinkedItem{}, err
	}
	row := found.SharedLink
	switch {
	case !s.works(found):
		return nil, LinkedItem{}, errNoLink
	case c.User.ID == 0 && LinkAccess(row.Access) != LinkOpen:
		return nil, LinkedItem{}, failf(CodeUnauthorized, "The shared link is for users of this server only. Send an access token.")
	}
	if err := s.unlock(ctx, row, key); err != nil {
		return nil, LinkedItem{}, err
	}
	with := *c
	with.link = &linkUse{id: row.ID, password: passwordMark(row.Password)}
	return &with, LinkedItem{Kind: Kind(found.Kind), ID: row.ItemID}, nil
}

// works reports whether a link has not ended, and the owner of its item is active.
func (s *Service) works(found store.SharedLinkRow) bool {
	return !s.isExpired(found.SharedLink) && isActive(store.User{Status: found.OwnerStatus, DeletedAt: found.OwnerDeletedAt})
}

// unlock checks the password of a link, or a pass for it.
func (s *Service) unlock(ctx context.Context, row store.SharedLink, key LinkKey) error {
	switch {
	case row.Password == "" || s.isPass(key.Pass, row):
		return nil
	case key.Password == "" || len(key.Password) > maxLinkPassword:
		return ErrLinkPassword
	}
	right, err := s.checkLinkPassword(ctx, row.Password, key.Password, func() error {
		if key.Attempt == nil {
			return nil
		}
		return key.Attempt(row.ID)
	})
	if err == nil && !right {
		err = ErrLinkPassword
	}
	return err
}

// Pass returns a text that replaces the password of the shared link that a caller uses, for PassTTL or until the password changes.
func (s *Service) Pass(c *Caller) string {
	return s.signPass(c.link.id, c.link.password, s.now().Add(PassTTL).UnixMicro())
}

func (s *Service) signPass(id, password, expiresAt int64) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(id)) //nolint:gosec // the bits of the number
	b = binary.BigEndian.AppendUint64(b, uint64(expiresAt))
	signed := binary.BigEndian.AppendUint64(slices.Clone(b), uint64(password)) //nolint:gosec // the bits of the number
	return base64.RawURLEncoding.EncodeToString(append(b, s.mac(passPurpose, signed)...))
}

// isPass reports whether a text is a valid pass for a link.
func (s *Service) isPass(text string, row store.SharedLink) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != passSize {
		return false
	}
	expiresAt := int64(binary.BigEndian.Uint64(b[8:])) //nolint:gosec // the bits of the number
	return expiresAt > s.micros() && hmac.Equal([]byte(text), []byte(s.signPass(row.ID, passwordMark(row.Password), expiresAt)))
}

// linkedGrant returns what the shared link that a caller uses adds on an item: nothing unless the item is the one of the link or below it.
func (s *Service) linkedGrant(ctx context.Context, q *store.Queries, c *Caller, p place) (linkGrant, error) {
	if c.link == nil || trashedAny(p.chain) {
		return linkGrant{}, nil
	}
	found, err := q.SharedLink(ctx, c.link.id)
	if errors.Is(err, sql.ErrNoRows) {
		return linkGrant{}, nil
	}
	row := found.SharedLink
	covered := slices.ContainsFunc(p.chain, func(link store.ItemChainRow) bool { return link.Item.ID == row.ItemID })
	mayUse := LinkAccess(row.Access) == LinkOpen || c.User.ID != 0
	if err != nil || !covered || !mayUse || !s.works(found) || passwordMark(row.Password) != c.link.password {
		return linkGrant{}, err
	}
	return linkGrant{itemID: row.ItemID, may: linkPermissions(row)}, nil
}

// countDownload counts a download of an item that was found with a shared link.
func (s *Service) countDownload(ctx context.Context, c *Caller, p place) error {
	if p.via.itemID == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx *store.Tx) error { return tx.CountLinkDownload(ctx, c.link.id) })
}
