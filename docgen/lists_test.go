package docgen_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"platen/blob"
	"platen/docgen"
)

// A pagedList is a list that is paged by marker, for the tests that every such list must pass.
type pagedList struct {
	name   string
	page   func(c *docgen.Caller, r docgen.PageRequest) (listPage, error)
	add    func() string     // adds an entry and returns its name; nil if entries cannot be added
	remove func(name string) // removes an entry; nil if entries cannot be removed
}

// listPage is a page with unique names for its entries.
type listPage struct {
	names      []string
	limit      int
	next, prev string
}

func namesOf[T any](page docgen.Page[T], err error, name func(T) string) (listPage, error) {
	p := listPage{limit: page.Limit, next: page.Next, prev: page.Prev}
	for _, entry := range page.Entries {
		p.names = append(p.names, name(entry))
	}
	return p, err
}

func itoa(id int64) string { return strconv.FormatInt(id, 10) }

func atoi(t testing.TB, name string) int64 {
	t.Helper()
	id, err := strconv.ParseInt(name, 10, 64)
	must(t, err)
	return id
}

// keeper returns an administrator with a token for every list.
func (w *world) keeper(name string) *docgen.Caller {
	w.t.Helper()
	_, err := w.CreateUser(w.t.Context(), docgen.NewUser{Login: name + "@example.com", Name: name, Role: docgen.RoleAdmin})
	must(w.t, err)
	return w.caller(name, docgen.ScopeWrite, docgen.ScopeDocGen, docgen.ScopeGlobalContent, docgen.ScopeManagedUsers)
}

// pagedLists returns all lists of alice that are paged by marker. Add new ones here. Each has a few entries, and so
// have two lists of the same kind with other arguments. Alice and bob become administrators, who have all lists.
func (w *world) pagedLists() []pagedList {
	ctx, t := w.t.Context(), w.t
	w.alice, w.bob = w.keeper("ada"), w.keeper("ben")
	count := 0
	unique := func() string { count++; return fmt.Sprint("entry.", count) }
	folder, other, shelf := w.folder(w.alice, 0, "paged"), w.folder(w.alice, 0, "other"), w.folder(w.alice, 0, "shelf")
	template := w.template(w.alice, 0, "Paged.docx")
	tags := make([]docgen.Tag, 9)
	for i := range tags {
		tags[i] = docgen.Tag{Content: fmt.Sprint("{{a", i, "}}"), Type: "text", JSONPaths: []string{}}
	}
	second := w.version(w.alice, template.ID, "second")
	for _, version := range []int64{template.VersionID, second.VersionID} {
		must(t, w.SaveReading(ctx, version, docgen.Reading{Tags: tags}))
	}
	batches := []string{w.batch(batchOf(template.ID, 0, numbered(`{"n": %d}`, 7)...)),
		w.batch(batchOf(template.ID, 0, numbered(`{"n": %d}`, 5)...))}

	item := func(i docgen.Item) string { return itoa(i.ID) }
	job := func(j docgen.Job) string { return itoa(j.ID) }
	addJob := func() string { return itoa(w.jobs(w.batch(batchOf(template.ID, 0, "{}")))[0].ID) }
	items := func(folder int64) pagedList {
		return pagedList{
			name: fmt.Sprint("items of ", folder),
			page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
				page, err := w.Items(ctx, c, folder, r)
				return namesOf(page, err, item)
			},
			add:    func() string { return itoa(w.folder(w.alice, folder, unique())) },
			remove: func(name string) { must(t, w.TrashFolder(ctx, w.alice, atoi(t, name), false, "")) },
		}
	}
	tagsOf := func(version int64) pagedList {
		return pagedList{name: fmt.Sprint("tags of version ", version), page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
			page, _, err := w.Tags(ctx, c, template.ID, version, r)
			return namesOf(page.Page, err, func(tag docgen.Tag) string { return tag.Content })
		}}
	}
	jobsOf := func(batch string) pagedList {
		return pagedList{name: "jobs of batch " + batch, page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
			page, err := w.Jobs(ctx, c, docgen.JobFilter{BatchID: new(batch)}, r)
			return namesOf(page, err, job)
		}}
	}
	lists := append(w.pagedAccounts(unique), w.pagedPolicies(), w.pagedTrash(unique), w.pagedRoot(unique),
		w.pagedCollaborations(folder, unique), w.pagedCollaborations(other, unique))
	lists = append(lists, []pagedList{
		items(folder), items(other), tagsOf(template.VersionID), tagsOf(second.VersionID), jobsOf(batches[0]), jobsOf(batches[1]),
		{
			name: "jobs", add: addJob,
			page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
				page, err := w.Jobs(ctx, c, docgen.JobFilter{}, r)
				return namesOf(page, err, job)
			},
		},
		{
			name: "jobs of a template", add: addJob,
			page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
				page, err := w.Jobs(ctx, c, docgen.JobFilter{TemplateID: new(template.ID)}, r)
				return namesOf(page, err, job)
			},
		},
		{
			name: "templates",
			page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
				page, err := w.Templates(ctx, c, r)
				return namesOf(page, err, func(template docgen.Template) string { return itoa(template.FileID) })
			},
			add: func() string { return itoa(w.template(w.alice, shelf, unique()).ID) },
			remove: func(name string) {
				if id := atoi(t, name); id != template.ID { // other lists use that template
					must(t, w.UnmarkTemplate(ctx, w.alice, id))
				}
			},
		},
	}...)
	for _, list := range lists {
		for range 5 {
			if list.add != nil {
				list.add()
			}
		}
	}
	return lists
}

