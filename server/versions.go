package server

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// fileVersionFull is a version of a file, in full.
type fileVersionFull struct {
	Type                string             `json:"type" enum:"file_version"`
	ID                  ID                 `json:"id"`
	SHA1                string             `json:"sha1" doc:"The SHA-1 of the content, in hexadecimal."`
	Name                string             `json:"name" doc:"The name of the file when the version was created."`
	Size                int64              `json:"size" doc:"Size of the content, in bytes."`
	VersionNumber       string             `json:"version_number" doc:"Number of the version. The first version is 1."`
	UploaderDisplayName string             `json:"uploader_display_name"`
	CreatedAt           timestamp          `json:"created_at"`
	ModifiedAt          timestamp          `json:"modified_at"`
	ModifiedBy          userMini           `json:"modified_by" doc:"The user who created the version."`
	TrashedAt           timestamp          `json:"trashed_at" doc:"Null if it is not in the trash."`
	TrashedBy           optional[userMini] `json:"trashed_by"`
	RestoredAt          timestamp          `json:"restored_at" doc:"Null if it was never in the trash."`
	RestoredBy          optional[userMini] `json:"restored_by"`
	PurgedAt            timestamp          `json:"purged_at" doc:"Always null."`
}

// TransformSchema marks the fields that every view of a version has as required.
func (fileVersionFull) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"type", "id"}
	return s
}

func versionOf(v *docgen.Version) fileVersionFull {
	return fileVersionFull{
		Type: typeFileVersion, ID: ID(v.ID), SHA1: v.SHA1, Name: v.Name, Size: v.Size,
		VersionNumber: strconv.FormatInt(v.Number, 10), UploaderDisplayName: v.CreatedBy.Name,
		CreatedAt: timestamp{v.CreatedAt}, ModifiedAt: timestamp{v.CreatedAt}, ModifiedBy: userMiniOf(&v.CreatedBy),
		TrashedAt: timestamp{v.TrashedAt}, TrashedBy: optionalOf(v.TrashedBy, userMiniOf),
		RestoredAt: timestamp{v.RestoredAt}, RestoredBy: optionalOf(v.RestoredBy, userMiniOf),
	}
}

type versionReply = reply[view[fileVersionFull]]

func versionReplyOf(v docgen.Version, fields string) *versionReply {
	return &versionReply{view[fileVersionFull]{value: versionOf(&v), fields: selectionOf(fields)}}
}

// VersionPath identifies a version of a file.
type VersionPath struct {
	FilePath
	VersionID string `path:"file_version_id" doc:"The id of a version of the file." example:"87654321"`
}

func (p VersionPath) ids() (file, version int64, err error) {
	if file, err = pathID("file", p.FileID); err != nil {
		return 0, 0, err
	}
	version, err = pathID("file_version", p.VersionID)
	return file, version, err
}

var docListVersions = doc{
	id: "list_versions", tag: tagFiles, scope: docgen.ScopeRead,
	summary:     "List the past versions of a file",
	description: "The past versions, newest first, without the current one. Includes versions in the trash.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset, docgen.CodeNotFound, docgen.CodeTrashed},
	example: offsetPage[view[fileVersionFull]]{
		TotalCount: 1, Limit: docgen.DefaultPageLimit, Entries: []view[fileVersionFull]{{value: exampleFileVersion()}},
	},
}

// ListVersionsQuery holds the parameters of a list of past versions.
type ListVersionsQuery struct {
	FilePath
	FieldsQuery
	OffsetQuery
}

func (a *api) listVersions(ctx context.Context, c *call, in *ListVersionsQuery) (*reply[offsetPage[view[fileVersionFull]]], error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	request, err := in.OffsetQuery.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Versions(ctx, c.caller, id, request)
	if err != nil {
		return nil, err
	}
	fields := selectionOf(in.Fields)
	return offsetPageOf(page, func(v *docgen.Version) view[fileVersionFull] {
		return view[fileVersionFull]{value: versionOf(v), fields: fields}
	}), nil
}

var docGetVersion = doc{
	id: "get_version", tag: tagFiles, scope: docgen.ScopeRead,
	summary: "Get a version of a file",
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed},
	example: view[fileVersionFull]{value: exampleFileVersion()},
}

