package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"platen/blob"
	"platen/docgen"
	"platen/store"
)

type restoreCmd struct {
	config `embed:""`
	From   string `arg:"" type:"existingdir" placeholder:"FOLDER" help:"Folder with a backup from platen backup."`
}

// Help is the additional text of platen restore --help.
func (*restoreCmd) Help() string {
	return "Copies a backup to the data folder and verifies the result. The data folder and the folders of --blobs and --storage-policy " +
		"must be empty or missing. The backup does not change. If a restore is interrupted, the data folder has no database: delete " +
		"it and start again."
}

// restoreWorkers is the number of contents that are copied concurrently; they mostly wait for the disk.
const restoreWorkers = 8

// Run restores a backup and verifies the result.
func (c *restoreCmd) Run(ctx context.Context, s *streams) (err error) {
	if c.Database != "" {
		return usagef("platen restore restores the embedded database only; with PostgreSQL, use pg_restore and copy the folders with " +
			"contents: see Backup in docs/operations.md")
	}
	saved, err := readManifest(c.From)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no %s: it is not a backup, or the backup was interrupted", c.From, manifestName)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := c.checkBackup(saved); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	lock, err := store.LockDir(c.Data)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	err = c.restore(ctx, saved, s)
	if err = errors.Join(err, lock.Unlock()); err != nil {
		return fullDisk(fmt.Errorf("restore: %w", err), c.Data)
	}
	fmt.Fprintf(s.out, "Restored the backup of %s to %s.\n", saved.MadeAt.Format("2006-01-02 15:04:05 MST"), c.Data)
	verifying := verifyCmd{config: c.config}
	err = verifying.Run(ctx, s)
	if errors.Is(err, store.ErrSchema) {
		fmt.Fprintln(s.out, "The backup belongs to an earlier version and was not verified. Start the server, which migrates it, and "+
			"run platen verify.")
		return nil
	}
	return err
}

// checkBackup makes sure that the backup is complete and its target empty.
func (c *restoreCmd) checkBackup(saved manifest) error {
	if filepath.Base(saved.Database) != saved.Database {
		return fmt.Errorf("%s contains the invalid database name %q", manifestName, saved.Database)
	}
	sum, err := fileSHA256(filepath.Join(c.From, saved.Database))
	if err != nil {
		return err
	}
	if sum != saved.SHA256 {
		return fmt.Errorf("%s is damaged: its SHA-256 is %s, want %s", filepath.Join(c.From, saved.Database), sum, saved.SHA256)
	}
	for _, p := range saved.Policies {
		if !filepath.IsLocal(p.Folder) {
			return fmt.Errorf("%s contains the invalid folder name %q", manifestName, p.Folder)
		}
		place, known := c.place(p.Name)
		if !known {
			return fmt.Errorf("the backup has contents of the storage policy %q: set their location with --storage-policy", p.Name)
		}
		if dir, ok := blob.Folder(place.location); ok {
			if err := isEmpty(dir); err != nil {
				return err
			}
		}
	}
	return isEmpty(c.Data)
}

// place returns the configured location of a storage policy.
func (c *restoreCmd) place(name string) (storagePolicy, bool) {
	for _, place := range c.places() {
		if strings.EqualFold(place.name, name) {
			return place, true
		}
	}
	return storagePolicy{}, false
}

// isEmpty returns an error if a folder contains anything. A missing folder is empty.
func isEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty, and restoring overwrites nothing: select another folder, or move this one away", dir)
	}
	return err
}

// restore copies the contents and then the database, which makes the folder a data folder.
func (c *restoreCmd) restore(ctx context.Context, saved manifest, s *streams) error {
	var done int64
	bar := newLazyProgress(s.err, "restoring")
	defer bar.end()
	for _, p := range saved.Policies {
		place, _ := c.place(p.Name)
		err := restoreContents(ctx, filepath.Join(c.From, p.Folder), place.location, func() {
			done++
			bar.set(done, max(done, saved.Contents))
		})
		if err != nil {
			return fmt.Errorf("contents of storage policy %s: %w", p.Name, err)
		}
	}
	path := filepath.Join(c.Data, databaseName)
	draft := path + ".restoring"
	if err := copyPrivate(filepath.Join(c.From, saved.Database), draft); err != nil {
		return err
	}
	sum, err := fileSHA256(draft)
	if err == nil && sum != saved.SHA256 {
		err = errors.New("the database changed while it was being copied")
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(draft, path), syncFolder(c.Data))
}

// restoreContents copies all objects of a store to a new one, first the identity objects.
func restoreContents(ctx context.Context, from, to string, copied func()) (err error) {
	source, err := blob.OpenExisting(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := blob.Open(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	for _, mark := range docgen.IdentityObjects() {
		if err := copyMark(ctx, source, target, mark); err != nil {
			return err
		}
	}
	ended, reports := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for range reports {
			copied()
		}
	}()
	defer func() { close(reports); <-ended }()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(restoreWorkers)
	for info, err := range source.List(ctx, "versions/") {
		if err != nil {
			return cmp.Or(group.Wait(), err) // a failed copy ends the list too
		}
		group.Go(func() error {
			there, err := docgen.CopyObject(ctx, source, target, info.Key)
			if err == nil && there {
				reports <- struct{}{}
			}
			return err // content that cannot be read is missing, which verify reports
		})
	}
	return group.Wait()
}

// copyPrivate copies a file to a new, durable one that only this user can read.
func copyPrivate(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, source)
	return errors.Join(err, f.Sync(), f.Close())
}
