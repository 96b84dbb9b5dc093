package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"platen/store"
)

// Version is one content of a file.
type Version struct {
	ID         int64
	Number     int64 // 1 for the first
	Name       string
	SHA1       string
	Size       int64
	CreatedAt  time.Time
	CreatedBy  UserRef
	TrashedAt  time.Time // zero if it is not in the trash
	TrashedBy  *UserRef  // nil if it is not in the trash
	RestoredAt time.Time // zero if it never was in the trash
	RestoredBy *UserRef  // nil if it never was in the trash
}

// anyVersion returns a version of a file, even if it is in the trash; 0 is the current one.
func anyVersion(ctx context.Context, q *store.Queries, file store.Item, versionID int64) (store.FileVersion, error) {
	if versionID == 0 {
		versionID = file.VersionID
	}
	version, err := q.Version(ctx, versionID)
	if errors.Is(err, sql.ErrNoRows) || err == nil && version.FileID != file.ID {
		return store.FileVersion{}, NotFound("file_version", versionID)
	}
	return version, err
}

// fileVersion returns a version of a file that can be used; 0 is the current one.
func fileVersion(ctx context.Context, q *store.Queries, file store.Item, versionID int64) (store.FileVersion, error) {
	version, err := anyVersion(ctx, q, file, versionID)
	if err == nil && version.TrashedAt != 0 {
		return store.FileVersion{}, &Error{Code: CodeTrashed, Message: "Item is trashed", Problems: []Problem{
			invalidField("file_version", "version %d is in the trash: restore it, or use another", versionID),
		}}
	}
	return version, err
}

func versionOf(ctx context.Context, q *store.Queries, users userRefs, row store.FileVersion) (Version, error) {
	v := Version{
		ID: row.ID, Number: row.Number, Name: row.Name, SHA1: row.Sha1, Size: row.Size,
		CreatedAt: timeOf(row.CreatedAt), TrashedAt: timeOf(row.TrashedAt), RestoredAt: timeOf(row.RestoredAt),
	}
	var err error
	if v.CreatedBy, err = users.get(ctx, q, row.CreatedBy); err != nil {
		return v, err
	}
	if v.TrashedBy, err = users.optional(ctx, q, row.TrashedBy); err != nil {
		return v, err
	}
	v.RestoredBy, err = users.optional(ctx, q, row.RestoredBy)
	return v, err
}

// Versions returns one page by offset of the past versions of a file, newest first, including those in the trash.
func (s *Service) Versions(ctx context.Context, c *Caller, fileID int64, r OffsetRequest) (OffsetPage[Version], error) {
	if err := c.require(ScopeRead); err != nil {
		return OffsetPage[Version]{}, err
	}
	var result OffsetPage[Version]
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.find(ctx, q, c, File, fileID, MaySee)
		if err != nil {
			return err
		}
		result, err = pageAt(c, r,
			func() (int64, error) { return q.CountPastVersions(ctx, fileID, p.row.VersionID) },
			func(limit, offset int32) ([]Version, error) {
				rows, err := q.PastVersions(ctx, store.PastVersionsParams{FileID: fileID, ID: p.row.VersionID, Limit: limit, Offset: offset})
				versions, users := make([]Version, len(rows)), userRefs{}
				for i := 0; err == nil && i < len(rows); i++ {
					versions[i], err = versionOf(ctx, q, users, rows[i])
				}
				return versions, err
			})
		return err
	})
	return result, err
}

// Version returns a version of a file, even if it is in the trash.
func (s *Service) Version(ctx context.Context, c *Caller, fileID, versionID int64) (Version, error) {
	if err := c.require(ScopeRead); err != nil {
		return Version{}, err
	}
	var found Version
	err := s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.find(ctx, q, c, File, fileID, MaySee)
		if err != nil {
			return err
		}
		row, err := anyVersion(ctx, q, p.row, versionID)
		if err != nil {
			return err
		}
		found, err = versionOf(ctx, q, userRefs{}, row)
		return err
	})
	return found, err
}

// TrashVersion moves a past version of a file to the trash. Batches that use it continue. ifMatch is the etag that the
// file must still have, or "" for any.
func (s *Service) TrashVersion(ctx context.Context, c *Caller, fileID, versionID int64, ifMatch string) error {
	if err := c.require(ScopeWrite); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lock(ctx, tx, c, File, fileID, MayDelete, ifMatch)
		if err != nil {
			return err
		}
		version, err := fileVersion(ctx, tx.Queries, p.row, versionID)
		if err != nil {
			return err
		}
		if version.ID == p.row.VersionID {
			return failf(CodeForbidden, "Access denied – the current version cannot be deleted. Promote another version first, or delete the file.")
		}
		if use, err := tx.TemplateUse(ctx, fileID); err == nil && use.UsedVersionID == version.ID {
			return failf(CodeForbidden, "Access denied – batches use this version, the newest one that passed the samples of the template. "+
				"Correct the current version first, or set samples_required to false.")
		} else if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return tx.TrashVersion(ctx, version.ID, s.micros(), c.User.ID)
	})
}

