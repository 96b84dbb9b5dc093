package docgen

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"platen/blob"
	"platen/store"
)

// contentsName is where a blob store keeps the name by which its database knows it.
const contentsName = "contents"

// defaultPolicyID is the storage policy of everything that no archive with another holds.
const defaultPolicyID = 1

// blobsOf is where the contents of a storage policy are kept.
func (s *Service) blobsOf(_ int64) blob.Store { return s.blobs }

// ErrOtherContents is why a service refuses a blob store: it is not the one that belongs to the database.
var ErrOtherContents = errors.New("the contents of files are not where the server looks for them: this is another database's " +
	"blob store, or an empty one; give the server the blob store that it had with this database, or restore it")

// checkContents sees to it that the blob store is the one that the database's rows name contents of. A wrong one, such as
// that of a second server on the same database, would fail every job, and nobody would know why. An empty one is taken
// for a database without files.
func (s *Service) checkContents(ctx context.Context) error {
	var name string
	var used bool
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		if name, err = q.Setting(ctx, settingContents); err != nil {
			return err
		}
		used, err = q.HasVersions(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("check contents: %w", err)
	}
	found, err := blob.ReadAll(ctx, s.blobs, contentsName, int64(len(name)))
	if errors.Is(err, blob.ErrNotExist) && !used {
		_, err = s.blobs.Put(ctx, contentsName, strings.NewReader(name))
		if !errors.Is(err, blob.ErrExist) { // where it is, another server was quicker
			return err
		}
		found, err = blob.ReadAll(ctx, s.blobs, contentsName, int64(len(name)))
	}
	if errors.Is(err, blob.ErrNotExist) || err == nil && string(found) != name {
		return ErrOtherContents
	}
	return err
}
