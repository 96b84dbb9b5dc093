package docgen_test

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"platen/docgen"
)

// The operations of the people of a model. Each performs the operation with the service, compares the outcome with the
// model, and performs it in the model.

func (m *trial) create() {
	if !m.hasRoom(nil) {
		m.Skip("no room")
	}
	user, name, text, ctx := m.user(), m.name(), m.text(), m.Context()
	kind, folder := rapid.SampledFrom([]docgen.Kind{docgen.Folder, docgen.File}).Draw(m.T, "kind"), m.folder(user)
	var item *docgen.Item
	var err error
	if kind == docgen.Folder {
		item, err = m.w.CreateFolder(ctx, m.callers[user], docgen.NewFolder{Name: name, ParentID: folder.id})
	} else {
		item, err = m.w.CreateFile(ctx, m.callers[user], docgen.NewFile{Name: name, ParentID: folder.id}, reader(text))
	}
	if m.did(user, err, m.can(user, folder, docgen.MayUpload) && m.isFree(nil, name, folder), "makes "+name+" in %s", folder) {
		n := m.add(kind, item.ID, name, folder)
		if kind == docgen.File {
			n.versions = []version{{item.VersionID, name, int64(len(text))}}
		}
	}
}

func (m *trial) version() {
	n, text := m.pick("file", isFile), m.text()
	user := m.actor(n, docgen.MayEdit)
	item, err := m.w.CreateVersion(m.Context(), m.callers[user], docgen.NewVersion{FileID: n.id}, reader(text))
	if m.did(user, err, m.can(user, n, docgen.MayEdit), "writes %s", n) {
		n.versions = append(n.versions, version{item.VersionID, n.name, int64(len(text))})
	}
}

func (m *trial) promote() {
	n := m.pick("file", isFile)
	user, old := m.actor(n, docgen.MayEdit), rapid.SampledFrom(n.versions).Draw(m.T, "version")
	made, err := m.w.PromoteVersion(m.Context(), m.callers[user], n.id, old.id)
	if m.did(user, err, m.can(user, n, docgen.MayEdit) && m.isFree(n, old.name, n.parent), "makes "+old.name+" of %s current again", n) {
		n.name = old.name
		n.versions = append(n.versions, version{made.ID, old.name, old.size})
	}
}

// update renames or moves a thing.
func (m *trial) update(user int, n *thing, change docgen.ItemChange) error {
	update := m.w.UpdateFolder
	if n.kind == docgen.File {
		update = m.w.UpdateFile
	}
	_, err := update(m.Context(), m.callers[user], n.id, change)
	return err
}

func (m *trial) rename() {
	n, name := m.pick("thing", isAny), m.name()
	user := m.actor(n, docgen.MayEdit)
	err := m.update(user, n, docgen.ItemChange{Name: &name})
	if m.did(user, err, !isArchive(n) && m.can(user, n, docgen.MayEdit) && m.isFree(n, name, n.parent), "calls %s "+name, n) {
		n.name = name
	}
}

func (m *trial) move() {
	n := m.pick("thing", isAny)
	user := m.actor(n, docgen.MayEdit)
	folder := m.folder(user)
	err := m.update(user, n, docgen.ItemChange{ParentID: &folder.id})
	can := !isArchive(n) && m.can(user, n, docgen.MayEdit) && m.canGo(user, n, folder) && !folder.isBelow(n)
	if m.did(user, err, can, "moves %s into %s", n, folder) {
		m.put(n, folder)
	}
}

func (m *trial) copy() {
	n := m.pick("thing", m.hasRoom)
	user, name := m.actor(n, docgen.MayDownload), m.name()
	folder := m.folder(user)
	copyItem := m.w.CopyFolder
	if n.kind == docgen.File {
		copyItem = m.w.CopyFile
	}
	item, err := copyItem(m.Context(), m.callers[user], docgen.NewCopy{ItemID: n.id, ParentID: folder.id, Name: name})
	can := m.can(user, n, docgen.MayDownload) && m.can(user, folder, docgen.MayUpload) && m.isFree(nil, name, folder) && !folder.isBelow(n)
	if m.did(user, err, can, "copies %s as "+name+" into %s", n, folder) {
		m.copied(n, m.add(n.kind, item.ID, name, folder), *item)
	}
}

