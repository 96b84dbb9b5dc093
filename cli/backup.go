package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"platen/blob"
	"platen/docgen"
	"platen/store"
)

// A backup is a folder:
//
//	backup.json       the manifest, written last: without it, the folder is not a backup
//	platen-TIME.db    the database
//	blobs             the contents of the default storage policy
//	policies/N        those of the storage policy with the id N
//
// A later backup to the same folder adds new data under separate names and then replaces backup.json, so that the folder contains a
// complete backup at any time. Data that only the earlier backup needed is removed afterward.

const (
	manifestName   = "backup.json"
	backupFormat   = 1
	snapshotPrefix = "platen-"
	backupTries    = 20 // snapshots, if contents are deleted while they are copied
)

// manifest is the content of backup.json.
type manifest struct {
	Format   int           `json:"format"`
	Version  string        `json:"platen"`
	MadeAt   time.Time     `json:"made_at"` // time of the snapshot
	Database string        `json:"database"`
	SHA256   string        `json:"database_sha256"`
	Policies []savedPolicy `json:"storage_policies"`
	Contents int64         `json:"contents"`
	Bytes    int64         `json:"bytes"`
	Problems int           `json:"problems"` // found by platen verify; the server had them already
}

// savedPolicy identifies where a backup has the contents of a storage policy.
type savedPolicy struct {
	Name   string `json:"name"`
	Folder string `json:"folder"`
}

type backupCmd struct {
	config `embed:""`
	To     string `arg:"" placeholder:"FOLDER" help:"Folder for the backup: a new one, or one with an earlier backup. Only new contents are copied."`
}

// Help is the additional text of platen backup --help.
func (*backupCmd) Help() string {
	return "Copies the embedded database and the contents of files to a folder, while the server runs, and verifies the copy. Use the " +
		"same settings as the server. The copy includes the signing keys of webhooks, so only the user who runs the command can read " +
		"it. If a backup is interrupted, the previous one remains intact; run the command again. The exit code is 1 if the backup " +
		"contains damaged contents, which the server had already."
}

// Run creates or updates a backup.
func (c *backupCmd) Run(ctx context.Context, s *streams) error {
	if c.Database != "" {
		return usagef("platen backup copies the embedded database only; with PostgreSQL, run pg_dump first and then copy the folders " +
			"with contents: see Backup in docs/operations.md")
	}
	return c.openExisting(ctx, func(db *store.DB, from []docgen.NewStoragePolicy) (err error) {
		b := &backup{dir: c.To, db: db, from: from, out: s.out, progress: s.err}
		lock, err := b.prepare()
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		defer func() { err = errors.Join(err, lock.Unlock()) }()
		defer func() { err = errors.Join(err, b.close()) }()
		if err := b.make(ctx); err != nil {
			return fullDisk(fmt.Errorf("backup: %w", err), c.To)
		}
		if b.made.Problems > 0 {
			return errReported
		}
		return nil
	})
}

// leastRoom is a size in bytes. If less is free, errors of SQLite mean a full disk, because it reports some of them as I/O errors.
const leastRoom = 1 << 20

// fullDisk adds what to do to the error of a full disk.
func fullDisk(err error, dir string) error {
	full := errors.Is(err, store.ErrNoSpace) || errors.Is(err, blob.ErrNoSpace)
	var disk unix.Statfs_t
	if !full && unix.Statfs(dir, &disk) == nil {
		full = disk.Bavail*uint64(disk.Bsize) < leastRoom
	}
	if full {
		return fmt.Errorf("%w; the disk of %s is full, and the copy is incomplete: free some space and run the command again", err, dir)
	}
	return err
}

// backup is a backup in progress.
type backup struct {
	dir           string
	db            *store.DB
	from, to      []docgen.NewStoragePolicy
	out, progress io.Writer
	made          manifest
}

// prepare creates the folder, locks it, and opens its blob stores.
func (b *backup) prepare() (*store.DirLock, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if !ofBackup(entry.Name()) {
			return nil, fmt.Errorf("%s is neither empty nor a backup: it has %s", b.dir, entry.Name())
		}
	}
	lock, err := store.LockDir(b.dir)
	if err != nil {
		return nil, err
	}
	b.made = manifest{Format: backupFormat, Version: version()}
	for i, p := range b.from {
		folder := "blobs"
		if i > 0 {
			folder = filepath.Join("policies", strconv.Itoa(i))
		}
		b.made.Policies = append(b.made.Policies, savedPolicy{Name: p.Name, Folder: folder})
	}
	return lock, nil
}

