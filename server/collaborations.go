package server

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

type collaboration struct {
	ID             ID          `json:"id"`
	Type           string      `json:"type" enum:"collaboration"`
	Item           entry       `json:"item" doc:"The file or folder, in its short form."`
	AccessibleBy   userMini    `json:"accessible_by" doc:"The collaborator."`
	InviteEmail    null        `json:"invite_email" doc:"Always null."`
	Role           docgen.Role `json:"role" enum:"editor,viewer,previewer,uploader,previewer uploader,viewer uploader,co-owner"`
	ExpiresAt      timestamp   `json:"expires_at" doc:"Always null: a collaboration does not expire."`
	IsAccessOnly   bool        `json:"is_access_only"`
	Status         string      `json:"status" enum:"accepted"`
	AcknowledgedAt timestamp   `json:"acknowledged_at"`
	CreatedBy      userMini    `json:"created_by"`
	CreatedAt      timestamp   `json:"created_at"`
	ModifiedAt     timestamp   `json:"modified_at"`
}

func collaborationOf(c *docgen.Collaboration) *reply[collaboration] {
	return &reply[collaboration]{collaboration{
		ID: ID(c.ID), Type: "collaboration", Item: entryOf(&c.Item, nil), AccessibleBy: userMiniOf(&c.User), Role: c.Role,
		Status: "accepted", AcknowledgedAt: timestamp{c.CreatedAt}, CreatedBy: userMiniOf(&c.CreatedBy),
		CreatedAt: timestamp{c.CreatedAt}, ModifiedAt: timestamp{c.ModifiedAt},
	}}
}

// A roleName is a role in a request; docgen knows the roles.
type roleName string

// Schema describes a role for the OpenAPI document as the answer has it.
func (roleName) Schema(r huma.Registry) *huma.Schema {
	f, _ := reflect.TypeFor[collaboration]().FieldByName("Role")
	return huma.SchemaFromField(r, f, "")
}

type createCollaborationRequest struct {
	Item         itemRef         `json:"item" doc:"The file or folder to share."`
	AccessibleBy collaboratorRef `json:"accessible_by" doc:"The user to share it with, by id or by login."`
	Role         roleName        `json:"role" doc:"What the user may do with it, and with all that lies below it."`
}

type itemRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"file,folder"`
}

type collaboratorRef struct {
	Type  string `json:"type" enum:"user"`
	ID    *ID    `json:"id,omitempty"`
	Login string `json:"login,omitempty"`
}

var docCreateCollaboration = doc{
	id: "create_collaboration", tag: tagCollaborations, scope: docgen.ScopeWrite,
	summary:     "Share a file or folder",
	description: "A user of this server becomes a collaborator, at once. Nobody can give a role that may do more than they may themselves.",
	status:      http.StatusCreated,
	errors: []docgen.Code{docgen.CodeCollaborator, docgen.CodeRootCollaboration, docgen.CodeForbidden,
		docgen.CodeNotFound, docgen.CodeTrashed, codeMediaType, docgen.CodeBodyTooLarge},
	body: createCollaborationRequest{
		Item: itemRef{ID: exampleFolder, Type: typeFolder}, AccessibleBy: collaboratorRef{Type: typeUser, Login: "grace@example.com"}, Role: "editor",
	},
	example: exampleCollaboration(),
}

func (a *api) createCollaboration(ctx context.Context, c *call, _ *struct{}) (*reply[collaboration], error) {
	request, err := readBody[createCollaborationRequest](c)
	if err != nil {
		return nil, err
	}
	wanted := docgen.NewCollaboration{
		ItemID: int64(request.Item.ID), ItemKind: docgen.File, Role: docgen.Role(request.Role), Login: request.AccessibleBy.Login,
	}
	if request.Item.Type == typeFolder {
		wanted.ItemKind = docgen.Folder
	}
	if id := request.AccessibleBy.ID; id != nil {
		wanted.UserID = int64(*id)
	} else if wanted.Login == "" {
		return nil, docgen.Invalid(docgen.Problem{Reason: docgen.ReasonMissing, Name: "accessible_by.id", Message: "'accessible_by' must have an id or a login"})
	}
	made, err := a.service.CreateCollaboration(ctx, c.caller, wanted)
	if err != nil {
		return nil, err
	}
	return collaborationOf(made), nil
}

// CollaborationPath names a collaboration.
type CollaborationPath struct {
	CollaborationID string `path:"collaboration_id" doc:"The id of the collaboration." example:"12345678"`
}

var docGetCollaboration = doc{
	id: "get_collaboration", tag: tagCollaborations, scope: docgen.ScopeRead,
	summary: "Get a collaboration",
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed},
	example: exampleCollaboration(),
}

func (a *api) getCollaboration(ctx context.Context, c *call, in *CollaborationPath) (*reply[collaboration], error) {
	id, err := pathID("collab", in.CollaborationID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.Collaboration(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return collaborationOf(found), nil
}

var docUpdateCollaboration = doc{
	id: "update_collaboration", tag: tagCollaborations, scope: docgen.ScopeWrite,
	summary: "Change a collaborator's role",
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, codeMediaType,
		docgen.CodeBodyTooLarge},
	body:    updateCollaborationRequest{Role: "viewer"},
	example: exampleCollaboration(),
}

type updateCollaborationRequest struct {
	Role roleName `json:"role" doc:"The new role."`
}

func (a *api) updateCollaboration(ctx context.Context, c *call, in *CollaborationPath) (*reply[collaboration], error) {
	id, err := pathID("collab", in.CollaborationID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[updateCollaborationRequest](c)
	if err != nil {
		return nil, err
	}
	changed, err := a.service.UpdateCollaboration(ctx, c.caller, id, docgen.Role(request.Role))
	if err != nil {
		return nil, err
	}
	return collaborationOf(changed), nil
}

var docDeleteCollaboration = doc{
	id: "delete_collaboration", tag: tagCollaborations, scope: docgen.ScopeWrite,
	summary: "End a collaboration",
	status:  http.StatusNoContent,
	errors:  []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed},
}

func (a *api) deleteCollaboration(ctx context.Context, c *call, in *CollaborationPath) (*empty, error) {
	id, err := pathID("collab", in.CollaborationID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.DeleteCollaboration(ctx, c.caller, id)
}
