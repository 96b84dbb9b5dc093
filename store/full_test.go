package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"

	"platen/store"
	"platen/store/storetest"
)

// TestFullDisk fills the disk of a SQLite database. Writers fail with an error that says so, and write nothing. Once there is space again,
// they succeed.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	db := storetest.Open(t, store.Config{Path: filepath.Join(dir, "platen.db"), Log: storetest.Log(t)})
	ctx := t.Context()
	filler := filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for page := make([]byte, 1<<16); err == nil; {
		_, err = f.Write(page)
	}
	if !store.IsFull(err) {
		t.Fatalf("filling the disk: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 1<<20)
	for i := range 3 {
		err := db.Write(ctx, func(tx *store.Tx) error { return set(ctx, tx, fmt.Sprint("large", i), large) })
		if !store.IsFull(err) || store.IsBusy(err) {
			t.Errorf("error = %v, want one of a full disk", err)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(ctx, func(tx *store.Tx) error { return set(ctx, tx, "again", large) }); err != nil {
		t.Error(err)
	}
	var kept int
	if err := db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM settings WHERE name LIKE 'large%'").Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d rows of failed transactions, %v", kept, err)
	}
	var check string
	if err := db.Reader().QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
		t.Errorf("integrity check: %s, %v", check, err)
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		err        error
		full, busy bool
	}{
		{&pgconn.PgError{Code: "53100"}, true, false},
		{&pgconn.PgError{Code: "55P03"}, false, true},
		{&pgconn.PgError{Code: "53300"}, false, true},
		{&pgconn.PgError{Code: "23505"}, false, false},
		{unix.ENOSPC, true, false},
		{unix.EDQUOT, true, false},
		{store.ErrBusy, false, true},
		{errors.New("another"), false, false},
		{nil, false, false},
	} {
		if err := fmt.Errorf("wrapped: %w", tt.err); store.IsFull(err) != tt.full || store.IsBusy(err) != tt.busy {
			t.Errorf("%v: full %t, busy %t", tt.err, store.IsFull(err), store.IsBusy(err))
		}
	}
}
