package docgen

import (
	"context"
	"fmt"
	"slices"

	"platen/store"
)

// Permissions is a set of things that a user may do with an item.
type Permissions uint16

// The permissions.
const (
	MaySee      Permissions = 1 << iota // see its name, and the content of a folder
	MayPreview                          // view the content
	MayDownload                         // download the content, or generate documents from it
	MayUpload                           // create files and folders in it
	MayEdit                             // rename, describe, and move it, and add versions
	MayDelete                           // move it to the trash
	MayInvite                           // add collaborators
	MayManage                           // change and remove the collaborations of others
	MayOwn                              // anything else that the owner may do
)

// MayShare is the permission to create, change, and remove the shared link of an item: a link invites anyone who has its URL.
const MayShare = MayInvite

// Can reports whether the set contains all of the given permissions.
func (p Permissions) Can(all Permissions) bool { return p&all == all }

// Role is the role that a collaboration gives to a user on an item and on everything in it.
type Role string

// The roles of collaborators.
const (
	RoleEditor            Role = "editor"
	RoleViewer            Role = "viewer"
	RolePreviewer         Role = "previewer"
	RoleUploader          Role = "uploader"
	RolePreviewerUploader Role = "previewer uploader"
	RoleViewerUploader    Role = "viewer uploader"
	RoleCoOwner           Role = "co-owner"
)

// RoleOwner is not a role that a collaborator can have. Changing a collaboration to it makes the collaborator the owner
// of the item.
const RoleOwner Role = "owner"

// ownerPermissions are the permissions of the owner of an item, or of a folder above it.
const ownerPermissions = MayOwn<<1 - 1

// rolePermissions has the permissions of every role. No other code decides them.
var rolePermissions = map[Role]Permissions{
	RolePreviewer:         MaySee | MayPreview,
	RoleViewer:            MaySee | MayPreview | MayDownload,
	RoleUploader:          MaySee | MayUpload,
	RolePreviewerUploader: MaySee | MayPreview | MayUpload,
	RoleViewerUploader:    MaySee | MayPreview | MayDownload | MayUpload,
	RoleEditor:            MaySee | MayPreview | MayDownload | MayUpload | MayEdit | MayDelete | MayInvite,
	RoleCoOwner:           ownerPermissions &^ MayOwn,
}

