package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

var docCopyFile = doc{
	id: "copy_file", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Copy a file",
	description: "The copy has one version. It is not a template and has no collaborations.",
	status:      http.StatusCreated,
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed,
		docgen.CodeConflict, docgen.CodeNameInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body:    copyFileRequest{Parent: parentRef{ID: exampleFolder}, Name: "Invoice (copy).docx"},
	example: view[file]{value: exampleFileObject()},
}

type copyFileRequest struct {
	Parent  parentRef `json:"parent" doc:"The folder for the copy."`
	Name    string    `json:"name,omitempty" minLength:"1" doc:"The name of the copy (default: the name of the file)."`
	Version *ID       `json:"version,omitempty" doc:"The id of the version to copy (default: the current version)."`
}

func (a *api) copyFile(ctx context.Context, c *call, in *FileQuery) (*itemReply[file], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[copyFileRequest](c)
	if err != nil {
		return nil, err
	}
	wanted := docgen.NewCopy{ItemID: id, ParentID: int64(request.Parent.ID), Name: request.Name}
	if request.Version != nil {
		wanted.VersionID = int64(*request.Version)
	}
	item, err := a.service.CopyFile(ctx, c.caller, wanted)
	if err != nil {
		return nil, err
	}
	return fileReply(item, in.Fields), nil
}

var docCopyFolder = doc{
	id: "copy_folder", tag: tagFolders, scope: docgen.ScopeWrite,
	summary: "Copy a folder",
	description: "Copies the folder and everything in it, up to 10,000 files and folders, except items in the trash. The copy is all or " +
		"nothing. Its files are not templates and have no collaborations.",
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeCycle, docgen.CodeForbidden, docgen.CodeNotFound,
		docgen.CodeTrashed, docgen.CodeConflict, docgen.CodeNameInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body:    copyFolderRequest{Parent: parentRef{ID: 0}, Name: "Templates (copy)"},
	example: view[folder]{value: exampleFolderObject()},
}

type copyFolderRequest struct {
	Parent parentRef `json:"parent" doc:"The folder for the copy."`
	Name   string    `json:"name,omitempty" minLength:"1" doc:"The name of the copy (default: the name of the folder)."`
}

func (a *api) copyFolder(ctx context.Context, c *call, in *FolderQuery) (*itemReply[folder], error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[copyFolderRequest](c)
	if err != nil {
		return nil, err
	}
	item, err := a.service.CopyFolder(ctx, c.caller, docgen.NewCopy{ItemID: id, ParentID: int64(request.Parent.ID), Name: request.Name})
	if err != nil {
		return nil, err
	}
	return a.describedFolder(ctx, c, item, firstItems, in.Fields)
}
