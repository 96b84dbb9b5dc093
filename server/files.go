package server

import (
	"context"
	"net/http"
	"path"
	"strconv"
	"strings"

	"platen/docgen"
)

type file struct {
	Type              string               `json:"type" enum:"file" fields:"mini"`
	ID                ID                   `json:"id" fields:"mini"`
	ETag              string               `json:"etag" fields:"mini" doc:"Changes with every change of the file."`
	SequenceID        string               `json:"sequence_id" fields:"mini"`
	SHA1              string               `json:"sha1" fields:"mini" doc:"The SHA-1 of the content, in hexadecimal."`
	Name              string               `json:"name" fields:"mini"`
	FileVersion       fileVersion          `json:"file_version" fields:"mini" doc:"The current version."`
	Description       string               `json:"description"`
	Size              int64                `json:"size" doc:"Size of the content, in bytes."`
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
	Parent            optional[folderMini] `json:"parent"`
	ItemStatus        string               `json:"item_status" enum:"active,trashed"`
	VersionNumber     string               `json:"version_number,omitempty" fields:"asked" doc:"Number of the current version. The first version is 1."`
	Extension         string               `json:"extension,omitempty" fields:"asked" doc:"The extension of the name, without the dot."`
	Permissions       *filePermissions     `json:"permissions,omitempty" fields:"asked" doc:"What the caller may do with the file."`
	InviteeRoles      []docgen.Role        `json:"allowed_invitee_roles,omitempty" fields:"asked" doc:"The roles that the caller may assign to collaborators."`
	Tags              []string             `json:"tags,omitempty" fields:"asked" doc:"Always empty."`
	CommentCount      int                  `json:"comment_count,omitempty" fields:"asked" doc:"Always 0."`
	Lock              null                 `json:"lock" fields:"asked" doc:"Always null."`
	ExpiresAt         timestamp            `json:"expires_at" fields:"asked" doc:"Always null: files do not expire."`
	IsPackage         bool                 `json:"is_package,omitempty" fields:"asked" doc:"Always false."`
	IsExternallyOwned bool                 `json:"is_externally_owned,omitempty" fields:"asked" doc:"Always false."`
	IsShared          bool                 `json:"is_accessible_via_shared_link,omitempty" fields:"asked" doc:"Whether the file has a shared link, as far as you may see it."`
	HasCollaborations bool                 `json:"has_collaborations,omitempty" fields:"asked" doc:"Always false. List the collaborations instead."`
	Watermark         watermark            `json:"watermark_info,omitzero" fields:"asked"`
	EmbedLink         null                 `json:"expiring_embed_link" fields:"asked" doc:"Always null."`
	Representations   representations      `json:"representations,omitzero" fields:"asked"`
	Metadata          null                 `json:"metadata" fields:"asked" doc:"Always null."`
	Classification    null                 `json:"classification" fields:"asked" doc:"Always null."`
	UploaderName      null                 `json:"uploader_display_name" fields:"asked" doc:"Always null. Use created_by instead."`
	DispositionAt     timestamp            `json:"disposition_at" fields:"asked" doc:"Always null."`
	LinkOptions       []string             `json:"shared_link_permission_options,omitempty" fields:"asked" doc:"The permissions that a shared link can have."`
	IsAppItem         bool                 `json:"is_associated_with_app_item,omitempty" fields:"asked" doc:"Always false."`
}

// Fields of features that Platen does not have. Clients that ask for them get a neutral value.
type (
	watermark struct {
		IsWatermarked bool `json:"is_watermarked" doc:"Always false."`
	}
	representations struct {
		Entries []string `json:"entries" doc:"Always empty."`
	}
)

type filePermissions struct {
	CanDownload           bool `json:"can_download"`
	CanPreview            bool `json:"can_preview"`
	CanUpload             bool `json:"can_upload" doc:"Upload a new version."`
	CanRename             bool `json:"can_rename"`
	CanDelete             bool `json:"can_delete"`
	CanInviteCollaborator bool `json:"can_invite_collaborator"`
	CanShare              bool `json:"can_share"`
	CanSetShareAccess     bool `json:"can_set_share_access"`
	CanComment            bool `json:"can_comment"`
	CanAnnotate           bool `json:"can_annotate"`
	CanViewAnnotations    bool `json:"can_view_annotations_all"`
	CanViewOwnAnnotations bool `json:"can_view_annotations_self"`
}

