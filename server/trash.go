package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

var docListTrash = doc{
	id: "list_trash", tag: tagTrash, scope: docgen.ScopeRead,
	summary: "List the trash",
	description: "The deleted files and folders of the caller, but not the items inside a deleted folder. With the scope " +
		"enterprise_content, also items deleted from archives. By offset, or by marker if usemarker is true. Folders come before " +
		"files. Entries are in short form; use fields to add more.",
	errors:  []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset},
	example: exampleItems(),
}

// ListTrashQuery holds the parameters of a list of the trash.
type ListTrashQuery struct {
	FieldsQuery
	ItemsQuery
	MarkerQuery
}

func (a *api) listTrash(ctx context.Context, c *call, in *ListTrashQuery) (*itemsReply, error) {
	fields := selectionOf(in.Fields)
	return listing(in.ItemsQuery, in.MarkerQuery, fields,
		func(r docgen.PageRequest) (docgen.Page[docgen.Item], error) { return a.service.Trash(ctx, c.caller, r) },
		func(r docgen.OffsetRequest, order docgen.ItemOrder) (docgen.OffsetPage[docgen.Item], error) {
			return a.service.TrashByOffset(ctx, c.caller, r, order)
		})
}

var trashErrors = []docgen.Code{docgen.CodeNotFound, docgen.CodeNotTrashed}

var docGetTrashedFile = doc{
	id: "get_trashed_file", tag: tagTrash, scope: docgen.ScopeRead,
	summary: "Get a file in the trash",
	errors:  trashErrors,
	example: view[file]{value: exampleTrashedFile()},
}

func (a *api) getTrashedFile(ctx context.Context, c *call, in *FileQuery) (*itemReply[file], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	item, err := a.service.Trashed(ctx, c.caller, docgen.File, id)
	if err != nil {
		return nil, err
	}
	return fileReply(item, in.Fields), nil
}

var docGetTrashedFolder = doc{
	id: "get_trashed_folder", tag: tagTrash, scope: docgen.ScopeRead,
	summary: "Get a folder in the trash",
	errors:  trashErrors,
	example: view[folder]{value: exampleTrashedFolder()},
}

func (a *api) getTrashedFolder(ctx context.Context, c *call, in *FolderQuery) (*itemReply[folder], error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	item, err := a.service.Trashed(ctx, c.caller, docgen.Folder, id)
	if err != nil {
		return nil, err
	}
	return folderReply(item, nil, in.Fields), nil
}

// restoreDescription describes how an item is restored from the trash.
const restoreDescription = "Restores the item to its original folder. If that folder is in the trash itself, parent selects another " +
	"one; otherwise, parent is ignored. name is a new name, in case the original one is taken."

var restoreErrors = []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeForbidden, docgen.CodeNotFound,
	docgen.CodeTrashed,
	docgen.CodeNotTrashed, docgen.CodeConflict, docgen.CodeNameInUse, codeMediaType, docgen.CodeBodyTooLarge}

var docRestoreFile = doc{
	id: "restore_file", tag: tagTrash, scope: docgen.ScopeWrite,
	summary: "Restore a file", description: restoreDescription,
	status:  http.StatusCreated,
	errors:  restoreErrors,
	body:    exampleRestoration(),
	example: view[file]{value: exampleFileObject()},
	also:    bodyMayBeEmpty,
}

var docRestoreFolder = doc{
	id: "restore_folder", tag: tagTrash, scope: docgen.ScopeWrite,
	summary: "Restore a folder", description: restoreDescription,
	status:  http.StatusCreated,
	errors:  restoreErrors,
	body:    exampleRestoration(),
	example: view[folder]{value: exampleFolderObject()},
	also:    bodyMayBeEmpty,
}

type restoreRequest struct {
	Name   string     `json:"name,omitempty" minLength:"1" doc:"A new name."`
	Parent *parentRef `json:"parent,omitempty" doc:"The folder to restore it to if its original folder is in the trash."`
}

// bodyMayBeEmpty documents an optional request body.
func bodyMayBeEmpty(_ *api, op *huma.Operation) { op.RequestBody.Required = false }

// readRestoration reads how to restore an item. The body is optional.
func readRestoration(c *call) (docgen.Restoration, error) {
	if c.r.ContentLength == 0 {
		return docgen.Restoration{}, nil
	}
	request, err := readBody[restoreRequest](c)
	if err != nil {
		return docgen.Restoration{}, err
	}
	r := docgen.Restoration{Name: request.Name}
	if request.Parent != nil {
		id := int64(request.Parent.ID)
		r.ParentID = &id
	}
	return r, nil
}

func (a *api) restoreFile(ctx context.Context, c *call, in *FileQuery) (*itemReply[file], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	how, err := readRestoration(c)
	if err != nil {
		return nil, err
	}
	item, err := a.service.Restore(ctx, c.caller, docgen.File, id, how)
	if err != nil {
		return nil, err
	}
	return fileReply(item, in.Fields), nil
}

func (a *api) restoreFolder(ctx context.Context, c *call, in *FolderQuery) (*itemReply[folder], error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	how, err := readRestoration(c)
	if err != nil {
		return nil, err
	}
	item, err := a.service.Restore(ctx, c.caller, docgen.Folder, id, how)
	if err != nil {
		return nil, err
	}
	return a.describedFolder(ctx, c, item, firstItems, in.Fields)
}

var docPurgeFile = doc{
	id: "purge_file", tag: tagTrash, scope: docgen.ScopeWrite,
	summary: "Permanently delete a file",
	description: "Deletes a file in the trash with all its versions. Only the owner can do that. Jobs that used it as their template " +
		"remain; those that have not ended fail.",
	status: http.StatusNoContent,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeNotTrashed, docgen.CodeConflict},
}

func (a *api) purgeFile(ctx context.Context, c *call, in *FilePath) (*empty, error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.Purge(ctx, c.caller, docgen.File, id)
}

var docPurgeFolder = doc{
	id: "purge_folder", tag: tagTrash, scope: docgen.ScopeWrite,
	summary: "Permanently delete a folder",
	description: "Deletes a folder in the trash with everything in it, including items that were deleted before it. Only the owner can " +
		"do that.",
	status: http.StatusNoContent,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeNotTrashed, docgen.CodeConflict},
}

func (a *api) purgeFolder(ctx context.Context, c *call, in *FolderPath) (*empty, error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.Purge(ctx, c.caller, docgen.Folder, id)
}