// pagedAccounts returns the lists of archives and of users: all, and those that match a term.
func (w *world) pagedAccounts(unique func() string) []pagedList {
	ctx, t := w.t.Context(), w.t
	users := func(filter docgen.UserFilter) pagedList {
		return pagedList{
			name: "users " + filter.Term,
			page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
				page, err := w.Users(ctx, c, filter, r)
				return namesOf(page, err, func(u docgen.User) string { return itoa(u.ID) })
			},
			add: func() string {
				name := unique()
				made, err := w.AddUser(ctx, w.alice, docgen.NewUser{Name: name, Login: name + "@example.com"})
				must(t, err)
				return itoa(made.ID)
			},
			remove: func(name string) {
				if id := atoi(t, name); id != w.alice.User.ID && id != w.bob.User.ID { // they read the lists
					must(t, w.DeleteUser(ctx, w.alice, id, true))
				}
			},
		}
	}
	return []pagedList{users(docgen.UserFilter{}), users(docgen.UserFilter{Term: "entry"}), {
		name: "archives",
		page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
			page, err := w.Archives(ctx, c, r)
			return namesOf(page, err, func(a docgen.Archive) string { return itoa(a.ID) })
		},
		add:    func() string { return itoa(w.archive(w.alice, unique()).ID) },
		remove: func(name string) { must(t, w.DeleteArchive(ctx, w.alice, atoi(t, name))) },
	}}
}

// pagedPolicies returns the list of storage policies of a server that was started with some.
func (w *world) pagedPolicies() pagedList {
	w.t.Helper()
	var policies []docgen.NewStoragePolicy
	for _, name := range numbered("place %d", 7) {
		blobs, err := blob.Open(w.t.TempDir())
		must(w.t, err)
		policies = append(policies, docgen.NewStoragePolicy{Name: name, Blobs: blobs})
	}
	placed := w.again(docgen.Config{Policies: policies})
	return pagedList{name: "storage policies", page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
		page, err := placed.StoragePolicies(w.t.Context(), c, r)
		return namesOf(page, err, func(p docgen.StoragePolicy) string { return itoa(p.ID) })
	}}
}