// fileOf encodes a file.
func fileOf(item *docgen.Item) file {
	f := listedFile(item)
	f.PathCollection, f.Parent = pathOf(item), optionalOf(item.Parent, folderMiniOf)
	f.CreatedBy, f.ModifiedBy, f.OwnedBy = userMiniOf(&item.CreatedBy), userMiniOf(&item.ModifiedBy), userMiniOf(&item.Owner)
	f.Permissions, f.InviteeRoles, f.Tags = filePermissionsOf(item.Permissions), item.Permissions.Invitees(), []string{}
	f.SharedLink, f.IsShared = optionalOf(item.SharedLink, sharedLinkOf), item.SharedLink != nil
	f.Representations.Entries, f.LinkOptions = []string{}, []string{"can_preview", "can_download"}
	return f
}

// listedFile encodes the fields of a file that lists contain: see listedFields.
func listedFile(item *docgen.Item) file {
	etag := strconv.FormatInt(item.ETag, 10)
	return file{
		Type: typeFile, ID: ID(item.ID), ETag: etag, SequenceID: etag, SHA1: item.SHA1, Name: item.Name,
		FileVersion: fileVersion{Type: typeFileVersion, ID: ID(item.VersionID), SHA1: item.SHA1},
		Description: item.Description, Size: item.Size,
		CreatedAt: timestamp{item.CreatedAt}, ModifiedAt: timestamp{item.ModifiedAt}, TrashedAt: timestamp{item.TrashedAt},
		ContentCreatedAt: timestamp{item.ContentCreatedAt}, ContentModifiedAt: timestamp{item.ContentModifiedAt}, ItemStatus: statusOf(item),
		VersionNumber: strconv.FormatInt(item.VersionNumber, 10), Extension: strings.TrimPrefix(path.Ext(item.Name), "."),
	}
}

// filePermissionsOf returns the permissions of the caller. Platen has no comments and annotations, so those permissions are false.
func filePermissionsOf(may docgen.Permissions) *filePermissions {
	return &filePermissions{
		CanDownload: may.Can(docgen.MayDownload), CanPreview: may.Can(docgen.MayPreview), CanUpload: may.Can(docgen.MayEdit),
		CanRename: may.Can(docgen.MayEdit), CanDelete: may.Can(docgen.MayDelete), CanInviteCollaborator: may.Can(docgen.MayInvite),
		CanShare: may.Can(docgen.MayShare), CanSetShareAccess: may.Can(docgen.MayShare),
	}
}

// An itemReply is one file or folder, with its etag in the ETag header.
type itemReply[T any] = itemReplyOf[view[T]]

// An itemReplyOf is a body with an etag.
type itemReplyOf[T any] struct {
	ETag string `header:"ETag"`
	Body T
}

func fileReply(item *docgen.Item, fields string) *itemReply[file] {
	return &itemReply[file]{ETag: etagHeader(item.ETag), Body: view[file]{value: fileOf(item), fields: selectionOf(fields)}}
}

var docGetFile = doc{
	id: "get_file", tag: tagFiles, scope: docgen.ScopeRead, link: true,
	summary:     "Get a file",
	description: "With `--compat box`, a file in the trash is returned with the item_status trashed, instead of the error.",
	errors:      []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed},
	example:     view[file]{value: exampleFileObject()},
	also:        answersNotModified,
}

// GetFileQuery holds the parameters of a request for a file.
type GetFileQuery struct {
	FilePath
	FieldsQuery
	LinkHeader
	IfNoneMatchHeader
}

