package cli

import (
	"fmt"
	"strings"

	"platen/blob"
	"platen/docgen"
)

// storagePolicies are additional locations for the contents of archives.
type storagePolicies []storagePolicy

// storagePolicy is a name and the location of a blob store, as a setting: cold=file:///mnt/cold.
type storagePolicy struct{ name, location string }

func (p *storagePolicy) UnmarshalText(text []byte) error {
	var ok bool
	p.name, p.location, ok = strings.Cut(strings.TrimSpace(string(text)), "=")
	if !ok || p.name == "" || p.location == "" {
		return fmt.Errorf("%q is not a storage policy: write it as a name and a location, such as cold=file:///mnt/cold", text)
	}
	return nil
}

func (p storagePolicies) String() string {
	var all []string
	for _, policy := range p {
		all = append(all, policy.name+"="+policy.location)
	}
	return strings.Join(all, ",")
}

// open opens the blob store of each policy, and closes it when the server stops.
func (p storagePolicies) open(stop *teardown) ([]docgen.NewStoragePolicy, error) {
	var opened []docgen.NewStoragePolicy
	for _, policy := range p {
		blobs, err := blob.Open(policy.location)
		if err != nil {
			return nil, fmt.Errorf("storage policy %s: %w", policy.name, err)
		}
		stop.add("contents of "+policy.name, blobs.Close)
		opened = append(opened, docgen.NewStoragePolicy{Name: policy.name, Blobs: blobs})
	}
	return opened, nil
}
