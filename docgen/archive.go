package docgen

import (
	"context"
	"database/sql"
	"errors"
	"unicode/utf8"

	"platen/store"
)

// Archive is a folder of the enterprise, directly in the root folder of its account. The enterprise owns everything in
// it, and only callers with ScopeGlobalContent see it. They find and list an archive, and add to it, like any folder.
type Archive struct {
	ID          int64
	Name        string // unique, regardless of case
	Description string
	OwnerID     int64 // the enterprise's account
	Size        int64 // bytes of all files in it, except those in the trash
}

// Limits of archives.
const (
	MaxArchives           = 10_000
	MaxArchiveNameLength  = 100 // characters
	maxArchiveDescription = 255 // the same
)

// NewArchive describes an archive to create.
type NewArchive struct {
	Name        string
	Description string
	PolicyID    *int64 // where its contents are stored; nil for the default
}

// ArchiveChange is a change of an archive. Nil fields stay unchanged.
type ArchiveChange struct {
	Name        *string
	Description *string
}

// requireArchives returns an Error if the token cannot be used for archives with the given scope.
func (c *Caller) requireArchives(scope Scope) error {
	if err := c.require(ScopeGlobalContent); err != nil {
		return err
	}
	return c.require(scope)
}

// check returns an Error with everything that is wrong with a change. If the name is invalid, the Error has the code
// for that.
func (change ArchiveChange) check() error {
	refused := &Error{Code: CodeBadRequest, Message: "Invalid input parameters in request"}
	if change.Name != nil {
		if wrong := nameError(*change.Name, MaxArchiveNameLength); wrong != nil {
			refused = wrong
		}
	}
	if d := change.Description; d != nil && (!keepable(*d) || utf8.RuneCountInString(*d) > maxArchiveDescription) {
		refused.Problems = append(refused.Problems,
			invalidField("description", "the description must be UTF-8 without NUL, and at most %d characters long", maxArchiveDescription))
	}
	if len(refused.Problems) == 0 {
		return nil
	}
	return refused
}

func (s *Service) archiveOf(row store.ListedItem) Archive {
	return Archive{ID: row.ID, Name: row.Name, Description: row.Description, OwnerID: s.enterprise.accountID, Size: row.Size}
}

// CreateArchive creates an empty archive.
func (s *Service) CreateArchive(ctx context.Context, c *Caller, n NewArchive) (Archive, error) {
	if err := c.requireArchives(ScopeWrite); err != nil {
		return Archive{}, err
	}
	if restrictions[c.User.Status]&MayUpload != 0 {
		return Archive{}, failf(CodeForbidden, "Access denied – your status does not allow you to create archives.")
	}
	policyID, err := s.archivePolicy(c, n)
	if err != nil {
		return Archive{}, err
	}
	var made Archive
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		row := newItemRow(Folder, s.newID(), parentOf(s.enterprise.rootID), n.Name, s.enterprise.accountID, c.User.ID, s.micros())
		row.Description, row.StoragePolicyID = n.Description, policyID
		if err := s.roomForArchive(ctx, tx); err != nil {
			return err
		}
		added, err := tx.InsertItem(ctx, row)
		if err != nil {
			return err
		}
		if added == 0 {
			return archiveExists(n.Name)
		}
		made = Archive{ID: row.ID, Name: row.Name, Description: row.Description, OwnerID: row.OwnerID}
		if err := s.audit(ctx, tx, c, AuditArchiveCreated, auditOf("archive", row.ID)); err != nil {
			return err
		}
		return tx.AddFolderItems(ctx, s.enterprise.rootID, 1)
	})
	return made, err
}

// archivePolicy checks the description of a new archive, and returns its storage policy.
func (s *Service) archivePolicy(c *Caller, n NewArchive) (int64, error) {
	err := ArchiveChange{Name: &n.Name, Description: &n.Description}.check()
	if n.PolicyID == nil {
		return defaultPolicyID, err
	}
	if err := c.require(ScopeManagedUsers); err != nil {
		return 0, err
	}
	if _, known := s.policy(*n.PolicyID); known {
		return *n.PolicyID, err
	}
	unknown := invalidField("storage_policy_id", "storage policy %d does not exist; GET /storage_policies lists all", *n.PolicyID)
	if other, ok := errors.AsType[*Error](err); ok {
		other.Problems = append(other.Problems, unknown)
		return 0, err
	}
	return 0, Invalid(unknown)
}

// roomForArchive returns an Error if there are already as many archives as allowed. Until the transaction ends, others
// who create an archive wait.
func (s *Service) roomForArchive(ctx context.Context, tx *store.Tx) error {
	if _, err := tx.LockItem(ctx, s.enterprise.rootID); err != nil {
		return err
	}
	count, err := tx.CountListing(ctx, s.archives())
	if err == nil && count >= MaxArchives {
		return failf(CodeRefused, "There are %d archives, the maximum. Delete an empty one first.", count)
	}
	return err
}

// archives returns the listing of the archives, which are the items of a folder.
func (s *Service) archives() store.Listing { return store.Listing{FolderID: s.enterprise.rootID} }

// archiveExists returns the Error for a name that another archive has.
func archiveExists(name string) error {
	return &Error{Code: CodeConflict, Message: "Resource with the same name already exists", Problems: []Problem{
		invalidField("name", "an archive named %q already exists, ignoring case; choose another name", name),
	}}
}