func (a *api) getFile(ctx context.Context, c *call, in *GetFileQuery) (*itemReply[file], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	item, err := a.service.File(ctx, c.caller, id)
	if a.compat == CompatBox && docgen.IsCode(err, docgen.CodeTrashed) {
		if trashed, inTrash := a.service.Trashed(ctx, c.caller, docgen.File, id); inTrash == nil {
			item, err = trashed, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if in.matches(item.ETag) {
		return nil, notModified(etagHeader(item.ETag))
	}
	return fileReply(item, in.Fields), nil
}

// matches reports whether the caller of a conditional GET has the current state.
func (h IfNoneMatchHeader) matches(etag int64) bool {
	return h.IfNoneMatch != "" && matchesETag(h.IfNoneMatch, etag)
}

var docUpdateFile = doc{
	id: "update_file", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Rename, describe, move, or share a file",
	description: "Fields that you omit do not change. A change of only shared_link needs the permission to invite collaborators.",
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeForbidden, docgen.CodeNotFound,
		docgen.CodeTrashed, docgen.CodeNameInUse, docgen.CodePrecondition, codeMediaType, docgen.CodeBodyTooLarge},
	body:    exampleChange(),
	example: view[file]{value: exampleFileObject()},
}

// UpdateFileQuery identifies the file to change.
type UpdateFileQuery struct {
	FilePath
	FieldsQuery
	IfMatchHeader
}

// itemChange is the request body of a change of a file or a folder.
type itemChange struct {
	Name        *string   `json:"name,omitempty" doc:"The new name."`
	Description *string   `json:"description,omitempty" doc:"The new description."`
	Parent      *movedRef `json:"parent,omitempty" doc:"The folder to move it to."`

	ContentCreatedAt  timestamp `json:"content_created_at,omitzero" doc:"When the content was created."`
	ContentModifiedAt timestamp `json:"content_modified_at,omitzero" doc:"When the content was last changed."`

	SharedLink change[linkChange] `json:"shared_link,omitzero" doc:"Creates or changes the shared link. Fields that you omit do not change; those of a new link have their defaults. null removes the link."`
}

// movedRef identifies the folder to move an item to.
type movedRef struct {
	ID     ID     `json:"id" doc:"The id of the folder. 0 is the root folder of the caller, or of the user in user_id."`
	Type   string `json:"type,omitempty" enum:"folder"`
	UserID ID     `json:"user_id,omitempty" doc:"With the id 0, the owner of the root folder. Use it to move items out of an archive."`
}

// parentRef identifies a folder by its id.
type parentRef struct {
	ID   ID     `json:"id" doc:"The id of the folder; 0 is the root folder of the caller."`
	Type string `json:"type,omitempty" enum:"folder"`
}

func (b *itemChange) change(ifMatch string) docgen.ItemChange {
	change := docgen.ItemChange{
		Name: b.Name, Description: b.Description, IfMatch: bareETag(ifMatch),
		ContentCreatedAt: b.ContentCreatedAt.Time, ContentModifiedAt: b.ContentModifiedAt.Time, Link: linkChangeOf(b.SharedLink),
	}
	if b.Parent != nil {
		id := int64(b.Parent.ID)
		change.ParentID, change.ParentOwner = &id, int64(b.Parent.UserID)
	}
	return change
}

func (a *api) updateFile(ctx context.Context, c *call, in *UpdateFileQuery) (*itemReply[file], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[itemChange](c)
	if err != nil {
		return nil, err
	}
	item, err := a.service.UpdateFile(ctx, c.caller, id, request.change(in.IfMatch))
	if err != nil {
		return nil, err
	}
	return fileReply(item, in.Fields), nil
}

var docDeleteFile = doc{
	id: "delete_file", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Delete a file",
	description: "Moves the file to the trash.",
	status:      http.StatusNoContent,
	errors:      []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodePrecondition},
}

// DeleteFileQuery identifies the file to delete.
type DeleteFileQuery struct {
	FilePath
	IfMatchHeader
}

func (a *api) deleteFile(ctx context.Context, c *call, in *DeleteFileQuery) (*empty, error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.TrashFile(ctx, c.caller, id, bareETag(in.IfMatch))
}
