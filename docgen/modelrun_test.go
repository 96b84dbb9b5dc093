package docgen_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"platen/docgen"
)

// TestModel performs random operations on files and folders, and compares every outcome, and everything that the people
// see afterward, with a model. A check takes long, longest on PostgreSQL, or on SQLite with the race detector, so not
// every check that rapid asks for runs.
func TestModel(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		every := 2
		switch postgres := w.cfg.Path == ""; {
		case postgres && raceEnabled:
			every = 4
		case postgres:
			every = 12
		case raceEnabled:
			every = 20
		}
		begun, passed := 0, 0
		rapid.Check(t, func(rt *rapid.T) {
			skip := begun%every != 0 && begun == passed // none after a failure, which rapid repeats several times
			begun++
			if !skip {
				newTrial(rt, w, begun).run()
			}
			passed++
		})
	})
}

// A trial is a service with the model that it is compared with.
type trial struct {
	*rapid.T
	forest
	w       *world
	number  int
	callers [people]*docgen.Caller
	account int64   // the account that owns the archives
	old     []int64 // what earlier trials left in the trash of archives
}

func newTrial(t *rapid.T, w *world, number int) *trial {
	m := &trial{T: t, w: w, number: number}
	for user := range m.callers {
		n := docgen.NewUser{Login: m.login(user) + "@example.com", Name: fmt.Sprint("user ", user)}
		if user == manager {
			n.Role = docgen.RoleAdmin
		}
		_, err := w.CreateUser(t.Context(), n)
		m.must(err, "make a user")
		m.enter(user, docgen.StatusActive)
		m.roots[user] = &thing{kind: docgen.Folder, name: fmt.Sprint("root ", user), root: user}
	}
	for _, item := range m.trashed(manager).Entries {
		m.old = append(m.old, item.ID)
	}
	for range 3 { // initial items
		m.archive()
		m.create()
		m.create()
		m.share()
	}
	return m
}

// enter creates the caller of a user with a status.
func (m *trial) enter(user int, status string) {
	scopes := []docgen.Scope{docgen.ScopeWrite}
	if user == manager {
		scopes = append(scopes, docgen.ScopeGlobalContent, docgen.ScopeManagedUsers)
	}
	m.callers[user], m.status[user] = m.w.caller(m.login(user), scopes...), status
}

func (m *trial) login(user int) string { return fmt.Sprintf("user%d.%d", user, m.number) }

// run performs operations until the trial is long enough. Operations with preconditions are tried more often.
func (m *trial) run() {
	actions := map[string]func(*rapid.T){"": func(*rapid.T) { m.lookAround() }}
	for name, one := range map[string]struct {
		often int
		act   func()
	}{
		"create": {4, m.create}, "version": {1, m.version}, "promote": {1, m.promote}, "rename": {1, m.rename},
		"move": {4, m.move}, "copy": {2, m.copy}, "trash": {4, m.trash}, "restore": {4, m.restore}, "purge": {2, m.purge},
		"share": {5, m.share}, "role": {1, m.role}, "unshare": {1, m.unshare}, "give": {2, m.give},
		"archive": {1, m.archive}, "delete": {1, m.deleteArchive}, "transfer": {1, m.transfer}, "status": {1, m.setStatus},
	} {
		for i := range one.often {
			actions[fmt.Sprint(name, i)] = func(*rapid.T) { one.act() }
		}
	}
	for range 2 {
		m.Repeat(actions)
	}
	for user := range m.callers {
		m.see(user)
	}
}

// did compares the result of an operation with what the model allows, and reports whether it succeeded. "Not found" is the error for
// exactly the users who do not see an item. A repeated operation returns the same error.
func (m *trial) did(user int, err error, can bool, what string, on ...*thing) bool {
	m.Helper()
	args := []any{user}
	for _, n := range on {
		args = append(args, n)
	}
	code := m.code(err)
	hidden := slices.IndexFunc(on, func(n *thing) bool { return m.may(user, n) == 0 })
	said := fmt.Sprintf("user %d "+what+": %s", append(args, orNone(code))...)
	m.Log(said)
	switch {
	case (code == "") != can:
		m.Fatalf("%s, want it done: %t", said, can)
	case hidden == 0 && code != docgen.CodeNotFound, hidden < 0 && code == docgen.CodeNotFound:
		m.Fatalf("%s, where what is not seen is not there", said)
	}
	return can
}

