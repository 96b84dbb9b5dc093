package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

type folder struct {
	Type              string               `json:"type" enum:"folder" fields:"mini"`
	ID                ID                   `json:"id" fields:"mini"`
	ETag              *string              `json:"etag" fields:"mini" doc:"Changes with every change of the folder; null for the root folder."`
	SequenceID        *string              `json:"sequence_id" fields:"mini"`
	Name              string               `json:"name" fields:"mini"`
	Description       string               `json:"description"`
	Size              int64                `json:"size" doc:"Size of all files in an archive, in bytes; 0 for any other folder."`
	PathCollection    pathCollection       `json:"path_collection"`
	CreatedAt         timestamp            `json:"created_at"`
	ModifiedAt        timestamp            `json:"modified_at"`
	TrashedAt         timestamp            `json:"trashed_at"`
	PurgedAt          timestamp            `json:"purged_at"`
	ContentCreatedAt  timestamp            `json:"content_created_at"`
	ContentModifiedAt timestamp            `json:"content_modified_at"`
	CreatedBy         userMini             `json:"created_by"`
	ModifiedBy        userMini             `json:"modified_by"`
	OwnedBy           userMini             `json:"owned_by"`
	SharedLink        optional[sharedLink] `json:"shared_link" doc:"Null if there is none, or if you may not do what it permits."`
	Parent            optional[folderMini] `json:"parent" doc:"Null for the root folder."`
	ItemStatus        string               `json:"item_status" enum:"active,trashed"`
	ItemCollection    *itemPage            `json:"item_collection,omitempty" doc:"The first page of items in the folder."`
	Permissions       *folderPermissions   `json:"permissions,omitempty" fields:"asked" doc:"What the caller may do with the folder."`
	InviteeRoles      []docgen.Role        `json:"allowed_invitee_roles,omitempty" fields:"asked" doc:"The roles that the caller may assign to collaborators."`
	Tags              []string             `json:"tags,omitempty" fields:"asked" doc:"Always empty."`
	UploadEmail       null                 `json:"folder_upload_email" fields:"asked" doc:"Always null."`
	NonOwnersInvite   bool                 `json:"can_non_owners_invite,omitempty" fields:"asked" doc:"Always true: editors and co-owners may invite."`
	IsExternallyOwned bool                 `json:"is_externally_owned,omitempty" fields:"asked" doc:"Always false."`
	IsShared          bool                 `json:"is_accessible_via_shared_link,omitempty" fields:"asked" doc:"Whether the folder has a shared link, as far as you may see it."`
	HasCollaborations bool                 `json:"has_collaborations,omitempty" fields:"asked" doc:"Always false. List the collaborations instead."`
	Watermark         watermark            `json:"watermark_info,omitzero" fields:"asked"`
	Metadata          null                 `json:"metadata" fields:"asked" doc:"Always null."`
	Classification    null                 `json:"classification" fields:"asked" doc:"Always null."`
	SyncState         string               `json:"sync_state,omitempty" enum:"not_synced" fields:"asked"`
	LinkLevels        []string             `json:"allowed_shared_link_access_levels,omitempty" fields:"asked" doc:"The values of access that a shared link can have."`
	ViewCollaborators bool                 `json:"can_non_owners_view_collaborators,omitempty" fields:"asked" doc:"Always true."`
	IsRestricted      bool                 `json:"is_collaboration_restricted_to_enterprise,omitempty" fields:"asked" doc:"Always true."`
	IsAppItem         bool                 `json:"is_associated_with_app_item,omitempty" fields:"asked" doc:"Always false."`
}

type folderPermissions struct {
	CanDownload           bool `json:"can_download"`
	CanUpload             bool `json:"can_upload"`
	CanRename             bool `json:"can_rename"`
	CanDelete             bool `json:"can_delete"`
	CanInviteCollaborator bool `json:"can_invite_collaborator"`
	CanShare              bool `json:"can_share"`
	CanSetShareAccess     bool `json:"can_set_share_access"`
}

