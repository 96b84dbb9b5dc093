package server

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

type user struct {
	Type       string      `json:"type" enum:"user"`
	ID         ID          `json:"id"`
	Name       string      `json:"name"`
	Login      string      `json:"login"`
	CreatedAt  timestamp   `json:"created_at"`
	ModifiedAt timestamp   `json:"modified_at"`
	Status     string      `json:"status" enum:"active,inactive,cannot_delete_edit,cannot_delete_edit_upload"`
	Role       string      `json:"role,omitempty" enum:"admin,coadmin,user" fields:"asked"`
	Enterprise *enterprise `json:"enterprise,omitempty" fields:"asked"`
}

type enterprise struct {
	Type string `json:"type" enum:"enterprise"`
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

func userOf(u *docgen.User) user {
	return user{
		Type: typeUser, ID: ID(u.ID), Name: u.Name, Login: u.Login, Status: u.Status, Role: u.Role,
		CreatedAt: timestamp{u.CreatedAt}, ModifiedAt: timestamp{u.ModifiedAt},
		Enterprise: &enterprise{Type: typeEnterprise, ID: ID(u.EnterpriseID), Name: u.EnterpriseName},
	}
}

var docGetMe = doc{
	id: "get_me", tag: tagUsers,
	summary:     "Get the caller",
	description: "The user that the access token acts for. Any token may ask.",
	example:     view[user]{value: exampleUser()},
}

func (a *api) getMe(ctx context.Context, c *call, in *FieldsQuery) (*reply[view[user]], error) {
	me, err := a.service.Me(ctx, c.caller)
	if err != nil {
		return nil, err
	}
	return &reply[view[user]]{view[user]{value: userOf(&me), fields: selectionOf(in.Fields)}}, nil
}

// TransformSchema demands of a user what every view of one has.
func (user) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"type", "id"}
	return s
}