// ofBackup reports whether an entry of a folder can belong to a backup.
func ofBackup(name string) bool {
	switch name {
	case manifestName, manifestName + ".tmp", "blobs", "policies", "platen.lock":
		return true
	}
	return strings.HasPrefix(name, snapshotPrefix) && strings.Contains(name, ".db")
}

func (b *backup) close() error {
	var problems []error
	for _, p := range b.to {
		problems = append(problems, p.Blobs.Close())
	}
	return errors.Join(problems...)
}

// make copies everything, verifies the copy, and only then publishes it as the backup.
func (b *backup) make(ctx context.Context) (err error) {
	published := false
	defer func() {
		if err != nil && !published && b.made.Database != "" { // the copied contents stay, and need not be copied again
			err = errors.Join(err, removeSnapshot(filepath.Join(b.dir, b.made.Database)))
		}
	}()
	if err := b.keepFolders(); err != nil {
		return err
	}
	if err := b.openStores(ctx); err != nil {
		return err
	}
	saved, err := b.copyAll(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(b.verify(ctx, saved), saved.Close()); err != nil {
		return err
	}
	if err := b.publish(); err != nil {
		return err
	}
	published = true
	if err := b.removeUnnamed(ctx); err != nil {
		return err
	}
	if err := b.removeOld(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.out, "Backed up %d contents (%d bytes) to %s.\n", b.made.Contents, b.made.Bytes, b.dir)
	return err
}

// keepFolders assigns each storage policy the folder of an earlier backup.
func (b *backup) keepFolders() error {
	earlier, err := readManifest(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	used := map[string]string{} // folder → name of the policy
	for _, p := range earlier.Policies {
		used[p.Folder] = p.Name
	}
	for i, p := range b.made.Policies {
		for folder, name := range used {
			if strings.EqualFold(name, p.Name) {
				b.made.Policies[i].Folder = folder
			}
		}
	}
	for i := range b.made.Policies {
		p := &b.made.Policies[i]
		for n := 1; used[p.Folder] != "" && !strings.EqualFold(used[p.Folder], p.Name); n++ {
			p.Folder = filepath.Join("policies", strconv.Itoa(n))
		}
		used[p.Folder] = p.Name
	}
	return nil
}

// openStores opens the blob stores of the backup, and makes sure that they belong to the same database.
func (b *backup) openStores(ctx context.Context) error {
	for i, p := range b.made.Policies {
		blobs, err := blob.Open(filepath.Join(b.dir, p.Folder))
		if err != nil {
			return err
		}
		b.to = append(b.to, docgen.NewStoragePolicy{Name: p.Name, Blobs: blobs})
		for _, mark := range docgen.IdentityObjects() {
			if err := copyMark(ctx, b.from[i].Blobs, blobs, mark); err != nil {
				return fmt.Errorf("%s: %w", filepath.Join(b.dir, p.Folder), err)
			}
		}
	}
	return nil
}

// maxMark is longer than the identity object of a store, in bytes.
const maxMark = 1000

// copyMark copies an identity object, which links a database and a blob store.
func copyMark(ctx context.Context, from, to blob.Store, mark string) error {
	want, err := blob.ReadAll(ctx, from, mark, maxMark)
	if errors.Is(err, blob.ErrNotExist) { // the server has not started yet
		return nil
	}
	if err != nil {
		return err
	}
	_, err = to.Put(ctx, mark, strings.NewReader(string(want)))
	if !errors.Is(err, blob.ErrExist) {
		return err
	}
	have, err := blob.ReadAll(ctx, to, mark, maxMark)
	if err == nil && string(have) != string(want) {
		return errors.New("this is the backup of another server; select another folder")
	}
	return err
}

// copyAll makes a snapshot of the database and copies all contents that it references. If a content was deleted in the meantime, it makes
// another snapshot, which no longer references the content. It returns the snapshot.
func (b *backup) copyAll(ctx context.Context) (*store.DB, error) {
	for try := 1; ; try++ {
		b.made.MadeAt = time.Now().UTC()
		b.made.Database = snapshotPrefix + b.made.MadeAt.Format("20060102T150405.000000Z") + ".db"
		path := filepath.Join(b.dir, b.made.Database)
		if err := b.db.Snapshot(ctx, path); err != nil {
			return nil, err
		}
		saved, err := store.Open(ctx, store.Config{Path: path, NoMigrate: true})
		if err != nil {
			return nil, err
		}
		copied, err := b.copyContents(ctx, saved)
		if err != nil {
			return nil, errors.Join(err, saved.Close())
		}
		named, err := docgen.CountReferenced(ctx, b.db, copied.Absent)
		if err == nil && named == len(copied.Absent) {
			return saved, nil // what is absent now is missing; verify reports it
		}
		if err == nil && try == backupTries {
			err = fmt.Errorf("contents were deleted faster than they could be copied, %d times in a row; try again when there are fewer "+
				"deletions", try)
		}
		if err := errors.Join(err, saved.Close()); err != nil {
			return nil, err
		}
		if err := removeSnapshot(path); err != nil {
			return nil, err
		}
	}
}

func (b *backup) copyContents(ctx context.Context, saved *store.DB) (docgen.CopyResult, error) {
	bar := newLazyProgress(b.progress, "copying")
	defer bar.end()
	return docgen.CopyContents(ctx, saved, b.from, b.to, bar.set)
}

// verify verifies the copy. It copies damaged contents again, in case the originals are intact.
func (b *backup) verify(ctx context.Context, saved *store.DB) error {
	sum, damaged, err := b.verifyOnce(ctx, saved, io.Discard)
	if err != nil {
		return err
	}
	if len(damaged) > 0 {
		for _, f := range damaged {
			if err := b.discard(ctx, f); err != nil {
				return err
			}
		}
		if _, err := b.copyContents(ctx, saved); err != nil {
			return err
		}
	}
	if sum.Wrong() {
		if sum, _, err = b.verifyOnce(ctx, saved, b.out); err != nil {
			return err
		}
	}
	b.made.Contents, b.made.Bytes = sum.Contents, sum.Bytes
	for kind, n := range sum.Findings {
		if kind != docgen.FindingOrphaned {
			b.made.Problems += n
		}
	}
	return nil
}

// verifyOnce verifies the copy, prints the findings, and returns the damaged contents.
func (b *backup) verifyOnce(ctx context.Context, saved *store.DB, out io.Writer) (*docgen.Verification, []docgen.Finding, error) {
	var damaged []docgen.Finding
	bar := newLazyProgress(b.progress, "verifying")
	defer bar.end()
	var failed error
	sum, err := docgen.Verify(ctx, docgen.VerifyConfig{Store: saved, Policies: b.to, Progress: bar.set}, func(f docgen.Finding) {
		if f.Kind == docgen.FindingOrphaned {
			return // of the previous backup, which is removed at the end
		}
		if f.Object != "" && len(damaged) < maxRepairs {
			damaged = append(damaged, f)
		}
		failed = errors.Join(failed, printFinding(out, f))
	})
	return sum, damaged, errors.Join(err, failed)
}

// maxRepairs is the maximum number of damaged contents of a backup that are copied again at once.
const maxRepairs = 10_000

// discard removes a damaged content from the copy if the server has one to replace it.
func (b *backup) discard(ctx context.Context, f docgen.Finding) error {
	for i, p := range b.to {
		if p.Name != f.Policy {
			continue
		}
		if _, err := b.from[i].Blobs.Stat(ctx, f.Object); err == nil {
			return p.Blobs.Delete(ctx, f.Object)
		}
	}
	return nil
}

// publish writes the manifest, which makes the copy the current backup.
func (b *backup) publish() error {
	var err error
	if b.made.SHA256, err = fileSHA256(filepath.Join(b.dir, b.made.Database)); err != nil {
		return err
	}
	text, err := json.MarshalIndent(b.made, "", "  ")
	if err != nil {
		return err
	}
	return writeDurably(filepath.Join(b.dir, manifestName), append(text, '\n'))
}

// removeUnnamed removes contents that only earlier backups needed.
func (b *backup) removeUnnamed(ctx context.Context) error {
	saved, err := store.Open(ctx, store.Config{Path: filepath.Join(b.dir, b.made.Database), NoMigrate: true})
	if err != nil {
		return err
	}
	return errors.Join(docgen.RemoveUnreferenced(ctx, saved, b.to), saved.Close())
}

// removeOld removes the databases of earlier backups, and temporary files of this one's.
func (b *backup) removeOld() error {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), snapshotPrefix) && entry.Name() != b.made.Database {
			if err := os.Remove(filepath.Join(b.dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeSnapshot removes a snapshot with the files that SQLite created for it.
func removeSnapshot(path string) error {
	files, err := filepath.Glob(path + "*")
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

func readManifest(dir string) (manifest, error) {
	var m manifest
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(dir, manifestName), err)
	}
	if m.Format != backupFormat {
		return m, fmt.Errorf("%s has format %d, but this version of platen supports format %d", filepath.Join(dir, manifestName), m.Format,
			backupFormat)
	}
	return m, nil
}

func fileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// writeDurably atomically replaces a file that only this user can read, and makes it durable.
func writeDurably(path string, text []byte) (err error) {
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".tmp"))
	}
	return errors.Join(os.Rename(path+".tmp", path), syncFolder(filepath.Dir(path)))
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
