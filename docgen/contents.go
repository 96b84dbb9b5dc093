package docgen

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"platen/blob"
	"platen/store"
)

// contentsName is where a blob store keeps the name by which its database knows it.
const contentsName = "contents"

// maxContentsName is longer than any such name, in bytes.
const maxContentsName = 200

// ErrOtherContents is why a service refuses a blob store: it is not the one that belongs to the database.
var ErrOtherContents = errors.New("the contents of files are not where the server looks for them: this is another database's " +
	"blob store or that of another storage policy, or an empty one; give the server the blob store that it had with this database, or restore it")

// ErrPolicyMissing is why a service does not begin without a storage policy that contents are kept by.
var ErrPolicyMissing = errors.New("contents of files or archives have a storage policy that the server was started without")

// checkContents sees to it that each blob store is the one that the database's rows name contents of. A wrong one, such as
// that of a second server on the same database, would fail every job, and nobody would know why; and one that two policies
// share would lose what is carried from one to the other. An empty one is taken for a policy without files.
func (s *Service) checkContents(ctx context.Context) error {
	var name string
	used := map[int64]bool{} // by policy
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		if name, err = q.Setting(ctx, settingContents); err != nil {
			return err
		}
		if used[defaultPolicyID], err = q.HasVersions(ctx); err != nil {
			return err
		}
		return s.usedPolicies(ctx, q, used)
	})
	if err != nil {
		return fmt.Errorf("check contents: %w", err)
	}
	for _, p := range s.policies {
		marker := name
		if p.ID != defaultPolicyID {
			marker += " " + strconv.FormatInt(p.ID, 10)
		}
		if err := checkMarker(ctx, p.blobs, marker, used[p.ID]); err != nil {
			return fmt.Errorf("storage policy %q: %w", p.Name, err)
		}
	}
	return nil
}

// usedPolicies finds out which policies other than the default are used. One that is must be configured.
func (s *Service) usedPolicies(ctx context.Context, q *store.Queries, used map[int64]bool) error {
	rows, err := q.StoragePolicies(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.ID == defaultPolicyID {
			continue
		}
		if used[row.ID], err = q.StoragePolicyUsed(ctx, row.ID, parentOf(s.enterprise.rootID)); err != nil {
			return err
		}
		if _, configured := s.policy(row.ID); used[row.ID] && !configured {
			return fmt.Errorf("%w: give the server the storage policy %q again, with the place that it had", ErrPolicyMissing, row.Name)
		}
	}
	return nil
}

// checkMarker checks the name that a blob store keeps. One that keeps none gets it, unless it should have had it.
func checkMarker(ctx context.Context, blobs blob.Store, name string, used bool) error {
	found, err := blob.ReadAll(ctx, blobs, contentsName, maxContentsName)
	if errors.Is(err, blob.ErrNotExist) && !used {
		_, err = blobs.Put(ctx, contentsName, strings.NewReader(name))
		if !errors.Is(err, blob.ErrExist) { // where it is, another server was quicker
			return err
		}
		found, err = blob.ReadAll(ctx, blobs, contentsName, maxContentsName)
	}
	if errors.Is(err, blob.ErrNotExist) || errors.Is(err, blob.ErrTooLarge) || err == nil && string(found) != name {
		return ErrOtherContents
	}
	return err
}
