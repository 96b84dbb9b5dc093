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

// blobsLocation is where the contents of the default storage policy are.
func (c *config) blobsLocation() string { return cmp.Or(c.Blobs, filepath.Join(c.Data, "blobs")) }

// places are the locations of all storage policies, the default first.
func (c *config) places() []storagePolicy {
	return append([]storagePolicy{{defaultPolicy, c.blobsLocation()}}, c.StoragePolicies...)
}

// openExisting opens the database and every blob store for a command that runs beside a server or after one, and calls fn. It
// makes no folder, and does not change the schema.
func (c *config) openExisting(ctx context.Context, fn func(*store.DB, []docgen.NewStoragePolicy) error) (err error) {
	if err := c.findDatabase(); err != nil {
		return err
	}
	cfg := c.storeConfig(slog.New(slog.DiscardHandler))
	cfg.NoMigrate = true
	db, err := store.Open(ctx, cfg)
	if errors.Is(err, store.ErrSchema) {
		return fmt.Errorf("%w; use the version of platen that the server has, or start the server once with this one", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var policies []docgen.NewStoragePolicy
	for _, place := range c.places() {
		blobs, err := blob.OpenExisting(place.location)
		if err != nil {
			return fmt.Errorf("contents of storage policy %s: %w; --blobs and --storage-policy say where they are", place.name, err)
		}
		defer func() { err = errors.Join(err, blobs.Close()) }()
		policies = append(policies, docgen.NewStoragePolicy{Name: place.name, Blobs: blobs})
	}
	return fn(db, policies)
}

// findDatabase fails when there is no embedded database where the settings say.
func (c *config) findDatabase() error {
	if c.Database != "" {
		return nil
	}
	path := filepath.Join(c.Data, databaseName)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no database %s; --data (PLATEN_DATA) names the folder where the server keeps its data", path)
	}
	return err
}
