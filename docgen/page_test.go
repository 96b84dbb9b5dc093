package docgen_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

func TestParsePage(t *testing.T) {
	for _, tt := range []struct {
		limit, marker string
		want          docgen.PageRequest
		code          docgen.Code
	}{
		{"", "", docgen.PageRequest{Limit: docgen.DefaultPageLimit}, ""},
		{"", "0", docgen.PageRequest{Limit: docgen.DefaultPageLimit}, ""},
		{"1", "abc", docgen.PageRequest{Limit: 1, Marker: "abc"}, ""},
		{"1000", "", docgen.PageRequest{Limit: 1000}, ""},
		{"1001", "", docgen.PageRequest{Limit: 1000}, ""},
		{"1000000000", "", docgen.PageRequest{Limit: 1000}, ""},
		{"99999999999999999999999999", "", docgen.PageRequest{Limit: 1000}, ""},
		{"0", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
		{"000", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
		{"-1", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
		{"+1", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
		{"1.5", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
		{"1e3", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
		{" 1", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
		{"abc", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
		{"٣", "", docgen.PageRequest{}, docgen.CodeInvalidLimit},
	} {
		got, err := docgen.ParsePage(tt.limit, tt.marker)
		if tt.code == "" && (err != nil || got != tt.want) || tt.code != "" && !docgen.IsCode(err, tt.code) {
			t.Errorf("ParsePage(%q, %q) = %+v, %v, want %+v, %s", tt.limit, tt.marker, got, err, tt.want, orNone(tt.code))
		}
	}
}

// at is the position of an item in the list of a folder.
type at struct {
	kind docgen.Kind
	id   int64
}

func placesOf(page docgen.Page[docgen.Item]) []at {
	places := []at{}
	for _, item := range page.Entries {
		places = append(places, at{item.Kind, item.ID})
	}
	return places
}

func comparePlaces(a, b at) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) }

// insert adds an item with a given id to a folder, directly in the database, because ids of the service only increase.
func (w *world) insert(folder int64, items ...at) error {
	ctx, owner := w.t.Context(), w.alice.User.ID
	return w.db.Write(ctx, func(tx *store.Tx) error {
		for _, item := range items {
			if _, err := tx.InsertItem(ctx, store.InsertItemParams{
				ID: item.id, Kind: int64(item.kind), ParentID: sql.NullInt64{Int64: folder, Valid: true}, OwnerID: owner,
				Name: fmt.Sprint(item.id), NameKey: docgen.FoldKey(fmt.Sprint(item.id)), CreatedBy: owner, ModifiedBy: owner,
			}); err != nil {
				return err
			}
		}
		return tx.AddFolderItems(ctx, folder, int64(len(items)))
	})
}

func (w *world) remove(folder int64, item at) error {
	return w.db.Write(w.t.Context(), func(tx *store.Tx) error {
		if _, err := tx.TrashItem(w.t.Context(), item.id, 1, w.alice.User.ID); err != nil {
			return err
		}
		return tx.AddFolderItems(w.t.Context(), folder, -1)
	})
}

// sevenItems adds three folders and four files to a folder.
func (w *world) sevenItems(name string, from int64) (folder int64, items []at) {
	w.t.Helper()
	folder = w.folder(w.alice, 0, name)
	for i := range int64(7) {
		items = append(items, at{docgen.Kind(min(i/3, 1)), from + 10*i})
	}
	must(w.t, w.insert(folder, items...))
	return folder, items
}

func TestPages(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		folder, items := w.sevenItems("folder", 1000)
		page := func(limit int, marker string) docgen.Page[docgen.Item] {
			t.Helper()
			page, err := w.Items(t.Context(), w.alice, folder, docgen.PageRequest{Limit: limit, Marker: marker})
			must(t, err)
			if page.Limit != limit {
				t.Errorf("limit of the page = %d, want %d", page.Limit, limit)
			}
			return page
		}
		for limit := 1; limit <= 8; limit++ {
			t.Run(fmt.Sprintf("by %d, forth and back", limit), func(t *testing.T) {
				var forth []docgen.Page[docgen.Item]
				marker := ""
				for {
					next := page(limit, marker)
					forth = append(forth, next)
					if marker = next.Next; marker == "" {
						break
					}
				}
				var seen []at
				for i, p := range forth {
					seen = append(seen, placesOf(p)...)
					if (p.Prev == "") != (i == 0) {
						t.Errorf("page %d has the marker %q of one before it", i+1, p.Prev)
					}
				}
				if !slices.Equal(seen, items) || len(forth) != (7+limit-1)/limit {
					t.Errorf("%d pages: %v, want %v", len(forth), seen, items)
				}
				for i := len(forth) - 1; i > 0; i-- {
					back := page(limit, forth[i].Prev)
					if !slices.Equal(placesOf(back), placesOf(forth[i-1])) {
						t.Errorf("back from page %d: %v, want %v", i+1, placesOf(back), placesOf(forth[i-1]))
					}
					if (back.Prev == "") != (i == 1) {
						t.Errorf("back from page %d: prev = %q", i+1, back.Prev)
					}
					if again := page(limit, back.Next); !slices.Equal(placesOf(again), placesOf(forth[i])) {
						t.Errorf("back from page %d and forth again: %v, want %v", i+1, placesOf(again), placesOf(forth[i]))
					}
				}
			})
		}
		t.Run("of nothing", func(t *testing.T) {
			folder = w.folder(w.alice, 0, "empty")
			if p := page(10, ""); p.Entries == nil || len(p.Entries) != 0 || p.Next != "" || p.Prev != "" {
				t.Errorf("page = %+v, want an empty list", p)
			}
		})
		t.Run("that have become empty lead to those around them", func(t *testing.T) {
			var items []at
			folder, items = w.sevenItems("thinned", 2000)
			second := page(2, page(2, "").Next) // places 3 and 4
			for _, item := range items[4:] {
				must(t, w.remove(folder, item))
			}
			end := page(2, second.Next)
			if len(end.Entries) != 0 || end.Next != "" || !slices.Equal(placesOf(page(2, end.Prev)), items[2:4]) {
				t.Errorf("the page after the end = %+v, want nothing, with %v before it", end, items[2:4])
			}
			for _, item := range items[:2] {
				must(t, w.remove(folder, item))
			}
			begin := page(2, second.Prev)
			if len(begin.Entries) != 0 || begin.Prev != "" || !slices.Equal(placesOf(page(2, begin.Next)), items[2:4]) {
				t.Errorf("the page before the beginning = %+v, want nothing, with %v after it", begin, items[2:4])
			}
		})
	})
}

// TestPagesOfChangingList pages through a list while others change it: entries that exist all the time appear exactly
// once, and no entry appears twice.
func TestPagesOfChangingList(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		walks := 0
		rapid.Check(t, func(rt *rapid.T) {
			walks++
			walk := walkOf(rt, w, walks)
			marker, forward := "", true
			for page := range 100 {
				r, err := w.Items(t.Context(), w.alice, walk.folder, docgen.PageRequest{Limit: walk.limit, Marker: marker})
				if err != nil {
					rt.Fatal(err)
				}
				walk.meet(placesOf(r), forward)
				if marker = r.Next; !forward {
					marker = r.Prev
				}
				if marker == "" && !forward {
					break
				}
				if marker == "" {
					walk.done("forth")
					if marker, forward = r.Prev, false; marker == "" {
						return
					}
					walk.turn()
				}
				if page == 99 {
					rt.Fatal("the walk has no end")
				}
				walk.change()
			}
			walk.done("back")
		})
	})
}

// walk pages through a folder that changes.
type walk struct {
	*rapid.T
	w      *world
	folder int64
	limit  int
	first  int64       // the walk uses this id and the 99 after it
	there  map[at]bool // items in the folder
	always map[at]bool // items that have been in the folder since the walk began
	seen   []at        // in the order of appearance
}

func walkOf(rt *rapid.T, w *world, number int) *walk {
	k := &walk{T: rt, w: w, first: int64(number) * 100, there: map[at]bool{}, always: map[at]bool{}}
	k.limit = rapid.IntRange(1, 4).Draw(rt, "limit")
	k.folder = w.folder(w.alice, 0, fmt.Sprint("walk ", number))
	var items []at
	for _, n := range rapid.SliceOfNDistinct(rapid.Int64Range(0, 99), 0, 12, rapid.ID).Draw(rt, "items") {
		items = append(items, k.place(n))
	}
	k.check(w.insert(k.folder, items...))
	for _, item := range items {
		k.there[item], k.always[item] = true, true
	}
	return k
}

// place returns the position of an id of the walk: every third is a folder.
func (k *walk) place(n int64) at { return at{docgen.Kind(min(n%3, 1)), k.first + n} }

func (k *walk) check(err error) {
	if err != nil {
		k.Fatal(err)
	}
}

// change has another user change the folder.
func (k *walk) change() {
	for _, n := range rapid.SliceOfN(rapid.Int64Range(0, 99), 0, 3).Draw(k.T, "changes") {
		item := k.place(n)
		_, known := k.there[item]
		switch {
		case k.there[item]:
			k.check(k.w.remove(k.folder, item))
			k.there[item] = false
			delete(k.always, item)
		case !known: // an id is used once
			k.check(k.w.insert(k.folder, item))
			k.there[item] = true
		}
	}
}

// meet records a page.
func (k *walk) meet(page []at, forward bool) {
	if !slices.IsSortedFunc(page, comparePlaces) {
		k.Fatalf("page %v is not in order", page)
	}
	if !forward {
		slices.Reverse(page)
	}
	for _, item := range page {
		if !k.there[item] {
			k.Fatalf("%v was met and is not there", item)
		}
	}
	k.seen = append(k.seen, page...)
}

// turn reverses the direction: entries already seen must appear again, but only in earlier pages.
func (k *walk) turn() {
	last := k.seen[max(0, len(k.seen)-k.limit):]
	k.seen = nil
	for item := range k.there {
		if k.there[item] && !slices.ContainsFunc(last, func(l at) bool { return comparePlaces(item, l) >= 0 }) {
			k.always[item] = true
		}
	}
	for item := range k.always {
		if slices.ContainsFunc(last, func(l at) bool { return comparePlaces(item, l) >= 0 }) {
			delete(k.always, item)
		}
	}
}

// done checks one direction.
func (k *walk) done(way string) {
	order := comparePlaces
	if way == "back" {
		order = func(a, b at) int { return comparePlaces(b, a) }
	}
	for i := 1; i < len(k.seen); i++ {
		if order(k.seen[i-1], k.seen[i]) >= 0 {
			k.Fatalf("%s: %v was met after %v", way, k.seen[i], k.seen[i-1])
		}
	}
	for item := range k.always {
		if !slices.Contains(k.seen, item) {
			k.Fatalf("%s: %v was there all the time and was not met: %v", way, item, k.seen)
		}
	}
}

// TestMarkers shows that a marker is valid only for its list and caller, and only unchanged.
func TestMarkers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		folder, items := w.sevenItems("folder", 100_000) // so large that the last character of a marker has bits to spare
		other, _ := w.sevenItems("other", 200_000)
		w.share(docgen.Folder, folder, w.bob, docgen.RoleViewer)
		page, err := w.Items(ctx, w.alice, folder, docgen.PageRequest{Limit: 2})
		must(t, err)
		good := page.Next
		refused := func(what string, err error) {
			t.Helper()
			if !docgen.IsCode(err, docgen.CodeBadRequest) || !slices.Equal(problemNames(t, err), []string{"marker"}) {
				t.Errorf("%s: %v, want the marker refused", what, err)
			}
		}
		read := func(c *docgen.Caller, folder int64, marker string) error {
			_, err := w.Items(ctx, c, folder, docgen.PageRequest{Limit: 2, Marker: marker})
			return err
		}
		must(t, read(w.alice, folder, good))
		refused("of another folder", read(w.alice, other, good))
		refused("of another user", read(w.bob, folder, good))
		_, err = w.Templates(ctx, w.alice, docgen.PageRequest{Marker: good})
		refused("of another list", err)
		_, err = w.Jobs(ctx, w.alice, docgen.JobFilter{}, docgen.PageRequest{Marker: good})
		refused("of a list of jobs", err)
		for cut := range len(good) {
			if cut > 0 {
				refused("truncated at the end", read(w.alice, folder, good[:cut]))
			}
			refused("cut off in front", read(w.alice, folder, good[cut+1:]+"A"))
		}
		for i := range len(good) {
			for bit := range 8 {
				flipped := []byte(good)
				flipped[i] ^= 1 << bit
				refused(fmt.Sprintf("with bit %d of byte %d flipped", bit, i), read(w.alice, folder, string(flipped)))
			}
		}
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		for _, last := range alphabet {
			if changed := good[:len(good)-1] + string(last); changed != good {
				refused("with another last character", read(w.alice, folder, changed))
			}
		}
		for _, made := range []string{good + "\n", "\r\n" + good, good[:5] + "\n" + good[5:], good + "=", good + good, "1", "abc", "\x00",
			strings.Repeat("A", 1<<20)} {
			refused("made up", read(w.alice, folder, made))
		}
		t.Run("stays good on a service that begins later", func(t *testing.T) {
			later, err := docgen.New(ctx, docgen.Config{Store: w.db, Blobs: w.blobs})
			must(t, err)
			page, err := later.Items(ctx, w.alice, folder, docgen.PageRequest{Limit: 2, Marker: good})
			if err != nil || !slices.Equal(placesOf(page), items[2:4]) {
				t.Errorf("page = %v, %v, want %v", placesOf(page), err, items[2:4])
			}
		})
	})
}

func FuzzMarker(f *testing.F) {
	blobs, err := blob.Open(f.TempDir())
	must(f, err)
	w := newWorld(f, storetest.SQLite(f), blobs, docgen.Limits{})
	folder, _ := w.sevenItems("folder", 1000)
	given := map[string]bool{"": true}
	for _, request := range []docgen.PageRequest{{Limit: 2}, {Limit: 5}} {
		page, err := w.Items(f.Context(), w.alice, folder, request)
		must(f, err)
		given[page.Next] = true
		page, err = w.Items(f.Context(), w.alice, folder, docgen.PageRequest{Limit: 2, Marker: page.Next})
		must(f, err)
		given[page.Prev] = true
	}
	for marker := range given {
		f.Add(marker)
	}
	f.Fuzz(func(t *testing.T, marker string) {
		_, err := w.Items(t.Context(), w.alice, folder, docgen.PageRequest{Limit: 2, Marker: marker})
		switch {
		case given[marker] && err != nil:
			t.Errorf("a marker that was given out is refused: %v", err)
		case !given[marker] && !docgen.IsCode(err, docgen.CodeBadRequest):
			t.Errorf("the marker %q was not given out: %v, want it refused", marker, err)
		}
	})
}