// must fails the test if an operation that is always allowed was rejected.
func (m *trial) must(err error, what string) {
	m.Helper()
	if code := m.code(err); code != "" {
		m.Fatalf("%s: %s", what, code)
	}
}

// code returns the code of a rejection; any other error fails the test.
func (m *trial) code(err error) docgen.Code {
	if err == nil {
		return ""
	}
	refused, ok := errors.AsType[*docgen.Error](err)
	if !ok {
		m.Fatal(err)
	}
	return refused.Code
}

func (m *trial) user() int    { return rapid.IntRange(0, people-1).Draw(m.T, "user") }
func (m *trial) text() string { return strings.Repeat("x", rapid.IntRange(0, 50).Draw(m.T, "size")) }
func (m *trial) name() string { return rapid.StringMatching("[a-gA-G]").Draw(m.T, "name") }

// keeper draws the actor for an operation that only the manager may perform.
func (m *trial) keeper() int {
	return rapid.SampledFrom([]int{manager, manager, manager, 0}).Draw(m.T, "user")
}

// actor draws the actor for an operation on a thing: mostly a user who may perform it, or who has fewer permissions.
func (m *trial) actor(n *thing, need docgen.Permissions) int {
	users := []int{manager, manager}
	for user := range manager {
		switch may := m.may(user, n); {
		case may.Can(need):
			users = append(users, user, user, user)
		case may != 0:
			users = append(users, user, user, user, user)
		}
	}
	return rapid.SampledFrom(append(users, m.user())).Draw(m.T, "actor")
}

// pick draws a thing of some sort. If there are none, the trial continues with another operation.
func (m *trial) pick(what string, sort func(*thing) bool) *thing {
	var some []*thing
	for _, n := range m.things {
		if sort(n) {
			some = append(some, n)
		}
	}
	if len(some) == 0 {
		m.Skip("no", what)
	}
	return rapid.SampledFrom(some).Draw(m.T, what)
}

// hasRoom reports whether things can be added: with each, the test takes longer.
func (m *trial) hasRoom(*thing) bool { return len(m.things) < 16 }

func isAny(*thing) bool       { return true }
func isFile(n *thing) bool    { return n.kind == docgen.File }
func isArchive(n *thing) bool { return n.parent == nil }

// folder draws a destination: mostly one that the user may use, preferably a deep one, and in an archive.
func (m *trial) folder(user int) *thing {
	all, open := []*thing{m.roots[user]}, []*thing{m.roots[user], m.roots[user]}
	for _, n := range m.things {
		if n.kind == docgen.Folder {
			all = append(all, n)
		}
		if n.kind == docgen.Folder && m.can(user, n, docgen.MayUpload) {
			open = append(open, slices.Repeat([]*thing{n}, len(n.chain()))...)
			if n.owner() == enterprise {
				open = append(open, n, n)
			}
		}
	}
	return rapid.SampledFrom(append(open, rapid.SampledFrom(all).Draw(m.T, "any folder"))).Draw(m.T, "folder")
}

// collaboration draws a shared thing and one of its collaborators.
func (m *trial) collaboration() (n *thing, with int) {
	n = m.pick("shared thing", func(n *thing) bool { return len(n.shares) > 0 })
	return n, rapid.SampledFrom(slices.Sorted(maps.Keys(n.shares))).Draw(m.T, "collaborator")
}

// lookAround sometimes lets a user read everything, which takes longer than an operation.
func (m *trial) lookAround() {
	if rapid.IntRange(0, 3).Draw(m.T, "look around") == 3 {
		m.see(m.user())
	}
}

