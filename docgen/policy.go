package docgen

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"platen/blob"
	"platen/store"
)

// NewStoragePolicy describes a storage policy of a Service.
type NewStoragePolicy struct {
	Name  string // unique, regardless of case
	Blobs blob.Store
}

// StoragePolicy determines where the contents of an archive are stored.
type StoragePolicy struct {
	ID    int64 // 1 is the default
	Name  string
	blobs blob.Store
}

// The default policy applies to everything that is not in an archive with another policy. Every service has it.
const (
	defaultPolicyID   = 1
	defaultPolicyName = "Default"
)

// maxPolicyName is the maximum length of the name of a storage policy, in characters.
const maxPolicyName = 100

// preparePolicies finds the rows of the configured policies, and adds missing ones.
func (s *Service) preparePolicies(ctx context.Context, tx *store.Tx, configured []NewStoragePolicy) error {
	s.policies = []StoragePolicy{{ID: defaultPolicyID, Name: defaultPolicyName, blobs: s.blobs}}
	insert := func(id int64, name string) error {
		_, err := tx.InsertStoragePolicy(ctx, store.InsertStoragePolicyParams{ID: id, Name: name, NameKey: foldKey(name), CreatedAt: s.micros()})
		return err
	}
	if err := insert(defaultPolicyID, defaultPolicyName); err != nil {
		return err
	}
	for _, p := range configured {
		if problem := nameProblem(p.Name, maxPolicyName); problem != "" {
			return fmt.Errorf("storage policy %q: %s", p.Name, problem)
		}
		if err := insert(s.newID(), p.Name); err != nil {
			return err
		}
	}
	rows, err := tx.StoragePolicies(ctx)
	if err != nil {
		return err
	}
	for _, p := range configured {
		row := rows[slices.IndexFunc(rows, func(row store.StoragePolicy) bool { return row.NameKey == foldKey(p.Name) })]
		if _, twice := s.policy(row.ID); twice {
			return fmt.Errorf("storage policy %q: the name is used twice", p.Name)
		}
		s.policies = append(s.policies, StoragePolicy{ID: row.ID, Name: row.Name, blobs: p.Blobs})
	}
	slices.SortFunc(s.policies, func(a, b StoragePolicy) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// policy returns a configured storage policy.
func (s *Service) policy(id int64) (StoragePolicy, bool) {
	i := slices.IndexFunc(s.policies, func(p StoragePolicy) bool { return p.ID == id })
	if i < 0 {
		return StoragePolicy{}, false
	}
	return s.policies[i], true
}

// blobsOf returns the store for the contents of a storage policy.
func (s *Service) blobsOf(policyID int64) (blob.Store, error) {
	p, known := s.policy(policyID)
	if !known {
		return nil, fmt.Errorf("storage policy %d is missing in the configuration of the server", policyID)
	}
	return p.blobs, nil
}

// StoragePolicies returns one page of the storage policies for archives, in ascending order of id.
func (s *Service) StoragePolicies(_ context.Context, c *Caller, r PageRequest) (Page[StoragePolicy], error) {
	if err := c.require(ScopeManagedUsers); err != nil {
		return Page[StoragePolicy]{}, err
	}
	return page(s, c, r, list[StoragePolicy]{
		name: "storage_policies",
		keys: 1,
		key:  func(p StoragePolicy) []int64 { return []int64{p.ID} },
		after: func(from []int64, limit int32) ([]StoragePolicy, error) {
			return policiesFrom(s.policies, limit, func(p StoragePolicy) bool { return p.ID > from[0] }), nil
		},
		before: func(from []int64, limit int32) ([]StoragePolicy, error) {
			backward := slices.Clone(s.policies)
			slices.Reverse(backward)
			return policiesFrom(backward, limit, func(p StoragePolicy) bool { return p.ID < from[0] }), nil
		},
	})
}

func policiesFrom(policies []StoragePolicy, limit int32, wanted func(StoragePolicy) bool) []StoragePolicy {
	found := []StoragePolicy{}
	for _, p := range policies {
		if wanted(p) && len(found) < int(limit) {
			found = append(found, p)
		}
	}
	return found
}

// StoragePolicy returns a storage policy.
func (s *Service) StoragePolicy(_ context.Context, c *Caller, id int64) (StoragePolicy, error) {
	if err := c.require(ScopeManagedUsers); err != nil {
		return StoragePolicy{}, err
	}
	p, known := s.policy(id)
	if !known {
		return StoragePolicy{}, NotFound("storage_policy", id)
	}
	return p, nil
}