// GetVersionQuery holds the parameters of a request for a version.
type GetVersionQuery struct {
	VersionPath
	FieldsQuery
}

func (a *api) getVersion(ctx context.Context, c *call, in *GetVersionQuery) (*versionReply, error) {
	file, version, err := in.ids()
	if err != nil {
		return nil, err
	}
	found, err := a.service.Version(ctx, c.caller, file, version)
	if err != nil {
		return nil, err
	}
	return versionReplyOf(found, in.Fields), nil
}

var docDeleteVersion = doc{
	id: "delete_version", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Delete a version of a file",
	description: "Moves the version to the trash. You cannot delete the current version. Batches that use the version continue.",
	status:      http.StatusNoContent,
	errors:      []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodePrecondition},
}

// DeleteVersionQuery identifies the version to delete.
type DeleteVersionQuery struct {
	VersionPath
	IfMatchHeader
}

func (a *api) deleteVersion(ctx context.Context, c *call, in *DeleteVersionQuery) (*empty, error) {
	file, version, err := in.ids()
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.TrashVersion(ctx, c.caller, file, version, bareETag(in.IfMatch))
}

var docRestoreVersion = doc{
	id: "restore_version", tag: tagFiles, scope: docgen.ScopeWrite,
	summary:     "Restore a version of a file",
	description: "Takes the version out of the trash. It does not become the current version.",
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeNotTrashed,
		codeMediaType, docgen.CodeBodyTooLarge},
	body:    restoreVersionRequest{},
	example: view[fileVersionFull]{value: exampleFileVersion()},
}

type restoreVersionRequest struct {
	TrashedAt *timestamp `json:"trashed_at" doc:"Must be null, which takes the version out of the trash."`
}

func (a *api) restoreVersion(ctx context.Context, c *call, in *GetVersionQuery) (*versionReply, error) {
	file, version, err := in.ids()
	if err != nil {
		return nil, err
	}
	request, err := readBody[restoreVersionRequest](c)
	if err != nil {
		return nil, err
	}
	if request.TrashedAt != nil {
		return nil, invalidParam("trashed_at", "trashed_at must be null. To move a version to the trash, use DELETE")
	}
	restored, err := a.service.RestoreVersion(ctx, c.caller, file, version)
	if err != nil {
		return nil, err
	}
	return versionReplyOf(restored, in.Fields), nil
}

var docPromoteVersion = doc{
	id: "promote_version", tag: tagFiles, scope: docgen.ScopeWrite,
	summary: "Promote a version of a file to the current version",
	description: "Creates a new version with the name and content of the given version, and returns it. If the file is a template that " +
		"requires samples, batches use the new version when it has passed them, or at once if the request has a reason. With a reason, the " +
		"current version of the file is not copied.",
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeNameInUse,
		codeMediaType, docgen.CodeBodyTooLarge},
	body:    promoteVersionRequest{ID: exampleVersion, Type: typeFileVersion},
	example: view[fileVersionFull]{value: exampleFileVersion()},
}

type promoteVersionRequest struct {
	ID   ID     `json:"id" doc:"The id of the version to copy."`
	Type string `json:"type,omitempty" enum:"file_version"`

	Reason *string `json:"reason,omitempty" minLength:"1" doc:"For a template: why batches should use the version although it has not passed the samples, 1 to 1000 bytes. The audit log keeps it with the user. It requires the scope docgen.readwrite. A Platen extension."`
}

func (a *api) promoteVersion(ctx context.Context, c *call, in *FileQuery) (*versionReply, error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[promoteVersionRequest](c)
	if err != nil {
		return nil, err
	}
	var promoted docgen.Version
	if request.Reason != nil {
		promoted, err = a.service.PromoteTemplateVersion(ctx, c.caller, id, int64(request.ID), docgen.Override{Reason: *request.Reason})
	} else {
		promoted, err = a.service.PromoteVersion(ctx, c.caller, id, int64(request.ID))
	}
	if err != nil {
		return nil, err
	}
	return versionReplyOf(promoted, in.Fields), nil
}