// Archives returns one page of the archives of the enterprise, in ascending order of id.
func (s *Service) Archives(ctx context.Context, c *Caller, r PageRequest) (Page[Archive], error) {
	if err := c.requireArchives(ScopeRead); err != nil {
		return Page[Archive]{}, err
	}
	archives := func(rows []store.ListedItem, err error) ([]Archive, error) {
		list := make([]Archive, len(rows))
		for i, row := range rows {
			list[i] = s.archiveOf(row)
		}
		return list, err
	}
	listing, kind := s.archives(), int64(Folder)
	var result Page[Archive]
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		result, err = page(s, c, r, list[Archive]{
			name: "archives",
			keys: 1,
			key:  func(a Archive) []int64 { return []int64{a.ID} },
			after: func(from []int64, limit int32) ([]Archive, error) {
				return archives(q.ListAfter(ctx, listing, kind, from[0], limit))
			},
			before: func(from []int64, limit int32) ([]Archive, error) {
				return archives(q.ListBefore(ctx, listing, kind, from[0], limit))
			},
		})
		return err
	})
	return result, err
}

// findArchive returns an archive for a caller who needs the given permissions on it.
func (s *Service) findArchive(ctx context.Context, q *store.Queries, c *Caller, id int64, need Permissions) (store.Item, error) {
	p, err := s.find(ctx, q, c, Folder, id, need)
	if IsCode(err, CodeNotFound) || IsCode(err, CodeTrashed) || err == nil && !p.isArchive() {
		return store.Item{}, NotFound("archive", id)
	}
	return p.row, err
}

// UpdateArchive renames or describes an archive. An empty change has no effect.
func (s *Service) UpdateArchive(ctx context.Context, c *Caller, id int64, change ArchiveChange) (Archive, error) {
	if err := c.requireArchives(ScopeWrite); err != nil {
		return Archive{}, err
	}
	if err := change.check(); err != nil {
		return Archive{}, err
	}
	var changed Archive
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := s.lockArchive(ctx, tx, c, id, MayOwn|MayEdit)
		if err != nil {
			return err
		}
		before := row.Name
		if change.Name != nil {
			row.Name = *change.Name
		}
		if change.Description != nil {
			row.Description = *change.Description
		}
		changed = s.archiveOf(row.Listed())
		if change == (ArchiveChange{}) {
			return nil
		}
		return s.rewriteArchive(ctx, tx, c, row, before)
	})
	return changed, err
}

// lockArchive returns an archive that nobody else can change or add to until the transaction ends.
func (s *Service) lockArchive(ctx context.Context, tx *store.Tx, c *Caller, id int64, need Permissions) (store.Item, error) {
	if _, err := s.findArchive(ctx, tx.Queries, c, id, need); err != nil {
		return store.Item{}, err
	}
	if err := tx.LockTrees(ctx, id); err != nil {
		return store.Item{}, err
	}
	return s.findArchive(ctx, tx.Queries, c, id, need)
}

// rewriteArchive changes the name or the description of an archive.
func (s *Service) rewriteArchive(ctx context.Context, tx *store.Tx, c *Caller, row store.Item, before string) error {
	other, err := tx.Child(ctx, row.ParentID, foldKey(row.Name))
	switch {
	case err == nil && other.ID != row.ID:
		return archiveExists(row.Name)
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	}
	_, err = tx.UpdateItem(ctx, store.UpdateItemParams{
		ID: row.ID, ParentID: row.ParentID, Name: row.Name, NameKey: foldKey(row.Name), Description: row.Description,
		ModifiedAt: s.micros(), ModifiedBy: c.User.ID, Etag: row.Etag,
	})
	if store.IsUniqueViolation(err) { // another transaction took the name after the check
		return archiveExists(row.Name)
	}
	if err != nil || row.Name == before {
		return err
	}
	p, err := s.placeAt(ctx, tx.Queries, Folder, row.ID)
	if err != nil {
		return err
	}
	return s.fire(ctx, tx, c, event{trigger: FolderRenamed, item: p, info: Renamed{before}})
}

// DeleteArchive permanently deletes an archive that is empty, apart from items in the trash. It deletes those too.
func (s *Service) DeleteArchive(ctx context.Context, c *Caller, id int64) error {
	if err := c.requireArchives(ScopeWrite); err != nil {
		return err
	}
	if s.keepArchives {
		return failf(CodeRefused, "The operator of this server has disabled the deletion of archives.")
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		row, err := s.lockArchive(ctx, tx, c, id, MayOwn|MayDelete)
		if err != nil {
			return err
		}
		full, err := tx.HasChildren(ctx, parentOf(row.ID))
		if err != nil {
			return err
		}
		if full {
			return failf(CodeFolderNotEmpty, "Cannot delete – the archive is not empty. Move or delete its items first.")
		}
		matched, err := s.purge(ctx, tx, c, Folder, row.ID)
		if err != nil {
			return err
		}
		if err := s.audit(ctx, tx, c, AuditArchiveDeleted, auditOf("archive", row.ID)); err != nil {
			return err
		}
		if err := tx.AddFolderItems(ctx, s.enterprise.rootID, -1); err != nil {
			return err
		}
		return s.enqueue(ctx, tx, matched)
	})
}
