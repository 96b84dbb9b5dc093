package docgen

import (
	"context"
	"crypto/sha1" //nolint:gosec // the digest of the API
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"platen/blob"
	"platen/store"
)

// A large file can be uploaded in parts: in any order, several at once, and again after an interruption. The parts are objects of their own
// in the default blob store until the session is committed, which creates the file or the version like any other upload.

// Limits of uploads in parts.
const (
	UploadPartSize  = 8 << 20        // bytes of every part but the last
	UploadTTL       = 24 * time.Hour // from the creation of a session to its end
	maxUploads      = 100            // unexpired sessions of a user
	maxUploadsBytes = 4              // unexpired sessions of a user may store that many times the largest upload
)

// UploadSession is an upload in parts.
type UploadSession struct {
	ID        int64
	Size      int64 // bytes of the whole content
	PartSize  int64 // bytes of every part but the last
	Parts     int   // that make up the content
	Received  int
	ExpiresAt time.Time
}

// UploadPart is a part of a content.
type UploadPart struct {
	ID     int64
	Offset int64 // of its first byte in the whole content
	Size   int64
	SHA1   string
}

// NewUpload describes an upload in parts: of a new file if FileID is 0, and otherwise of a new version.
type NewUpload struct {
	FileID   int64
	ParentID int64  // of a new file; 0 is the caller's root folder
	Name     string // may be empty for a new version, which keeps the name
	Size     int64
}

// CreateUpload starts an upload in parts. It makes the same checks as an upload in one piece.
func (s *Service) CreateUpload(ctx context.Context, c *Caller, n NewUpload) (UploadSession, error) {
	if n.Size < 1 {
		return UploadSession{}, Invalid(invalidField("file_size", "file_size must be at least 1: upload an empty file in one piece"))
	}
	var err error
	if n.FileID == 0 {
		err = s.CheckFile(ctx, c, NewFile{Name: n.Name, ParentID: n.ParentID}, n.Size)
	} else {
		err = s.CheckVersion(ctx, c, NewVersion{FileID: n.FileID, Name: n.Name}, n.Size)
	}
	if err != nil {
		return UploadSession{}, err
	}
	row := store.InsertUploadSessionParams{
		ID: s.newID(), UserID: c.User.ID, FolderID: n.ParentID, FileID: n.FileID, Name: n.Name, Size: n.Size, PartSize: UploadPartSize,
		CreatedAt: s.micros(), ExpiresAt: s.now().Add(UploadTTL).UnixMicro(),
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil {
			return err
		}
		open, err := tx.UploadsOf(ctx, c.User.ID, row.CreatedAt)
		if err != nil {
			return err
		}
		if most := maxUploadsBytes * s.limits.UploadBytes; open.Sessions >= maxUploads || open.Bytes+n.Size > most {
			return failf(CodeConflict, "You have %d unfinished uploads of %d bytes in total. The maximum is %d uploads of %d bytes. Commit or "+
				"delete some, or wait until they expire.", open.Sessions, open.Bytes, maxUploads, most)
		}
		return tx.InsertUploadSession(ctx, row)
	})
	return uploadOf(store.UploadSession(row), 0), err
}

func uploadOf(row store.UploadSession, received int64) UploadSession {
	return UploadSession{
		ID: row.ID, Size: row.Size, PartSize: row.PartSize, Parts: int((row.Size + row.PartSize - 1) / row.PartSize), Received: int(received),
		ExpiresAt: timeOf(row.ExpiresAt),
	}
}

// findUpload returns an unexpired session of the caller.
func (s *Service) findUpload(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.UploadSession, error) {
	row, err := q.UploadSession(ctx, id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (row.UserID != c.User.ID || row.ExpiresAt <= s.micros()) {
		return row, NotFound("upload_session", id)
	}
	return row, err
}

// Upload returns a session of the caller.
func (s *Service) Upload(ctx context.Context, c *Caller, id int64) (UploadSession, error) {
	if err := c.require(ScopeWrite); err != nil {
		return UploadSession{}, err
	}
	var found UploadSession
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := s.findUpload(ctx, q, c, id)
		if err != nil {
			return err
		}
		received, err := q.CountUploadParts(ctx, id)
		found = uploadOf(row, received)
		return err
	})
	return found, err
}

