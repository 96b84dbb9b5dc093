package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"platen/store"
)

// Erasing a user deletes all personal data that Platen stores about the user. The first transaction deletes the account
// and replaces the login and the name, so nobody sees them from then on. The task EraseUsers deletes the rest in short
// transactions. All state is in rows: after a crash, the task continues. docs/operations.md lists what is deleted,
// replaced, and kept.

// Erasure selects what happens to the files and folders of an erased user. If neither field is set, the user must not
// own any.
type Erasure struct {
	To     int64 // the user who becomes their owner; 0 for nobody
	Delete bool  // delete them permanently
}

// ErasurePlan is what erasing a user would delete or change.
type ErasurePlan struct {
	UserID      int64
	ErasedAt    time.Time // when the user was erased; zero if not yet
	Files       int64     // including those in the trash
	Folders     int64     // including those in the trash
	Bytes       int64     // of all versions of the files
	Tokens      int64     // access and refresh tokens
	Shares      int64     // collaborations of the user on items of others
	Batches     int64
	Jobs        int64
	Webhooks    int64
	Deliveries  int64 // of these webhooks
	AuditEvents int64 // entries that lose personal data; the entries themselves stay
}

// erasedName is the name of every erased user.
const erasedName = "Erased user"

// erasedText replaces the text that was erased from an entry of the audit log.
const erasedText = "(erased)"

// erasedLogin returns the login of an erased user. Nobody can use it.
func erasedLogin(id int64) string { return "erased-" + strconv.FormatInt(id, 10) }

// erasedFolder returns the name of the folder with the content of an erased user.
func erasedFolder(id int64) string { return "Files and folders of user " + strconv.FormatInt(id, 10) }

// erasable returns a user whom the caller manages, including a deleted one.
func (s *Service) erasable(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.User, error) {
	row, err := q.User(ctx, id)
	if errors.Is(err, sql.ErrNoRows) ||
		err == nil && (row.User.EnterpriseID != s.enterprise.id || row.User.Kind == KindService || !c.manages(row.User.PlatformOnly)) {
		return store.User{}, NotFound("user", id)
	}
	return row.User, err
}

// PlanErasure returns what erasing a user would delete or change. name is a login or an id; for a deleted user, it can
// be the last login.
func (s *Service) PlanErasure(ctx context.Context, c *Caller, name string) (ErasurePlan, error) {
	if err := c.requireManager(); err != nil {
		return ErasurePlan{}, err
	}
	var plan ErasurePlan
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		user, err := s.findErasable(ctx, q, c, kept(name))
		if err != nil {
			return err
		}
		row, err := q.ErasurePlan(ctx, user.ID, strconv.FormatInt(user.ID, 10))
		if err != nil {
			return err
		}
		space, err := s.space(ctx, q, user.ID)
		if err != nil {
			return err
		}
		plan = ErasurePlan{
			UserID: user.ID, ErasedAt: timeOf(user.ErasedAt), Files: space.Files, Folders: row.Folders, Bytes: space.Bytes,
			Tokens: row.Tokens + row.RefreshTokens, Shares: row.Shares, Batches: row.Batches, Jobs: row.Jobs, Webhooks: row.Webhooks,
			Deliveries: row.Deliveries, AuditEvents: row.Audit,
		}
		return nil
	})
	return plan, err
}

// findErasable returns a user by login or id. If a login is also the id of another user, the login takes precedence.
func (s *Service) findErasable(ctx context.Context, q *store.Queries, c *Caller, name string) (store.User, error) {
	row, err := userByLogin(ctx, q, name)
	if err == nil {
		return s.erasable(ctx, q, c, row.ID)
	}
	if !IsCode(err, CodeNotFound) {
		return store.User{}, err
	}
	deleted, err := q.DeletedUsers(ctx, name, 2)
	if err != nil {
		return store.User{}, err
	}
	underWay, err := erasureUnderWay(ctx, q, name)
	if err != nil {
		return store.User{}, err
	}
	id, notID := strconv.ParseInt(name, 10, 64)
	switch {
	case len(deleted) == 0 && underWay != 0:
		id = underWay
	case len(deleted) == 1:
		id = deleted[0].ID
	case len(deleted) > 1:
		return store.User{}, failf(CodeConflict, "Several deleted users had the login %q, including %d and %d. Use an id instead.", name,
			deleted[0].ID, deleted[1].ID)
	case notID != nil:
		return store.User{}, failf(CodeNotFound, "No user has the login or id %q.", name)
	}
	return s.erasable(ctx, q, c, id)
}

// erasureUnderWay returns the id of a user whose erasure has begun and who had a login before, or 0.
func erasureUnderWay(ctx context.Context, q *store.Queries, login string) (id int64, err error) {
	rows, err := q.ErasuresUnderWay(ctx, erasureUsers)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		e, err := erasureOf(row)
		if err != nil {
			return 0, err
		}
		if e.isLogin(login) {
			id = row.UserID
		}
	}
	return id, nil
}

