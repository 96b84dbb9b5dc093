package docgen

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"platen/store"
)

// LinkAccess says who has access with a shared link.
type LinkAccess string

// The values of LinkAccess.
const (
	LinkOpen          LinkAccess = "open"          // anyone, even without an account
	LinkCompany       LinkAccess = "company"       // the users of the enterprise
	LinkCollaborators LinkAccess = "collaborators" // people who have access anyway: the link adds no permissions
)

// DefaultLinkAccess is the access of a new link that names none. It publishes nothing.
const DefaultLinkAccess = LinkCompany

// Limits of the password of a shared link.
const (
	minLinkPassword = 8   // characters
	maxLinkPassword = 128 // bytes
)

// SharedLink is the shared link of an item: a URL that gives others access to the item and, for a folder, to everything in it.
type SharedLink struct {
	URL         string
	DownloadURL string // of a file whose content the link gives; otherwise empty
	Access      LinkAccess
	HasPassword bool
	CanDownload bool
	ExpiresAt   time.Time // zero: never
	Downloads   int64     // the number of downloads with the link
}

// LinkChange is a change of the shared link of an item. If there is none, the change creates it. Zero fields stay unchanged; in a new link,
// they have their defaults: DefaultLinkAccess, no password, no end, and downloads.
type LinkChange struct {
	Remove      bool // remove the link; the other fields do not count
	Access      LinkAccess
	Password    *string    // empty for none
	ExpiresAt   *time.Time // zero for never
	CanDownload *bool

	// Parts of Box's API that this server lacks.
	VanityName string // must be empty
	CanPreview *bool  // must be true
	CanEdit    *bool  // must be false

	hash string // of Password, see hashLinkPassword
}

// linkProblems returns everything that is wrong with a change of a shared link, as far as it can be checked without the link.
func (s *Service) linkProblems(change *LinkChange) []Problem {
	if change == nil || change.Remove {
		return nil
	}
	var problems []Problem
	note := func(bad bool, field, format string, args ...any) {
		if bad {
			problems = append(problems, invalidField("shared_link."+field, format, args...))
		}
	}
	switch change.Access {
	case "", LinkOpen, LinkCompany, LinkCollaborators:
	default:
		note(true, "access", "access must be %s, %s, or %s", LinkOpen, LinkCompany, LinkCollaborators)
	}
	if text := change.Password; text != nil && *text != "" {
		note(utf8.RuneCountInString(*text) < minLinkPassword || len(*text) > maxLinkPassword || !keepable(*text), "password",
			"a password must have at least %d characters and at most %d bytes of UTF-8 without NUL", minLinkPassword, maxLinkPassword)
	}
	if at := change.ExpiresAt; at != nil {
		note(!at.IsZero() && !at.After(s.now()), "unshared_at", "unshared_at must be a time in the future, or null for never")
	}
	note(change.VanityName != "", "vanity_name", "vanity_name is not supported: omit it, or send null")
	note(change.CanPreview != nil && !*change.CanPreview, "permissions.can_preview", "can_preview must be true: every link permits previews")
	note(change.CanEdit != nil && *change.CanEdit, "permissions.can_edit",
		"can_edit is not supported: omit it, or send false. To let others edit, create a collaboration")
	return problems
}

// linkPermissions returns what a link adds to the permissions of its users.
func linkPermissions(row store.SharedLink) Permissions {
	switch {
	case LinkAccess(row.Access) == LinkCollaborators:
		return 0
	case row.CanDownload:
		return MaySee | MayPreview | MayDownload
	}
	return MaySee | MayPreview
}

// isExpired reports whether a link has ended. An ended link stays in the database until its item gets a new one.
func (s *Service) isExpired(row store.SharedLink) bool {
	return row.ExpiresAt != 0 && row.ExpiresAt <= s.micros()
}

// activeLink returns the link of an item, or nil if it has none, or one that has ended.
func (s *Service) activeLink(ctx context.Context, q *store.Queries, itemID int64) (*store.SharedLink, error) {
	row, err := q.SharedLinkOf(ctx, itemID)
	if errors.Is(err, sql.ErrNoRows) || err == nil && s.isExpired(row) {
		return nil, nil
	}
	return &row, err
}

// shownLink returns the link of an item for a caller who may do what the link permits. Others do not see it: its URL would give them more
// than they have.
func (s *Service) shownLink(ctx context.Context, q *store.Queries, p place) (*SharedLink, error) {
	if !p.row.ParentID.Valid || trashedAny(p.chain) {
		return nil, nil
	}
	row, err := s.activeLink(ctx, q, p.row.ID)
	if err != nil || row == nil || !p.may.Can(linkPermissions(*row)) {
		return nil, err
	}
	link := &SharedLink{
		URL: *s.baseURL.Load() + LinkPath + s.linkSecret(row.ID), Access: LinkAccess(row.Access), HasPassword: row.Password != "",
		CanDownload: row.CanDownload, ExpiresAt: timeOf(row.ExpiresAt), Downloads: row.Downloads,
	}
	if Kind(p.row.Kind) == File && row.CanDownload {
		link.DownloadURL = link.URL + "/files/" + strconv.FormatInt(p.row.ID, 10)
	}
	return link, nil
}