// copied adds the items in a copy: the current versions, without the trash.
func (m *trial) copied(from, to *thing, item docgen.Item) {
	if from.kind == docgen.File {
		to.versions = []version{{item.VersionID, to.name, from.current().size}}
		return
	}
	copies := map[string]docgen.Item{}
	for _, item := range m.items(manager, to) {
		copies[item.Name] = item
	}
	met, _ := m.listing(manager, from)
	for _, n := range met {
		if n != to {
			m.copied(n, m.add(n.kind, copies[n.name].ID, n.name, to), copies[n.name])
		}
	}
}

func (m *trial) share() {
	n, with, role := m.pick("thing", isAny), m.user(), m.drawRole()
	user := m.actor(n, docgen.MayInvite)
	made, err := m.w.CreateCollaboration(m.Context(), m.callers[user],
		docgen.NewCollaboration{ItemKind: n.kind, ItemID: n.id, UserID: m.callers[with].User.ID, Role: role})
	can := m.can(user, n, docgen.MayInvite|modelRoles[role]) && n.owner() != enterprise && n.owner() != with && !n.isSharedWith(with)
	if m.did(user, err, can, fmt.Sprintf("makes user %d %s of %%s", with, role), n) {
		n.shares[with] = share{made.ID, role}
	}
}

func (m *trial) drawRole() docgen.Role {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(modelRoles))).Draw(m.T, "role")
}

func (m *trial) role() {
	n, with := m.collaboration()
	user, role := m.actor(n, docgen.MayManage), m.drawRole()
	_, err := m.w.UpdateCollaboration(m.Context(), m.callers[user], n.shares[with].id, docgen.CollaborationChange{Role: role})
	can := m.can(user, n, docgen.MayManage|modelRoles[role])
	if m.did(user, err, can, fmt.Sprintf("makes user %d %s instead of %%s", with, role), n) {
		n.shares[with] = share{n.shares[with].id, role}
	}
}

func (m *trial) unshare() {
	n, with := m.collaboration()
	user := m.actor(n, docgen.MayManage)
	err := m.w.DeleteCollaboration(m.Context(), m.callers[user], n.shares[with].id)
	can := !n.isGone() && (user == with || m.can(user, n, docgen.MayManage))
	if m.did(user, err, can, fmt.Sprintf("takes %%s from user %d", with), n) {
		delete(n.shares, with)
	}
}

func (m *trial) give() {
	n, newOwner := m.collaboration()
	user, before, root := m.actor(n, docgen.MayOwn), n.owner(), m.roots[newOwner]
	_, err := m.w.UpdateCollaboration(m.Context(), m.callers[user], n.shares[newOwner].id, docgen.CollaborationChange{Role: docgen.RoleOwner})
	can := m.can(user, n, docgen.MayOwn|docgen.MayEdit) && m.can(newOwner, root, docgen.MayUpload)
	if !m.did(user, err, can, fmt.Sprintf("gives %%s to user %d", newOwner), n) {
		return
	}
	if !m.isFree(n, n.name, root) {
		n.name = m.newName(n, root)
	}
	m.put(n, root)
	n.shares[before] = share{m.collaborationOf(n, before), docgen.RoleCoOwner}
}

// collaborationOf returns the collaboration of a user on an item.
func (m *trial) collaborationOf(n *thing, user int) int64 {
	page, err := m.w.Collaborations(m.Context(), m.callers[manager], n.kind, n.id, docgen.PageRequest{})
	m.must(err, "list who collaborates")
	i := slices.IndexFunc(page.Entries, func(one docgen.Collaboration) bool { return one.User.ID == m.callers[user].User.ID })
	if i < 0 {
		m.Fatalf("user %d does not collaborate on %s", user, n)
	}
	return page.Entries[i].ID
}

// newName returns the name that a thing gets if its name is taken in a folder.
func (m *trial) newName(n, folder *thing) string {
	item, err := m.get(manager, n)
	m.must(err, "read a thing")
	if !m.isFree(n, item.Name, folder) {
		m.Fatalf("%s is called %s in %s", n, item.Name, folder)
	}
	return item.Name
}

