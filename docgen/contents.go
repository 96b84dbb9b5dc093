package docgen

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"platen/blob"
	"platen/store"
)

// contentsName is the key under which a blob store holds the name of its database.
const contentsName = "contents"

// maxContentsName is the maximum length of such a name, in bytes.
const maxContentsName = 200

// ErrOtherContents means that a blob store does not belong to the database.
var ErrOtherContents = errors.New("the blob store does not belong to this database and storage policy, or is empty; configure the blob " +
	"store that the server used with this database, or restore it")

// ErrPolicyMissing reports that a storage policy is in use but not configured.
var ErrPolicyMissing = errors.New("files or archives use a storage policy that is missing in the configuration")

// checkContents ensures that each blob store has the contents in the database's rows. With a wrong store, such as that of a second server
// on the same database, every job would fail without an obvious reason. If two policies shared a store, relocating contents between them
// would delete them. An empty store is accepted for a policy without files.
func (s *Service) checkContents(ctx context.Context) error {
	var name string
	used := map[int64]bool{} // by policy id
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
		if err := checkMarker(ctx, p.blobs, markerName(name, p.ID), used[p.ID]); err != nil {
			return fmt.Errorf("storage policy %q: %w", p.Name, err)
		}
		if s.identities[p.ID], err = s.claimStore(ctx, p, used[p.ID]); err != nil {
			return fmt.Errorf("storage policy %q: %w", p.Name, err)
		}
	}
	return nil
}

// markerName returns the marker in the store of a policy for the database's name of its contents.
func markerName(name string, policyID int64) string {
	if policyID == defaultPolicyID {
		return name
	}
	return name + " " + strconv.FormatInt(policyID, 10)
}

// claimStore makes a store the only one that servers on this database use for a policy, and returns its identity. The first server writes a
// random identity into the store and into the database, in a transaction that others wait for. A later server whose store has another
// identity, or none, gets ErrOtherContents: its folder is not that of the database, even if both are empty. An unused policy other than the
// default may get another store. Servers that started with the earlier one are then no longer ready.
func (s *Service) claimStore(ctx context.Context, p StoragePolicy, used bool) (identity string, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockSetting(ctx, settingContents); err != nil {
			return err
		}
		found, err := identityOf(ctx, p.blobs)
		if err != nil && !errors.Is(err, blob.ErrNotExist) {
			return err
		}
		claimed, err := tx.Setting(ctx, identitySetting(p.ID))
		switch {
		case err == nil && claimed != found && (used || p.ID == defaultPolicyID):
			return ErrOtherContents
		case err == nil && claimed == found:
			identity = found
			return nil
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if found == "" { // an earlier attempt that failed before its commit may have written it
			found = rand.Text()
			if _, err := p.blobs.Put(ctx, identityKey, strings.NewReader(found)); err != nil {
				return err
			}
		}
		identity = found
		if _, err := tx.DeleteSetting(ctx, identitySetting(p.ID)); err != nil {
			return err
		}
		_, err = tx.InsertSetting(ctx, identitySetting(p.ID), found)
		return err
	})
	return identity, err
}

// identityKey is the key under which a blob store holds its identity.
const identityKey = "store"

// identitySetting returns the name of the setting that holds the identity of a policy's store.
func identitySetting(policyID int64) string {
	return "store " + strconv.FormatInt(policyID, 10)
}

// identityOf returns the identity of a blob store, or fails with blob.ErrNotExist if it has none.
func identityOf(ctx context.Context, blobs blob.Store) (string, error) {
	identity, err := blob.ReadAll(ctx, blobs, identityKey, maxContentsName)
	return string(identity), err
}

// checkStores returns an error if the store of a policy is no longer the one that the service started with, or not the one in the database.
// It detects file systems that are no longer mounted, and databases that were restored from elsewhere.
func (s *Service) checkStores(ctx context.Context) error {
	var problems []error
	for _, p := range s.policies {
		found, err := identityOf(ctx, p.blobs)
		if err == nil && found != s.identities[p.ID] || errors.Is(err, blob.ErrNotExist) {
			err = ErrOtherContents
		}
		if err == nil {
			err = s.db.ReadOne(ctx, func(q *store.Queries) error {
				claimed, err := q.Setting(ctx, identitySetting(p.ID))
				if err == nil && claimed != found {
					return ErrOtherContents
				}
				return nil // a database that does not respond is reported separately
			})
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("storage policy %q: %w", p.Name, err))
		}
	}
	return errors.Join(problems...)
}

// usedPolicies returns the policies other than the default that are in use. It fails if one of them is not configured.
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
			return fmt.Errorf("%w: add the storage policy %q again, with its previous location", ErrPolicyMissing, row.Name)
		}
	}
	return nil
}

// checkMarker checks the name that a blob store holds. A store without a name gets one, unless it should already have
// it.
func checkMarker(ctx context.Context, blobs blob.Store, name string, used bool) error {
	found, err := blob.ReadAll(ctx, blobs, contentsName, maxContentsName)
	if errors.Is(err, blob.ErrNotExist) && !used {
		_, err = blobs.Put(ctx, contentsName, strings.NewReader(name))
		if !errors.Is(err, blob.ErrExist) { // ErrExist means that another server was faster
			return err
		}
		found, err = blob.ReadAll(ctx, blobs, contentsName, maxContentsName)
	}
	if errors.Is(err, blob.ErrNotExist) || errors.Is(err, blob.ErrTooLarge) || err == nil && string(found) != name {
		return ErrOtherContents
	}
	return err
}