// pagedTrash returns the list of items that alice moved to the trash.
func (w *world) pagedTrash(unique func() string) pagedList {
	ctx, t := w.t.Context(), w.t
	return pagedList{
		name: "trash",
		page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
			page, err := w.Trash(ctx, c, r)
			return namesOf(page, err, func(i docgen.Item) string { return itoa(i.ID) })
		},
		add: func() string {
			id := w.folder(w.alice, 0, unique())
			must(t, w.TrashFolder(ctx, w.alice, id, false, ""))
			return itoa(id)
		},
		remove: func(name string) { must(t, w.Purge(ctx, w.alice, docgen.Folder, atoi(t, name))) },
	}
}

// pagedRoot returns the list of alice's root folder, to which bob adds items by sharing.
func (w *world) pagedRoot(unique func() string) pagedList {
	ctx, t := w.t.Context(), w.t
	shared := map[string]bool{}
	return pagedList{
		name: "items of the root folder",
		page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
			page, err := w.Items(ctx, c, 0, r)
			return namesOf(page, err, func(i docgen.Item) string { return itoa(i.ID) })
		},
		add: func() string {
			id := w.folder(w.bob, 0, unique())
			_, err := w.CreateCollaboration(ctx, w.bob,
				docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: id, UserID: w.alice.User.ID, Role: docgen.RoleViewer})
			must(t, err)
			shared[itoa(id)] = true
			return itoa(id)
		},
		remove: func(name string) {
			if shared[name] { // and does not belong to other lists
				must(t, w.TrashFolder(ctx, w.bob, atoi(t, name), false, ""))
			}
		},
	}
}

// pagedCollaborations returns the list of the collaborators and invitations of a folder of alice.
func (w *world) pagedCollaborations(folder int64, unique func() string) pagedList {
	ctx, t := w.t.Context(), w.t
	return pagedList{
		name: fmt.Sprint("collaborations on ", folder),
		page: func(c *docgen.Caller, r docgen.PageRequest) (listPage, error) {
			page, err := w.Collaborations(ctx, c, docgen.Folder, folder, r)
			return namesOf(page, err, func(one docgen.Collaboration) string { return itoa(one.ID) })
		},
		add: func() string {
			made, err := w.CreateCollaboration(ctx, w.alice,
				docgen.NewCollaboration{ItemKind: docgen.Folder, ItemID: folder, Login: unique() + "@invited.example.com", Role: docgen.RoleViewer})
			must(t, err)
			return itoa(made.ID)
		},
		remove: func(name string) { must(t, w.DeleteCollaboration(ctx, w.alice, atoi(t, name))) },
	}
}

// TestEveryListWhileItChanges pages through the lists in both directions while others change them: an entry that exists
// all the time appears exactly once in each direction, and no entry appears twice.
func TestEveryListWhileItChanges(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		lists := slices.DeleteFunc(w.pagedLists(), func(list pagedList) bool { return list.add == nil })
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.IntRange(0, len(lists)-1).Draw(rt, "list")
			s := &stroll{T: rt, w: w, list: lists[n], limit: rapid.IntRange(1, 6).Draw(rt, "limit")}
			s.walk()
		})
	})
}

// A stroll pages through a list, of which it knows only the names of the entries.
type stroll struct {
	*rapid.T
	w     *world
	list  pagedList
	limit int
	stays map[string]bool // entries that have existed since the pass began
}

func (s *stroll) read(marker string) listPage {
	page, err := s.list.page(s.w.alice, docgen.PageRequest{Limit: s.limit, Marker: marker})
	if err != nil {
		s.Fatal(err)
	}
	if page.limit != s.limit || len(page.names) > s.limit {
		s.Fatalf("a page of %d has %d entries, and says %d", s.limit, len(page.names), page.limit)
	}
	return page
}

