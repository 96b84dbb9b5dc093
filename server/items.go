package server

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"platen/docgen"
)

// The parts of files and folders that they have in common on the wire.

type (
	fileVersion struct {
		Type string `json:"type" enum:"file_version"`
		ID   ID     `json:"id"`
		SHA1 string `json:"sha1"`
	}
	// folderMini is a folder in a reference.
	folderMini struct {
		Type       string  `json:"type" enum:"folder"`
		ID         ID      `json:"id"`
		SequenceID *string `json:"sequence_id"`
		ETag       *string `json:"etag"`
		Name       string  `json:"name"`
	}
	userMini struct {
		Type  string `json:"type" enum:"user"`
		ID    ID     `json:"id"`
		Name  string `json:"name"`
		Login string `json:"login"`
	}
	pathCollection struct {
		TotalCount int          `json:"total_count"`
		Entries    []folderMini `json:"entries" doc:"The folders from the root folder to the parent, limited to those that the caller may see."`
	}
	// null is a field that is always null, because Platen does not have the feature.
	null struct{}
	// entry is a file or folder in a list.
	entry struct{ shown json.MarshalerTo }
)

func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Schema describes null for the OpenAPI document.
func (null) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: "null"} }

// MarshalJSON writes the view.
func (e entry) MarshalJSON() ([]byte, error) { return marshal(e) }

// MarshalJSONTo writes it to a stream.
func (e entry) MarshalJSONTo(to *jsontext.Encoder) error { return e.shown.MarshalJSONTo(to) }

// Schema describes an entry for the OpenAPI document.
func (entry) Schema(r huma.Registry) *huma.Schema {
	return anyOf(r, reflect.TypeFor[file](), reflect.TypeFor[folder]())
}

// TransformSchema marks the fields that every view of a file has as required.
func (file) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = baseFields
	return s
}

// TransformSchema marks the fields that every view of a folder has as required.
func (folder) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = baseFields
	return s
}

// entryOf encodes a file or folder in a list.
func entryOf(item *docgen.Item, fields selection) entry {
	if item.Kind == docgen.Folder {
		return entry{&view[folder]{value: listedFolder(item), fields: fields.listed(), mini: true}}
	}
	return entry{&view[file]{value: listedFile(item), fields: fields.listed(), mini: true}}
}

// listedFields are the fields that entries of a list can have.
var listedFields = selection{
	"sequence_id", "name", "sha1", "file_version", "size", "version_number", "extension", "description", "item_status",
	"created_at", "modified_at", "content_created_at", "content_modified_at", "trashed_at", "purged_at",
	// These have the same value for all items.
	"lock", "expires_at", "disposition_at", "metadata", "classification", "expiring_embed_link", "uploader_display_name",
	"has_collaborations", "is_externally_owned", "is_associated_with_app_item", "watermark_info",
}

// listed removes the fields from a selection that lists do not have. An empty result still counts as a selection.
func (s selection) listed() selection {
	if len(s) == 0 {
		return nil
	}
	known := slices.Clone(baseFields)
	for _, name := range s {
		if slices.Contains(listedFields, name) {
			known = append(known, name)
		}
	}
	return known
}

func folderMiniOf(f *docgen.FolderRef) folderMini {
	mini := folderMini{Type: typeFolder, ID: ID(f.ID), Name: f.Name}
	if f.ID != 0 {
		etag := strconv.FormatInt(f.ETag, 10)
		mini.ETag, mini.SequenceID = &etag, &etag
	}
	return mini
}

// statusOf returns the item_status of an item, which says whether it is in the trash.
func statusOf(item *docgen.Item) string {
	if item.TrashedAt.IsZero() {
		return "active"
	}
	return "trashed"
}

// trashFolder is the parent of an item in the trash, as clients of the Box API expect it. No such folder exists.
var trashFolder = folderMini{Type: typeFolder, ID: 1, Name: "Trash"}

func pathOf(item *docgen.Item) pathCollection {
	if !item.TrashedAt.IsZero() {
		return pathCollection{TotalCount: 1, Entries: []folderMini{trashFolder}}
	}
	return pathCollection{TotalCount: len(item.Path), Entries: each(item.Path, folderMiniOf)}
}

func userMiniOf(u *docgen.UserRef) userMini {
	return userMini{Type: typeUser, ID: ID(u.ID), Name: u.Name, Login: u.Login}
}