// folderOf encodes a folder, without its items.
func folderOf(item *docgen.Item) folder {
	f := listedFolder(item)
	f.PathCollection, f.Parent = pathOf(item), optionalOf(item.Parent, folderMiniOf)
	f.CreatedBy, f.ModifiedBy, f.OwnedBy = userMiniOf(&item.CreatedBy), userMiniOf(&item.ModifiedBy), userMiniOf(&item.Owner)
	f.Permissions, f.InviteeRoles = folderPermissionsOf(item.Permissions), item.Permissions.Invitees()
	f.Tags, f.LinkLevels, f.SyncState = []string{}, []string{"open", "company", "collaborators"}, "not_synced"
	f.SharedLink, f.IsShared = optionalOf(item.SharedLink, sharedLinkOf), item.SharedLink != nil
	f.NonOwnersInvite, f.ViewCollaborators, f.IsRestricted = true, true, true
	return f
}

// listedFolder encodes the fields of a folder that lists contain: see listedFields.
func listedFolder(item *docgen.Item) folder {
	mini := folderMiniOf(&docgen.FolderRef{ID: item.ID, ETag: item.ETag, Name: item.Name})
	return folder{
		Type: typeFolder, ID: ID(item.ID), ETag: mini.ETag, SequenceID: mini.SequenceID, Name: item.Name,
		Description: item.Description, Size: item.Size,
		CreatedAt: timestamp{item.CreatedAt}, ModifiedAt: timestamp{item.ModifiedAt}, TrashedAt: timestamp{item.TrashedAt},
		ContentCreatedAt: timestamp{item.ContentCreatedAt}, ContentModifiedAt: timestamp{item.ContentModifiedAt}, ItemStatus: statusOf(item),
	}
}

func folderPermissionsOf(may docgen.Permissions) *folderPermissions {
	return &folderPermissions{
		CanDownload: may.Can(docgen.MayDownload), CanUpload: may.Can(docgen.MayUpload), CanRename: may.Can(docgen.MayEdit),
		CanDelete: may.Can(docgen.MayDelete), CanInviteCollaborator: may.Can(docgen.MayInvite),
		CanShare: may.Can(docgen.MayShare), CanSetShareAccess: may.Can(docgen.MayShare),
	}
}

// itemPage is a page of the items in a folder, by offset.
type itemPage struct {
	TotalCount int         `json:"total_count" doc:"One more than the offset of the last item."`
	Entries    []entry     `json:"entries"`
	Offset     int         `json:"offset"`
	Limit      int         `json:"limit" doc:"The limit that was applied, at most the maximum."`
	Order      []sortOrder `json:"order"`
}

type sortOrder struct {
	By        string `json:"by" enum:"type,id,name,date,size"`
	Direction string `json:"direction" enum:"ASC,DESC"`
}

func itemPageOf(p docgen.OffsetPage[docgen.Item], order docgen.ItemOrder, fields selection) *itemPage {
	direction := "ASC"
	if order.Descending {
		direction = "DESC"
	}
	return &itemPage{
		TotalCount: p.Total, Offset: p.Offset, Limit: p.Limit,
		Entries: each(p.Entries, func(item *docgen.Item) entry { return entryOf(item, fields) }),
		Order:   []sortOrder{{By: "type", Direction: "ASC"}, {By: order.By, Direction: direction}},
	}
}

// ItemsQuery holds the parameters of a page of items by offset.
type ItemsQuery struct {
	OffsetQuery
	Sort      string `query:"sort" enum:"id,name,date,size" doc:"Sort key (default name). Folders always come before files."`
	Direction string `query:"direction" enum:"ASC,DESC" doc:"Sort direction (default ASC)."`
}

// firstItems requests the first page of items in a folder.
var firstItems = ItemsQuery{}

// itemsByOffset reads a page of items in a folder, by offset.
func (a *api) itemsByOffset(ctx context.Context, c *call, folderID int64, q ItemsQuery, fields selection) (*itemPage, error) {
	return q.page(fields, func(r docgen.OffsetRequest, order docgen.ItemOrder) (docgen.OffsetPage[docgen.Item], error) {
		return a.service.ItemsByOffset(ctx, c.caller, folderID, r, order)
	})
}