func (s *stroll) walk() {
	all, err := s.list.page(s.w.alice, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	if err != nil || all.next != "" {
		s.Fatalf("the whole of %s: %v, and more", s.list.name, err)
	}
	s.begin(all.names)
	last := s.read("")
	pages := [][]string{last.names}
	for last.next != "" {
		s.change(true)
		last = s.read(last.next)
		pages = append(pages, last.names)
	}
	s.done("forth", slices.Concat(pages...))

	s.begin(slices.Concat(pages[:len(pages)-1]...))
	var seen []string
	for last.prev != "" {
		s.change(false)
		last = s.read(last.prev)
		seen = append(last.names, seen...)
	}
	s.done("back", seen)
}

// begin starts a pass in which the given entries must appear.
func (s *stroll) begin(names []string) {
	s.stays = map[string]bool{}
	for _, name := range names {
		s.stays[name] = true
	}
	if s.list.remove == nil {
		return
	}
	there, err := s.list.page(s.w.alice, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	if err != nil {
		s.Fatal(err)
	}
	for name := range s.stays {
		if !slices.Contains(there.names, name) {
			delete(s.stays, name)
		}
	}
}

// change has another user change the list between two pages.
func (s *stroll) change(grows bool) {
	if grows && len(s.stays) < 10 && rapid.IntRange(0, 3).Draw(s.T, "add") == 0 {
		s.list.add()
	}
	if s.list.remove == nil || len(s.stays) < 3 || rapid.IntRange(0, 2).Draw(s.T, "remove") > 0 {
		return
	}
	names := make([]string, 0, len(s.stays))
	for name := range s.stays {
		names = append(names, name)
	}
	slices.Sort(names)
	name := rapid.SampledFrom(names).Draw(s.T, "removed")
	s.list.remove(name)
	delete(s.stays, name)
}

func (s *stroll) done(way string, seen []string) {
	met := map[string]bool{}
	for _, name := range seen {
		if met[name] {
			s.Fatalf("%s, %s: %s is met twice: %v", s.list.name, way, name, seen)
		}
		met[name] = true
	}
	for name := range s.stays {
		if !met[name] {
			s.Fatalf("%s, %s: %s was there all the time and is not met: %v", s.list.name, way, name, seen)
		}
	}
}

// TestEveryListInBothDirections follows the markers of lists that do not change: the pages are the same in both directions.
func TestEveryListInBothDirections(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for _, list := range w.pagedLists() {
			for _, limit := range []int{1, 2, 5, 100} {
				forth := []listPage{}
				for marker, more := "", true; more; more = marker != "" {
					page, err := list.page(w.alice, docgen.PageRequest{Limit: limit, Marker: marker})
					must(t, err)
					forth, marker = append(forth, page), page.next
				}
				if forth[0].prev != "" || len(forth[0].names) == 0 {
					t.Errorf("%s by %d: the first page is %+v", list.name, limit, forth[0])
				}
				for i := len(forth) - 1; i > 0; i-- {
					back, err := list.page(w.alice, docgen.PageRequest{Limit: limit, Marker: forth[i].prev})
					must(t, err)
					if !slices.Equal(back.names, forth[i-1].names) || back.next != forth[i-1].next || (back.prev == "") != (i == 1) {
						t.Errorf("%s by %d: back from page %d is %v, want %v", list.name, limit, i+1, back.names, forth[i-1].names)
					}
				}
			}
		}
	})
}

// TestMarkersBelongToOneList uses the markers of each list for every other list, and as another user.
func TestMarkersBelongToOneList(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		lists := w.pagedLists()
		for _, list := range lists {
			first, err := list.page(w.alice, docgen.PageRequest{Limit: 2})
			must(t, err)
			second, err := list.page(w.alice, docgen.PageRequest{Limit: 2, Marker: first.next})
			must(t, err)
			for _, marker := range []string{first.next, second.prev} {
				for _, other := range lists {
					_, err := other.page(w.alice, docgen.PageRequest{Limit: 2, Marker: marker})
					if own := other.name == list.name; own != (err == nil) || !own && !docgen.IsCode(err, docgen.CodeBadRequest) {
						t.Errorf("a marker of %s for %s: %v", list.name, other.name, err)
					}
				}
				if _, err := list.page(w.bob, docgen.PageRequest{Limit: 2, Marker: marker}); err == nil {
					t.Errorf("a marker of %s is good for another user", list.name)
				}
			}
		}
	})
}
