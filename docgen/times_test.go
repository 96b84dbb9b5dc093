package docgen_test

import (
	"strings"
	"testing"
	"time"

	"platen/docgen"
)

// TestContentTimes checks when the content of a file was created and modified, while the file and its versions are copied and changed.
func TestContentTimes(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		day := func(n int) time.Time { return noon.AddDate(-1, 0, n) }
		want := func(item *docgen.Item, created, modified time.Time) {
			t.Helper()
			if !item.ContentCreatedAt.Equal(created) || !item.ContentModifiedAt.Equal(modified) {
				t.Errorf("content of %d was created %v, modified %v; want %v, %v", item.ID, item.ContentCreatedAt, item.ContentModifiedAt,
					created, modified)
			}
		}
		first, err := w.CreateFile(ctx, w.alice, docgen.NewFile{Name: "a", ContentCreatedAt: day(1), ContentModifiedAt: day(2)},
			strings.NewReader("one"))
		must(t, err)
		want(first, day(1), day(2))

		w.clock.advance(time.Hour)
		second, err := w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: first.ID, ContentModifiedAt: day(3)}, strings.NewReader("two"))
		must(t, err)
		want(second, day(1), day(3))
		third, err := w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: first.ID, ContentCreatedAt: day(4)}, strings.NewReader("three"))
		must(t, err)
		want(third, day(4), w.clock.now())

		changed, err := w.UpdateFile(ctx, w.alice, first.ID, docgen.ItemChange{ContentModifiedAt: day(5)})
		must(t, err)
		want(changed, day(4), day(5))
		if changed.ETag == third.ETag {
			t.Error("the etag did not change")
		}

		for version, times := range map[int64][2]time.Time{
			0: {day(4), day(5)}, first.VersionID: {day(1), day(2)}, second.VersionID: {day(1), day(3)},
		} {
			copied, err := w.CopyFile(ctx, w.alice, docgen.NewCopy{ItemID: first.ID, VersionID: version, Name: "copy " + times[1].String()})
			must(t, err)
			want(copied, times[0], times[1])
		}
		_, err = w.PromoteVersion(ctx, w.alice, first.ID, first.VersionID)
		must(t, err)
		promoted, err := w.File(ctx, w.alice, first.ID)
		must(t, err)
		want(promoted, day(1), day(2))
		_, err = w.PromoteVersion(ctx, w.alice, first.ID, third.VersionID)
		must(t, err)
		promoted, err = w.File(ctx, w.alice, first.ID)
		must(t, err)
		want(promoted, day(4), day(5))

		epoch := time.Unix(0, 0).UTC() // not the same as no time
		folder := w.folder(w.alice, 0, "folder")
		changed, err = w.UpdateFolder(ctx, w.alice, folder, docgen.ItemChange{ContentCreatedAt: epoch, ContentModifiedAt: day(6)})
		must(t, err)
		want(changed, epoch.Add(time.Microsecond), day(6))
	})
}