// UploadParts returns one page by offset of the parts that a session has received, in the order of the content.
func (s *Service) UploadParts(ctx context.Context, c *Caller, id int64, r OffsetRequest) (OffsetPage[UploadPart], error) {
	if err := c.require(ScopeWrite); err != nil {
		return OffsetPage[UploadPart]{}, err
	}
	var result OffsetPage[UploadPart]
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		if _, err = s.findUpload(ctx, q, c, id); err != nil {
			return err
		}
		result, err = pageAt(c, r,
			func() (int64, error) { return q.CountUploadParts(ctx, id) },
			func(limit, offset int32) ([]UploadPart, error) {
				rows, err := q.UploadParts(ctx, id, limit, offset)
				parts := make([]UploadPart, len(rows))
				for i, row := range rows {
					parts[i] = partOf(row)
				}
				return parts, err
			})
		return err
	})
	return result, err
}

func partOf(row store.UploadPart) UploadPart {
	return UploadPart{ID: row.ID, Offset: row.Position, Size: row.Size, SHA1: row.Sha1}
}

// SavePart stores a part of a session. p has the offset, the size, and the SHA-1 of the content. A part that the session already has is
// not stored again.
func (s *Service) SavePart(ctx context.Context, c *Caller, id int64, p UploadPart, total int64, content io.Reader) (UploadPart, error) {
	if err := c.require(ScopeWrite); err != nil {
		return UploadPart{}, err
	}
	if err := s.checkRoom(ctx); err != nil {
		return UploadPart{}, err
	}
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := s.findUpload(ctx, q, c, id)
		if err != nil {
			return err
		}
		return checkPart(row, p, total)
	})
	if err != nil {
		return UploadPart{}, err
	}
	p.ID = s.newID()
	if err := s.putPart(ctx, p, content); err != nil {
		return UploadPart{}, err
	}
	saved := p
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		saved = p
		if _, err := tx.LockUploadSession(ctx, id); err != nil {
			return err
		}
		if _, err := s.findUpload(ctx, tx.Queries, c, id); err != nil {
			return err
		}
		row := store.InsertUploadPartParams{ID: p.ID, SessionID: id, Position: p.Offset, Size: p.Size, Sha1: p.SHA1}
		added, err := tx.InsertUploadPart(ctx, row)
		if err != nil || added > 0 {
			return err
		}
		had, err := tx.UploadPartAt(ctx, id, p.Offset)
		if saved = partOf(had); err == nil && saved.SHA1 != p.SHA1 {
			return failf(CodeConflict, "The session already has a part with other content at offset %d. Start another session.", p.Offset)
		}
		return err
	})
	if _, refused := errors.AsType[*Error](err); refused || err == nil && saved.ID != p.ID {
		err = errors.Join(err, s.blobs.Delete(context.WithoutCancel(ctx), partKey(p.ID)))
	}
	return saved, err
}

// checkPart checks the position and the size of a part.
func checkPart(row store.UploadSession, p UploadPart, total int64) error {
	begins := p.Offset >= 0 && p.Offset < row.Size && p.Offset%row.PartSize == 0
	if begins && p.Size == min(row.PartSize, row.Size-p.Offset) && total == row.Size {
		return nil
	}
	return Invalid(invalidField("Content-Range", "the part must begin at a multiple of %d and have %[1]d bytes, or what is left of the %d "+
		"bytes of the file", row.PartSize, row.Size))
}

// partPrefix is the prefix of the keys of all parts.
const partPrefix = "parts/"

