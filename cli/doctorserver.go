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
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"platen/store"
)

// Disk space, in bytes.
const (
	littleRoom = 1 << 30
	noRoom     = 100 << 20
	tempRoom   = 200 << 20 // for the profiles and documents of LibreOffice
)

// Limits of open files: for a busy server, and for any server.
const (
	manyFiles = 4096
	someFiles = 512
)

// databaseTime is the maximum time for the database to respond.
const databaseTime = 10 * time.Second

// clockSlack is the maximum difference between correct clocks.
const clockSlack = time.Minute

// checkData checks the data folder.
func (c *doctorCmd) checkData(context.Context) finding {
	folder, there, err := existing(c.Data)
	if err == nil {
		err = writable(folder)
	}
	if err != nil {
		return wrong("Make the user of the server its owner, or select another folder with --data.", "%s cannot be written to: %v", c.Data, err)
	}
	disk, err := diskOf(folder)
	if err != nil {
		return wrong("", "%v", err)
	}
	message := fmt.Sprintf("%s, %s free", c.Data, inGiB(disk.free))
	if !there {
		message = fmt.Sprintf("%s will be created at the first start; %s free", c.Data, inGiB(disk.free))
	}
	switch {
	case disk.network && c.Database == "":
		return wrong("Select a folder on a local disk with --data, or a PostgreSQL database with --database.",
			"%s; it is on a network file system, where SQLite loses data", message)
	case disk.free < noRoom:
		return wrong("Free some space, or select a folder on another disk with --data.", "%s", message)
	case disk.free < littleRoom:
		return warn("Free some space. Without it, the server rejects documents.", "%s", message)
	case disk.network:
		return warn("Make sure that it keeps data that it has confirmed, even if it loses power.", "%s; it is on a network file system", message)
	case disk.volatile:
		return warn("Select a folder on a disk with --data.", "%s; it is in memory and will be lost when the machine restarts", message)
	}
	return fine("%s", message)
}

// checkTemp checks the working folder of LibreOffice.
func (c *doctorCmd) checkTemp(context.Context) finding {
	folder := cmp.Or(c.PDFFolder, os.TempDir())
	found, there, err := existing(folder)
	if err == nil && !there && c.PDFFolder == "" {
		err = fs.ErrNotExist
	}
	if err == nil {
		err = writable(found)
	}
	if err != nil {
		return wrong("Select another folder with --pdf-folder or TMPDIR.", "%s cannot be written to: %v", folder, err)
	}
	disk, err := diskOf(found)
	if err != nil {
		return wrong("", "%v", err)
	}
	if disk.free < tempRoom {
		return warn("Free some space, or select another folder with --pdf-folder.", "%s, only %d MiB free", folder, disk.free>>20)
	}
	return fine("%s, %s free", folder, inGiB(disk.free))
}

// existing returns a folder, or the nearest existing one above it: the others are created when they are needed.
func existing(folder string) (found string, there bool, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return "", false, err
	}
	for found = folder; ; found = filepath.Dir(found) {
		info, err := os.Stat(found)
		switch {
		case err == nil && !info.IsDir():
			return "", false, fmt.Errorf("%s is not a folder", found)
		case err == nil:
			return found, found == folder, nil
		case !errors.Is(err, fs.ErrNotExist) || found == filepath.Dir(found):
			return "", false, err
		}
	}
}

