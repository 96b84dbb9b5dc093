package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
)

const (
	backupRounds = 8
	backupFiles  = 150
	killedWithin = 500 // milliseconds
)

// TestBackupKilled kills backups at random moments, while users upload files and delete them permanently. Every
// published backup can be restored completely. A restore that is killed leaves either no database or a complete one.
func TestBackupKilled(t *testing.T) {
	t.Parallel()
	data, target := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	users := newBackupUsers(t, data)
	rng := rand.New(rand.NewPCG(1, 2))
	whole, killed := 0, 0
	for round := range backupRounds {
		if round < backupRounds/2 { // half of the rounds create a backup; later ones update it
			must(t, os.RemoveAll(target))
		}
		if runKilled(t, rng.IntN(killedWithin), "backup", "--data="+data, target) {
			killed++
		}
		if _, err := os.Stat(filepath.Join(target, manifestName)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		whole++
		restored := filepath.Join(t.TempDir(), "restored")
		if out := platen(t, "restore", target, "--data="+restored); !strings.Contains(out, "everything is intact") {
			t.Errorf("round %d: %s", round, out)
		}
	}
	platen(t, "backup", "--data="+data, target)
	users.stop()
	t.Logf("%d of %d backups were killed; after %d there was one, whole; %d files were uploaded and deleted", killed, backupRounds,
		whole, users.made)
	for round := range backupRounds / 2 {
		restored := filepath.Join(t.TempDir(), "restored")
		runKilled(t, rng.IntN(killedWithin/2), "restore", target, "--data="+restored)
		if _, err := os.Stat(filepath.Join(restored, databaseName)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if out := platen(t, "verify", "--data="+restored); !strings.Contains(out, "everything is intact") {
			t.Errorf("round %d: %s", round, out)
		}
	}
}

// runKilled runs a command, kills it after some milliseconds, and reports whether it did, because the command may end
// earlier.
func runKilled(t *testing.T, milliseconds int, args ...string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(milliseconds)*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "platen", args...) // killed when ctx ends
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() == nil && err != nil {
		t.Fatalf("platen %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return err != nil
}

// backupUsers are users who work on a data folder without a server.
type backupUsers struct {
	made int
	stop func()
}

// newBackupUsers uploads files, and has another user upload and delete files until stop is called.
func newBackupUsers(t *testing.T, data string) *backupUsers {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	db, err := store.Open(ctx, store.Config{Path: filepath.Join(data, databaseName)})
	must(t, err)
	blobs, err := blob.Open(filepath.Join(data, "blobs"))
	must(t, err)
	service, err := docgen.New(ctx, docgen.Config{Store: db, Blobs: blobs})
	must(t, err)
	_, err = service.CreateUser(ctx, docgen.NewUser{Login: "ann@example.com", Name: "Ann"})
	must(t, err)
	token, err := service.CreateToken(ctx, docgen.NewToken{Login: "ann@example.com"})
	must(t, err)
	caller, err := service.Authenticate(ctx, token)
	must(t, err)
	upload := func(n int) (*docgen.Item, error) {
		text := strings.Repeat(fmt.Sprintf("file %d ", n), 2000)
		return service.CreateFile(ctx, caller, docgen.NewFile{Name: fmt.Sprintf("%d.txt", n)}, strings.NewReader(text))
	}
	for n := range backupFiles {
		_, err := upload(n)
		must(t, err)
	}
	u := &backupUsers{}
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		defer close(ended)
		for n := backupFiles; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			file, err := upload(n)
			if err == nil {
				err = service.TrashFile(ctx, caller, file.ID, "")
			}
			if err == nil {
				err = service.Purge(ctx, caller, docgen.File, file.ID)
			}
			if err == nil { // as the task does
				err = service.RemoveContents(ctx,
					docgen.RemoveContents{Contents: []store.ContentPlace{{Key: fmt.Sprintf("versions/%d", file.VersionID), PolicyID: 1}}})
			}
			if err != nil {
				ended <- err
				return
			}
			u.made++
		}
	}()
	u.stop = func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		must(t, errors.Join(db.Close(), blobs.Close()))
	}
	return u
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