// EraseUser deletes the account of a user whom the caller manages, unless it is already deleted, and replaces the login
// and the name. The task EraseUsers erases the rest. Erasing a user again has no effect.
func (s *Service) EraseUser(ctx context.Context, c *Caller, id int64, e Erasure) error {
	if err := c.requireManager(); err != nil {
		return err
	}
	content := "none"
	if e.To != 0 {
		_, err := s.transferContent(ctx, c, id, e.To, func(from store.User) string { return erasedFolder(from.ID) })
		if err != nil && !IsCode(err, CodeNotFound) { // a deleted user owns nothing
			return err
		}
		content = "transferred"
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockSetting(ctx, settingAdmins); err != nil {
			return err
		}
		row, err := s.erasable(ctx, tx.Queries, c, id)
		if err != nil || row.ErasedAt != 0 {
			return err
		}
		if err := tx.LockTrees(ctx, row.RootFolderID); err != nil {
			return err
		}
		if row, err = s.lockErasable(ctx, tx, c, id); err != nil || row.ErasedAt != 0 {
			return err
		}
		owns, err := tx.HasContent(ctx, parentOf(row.RootFolderID))
		if err != nil {
			return err
		}
		switch {
		case owns && e.Delete:
			content = "deleted"
		case owns:
			return userOwns(id)
		}
		return s.beginErasure(ctx, tx, c, row, content)
	})
}

// lockErasable is like lockManaged for a user who may have been deleted. Users cannot erase themselves.
func (s *Service) lockErasable(ctx context.Context, tx *store.Tx, c *Caller, id int64) (store.User, error) {
	if _, err := tx.LockUser(ctx, id); err != nil {
		return store.User{}, err
	}
	row, err := s.erasable(ctx, tx.Queries, c, id)
	if err == nil {
		err = cmp.Or(c.checkAdmin(row), c.checkNotSelf(id))
	}
	return row, err
}

// beginErasure is the first transaction of an erasure. It does nothing if the erasure has already begun.
func (s *Service) beginErasure(ctx context.Context, tx *store.Tx, c *Caller, row store.User, content string) error {
	begun, err := tx.LockErasure(ctx, row.ID)
	if err != nil {
		return err
	}
	if len(begun) > 0 {
		return wakeErasure(ctx, tx)
	}
	known, err := s.knownOf(ctx, tx.Queries, row)
	if err != nil {
		return err
	}
	if err := tx.InsertErasure(ctx, row.ID, s.micros(), known); err != nil {
		return err
	}
	if err := s.audit(ctx, tx, c, AuditUserErased, auditOf("user", row.ID), "content", content); err != nil {
		return err
	}
	if row.DeletedAt == 0 {
		if err := s.endUser(ctx, tx, c, row); err != nil {
			return err
		}
	}
	err = tx.EraseUser(ctx, store.EraseUserParams{
		ID: row.ID, Login: erasedLogin(row.ID), Name: erasedName, NameKey: foldKey(erasedName), ModifiedAt: s.micros(),
	})
	if err != nil {
		return err
	}
	return wakeErasure(ctx, tx)
}

// known has the texts that identify the person in rows without an id of the user. It is deleted when the erasure is done.
type known struct {
	Logins  []string `json:"logins"`
	Names   []string `json:"names"`
	Folders []int64  `json:"folders"` // that content of the user was transferred into
}

// knownOf returns the logins and names of a user, including earlier ones in the audit log.
func (s *Service) knownOf(ctx context.Context, q *store.Queries, row store.User) (string, error) {
	k := known{Logins: []string{row.Login}, Names: []string{row.Name}}
	entries, err := q.UserAudit(ctx, strconv.FormatInt(row.ID, 10))
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		details := map[string]string{}
		if err := json.Unmarshal([]byte(entry.Details), &details); err != nil {
			return "", fmt.Errorf("details of an audit event of user %d: %w", row.ID, err)
		}
		if text := details["login"]; text != "" {
			k.Logins = append(k.Logins, strings.Split(text, auditArrow)...)
		}
		if text := details["name"]; text != "" {
			k.Names = append(k.Names, strings.Split(text, auditArrow)...)
		}
		if AuditAction(entry.Action) != AuditContentTransferred {
			continue
		}
		folder, err := strconv.ParseInt(details["folder_id"], 10, 64)
		if err != nil {
			return "", fmt.Errorf("details of an audit event of user %d: %w", row.ID, err)
		}
		k.Folders = append(k.Folders, folder)
	}
	text, err := json.Marshal(k)
	return string(text), err
}