// writable creates a file in a folder and removes it.
func writable(folder string) error {
	f, err := os.CreateTemp(folder, ".platen-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// disk describes a file system.
type disk struct {
	free     int64 // bytes that this user may fill
	size     int64 // bytes in total
	network  bool  // on another machine
	volatile bool  // in memory
}

// networkSystems are the types of network file systems.
var networkSystems = map[int64]bool{
	unix.NFS_SUPER_MAGIC: true, unix.SMB_SUPER_MAGIC: true, unix.SMB2_SUPER_MAGIC: true, unix.CIFS_SUPER_MAGIC: true,
	unix.CEPH_SUPER_MAGIC: true, unix.AFS_SUPER_MAGIC: true, unix.CODA_SUPER_MAGIC: true,
}

func diskOf(folder string) (disk, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return disk{}, fmt.Errorf("get the file system of %s: %w", folder, err)
	}
	kind := int64(uint32(stat.Type))        //nolint:gosec // magic numbers have 32 bits
	free := int64(stat.Bavail) * stat.Bsize //nolint:gosec // no disk is that large
	size := int64(stat.Blocks) * stat.Bsize //nolint:gosec // nor this
	return disk{free, size, networkSystems[kind], kind == unix.TMPFS_MAGIC}, nil
}

// checkDatabase reads the version of the database, and changes nothing.
func (c *doctorCmd) checkDatabase(ctx context.Context) finding {
	cfg := c.storeConfig(slog.New(slog.DiscardHandler))
	cfg.NoMigrate = true
	where := cmp.Or(redact(cfg.URL), cfg.Path)
	if cfg.Path != "" {
		if _, err := os.Stat(cfg.Path); errors.Is(err, fs.ErrNotExist) {
			return fine("%s will be created at the first start", where)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, databaseTime, fmt.Errorf("no response within %v", databaseTime))
	defer cancel()
	db, err := store.Open(ctx, cfg)
	if err == nil {
		err = errors.Join(db.Ping(ctx), db.Close())
	}
	return databaseFinding(where, err)
}

// databaseFinding converts the result of opening a database to a finding.
func databaseFinding(where string, err error) finding {
	switch {
	case err == nil:
		return fine("%s responds and has the schema of this version", where)
	case errors.Is(err, store.ErrNewer):
		return wrong("Run that version, or restore a backup of this one.", "%s belongs to a newer version of platen", where)
	case errors.Is(err, store.ErrEmpty):
		return fine("%s responds and is empty; the first start creates its schema", where)
	case errors.Is(err, store.ErrSchema):
		return warn("Back it up first.", "%s belongs to an older version of platen; the next start of the server migrates it", where)
	}
	return wrong("Make sure that it is running, that --database is correct, and that the user has access.", "%s does not respond: %v",
		where, err)
}

// checkOpenFiles checks the maximum number of open files and connections of a process.
func checkOpenFiles(context.Context) finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return warn("", "%s", "the limit is unknown: "+err.Error())
	}
	const remedy = "Raise the limit: LimitNOFILE in a systemd unit, --ulimit nofile of a container, ulimit -n in a shell."
	switch {
	case limit.Cur < someFiles:
		return wrong(remedy, "at most %d, which connections alone use up", limit.Cur)
	case limit.Cur < manyFiles:
		return warn(remedy, "at most %d; a busy server needs more", limit.Cur)
	}
	return fine("at most %d", limit.Cur)
}

// checkClock detects a clock that is in the past, because tokens and signatures depend on it.
func (c *doctorCmd) checkClock(context.Context) finding {
	now := time.Now()
	const remedy = "Set the clock, and keep it correct with chrony or systemd-timesyncd. Tokens and signatures depend on it."
	if made := madeAt(); now.Before(made) {
		return wrong(remedy, "it is %s, before this program was built", now.Format(time.RFC3339))
	}
	for _, name := range []string{databaseName, databaseName + "-wal"} {
		info, err := os.Stat(filepath.Join(c.Data, name))
		if err == nil && info.ModTime().After(now.Add(clockSlack)) {
			return wrong(remedy, "it is %s, but %s was changed at %s", now.Format(time.RFC3339), name, info.ModTime().Format(time.RFC3339))
		}
	}
	if zone := os.Getenv("TZ"); zone != "" {
		if _, err := time.LoadLocation(zone); err != nil {
			return warn("Set TZ to a time zone such as Europe/Paris.", "unknown time zone %q", zone)
		}
	}
	return fine("%s", now.Format(time.RFC3339))
}

// madeAt is the time of the commit that the program was built from, if known.
func madeAt() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.time" {
			if at, err := time.Parse(time.RFC3339, setting.Value); err == nil {
				return at
			}
		}
	}
	return time.Time{}
}
