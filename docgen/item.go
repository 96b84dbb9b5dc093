package docgen

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"time"

	"platen/store"
)

// Kind distinguishes files and folders. Folders come first in every listing.
type Kind int

// The kinds of item.
const (
	Folder Kind = 0
	File   Kind = 1
)

// String returns the name in the API: folder or file.
func (k Kind) String() string {
	if k == Folder {
		return "folder"
	}
	return "file"
}

// Every user has a root folder, with the same public id and name for everyone.
const (
	rootID   = 0
	rootName = "All Files"
)

// Item is a file or a folder. In listings and conflicts, fields that refer to other items or users, Permissions,
// and SharedLink are not set.
type Item struct {
	Kind        Kind
	ID          int64 // 0 is the caller's root folder
	ETag        int64 // increases with every change
	Name        string
	Description string

	Size          int64  // bytes of the current version, or of all files in an archive; 0 for other folders
	SHA1          string // of the current version, in hexadecimal; empty for a folder
	VersionID     int64  // 0 for a folder
	VersionNumber int64  // 1 for the first; 0 for a folder

	Parent *FolderRef  // nil for the root folder and for an archive
	Path   []FolderRef // from the root folder, or the archive, to the parent, as far as the caller may see it

	Owner             UserRef
	CreatedBy         UserRef
	ModifiedBy        UserRef
	CreatedAt         time.Time
	ModifiedAt        time.Time
	ContentCreatedAt  time.Time
	ContentModifiedAt time.Time
	TrashedAt         time.Time // when it was moved to the trash; zero if it is not in the trash

	Permissions Permissions // of the caller
	SharedLink  *SharedLink // nil if there is none, or if the caller may not do what it permits
}

// FolderRef is a reference to a folder from the items below it.
type FolderRef struct {
	ID   int64
	ETag int64
	Name string
}

// ItemChange is a change of an item. Nil fields stay unchanged.
type ItemChange struct {
	Name        *string
	Description *string

	ContentCreatedAt  time.Time // unchanged when zero
	ContentModifiedAt time.Time // unchanged when zero

	ParentID    *int64 // the folder to move the item into
	ParentOwner int64  // if ParentID is 0, the user who owns that root folder; 0 for the caller
	IfMatch     string // the etag that the item must still have; empty for any

	Link *LinkChange // the change of its shared link
}

// isLink reports whether a change is only one of a shared link.
func (change ItemChange) isLink() bool {
	link := change.Link
	change.Link, change.IfMatch = nil, ""
	return link != nil && change == ItemChange{}
}

// needs returns the permissions that a change needs.
func (change ItemChange) needs() Permissions {
	switch {
	case change.Link == nil:
		return MayEdit
	case change.isLink():
		return MayShare
	}
	return MayEdit | MayShare
}

// maxDescriptionLength is the maximum length of a description, in bytes.
const maxDescriptionLength = 1024

// listed returns the listing form of an item.
func listed(row store.ListedItem) Item {
	return Item{
		Kind: Kind(row.Kind), ID: row.ID, ETag: row.Etag, Name: row.Name,
		Description: row.Description,
		Size:        row.Size, SHA1: row.Sha1, VersionID: row.VersionID, VersionNumber: row.VersionNumber,
		CreatedAt: timeOf(row.CreatedAt), ModifiedAt: timeOf(row.ModifiedAt), TrashedAt: timeOf(row.TrashedAt),
		ContentCreatedAt: timeOf(row.ContentCreatedAt), ContentModifiedAt: timeOf(row.ContentModifiedAt),
	}
}

func listedAll(rows []store.ListedItem, err error) ([]Item, error) {
	items := make([]Item, len(rows))
	for i, row := range rows {
		items[i] = listed(row)
	}
	return items, err
}

// item returns an item as the caller may see it.
func (s *Service) item(ctx context.Context, q *store.Queries, c *Caller, kind Kind, id int64) (*Item, error) {
	p, err := s.find(ctx, q, c, kind, id, MaySee)
	if err != nil {
		return nil, err
	}
	return s.describe(ctx, q, c, p)
}

