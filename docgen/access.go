package docgen

import (
	"context"

	"platen/store"
)

// Permissions is a set of the things one may do with an item.
type Permissions uint16

// The permissions.
const (
	MaySee      Permissions = 1 << iota // know that it is there: its name, and what a folder holds
	MayPreview                          // look at the content
	MayDownload                         // take the content away, or make documents from it
	MayUpload                           // put files and folders into it
	MayEdit                             // rename, describe, move, add a version
	MayDelete                           // put into the trash
	MayInvite                           // let others collaborate
	MayManage                           // change and end the collaborations of others
	MayOwn                              // everything else
)

// Can tells whether all of the permissions are in the set.
func (p Permissions) Can(all Permissions) bool { return p&all == all }

// Role is what a collaboration makes of a user on an item and on all that lies below it.
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

// ownerPermissions is what the owner of an item, or of a folder above it, may do.
const ownerPermissions = MayOwn<<1 - 1

// rolePermissions is the one table of what a role may do.
var rolePermissions = map[Role]Permissions{
	RolePreviewer:         MaySee | MayPreview,
	RoleViewer:            MaySee | MayPreview | MayDownload,
	RoleUploader:          MaySee | MayUpload,
	RolePreviewerUploader: MaySee | MayPreview | MayUpload,
	RoleViewerUploader:    MaySee | MayPreview | MayDownload | MayUpload,
	RoleEditor:            MaySee | MayPreview | MayDownload | MayUpload | MayEdit | MayDelete | MayInvite,
	RoleCoOwner:           ownerPermissions &^ MayOwn,
}

// restrictions is what the status of a user takes away, of the user's own items too.
var restrictions = map[string]Permissions{
	StatusCannotDelete:       MayEdit | MayDelete,
	StatusCannotDeleteUpload: MayEdit | MayDelete | MayUpload,
}

// place is an item where it lies, with what a caller may do there.
type place struct {
	row     store.Item
	chain   []store.ItemChainRow // the item first, then the folders above it up to a root folder
	archive *store.Item          // that it lies in, or is; nil for what is a user's
	may     Permissions
}

// tree is the id of the topmost folder whose content belongs together: an archive, or a user's root folder.
func (p place) tree() int64 {
	if p.archive != nil {
		return p.archive.ID
	}
	return p.chain[len(p.chain)-1].Item.ID
}

// isArchive tells an archive from the folders that users make.
func (p place) isArchive() bool { return p.archive != nil && p.archive.ID == p.row.ID }

// find returns an item of a kind for a caller who wants to do something with it. This is the one access check: what the
// caller may not see is not found, what is in the trash says so, and what the caller may see but not do is forbidden.
// Folder 0 is the caller's root folder.
func (s *Service) find(ctx context.Context, q *store.Queries, c *Caller, kind Kind, id int64, need Permissions) (place, error) {
	rowID := id
	if kind == Folder && id == rootID {
		rowID = c.rootID
	}
	chain, err := q.ItemChain(ctx, rowID, c.User.ID, s.micros())
	if err != nil {
		return place{}, err
	}
	p := place{chain: chain}
	for _, link := range chain {
		p.may |= permissionsAt(link, c)
	}
	p.may &^= restrictions[c.User.Status]
	if len(chain) == 0 || Kind(chain[0].Item.Kind) != kind || !p.may.Can(MaySee) || rowID == s.enterprise.rootID {
		return place{}, NotFound(kind.String(), id)
	}
	p.row = chain[0].Item
	top := chain[len(chain)-1].Item
	if top.ID == s.enterprise.rootID {
		p.archive = &chain[len(chain)-2].Item
	}
	if top.ParentID.Valid { // more folders than a chain reads: what is above is unknown
		return place{}, Invalid(invalidField(kind.String(), "%s %d lies below more folders than can be nested: move one of them up", kind, id))
	}
	for _, link := range chain {
		if link.Item.TrashedAt != 0 {
			return place{}, &Error{Code: CodeTrashed, Message: "Item is trashed", Problems: []Problem{
				invalidField(kind.String(), "%s %d is in the trash, or lies in a folder that is", kind, id),
			}}
		}
	}
	if !p.may.Can(need) {
		return place{}, failf(CodeForbidden, "Access denied – insufficient permission on %s %d.", kind, id)
	}
	return p, nil
}

// permissionsAt is what a caller may do because of one item alone. Who manages the content of the enterprise may do
// everything, like its owner.
func permissionsAt(link store.ItemChainRow, c *Caller) Permissions {
	if link.Item.OwnerID == c.User.ID || c.has(ScopeGlobalContent) {
		return ownerPermissions
	}
	return rolePermissions[Role(link.Role)]
}
