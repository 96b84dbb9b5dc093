package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

type user struct {
	Type              string      `json:"type" enum:"user"`
	ID                ID          `json:"id"`
	Name              string      `json:"name"`
	Login             string      `json:"login" doc:"The login. Users without a login of their own have one that nobody can use."`
	CreatedAt         timestamp   `json:"created_at"`
	ModifiedAt        timestamp   `json:"modified_at"`
	Language          string      `json:"language" doc:"A language tag; empty if not set."`
	TimeZone          string      `json:"timezone" doc:"The name of a time zone; empty if not set."`
	SpaceAmount       int64       `json:"space_amount" doc:"The storage quota of the user, in bytes; -1 for no limit."`
	SpaceUsed         int64       `json:"space_used" doc:"The storage used, in bytes: all versions of the user's files, including past versions and the trash."`
	MaxUploadSize     int64       `json:"max_upload_size" doc:"Maximum size of an uploaded file, in bytes, for all users."`
	Status            string      `json:"status" enum:"active,inactive,cannot_delete_edit,cannot_delete_edit_upload"`
	JobTitle          string      `json:"job_title"`
	Phone             string      `json:"phone"`
	Address           string      `json:"address"`
	AvatarURL         null        `json:"avatar_url" doc:"Always null."`
	NotificationEmail null        `json:"notification_email" doc:"Always null."`
	Role              string      `json:"role,omitempty" enum:"admin,coadmin,user" fields:"asked"`
	Enterprise        *enterprise `json:"enterprise,omitempty" fields:"asked"`
	Weight            int64       `json:"weight,omitempty" fields:"asked" doc:"The user's share of the machine for documents and notifications, relative to the weights of other users; 1 to 100 (default 1)."`
	PlatformOnly      *bool       `json:"is_platform_access_only,omitempty" fields:"asked" doc:"Whether only applications use the account."`
	ExternalID        *string     `json:"external_app_user_id,omitempty" fields:"asked" doc:"The id of the user in an application; empty if not set."`
}

type enterprise struct {
	Type string `json:"type" enum:"enterprise"`
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

// userReply is a user, or the fields of a user that a request selects.
type userReply = reply[view[user]]

func (a *api) userOf(u *docgen.User) user {
	return user{
		Type: typeUser, ID: ID(u.ID), Name: u.Name, Login: u.Login, Status: u.Status, Role: u.Role,
		CreatedAt: timestamp{u.CreatedAt}, ModifiedAt: timestamp{u.ModifiedAt},
		Language: u.Profile.Language, TimeZone: u.Profile.TimeZone, JobTitle: u.Profile.JobTitle, Phone: u.Profile.Phone,
		Address:     u.Profile.Address,
		SpaceAmount: spaceAmount(u.Space.Quota), SpaceUsed: u.Space.Bytes, MaxUploadSize: a.service.Limits().UploadBytes,
		Enterprise:   &enterprise{Type: typeEnterprise, ID: ID(u.EnterpriseID), Name: u.EnterpriseName},
		PlatformOnly: &u.PlatformOnly, ExternalID: &u.ExternalID, Weight: u.Weight,
	}
}

// spaceAmount encodes a quota.
func spaceAmount(q docgen.Quota) int64 {
	if q.Bytes == 0 {
		return -1
	}
	return q.Bytes
}

func (a *api) userReply(u *docgen.User, fields string) *userReply {
	return &userReply{view[user]{value: a.userOf(u), fields: selectionOf(fields)}}
}

// TransformSchema marks the fields that every view of a user has as required.
func (user) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"type", "id"}
	return s
}

var docGetMe = doc{
	id: "get_me", tag: tagUsers,
	summary:     "Get the caller",
	description: "The user that the request acts for. Works with any token.",
	example:     view[user]{value: exampleUser()},
}

func (a *api) getMe(ctx context.Context, c *call, in *FieldsQuery) (*userReply, error) {
	me, err := a.service.Me(ctx, c.caller)
	if err != nil {
		return nil, err
	}
	return a.userReply(&me, in.Fields), nil
}