// describe returns the full form of an item, as the caller who found it may see it.
func (s *Service) describe(ctx context.Context, q *store.Queries, c *Caller, p place) (*Item, error) {
	item := listed(p.row.Listed())
	if !p.row.ParentID.Valid {
		item.ID = rootID
	}
	item.Permissions = p.may
	item.Path = p.path(c)
	if n := len(item.Path); n > 0 {
		item.Parent = &item.Path[n-1]
	}
	users := userRefs{}
	var err error
	if item.SharedLink, err = s.shownLink(ctx, q, p); err != nil {
		return nil, err
	}
	for to, id := range map[*UserRef]int64{
		&item.Owner: p.row.OwnerID, &item.CreatedBy: p.row.CreatedBy, &item.ModifiedBy: p.row.ModifiedBy,
	} {
		if *to, err = users.get(ctx, q, id); err != nil {
			return nil, err
		}
	}
	return &item, nil
}

// path returns the folders above an item, from the first one that the caller may see. It begins with the caller's root folder, which lists
// the items that others share, or with the archive. An item that is shared for access only, or with a shared link, has no path above it.
func (p place) path(c *Caller) []FolderRef {
	if !p.row.ParentID.Valid {
		return nil
	}
	var path []FolderRef
	if p.archive == nil && !p.isAccessOnly(c) {
		path = append(path, FolderRef{ID: rootID, Name: rootName})
	}
	var may Permissions
	if slices.ContainsFunc(p.chain, func(link store.ItemChainRow) bool { return link.CanViewPath }) {
		may = MaySee
	}
	for i := len(p.chain) - 1; i > 0; i-- {
		link := p.chain[i]
		may |= p.at(link, c)
		if link.Item.ParentID.Valid && may.Can(MaySee) {
			path = append(path, FolderRef{ID: link.Item.ID, ETag: link.Item.Etag, Name: link.Item.Name})
		}
	}
	return path
}

// isAccessOnly reports whether a caller's permissions on an item result only from collaborations with is_access_only.
func (p place) isAccessOnly(c *Caller) bool {
	return !slices.ContainsFunc(p.chain, func(link store.ItemChainRow) bool {
		return permissionsAt(link, c) != 0 && !link.IsAccessOnly
	})
}

func refOf(user store.User) UserRef { return UserRef{ID: user.ID, Name: user.Name, Login: user.Login} }

// userRefs caches users, so that each is read once.
type userRefs map[int64]UserRef

func (u userRefs) get(ctx context.Context, q *store.Queries, id int64) (UserRef, error) {
	if ref, ok := u[id]; ok {
		return ref, nil
	}
	row, err := q.User(ctx, id)
	if err != nil {
		return UserRef{}, err
	}
	u[id] = refOf(row.User)
	return u[id], nil
}

// optional returns the user with an id, or nothing for id 0.
func (u userRefs) optional(ctx context.Context, q *store.Queries, id int64) (*UserRef, error) {
	if id == 0 {
		return nil, nil
	}
	ref, err := u.get(ctx, q, id)
	return &ref, err
}

// newItemRow returns the row of a new item without content.
func newItemRow(kind Kind, id int64, parent sql.NullInt64, name string, owner, creator, now int64) store.InsertItemParams {
	return store.InsertItemParams{
		ID: id, Kind: int64(kind), ParentID: parent, OwnerID: owner, Name: name, NameKey: foldKey(name),
		CreatedAt: now, CreatedBy: creator, ModifiedAt: now, ModifiedBy: creator,
		ContentCreatedAt: now, ContentModifiedAt: now,
	}
}

// parentOf returns the column value for a parent folder.
func parentOf(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: true} }

// nameInUse returns the Error for a name that an item in the folder already has.
func (s *Service) nameInUse(ctx context.Context, q *store.Queries, c *Caller, parent int64, name string) error {
	row, err := q.Child(ctx, parentOf(parent), foldKey(name))
	if errors.Is(err, sql.ErrNoRows) {
		return failf(CodeConflict, "An item with the same name existed a moment ago. Retry.")
	}
	if err != nil {
		return err
	}
	return s.nameTaken(ctx, q, c, row)
}

// nameTaken returns the Error for a name that another item has. It contains the item only if the caller can see it: a collaborator on a
// single item cannot see its siblings.
func (s *Service) nameTaken(ctx context.Context, q *store.Queries, c *Caller, row store.Item) error {
	taken := &Error{Code: CodeNameInUse, Message: "Item with the same name already exists", Problems: []Problem{
		invalidField("name", "the folder already has an item of that name: choose another name or folder"),
	}}
	_, err := s.find(ctx, q, c, Kind(row.Kind), row.ID, MaySee)
	if _, hidden := errors.AsType[*Error](err); err != nil && !hidden {
		return err
	} else if !hidden {
		taken.Conflicts = []Item{listed(row.Listed())}
	}
	return taken
}

