package generate_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"platen/docgen"
	"platen/generate"
	"platen/pdf/finish"
	"platen/store"
	"platen/store/storetest"
)

// partsIn uploads PDFs into a new folder, and returns them as parts to merge.
func (w *world) partsIn(texts ...string) []*docgen.BundleFile {
	w.t.Helper()
	ctx := w.t.Context()
	folder, err := w.service.CreateFolder(ctx, w.caller, docgen.NewFolder{Name: "PDFs"})
	must(w.t, err)
	for i, text := range texts {
		name := string(rune('a'+i)) + ".pdf"
		_, err := w.service.CreateFile(ctx, w.caller, docgen.NewFile{Name: name, ParentID: folder.ID}, strings.NewReader(text))
		must(w.t, err)
	}
	zip, err := w.service.CreateZip(ctx, w.caller, docgen.NewZip{
		Items: []docgen.ZipItem{{Kind: docgen.Folder, ID: folder.ID}}, OutputType: docgen.OutputPDF,
	})
	must(w.t, err)
	bundle, err := w.service.StartZip(ctx, w.caller, zip.ID)
	must(w.t, err)
	parts, err := bundle.Parts()
	must(w.t, err)
	return parts
}

// wantUnmerged checks that files cannot be merged, and what the error says.
func wantUnmerged(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !docgen.IsCode(err, docgen.CodeConflict) || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want a conflict with %q", err, text)
		}
	}
}

// TestMergeFiles merges PDFs in a process of its own, and without one.
func TestMergeFiles(t *testing.T) {
	sealed, err := finish.Encrypt([]byte(pageOf("sealed")), finish.Protection{UserPassword: "s3cret", OwnerPassword: "owner",
		Permissions: finish.AllPermissions()})
	must(t, err)
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := &watchedBlobs{Store: newBlobs(t)}
		w := newWorldAs(t, db, blobs, generate.Config{Program: "/proc/self/exe"})
		plain := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler)})
		ctx := t.Context()
		good := w.partsIn(pageOf("one"), pageOf("two"))
		processes := 0
		blobs.watch = func() { processes = max(processes, len(isolatedProcesses(t))) }
		for name, g := range map[string]*generate.Generator{"in a process": w.maker, "without one": plain} {
			var out bytes.Buffer
			if err := g.MergeFiles(ctx, w.caller, good, &out); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			wantBothPages(t, out.String())
		}
		if processes == 0 {
			t.Error("no process merged the files")
		}
		blobs.watch = nil
	})
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		blobs := &watchedBlobs{Store: newBlobs(t)}
		w := newWorldAs(t, db, blobs, generate.Config{Program: "/proc/self/exe"})
		plain := generate.New(generate.Config{Service: w.service, Log: slog.New(slog.DiscardHandler)})
		ctx := t.Context()
		bad := w.partsIn(pageOf("one"), string(sealed), pageOf("two"), "no PDF", pageOf("three")[:200])
		for _, g := range []*generate.Generator{w.maker, plain} {
			err := g.MergeFiles(ctx, w.caller, bad, new(bytes.Buffer))
			wantUnmerged(t, err, `document "b": the PDF cannot be read: it `, `document "d": the PDF cannot be read`, `document "e": `)
		}
		full := errors.New("full")
		if err := w.maker.MergeFiles(ctx, w.caller, bad[:1], failingWriter{full}); !errors.Is(err, full) {
			t.Errorf("error %v, want that of the writer", err)
		}
		canceled, cancel := context.WithCancel(ctx)
		blobs.watch = cancel
		if err := w.maker.MergeFiles(canceled, w.caller, bad[:1], new(bytes.Buffer)); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that the caller is gone", err)
		}
		blobs.watch = func() { killIsolated(t) }
		wantUnmerged(t, w.maker.MergeFiles(ctx, w.caller, bad[:1], new(bytes.Buffer)), "ended (signal: killed)")
		blobs.watch = nil
		must(t, w.service.TrashFile(ctx, w.caller, fileOf(t, w, "c.pdf"), ""))
		wantUnmerged(t, w.maker.MergeFiles(ctx, w.caller, bad[2:3], new(bytes.Buffer)), "PDFs/c.pdf was deleted")
	})
}

// fileOf returns the id of a file in the folder of partsIn.
func fileOf(t *testing.T, w *world, name string) int64 {
	t.Helper()
	ctx := t.Context()
	order := docgen.ItemOrder{By: "name"}
	folders, err := w.service.ItemsByOffset(ctx, w.caller, 0, docgen.OffsetRequest{Limit: 100}, order)
	must(t, err)
	for _, folder := range folders.Entries {
		if folder.Name != "PDFs" {
			continue
		}
		files, err := w.service.ItemsByOffset(ctx, w.caller, folder.ID, docgen.OffsetRequest{Limit: 100}, order)
		must(t, err)
		for _, file := range files.Entries {
			if file.Name == name {
				return file.ID
			}
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }
