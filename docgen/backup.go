package docgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"platen/blob"
	"platen/store"
)

// A backup is a snapshot of the database and a copy of every content that the snapshot refers to. Contents never
// change, so only missing ones are copied. A content may be deleted after the snapshot and before it is copied; then a
// later snapshot is needed.

// maxAbsent is the maximum number of missing contents that CopyContents reports.
const maxAbsent = 10_000

// CopyResult is the result of CopyContents.
type CopyResult struct {
	Copied  int64                // number of copied contents
	Present int64                // number of contents that the target already had
	Absent  []store.ContentPlace // contents that could not be copied, because the source has no object or cannot read it; at most 10,000
}

// CopyContents copies all contents in a database from the stores of storage policies to other stores with the same names. It skips contents
// if the target has an object with the same key and size. It also copies damaged contents, which Verify finds.
func CopyContents(ctx context.Context, db *store.DB, from, to []NewStoragePolicy, progress func(done, total int64)) (CopyResult, error) {
	c := &contentCopier{from: map[int64]blob.Store{}, to: map[int64]blob.Store{}}
	var total, done int64
	err := db.Read(ctx, func(q *store.Queries) error {
		rows, err := q.StoragePolicies(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			c.from[row.ID], c.to[row.ID] = storeOf(from, row.NameKey), storeOf(to, row.NameKey)
		}
		total, err = q.CountVersions(ctx)
		return err
	})
	for last := int64(0); err == nil; {
		var contents []store.StoredContent
		err = db.Read(ctx, func(q *store.Queries) (err error) {
			contents, err = q.ContentsAfter(ctx, last, verifyPortion)
			return err
		})
		if err != nil || len(contents) == 0 {
			break
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(4 * runtime.GOMAXPROCS(0)) // they mostly wait for the disk
		for _, content := range contents {
			group.Go(func() error { return c.copy(ctx, content) })
		}
		err = group.Wait()
		last = contents[len(contents)-1].VersionID
		done += int64(len(contents))
		progress(min(done, total), total)
	}
	if err != nil {
		return c.result, fmt.Errorf("copy contents: %w", err)
	}
	return c.result, nil
}

// storeOf returns the store of the policy with a folded name, or nil if there is none.
func storeOf(policies []NewStoragePolicy, key string) blob.Store {
	for _, p := range policies {
		if foldKey(p.Name) == key {
			return p.Blobs
		}
	}
	return nil
}

type contentCopier struct {
	from, to map[int64]blob.Store // by policy
	mu       sync.Mutex
	result   CopyResult
}

func (c *contentCopier) copy(ctx context.Context, content store.StoredContent) error {
	from, to := c.from[content.Place.PolicyID], c.to[content.Place.PolicyID]
	if from == nil || to == nil {
		return fmt.Errorf("content %s is stored by storage policy %d, which is missing in --storage-policy", content.Place.Key,
			content.Place.PolicyID)
	}
	info, err := to.Stat(ctx, content.Place.Key)
	switch {
	case err == nil && info.Size == content.Size:
		c.count(func(r *CopyResult) { r.Present++ })
		return nil
	case err == nil:
		if err := to.Delete(ctx, content.Place.Key); err != nil {
			return err
		}
	case !errors.Is(err, blob.ErrNotExist):
		return err
	}
	copied, err := CopyObject(ctx, from, to, content.Place.Key)
	if err != nil {
		return err
	}
	c.count(func(r *CopyResult) {
		switch {
		case copied:
			r.Copied++
		case len(r.Absent) < maxAbsent:
			r.Absent = append(r.Absent, content.Place)
		}
	})
	return nil
}

func (c *contentCopier) count(add func(*CopyResult)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add(&c.result)
}

// sourceError marks an error that occurred while reading the object to copy.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

type sourceReader struct{ r io.Reader }

func (s sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		err = &sourceError{err}
	}
	return n, err
}

// CopyObject copies one object. It reports false if the source does not have it or cannot read it.
func CopyObject(ctx context.Context, from, to blob.Store, key string) (bool, error) {
	r, err := from.Open(ctx, key, 0, -1)
	if err != nil {
		return false, ctx.Err()
	}
	defer r.Close()
	_, err = to.Put(ctx, key, sourceReader{r})
	if _, unreadable := errors.AsType[*sourceError](err); unreadable {
		return false, ctx.Err()
	}
	return err == nil, err
}

// CountReferenced returns the number of the given contents that belong to a version.
func CountReferenced(ctx context.Context, db *store.DB, places []store.ContentPlace) (n int, err error) {
	err = db.Read(ctx, func(q *store.Queries) error {
		n = 0
		for _, place := range places {
			named, err := q.IsContentNamed(ctx, place.Key, place.PolicyID)
			if err != nil {
				return err
			}
			if named {
				n++
			}
		}
		return nil
	})
	return n, err
}

// RemoveUnreferenced deletes the objects in the given stores that no version in the database refers to.
func RemoveUnreferenced(ctx context.Context, db *store.DB, policies []NewStoragePolicy) error {
	var rows []store.StoragePolicy
	err := db.Read(ctx, func(q *store.Queries) (err error) {
		rows, err = q.StoragePolicies(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		blobs := storeOf(policies, row.NameKey)
		if blobs == nil {
			continue
		}
		for info, err := range blobs.List(ctx, blobPrefix) {
			if err != nil {
				return err
			}
			named, err := CountReferenced(ctx, db, []store.ContentPlace{{Key: info.Key, PolicyID: row.ID}})
			if err == nil && named == 0 {
				err = blobs.Delete(ctx, info.Key)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// IdentityObjects returns the keys of the objects that tie a blob store to its database. A backup has them too.
func IdentityObjects() []string { return []string{contentsName, identityKey} }