// matches returns an Error if the item does not have the etag that the caller requires.
func (p place) matches(ifMatch string) error {
	if ifMatch == "" || ifMatch == "*" || ifMatch == strconv.FormatInt(p.row.Etag, 10) {
		return nil
	}
	return failf(CodePrecondition, "The resource has been modified. Retrieve the resource again and retry")
}

// lock returns an item that nobody else can change until the transaction ends.
func (s *Service) lock(ctx context.Context, tx *store.Tx, c *Caller, kind Kind, id int64, need Permissions, ifMatch string) (place, error) {
	p, err := s.findLocked(ctx, tx, c, kind, id, need)
	if err != nil {
		return p, err
	}
	if err := p.changeable(); err != nil {
		return p, err
	}
	return p, p.matches(ifMatch)
}

// changeable returns an Error if the item cannot be changed as a file or folder.
func (p place) changeable() error {
	switch {
	case !p.row.ParentID.Valid:
		return failf(CodeForbidden, "Access denied – the root folder cannot be changed.")
	case p.isArchive():
		return failf(CodeForbidden, "Access denied – folder %d is an archive. Change or delete it with /archives/%d.", p.row.ID, p.row.ID)
	}
	return nil
}

// lockFolder returns a folder to add something to. Until the transaction ends, nobody can delete it as empty.
func (s *Service) lockFolder(ctx context.Context, tx *store.Tx, c *Caller, id int64) (place, error) {
	return s.findSteady(ctx, tx, c, Folder, id, MayUpload, func(p place) error {
		if err := s.checkLasting(ctx, tx.Queries, c, p); err != nil {
			return err
		}
		if p.isArchive() { // deleting it locks its tree; its row is locked last, by addUsage
			return nil
		}
		_, err := tx.LockItem(ctx, p.row.ID)
		return err
	})
}

// lockTries is the maximum number of attempts to lock an item that others keep moving to another tree.
const lockTries = 3

// findLocked returns an item that nobody else can change until the transaction ends.
func (s *Service) findLocked(ctx context.Context, tx *store.Tx, c *Caller, kind Kind, id int64, need Permissions) (place, error) {
	return s.findSteady(ctx, tx, c, kind, id, need, lockRow(ctx, tx))
}

// lockRow returns a check that locks the row of the item, so that others cannot change it.
func lockRow(ctx context.Context, tx *store.Tx) func(place) error {
	return func(p place) error {
		_, err := tx.LockItem(ctx, p.row.ID)
		return err
	}
}

// findSteady finds an item that stays in its tree until the end of the transaction. It locks the item only after the access check, and then
// reads it again, so that callers without permission do not make others wait.
func (s *Service) findSteady(ctx context.Context, tx *store.Tx, c *Caller, kind Kind, id int64, need Permissions,
	lock func(place) error) (place, error) {
	return steady(ctx, tx, kind, lock, func() (place, error) { return s.find(ctx, tx.Queries, c, kind, id, need) })
}

// steady is findSteady with a custom function to find the item.
func steady(ctx context.Context, tx *store.Tx, kind Kind, lock func(place) error, find func() (place, error)) (place, error) {
	for range lockTries {
		p, err := find()
		if err != nil {
			return p, err
		}
		if err := tx.LockTreesShared(ctx, p.tree()); err != nil {
			return p, err
		}
		if err := lock(p); err != nil {
			return p, err
		}
		now, err := find()
		if err != nil || now.tree() == p.tree() {
			return now, err
		}
	}
	return place{}, failf(CodeConflict, "The %s was just moved. Retry.", kind)
}

// update changes the properties of an item and returns the changed item.
func (s *Service) update(ctx context.Context, c *Caller, kind Kind, id int64, change ItemChange) (*Item, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	if err := s.checkChange(change); err != nil {
		return nil, err
	}
	if err := s.hashLinkPassword(ctx, c, kind, id, &change); err != nil {
		return nil, err
	}
	var item *Item
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if change.ParentID != nil {
			if err := s.lockMove(ctx, tx, c, kind, id, change); err != nil {
				return err
			}
		}
		p, err := s.lock(ctx, tx, c, kind, id, change.needs(), change.IfMatch)
		if err != nil {
			return err
		}
		if err := s.applyChange(ctx, tx, c, p, change); err != nil {
			return err
		}
		item, err = s.item(ctx, tx.Queries, c, kind, id)
		return err
	})
	return item, err
}