// orAppUsers ends the descriptions of operations on users.
const orAppUsers = " For users that only applications use (is_platform_access_only), the scope is `manage_app_users`. These operations " +
	"do not find the accounts of applications and of the enterprise."

var docListUsers = doc{
	id: "list_users", tag: tagUsers, scope: docgen.ScopeManagedUsers,
	summary: "List users",
	description: "In ascending order of id: by offset, or by marker if usemarker is true. Users that the caller does not manage " +
		"are neither listed nor counted." +
		orAppUsers,
	errors:  []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset},
	example: &offsetPage[view[user]]{TotalCount: 1, Limit: docgen.DefaultPageLimit, Entries: []view[user]{{value: exampleUser()}}},
}

// ListUsersQuery holds the parameters of a list of users.
type ListUsersQuery struct {
	FieldsQuery
	OffsetQuery
	MarkerQuery
	Term       string `query:"filter_term" doc:"A prefix of the name or the login, case-insensitive." example:"ada"`
	UserType   string `query:"user_type" enum:"all,managed,external" doc:"Every user of the enterprise is managed. There are no external users."`
	ExternalID string `query:"external_app_user_id" doc:"The id of the user in an application."`
}

func (q *ListUsersQuery) filter() docgen.UserFilter {
	return docgen.UserFilter{Term: q.Term, Type: q.UserType, ExternalID: q.ExternalID}
}

// usersReply is a page by offset or by marker.
type (
	usersReply = reply[usersPage]
	usersPage  = either[offsetPage[view[user]], markerPage[view[user]]]
)

func (a *api) listUsers(ctx context.Context, c *call, in *ListUsersQuery) (*usersReply, error) {
	byMarker, err := in.UseMarker.parse("usemarker")
	if err != nil {
		return nil, err
	}
	fields := selectionOf(in.Fields)
	encode := func(u *docgen.User) view[user] { return view[user]{value: a.userOf(u), fields: fields} }
	if byMarker {
		request, err := docgen.ParsePage(string(in.Limit), in.Marker)
		if err != nil {
			return nil, err
		}
		page, err := a.service.Users(ctx, c.caller, in.filter(), request)
		if err != nil {
			return nil, err
		}
		return &usersReply{usersPage{second: &pageOf(page, encode).Body}}, nil
	}
	request, err := in.OffsetQuery.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.UsersByOffset(ctx, c.caller, in.filter(), request)
	if err != nil {
		return nil, err
	}
	return &usersReply{usersPage{first: &offsetPageOf(page, encode).Body}}, nil
}

var docCreateUser = doc{
	id: "create_user", tag: tagUsers, scope: docgen.ScopeManagedUsers,
	summary: "Create a user", status: http.StatusCreated,
	description: "Creates a user with an empty root folder. Only administrators can create administrators." + orAppUsers,
	errors:      []docgen.Code{docgen.CodeLoginInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body: createUserRequest{Name: "Grace Hopper", Login: "grace@example.com", Role: "user", Language: "en",
		TimeZone: "America/New_York"},
	example: view[user]{value: exampleUser()},
}

type createUserRequest struct {
	Name         string `json:"name"`
	Login        string `json:"login,omitempty" doc:"Required unless is_platform_access_only is true."`
	PlatformOnly bool   `json:"is_platform_access_only,omitempty" doc:"Create a user that only applications use (default false)."`
	Role         string `json:"role,omitempty" enum:"admin,coadmin,user" doc:"The role (default user)."`
	Status       string `json:"status,omitempty" enum:"active,inactive,cannot_delete_edit,cannot_delete_edit_upload" doc:"The status (default active)."`
	Language     string `json:"language,omitempty" doc:"A language tag, such as de."`
	TimeZone     string `json:"timezone,omitempty" doc:"The name of a time zone, such as Europe/Paris."`
	JobTitle     string `json:"job_title,omitempty"`
	Phone        string `json:"phone,omitempty"`
	Address      string `json:"address,omitempty"`
	ExternalID   string `json:"external_app_user_id,omitempty" doc:"The id of the user in an application."`
}

func (r *createUserRequest) user() docgen.NewUser {
	return docgen.NewUser{
		Login: r.Login, Name: r.Name, Role: r.Role, Status: r.Status, PlatformOnly: r.PlatformOnly, ExternalID: r.ExternalID,
		Profile: docgen.Profile{Language: r.Language, TimeZone: r.TimeZone, JobTitle: r.JobTitle, Phone: r.Phone, Address: r.Address},
	}
}

func (a *api) createUser(ctx context.Context, c *call, in *FieldsQuery) (*userReply, error) {
	var request createUserRequest
	problems, err := c.readJSON(&request)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, request.user().Problems())...)
	}
	made, err := a.service.AddUser(ctx, c.caller, request.user())
	if err != nil {
		return nil, err
	}
	return a.userReply(&made, in.Fields), nil
}

