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
	Name        string          `json:"name" doc:"What its user calls it; empty when it was given no name."`
	User        userMini        `json:"user" doc:"The user that the token acts for."`
	Application applicationMini `json:"application" doc:"The application that got the token. Those that platen token create makes are of one application of their own."`
	Scopes      []docgen.Scope  `json:"scopes"`
	CreatedAt   timestamp       `json:"created_at"`
	ExpiresAt   timestamp       `json:"expires_at" doc:"null when it never expires."`
	LastUsedAt  timestamp       `json:"last_used_at" doc:"About a minute behind; null until the first use, and for refresh tokens, which are replaced on use."`
	IsCurrent   bool            `json:"is_current" doc:"Whether this request carries it."`
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
		Scopes:      t.Scopes, CreatedAt: timestamp{t.CreatedAt}, ExpiresAt: timestamp{t.ExpiresAt}, LastUsedAt: timestamp{t.UsedAt}, IsCurrent: t.Current,
	}
}

var docListTokens = doc{
	id: "list_tokens", tag: tagTokens,
	summary: "List tokens",
	description: "Access and refresh tokens that can be used, in ascending order of id; never the tokens themselves, which the server does not keep. Without parameters, " +
		"those of the caller, for which any token may ask. Those of other users need the scope `manage_managed_users`, or `manage_app_users` for users that only " +
		"applications know. Tokens of service accounts are listed by `platen token list`.",
	errors:  []docgen.Code{docgen.CodeInvalidLimit},
	example: &markerPage[issuedToken]{Limit: docgen.DefaultPageLimit, Entries: []issuedToken{exampleToken()}},
}

// ListTokensQuery asks for tokens.
type ListTokensQuery struct {
	PageQuery
	UserID string    `query:"user_id" doc:"The user whose tokens to list; the caller when left out." example:"33445566"`
	All    boolParam `query:"all" doc:"List the tokens of all users whom the caller manages."`
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
	description: "It is refused from the next request on. An access token is revoked alone, a refresh token with all tokens issued from the same grant. A token may revoke " +
		"itself, and those of the same user that have no scope which it lacks. Tokens of other users need the scope `manage_managed_users`, or `manage_app_users` for users " +
		"that only applications know; only an administrator revokes those of administrators.",
}

// TokenPath names a token.
type TokenPath struct {
	TokenID string `path:"token_id" doc:"The id of the token, as the list of tokens has it." example:"46802468"`
}

func (a *api) deleteToken(ctx context.Context, c *call, in *TokenPath) (*empty, error) {
	id, err := pathID("token", in.TokenID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.RevokeToken(ctx, c.caller, id)
}
