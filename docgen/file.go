package docgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"platen/blob"
	"platen/store"
)

// NewFile describes a file to upload.
type NewFile struct {
	Name              string
	ParentID          int64     // 0 is the caller's root folder
	SHA1              string    // the required SHA-1 of the content, in hexadecimal; empty to skip the check
	AtLeast           int64     // minimum size of the content in bytes; 0 if unknown
	ContentCreatedAt  time.Time // now when zero
	ContentModifiedAt time.Time // now when zero
}

// CreateFile creates a file. It checks the name and the caller's permissions before it reads the content. The owner of
// the folder owns the file.
func (s *Service) CreateFile(ctx context.Context, c *Caller, f NewFile, content io.Reader) (*Item, error) {
	into, err := s.checkNewFile(ctx, c, f)
	if err != nil {
		return nil, err
	}
	version, err := s.saveUpload(ctx, into, content, f.SHA1)
	if err != nil {
		return nil, err
	}
	var item *Item
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		parent, err := s.lockFolder(ctx, tx, c, f.ParentID)
		if err != nil {
			return err
		}
		now := s.micros()
		row := newItemRow(File, s.newID(), parentOf(parent.row.ID), f.Name, parent.row.OwnerID, c.User.ID, now)
		row.ContentCreatedAt, row.ContentModifiedAt = microsOf(f.ContentCreatedAt, now), microsOf(f.ContentModifiedAt, now)
		added, err := version.insertFile(ctx, tx, row)
		if err != nil {
			return err
		}
		if !added {
			return s.nameInUse(ctx, tx.Queries, c, parent.row.ID, f.Name)
		}
		if item, err = s.item(ctx, tx.Queries, c, File, row.ID); err != nil {
			return err
		}
		if err := version.settle(ctx, tx, parent, row.ID); err != nil {
			return err
		}
		if err := s.charge(ctx, tx, parent.row.OwnerID, 1, version.size); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{parent, 1, version.size}); err != nil {
			return err
		}
		return s.fire(ctx, tx, c, event{trigger: FileUploaded, item: parent.child(File, row.ID)})
	})
	if err != nil {
		return nil, s.abandon(ctx, version, err)
	}
	return item, nil
}

// CheckFile returns the error with which an upload of a file with the given size would currently fail, or nil.
func (s *Service) CheckFile(ctx context.Context, c *Caller, f NewFile, size int64) error {
	into, err := s.checkNewFile(ctx, c, f)
	if err != nil {
		return err
	}
	return cmp.Or(s.checkSize(size), into.space.fits(1, size))
}

func (s *Service) checkSize(size int64) error {
	if size > s.limits.UploadBytes {
		return failf(CodeTooLarge, "The file is larger than the limit of %d bytes.", s.limits.UploadBytes)
	}
	if size < 0 {
		return Invalid(invalidField("size", "size must be the number of bytes of the file"))
	}
	return nil
}

// uploadInto is the destination of an upload: the store of a policy, and the space of the owner.
type uploadInto struct {
	policy int64
	space  Space
}

// checkNewFile checks an upload of a new file, and returns its destination.
func (s *Service) checkNewFile(ctx context.Context, c *Caller, f NewFile) (into uploadInto, err error) {
	if err := c.require(ScopeWrite); err != nil {
		return into, err
	}
	if err := s.checkName(f.Name); err != nil {
		return into, err
	}
	if err := s.checkRoom(ctx); err != nil {
		return into, err
	}
	err = s.db.Read(ctx, func(q *store.Queries) error {
		parent, err := s.find(ctx, q, c, Folder, f.ParentID, MayUpload)
		if err != nil {
			return err
		}
		into.policy = parent.policy()
		if into.space, err = s.space(ctx, q, parent.row.OwnerID); err != nil {
			return err
		}
		if err := into.space.fits(1, max(1, f.AtLeast)); err != nil {
			return err
		}
		taken, err := q.CountNames(ctx, parentOf(parent.row.ID), foldKey(f.Name))
		if err != nil || taken == 0 {
			return err
		}
		return s.nameInUse(ctx, q, c, parent.row.ID, f.Name)
	})
	return into, err
}

// NewVersion describes new content for a file.
type NewVersion struct {
	FileID            int64
	Name              string    // the file's new name; empty to keep it
	IfMatch           string    // the etag that the file must still have; empty for any
	SHA1              string    // the required SHA-1 of the content, in hexadecimal; empty to skip the check
	AtLeast           int64     // minimum size of the content in bytes; 0 if unknown
	ContentCreatedAt  time.Time // that of the previous version when zero
	ContentModifiedAt time.Time // now when zero
}