// see compares everything that a user sees with the model: the items, the lists of folders, and the trash.
func (m *trial) see(user int) {
	m.seeFolder(user, m.roots[user])
	met, _ := m.listing(user, m.roots[user])
	m.same(fmt.Sprintf("the root folder of user %d by marker", user), m.items(user, m.roots[user]), met, 0, 0)
	for _, n := range m.things {
		m.seeThing(user, n)
		if n.kind == docgen.Folder && m.can(user, n, docgen.MaySee) {
			m.seeFolder(user, n)
		}
	}
	page, trash := m.trashed(user), m.trashOf(user)
	m.same(fmt.Sprintf("the trash of user %d", user), page.Entries, trash, page.Total, len(trash))
}

// trashed lists the trash of a user, without the items of earlier trials.
func (m *trial) trashed(user int) docgen.OffsetPage[docgen.Item] {
	page, err := m.w.TrashByOffset(m.Context(), m.callers[user], docgen.OffsetRequest{Limit: docgen.MaxPageLimit}, docgen.ItemOrder{By: "id"})
	m.must(err, "list the trash")
	all := len(page.Entries)
	page.Entries = slices.DeleteFunc(page.Entries, func(item docgen.Item) bool { return slices.Contains(m.old, item.ID) })
	page.Total -= all - len(page.Entries)
	return page
}

func (m *trial) get(user int, n *thing) (*docgen.Item, error) {
	if n.kind == docgen.File {
		return m.w.File(m.Context(), m.callers[user], n.id)
	}
	return m.w.Folder(m.Context(), m.callers[user], n.id)
}

// seeThing compares what a user sees of an item with the model.
func (m *trial) seeThing(user int, n *thing) {
	item, err := m.get(user, n)
	want := docgen.Code("")
	switch {
	case m.may(user, n) == 0:
		want = docgen.CodeNotFound
	case n.isGone():
		want = docgen.CodeTrashed
	}
	if code := m.code(err); code != want {
		m.Fatalf("user %d asks for %s: %s, want %s", user, n, orNone(code), orNone(want))
	}
	if err != nil {
		return
	}
	type view struct {
		name  string
		owner int
		size  int64
		may   docgen.Permissions
	}
	sees := view{strings.TrimSuffix(item.Name, m.suffix()), m.person(item.Owner.ID), item.Size, item.Permissions}
	if want := (view{n.name, n.owner(), m.sizeOf(n), m.may(user, n)}); sees != want {
		m.Fatalf("user %d sees of %s %+v, want %+v", user, n, sees, want)
	}
}

// person returns the person with an id; enterprise for the account of the archives.
func (m *trial) person(id int64) int {
	if id == m.account {
		return enterprise
	}
	return slices.IndexFunc(m.callers[:], func(c *docgen.Caller) bool { return c.User.ID == id })
}

// seeFolder compares what a user sees in a folder with the model.
func (m *trial) seeFolder(user int, folder *thing) {
	page, err := m.w.ItemsByOffset(m.Context(), m.callers[user], folder.id, docgen.OffsetRequest{Limit: docgen.MaxPageLimit},
		docgen.ItemOrder{By: "name"})
	m.must(err, "list a folder")
	met, total := m.listing(user, folder)
	m.same(fmt.Sprintf("%s for user %d", folder, user), page.Entries, met, page.Total, total)
}

// same compares a list and its total with the model.
func (m *trial) same(list string, items []docgen.Item, things []*thing, total, wantTotal int) {
	var got, want []string
	for _, item := range items {
		path := "no thing called " + item.Name
		for _, n := range m.things {
			if n.id == item.ID {
				path = n.String()
			}
		}
		got = append(got, path)
	}
	for _, n := range things {
		want = append(want, n.String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || total != wantTotal {
		m.Fatalf("%s holds %q of %d, want %q of %d", list, got, total, want, wantTotal)
	}
}

// items lists the items of a folder by marker.
func (m *trial) items(user int, folder *thing) []docgen.Item {
	page, err := m.w.Items(m.Context(), m.callers[user], folder.id, docgen.PageRequest{Limit: docgen.MaxPageLimit})
	m.must(err, "list a folder")
	return page.Entries
}
