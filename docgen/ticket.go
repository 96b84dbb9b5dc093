package docgen

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"platen/store"
)

// TicketTTL is how long a Ticket is valid.
const TicketTTL = 15 * time.Minute

// A Ticket allows one user to download one version of a file, or to start one ZIP download, until it expires, without an access token. Its
// text is signed with a secret of the server, so that nobody can change or extend it. It is only as good as the access token it was issued
// for: a download checks that token, its user, and the permission again.
type Ticket struct {
	FileID    int64 // 0 for a ZIP download
	VersionID int64 // 0 for a ZIP download
	ZipID     int64 // 0 for a file
	userID    int64 // the user on whose behalf it was issued
	tokenID   int64 // the access token with which it was issued
	expiresAt int64
	link      linkUse // the shared link with which it was issued
}

// The text of a ticket is the base64 form of its kind, its numbers, and their digest.
const (
	ticketOfFile  = 1
	ticketOfZip   = 2
	ticketSize    = 1 + 7*8
	ticketPurpose = "download tickets"
)

// Ticket returns the text of a ticket for a version of a file that the caller may download. Version 0 is the current one.
func (s *Service) Ticket(ctx context.Context, c *Caller, fileID, versionID int64) (string, error) {
	content, err := s.Content(ctx, c, fileID, versionID)
	if err != nil {
		return "", err
	}
	t := Ticket{
		FileID: fileID, VersionID: content.VersionID, userID: c.User.ID, tokenID: c.TokenID, expiresAt: s.now().Add(TicketTTL).UnixMicro(),
	}
	if c.link != nil {
		t.link = *c.link
	}
	return s.signTicket(t), nil
}

func (s *Service) signTicket(t Ticket) string {
	b, id := []byte{ticketOfFile}, t.FileID
	if t.ZipID != 0 {
		b, id = []byte{ticketOfZip}, t.ZipID
	}
	for _, n := range []int64{id, t.VersionID, t.userID, t.tokenID, t.expiresAt, t.link.id, t.link.password} {
		b = binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // the bits of the number
	}
	return base64.RawURLEncoding.EncodeToString(append(b, s.mac(ticketPurpose, b)...))
}

// mac returns the digest of a text with a key for one purpose. No text that is signed for another purpose has it.
func (s *Service) mac(purpose string, text []byte) []byte {
	key := hmac.New(sha256.New, s.markerKey)
	key.Write([]byte(purpose))
	mac := hmac.New(sha256.New, key.Sum(nil))
	mac.Write(text)
	return mac.Sum(nil)
}

// parseTicket returns the ticket with a text if this server signed it.
func (s *Service) parseTicket(text string) (t Ticket, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != ticketSize+sha256.Size {
		return Ticket{}, false
	}
	id := &t.FileID
	if b[0] == ticketOfZip {
		id = &t.ZipID
	}
	for i, n := range []*int64{id, &t.VersionID, &t.userID, &t.tokenID, &t.expiresAt, &t.link.id, &t.link.password} {
		*n = int64(binary.BigEndian.Uint64(b[1+8*i:])) //nolint:gosec // the bits of the number
	}
	return t, hmac.Equal([]byte(text), []byte(s.signTicket(t)))
}

// Redeem returns the ticket of a file with a text, and its caller, for whom the permission to download must be checked again. The Error
// has CodeUnauthorized for an invalid or expired ticket, and if its access token was revoked or its user may no longer use it.
func (s *Service) Redeem(ctx context.Context, text string) (*Caller, Ticket, error) {
	t, ok := s.parseTicket(text)
	return s.redeem(ctx, t, ok && t.FileID != 0, "Request the content of the file again.")
}

// RedeemZip is Redeem for the ticket of a ZIP download.
func (s *Service) RedeemZip(ctx context.Context, text string) (*Caller, Ticket, error) {
	t, ok := s.parseTicket(text)
	return s.redeem(ctx, t, ok && t.ZipID != 0, "Create another ZIP download.")
}

func (s *Service) redeem(ctx context.Context, t Ticket, valid bool, advice string) (*Caller, Ticket, error) {
	invalid := failf(CodeUnauthorized, "The download URL is invalid or has expired. %s", advice)
	if !valid || t.expiresAt <= s.micros() {
		return nil, Ticket{}, invalid
	}
	var c *Caller
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := q.TokenOf(ctx, t.tokenID)
		if errors.Is(err, sql.ErrNoRows) {
			return invalid
		}
		if err != nil {
			return err
		}
		if c = s.callerWith(row.Token, row.User, row.Application); c == nil {
			return invalid
		}
		return nil
	})
	if err != nil {
		return nil, Ticket{}, err
	}
	if c, err = s.As(ctx, c, t.userID); err == nil && t.link.id != 0 {
		c.link = &t.link
	}
	return c, t, err
}