// changeLink applies a change that is only one of the link of an item.
func (s *Service) changeLink(ctx context.Context, tx *store.Tx, c *Caller, p place, change *LinkChange) error {
	events, err := s.applyLink(ctx, tx, c, p, change)
	if err != nil || len(events) == 0 {
		return err
	}
	if err := tx.TouchItem(ctx, p.row.ID); err != nil {
		return err
	}
	return s.fire(ctx, tx, c, events...)
}

// applyLink creates, changes, or removes the link of an item, and returns the event for it, or none if nothing changes.
func (s *Service) applyLink(ctx context.Context, tx *store.Tx, c *Caller, p place, change *LinkChange) ([]event, error) {
	if change == nil {
		return nil, nil
	}
	old, err := s.activeLink(ctx, tx.Queries, p.row.ID)
	if err != nil || change.Remove && old == nil {
		return nil, err
	}
	if change.Remove {
		if _, err := tx.DeleteSharedLinkOf(ctx, p.row.ID); err != nil {
			return nil, err
		}
		return s.linkChanged(ctx, tx, c, p, *old, SharedLinkDeleted, AuditLinkDeleted)
	}
	if p.archive != nil {
		return nil, failf(CodeForbidden, "Access denied – items in an archive cannot have shared links.")
	}
	if old == nil {
		return s.createLink(ctx, tx, c, p, change)
	}
	row, err := change.applied(*old)
	if err != nil || row == *old {
		return nil, err
	}
	err = tx.UpdateSharedLink(ctx, store.UpdateSharedLinkParams{
		ID: row.ID, Access: row.Access, CanDownload: row.CanDownload, Password: row.Password, ExpiresAt: row.ExpiresAt,
	})
	if err != nil {
		return nil, err
	}
	return s.linkChanged(ctx, tx, c, p, row, SharedLinkUpdated, AuditLinkUpdated)
}

// createLink creates the link of an item, in place of one that has ended.
func (s *Service) createLink(ctx context.Context, tx *store.Tx, c *Caller, p place, change *LinkChange) ([]event, error) {
	row, err := change.applied(store.SharedLink{ID: s.newID(), ItemID: p.row.ID, Access: string(DefaultLinkAccess), CanDownload: true})
	if err != nil {
		return nil, err
	}
	if _, err := tx.DeleteSharedLinkOf(ctx, p.row.ID); err != nil {
		return nil, err
	}
	err = tx.InsertSharedLink(ctx, store.InsertSharedLinkParams{
		ID: row.ID, ItemID: row.ItemID, Access: row.Access, CanDownload: row.CanDownload, Password: row.Password, ExpiresAt: row.ExpiresAt,
	})
	if err != nil {
		return nil, err
	}
	return s.linkChanged(ctx, tx, c, p, row, SharedLinkCreated, AuditLinkCreated)
}

// applied returns the row of a link after a change. As in Box, only open links have passwords, and links for collaborators add nothing that
// could be restricted.
func (change *LinkChange) applied(row store.SharedLink) (store.SharedLink, error) {
	if change.Access != "" {
		row.Access = string(change.Access)
	}
	access := LinkAccess(row.Access)
	if change.CanDownload != nil {
		row.CanDownload = *change.CanDownload
	}
	if change.ExpiresAt != nil {
		row.ExpiresAt = microsOf(*change.ExpiresAt, 0)
	}
	if change.Password != nil {
		row.Password = change.hash
	}
	var problems []Problem
	if access != LinkOpen && change.hash != "" {
		problems = append(problems, invalidField("shared_link.password", "only a link with the access open can have a password"))
	}
	if access == LinkCollaborators && change.CanDownload != nil && !row.CanDownload {
		problems = append(problems, invalidField("shared_link.permissions.can_download",
			"a link for collaborators restricts nothing: their roles say whether they can download"))
	}
	if access != LinkOpen {
		row.Password = ""
	}
	if access == LinkCollaborators {
		row.CanDownload = true
	}
	return row, Invalid(problems...)
}

// linkChanged records a change of a link, and returns the event for it.
func (s *Service) linkChanged(ctx context.Context, tx *store.Tx, c *Caller, p place, row store.SharedLink, trigger Trigger,
	action AuditAction) ([]event, error) {
	expires := ""
	if row.ExpiresAt != 0 {
		expires = timeOf(row.ExpiresAt).UTC().Format(time.RFC3339)
	}
	err := s.audit(ctx, tx, c, action, auditOf(Kind(p.row.Kind).String(), p.row.ID), "access", row.Access,
		"password", strconv.FormatBool(row.Password != ""), "can_download", strconv.FormatBool(row.CanDownload), "expires_at", expires)
	return []event{{trigger: trigger, item: p}}, err
}
