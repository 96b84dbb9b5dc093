package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

type application struct {
	Type           string           `json:"type" enum:"application"`
	ID             ID               `json:"id"`
	Name           string           `json:"name"`
	ClientID       string           `json:"client_id"`
	Scopes         []docgen.Scope   `json:"scopes" doc:"The scopes that its tokens can have."`
	ActsAsUsers    bool             `json:"acts_as_users" doc:"Whether it can get tokens for users, and act for users with the header As-User."`
	ServiceAccount userMini         `json:"service_account"`
	Keys           []applicationKey `json:"keys" doc:"The public keys that verify its assertions."`
	CreatedAt      timestamp        `json:"created_at"`
}

type applicationKey struct {
	ID        string    `json:"id" doc:"The key ID (kid) of assertions."`
	CreatedAt timestamp `json:"created_at"`
}

// createdApplication is an application with its secret.
type createdApplication struct {
	Application  application `json:"application"`
	ClientSecret string      `json:"client_secret" doc:"The secret. The server stores only its hash and never shows it again."`
}

type applicationSecret struct {
	ClientSecret string `json:"client_secret" doc:"The new secret. The server stores only its hash and never shows it again."`
}

func applicationOf(app *docgen.Application) application {
	return application{
		Type: typeApplication, ID: ID(app.ID), Name: app.Name, ClientID: app.ClientID, Scopes: app.Scopes, ActsAsUsers: app.ActsAsUsers,
		ServiceAccount: userMiniOf(&app.Account), CreatedAt: timestamp{app.CreatedAt},
		Keys: each(app.Keys, func(k *docgen.ApplicationKey) applicationKey { return applicationKey{k.Name, timestamp{k.CreatedAt}} }),
	}
}

func exampleApplication() application {
	return application{
		Type: typeApplication, ID: 11335577, Name: "Billing", ClientID: "4pcxjv4ivq5zu7o3l4qy2rjm5e", Scopes: []docgen.Scope{docgen.ScopeDocGen},
		ServiceAccount: exampleAuthor, Keys: []applicationKey{{"9f86d081", timestamp{exampleTime}}}, CreatedAt: timestamp{exampleTime},
	}
}

var docListApplications = doc{
	id: "list_applications", tag: tagApplications, scope: docgen.ScopeEnterprise,
	summary: "List applications",
	description: "The applications that can request access tokens, in ascending order of id, without their secrets. Only administrators can " +
		"list them. A Platen extension.",
	errors:  []docgen.Code{docgen.CodeForbidden, docgen.CodeInvalidLimit},
	example: markerPage[application]{Limit: docgen.DefaultPageLimit, Entries: []application{exampleApplication()}},
}

func (a *api) listApplications(ctx context.Context, c *call, in *PageQuery) (*reply[markerPage[application]], error) {
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.ListApplications(ctx, c.caller, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, applicationOf), nil
}

var docCreateApplication = doc{
	id: "create_application", tag: tagApplications, scope: docgen.ScopeEnterprise, secret: true,
	summary: "Create an application",
	description: "Creates an application with a service account, and returns its secret, once. It can have only scopes that the access " +
		"token of this request has, and act for users only if the token may. Only administrators can create applications, up to 1000. A " +
		"Platen extension.",
	status:  http.StatusCreated,
	errors:  []docgen.Code{docgen.CodeForbidden, docgen.CodeConflict, codeMediaType, docgen.CodeBodyTooLarge},
	body:    createApplicationRequest{Name: "Billing", Scopes: []docgen.Scope{docgen.ScopeDocGen}},
	example: createdApplication{exampleApplication(), "pVxJ2mUfCh0zq3B8kX1y7dN5sT9wR4aE6gL0uQvI2oM"},
}

type createApplicationRequest struct {
	Name        string         `json:"name" doc:"The name of the application and of its service account."`
	Scopes      []docgen.Scope `json:"scopes,omitempty" doc:"Scopes that its tokens can have (default: those of an ordinary user)."`
	ActsAsUsers bool           `json:"acts_as_users,omitempty" doc:"Let it get tokens for any active user, and act for users with the header As-User (default false)."`
}

func (a *api) createApplication(ctx context.Context, c *call, _ *struct{}) (*reply[createdApplication], error) {
	request, err := readBody[createApplicationRequest](c)
	if err != nil {
		return nil, err
	}
	made, secret, err := a.service.AddApplication(ctx, c.caller, docgen.NewApplication{
		Name: request.Name, Scopes: request.Scopes, ActsAsUsers: request.ActsAsUsers,
	})
	if err != nil {
		return nil, err
	}
	return &reply[createdApplication]{createdApplication{applicationOf(&made), secret}}, nil
}

// ApplicationPath identifies an application.
type ApplicationPath struct {
	ApplicationID string `path:"application_id" doc:"The id of the application." example:"11335577"`
}

var docRenewSecret = doc{
	id: "renew_application_secret", tag: tagApplications, scope: docgen.ScopeEnterprise, secret: true,
	summary: "Replace the secret of an application",
	description: "Returns a new secret, once. The old one is rejected from then on; tokens stay valid. The access token of this request " +
		"must have all scopes of the application. A Platen extension.",
	status:  http.StatusCreated,
	errors:  []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound},
	example: applicationSecret{"pVxJ2mUfCh0zq3B8kX1y7dN5sT9wR4aE6gL0uQvI2oM"},
}

func (a *api) renewSecret(ctx context.Context, c *call, in *ApplicationPath) (*reply[applicationSecret], error) {
	id, err := pathID("application", in.ApplicationID)
	if err != nil {
		return nil, err
	}
	secret, err := a.service.ReplaceSecret(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[applicationSecret]{applicationSecret{secret}}, nil
}

var docDeleteApplication = doc{
	id: "delete_application", tag: tagApplications, scope: docgen.ScopeEnterprise,
	summary: "Delete an application",
	description: "Deletes the application with its tokens, keys, and webhooks. Its service account becomes inactive but keeps its items. " +
		"Only administrators can delete applications. A Platen extension.",
	status: http.StatusNoContent,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound},
}

func (a *api) deleteApplication(ctx context.Context, c *call, in *ApplicationPath) (*empty, error) {
	id, err := pathID("application", in.ApplicationID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.RemoveApplication(ctx, c.caller, id)
}