// CreateVersion gives a file new content. Its current content becomes an earlier version. The permissions are checked before content is
// read.
func (s *Service) CreateVersion(ctx context.Context, c *Caller, v NewVersion, content io.Reader) (*Item, error) {
	into, err := s.checkNewVersion(ctx, c, v)
	if err != nil {
		return nil, err
	}
	version, err := s.saveUpload(ctx, into, content, v.SHA1)
	if err != nil {
		return nil, err
	}
	var item *Item
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		p, err := s.lock(ctx, tx, c, File, v.FileID, MayEdit, v.IfMatch)
		if err != nil {
			return err
		}
		if err := s.replaceVersion(ctx, tx, c, p.row, v, version); err != nil {
			return err
		}
		if item, err = s.item(ctx, tx.Queries, c, File, v.FileID); err != nil {
			return err
		}
		if err := version.settle(ctx, tx, p, v.FileID); err != nil {
			return err
		}
		if err := s.charge(ctx, tx, p.row.OwnerID, 0, version.size); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{p.above(), 0, version.size - p.row.Size}); err != nil {
			return err
		}
		return s.fire(ctx, tx, c, versionEvents(p, item.Name)...)
	})
	if err != nil {
		return nil, s.abandon(ctx, version, err)
	}
	return item, nil
}

// CheckVersion returns the error with which an upload of new content with the given size would currently fail, or nil.
func (s *Service) CheckVersion(ctx context.Context, c *Caller, v NewVersion, size int64) error {
	into, err := s.checkNewVersion(ctx, c, v)
	if err != nil {
		return err
	}
	return cmp.Or(s.checkSize(size), into.space.fits(0, size))
}

// checkNewVersion checks an upload of a new version, and returns its destination.
func (s *Service) checkNewVersion(ctx context.Context, c *Caller, v NewVersion) (into uploadInto, err error) {
	if err := c.require(ScopeWrite); err != nil {
		return into, err
	}
	if v.Name != "" {
		if err := s.checkName(v.Name); err != nil {
			return into, err
		}
	}
	if err := s.checkRoom(ctx); err != nil {
		return into, err
	}
	err = s.db.Read(ctx, func(q *store.Queries) error {
		p, err := s.find(ctx, q, c, File, v.FileID, MayEdit)
		if err != nil {
			return err
		}
		into.policy = p.policy()
		if into.space, err = s.space(ctx, q, p.row.OwnerID); err != nil {
			return err
		}
		if err := into.space.fits(0, max(1, v.AtLeast)); err != nil {
			return err
		}
		if err := p.matches(v.IfMatch); err != nil || v.Name == "" {
			return err
		}
		p.row.Name = v.Name
		return s.nameFree(ctx, q, c, p.row)
	})
	return into, err
}

func (s *Service) replaceVersion(ctx context.Context, tx *store.Tx, c *Caller, row store.Item, v NewVersion, version content) error {
	if v.Name != "" {
		row.Name = v.Name
	}
	if err := s.nameFree(ctx, tx.Queries, c, row); err != nil {
		return err
	}
	now := s.micros()
	if err := version.insert(ctx, tx, row.ID, row.VersionNumber+1, row.Name, c.User.ID, now); err != nil {
		return err
	}
	if err := tx.KeepContentTimes(ctx, row.VersionID, row.ContentCreatedAt, row.ContentModifiedAt); err != nil {
		return err
	}
	_, err := tx.SetCurrentVersion(ctx, store.SetCurrentVersionParams{
		ID: row.ID, VersionID: version.id, VersionNumber: row.VersionNumber + 1, Size: version.size, Sha1: version.sha1,
		Name: row.Name, NameKey: foldKey(row.Name), ModifiedAt: now, ModifiedBy: c.User.ID,
		ContentCreatedAt: microsOf(v.ContentCreatedAt, row.ContentCreatedAt), ContentModifiedAt: microsOf(v.ContentModifiedAt, now),
		Etag: row.Etag,
	})
	if err != nil {
		return lateTaken(err)
	}
	return s.templateChanged(ctx, tx, row.ID, version.id, c.User.ID)
}

// File returns a file.
func (s *Service) File(ctx context.Context, c *Caller, id int64) (*Item, error) {
	return s.read(ctx, c, File, id)
}

// UpdateFile renames, describes, or moves a file.
func (s *Service) UpdateFile(ctx context.Context, c *Caller, id int64, change ItemChange) (*Item, error) {
	return s.update(ctx, c, File, id, change)
}

