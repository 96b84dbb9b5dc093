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
	Item           optional[entry]    `json:"item" doc:"The file or folder, in its short form; null unless the collaboration is accepted."`
	AccessibleBy   optional[userMini] `json:"accessible_by" doc:"The collaborator; null while nobody has the login that was invited."`
	InviteEmail    *string            `json:"invite_email" doc:"The login that was invited, until the invitation is accepted; null of a user who was there."`
	Role           docgen.Role        `json:"role" enum:"editor,viewer,previewer,uploader,previewer uploader,viewer uploader,co-owner"`
	ExpiresAt      timestamp          `json:"expires_at" doc:"When it ends by itself; null for never."`
	IsAccessOnly   bool               `json:"is_access_only" doc:"The collaborator sees nothing of where the item lies."`
	CanViewPath    bool               `json:"can_view_path,omitempty" fields:"asked" doc:"The collaborator sees the names of the folders above the item."`
	Status         string             `json:"status" enum:"accepted,pending,rejected"`
	AcknowledgedAt timestamp          `json:"acknowledged_at" doc:"When it was accepted or rejected; null until then."`
	CreatedBy      userMini           `json:"created_by"`
	CreatedAt      timestamp          `json:"created_at"`
	ModifiedAt     timestamp          `json:"modified_at"`
	Requirements   requirements       `json:"acceptance_requirements_status" doc:"What a user must do before accepting: nothing, on this server."`
}

// requirements says that nothing stands between a user and a collaboration.
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

// TransformSchema demands of a collaboration what every view of one has.
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

// A roleName is a role in a request; docgen knows the roles.
type roleName string

// Schema describes a role for the OpenAPI document as the answer has it.
func (roleName) Schema(r huma.Registry) *huma.Schema {
	f, _ := reflect.TypeFor[collaboration]().FieldByName("Role")
	return huma.SchemaFromField(r, f, "")
}

// A newRole is a role in a change.
type newRole string

// Schema describes a role that a change gives for the OpenAPI document.
func (newRole) Schema(r huma.Registry) *huma.Schema {
	schema := roleName("").Schema(r)
	schema.Enum = append(slices.Clone(schema.Enum), string(docgen.RoleOwner))
	return schema
}

type createCollaborationRequest struct {
	Item         itemRef         `json:"item" doc:"The file or folder to share."`
	AccessibleBy collaboratorRef `json:"accessible_by" doc:"The user to share it with, by id or by login. A login that nobody has is invited."`
	Role         roleName        `json:"role" doc:"What the user may do with it, and with all that lies below it."`
	AccessOnly   bool            `json:"is_access_only,omitempty" doc:"Show the user nothing of where the item lies."`
	CanViewPath  bool            `json:"can_view_path,omitempty" doc:"Show the user the names of the folders above the folder. Only the owner and co-owners may."`
	ExpiresAt    *timestamp      `json:"expires_at,omitempty" doc:"When the collaboration ends by itself: a time in the future, or null for never."`
}

type itemRef struct {
	ID   ID     `json:"id"`
	Type string `json:"type" enum:"file,folder"`
}

type collaboratorRef struct {
	Type  string `json:"type" enum:"user,group" doc:"user: this server has no groups."`
	ID    *ID    `json:"id,omitempty"`
	Login string `json:"login,omitempty"`
}

// CreateCollaborationQuery says how to answer a new collaboration.
type CreateCollaborationQuery struct {
	FieldsQuery
	Notify boolParam `query:"notify" doc:"Accepted and without effect: this server sends no mail."`
}

var docCreateCollaboration = doc{
	id: "create_collaboration", tag: tagCollaborations, scope: docgen.ScopeWrite,
	summary: "Share a file or folder",
	description: "A user of this server becomes a collaborator at once. A login that nobody has is invited: the invitation is pending until there " +
		"is a user with that login, who accepts or rejects it. Nobody can give a role that may do more than they may themselves.",
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeCollaborator, docgen.CodeRootCollaboration, docgen.CodeForbidden,
		docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body: createCollaborationRequest{
		Item: itemRef{ID: exampleFolder, Type: typeFolder}, AccessibleBy: collaboratorRef{Type: typeUser, Login: "grace@example.com"}, Role: "editor",
	},
	example: exampleCollaboration(),
}