// RestoreVersion takes a version of a file out of the trash and returns it.
func (s *Service) RestoreVersion(ctx context.Context, c *Caller, fileID, versionID int64) (Version, error) {
	if err := c.require(ScopeWrite); err != nil {
		return Version{}, err
	}
	var restored Version
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lock(ctx, tx, c, File, fileID, MayDelete, "")
		if err != nil {
			return err
		}
		row, err := anyVersion(ctx, tx.Queries, p.row, versionID)
		if err != nil {
			return err
		}
		if row.TrashedAt == 0 {
			return &Error{Code: CodeNotTrashed, Message: "Item is not trashed", Problems: []Problem{
				invalidField("file_version", "version %d is not in the trash", versionID),
			}}
		}
		if err := tx.RestoreVersion(ctx, row.ID, s.micros(), c.User.ID); err != nil {
			return err
		}
		if row, err = tx.Version(ctx, row.ID); err != nil {
			return err
		}
		restored, err = versionOf(ctx, tx.Queries, userRefs{}, row)
		return err
	})
	return restored, err
}

// Override makes batches use a version although it has not passed the samples of its template.
type Override struct {
	Reason string // for the audit log
}

// maxReason is the largest size in bytes of a reason, which is as much as the audit log keeps.
const maxReason = 1000

func (o *Override) problems() []Problem {
	if strings.TrimSpace(o.Reason) == "" || !keepable(o.Reason) || len(o.Reason) > maxReason {
		return []Problem{invalidField("reason", "the reason must have 1 to %d bytes", maxReason)}
	}
	return nil
}

// PromoteTemplateVersion is PromoteVersion for a template, whose batches use the version from now on, even if it has not passed the
// samples that the template requires. If it is the current version of the file already, there is no new one. The audit log keeps who did
// so and why.
func (s *Service) PromoteTemplateVersion(ctx context.Context, c *Caller, fileID, versionID int64, o Override) (Version, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Version{}, err
	}
	if err := Invalid(o.problems()...); err != nil {
		return Version{}, err
	}
	return s.promoteVersion(ctx, c, fileID, versionID, func(tx *store.Tx, _ place, of, current store.FileVersion) error {
		err := checkMarked(ctx, tx.Queries, fileID)
		if IsCode(err, CodeNotFound) {
			return Invalid(invalidField("reason", "a reason is only for versions of templates, and the file is not a template"))
		}
		if err != nil {
			return err
		}
		use, err := tx.TemplateUse(ctx, fileID)
		if err != nil {
			return err
		}
		state, err := versionState(ctx, tx.Queries, fileID, of.ID)
		if err != nil {
			return err
		}
		if use.SamplesRequired {
			if err := tx.SetTemplateUse(ctx, fileID, true, current.ID); err != nil {
				return err
			}
		}
		return s.audit(ctx, tx, c, AuditVersionPromoted, auditOf("template", fileID), "version", strconv.FormatInt(current.ID, 10), "copied",
			strconv.FormatInt(of.ID, 10), "samples", state, "samples_required", strconv.FormatBool(use.SamplesRequired), "reason", o.Reason)
	})
}

// PromoteVersion adds a new version to a file, with the name and the content of an earlier one, and returns it. Both versions refer to the
// same content.
func (s *Service) PromoteVersion(ctx context.Context, c *Caller, fileID, versionID int64) (Version, error) {
	return s.promoteVersion(ctx, c, fileID, versionID, nil)
}

// promoteVersion is PromoteVersion. If override is not nil, it is called with the version, and with its copy or, for the current version of
// the file, again with that, which is not copied.
func (s *Service) promoteVersion(ctx context.Context, c *Caller, fileID, versionID int64,
	override func(tx *store.Tx, p place, of, current store.FileVersion) error) (Version, error) {
	if err := c.require(ScopeWrite); err != nil {
		return Version{}, err
	}
	var promoted Version
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lock(ctx, tx, c, File, fileID, MayEdit, "")
		if err != nil {
			return err
		}
		row, err := fileVersion(ctx, tx.Queries, p.row, versionID)
		if err != nil {
			return err
		}
		if override != nil && row.ID == p.row.VersionID {
			if promoted, err = versionOf(ctx, tx.Queries, userRefs{}, row); err != nil {
				return err
			}
			return override(tx, p, row, row)
		}
		of, version := row, s.sameContent(row)
		created, modified := contentTimes(p.row, row)
		same := NewVersion{Name: row.Name, ContentCreatedAt: timeOf(created), ContentModifiedAt: timeOf(modified)}
		if err := s.replaceVersion(ctx, tx, c, p.row, same, version); err != nil {
			return err
		}
		if row, err = tx.Version(ctx, version.id); err != nil {
			return err
		}
		if promoted, err = versionOf(ctx, tx.Queries, userRefs{}, row); err != nil {
			return err
		}
		if override != nil {
			if err := override(tx, p, of, row); err != nil {
				return err
			}
		}
		if err := version.settle(ctx, tx, p, fileID); err != nil {
			return err
		}
		if err := s.charge(ctx, tx, p.row.OwnerID, 0, version.size); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{p.above(), 0, version.size - p.row.Size}); err != nil {
			return err
		}
		events := versionEvents(p, row.Name)
		events[0].as = VersionPromoted
		return s.fire(ctx, tx, c, events...)
	})
	return promoted, err
}

// contentTimes returns when the content of a version was created and modified.
func contentTimes(file store.Item, version store.FileVersion) (created, modified int64) {
	if version.ID == file.VersionID {
		return file.ContentCreatedAt, file.ContentModifiedAt
	}
	return cmp.Or(version.ContentCreatedAt, file.ContentCreatedAt), cmp.Or(version.ContentModifiedAt, version.CreatedAt)
}

// sameContent returns the content of a version, for another version. The caller must have locked the tree or the item of the existing
// version, so that the content is not deleted.
func (s *Service) sameContent(of store.FileVersion) content {
	return content{id: s.newID(), policy: of.StoragePolicyID, key: of.BlobKey, sha1: of.Sha1, size: of.Size}
}