// TrashFile moves a file to the trash.
func (s *Service) TrashFile(ctx context.Context, c *Caller, id int64, ifMatch string) error {
	return s.trash(ctx, c, File, id, ifMatch, func(*store.Tx, place) error { return nil })
}

// Content is the content of one version of a file.
type Content struct {
	Name       string // the current name of the file
	SHA1       string
	VersionID  int64
	Size       int64
	ModifiedAt time.Time // when the version was created
	version    store.FileVersion
	service    *Service
	taken      func(ctx context.Context) error
}

// Content returns the content of a version of a file for a download. Version 0 is the current one.
func (s *Service) Content(ctx context.Context, c *Caller, fileID, versionID int64) (*Content, error) {
	if err := c.require(ScopeRead); err != nil {
		return nil, err
	}
	var found *Content
	var p place
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		p, err = s.find(ctx, q, c, File, fileID, MayDownload)
		if err != nil {
			return err
		}
		version, err := fileVersion(ctx, q, p.row, versionID)
		if err == nil && version.ID != p.row.VersionID && !p.without(c).Can(MayDownload) { // a shared link shows no past versions
			err = NotFound("file_version", versionID)
		}
		if err != nil {
			return err
		}
		found = s.contentOf(version)
		found.Name = p.row.Name
		return nil
	})
	if err != nil {
		return nil, err
	}
	found.taken = func(ctx context.Context) error {
		if err := s.countDownload(ctx, c, p); err != nil {
			return err
		}
		return s.fireAlone(ctx, c, event{trigger: FileDownloaded, item: p})
	}
	return found, nil
}

// NotifyDownload fires the event for a download that starts at the beginning of the content. Resumed downloads do not count.
func (c *Content) NotifyDownload(ctx context.Context) error {
	if c.taken == nil { // a task is reading it
		return nil
	}
	return c.taken(ctx)
}

func (s *Service) contentOf(version store.FileVersion) *Content {
	return &Content{
		Name: version.Name, SHA1: version.Sha1, VersionID: version.ID, Size: version.Size,
		ModifiedAt: timeOf(version.CreatedAt), version: version, service: s,
	}
}

// Open reads length bytes from an offset, or to the end if length is -1. Open or Read fails with an Error of CodeContentDamaged before it
// returns bytes that have changed since they were stored. The caller must close the reader.
func (c *Content) Open(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
	r, err := c.service.open(ctx, c.version, offset, length)
	if err != nil {
		return nil, fmt.Errorf("content of version %d: %w", c.VersionID, err)
	}
	return r, nil
}

// open opens the content of a version with openChecked, even if the content was relocated since the version was read.
func (s *Service) open(ctx context.Context, version store.FileVersion, offset, length int64) (io.ReadCloser, error) {
	for {
		r, err := s.openChecked(ctx, version, offset, length)
		if !errors.Is(err, blob.ErrNotExist) {
			return r, err
		}
		var now store.FileVersion
		readErr := s.db.Read(ctx, func(q *store.Queries) (err error) {
			now, err = q.Version(ctx, version.ID)
			return err
		})
		if readErr != nil { // deleted permanently meanwhile, or the database does not respond
			return nil, errors.Join(err, readErr)
		}
		if now.BlobKey == version.BlobKey && now.StoragePolicyID == version.StoragePolicyID {
			return nil, s.damaged(ctx, version, DamageMissing, err.Error())
		}
		version = now
	}
}

// content is durable content in the blob store that no row refers to yet.
type content struct {
	id     int64 // a new id, for the future version
	policy int64 // of the store that holds it
	key    string
	sha1   string
	size   int64
	blocks checksums // nil for content of at most one block, and for content that was stored before
}

// saveUpload is like saveContent, but reads no more than the owner has space for.
func (s *Service) saveUpload(ctx context.Context, into uploadInto, r io.Reader, wantSHA1 string) (content, error) {
	left := into.space.left()
	if left >= s.limits.UploadBytes {
		return s.saveContent(ctx, into.policy, r, wantSHA1)
	}
	v, err := s.saveContent(ctx, into.policy, io.LimitReader(r, left+1), "")
	if err != nil || v.size <= left && (wantSHA1 == "" || strings.EqualFold(wantSHA1, v.sha1)) {
		return v, err
	}
	if err = into.space.fits(0, v.size); err == nil {
		err = badDigest(v)
	}
	return v, errors.Join(err, s.discard(ctx, v))
}

