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
	Login             string      `json:"login" doc:"Of a user without a login of their own, one that nobody can use."`
	CreatedAt         timestamp   `json:"created_at"`
	ModifiedAt        timestamp   `json:"modified_at"`
	Language          string      `json:"language" doc:"A language tag; empty when not said."`
	TimeZone          string      `json:"timezone" doc:"The name of a time zone; empty when not said."`
	SpaceAmount       int64       `json:"space_amount" doc:"The most bytes that the user may store; -1 for no limit."`
	SpaceUsed         int64       `json:"space_used" doc:"Bytes of all versions of the user's files, including past versions and the trash."`
	MaxUploadSize     int64       `json:"max_upload_size" doc:"Bytes that a file may have, of anybody's."`
	Status            string      `json:"status" enum:"active,inactive,cannot_delete_edit,cannot_delete_edit_upload"`
	JobTitle          string      `json:"job_title"`
	Phone             string      `json:"phone"`
	Address           string      `json:"address"`
	AvatarURL         null        `json:"avatar_url" doc:"Always null."`
	NotificationEmail null        `json:"notification_email" doc:"Always null."`
	Role              string      `json:"role,omitempty" enum:"admin,coadmin,user" fields:"asked"`
	Enterprise        *enterprise `json:"enterprise,omitempty" fields:"asked"`
	Weight            int64       `json:"weight,omitempty" fields:"asked" doc:"The share of the machine for the user's documents and notifications, compared with the weights of other users; 1 to 100."`
	PlatformOnly      *bool       `json:"is_platform_access_only,omitempty" fields:"asked" doc:"Whether only applications know the user."`
	ExternalID        *string     `json:"external_app_user_id,omitempty" fields:"asked" doc:"What an application calls the user; empty when not said."`
}

type enterprise struct {
	Type string `json:"type" enum:"enterprise"`
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

// userReply is a user, or the fields of one that a request selects.
type userReply = reply[view[user]]

func (a *api) userOf(u *docgen.User) user {
	return user{
		Type: typeUser, ID: ID(u.ID), Name: u.Name, Login: u.Login, Status: u.Status, Role: u.Role,
		CreatedAt: timestamp{u.CreatedAt}, ModifiedAt: timestamp{u.ModifiedAt},
		Language: u.Profile.Language, TimeZone: u.Profile.TimeZone, JobTitle: u.Profile.JobTitle, Phone: u.Profile.Phone, Address: u.Profile.Address,
		SpaceAmount: spaceAmount(u.Space.Quota), SpaceUsed: u.Space.Bytes, MaxUploadSize: a.service.Limits().UploadBytes,
		Enterprise:   &enterprise{Type: typeEnterprise, ID: ID(u.EnterpriseID), Name: u.EnterpriseName},
		PlatformOnly: &u.PlatformOnly, ExternalID: &u.ExternalID, Weight: u.Weight,
	}
}

// spaceAmount is a quota as the interface writes it.
func spaceAmount(q docgen.Quota) int64 {
	if q.Bytes == 0 {
		return -1
	}
	return q.Bytes
}

func (a *api) userReply(u *docgen.User, fields string) *userReply {
	return &userReply{view[user]{value: a.userOf(u), fields: selectionOf(fields)}}
}

// TransformSchema demands of a user what every view of one has.
func (user) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"type", "id"}
	return s
}

var docGetMe = doc{
	id: "get_me", tag: tagUsers,
	summary:     "Get the caller",
	description: "The user that the call acts for. Any token may ask.",
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
const orAppUsers = " Of users that only applications know (is_platform_access_only), the scope is `manage_app_users`. Accounts of applications and of the " +
	"enterprise itself are not found here."

var docListUsers = doc{
	id: "list_users", tag: tagUsers, scope: docgen.ScopeManagedUsers,
	summary: "List users",
	description: "By growing id: by offset, or by marker when usemarker is true. Whom the caller does not manage is left out, and not counted." +
		orAppUsers,
	errors:  []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeInvalidOffset},
	example: &offsetPage[view[user]]{TotalCount: 1, Limit: docgen.DefaultPageLimit, Entries: []view[user]{{value: exampleUser()}}},
}

// ListUsersQuery asks for users.
type ListUsersQuery struct {
	FieldsQuery
	OffsetQuery
	MarkerQuery
	Term       string `query:"filter_term" doc:"What the name or the login begins with, whatever the case." example:"ada"`
	UserType   string `query:"user_type" enum:"all,managed,external" doc:"All users of the enterprise are managed; there are no external ones."`
	ExternalID string `query:"external_app_user_id" doc:"What an application calls the user."`
}

func (q *ListUsersQuery) filter() docgen.UserFilter {
	return docgen.UserFilter{Term: q.Term, Type: q.UserType, ExternalID: q.ExternalID}
}