// UserPath identifies a user.
type UserPath struct {
	UserID string `path:"user_id" doc:"The id of the user." example:"33445566"`
}

// UserQuery identifies a user and selects fields.
type UserQuery struct {
	UserPath
	FieldsQuery
}

var docGetUser = doc{
	id: "get_user", tag: tagUsers, scope: docgen.ScopeManagedUsers,
	summary:     "Get a user",
	description: orAppUsers[1:],
	example:     view[user]{value: exampleUser()},
}

func (a *api) getUser(ctx context.Context, c *call, in *UserQuery) (*userReply, error) {
	id, err := pathID("user", in.UserID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.User(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return a.userReply(&found, in.Fields), nil
}

var docUpdateUser = doc{
	id: "update_user", tag: tagUsers, scope: docgen.ScopeManagedUsers,
	summary: "Change a user",
	description: "Fields that you omit do not change. When a user becomes inactive, the server rejects their tokens immediately. Only " +
		"administrators can change administrators or promote users to administrator. You cannot change your own role or status, and " +
		"one administrator must stay active. Changing your own login requires the scope `enterprise_content`, because you get access " +
		"to everything that others share with that login." + orAppUsers,
	errors:  []docgen.Code{docgen.CodeLoginInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body:    updateUserRequest{Status: new(docgen.StatusInactive)},
	example: view[user]{value: exampleUser()},
}

type updateUserRequest struct {
	Name       *string `json:"name,omitempty"`
	Login      *string `json:"login,omitempty"`
	Role       *string `json:"role,omitempty" enum:"admin,coadmin,user"`
	Status     *string `json:"status,omitempty" enum:"active,inactive,cannot_delete_edit,cannot_delete_edit_upload"`
	Language   *string `json:"language,omitempty" doc:"A language tag, such as de; empty for none."`
	TimeZone   *string `json:"timezone,omitempty" doc:"The name of a time zone, such as Europe/Paris; empty for none."`
	JobTitle   *string `json:"job_title,omitempty"`
	Phone      *string `json:"phone,omitempty"`
	Address    *string `json:"address,omitempty"`
	ExternalID *string `json:"external_app_user_id,omitempty" doc:"The id of the user in an application; empty for none."`
	Notify     bool    `json:"notify,omitempty" doc:"Accepted but ignored: this server sends no email."`
	Weight     *int64  `json:"weight,omitempty" doc:"The user's share of the machine for documents and notifications, relative to the weights of other users; 1 to 100. Only administrators can change it."`

	SpaceAmount *int64 `json:"space_amount,omitempty" doc:"The storage quota of the user, in bytes; -1 for no limit."`
}

func (r *updateUserRequest) change() docgen.UserChange {
	return docgen.UserChange{
		Name: r.Name, Login: r.Login, Role: r.Role, Status: r.Status, Language: r.Language, TimeZone: r.TimeZone,
		JobTitle: r.JobTitle, Phone: r.Phone, Address: r.Address, ExternalID: r.ExternalID, SpaceAmount: r.SpaceAmount, Weight: r.Weight,
	}
}

func (a *api) updateUser(ctx context.Context, c *call, in *UserQuery) (*userReply, error) {
	id, err := pathID("user", in.UserID)
	if err != nil {
		return nil, err
	}
	var request updateUserRequest
	problems, err := c.readJSON(&request)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, request.change().Problems())...)
	}
	changed, err := a.service.UpdateUser(ctx, c.caller, id, request.change())
	if err != nil {
		return nil, err
	}
	return a.userReply(&changed, in.Fields), nil
}

