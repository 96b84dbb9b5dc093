package docgen_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"platen/docgen"
	"platen/store"
)

func TestFolders(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		outer := w.folder(w.alice, 0, "outer")
		inner := w.folder(w.alice, outer, "inner")
		t.Run("the root folder is everybody's own, and 0 to all", func(t *testing.T) {
			for _, c := range []*docgen.Caller{w.alice, w.bob} {
				root, err := w.Folder(ctx, c, 0)
				must(t, err)
				if root.ID != 0 || root.Name != "All Files" || root.Parent != nil || len(root.Path) != 0 || root.Owner.ID != c.User.ID {
					t.Errorf("root folder of %v = %+v", c, root)
				}
			}
			if names := w.names(w.bob, 0); len(names) != 0 {
				t.Errorf("bob's root folder holds %q", names)
			}
		})
		t.Run("the root folder cannot be changed", func(t *testing.T) {
			for _, change := range []docgen.ItemChange{{Name: new("mine")}, {Description: new("mine")}, {ParentID: &outer}} {
				_, err := w.UpdateFolder(ctx, w.alice, 0, change)
				wantCode(t, err, docgen.CodeForbidden)
			}
			wantCode(t, w.TrashFolder(ctx, w.alice, 0, true, ""), docgen.CodeForbidden)
		})
		t.Run("one with items is trashed only with all of them", func(t *testing.T) {
			wantCode(t, w.TrashFolder(ctx, w.alice, outer, false, ""), docgen.CodeFolderNotEmpty)
			_, err := w.Folder(ctx, w.alice, inner)
			must(t, err)
			top := w.folder(w.alice, 0, "top")
			file := w.upload(w.alice, w.folder(w.alice, top, "below"), "a.txt", "x")
			must(t, w.TrashFolder(ctx, w.alice, top, true, ""))
			_, err = w.File(ctx, w.alice, file.ID)
			wantCode(t, err, docgen.CodeTrashed)
		})
		t.Run("one of which all was deleted is empty", func(t *testing.T) {
			folder := w.folder(w.alice, 0, "emptied")
			file := w.upload(w.alice, folder, "a.txt", "x")
			must(t, w.TrashFile(ctx, w.alice, file.ID, ""))
			must(t, w.TrashFolder(ctx, w.alice, folder, false, ""))
		})
		t.Run("the etag must be the one asked for", func(t *testing.T) {
			wantCode(t, w.TrashFolder(ctx, w.alice, inner, false, "7"), docgen.CodePrecondition)
			_, err := w.UpdateFolder(ctx, w.alice, inner, docgen.ItemChange{Name: new("x"), IfMatch: "7"})
			wantCode(t, err, docgen.CodePrecondition)
		})
		t.Run("none moves below itself", func(t *testing.T) {
			for _, target := range []int64{outer, inner} {
				_, err := w.UpdateFolder(ctx, w.alice, outer, docgen.ItemChange{ParentID: &target})
				wantCode(t, err, docgen.CodeCycle)
			}
		})
		t.Run("shared items are shown from the first visible folder", func(t *testing.T) {
			w.share(docgen.Folder, inner, w.bob, docgen.RoleViewer)
			deep := w.folder(w.alice, inner, "deep")
			file := w.upload(w.alice, deep, "a.txt", "x")
			got, err := w.File(ctx, w.bob, file.ID)
			must(t, err)
			var path []string
			for _, f := range got.Path {
				path = append(path, f.Name)
			}
			if want := []string{"All Files", "inner", "deep"}; !slices.Equal(path, want) || got.Parent.ID != deep {
				t.Errorf("path = %q, parent %+v, want %q", path, got.Parent, want)
			}
		})
	})
}

