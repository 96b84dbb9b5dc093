package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

type archive struct {
	ID          ID      `json:"id" doc:"The id of the archive, which is also the id of its folder."`
	Type        string  `json:"type" enum:"archive"`
	Name        string  `json:"name"`
	Description *string `json:"description" doc:"Null if not set."`
	Size        int64   `json:"size" doc:"Size of all files in the archive, in bytes, without the trash."`
	OwnedBy     userRef `json:"owned_by" doc:"The account of the enterprise."`
}

func archiveOf(a *docgen.Archive) archive {
	return archive{
		ID: ID(a.ID), Type: typeArchive, Name: a.Name, Description: orNull(a.Description), Size: a.Size,
		OwnedBy: userRef{ID: ID(a.OwnerID), Type: typeUser},
	}
}

// archivePage is a page of archives. Unlike other lists, it has never had a marker of the previous page.
type archivePage struct {
	Entries    []archive `json:"entries" doc:"The entries of this page, or an empty list."`
	Limit      int       `json:"limit" doc:"The limit that was applied, at most the maximum."`
	NextMarker *string   `json:"next_marker" doc:"The marker of the next page; null on the last page."`
}

// ArchivePath identifies an archive.
type ArchivePath struct {
	ArchiveID string `path:"archive_id" doc:"The id of the archive." example:"77889900"`
}

var docCreateArchive = doc{
	id: "create_archive", tag: tagArchives, versioned: true, scope: docgen.ScopeGlobalContent,
	summary: "Create an archive",
	description: "The archive belongs to the enterprise. Also requires `root_readwrite`, and `manage_managed_users` if " +
		"`storage_policy_id` is set.",
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeRefused, docgen.CodeConflict, codeMediaType,
		docgen.CodeBodyTooLarge},
	body:    createArchiveRequest{Name: exampleArchive().Name, Description: exampleArchive().Description},
	example: exampleArchive(),
}

type createArchiveRequest struct {
	Name            string  `json:"name" doc:"1 to 100 characters, unique among archives regardless of case."`
	Description     *string `json:"description,omitempty" doc:"At most 255 characters."`
	StoragePolicyID *ID     `json:"storage_policy_id,omitempty" doc:"The id of the storage policy that determines where contents are stored (default: the default policy)."`
}

func (a *api) createArchive(ctx context.Context, c *call, _ *struct{}) (*reply[archive], error) {
	request, err := readBody[createArchiveRequest](c)
	if err != nil {
		return nil, err
	}
	n := docgen.NewArchive{Name: request.Name, PolicyID: (*int64)(request.StoragePolicyID)}
	if request.Description != nil {
		n.Description = *request.Description
	}
	made, err := a.service.CreateArchive(ctx, c.caller, n)
	if err != nil {
		return nil, err
	}
	return &reply[archive]{archiveOf(&made)}, nil
}

var docListArchives = doc{
	id: "list_archives", tag: tagArchives, versioned: true, scope: docgen.ScopeGlobalContent,
	summary:     "List archives",
	description: "The archives of the enterprise, in ascending order of id. Also requires `root_readonly`.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit},
	example:     archivePage{Limit: docgen.DefaultPageLimit, Entries: []archive{exampleArchive()}},
}

func (a *api) listArchives(ctx context.Context, c *call, in *PageQuery) (*reply[archivePage], error) {
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Archives(ctx, c.caller, request)
	if err != nil {
		return nil, err
	}
	return &reply[archivePage]{archivePage{Entries: each(page.Entries, archiveOf), Limit: page.Limit, NextMarker: orNull(page.Next)}}, nil
}

var docUpdateArchive = doc{
	id: "update_archive", tag: tagArchives, versioned: true, scope: docgen.ScopeGlobalContent,
	summary:     "Rename or describe an archive",
	description: "Fields that you omit or set to null do not change. An empty description removes it. Also requires `root_readwrite`.",
	errors: []docgen.Code{docgen.CodeNameInvalid, docgen.CodeNameTooLong, docgen.CodeNotFound, docgen.CodeConflict, codeMediaType,
		docgen.CodeBodyTooLarge},
	body:    exampleArchiveChange(),
	example: exampleArchive(),
}

type updateArchiveRequest struct {
	Name        *string `json:"name,omitempty" doc:"1 to 100 characters, unique among archives regardless of case."`
	Description *string `json:"description,omitempty" doc:"At most 255 characters."`
}

func (a *api) updateArchive(ctx context.Context, c *call, in *ArchivePath) (*reply[archive], error) {
	id, err := pathID("archive", in.ArchiveID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[updateArchiveRequest](c)
	if err != nil {
		return nil, err
	}
	changed, err := a.service.UpdateArchive(ctx, c.caller, id, docgen.ArchiveChange{Name: request.Name, Description: request.Description})
	if err != nil {
		return nil, err
	}
	return &reply[archive]{archiveOf(&changed)}, nil
}

var docDeleteArchive = doc{
	id: "delete_archive", tag: tagArchives, versioned: true, scope: docgen.ScopeGlobalContent,
	summary: "Delete an archive",
	description: "Permanently deletes an archive. It must be empty; its trash is deleted with it. The operator can disable this " +
		"operation. Also requires `root_readwrite`.",
	status: http.StatusNoContent,
	errors: []docgen.Code{docgen.CodeFolderNotEmpty, docgen.CodeRefused, docgen.CodeNotFound},
}

func (a *api) deleteArchive(ctx context.Context, c *call, in *ArchivePath) (*empty, error) {
	id, err := pathID("archive", in.ArchiveID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.DeleteArchive(ctx, c.caller, id)
}

type storagePolicy struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"storage_policy"`
	Name string `json:"name"`
}

func storagePolicyOf(p *docgen.StoragePolicy) storagePolicy {
	return storagePolicy{ID: ID(p.ID), Type: typeStoragePolicy, Name: p.Name}
}

var docListStoragePolicies = doc{
	id: "list_storage_policies", tag: tagArchives, scope: docgen.ScopeManagedUsers,
	summary:     "List storage policies",
	description: "The places where contents of archives can be stored, in ascending order of id. The operator configures them.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit},
	example:     markerPage[storagePolicy]{Limit: docgen.DefaultPageLimit, Entries: []storagePolicy{exampleStoragePolicy()}},
}

func (a *api) listStoragePolicies(ctx context.Context, c *call, in *PageQuery) (*reply[markerPage[storagePolicy]], error) {
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.StoragePolicies(ctx, c.caller, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, storagePolicyOf), nil
}

var docGetStoragePolicy = doc{
	id: "get_storage_policy", tag: tagArchives, scope: docgen.ScopeManagedUsers,
	summary: "Get a storage policy",
	errors:  []docgen.Code{docgen.CodeNotFound},
	example: exampleStoragePolicy(),
}

// StoragePolicyPath identifies a storage policy.
type StoragePolicyPath struct {
	StoragePolicyID string `path:"storage_policy_id" doc:"The id of the storage policy." example:"1"`
}

func (a *api) getStoragePolicy(ctx context.Context, c *call, in *StoragePolicyPath) (*reply[storagePolicy], error) {
	id, err := pathID("storage_policy", in.StoragePolicyID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.StoragePolicy(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[storagePolicy]{storagePolicyOf(&found)}, nil
}
