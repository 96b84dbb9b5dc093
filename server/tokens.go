package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

type issuedToken struct {
	Type        string          `json:"type" enum:"token"`
	ID          ID              `json:"id"`
	Kind        string          `json:"kind" enum:"access,refresh"`
	Name        string          `json:"name" doc:"The name that its creator gave it, or empty."`
	User        userMini        `json:"user" doc:"The user that the token acts for."`
	Application applicationMini `json:"application" doc:"The application that requested the token. Tokens from platen token create belong to a separate application."`
	Scopes      []docgen.Scope  `json:"scopes"`
	CreatedAt   timestamp       `json:"created_at"`
	ExpiresAt   timestamp       `json:"expires_at" doc:"When it expires; null for never."`
	LastUsedAt  timestamp       `json:"last_used_at" doc:"Updated about once a minute; null until the first use, and for refresh tokens, which each use replaces."`
	IsCurrent   bool            `json:"is_current" doc:"Whether this request uses it."`
}

type applicationMini struct {
	Type string `json:"type" enum:"application"`
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

func tokenOf(t *docgen.IssuedToken) issuedToken {
	return issuedToken{
		Type: typeToken, ID: ID(t.ID), Kind: t.Kind, Name: t.Name, User: userMiniOf(&t.User),
		Application: applicationMini{Type: typeApplication, ID: ID(t.Application.ID), Name: t.Application.Name},
		Scopes:      t.Scopes, CreatedAt: timestamp{t.CreatedAt}, ExpiresAt: timestamp{t.ExpiresAt}, LastUsedAt: timestamp{t.UsedAt},
		IsCurrent: t.Current,
	}
}

var docListTokens = doc{
	id: "list_tokens", tag: tagTokens,
	summary: "List tokens",
	description: "Valid access and refresh tokens, in ascending order of id. The response never contains the tokens themselves, because " +
		"the server stores only their hashes. By default, lists the tokens of the caller, with any token. Tokens of other users " +
		"require the scope `manage_managed_users`, or `manage_app_users` for users that only applications use. `platen token list` " +
		"shows the tokens of service accounts.",
	errors:  []docgen.Code{docgen.CodeInvalidLimit},
	example: &markerPage[issuedToken]{Limit: docgen.DefaultPageLimit, Entries: []issuedToken{exampleToken()}},
}

// ListTokensQuery holds the parameters of a list of tokens.
type ListTokensQuery struct {
	PageQuery
	UserID string    `query:"user_id" doc:"The user whose tokens to list (default: the caller)." example:"33445566"`
	All    boolParam `query:"all" doc:"List the tokens of all users that the caller manages (default false)."`
}

func (q *ListTokensQuery) filter() (docgen.TokenFilter, error) {
	all, err := q.All.parse("all")
	if err != nil || q.UserID == "" {
		return docgen.TokenFilter{All: all}, err
	}
	id, err := pathID("user", q.UserID)
	return docgen.TokenFilter{UserID: id, All: all}, err
}

func (a *api) listTokens(ctx context.Context, c *call, in *ListTokensQuery) (*reply[markerPage[issuedToken]], error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Tokens(ctx, c.caller, filter, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, tokenOf), nil
}

var docDeleteToken = doc{
	id: "delete_token", tag: tagTokens,
	summary: "Revoke a token", status: http.StatusNoContent,
	description: "The server rejects it from the next request on. Revoking an access token revokes only that token; revoking a refresh " +
		"token revokes all tokens of the same grant. A token can revoke itself, and tokens of the same user whose scopes it has. " +
		"Tokens of other users require the scope `manage_managed_users`, or `manage_app_users` for users that only applications use. " +
		"Only administrators can revoke tokens of administrators.",
}

// TokenPath identifies a token.
type TokenPath struct {
	TokenID string `path:"token_id" doc:"The id of the token, from the list of tokens." example:"46802468"`
}

func (a *api) deleteToken(ctx context.Context, c *call, in *TokenPath) (*empty, error) {
	id, err := pathID("token", in.TokenID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.RevokeToken(ctx, c.caller, id)
}
