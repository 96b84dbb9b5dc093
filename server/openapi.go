package server

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// Tags group the operations in the documentation.
const (
	tagAuthentication = "Authentication"
	tagDocGen         = "Doc Gen"
	tagFiles          = "Files"
	tagFolders        = "Folders"
	tagTrash          = "Trash"
	tagCollaborations = "Collaborations"
	tagLinks          = "Shared links"
	tagUsers          = "Users"
	tagTokens         = "Tokens"
	tagSessions       = "Sessions"
	tagApplications   = "Applications"
	tagOperations     = "Operations"
	tagArchives       = "Archives"
	tagWebhooks       = "Webhooks"
	tagEvents         = "Events"
)

// The names of the security schemes.
const (
	securityName = "accessToken"
	sessionName  = "session"
)

// describe starts the OpenAPI document. Operations add themselves when they are registered, so the document always matches what is
// served.
func describe(baseURL, version string) huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:   "Platen",
				Version: cmp.Or(version, "development"),
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
				Description: "Generate documents from Word templates and JSON. Every request under /2.0 carries an access token and the " +
					"header `svc-version: 2025.0`. Identifiers are strings of decimal digits. Times are in RFC 3339 format.",
			},
			Servers: []*huma.Server{{URL: baseURL + prefix}},
			Tags: []*huma.Tag{
				{Name: tagAuthentication, Description: "How applications get access tokens (OAuth 2.0). These paths are not under /2.0."},
				{Name: tagDocGen, Description: "Mark a file as a template, generate documents from it in batches, and follow the jobs."},
				{Name: tagFiles, Description: "Upload, download, and change files."},
				{Name: tagFolders, Description: "Folders that hold files and other folders. Every user has a root folder with the id 0."},
				{Name: tagTrash, Description: "Deleted files and folders: list them, restore them, or delete them permanently."},
				{Name: tagCollaborations, Description: "Share files and folders with other users."},
				{Name: tagLinks, Description: "URLs that give others access to a file or folder. Create them with `shared_link` in a " +
					"change of the file or folder."},
				{Name: tagUsers, Description: "The current user. Administrators and authorized applications can also manage the users of " +
					"the enterprise."},
				{Name: tagTokens, Description: "Access tokens that act for a user: list and revoke them. Authentication describes how to " +
					"create one. Administrators can also read the audit log."},
				{Name: tagSessions, Description: "Sign in with a login and a password, and set passwords."},
				{Name: tagApplications, Description: "Applications that request access tokens for themselves or for users. Administrators manage " +
					"them."},
				{Name: tagOperations, Description: "What administrators look at: how the server does."},
				{Name: tagArchives, Description: "Folders of the enterprise, visible only with the scope `enterprise_content`. The " +
					"enterprise owns everything in them. Use the folder operations to list and fill them."},
				{Name: tagWebhooks, Description: "Notify other systems of events on files, folders, and documents. List deliveries, replay " +
					"them, and send test events."},
				{Name: tagEvents, Description: "The stream of everything that happens to the items of a user, or in the enterprise."},
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{securityName: {
					Type: "http", Scheme: "bearer",
					Description: "An access token that the operator of the server issued, or that an application requested.",
				}, sessionName: {
					Type: "apiKey", In: "cookie", Name: secureCookie,
					Description: "The session of a person who signed in with POST /sessions. On the loopback interface without HTTPS, the cookie is " +
						plainCookie + ".",
				}},
			},
			Security: []map[string][]string{{securityName: {}}, {sessionName: {}}},
		},
		Formats: map[string]huma.Format{"application/json": jsonFormat},
	}
}

// schemaName names a schema after its Go type. With every operation, huma adds a schema for its own errors, which the document must not
// show. It gets a name that tidy recognizes.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if strings.HasPrefix(t.PkgPath(), reflect.TypeFor[huma.ErrorModel]().PkgPath()) {
		name = humaPrefix + name
	}
	return name
}

const humaPrefix = "huma"

// tidy removes what does not apply to this server from huma's document: huma's own errors, which are never sent, and null as the type of
// a list.
func tidy(registry huma.Registry) {
	schemas := registry.Map()
	maps.DeleteFunc(schemas, func(name string, _ *huma.Schema) bool { return strings.HasPrefix(name, humaPrefix) })
	for _, schema := range schemas {
		for _, property := range schema.Properties {
			property.Nullable = property.Nullable && property.Type != huma.TypeArray
		}
	}
}

// operation returns the entry of an operation in the OpenAPI document, without its request body.
func (a *api) operation(method, path string, d *doc) huma.Operation {
	op := huma.Operation{
		OperationID: d.id, Method: method, Path: path, Tags: []string{d.tag}, Summary: d.summary, Description: d.description,
		DefaultStatus:      cmp.Or(d.status, http.StatusOK),
		Responses:          a.errorResponses(method, d),
		SkipValidateParams: true, // docgen validates parameters and reports every problem
		Parameters: []*huma.Param{{
			Name: versionHeader, In: "header", Required: a.needsVersion(d),
			Description: "The API version. The header " + otherVersionHeader + " is accepted as well.",
			Schema:      &huma.Schema{Type: huma.TypeString, Enum: []any{interfaceVersion}},
			Example:     interfaceVersion,
		}, {
			Name: asUserHeader, In: "header",
			Description: "The id of another user to act for. The token must belong to an administrator or a service account, and its " +
				"application must be allowed to act for users. Its scopes are limited to those of the user.",
			Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]+$"},
		}, {
			Name: notificationsHeader, In: "header", Description: "Accepted but ignored: this server sends no email.",
			Schema: &huma.Schema{Type: huma.TypeString},
		}},
	}
	if takesKey(method, d) {
		op.Parameters = append(op.Parameters, keyParameter())
	}
	if d.scope != "" {
		op.Description = strings.TrimSpace(op.Description + " Needs the scope `" + string(d.scope) + "`.")
	}
	if d.ticket != "" || d.guest {
		op.Security = []map[string][]string{}
	}
	if d.example != nil {
		status := strconv.Itoa(op.DefaultStatus)
		op.Responses[status] = &huma.Response{Description: http.StatusText(op.DefaultStatus), Content: map[string]*huma.MediaType{
			"application/json": {Example: d.example},
		}}
	}
	return op
}