var docDeleteUser = doc{
	id: "delete_user", tag: tagUsers, scope: docgen.ScopeManagedUsers,
	summary: "Delete a user", status: http.StatusNoContent,
	description: "Deletes a user with their tokens and collaborations. A user who owns files or folders, including the trash, is " +
		"deleted only with force, which deletes these permanently; to keep them, transfer them first. Documents of batches in " +
		"progress fail if their destination is gone. The name and login remain where the user created or changed something, and in " +
		"the audit log. erase replaces them there, even for a user who was deleted earlier, and deletes the user's batches with their " +
		"data, webhooks with their deliveries, IP addresses in the audit log, and invitations. When the response arrives, the account " +
		"is deleted and its name and login are replaced; the rest is erased in the background." + orAppUsers,
	errors: []docgen.Code{docgen.CodeUserOwns},
}

// DeleteUserQuery holds the parameters of a deletion of a user.
type DeleteUserQuery struct {
	UserPath
	Force  boolParam `query:"force" doc:"Permanently delete everything that the user owns (default false)."`
	Erase  boolParam `query:"erase" doc:"Erase all personal data of the user, even if the user was deleted earlier (default false)."`
	Notify boolParam `query:"notify" doc:"Accepted but ignored: this server sends no email."`
}

func (a *api) deleteUser(ctx context.Context, c *call, in *DeleteUserQuery) (*empty, error) {
	id, err := pathID("user", in.UserID)
	if err != nil {
		return nil, err
	}
	force, err := in.Force.parse("force")
	if err != nil {
		return nil, err
	}
	erase, err := in.Erase.parse("erase")
	if err != nil {
		return nil, err
	}
	if erase {
		return &empty{}, a.service.EraseUser(ctx, c.caller, id, docgen.Erasure{Delete: force})
	}
	return &empty{}, a.service.DeleteUser(ctx, c.caller, id, force)
}

var docTransferContent = doc{
	id: "transfer_content", tag: tagUsers, scope: docgen.ScopeManagedUsers,
	summary: "Transfer everything that a user owns to another user",
	description: "Moves all items of the user, including the trash, to a new folder in the root folder of the other user, who owns them " +
		"from then on. Returns that folder as the new owner sees it. Also requires the scope `enterprise_content`, because the caller " +
		"could read everything afterward." + orAppUsers,
	errors:  []docgen.Code{docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:    transferRequest{OwnedBy: newOwner{ID: exampleAuthor.ID}},
	example: view[folder]{value: exampleFolderObject()},
}

type transferRequest struct {
	OwnedBy newOwner `json:"owned_by" doc:"The new owner."`
}

type newOwner struct {
	ID   ID     `json:"id"`
	Type string `json:"type,omitempty" enum:"user"`
}

// TransferQuery identifies the user whose content is transferred.
type TransferQuery struct {
	UserPath
	FieldsQuery
	Notify boolParam `query:"notify" doc:"Accepted but ignored: this server sends no email."`
}

func (a *api) transferContent(ctx context.Context, c *call, in *TransferQuery) (*itemReply[folder], error) {
	id, err := pathID("user", in.UserID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[transferRequest](c)
	if err != nil {
		return nil, err
	}
	item, err := a.service.TransferContent(ctx, c.caller, id, int64(request.OwnedBy.ID))
	if err != nil {
		return nil, err
	}
	return folderReply(item, nil, in.Fields), nil
}
