package docgen_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"platen/docgen"
)

// An offsetList is a list that is paged by offset, for the test that every such list must pass.
type offsetList struct {
	name   string
	page   func(r docgen.OffsetRequest) (offsetPage, error)
	places []string // the names of the whole list, in order; empty where the caller sees nothing
}

// offsetPage is a page with unique names for its entries.
type offsetPage struct {
	docgen.OffsetRequest
	names []string
	total int
}

func offsetNames[T any](page docgen.OffsetPage[T], err error, name func(T) string) (offsetPage, error) {
	p := offsetPage{OffsetRequest: page.OffsetRequest, names: []string{}, total: page.Total}
	for _, entry := range page.Entries {
		p.names = append(p.names, name(entry))
	}
	return p, err
}

// offsetLists returns all lists that are paged by offset. Add new ones here.
func (w *world) offsetLists() []offsetList {
	return []offsetList{w.itemsAt(), w.sharedAt(), w.trashAt(), w.versionsAt(), w.invitationsAt(), w.usersAt()}
}

func (w *world) itemsAt() offsetList {
	folder := w.folder(w.alice, 0, "folder")
	list := offsetList{name: "items", places: numbered("folder %d", 4)}
	for _, name := range list.places {
		w.folder(w.alice, folder, name)
	}
	for _, name := range numbered("text %d", 5) {
		w.upload(w.alice, folder, name, "x")
		list.places = append(list.places, name)
	}
	list.page = func(r docgen.OffsetRequest) (offsetPage, error) {
		page, err := w.ItemsByOffset(w.t.Context(), w.alice, folder, r, docgen.ItemOrder{By: "name"})
		return offsetNames(page, err, func(i docgen.Item) string { return i.Name })
	}
	return list
}

// sharedAt returns the root folder of a user with whom folders are shared, some of them inside other shared folders.
func (w *world) sharedAt() offsetList {
	guest := w.user("guest")
	list := offsetList{name: "items of the root folder"}
	for i, name := range numbered("shared %d", 7) {
		folder := w.folder(w.alice, 0, name)
		w.share(docgen.Folder, folder, guest, docgen.RoleViewer)
		list.places = append(list.places, name)
		if i%3 == 1 {
			w.share(docgen.Folder, w.folder(w.alice, folder, name+" inside"), guest, docgen.RoleViewer)
			list.places = append(list.places, "")
		}
	}
	list.page = func(r docgen.OffsetRequest) (offsetPage, error) {
		page, err := w.ItemsByOffset(w.t.Context(), guest, 0, r, docgen.ItemOrder{By: "name"})
		return offsetNames(page, err, func(i docgen.Item) string { return i.Name })
	}
	return list
}

func (w *world) trashAt() offsetList {
	list := offsetList{name: "trash", places: numbered("trashed %d", 8)}
	for _, name := range list.places {
		must(w.t, w.TrashFile(w.t.Context(), w.alice, w.upload(w.alice, 0, name, "x").ID, ""))
	}
	list.page = func(r docgen.OffsetRequest) (offsetPage, error) {
		page, err := w.TrashByOffset(w.t.Context(), w.alice, r, docgen.ItemOrder{By: "name"})
		return offsetNames(page, err, func(i docgen.Item) string { return i.Name })
	}
	return list
}

func (w *world) versionsAt() offsetList {
	file := w.upload(w.alice, 0, "versions.txt", "text 0")
	list := offsetList{name: "versions"}
	for i := range 6 {
		list.places = append([]string{strconv.Itoa(i + 1)}, list.places...) // newest first
		w.version(w.alice, file.ID, fmt.Sprint("text ", i+1))
	}
	list.page = func(r docgen.OffsetRequest) (offsetPage, error) {
		page, err := w.Versions(w.t.Context(), w.alice, file.ID, r)
		return offsetNames(page, err, func(v docgen.Version) string { return strconv.Itoa(int(v.Number)) })
	}
	return list
}