func (m *trial) trash() {
	above := rapid.Bool().Draw(m.T, "above") // above something that is in the trash, which then cannot go home
	n := m.pick("thing", func(n *thing) bool {
		return !above || slices.ContainsFunc(m.things, func(one *thing) bool { return one.parent == n && one.trashed })
	})
	user := m.actor(n, docgen.MayDelete)
	var err error
	if n.kind == docgen.File {
		err = m.w.TrashFile(m.Context(), m.callers[user], n.id, "")
	} else {
		err = m.w.TrashFolder(m.Context(), m.callers[user], n.id, true, "")
	}
	if m.did(user, err, !isArchive(n) && m.can(user, n, docgen.MayDelete), "trashes %s", n) {
		n.trashed = true
	}
}

func (m *trial) restore() {
	home := rapid.Bool().Draw(m.T, "home") // to where it lay, if that is not in the trash
	n := m.pick("trashed thing", func(n *thing) bool { return n.trashed && (home || n.parent.isGone()) })
	user := m.actor(n, docgen.MayDelete)
	folder := m.folder(user)
	_, err := m.w.Restore(m.Context(), m.callers[user], n.kind, n.id, docgen.Restoration{ParentID: &folder.id})
	can := n.trashed && m.may(user, n).Can(docgen.MayDelete)
	if !n.parent.isGone() {
		folder = n.parent
		can = can && m.isFree(n, n.name, folder)
	} else {
		can = can && m.canGo(user, n, folder)
	}
	if m.did(user, err, can, "restores %s to %s", n, folder) {
		n.trashed = false
		m.put(n, folder)
	}
}

func (m *trial) purge() {
	n := m.pick("trashed thing", (*thing).isGone)
	user := m.actor(n, docgen.MayOwn)
	err := m.w.Purge(m.Context(), m.callers[user], n.kind, n.id)
	if m.did(user, err, n.trashed && m.may(user, n).Can(docgen.MayOwn|docgen.MayDelete), "purges %s", n) {
		m.remove(n)
	}
}

// archive creates an archive. Names in other trials end in a different word.
func (m *trial) archive() {
	user, name := m.keeper(), rapid.StringMatching("archive [a-cA-C]").Draw(m.T, "name")
	made, err := m.w.CreateArchive(m.Context(), m.callers[user], docgen.NewArchive{Name: name + m.suffix()})
	can := user == manager && m.isFree(nil, name, nil)
	if m.did(user, err, can, "makes "+name) {
		m.add(docgen.Folder, made.ID, name, nil).root = enterprise
		m.account = made.OwnerID
	}
}

func (m *trial) suffix() string { return fmt.Sprint(" ", m.number) }

func (m *trial) deleteArchive() {
	n := m.pick("archive", isArchive)
	user := m.keeper()
	held, _ := m.listing(manager, n)
	err := m.w.DeleteArchive(m.Context(), m.callers[user], n.id)
	if m.did(user, err, user == manager && len(held) == 0, "deletes an archive") {
		m.remove(n)
	}
}

func (m *trial) transfer() {
	user, from, to := m.keeper(), m.user(), m.user()
	item, err := m.w.TransferContent(m.Context(), m.callers[user], m.callers[from].User.ID, m.callers[to].User.ID)
	if !m.did(user, err, user == manager && from != to, fmt.Sprintf("transfers from %d to %d", from, to)) {
		return
	}
	if !m.isFree(nil, item.Name, m.roots[to]) {
		m.Fatalf("the folder of what was transferred is called %s", item.Name)
	}
	folder := m.add(docgen.Folder, item.ID, item.Name, m.roots[to])
	for _, n := range m.things {
		if n.parent == m.roots[from] {
			m.put(n, folder)
		}
	}
}

func (m *trial) setStatus() {
	user := rapid.IntRange(0, manager-1).Draw(m.T, "user")
	status := docgen.StatusActive
	if m.status[user] == status {
		status = rapid.SampledFrom([]string{docgen.StatusCannotDelete, docgen.StatusCannotDeleteUpload}).Draw(m.T, "status")
	}
	_, err := m.w.UpdateUser(m.Context(), m.callers[manager], m.callers[user].User.ID, docgen.UserChange{Status: &status})
	m.must(err, "set a status")
	m.enter(user, status)
}
