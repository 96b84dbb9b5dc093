package blobtest_test

import (
	"errors"
	"strings"
	"testing"

	"platen/blob"
	"platen/blob/blobtest"
)

// newFaulty returns a store that is closed after the test.
func newFaulty(t *testing.T) *blobtest.Faulty {
	f := blobtest.NewFaulty(openDisk(t))
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func openDisk(t *testing.T) blob.Store {
	s, err := blob.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFaultyWithoutCue checks that a Faulty without cues is a valid store.
func TestFaultyWithoutCue(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store { return blobtest.NewFaulty(openDisk(t)) })
}

func TestFaultyFailsTheChosenCall(t *testing.T) {
	ctx := t.Context()
	f := newFaulty(t)
	boom := errors.New("boom")
	calls := map[blobtest.Op]func() error{
		blobtest.Put: func() error {
			_, err := f.Put(ctx, "k", strings.NewReader("x"))
			return errors.Join(err, f.Store.Delete(ctx, "k"))
		},
		blobtest.Open: func() error {
			_, err := f.Open(ctx, "k", 0, -1)
			return err
		},
		blobtest.Stat: func() error {
			_, err := f.Stat(ctx, "k")
			return err
		},
		blobtest.Delete: func() error { return f.Delete(ctx, "k") },
		blobtest.List: func() error {
			for _, err := range f.List(ctx, "") {
				return err
			}
			return nil
		},
		blobtest.Check: func() error { return f.Check(ctx) },
	}
	for op, call := range calls {
		f.Fail(op, 3, boom)
		for n := 1; n <= 4; n++ {
			if err := call(); errors.Is(err, boom) != (n == 3) {
				t.Errorf("call %d of operation %d = %v", n, op, err)
			}
		}
	}
}

func TestFaultyRunsOutOfRoom(t *testing.T) {
	ctx := t.Context()
	f := newFaulty(t)
	f.Room(10)
	if n, err := f.Put(ctx, "a", strings.NewReader("0123456")); n != 7 || err != nil {
		t.Errorf("within the room: %d, %v", n, err)
	}
	if _, err := f.Put(ctx, "b", strings.NewReader("0123456")); !errors.Is(err, blob.ErrNoSpace) {
		t.Errorf("beyond the room: %v, want ErrNoSpace", err)
	}
	if _, err := f.Stat(ctx, "b"); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("what had no room: %v, want ErrNotExist", err)
	}
	f.Room(-1)
	if n, err := f.Put(ctx, "b", strings.NewReader("0123456")); n != 7 || err != nil {
		t.Errorf("with room again: %d, %v", n, err)
	}
}