// badDigest returns the Error for content that does not have the announced digest.
func badDigest(v content) error {
	return failf(CodeBadDigest, "The specified content-md5 did not match what we received: the SHA-1 of the content is %s, not that of the "+
		"header.", v.sha1)
}

// saveContent stores the content of a reader durably in the store of a policy, before a row refers to it. If a crash happens between the
// two, the orphan is found by its key, and swept.
func (s *Service) saveContent(ctx context.Context, policy int64, r io.Reader, wantSHA1 string) (content, error) {
	limited := &io.LimitedReader{R: r, N: s.limits.UploadBytes + 1}
	v, err := s.putContent(ctx, policy, limited)
	if err != nil {
		return v, fmt.Errorf("save content: %w", err)
	}
	switch {
	case limited.N == 0:
		err = s.checkSize(s.limits.UploadBytes + 1)
	case wantSHA1 != "" && !strings.EqualFold(wantSHA1, v.sha1):
		err = badDigest(v)
	}
	if err != nil {
		return v, errors.Join(err, s.discard(ctx, v))
	}
	return v, nil
}

// putContent puts the content of a reader into the store of a policy, under a new key.
func (s *Service) putContent(ctx context.Context, policy int64, r io.Reader) (content, error) {
	v := content{id: s.newID(), policy: policy}
	v.key = blobKey(v.id)
	blobs, err := s.blobsOf(policy)
	if err != nil {
		return v, err
	}
	digest := newDigester()
	v.size, err = blobs.Put(ctx, v.key, io.TeeReader(r, digest))
	v.sha1, v.blocks = digest.hexSHA1(), digest.blocks()
	return v, err
}

// abandon removes content after the transaction that should refer to it has failed. Unless the request caused the error, it leaves the
// content to be swept, because the transaction may have been committed nevertheless.
func (s *Service) abandon(ctx context.Context, v content, err error) error {
	if _, refused := errors.AsType[*Error](err); !refused {
		return err
	}
	return errors.Join(err, s.discard(ctx, v))
}

// discard deletes content that no row will refer to.
func (s *Service) discard(ctx context.Context, v content) error {
	if err := s.deleteBlob(context.WithoutCancel(ctx), v.policy, v.key); err != nil {
		return fmt.Errorf("discard content: %w", err)
	}
	return nil
}

// deleteBlob deletes an object that no row refers to from the store of a policy.
func (s *Service) deleteBlob(ctx context.Context, policy int64, key string) error {
	blobs, err := s.blobsOf(policy)
	if err != nil {
		return err
	}
	return blobs.Delete(ctx, key)
}

// blobPrefix is the prefix of the keys of all contents.
const blobPrefix = "versions/"

// blobKey returns the key of a content that was stored under a new id. This is the id of its version, until the content is relocated.
func blobKey(id int64) string { return blobPrefix + strconv.FormatInt(id, 10) }

// insertFile adds a file with the content as its first version. It returns false if the name is taken in the folder.
func (v content) insertFile(ctx context.Context, tx *store.Tx, row store.InsertItemParams) (bool, error) {
	row.VersionID, row.VersionNumber, row.Size, row.Sha1 = v.id, 1, v.size, v.sha1
	added, err := tx.InsertItem(ctx, row)
	if err != nil || added == 0 {
		return false, err
	}
	return true, v.insert(ctx, tx, row.ID, 1, row.Name, row.CreatedBy, row.CreatedAt)
}

// settle relocates content if its item belongs to another policy, because the item was moved since.
func (v content) settle(ctx context.Context, tx *store.Tx, p place, fileID int64) error {
	if v.policy == p.policy() {
		return nil
	}
	return settle(ctx, tx, fileID, p.policy())
}

func (v content) insert(ctx context.Context, tx *store.Tx, fileID, number int64, name string, creator, now int64) error {
	err := tx.InsertVersion(ctx, store.InsertVersionParams{
		ID: v.id, FileID: fileID, Number: number, Name: name, BlobKey: v.key, StoragePolicyID: v.policy, Size: v.size, Sha1: v.sha1,
		CreatedAt: now, CreatedBy: creator,
	})
	if err != nil {
		return err
	}
	return v.insertBlocks(ctx, tx)
}

// insertBlocks stores the checksums of content that is larger than a block.
func (v content) insertBlocks(ctx context.Context, tx *store.Tx) error {
	if v.blocks == nil {
		return nil
	}
	return tx.InsertContentBlocks(ctx, v.key, v.blocks.text())
}