func (s *Service) checkChange(change ItemChange) error {
	if change.ParentOwner != 0 && *change.ParentID != rootID {
		return Invalid(invalidField("parent.user_id", "user_id is only valid with the root folder, 0: omit it"))
	}
	if change.Name != nil {
		if err := s.checkName(*change.Name); err != nil {
			return err
		}
	}
	if change.Description != nil && (len(*change.Description) > maxDescriptionLength || !keepable(*change.Description)) {
		return Invalid(invalidField("description", "the description must be UTF-8 without NUL, and at most %d bytes long", maxDescriptionLength))
	}
	return Invalid(s.linkProblems(change.Link)...)
}

func (s *Service) applyChange(ctx context.Context, tx *store.Tx, c *Caller, p place, change ItemChange) error {
	if change.isLink() {
		return s.changeLink(ctx, tx, c, p, change.Link)
	}
	row := p.row
	if change.Name != nil {
		row.Name = *change.Name
	}
	if change.Description != nil {
		row.Description = *change.Description
	}
	target := p
	if change.ParentID != nil {
		targetID, err := s.targetID(ctx, tx.Queries, c, change)
		if err != nil {
			return err
		}
		if target, err = s.lockFolder(ctx, tx, c, targetID); err != nil {
			return err
		}
		if err := checkMove(p, target); err != nil {
			return err
		}
		row.ParentID = parentOf(target.row.ID)
	}
	if err := s.nameFree(ctx, tx.Queries, c, row); err != nil {
		return err
	}
	_, err := tx.UpdateItem(ctx, store.UpdateItemParams{
		ID: row.ID, ParentID: row.ParentID, Name: row.Name, NameKey: foldKey(row.Name), Description: row.Description,
		ModifiedAt: s.micros(), ModifiedBy: c.User.ID, Etag: row.Etag,
	})
	if err != nil {
		return lateTaken(err)
	}
	if err := setContentTimes(ctx, tx, row, change); err != nil {
		return err
	}
	if change.ParentID != nil {
		if err := s.handOver(ctx, tx, c, p, target); err != nil {
			return err
		}
	}
	p.archive = target.archive
	linked, err := s.applyLink(ctx, tx, c, p, change.Link)
	if err != nil {
		return err
	}
	return s.fire(ctx, tx, c, slices.Concat(renameEvents(p, row.Name), moveEvents(p, target, row.ParentID.Int64), linked)...)
}

// setContentTimes changes when the content of an item was created and modified, as far as the change says.
func setContentTimes(ctx context.Context, tx *store.Tx, row store.Item, change ItemChange) error {
	if change.ContentCreatedAt.IsZero() && change.ContentModifiedAt.IsZero() {
		return nil
	}
	return tx.SetContentTimes(ctx, row.ID,
		microsOf(change.ContentCreatedAt, row.ContentCreatedAt), microsOf(change.ContentModifiedAt, row.ContentModifiedAt))
}

// lateTaken returns the result of a change of a name: an Error if another transaction has taken the name since nameFree
// checked it.
func lateTaken(err error) error {
	if store.IsUniqueViolation(err) {
		return failf(CodeNameInUse, "Item with the same name already exists")
	}
	return err
}

// nameFree checks that no other item of the folder has the new name of a row.
func (s *Service) nameFree(ctx context.Context, q *store.Queries, c *Caller, row store.Item) error {
	other, err := q.Child(ctx, row.ParentID, foldKey(row.Name))
	if errors.Is(err, sql.ErrNoRows) || err == nil && other.ID == row.ID {
		return nil
	}
	if err != nil {
		return err
	}
	return s.nameTaken(ctx, q, c, other)
}

// read returns an item if the caller may read it.
func (s *Service) read(ctx context.Context, c *Caller, kind Kind, id int64) (*Item, error) {
	if err := c.require(ScopeRead); err != nil {
		return nil, err
	}
	var item *Item
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		item, err = s.item(ctx, q, c, kind, id)
		return err
	})
	return item, err
}