// page reads the requested page, by offset.
func (q ItemsQuery) page(fields selection, read func(docgen.OffsetRequest, docgen.ItemOrder) (docgen.OffsetPage[docgen.Item],
	error)) (*itemPage, error) {
	request, err := q.OffsetQuery.parse()
	if err != nil {
		return nil, err
	}
	order, err := docgen.ParseOrder(q.Sort, q.Direction)
	if err != nil {
		return nil, err
	}
	page, err := read(request, order)
	if err != nil {
		return nil, err
	}
	return itemPageOf(page, order, fields), nil
}

func folderReply(item *docgen.Item, items *itemPage, fields string) *itemReply[folder] {
	body := folderOf(item)
	body.ItemCollection = items
	return &itemReply[folder]{ETag: etagHeader(item.ETag), Body: view[folder]{value: body, fields: selectionOf(fields)}}
}

// describedFolder returns a folder with the requested page of its items.
func (a *api) describedFolder(ctx context.Context, c *call, item *docgen.Item, page ItemsQuery, fields string) (*itemReply[folder], error) {
	items, err := a.itemsByOffset(ctx, c, item.ID, page, nil)
	if err != nil {
		return nil, err
	}
	return folderReply(item, items, fields), nil
}

var docCreateFolder = doc{
	id: "create_folder", tag: tagFolders, scope: docgen.ScopeWrite,
	summary: "Create a folder",
	status:  http.StatusCreated,
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeForbidden, docgen.CodeNotFound,
		docgen.CodeTrashed, docgen.CodeNameInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body:    createFolderRequest{Name: "Invoices", Parent: parentRef{ID: 0}},
	example: view[folder]{value: exampleFolderObject()},
}

type createFolderRequest struct {
	Name   string    `json:"name" doc:"The name of the folder."`
	Parent parentRef `json:"parent" doc:"The parent folder."`
}

func (a *api) createFolder(ctx context.Context, c *call, in *FieldsQuery) (*itemReply[folder], error) {
	request, err := readBody[createFolderRequest](c)
	if err != nil {
		return nil, err
	}
	item, err := a.service.CreateFolder(ctx, c.caller, docgen.NewFolder{Name: request.Name, ParentID: int64(request.Parent.ID)})
	if err != nil {
		return nil, err
	}
	return a.describedFolder(ctx, c, item, firstItems, in.Fields)
}

var docGetFolder = doc{
	id: "get_folder", tag: tagFolders, scope: docgen.ScopeRead, link: true,
	summary:     "Get a folder",
	description: "item_collection holds the first page of its items, or the page that offset and limit select.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset, docgen.CodeNotFound, docgen.CodeTrashed},
	example:     view[folder]{value: exampleFolderObject()},
	also:        answersNotModified,
}

// GetFolderQuery holds the parameters of a request for a folder.
type GetFolderQuery struct {
	FolderPath
	FieldsQuery
	ItemsQuery
	LinkHeader
	IfNoneMatchHeader
}

func (a *api) getFolder(ctx context.Context, c *call, in *GetFolderQuery) (*itemReply[folder], error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	item, err := a.service.Folder(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	if in.matches(item.ETag) {
		return nil, notModified(etagHeader(item.ETag))
	}
	return a.describedFolder(ctx, c, item, in.ItemsQuery, in.Fields)
}

var docListItems = doc{
	id: "list_items", tag: tagFolders, scope: docgen.ScopeRead, link: true,
	summary: "List the items in a folder",
	description: "By offset, or by marker if usemarker is true. Folders come before files. Entries are in short form; use fields to add " +
		"size, version_number, and extension; shared_link is only in the response with a single item. The root folder, 0, " +
		"also contains the items that other users share with the caller.",
	errors:  []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset, docgen.CodeNotFound, docgen.CodeTrashed},
	example: exampleItems(),
}

// ListItemsQuery holds the parameters of a list of items.
type ListItemsQuery struct {
	FolderPath
	FieldsQuery
	ItemsQuery
	MarkerQuery
	LinkHeader
}

