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

// Room on a disk, in bytes.
const (
	littleRoom = 1 << 30
	noRoom     = 100 << 20
	tempRoom   = 200 << 20 // for the profiles and documents of LibreOffice
)

// Open files: of a server under load, and of one at all.
const (
	manyFiles = 4096
	someFiles = 512
)

// databaseTime is how long the database may take to answer.
const databaseTime = 10 * time.Second

// clockSlack is how far clocks of good machines are apart.
const clockSlack = time.Minute

// checkData looks at the data folder.
func (c *doctorCmd) checkData(context.Context) finding {
	folder, there, err := existing(c.Data)
	if err == nil {
		err = writable(folder)
	}
	if err != nil {
		return wrong("Let the user of the server own it, or name another folder with --data.", "%s cannot be written to: %v", c.Data, err)
	}
	disk, err := diskOf(folder)
	if err != nil {
		return wrong("", "%v", err)
	}
	message := fmt.Sprintf("%s, %s are free", c.Data, inGiB(disk.free))
	if !there {
		message = fmt.Sprintf("%s is made at the first start; %s are free", c.Data, inGiB(disk.free))
	}
	switch {
	case disk.network && c.Database == "":
		return wrong("Name a folder on a local disk with --data, or a PostgreSQL database with --database.", "%s; it is on a network file system, where SQLite loses data", message)
	case disk.free < noRoom:
		return wrong("Free some room, or name a folder on another disk with --data.", "%s", message)
	case disk.free < littleRoom:
		return warn("Free some room: documents are refused when there is none.", "%s", message)
	case disk.network:
		return warn("See that it keeps what it has confirmed, also when it loses power.", "%s; it is on a network file system", message)
	case disk.volatile:
		return warn("Name a folder on a disk with --data.", "%s; it is in memory and gone after a restart of the machine", message)
	}
	return fine("%s", message)
}

// checkTemp looks at the folder where LibreOffice works.
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
		return wrong("Name another folder with --pdf-folder, or in TMPDIR.", "%s cannot be written to: %v", folder, err)
	}
	disk, err := diskOf(found)
	if err != nil {
		return wrong("", "%v", err)
	}
	if disk.free < tempRoom {
		return warn("Free some room, or name another folder with --pdf-folder.", "%s, only %d MiB are free", folder, disk.free>>20)
	}
	return fine("%s, %s are free", folder, inGiB(disk.free))
}

// existing returns a folder, or the nearest above it that is there: the others are made when they are needed.
func existing(folder string) (found string, there bool, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return "", false, err
	}
	for found = folder; ; found = filepath.Dir(found) {
		info, err := os.Stat(found)
		switch {
		case err == nil && !info.IsDir():
			return "", false, fmt.Errorf("%s is no folder", found)
		case err == nil:
			return found, found == folder, nil
		case !errors.Is(err, fs.ErrNotExist) || found == filepath.Dir(found):
			return "", false, err
		}
	}
}

// writable makes a file in a folder and removes it.
func writable(folder string) error {
	f, err := os.CreateTemp(folder, ".platen-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// disk is what is known of a file system.
type disk struct {
	free     int64 // bytes that this user may fill
	network  bool  // another machine has it
	volatile bool  // it is in memory
}

// networkSystems are the file systems that other machines have.
var networkSystems = map[int64]bool{unix.NFS_SUPER_MAGIC: true, unix.SMB_SUPER_MAGIC: true, unix.SMB2_SUPER_MAGIC: true, unix.CIFS_SUPER_MAGIC: true,
	unix.CEPH_SUPER_MAGIC: true, unix.AFS_SUPER_MAGIC: true, unix.CODA_SUPER_MAGIC: true}

func diskOf(folder string) (disk, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return disk{}, fmt.Errorf("ask for the file system of %s: %w", folder, err)
	}
	kind := int64(uint32(stat.Type))                                                                  //nolint:gosec // magic numbers have 32 bits
	return disk{int64(stat.Bavail) * stat.Bsize, networkSystems[kind], kind == unix.TMPFS_MAGIC}, nil //nolint:gosec // no disk is that large
}

// checkDatabase asks the database for its version, and changes nothing.
func (c *doctorCmd) checkDatabase(ctx context.Context) finding {
	cfg := c.storeConfig(slog.New(slog.DiscardHandler))
	cfg.NoMigrate = true
	where := cmp.Or(redact(cfg.URL), cfg.Path)
	if cfg.Path != "" {
		if _, err := os.Stat(cfg.Path); errors.Is(err, fs.ErrNotExist) {
			return fine("%s is made at the first start", where)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, databaseTime, fmt.Errorf("no answer within %v", databaseTime))
	defer cancel()
	db, err := store.Open(ctx, cfg)
	if err == nil {
		err = errors.Join(db.Ping(ctx), db.Close())
	}
	return databaseFinding(where, err)
}

// databaseFinding says what opening a database came to.
func databaseFinding(where string, err error) finding {
	switch {
	case err == nil:
		return fine("%s answers and has the tables of this version", where)
	case errors.Is(err, store.ErrNewer):
		return wrong("Run that version, or restore a backup of this one.", "%s is of a newer version than this program", where)
	case errors.Is(err, store.ErrEmpty):
		return fine("%s answers and is empty; its tables are made at the first start", where)
	case errors.Is(err, store.ErrSchema):
		return warn("Make a backup before.", "%s is of an older version; the next start of the server brings it up to date", where)
	}
	return wrong("See that it runs, that --database names it, and that its user may use it.", "%s does not answer: %v", where, err)
}

// checkOpenFiles looks at how many files and connections a process may have open.
func checkOpenFiles(context.Context) finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return warn("", "%s", "the limit is not known: "+err.Error())
	}
	const remedy = "Raise the limit: LimitNOFILE in a systemd unit, --ulimit nofile of a container, ulimit -n in a shell."
	switch {
	case limit.Cur < someFiles:
		return wrong(remedy, "at most %d at once, which connections alone use up", limit.Cur)
	case limit.Cur < manyFiles:
		return warn(remedy, "at most %d at once; a busy server has more", limit.Cur)
	}
	return fine("at most %d at once", limit.Cur)
}

// checkClock finds a clock that is in the past: tokens and signatures end by it.
func (c *doctorCmd) checkClock(context.Context) finding {
	now := time.Now()
	const remedy = "Set it, and keep it right with chrony or systemd-timesyncd. Tokens and signatures go by it."
	if made := madeAt(); now.Before(made) {
		return wrong(remedy, "it is %s, before this program was made", now.Format(time.RFC3339))
	}
	for _, name := range []string{databaseName, databaseName + "-wal"} {
		info, err := os.Stat(filepath.Join(c.Data, name))
		if err == nil && info.ModTime().After(now.Add(clockSlack)) {
			return wrong(remedy, "it is %s, but %s was changed at %s", now.Format(time.RFC3339), name, info.ModTime().Format(time.RFC3339))
		}
	}
	if zone := os.Getenv("TZ"); zone != "" {
		if _, err := time.LoadLocation(zone); err != nil {
			return warn("Set TZ to one such as Europe/Paris.", "there is no time zone %q", zone)
		}
	}
	return fine("%s", now.Format(time.RFC3339))
}

// madeAt is the time of the commit that the program was built from, if it knows.
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