// usersReply is a page by offset, or one by marker.
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
	description: "With an empty root folder. Only an administrator makes administrators." + orAppUsers,
	errors:      []docgen.Code{docgen.CodeLoginInUse, codeMediaType, docgen.CodeBodyTooLarge},
	body:        createUserRequest{Name: "Grace Hopper", Login: "grace@example.com", Role: "user", Language: "en", TimeZone: "America/New_York"},
	example:     view[user]{value: exampleUser()},
}

type createUserRequest struct {
	Name         string `json:"name"`
	Login        string `json:"login,omitempty" doc:"Needed, unless is_platform_access_only is true."`
	PlatformOnly bool   `json:"is_platform_access_only,omitempty" doc:"Make a user that only applications know."`
	Role         string `json:"role,omitempty" enum:"admin,coadmin,user" doc:"user when left out."`
	Status       string `json:"status,omitempty" enum:"active,inactive,cannot_delete_edit,cannot_delete_edit_upload" doc:"active when left out."`
	Language     string `json:"language,omitempty" doc:"A language tag, such as de."`
	TimeZone     string `json:"timezone,omitempty" doc:"The name of a time zone, such as Europe/Paris."`
	JobTitle     string `json:"job_title,omitempty"`
	Phone        string `json:"phone,omitempty"`
	Address      string `json:"address,omitempty"`
	ExternalID   string `json:"external_app_user_id,omitempty" doc:"What an application calls the user."`
}

func (r *createUserRequest) user() docgen.NewUser {
	return docgen.NewUser{
		Login: r.Login, Name: r.Name, Role: r.Role, Status: r.Status, PlatformOnly: r.PlatformOnly, ExternalID: r.ExternalID,
		Profile: docgen.Profile{Language: r.Language, TimeZone: r.TimeZone, JobTitle: r.JobTitle, Phone: r.Phone, Address: r.Address},
	}
}

func (a *api) createUser(ctx context.Context, c *call, in *FieldsQuery) (*userReply, error) {
	var request createUserRequest
	problems, err := c.readJSON(maxJSONBytes, &request)
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

// UserPath names a user.
type UserPath struct {
	UserID string `path:"user_id" doc:"The id of the user." example:"33445566"`
}

// UserQuery names a user and what to show of one.
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
	description: "What is left out stays as it is. The tokens of a user who becomes inactive are refused at once. Only an administrator changes administrators or " +
		"makes one, nobody changes their own role or status, and an active administrator must be left. Changing your own login needs the scope `enterprise_content`, because " +
		"you get what others share with that login." + orAppUsers,
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
	ExternalID *string `json:"external_app_user_id,omitempty" doc:"What an application calls the user; empty for nothing."`
	Notify     bool    `json:"notify,omitempty" doc:"Accepted; nobody is notified."`
	Weight     *int64  `json:"weight,omitempty" doc:"The share of the machine for the user's documents and notifications, compared with the weights of other users; 1 to 100. Only administrators change it."`

	SpaceAmount *int64 `json:"space_amount,omitempty" doc:"The most bytes that the user may store; -1 for no limit."`
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
	problems, err := c.readJSON(maxJSONBytes, &request)
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
	description: "With the user's tokens and collaborations. A user who owns files or folders, perhaps in the trash, is deleted only with force, which removes them for " +
		"good; to keep them, move them first. Documents of batches that are still under way fail where they can no longer be put. The name and the login stay where the user " +
		"made or changed something, and in the audit log; erase replaces them there, also those of a user who was deleted before, and deletes the user's batches with their " +
		"data, webhooks with what was sent to them, addresses in the audit log, and invitations. The account is gone, and its name and login are replaced, when the " +
		"response is sent; the rest is erased in the background." + orAppUsers,
	errors: []docgen.Code{docgen.CodeUserOwns},
}

// DeleteUserQuery says which user to delete, and how.
type DeleteUserQuery struct {
	UserPath
	Force  boolParam `query:"force" doc:"Remove for good all that the user owns."`
	Erase  boolParam `query:"erase" doc:"Erase all personal data of the user, also that of one who was deleted before."`
	Notify boolParam `query:"notify" doc:"Accepted; nobody is notified."`
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
	summary: "Move all that a user owns to another user",
	description: "Into a new folder in the root folder of the other one, who owns it all from then on, what is in the trash too. The answer is that folder, as its new owner " +
		"has it. Needs the scope `enterprise_content` too, because the caller could read everything afterwards." + orAppUsers,
	errors:  []docgen.Code{docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:    transferRequest{OwnedBy: newOwner{ID: exampleAuthor.ID}},
	example: view[folder]{value: exampleFolderObject()},
}

type transferRequest struct {
	OwnedBy newOwner `json:"owned_by" doc:"Who is to own the content."`
}

type newOwner struct {
	ID   ID     `json:"id"`
	Type string `json:"type,omitempty" enum:"user"`
}

// TransferQuery says whose content is to be moved.
type TransferQuery struct {
	UserPath
	FieldsQuery
	Notify boolParam `query:"notify" doc:"Accepted; nobody is notified."`
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
