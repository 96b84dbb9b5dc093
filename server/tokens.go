package server

import (
	"context"
	"net/http"
	"time"

	"platen/docgen"
)

type issuedToken struct {
	Type        string          `json:"type" enum:"token"`
	ID          ID              `json:"id"`
	Kind        string          `json:"kind" enum:"access,refresh,session" doc:"session: of a person who is signed in."`
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

// createdToken is a token with its description.
type createdToken struct {
	AccessToken string      `json:"access_token" doc:"The token. The server stores only its hash and never shows it again."`
	Token       issuedToken `json:"token"`
}

var docCreateToken = doc{
	id: "create_token", tag: tagTokens, secret: true,
	summary: "Create a token for yourself",
	description: "Creates an access token for the caller, and returns it, once. It has at most the scopes of the token of this request, and " +
		"doesn't outlive it. A user can have 200. Service accounts get tokens at /oauth2/token instead. A Platen extension.",
	status: http.StatusCreated,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:   createTokenRequest{Name: "Nightly invoices", Scopes: []docgen.Scope{docgen.ScopeDocGen}, ExpiresIn: new(int64(86400))},
	example: createdToken{AccessToken: "pVxJ2mUfCh0zq3B8kX1y7dN5sT9wR4aE6gL0uQvI2oM", Token: func() issuedToken {
		made := exampleToken()
		made.LastUsedAt, made.IsCurrent = timestamp{}, false
		return made
	}()},
}

type createTokenRequest struct {
	Name      string         `json:"name,omitempty" doc:"A name, such as that of the program that uses it; at most 100 characters."`
	Scopes    []docgen.Scope `json:"scopes,omitempty" doc:"Scopes of the token (default: those of the token of this request)."`
	ExpiresIn *int64         `json:"expires_in,omitempty" minimum:"1" doc:"Lifetime in seconds (default: 30 days, or until the token of this request expires). At most a year."`
}

func (a *api) createToken(ctx context.Context, c *call, _ *struct{}) (*reply[createdToken], error) {
	request, err := readBody[createTokenRequest](c)
	if err != nil {
		return nil, err
	}
	wanted := docgen.NewToken{Name: request.Name, Scopes: request.Scopes}
	if n := request.ExpiresIn; n != nil {
		if *n < 1 || *n > maxSeconds {
			return nil, invalidParam("expires_in", "expires_in must be a number of seconds from 1 to %d", maxSeconds)
		}
		wanted.TTL = time.Duration(*n) * time.Second
	}
	made, err := a.service.CreateOwnToken(ctx, c.caller, wanted)
	if err != nil {
		return nil, err
	}
	return &reply[createdToken]{createdToken{made.Token, tokenOf(&made.IssuedToken)}}, nil
}

// maxSeconds is the largest number of seconds of a duration in requests: a year.
const maxSeconds = 31_536_000

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