func (w *world) invitationsAt() offsetList {
	list := offsetList{name: "invitations"}
	for _, name := range numbered("invited to %d", 5) {
		made, err := w.CreateCollaboration(w.t.Context(), w.alice, docgen.NewCollaboration{
			ItemKind: docgen.Folder, ItemID: w.folder(w.alice, 0, name), Login: "invited@example.com", Role: docgen.RoleViewer})
		must(w.t, err)
		list.places = append(list.places, itoa(made.ID))
	}
	invited := w.user("invited")
	list.page = func(r docgen.OffsetRequest) (offsetPage, error) {
		page, err := w.Invitations(w.t.Context(), invited, r)
		return offsetNames(page, err, func(one docgen.Collaboration) string { return itoa(one.ID) })
	}
	return list
}

// usersAt returns the list of an application that manages only the users of applications: it learns nothing about other
// users, not even their number.
func (w *world) usersAt() offsetList {
	ctx := w.t.Context()
	list := offsetList{name: "users"}
	app := w.service(docgen.NewApplication{Name: "Customers", Scopes: []docgen.Scope{docgen.ScopeAppUsers}})
	for i, name := range numbered("customer %d", 4) {
		_, err := w.AddUser(ctx, app, docgen.NewUser{Name: name, PlatformOnly: true})
		must(w.t, err)
		w.user(fmt.Sprint("beside.", i))
		list.places = append(list.places, name)
	}
	list.page = func(r docgen.OffsetRequest) (offsetPage, error) {
		page, err := w.UsersByOffset(ctx, app, docgen.UserFilter{}, r)
		return offsetNames(page, err, func(u docgen.User) string { return u.Name })
	}
	return list
}

// TestEveryListByOffset reads every list from the start with a drawn limit, and one page at a drawn offset: an offset
// counts positions in the whole list, in which hidden entries are omitted, and total_count is the position after the
// last.
func TestEveryListByOffset(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		lists := w.offsetLists()
		rapid.Check(t, func(rt *rapid.T) {
			list := lists[rapid.IntRange(0, len(lists)-1).Draw(rt, "list")]
			limit := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(900, 100_000)).Draw(rt, "limit")
			offsets := []int{rapid.OneOf(rapid.IntRange(0, 15), rapid.IntRange(docgen.MaxOffset-5, docgen.MaxOffset)).Draw(rt, "offset")}
			for offset := 0; offset <= len(list.places); offset += min(limit, docgen.MaxPageLimit) {
				offsets = append(offsets, offset)
			}
			for _, offset := range offsets {
				list.check(rt, limit, offset)
			}
			beyond := rapid.IntRange(docgen.MaxOffset+1, 2*docgen.MaxOffset).Draw(rt, "beyond")
			_, err := docgen.ParseOffset("", strconv.Itoa(beyond))
			wantCode(t, err, docgen.CodeInvalidOffset)
		})
	})
}

// check reads the page at an offset; both are given as in a request.
func (l offsetList) check(t *rapid.T, limit, offset int) {
	r, err := docgen.ParseOffset(strconv.Itoa(limit), strconv.Itoa(offset))
	if err != nil {
		t.Fatal(err)
	}
	page, err := l.page(r)
	if err != nil {
		t.Fatalf("%s: %v", l.name, err)
	}
	used := min(limit, docgen.MaxPageLimit)
	if page.Limit != used || page.Offset != offset || page.total != len(l.places) {
		t.Fatalf("%s: limit %d, offset %d, total %d, want %d, %d, %d", l.name, page.Limit, page.Offset, page.total, used, offset, len(l.places))
	}
	want := slices.Clone(l.places[min(offset, len(l.places)):min(offset+used, len(l.places))])
	want = slices.DeleteFunc(want, func(name string) bool { return name == "" })
	if !slices.Equal(page.names, want) {
		t.Fatalf("%s by %d at %d: %q, want %q", l.name, limit, offset, page.names, want)
	}
}