func (a *api) createCollaboration(ctx context.Context, c *call, in *CreateCollaborationQuery) (*reply[collaborationView], error) {
	if _, err := in.Notify.parse("notify"); err != nil {
		return nil, err
	}
	var request createCollaborationRequest
	problems, err := c.readJSON(maxJSONBytes, &request)
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

// collaboration says in docgen's words what a request asks for.
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

// CollaborationPath names a collaboration.
type CollaborationPath struct {
	CollaborationID string `path:"collaboration_id" doc:"The id of the collaboration." example:"12345678"`
}

// CollaborationQuery asks for a collaboration.
type CollaborationQuery struct {
	CollaborationPath
	FieldsQuery
}

var docGetCollaboration = doc{
	id: "get_collaboration", tag: tagCollaborations, scope: docgen.ScopeRead,
	summary:     "Get a collaboration",
	description: "One on an item that the caller sees, or an invitation of the caller's own.",
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
	description: "What is left out stays as it is. The owner and co-owners change role, expires_at and can_view_path; who was invited sends the " +
		"status. With the role owner, which the owner alone can give, the collaborator becomes the owner of the item: it moves into their root " +
		"folder with all that lies below it, who owned it becomes a co-owner, and the answer is 204.",
	errors: []docgen.Code{docgen.CodeInvalidStatus, docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict,
		docgen.CodeNameInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body:    updateCollaborationRequest{Role: "viewer"},
	example: exampleCollaboration(),
	also: func(_ *api, op *huma.Operation) {
		op.Responses["204"] = &huma.Response{Description: "The collaborator is now the owner of the item."}
	},
}

type updateCollaborationRequest struct {
	Role        newRole           `json:"role,omitempty" minLength:"1" doc:"The new role; owner gives the item away."`
	Status      string            `json:"status,omitempty" enum:"accepted,rejected" doc:"The answer of who was invited."`
	ExpiresAt   change[timestamp] `json:"expires_at,omitzero" doc:"When the collaboration ends by itself: a time in the future, or null for never."`
	CanViewPath *bool             `json:"can_view_path,omitempty" doc:"Whether the user sees the names of the folders above the folder."`
}

// change says in docgen's words what a request asks for.
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

// A collaborationChanged is what became of a collaboration: nothing, where it made an owner.
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
	problems, err := c.readJSON(maxJSONBytes, &request)
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
	summary: "End a collaboration",
	description: "The caller's own, or that of another on an item that the caller owns or is a co-owner of. Who invited may withdraw what is " +
		"not accepted.",
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
	summary:     "List what the caller is invited to",
	description: "The invitations that wait for the caller to accept or reject them.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset},
	example: offsetPage[collaborationView]{
		TotalCount: 1, Limit: docgen.DefaultPageLimit, Entries: []collaborationView{exampleInvitation()},
	},
}

// InvitationsQuery asks for the invitations of the caller.
type InvitationsQuery struct {
	OffsetQuery
	FieldsQuery
	Status string `query:"status" required:"true" enum:"pending" doc:"pending: others are listed with their file or folder." example:"pending"`
}

func (a *api) listInvitations(ctx context.Context, c *call, in *InvitationsQuery) (*reply[offsetPage[collaborationView]], error) {
	switch in.Status {
	case docgen.CollaborationPending:
	case "":
		return nil, docgen.Invalid(docgen.Problem{Reason: docgen.ReasonMissing, Name: "status", Message: "'status' is required: send status=pending"})
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
	summary:     "List who collaborates on a file",
	description: "And who is invited to. Who collaborates on a folder above it is listed with that folder.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound, docgen.CodeTrashed},
	example:     exampleCollaborations(),
}

// FileCollaborationsQuery asks for the collaborations on a file.
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
	summary:     "List who collaborates on a folder",
	description: "And who is invited to. Who collaborates on a folder above it is listed with that folder.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound, docgen.CodeTrashed},
	example:     exampleCollaborations(),
}

// FolderCollaborationsQuery asks for the collaborations on a folder.
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
func (a *api) listCollaborations(ctx context.Context, c *call, kind docgen.Kind, id int64, q PageQuery, fields string) (*collaborationsReply, error) {
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