func partKey(id int64) string { return partPrefix + strconv.FormatInt(id, 10) }

// putPart stores the content of a part if it has the size and the SHA-1 of the part.
func (s *Service) putPart(ctx context.Context, p UploadPart, content io.Reader) error {
	digest := sha1.New() //nolint:gosec // see above
	size, err := s.blobs.Put(ctx, partKey(p.ID), io.TeeReader(io.LimitReader(content, p.Size+1), digest))
	if err != nil {
		return fmt.Errorf("save part: %w", err)
	}
	switch sum := hex.EncodeToString(digest.Sum(nil)); {
	case size != p.Size:
		err = Invalid(invalidField("Content-Range", "the part must have %d bytes, as its range", p.Size))
	case !strings.EqualFold(sum, p.SHA1):
		err = failf(CodeBadDigest, "The specified digest did not match what we received: the SHA-1 of the part is %s.", sum)
	default:
		return nil
	}
	return errors.Join(err, s.blobs.Delete(context.WithoutCancel(ctx), partKey(p.ID)))
}

// DeleteUpload ends a session and deletes its parts.
func (s *Service) DeleteUpload(ctx context.Context, c *Caller, id int64) error {
	if err := c.require(ScopeWrite); err != nil {
		return err
	}
	err := s.db.Read(ctx, func(q *store.Queries) error {
		_, err := s.findUpload(ctx, q, c, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.endUpload(ctx, id)
}

// endUpload deletes a session, and then the contents of its parts. The sweep deletes those that are left if that fails.
func (s *Service) endUpload(ctx context.Context, id int64) error {
	var parts []store.UploadPart
	err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
		if _, err = tx.LockUploadSession(ctx, id); err != nil {
			return err
		}
		if parts, err = allParts(ctx, tx.Queries, id); err != nil {
			return err
		}
		if err := tx.DeleteUploadParts(ctx, id); err != nil {
			return err
		}
		_, err = tx.DeleteUploadSession(ctx, id)
		return err
	})
	for i := 0; err == nil && i < len(parts); i++ {
		err = s.blobs.Delete(context.WithoutCancel(ctx), partKey(parts[i].ID))
	}
	if err != nil {
		return fmt.Errorf("delete upload session %d: %w", id, err)
	}
	return nil
}

// allParts returns the parts of a session, whose number the largest upload limits.
func allParts(ctx context.Context, q *store.Queries, id int64) ([]store.UploadPart, error) {
	const most = 1 << 20
	return q.UploadParts(ctx, id, most, 0)
}

// Commit describes the end of an upload in parts.
type Commit struct {
	SHA1              string       // of the whole content, in hexadecimal
	Parts             []UploadPart // all parts that the caller has sent
	IfMatch           string       // the etag that the file must still have; empty for any
	ContentCreatedAt  time.Time    // as for other uploads
	ContentModifiedAt time.Time
}

// CommitUpload creates the file, or the version, from the parts of a session, and ends the session. If it fails, the session continues.
func (s *Service) CommitUpload(ctx context.Context, c *Caller, id int64, commit Commit) (*Item, error) {
	if err := c.require(ScopeWrite); err != nil {
		return nil, err
	}
	var row store.UploadSession
	var parts []store.UploadPart
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		if row, err = s.findUpload(ctx, q, c, id); err != nil {
			return err
		}
		parts, err = allParts(ctx, q, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := commit.check(row, parts); err != nil {
		return nil, err
	}
	content := &partsReader{ctx: ctx, service: s, parts: parts}
	var item *Item
	if row.FileID == 0 {
		item, err = s.CreateFile(ctx, c, NewFile{
			Name: row.Name, ParentID: row.FolderID, SHA1: commit.SHA1, AtLeast: row.Size,
			ContentCreatedAt: commit.ContentCreatedAt, ContentModifiedAt: commit.ContentModifiedAt,
		}, content)
	} else {
		item, err = s.CreateVersion(ctx, c, NewVersion{
			FileID: row.FileID, Name: row.Name, IfMatch: commit.IfMatch, SHA1: commit.SHA1, AtLeast: row.Size,
			ContentCreatedAt: commit.ContentCreatedAt, ContentModifiedAt: commit.ContentModifiedAt,
		}, content)
	}
	if err := errors.Join(err, content.Close()); err != nil {
		return nil, err
	}
	if err := s.endUpload(ctx, id); err != nil { // the file exists: the session expires, and the sweep deletes the rest
		s.log.WarnContext(ctx, "cannot delete the parts of a committed upload now", "error", err)
	}
	return item, nil
}

// check returns an Error unless the parts are complete, and the same as those of the caller.
func (commit Commit) check(row store.UploadSession, parts []store.UploadPart) error {
	if want := uploadOf(row, 0).Parts; len(parts) != want {
		return Invalid(invalidField("parts", "the session has %d of %d parts: send the others first", len(parts), want))
	}
	if len(commit.Parts) != len(parts) {
		return Invalid(invalidField("parts", "parts must list the %d parts of the session, not %d", len(parts), len(commit.Parts)))
	}
	byOffset := map[int64]UploadPart{}
	for _, p := range commit.Parts {
		byOffset[p.Offset] = p
	}
	for _, part := range parts {
		if p := byOffset[part.Position]; p.ID != part.ID || p.Size != part.Size || !strings.EqualFold(p.SHA1, part.Sha1) {
			return Invalid(invalidField("parts", "parts does not list the part at offset %d as the session has it", part.Position))
		}
	}
	return nil
}

// A partsReader reads the contents of parts, one after another.
type partsReader struct {
	ctx     context.Context
	service *Service
	parts   []store.UploadPart // those not opened yet
	open    io.ReadCloser
}

func (r *partsReader) Read(p []byte) (int, error) {
	for {
		if r.open == nil {
			if len(r.parts) == 0 {
				return 0, io.EOF
			}
			var err error
			if r.open, err = r.service.blobs.Open(r.ctx, partKey(r.parts[0].ID), 0, -1); errors.Is(err, blob.ErrNotExist) {
				return 0, failf(CodeConflict, "The server no longer has the parts of this session. Start another session.") // a restored backup
			} else if err != nil {
				return 0, err
			}
			r.parts = r.parts[1:]
		}
		n, err := r.open.Read(p)
		if err != io.EOF {
			return n, err
		}
		if err := r.Close(); err != nil || n > 0 {
			return n, err
		}
	}
}

// Close closes the open part, if any.
func (r *partsReader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}

// sweepUploads ends expired sessions, and removes the contents of parts that no session has. It returns their number.
func (s *Service) sweepUploads(ctx context.Context) (removed int, err error) {
	for {
		var expired []int64
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			expired, err = q.ExpiredUploadSessions(ctx, s.micros(), sweepPortion)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("sweep uploads: %w", err)
		}
		for _, id := range expired {
			if err := s.endUpload(ctx, id); err != nil {
				return 0, err
			}
		}
		if len(expired) < sweepPortion {
			break
		}
	}
	for info, err := range s.blobs.List(ctx, partPrefix) {
		if err != nil {
			return removed, fmt.Errorf("list parts: %w", err)
		}
		id, err := strconv.ParseInt(path.Base(info.Key), 10, 64)
		if err != nil || info.Key != partKey(id) || s.now().Sub(info.Modified) < sweepAge {
			continue // not created by Platen, or possibly still in progress
		}
		has := false
		err = s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
			has, err = q.HasUploadPart(ctx, id)
			return err
		})
		if err == nil && !has {
			err = s.blobs.Delete(ctx, info.Key)
			removed++
		}
		if err != nil {
			return removed, fmt.Errorf("sweep parts: %w", err)
		}
	}
	return removed, nil
}