// TestConcurrentMoves moves two folders below each other at once. If both moves were allowed, both folders would be cut
// off from every root.
func TestConcurrentMoves(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for round := range 20 {
			a, b := w.folder(w.alice, 0, fmt.Sprint("a", round)), w.folder(w.alice, 0, fmt.Sprint("b", round))
			below := w.folder(w.alice, b, "below")
			var errs [2]error
			var group sync.WaitGroup
			for i, move := range [][2]int64{{a, below}, {b, a}} {
				group.Go(func() {
					_, errs[i] = w.UpdateFolder(t.Context(), w.alice, move[0], docgen.ItemChange{ParentID: &move[1]})
				})
			}
			group.Wait()
			failed := slices.DeleteFunc(errs[:], func(err error) bool { return err == nil })
			if len(failed) != 1 || !docgen.IsCode(failed[0], docgen.CodeCycle) {
				t.Fatalf("round %d: errors = %v, want one cycle", round, failed)
			}
			for _, id := range []int64{a, b, below} {
				if item, err := w.Folder(t.Context(), w.alice, id); err != nil || item.Path[0].ID != 0 {
					t.Fatalf("round %d: folder = %+v, %v, want it below the root folder", round, item, err)
				}
			}
		}
	})
}

// TestDeepTree shows that folders cannot be nested so deep that a check no longer reaches the root folder.
func TestDeepTree(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		top := w.folder(w.alice, 0, "top")
		const depth = 1500
		must(t, w.db.Write(ctx, func(tx *store.Tx) error {
			for i := range int64(depth) {
				row := store.InsertItemParams{
					ID: i + 1, Kind: int64(docgen.Folder), ParentID: sql.NullInt64{Int64: i, Valid: true}, OwnerID: w.alice.User.ID,
					Name: "x", NameKey: "78", CreatedBy: w.alice.User.ID, ModifiedBy: w.alice.User.ID,
				}
				if i == 0 {
					row.ParentID.Int64 = top
				}
				if _, err := tx.InsertItem(ctx, row); err != nil {
					return err
				}
			}
			return nil
		}))
		w.recount()
		const bottom = depth
		_, err := w.CreateFolder(ctx, w.alice, docgen.NewFolder{Name: "y", ParentID: bottom})
		wantCode(t, err, docgen.CodeBadRequest)
		_, err = w.UpdateFolder(ctx, w.alice, top, docgen.ItemChange{ParentID: new(int64(bottom))})
		wantCode(t, err, docgen.CodeBadRequest)
		_, err = w.Folder(ctx, w.bob, bottom)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = w.CreateFolder(ctx, w.alice, docgen.NewFolder{Name: "y", ParentID: depth / 2})
		must(t, err)
		must(t, w.TrashFolder(ctx, w.alice, depth/2, true, ""))
	})
}

// TestConcurrentFill deletes an empty folder while others add items to it: whatever comes first, no item that was
// reported as created is lost.
func TestConcurrentFill(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for round := range 20 {
			folder := w.folder(w.alice, 0, fmt.Sprint("folder", round))
			var group sync.WaitGroup
			var trashed, created, moved error
			mine := w.upload(w.alice, 0, fmt.Sprint("file", round), "x")
			group.Go(func() { trashed = w.TrashFolder(t.Context(), w.alice, folder, false, "") })
			group.Go(func() {
				_, created = w.CreateFolder(t.Context(), w.alice, docgen.NewFolder{Name: "inner", ParentID: folder})
			})
			group.Go(func() {
				_, moved = w.UpdateFile(t.Context(), w.alice, mine.ID, docgen.ItemChange{ParentID: &folder})
			})
			group.Wait()
			if trashed == nil && (created == nil || moved == nil) {
				t.Fatalf("round %d: the folder was deleted as empty, and yet: created %v, moved %v", round, created, moved)
			}
		}
	})
}

