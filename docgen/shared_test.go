package docgen_test

import (
	"slices"
	"testing"

	"platen/docgen"
)

// marked pages through a folder by marker, two items per page, and returns the names.
func (w *world) marked(c *docgen.Caller, folder int64) []string {
	w.t.Helper()
	names := []string{}
	for r := (docgen.PageRequest{Limit: 2}); ; {
		page, err := w.Items(w.t.Context(), c, folder, r)
		must(w.t, err)
		for _, item := range page.Entries {
			names = append(names, item.Name)
		}
		if page.Next == "" {
			return names
		}
		r.Marker = page.Next
	}
}

// TestRootFolderHasSharedItems: items shared with a user appear in the user's root folder, each once, and nowhere
// above.
func TestRootFolderHasSharedItems(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		team := w.folder(w.alice, 0, "Team")
		inside := w.folder(w.alice, team, "Inside")
		letter := w.upload(w.alice, 0, "letter.docx", "text").ID
		gone := w.folder(w.alice, 0, "Gone")
		below := w.upload(w.alice, gone, "below.txt", "text").ID
		w.folder(w.bob, 0, "Own")
		w.upload(w.bob, 0, "own.txt", "text")
		carol := w.user("carol")

		for _, id := range []int64{team, inside, gone} {
			w.share(docgen.Folder, id, w.bob, docgen.RoleViewer)
		}
		for _, id := range []int64{letter, below} {
			w.share(docgen.File, id, w.bob, docgen.RoleViewer)
		}
		must(t, w.TrashFolder(ctx, w.alice, gone, true, ""))

		// Folders before files, each kind by ascending id. Inside appears in Team, and below.txt is in the trash with
		// Gone.
		want := []string{"Team", "Own", "letter.docx", "own.txt"}
		if got := w.marked(w.bob, 0); !slices.Equal(got, want) {
			t.Errorf("by marker: %q, want %q", got, want)
		}
		if got := w.names(w.bob, 0); !slices.Equal(got, []string{"Own", "Team", "letter.docx", "own.txt"}) {
			t.Errorf("by name: %q", got)
		}
		if got := w.marked(w.bob, team); !slices.Equal(got, []string{"Inside"}) {
			t.Errorf("in the shared folder: %q", got)
		}
		if got := w.marked(carol, 0); len(got) != 0 {
			t.Errorf("carol, with whom nothing is shared, sees %q", got)
		}
		if got := w.marked(w.alice, 0); !slices.Equal(got, []string{"Team", "letter.docx"}) {
			t.Errorf("alice, the owner: %q", got)
		}
		t.Run("ended collaborations and those for access only do not count", func(t *testing.T) {
			must(t, w.exec("UPDATE collaborations SET is_access_only = TRUE WHERE item_id = $1", team))
			must(t, w.exec("UPDATE collaborations SET expires_at = 1 WHERE item_id = $1", letter))
			want := []string{"Inside", "Own", "own.txt"} // items in a folder that is shared for access only are listed only there
			if got := w.marked(w.bob, 0); !slices.Equal(got, want) {
				t.Errorf("by marker: %q, want %q", got, want)
			}
		})
	})
}

// TestTotalCountWithHiddenItems: an offset is a position in the whole list, even where the caller sees nothing.
func TestTotalCountWithHiddenItems(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		names := []string{"a", "b", "c", "d", "e"}
		for _, name := range names {
			folder := w.folder(w.alice, 0, name)
			if name == "b" || name == "d" { // reached from the folder, which is shared too
				parent := folder
				folder = w.folder(w.alice, parent, name+" inside")
				w.share(docgen.Folder, parent, w.bob, docgen.RoleViewer)
			}
			w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
		}
		var seen []string
		total := 1
		for offset := 0; offset < total; offset += 2 {
			page, err := w.ItemsByOffset(t.Context(), w.bob, 0, docgen.OffsetRequest{Limit: 2, Offset: offset}, docgen.ItemOrder{By: "name"})
			must(t, err)
			total = page.Total
			for _, item := range page.Entries {
				seen = append(seen, item.Name)
			}
		}
		if total != 7 || !slices.Equal(seen, names) {
			t.Errorf("total_count %d, items %q, want 7 and %q: the two that are hidden have a place", total, seen, names)
		}
	})
}