// describeBody adds the request body to an operation. Huma must not know it, because it would read the body itself.
func (a *api) describeBody(method, path string, d *doc) {
	op := operationAt(a.huma.OpenAPI().Paths[path], method)
	a.operations = append(a.operations, op)
	if d.body != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: a.schemaOf(d.body), Example: d.body},
		}}
	}
	if d.also != nil {
		d.also(a, op)
	}
}

func operationAt(item *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete,
		http.MethodOptions: item.Options,
	}[method]
}

func (a *api) schemaOf(value any) *huma.Schema {
	return a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(value), true, "")
}

func (a *api) jsonResponse(description string, example any) *huma.Response {
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{
		"application/json": {Schema: a.schemaOf(example), Example: example},
	}}
}

// codesOf lists every code that an operation may return. The codes of all operations come first.
func codesOf(method string, d *doc) []docgen.Code {
	codes := []docgen.Code{docgen.CodeBadRequest, codeVersion, docgen.CodeUnauthorized, docgen.CodeForbidden, docgen.CodeNotFound}
	if d.scope != "" {
		codes = append(codes, docgen.CodeScope)
	}
	if takesKey(method, d) {
		codes = append(codes, docgen.CodeKeyInUse, docgen.CodeKeyLost, docgen.CodeKeyReused, docgen.CodeRefused)
	}
	for _, code := range slices.Concat(d.errors, []docgen.Code{codeRateLimit, docgen.CodeStorageFull, docgen.CodeUnavailable, codeBusy,
		codeInternal}) {
		if !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// errorResponses describes the errors of an operation by status. Each status lists its codes.
func (a *api) errorResponses(method string, d *doc) map[string]*huma.Response {
	byStatus := map[int][]docgen.Code{}
	for _, code := range codesOf(method, d) {
		status := kindOf(code).Status
		byStatus[status] = append(byStatus[status], code)
	}
	responses := map[string]*huma.Response{}
	for status, codes := range byStatus {
		names := make([]string, len(codes))
		for i, code := range codes {
			names[i] = fmt.Sprintf("[%s](%s/docs/errors#%s)", code, a.baseURL, code)
		}
		responses[strconv.Itoa(status)] = a.jsonResponse(http.StatusText(status)+": "+strings.Join(names, ", "), a.exampleError(codes[0]))
		responses[strconv.Itoa(status)].Headers = errorHeaders(status)
	}
	return responses
}

func errorHeaders(status int) map[string]*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return map[string]*huma.Param{"WWW-Authenticate": {
			Description: "What the token lacks (RFC 6750).", Schema: text, Required: status == http.StatusUnauthorized,
		}}
	case http.StatusConflict:
		return map[string]*huma.Param{"Retry-After": {
			Description: "Seconds to wait before you repeat a request with an Idempotency-Key.", Schema: &huma.Schema{Type: huma.TypeInteger},
		}}
	case http.StatusTooManyRequests:
		return map[string]*huma.Param{"Retry-After": {
			Description: "Seconds until the limit allows another request.", Schema: &huma.Schema{Type: huma.TypeInteger}, Required: true,
		}}
	case http.StatusServiceUnavailable:
		return map[string]*huma.Param{"Retry-After": {
			Description: "Seconds to wait before you send the request again.", Schema: &huma.Schema{Type: huma.TypeInteger}, Required: true,
		}}
	}
	return nil
}

// commonHeaders are the headers of every response of an operation, with their names in the components of the document.
var commonHeaders = map[string]string{
	"X-Request-Id": "RequestID", "Box-Request-Id": "BoxRequestID", versionHeader: "Version", otherVersionHeader: "BoxVersion",
}

// describeHeaders documents the headers of every response.
func (a *api) describeHeaders() {
	id := &huma.Schema{Type: huma.TypeString}
	version := &huma.Schema{Type: huma.TypeString, Enum: []any{interfaceVersion}}
	a.huma.OpenAPI().Components.Headers = map[string]*huma.Header{
		"RequestID":    {Description: "Identifies the request in the log of the server.", Schema: id, Required: true},
		"BoxRequestID": {Description: "The same value, under the name that the Box SDKs use.", Schema: id, Required: true},
		"Replayed": {Description: "true if the response repeats that of an earlier request with the same Idempotency-Key.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"true"}}},
		"Version":    {Description: "The API version of the response, under the header name that the request used.", Schema: version},
		"BoxVersion": {Description: "The API version of the response, under the header name that the request used.", Schema: version},
	}
	for _, op := range a.operations {
		for status, response := range op.Responses {
			if response.Headers == nil {
				response.Headers = map[string]*huma.Param{}
			}
			if op.Method == http.MethodPost && status < "300" {
				response.Headers[replayedHeader] = &huma.Param{Ref: "#/components/headers/Replayed"}
			}
			for name, component := range commonHeaders {
				response.Headers[name] = &huma.Param{Ref: "#/components/headers/" + component}
			}
		}
	}
}
