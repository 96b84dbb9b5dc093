package office_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"platen/pdf"
	"platen/pdf/office"
	"platen/pdf/pdftest"
)

// While the disk of the workers is full, conversions fail with an error that says so, whatever LibreOffice reports.
// The document is converted when there is space again.
func TestFullFolder(t *testing.T) {
	folder := t.TempDir()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	filler := filepath.Join(folder, "filler")
	for name, free := range map[string]int{"no room for the document": 0, "room for the document": 12 << 10,
		"room for a part of the PDF": 24 << 10} {
		for _, again := range []bool{false, true} {
			for _, warm := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					engine := newOffice(t, office.Config{Folder: folder})
					request := pdf.Request{Document: pdftest.Letter("somebody"), Again: again}
					if warm {
						convertText(t, engine, "somebody")
					}
					fill(t, filler, free)
					_, err := engine.Convert(t.Context(), request)
					if document, refused := errors.AsType[*pdf.DocumentError](err); refused {
						t.Errorf("the document was rejected: %v", document)
					}
					if !errors.Is(err, unix.ENOSPC) {
						t.Errorf("again %t, warm %t: %T %v, want ENOSPC", again, warm, err, err)
					}
					if err := os.Remove(filler); err != nil {
						t.Fatal(err)
					}
					if _, err := engine.Convert(t.Context(), request); err != nil {
						t.Errorf("with space again: %v", err)
					}
				})
			}
		}
	}
}

// fill fills a disk with one file, except for the given number of bytes.
func fill(t *testing.T, filler string, free int) {
	t.Helper()
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for page := make([]byte, 4<<10); err == nil; size += int64(len(page)) {
		_, err = f.Write(page)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	if err := errors.Join(f.Truncate(size-4<<10-int64(free)), f.Close()); err != nil {
		t.Fatal(err)
	}
}
