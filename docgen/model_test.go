package docgen_test

import (
	"slices"
	"strings"

	"platen/docgen"
)

// The model for TestModel: trees of files and folders in memory, and a few rules for permissions and for the effects of
// operations. It maintains no sums, locks, or chains: it computes everything from the whole each time.

// The people of a model: three users, and one who manages the content of all users.
const (
	people     = 4
	manager    = 3
	enterprise = people // owns the archives, and performs no operations
)

// The permissions of roles.
const (
	reads   = docgen.MaySee | docgen.MayPreview | docgen.MayDownload
	edits   = reads | docgen.MayUpload | docgen.MayEdit | docgen.MayDelete | docgen.MayInvite
	manages = edits | docgen.MayManage
	owns    = manages | docgen.MayOwn
)

var modelRoles = map[docgen.Role]docgen.Permissions{
	docgen.RoleUploader: docgen.MaySee | docgen.MayUpload,
	docgen.RoleViewer:   reads,
	docgen.RoleEditor:   edits,
	docgen.RoleCoOwner:  manages,
}

// modelStatuses are the permissions that remain for each status of a user.
var modelStatuses = map[string]docgen.Permissions{
	docgen.StatusActive:             owns,
	docgen.StatusCannotDelete:       owns &^ (docgen.MayEdit | docgen.MayDelete),
	docgen.StatusCannotDeleteUpload: owns &^ (docgen.MayEdit | docgen.MayDelete | docgen.MayUpload),
}

// A thing is a file, a folder, an archive, or a user's root folder.
type thing struct {
	id       int64
	kind     docgen.Kind
	name     string
	parent   *thing // nil for an archive and for a root folder
	root     int    // of the people, the owner of the tree
	versions []version
	trashed  bool          // moved to the trash itself
	shares   map[int]share // by collaborator
}

// A version is the content of a file at one time. The last version is the current one.
type version struct {
	id   int64
	name string
	size int64
}

type share struct {
	id   int64
	role docgen.Role
}

// chain returns the thing and all folders above it.
func (n *thing) chain() (chain []*thing) {
	for ; n != nil; n = n.parent {
		chain = append(chain, n)
	}
	return chain
}

func (n *thing) top() *thing                { chain := n.chain(); return chain[len(chain)-1] }
func (n *thing) owner() int                 { return n.top().root }
func (n *thing) current() version           { return n.versions[len(n.versions)-1] }
func (n *thing) isBelow(above *thing) bool  { return slices.Contains(n.chain(), above) }
func (n *thing) isSharedWith(user int) bool { return n.shares[user].id != 0 }

// isGone reports whether the thing or a folder above it is in the trash.
func (n *thing) isGone() bool {
	return slices.ContainsFunc(n.chain(), func(above *thing) bool { return above.trashed })
}

// String returns the path of the thing.
func (n *thing) String() string {
	if n.parent == nil {
		return n.name
	}
	return n.parent.String() + "/" + n.name
}

// GoString returns the text that a failed test shows for a drawn thing.
func (n *thing) GoString() string { return n.String() }

// forest has the items of all users.
type forest struct {
	roots  [people]*thing
	things []*thing // without the root folders
	status [people]string
}

// add adds a new thing to a folder.
func (f *forest) add(kind docgen.Kind, id int64, name string, parent *thing) *thing {
	n := &thing{id: id, kind: kind, name: name, parent: parent, shares: map[int]share{}}
	f.things = append(f.things, n)
	return n
}

// may returns the permissions of a user for an item: all of them for its owner and for the manager, and otherwise those of the roles on
// the item and on the folders above it, without those that the status forbids.
func (f *forest) may(user int, n *thing) (may docgen.Permissions) {
	for _, above := range n.chain() {
		may |= modelRoles[above.shares[user].role]
	}
	if user == manager || user == n.owner() {
		may = owns
	}
	return may & modelStatuses[f.status[user]]
}

// can reports whether a user has a permission for an item that is not in the trash.
func (f *forest) can(user int, n *thing, need docgen.Permissions) bool {
	return f.may(user, n).Can(need) && !n.isGone()
}

// isFree reports whether a thing, or a new one, may have a name in a folder.
func (f *forest) isFree(n *thing, name string, folder *thing) bool {
	return !slices.ContainsFunc(f.things, func(one *thing) bool {
		return one != n && one.parent == folder && !one.trashed && strings.EqualFold(one.name, name)
	})
}

// canGo reports whether a user may move an item into a folder. Only its owner may move it into the tree of another owner.
func (f *forest) canGo(user int, n, folder *thing) bool {
	return f.can(user, folder, docgen.MayUpload) && f.isFree(n, n.name, folder) &&
		(n.owner() == folder.owner() || f.may(user, n).Can(docgen.MayOwn))
}

// put moves a thing into a folder. Users do not collaborate on their own items, nor in an archive.
func (f *forest) put(n, folder *thing) {
	n.parent = folder
	for _, one := range f.below(n) {
		delete(one.shares, folder.owner())
		if folder.owner() == enterprise {
			clear(one.shares)
		}
	}
}

// below returns an item and all items in its tree.
func (f *forest) below(n *thing) (below []*thing) {
	for _, one := range f.things {
		if one.isBelow(n) {
			below = append(below, one)
		}
	}
	return below
}

// remove deletes a thing permanently.
func (f *forest) remove(n *thing) {
	below := f.below(n)
	f.things = slices.DeleteFunc(f.things, func(one *thing) bool { return slices.Contains(below, one) })
}

// sizeOf returns the size that a thing reports: for a file, that of its content; for an archive, that of its files
// outside the trash; for any other folder, 0.
func (f *forest) sizeOf(n *thing) (size int64) {
	switch {
	case n.kind == docgen.File:
		return n.current().size
	case n.parent != nil:
		return 0
	}
	for _, one := range f.below(n) {
		if one.kind == docgen.File && !one.isGone() {
			size += one.current().size
		}
	}
	return size
}

// listing returns the items that a user sees in a folder, and the total of the list. The root folder also has the items that others
// share: they count unless they were trashed themselves, and are listed unless the user sees them in a folder above.
func (f *forest) listing(user int, folder *thing) (met []*thing, total int) {
	for _, n := range f.things {
		shared := folder == f.roots[user] && n.isSharedWith(user)
		if n.trashed || n.parent != folder && !shared {
			continue
		}
		total++
		if !n.isGone() && !(shared && slices.ContainsFunc(n.parent.chain(), func(above *thing) bool { return above.isSharedWith(user) })) {
			met = append(met, n)
		}
	}
	return met, total
}

// trashOf returns the items of a user that were put into the trash themselves. The manager also has those of archives.
func (f *forest) trashOf(user int) (trash []*thing) {
	for _, n := range f.things {
		if n.trashed && (n.owner() == user || user == manager && n.owner() == enterprise) {
			trash = append(trash, n)
		}
	}
	return trash
}