// MarkerQuery adds paging by marker to a list that is paged by offset by default.
type MarkerQuery struct {
	Marker    string    `query:"marker" doc:"With usemarker: the next_marker or prev_marker of another page. Omit it to get the first page." example:"AQDsz5a1"`
	UseMarker boolParam `query:"usemarker" doc:"Page by marker instead of by offset (default false). Required beyond offset 300000."`
}

// itemsReply is a page by offset or by marker.
type (
	itemsReply = reply[eitherPage]
	eitherPage = either[itemPage, markerPage[entry]]
)

func (a *api) listItems(ctx context.Context, c *call, in *ListItemsQuery) (*itemsReply, error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	fields := selectionOf(in.Fields)
	return listing(in.ItemsQuery, in.MarkerQuery, fields,
		func(r docgen.PageRequest) (docgen.Page[docgen.Item], error) {
			return a.service.Items(ctx, c.caller, id, r)
		},
		func(r docgen.OffsetRequest, order docgen.ItemOrder) (docgen.OffsetPage[docgen.Item], error) {
			return a.service.ItemsByOffset(ctx, c.caller, id, r, order)
		})
}

// listing returns the requested page of a list of items that supports both kinds of paging.
func listing(byOffset ItemsQuery, byMarker MarkerQuery, fields selection, after func(docgen.PageRequest) (docgen.Page[docgen.Item], error),
	at func(docgen.OffsetRequest, docgen.ItemOrder) (docgen.OffsetPage[docgen.Item], error),
) (*itemsReply, error) {
	use, err := byMarker.UseMarker.parse("usemarker")
	if err != nil {
		return nil, err
	}
	if !use {
		page, err := byOffset.page(fields, at)
		if err != nil {
			return nil, err
		}
		return &itemsReply{eitherPage{first: page}}, nil
	}
	request, err := docgen.ParsePage(string(byOffset.Limit), byMarker.Marker)
	if err != nil {
		return nil, err
	}
	page, err := after(request)
	if err != nil {
		return nil, err
	}
	encoded := pageOf(page, func(item *docgen.Item) entry { return entryOf(item, fields) })
	return &itemsReply{eitherPage{second: &encoded.Body}}, nil
}

var docUpdateFolder = doc{
	id: "update_folder", tag: tagFolders, scope: docgen.ScopeWrite,
	summary:     "Rename, describe, move, or share a folder",
	description: "Fields that you omit do not change. A change of only shared_link needs the permission to invite collaborators.",
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeCycle, docgen.CodeForbidden,
		docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeNameInUse, docgen.CodePrecondition, codeMediaType, docgen.CodeBodyTooLarge},
	body:    exampleChange(),
	example: view[folder]{value: exampleFolderObject()},
}

// UpdateFolderQuery identifies the folder to change.
type UpdateFolderQuery struct {
	FolderPath
	FieldsQuery
	IfMatchHeader
}

func (a *api) updateFolder(ctx context.Context, c *call, in *UpdateFolderQuery) (*itemReply[folder], error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[itemChange](c)
	if err != nil {
		return nil, err
	}
	item, err := a.service.UpdateFolder(ctx, c.caller, id, request.change(in.IfMatch))
	if err != nil {
		return nil, err
	}
	return a.describedFolder(ctx, c, item, firstItems, in.Fields)
}

var docDeleteFolder = doc{
	id: "delete_folder", tag: tagFolders, scope: docgen.ScopeWrite,
	summary:     "Delete a folder",
	description: "Moves the folder to the trash. If recursive is true, its items move with it. Otherwise, it must be empty.",
	status:      http.StatusNoContent,
	errors: []docgen.Code{docgen.CodeFolderNotEmpty, docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed,
		docgen.CodePrecondition},
}

// DeleteFolderQuery identifies the folder to delete.
type DeleteFolderQuery struct {
	FolderPath
	Recursive boolParam `query:"recursive" doc:"Delete a folder that is not empty (default false)."`
	IfMatchHeader
}

func (a *api) deleteFolder(ctx context.Context, c *call, in *DeleteFolderQuery) (*empty, error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	recursive, err := in.Recursive.parse("recursive")
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.TrashFolder(ctx, c.caller, id, recursive, bareETag(in.IfMatch))
}