func TestItemsByOffset(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder := w.folder(w.alice, 0, "folder")
		// Created in this order, one each minute: ids and dates increase, names and sizes do not.
		for _, name := range []string{"d2", "d1"} {
			w.folder(w.alice, folder, name)
			w.clock.advance(time.Minute)
		}
		for _, name := range []string{"b", "Ä", "C", "a"} {
			w.upload(w.alice, folder, name, map[string]string{"b": "22", "Ä": "4444", "C": "1", "a": "333"}[name])
			w.clock.advance(time.Minute)
		}
		trashed := w.upload(w.alice, folder, "trashed", "x")
		must(t, w.TrashFile(ctx, w.alice, trashed.ID, ""))

		for sort, want := range map[string][]string{
			"id":   {"d2", "d1", "b", "Ä", "C", "a"},
			"date": {"d2", "d1", "b", "Ä", "C", "a"},
			"name": {"d1", "d2", "a", "b", "C", "Ä"},
			"size": {"d2", "d1", "C", "b", "a", "Ä"},
		} {
			for _, direction := range []string{"ASC", "DESC"} {
				t.Run(sort+" "+direction, func(t *testing.T) {
					order := slices.Clone(want)
					if direction == "DESC" {
						slices.Reverse(order[:2])
						slices.Reverse(order[2:])
					}
					for _, limit := range []int{1, 2, 4, 6, 1000} {
						var got []string
						for offset := 0; offset <= 6; offset += limit {
							r, err := docgen.ParseOffset(strconv.Itoa(limit), strconv.Itoa(offset))
							must(t, err)
							o, err := docgen.ParseOrder(sort, direction)
							must(t, err)
							page, err := w.ItemsByOffset(ctx, w.alice, folder, r, o)
							must(t, err)
							if page.Total != 6 || page.Limit != limit || page.Offset != offset {
								t.Errorf("page = %+v", page)
							}
							for _, item := range page.Entries {
								got = append(got, item.Name)
							}
						}
						if !slices.Equal(got, order) {
							t.Errorf("by %d: %q, want %q", limit, got, order)
						}
					}
				})
			}
		}
		t.Run("beyond the end there is nothing", func(t *testing.T) {
			page, err := w.ItemsByOffset(ctx, w.alice, folder, docgen.OffsetRequest{Limit: 10, Offset: docgen.MaxOffset}, docgen.ItemOrder{})
			if err != nil || page.Entries == nil || len(page.Entries) != 0 || page.Total != 6 {
				t.Errorf("page = %+v, %v, want an empty list of 6", page, err)
			}
		})
	})
}

func TestParseOffset(t *testing.T) {
	for name, tt := range map[string]struct {
		limit, offset string
		want          docgen.OffsetRequest
		code          docgen.Code
	}{
		"nothing said":         {"", "", docgen.OffsetRequest{Limit: 100}, ""},
		"everything said":      {"7", "3", docgen.OffsetRequest{Limit: 7, Offset: 3}, ""},
		"the largest offset":   {"", "300000", docgen.OffsetRequest{Limit: 100, Offset: 300_000}, ""},
		"an offset beyond":     {limit: "", offset: "300001", code: docgen.CodeInvalidOffset},
		"a huge offset":        {offset: "99999999999999999999", code: docgen.CodeInvalidOffset},
		"a negative offset":    {offset: "-1", code: docgen.CodeInvalidOffset},
		"an offset of letters": {offset: "abc", code: docgen.CodeInvalidOffset},
		"a limit of 0":         {limit: "0", code: docgen.CodeInvalidLimit},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := docgen.ParseOffset(tt.limit, tt.offset)
			wantCode(t, err, tt.code)
			if tt.code == "" && got != tt.want {
				t.Errorf("ParseOffset = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestParseOrder(t *testing.T) {
	for text, want := range map[[2]string]docgen.ItemOrder{
		{"", ""}:         {By: "name"},
		{"date", "DESC"}: {By: "date", Descending: true},
		{"size", "asc"}:  {By: "size"},
	} {
		if got, err := docgen.ParseOrder(text[0], text[1]); err != nil || got != want {
			t.Errorf("ParseOrder(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	_, err := docgen.ParseOrder("colour", "sideways")
	if names := problemNames(t, err); !slices.Equal(names, []string{"sort", "direction"}) {
		t.Errorf("problems with %q, want sort and direction at once", names)
	}
}

// TestMoveKeepsOwner shows that users who may edit a folder cannot take ownership of it by moving it.
func TestMoveKeepsOwner(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		folder := w.folder(w.alice, 0, "Shared")
		inside := w.folder(w.alice, folder, "Inside")
		w.share(docgen.Folder, folder, w.bob, docgen.RoleEditor)
		own := w.folder(w.bob, 0, "Mine")
		for _, id := range []int64{folder, inside} {
			_, err := w.UpdateFolder(t.Context(), w.bob, id, docgen.ItemChange{ParentID: &own})
			wantCode(t, err, docgen.CodeForbidden)
		}
		root := int64(0)
		if _, err := w.UpdateFolder(t.Context(), w.alice, inside, docgen.ItemChange{ParentID: &root}); err != nil {
			t.Errorf("the owner cannot move a folder: %v", err)
		}
	})
}
