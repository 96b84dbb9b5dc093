package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"platen/blob"
	"platen/docgen"
	"platen/store"
)

// defaultPolicy is the name of the storage policy of --blobs.
const defaultPolicy = "Default"

// blobsLocation returns the location of the contents of the default storage policy.
func (c *config) blobsLocation() string { return cmp.Or(c.Blobs, filepath.Join(c.Data, "blobs")) }

// places returns the locations of all storage policies, the default one first.
func (c *config) places() []storagePolicy {
	return append([]storagePolicy{{defaultPolicy, c.blobsLocation()}}, c.StoragePolicies...)
}

// openExisting opens the database and every blob store and calls fn, for a command that runs while the server runs, or after it has
// stopped. It creates no folder, and does not change the schema.
func (c *config) openExisting(ctx context.Context, fn func(*store.DB, []docgen.NewStoragePolicy) error) (err error) {
	if err := c.findDatabase(); err != nil {
		return err
	}
	cfg := c.storeConfig(slog.New(slog.DiscardHandler))
	cfg.NoMigrate = true
	db, err := store.Open(ctx, cfg)
	if errors.Is(err, store.ErrSchema) {
		return fmt.Errorf("%w; use the same version of platen as the server, or start the server once with this version", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var policies []docgen.NewStoragePolicy
	for _, place := range c.places() {
		blobs, err := blob.OpenExisting(place.location)
		if err != nil {
			return fmt.Errorf("contents of storage policy %s: %w; set the location with --blobs or --storage-policy", place.name, err)
		}
		defer func() { err = errors.Join(err, blobs.Close()) }() //nolint:gocritic // all stay open until fn has returned
		policies = append(policies, docgen.NewStoragePolicy{Name: place.name, Blobs: blobs})
	}
	return fn(db, policies)
}

// findDatabase returns an error if there is no embedded database in the configured place.
func (c *config) findDatabase() error {
	if c.Database != "" {
		return nil
	}
	path := filepath.Join(c.Data, databaseName)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no database %s; select the data folder of the server with --data or PLATEN_DATA", path)
	}
	return err
}