// Invitees returns the roles that a user with the permissions may give to others, sorted by name.
func (p Permissions) Invitees() []Role {
	roles := []Role{}
	for role, may := range rolePermissions {
		if p.Can(MayInvite | may) {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return roles
}

// restrictions are the permissions that users with a status lose, also on their own items.
var restrictions = map[string]Permissions{
	StatusCannotDelete:       MayEdit | MayDelete,
	StatusCannotDeleteUpload: MayEdit | MayDelete | MayUpload,
}

// place is an item with the folders above it, and the permissions of a caller.
type place struct {
	row     store.Item
	chain   []store.ItemChainRow // the item first, then the folders above it up to a root folder
	archive *store.Item          // the archive that contains the item or is the item; nil outside archives
	may     Permissions
	via     linkGrant // what the shared link adds that the caller uses
}

// linkGrant is what a shared link permits on an item and on everything below it.
type linkGrant struct {
	itemID int64 // 0 for none
	may    Permissions
}

// at returns the permissions of a caller that result from one item in the chain of a place, without those from folders above it.
func (p place) at(link store.ItemChainRow, c *Caller) Permissions {
	may := permissionsAt(link, c)
	if link.Item.ID == p.via.itemID {
		may |= p.via.may
	}
	return may
}

// without returns the permissions of the caller who found a place, as they are without a shared link.
func (p place) without(c *Caller) Permissions {
	var may Permissions
	for _, link := range p.chain {
		may |= permissionsAt(link, c)
	}
	return may &^ restrictions[c.User.Status]
}

// tree returns the id of the topmost folder with the same owner: an archive, or a user's root folder.
func (p place) tree() int64 {
	if p.archive != nil {
		return p.archive.ID
	}
	return p.chain[len(p.chain)-1].Item.ID
}

// above returns the parent folder of an item. The item must be neither a root folder nor an archive.
func (p place) above() place {
	return place{row: p.chain[1].Item, chain: p.chain[1:], archive: p.archive}
}

// child returns the place of an item that was added to a folder.
func (p place) child(kind Kind, id int64) place {
	row := store.Item{Kind: int64(kind), ID: id}
	return place{row: row, chain: append([]store.ItemChainRow{{Item: row}}, p.chain...), archive: p.archive}
}

// placeAt returns the place of an item without checking permissions, or an empty place if it does not exist.
func (s *Service) placeAt(ctx context.Context, q *store.Queries, kind Kind, id int64) (place, error) {
	chain, err := q.ItemChain(ctx, id, 0, 0)
	p := s.placeOf(chain)
	p.row.Kind, p.row.ID = int64(kind), id
	return p, err
}

// standing is like placeAt, but an item that has been deleted permanently is not found.
func (s *Service) standing(ctx context.Context, q *store.Queries, kind Kind, id int64) (place, error) {
	p, err := s.placeAt(ctx, q, kind, id)
	if err == nil && len(p.chain) == 0 {
		err = NotFound(kind.String(), id)
	}
	return p, err
}

// policy returns the storage policy of the contents in a place.
func (p place) policy() int64 {
	if p.archive == nil {
		return defaultPolicyID
	}
	return p.archive.StoragePolicyID
}

// isArchive reports whether the item is an archive, not a folder created by a user.
func (p place) isArchive() bool { return p.archive != nil && p.archive.ID == p.row.ID }

// find returns an item of a kind for a caller who needs some permissions. This is the only access check. The Error has CodeNotFound for
// items that the caller may not see, another code for items in the trash, and CodeForbidden if the caller sees the item but lacks a
// permission. Folder 0 is the caller's root folder. If the caller uses a shared link, its permissions are added.
func (s *Service) find(ctx context.Context, q *store.Queries, c *Caller, kind Kind, id int64, need Permissions) (place, error) {
	return s.findWhere(ctx, q, c, kind, id, need, place.active)
}

// findTrashed is find for an item that was moved to the trash itself. It does not find items inside a trashed folder,
// which are restored with the folder.
func (s *Service) findTrashed(ctx context.Context, q *store.Queries, c *Caller, kind Kind, id int64, need Permissions) (place, error) {
	return s.findWhere(ctx, q, c, kind, id, need, place.inTrash)
}

// findWhere is like find, with the additional check of the item.
func (s *Service) findWhere(ctx context.Context, q *store.Queries, c *Caller, kind Kind, id int64, need Permissions,
	check func(p place, kind Kind, id int64) error,
) (place, error) {
	rowID := id
	if kind == Folder && id == rootID {
		rowID = c.rootID
	}
	chain, err := q.ItemChain(ctx, rowID, c.User.ID, s.micros())
	if err != nil {
		return place{}, err
	}
	p := s.placeOf(chain)
	if p.via, err = s.linkedGrant(ctx, q, c, p); err != nil {
		return place{}, err
	}
	for _, link := range chain {
		p.may |= p.at(link, c)
	}
	p.may &^= restrictions[c.User.Status]
	if len(chain) == 0 || Kind(chain[0].Item.Kind) != kind || !p.may.Can(MaySee) || rowID == s.enterprise.rootID || removedAny(chain) {
		return place{}, NotFound(kind.String(), id)
	}
	if chain[len(chain)-1].Item.ParentID.Valid { // there are more folders than a chain reads
		return place{}, Invalid(invalidField(kind.String(), "%s %d is nested in too many folders: move one of them up", kind, id))
	}
	if err := check(p, kind, id); err != nil {
		return place{}, err
	}
	if !p.may.Can(need) {
		return place{}, failf(CodeForbidden, "Access denied – insufficient permission on %s %d.", kind, id)
	}
	return p, nil
}

// active returns an Error if the item is in the trash.
func (p place) active(kind Kind, id int64) error {
	if !trashedAny(p.chain) {
		return nil
	}
	return &Error{Code: CodeTrashed, Message: "Item is trashed", Problems: []Problem{
		invalidField(kind.String(), "%s %d is in the trash, or in a folder that is", kind, id),
	}}
}

// inTrash returns an Error unless the item itself was moved to the trash.
func (p place) inTrash(kind Kind, id int64) error {
	if p.row.TrashedAt != 0 {
		return nil
	}
	why := fmt.Sprintf("%s %d is not in the trash", kind, id)
	if trashedAny(p.chain) {
		why = fmt.Sprintf("%s %d is in a trashed folder, but not in the trash itself: restore the folder", kind, id)
	}
	return &Error{Code: CodeNotTrashed, Message: "Item is not trashed", Problems: []Problem{invalidField(kind.String(), "%s", why)}}
}

// trashedAny reports whether any item of a chain is in the trash.
func trashedAny(chain []store.ItemChainRow) bool {
	return slices.ContainsFunc(chain, func(link store.ItemChainRow) bool { return link.Item.TrashedAt != 0 })
}

// removedAny reports whether any item of a chain is being deleted permanently.
func removedAny(chain []store.ItemChainRow) bool {
	return slices.ContainsFunc(chain, func(link store.ItemChainRow) bool { return link.Item.TrashedAt == store.Removed })
}

// placeOf returns the place of an item, given its chain, without the permissions of a caller.
func (s *Service) placeOf(chain []store.ItemChainRow) place {
	p := place{chain: chain}
	if len(chain) > 0 {
		p.row = chain[0].Item
	}
	if len(chain) > 1 && chain[len(chain)-1].Item.ID == s.enterprise.rootID {
		p.archive = &chain[len(chain)-2].Item
	}
	return p
}

// policyAt returns the storage policy for content in a folder, or the default policy if the folder no longer exists.
func (s *Service) policyAt(ctx context.Context, q *store.Queries, folderID int64) (int64, error) {
	if len(s.policies) == 1 {
		return defaultPolicyID, nil
	}
	p, err := s.placeAt(ctx, q, Folder, folderID)
	return p.policy(), err
}

// permissionsAt returns the permissions of a caller that result from one item, without those from folders above it and from a shared
// link. Callers who manage the content of the enterprise have the permissions of its owner.
func permissionsAt(link store.ItemChainRow, c *Caller) Permissions {
	if link.Item.OwnerID == c.User.ID || c.has(ScopeGlobalContent) {
		return ownerPermissions
	}
	return rolePermissions[Role(link.Role)]
}
