package server

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

type collaboration struct {
	Type           string             `json:"type" enum:"collaboration"`
	ID             ID                 `json:"id"`
	Item           optional[entry]    `json:"item" doc:"The file or folder, in short form; null unless the collaboration is accepted."`
	AccessibleBy   optional[userMini] `json:"accessible_by" doc:"The collaborator; null while no user has the invited login."`
	InviteEmail    *string            `json:"invite_email" doc:"The invited login, until the invitation is accepted; null if the user already existed."`
	Role           docgen.Role        `json:"role" enum:"editor,viewer,previewer,uploader,previewer uploader,viewer uploader,co-owner"`
	ExpiresAt      timestamp          `json:"expires_at" doc:"When it expires; null for never."`
	IsAccessOnly   bool               `json:"is_access_only" doc:"Whether the location of the item is hidden from the collaborator."`
	CanViewPath    bool               `json:"can_view_path,omitempty" fields:"asked" doc:"Whether the collaborator can see the names of the folders above the item."`
	Status         string             `json:"status" enum:"accepted,pending,rejected"`
	AcknowledgedAt timestamp          `json:"acknowledged_at" doc:"When it was accepted or rejected; null before that."`
	CreatedBy      userMini           `json:"created_by"`
	CreatedAt      timestamp          `json:"created_at"`
	ModifiedAt     timestamp          `json:"modified_at"`
	Requirements   requirements       `json:"acceptance_requirements_status" doc:"What a user must do before accepting. This server requires nothing."`
}

// requirements says that a user can accept without further steps.
type requirements struct {
	Terms struct {
		IsAccepted null `json:"is_accepted" doc:"Always null: there are no terms to accept."`
		Terms      null `json:"terms_of_service"`
	} `json:"terms_of_service_requirement"`
	Password struct {
		Required bool `json:"enterprise_has_strong_password_required_for_external_users" doc:"Always false."`
		Has      null `json:"user_has_strong_password"`
	} `json:"strong_password_requirement"`
	TwoFactor struct {
		Required bool `json:"enterprise_has_two_factor_auth_enabled" doc:"Always false."`
		Has      null `json:"user_has_two_factor_authentication_enabled"`
	} `json:"two_factor_authentication_requirement"`
}

// TransformSchema marks the fields that every view of a collaboration has as required.
func (collaboration) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"type", "id"}
	return s
}

type collaborationView = view[collaboration]

func collaborationOf(c *docgen.Collaboration, fields selection) collaborationView {
	inList := func(item *docgen.Item) entry { return entryOf(item, nil) }
	return collaborationView{fields: fields, value: collaboration{
		Type: "collaboration", ID: ID(c.ID), InviteEmail: orNull(c.InviteLogin), Role: c.Role, ExpiresAt: timestamp{c.ExpiresAt},
		IsAccessOnly: c.AccessOnly, CanViewPath: c.CanViewPath, Status: c.Status, AcknowledgedAt: timestamp{c.AcknowledgedAt},
		CreatedBy: userMiniOf(&c.CreatedBy), CreatedAt: timestamp{c.CreatedAt}, ModifiedAt: timestamp{c.ModifiedAt},
		Item: optionalOf(c.Item, inList), AccessibleBy: optionalOf(c.User, userMiniOf),
	}}
}

// A roleName is a role in a request. docgen validates it.
type roleName string

// Schema describes a role for the OpenAPI document, like in a response.
func (roleName) Schema(r huma.Registry) *huma.Schema {
	f, _ := reflect.TypeFor[collaboration]().FieldByName("Role")
	return huma.SchemaFromField(r, f, "")
}

// A newRole is a role in a change.
type newRole string

// Schema describes the roles that a change can set for the OpenAPI document.
func (newRole) Schema(r huma.Registry) *huma.Schema {
	schema := roleName("").Schema(r)
	schema.Enum = append(slices.Clone(schema.Enum), string(docgen.RoleOwner))
	return schema
}

type createCollaborationRequest struct {
	Item         itemRef         `json:"item" doc:"The file or folder to share."`
	AccessibleBy collaboratorRef `json:"accessible_by" doc:"The user to share it with, by id or by login. A login that no user has is invited."`
	Role         roleName        `json:"role" doc:"What the user may do with the item and everything below it."`
	AccessOnly   bool            `json:"is_access_only,omitempty" doc:"Hide the location of the item from the user (default false)."`
	CanViewPath  bool            `json:"can_view_path,omitempty" doc:"Show the user the names of the folders above the folder (default false). Only the owner and co-owners can set it."`
	ExpiresAt    *timestamp      `json:"expires_at,omitempty" doc:"When the collaboration expires: a time in the future, or null for never."`
}

type itemRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"file,folder"`
}

type collaboratorRef struct {
	Type  string `json:"type" enum:"user,group" doc:"Must be user: this server has no groups."`
	ID    *ID    `json:"id,omitempty"`
	Login string `json:"login,omitempty"`
}

// CreateCollaborationQuery holds the query parameters of a new collaboration.
type CreateCollaborationQuery struct {
	FieldsQuery
	Notify boolParam `query:"notify" doc:"Accepted but ignored: this server sends no email."`
}

var docCreateCollaboration = doc{
	id: "create_collaboration", tag: tagCollaborations, scope: docgen.ScopeWrite,
	summary: "Share a file or folder",
	description: "An existing user becomes a collaborator immediately. A login that no user has is invited: the invitation is pending " +
		"until a user with that login accepts or rejects it. Callers can only assign roles with permissions that they have " +
		"themselves.",
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeCollaborator, docgen.CodeRootCollaboration, docgen.CodeForbidden,
		docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body: createCollaborationRequest{
		Item: itemRef{ID: exampleFolder, Type: typeFolder}, AccessibleBy: collaboratorRef{Type: typeUser, Login: "grace@example.com"},
		Role: "editor",
	},
	example: exampleCollaboration(),
}

func (a *api) createCollaboration(ctx context.Context, c *call, in *CreateCollaborationQuery) (*reply[collaborationView], error) {
	if _, err := in.Notify.parse("notify"); err != nil {
		return nil, err
	}
	var request createCollaborationRequest
	problems, err := c.readJSON(&request)
	if err != nil {
		return nil, err
	}
	if request.AccessibleBy.Type == "group" {
		problems = append(problems, docgen.Problem{Reason: docgen.ReasonInvalid, Name: "accessible_by.type",
			Message: "groups are not supported: share the item with a user"})
	}
	wanted := request.collaboration()
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, a.service.CollaborationProblems(wanted))...)
	}
	made, err := a.service.CreateCollaboration(ctx, c.caller, wanted)
	if err != nil {
		return nil, err
	}
	return &reply[collaborationView]{collaborationOf(made, selectionOf(in.Fields))}, nil
}

// collaboration converts a request for docgen.
func (r *createCollaborationRequest) collaboration() docgen.NewCollaboration {
	wanted := docgen.NewCollaboration{
		ItemID: int64(r.Item.ID), ItemKind: docgen.File, Role: docgen.Role(r.Role), Login: r.AccessibleBy.Login,
		AccessOnly: r.AccessOnly, CanViewPath: r.CanViewPath,
	}
	if r.Item.Type == typeFolder {
		wanted.ItemKind = docgen.Folder
	}
	if r.AccessibleBy.ID != nil {
		wanted.UserID = int64(*r.AccessibleBy.ID)
	}
	if r.ExpiresAt != nil {
		wanted.ExpiresAt = r.ExpiresAt.Time
	}
	return wanted
}

// CollaborationPath identifies a collaboration.
type CollaborationPath struct {
	CollaborationID string `path:"collaboration_id" doc:"The id of the collaboration." example:"12345678"`
}

// CollaborationQuery holds the parameters of a request for a collaboration.
type CollaborationQuery struct {
	CollaborationPath
	FieldsQuery
}

var docGetCollaboration = doc{
	id: "get_collaboration", tag: tagCollaborations, scope: docgen.ScopeRead,
	summary:     "Get a collaboration",
	description: "A collaboration on an item that the caller can see, or an invitation of the caller.",
	errors:      []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed},
	example:     exampleCollaboration(),
}

func (a *api) getCollaboration(ctx context.Context, c *call, in *CollaborationQuery) (*reply[collaborationView], error) {
	id, err := pathID("collab", in.CollaborationID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.Collaboration(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[collaborationView]{collaborationOf(found, selectionOf(in.Fields))}, nil
}

var docUpdateCollaboration = doc{
	id: "update_collaboration", tag: tagCollaborations, scope: docgen.ScopeWrite,
	summary: "Change a collaboration, or answer an invitation",
	description: "Fields that you omit do not change. The owner and co-owners can change role, expires_at, and can_view_path; the " +
		"invited user sets status. Only the owner can set the role owner, which transfers ownership: the item moves to the root " +
		"folder of the new owner with everything below it, the previous owner becomes a co-owner, and the response is 204.",
	errors: []docgen.Code{docgen.CodeInvalidStatus, docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict,
		docgen.CodeNameInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body:    updateCollaborationRequest{Role: "viewer"},
	example: exampleCollaboration(),
	also: func(_ *api, op *huma.Operation) {
		op.Responses["204"] = &huma.Response{Description: "The collaborator is now the owner of the item."}
	},
}

type updateCollaborationRequest struct {
	Role        newRole           `json:"role,omitempty" minLength:"1" doc:"The new role; owner transfers ownership of the item."`
	Status      string            `json:"status,omitempty" enum:"accepted,rejected" doc:"The response of the invited user."`
	ExpiresAt   change[timestamp] `json:"expires_at,omitzero" doc:"When the collaboration expires: a time in the future, or null for never."`
	CanViewPath *bool             `json:"can_view_path,omitempty" doc:"Whether the collaborator can see the names of the folders above the folder."`
}

// change converts a request for docgen.
func (r *updateCollaborationRequest) change() docgen.CollaborationChange {
	wanted := docgen.CollaborationChange{Role: docgen.Role(r.Role), Status: r.Status, CanViewPath: r.CanViewPath}
	if r.ExpiresAt.Given {
		wanted.ExpiresAt = new(time.Time)
		if r.ExpiresAt.Value != nil {
			*wanted.ExpiresAt = r.ExpiresAt.Value.Time
		}
	}
	return wanted
}

// A collaborationChanged is the changed collaboration, or empty after a transfer of ownership.
type collaborationChanged struct {
	Status int
	Body   collaborationView
}

func (a *api) updateCollaboration(ctx context.Context, c *call, in *CollaborationQuery) (*collaborationChanged, error) {
	id, err := pathID("collab", in.CollaborationID)
	if err != nil {
		return nil, err
	}
	var request updateCollaborationRequest
	problems, err := c.readJSON(&request)
	if err != nil {
		return nil, err
	}
	wanted := request.change()
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, a.service.CollaborationChangeProblems(wanted))...)
	}
	changed, err := a.service.UpdateCollaboration(ctx, c.caller, id, wanted)
	if err != nil {
		return nil, err
	}
	if changed == nil {
		return &collaborationChanged{Status: http.StatusNoContent}, nil
	}
	return &collaborationChanged{Status: http.StatusOK, Body: collaborationOf(changed, selectionOf(in.Fields))}, nil
}

var docDeleteCollaboration = doc{
	id: "delete_collaboration", tag: tagCollaborations, scope: docgen.ScopeWrite,
	summary: "Delete a collaboration",
	description: "Deletes a collaboration of the caller, or one on an item that the caller owns or co-owns. The user who sent an " +
		"invitation can withdraw it until it is accepted.",
	status: http.StatusNoContent,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed},
}

func (a *api) deleteCollaboration(ctx context.Context, c *call, in *CollaborationPath) (*empty, error) {
	id, err := pathID("collab", in.CollaborationID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.DeleteCollaboration(ctx, c.caller, id)
}

var docListInvitations = doc{
	id: "list_invitations", tag: tagCollaborations, scope: docgen.ScopeRead,
	summary:     "List pending invitations",
	description: "The invitations that the caller can accept or reject.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset},
	example: offsetPage[collaborationView]{
		TotalCount: 1, Limit: docgen.DefaultPageLimit, Entries: []collaborationView{exampleInvitation()},
	},
}

// InvitationsQuery holds the parameters of a list of invitations.
type InvitationsQuery struct {
	OffsetQuery
	FieldsQuery
	Status string `query:"status" required:"true" enum:"pending" doc:"Must be pending. Other collaborations are listed with their file or folder." example:"pending"`
}

func (a *api) listInvitations(ctx context.Context, c *call, in *InvitationsQuery) (*reply[offsetPage[collaborationView]], error) {
	switch in.Status {
	case docgen.CollaborationPending:
	case "":
		return nil, docgen.Invalid(docgen.Problem{Reason: docgen.ReasonMissing, Name: "status",
			Message: "'status' is required: send status=pending"})
	default:
		return nil, invalidParam("status", "status must be pending; other collaborations are listed with their file or folder")
	}
	request, err := in.OffsetQuery.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Invitations(ctx, c.caller, request)
	if err != nil {
		return nil, err
	}
	fields := selectionOf(in.Fields)
	return offsetPageOf(page, func(one *docgen.Collaboration) collaborationView { return collaborationOf(one, fields) }), nil
}

var docListFileCollaborations = doc{
	id: "list_file_collaborations", tag: tagFiles, scope: docgen.ScopeRead,
	summary:     "List the collaborations on a file",
	description: "Includes pending invitations. Collaborations on a folder above the file are listed with that folder.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound, docgen.CodeTrashed},
	example:     exampleCollaborations(),
}

// FileCollaborationsQuery holds the parameters of a list of collaborations on a file.
type FileCollaborationsQuery struct {
	FilePath
	PageQuery
	FieldsQuery
}

func (a *api) listFileCollaborations(ctx context.Context, c *call, in *FileCollaborationsQuery) (*collaborationsReply, error) {
	id, err := pathID("file", in.FileID)
	if err != nil {
		return nil, err
	}
	return a.listCollaborations(ctx, c, docgen.File, id, in.PageQuery, in.Fields)
}

var docListFolderCollaborations = doc{
	id: "list_folder_collaborations", tag: tagFolders, scope: docgen.ScopeRead,
	summary:     "List the collaborations on a folder",
	description: "Includes pending invitations. Collaborations on a folder above it are listed with that folder.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound, docgen.CodeTrashed},
	example:     exampleCollaborations(),
}

// FolderCollaborationsQuery holds the parameters of a list of collaborations on a folder.
type FolderCollaborationsQuery struct {
	FolderPath
	PageQuery
	FieldsQuery
}

func (a *api) listFolderCollaborations(ctx context.Context, c *call, in *FolderCollaborationsQuery) (*collaborationsReply, error) {
	id, err := pathID("folder", in.FolderID)
	if err != nil {
		return nil, err
	}
	return a.listCollaborations(ctx, c, docgen.Folder, id, in.PageQuery, in.Fields)
}

type collaborationsReply = reply[markerPage[collaborationView]]

// listCollaborations reads a page of the collaborations on a file or folder.
func (a *api) listCollaborations(ctx context.Context, c *call, kind docgen.Kind, id int64, q PageQuery,
	fields string) (*collaborationsReply, error) {
	request, err := q.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Collaborations(ctx, c.caller, kind, id, request)
	if err != nil {
		return nil, err
	}
	selected := selectionOf(fields)
	return pageOf(page, func(one *docgen.Collaboration) collaborationView { return collaborationOf(one, selected) }), nil
}
