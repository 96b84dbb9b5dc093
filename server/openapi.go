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
	tagUsers          = "Users"
	tagTokens         = "Tokens"
	tagArchives       = "Archives"
	tagWebhooks       = "Webhooks"
)

const securityName = "accessToken"

// describe begins the OpenAPI document. The operations add themselves as they are registered, so that what is
// documented is what is served.
func describe(baseURL, version string) huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:   "Platen",
				Version: cmp.Or(version, "development"),
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
				Description: "Documents from Word templates and JSON. Every request under /2.0 carries an access token and the header " +
					"`svc-version: 2025.0`. Identifiers are strings of decimal digits; times have the form of RFC 3339.",
			},
			Servers: []*huma.Server{{URL: baseURL + prefix}},
			Tags: []*huma.Tag{
				{Name: tagAuthentication, Description: "How applications get access tokens (OAuth 2.0). These addresses do not stand under /2.0."},
				{Name: tagDocGen, Description: "Mark a file as a template, make documents from it in batches, and watch the jobs."},
				{Name: tagFiles, Description: "Upload, download and change files."},
				{Name: tagFolders, Description: "The folders that files lie in. Every user has a root folder, whose id is 0."},
				{Name: tagTrash, Description: "What was deleted: look at it, restore it, remove it for good."},
				{Name: tagCollaborations, Description: "Share files and folders with other users."},
				{Name: tagUsers, Description: "Who the caller is, and, for administrators and applications that may, the users of the enterprise."},
				{Name: tagTokens, Description: "The access tokens that act for a user: which there are, and how to revoke one. How they are created is described under Authentication. For administrators, also the audit log."},
				{Name: tagArchives, Description: "Folders of the enterprise, which only holders of the scope `enterprise_content` see: what is moved into one belongs to nobody else any more. They are found, listed and filled as folders."},
				{Name: tagWebhooks, Description: "Let other systems be told what happens to files, folders and documents; and see what they were told, tell them again, and try them out."},
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{securityName: {
					Type: "http", Scheme: "bearer", Description: "An access token, which the operator of the server gives out, or an application gets by itself.",
				}},
			},
			Security: []map[string][]string{{securityName: {}}},
		},
		Formats: map[string]huma.Format{"application/json": jsonFormat},
	}
}

// schemaName names a schema after its Go type. Huma adds a schema of its own errors with every operation, which is not
// ours to show: it gets a name that tidy knows.
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

// tidy corrects what huma says of us and is not so: its own errors are never sent, and no list is ever null.
func tidy(registry huma.Registry) {
	schemas := registry.Map()
	maps.DeleteFunc(schemas, func(name string, _ *huma.Schema) bool { return strings.HasPrefix(name, humaPrefix) })
	for _, schema := range schemas {
		for _, property := range schema.Properties {
			property.Nullable = property.Nullable && property.Type != huma.TypeArray
		}
	}
}

// operation makes the entry of an operation in the OpenAPI document, all but its request body.
func (a *api) operation(method, path string, d *doc) huma.Operation {
	op := huma.Operation{
		OperationID: d.id, Method: method, Path: path, Tags: []string{d.tag}, Summary: d.summary, Description: d.description,
		DefaultStatus:      cmp.Or(d.status, http.StatusOK),
		Responses:          a.errorResponses(d),
		SkipValidateParams: true, // docgen says what a parameter may be, and what is wrong with it
		Parameters: []*huma.Param{{
			Name: versionHeader, In: "header", Required: a.needsVersion(d),
			Description: "The version of the interface. The name " + otherVersionHeader + " is taken too.",
			Schema:      &huma.Schema{Type: huma.TypeString, Enum: []any{interfaceVersion}},
			Example:     interfaceVersion,
		}, {
			Name: asUserHeader, In: "header",
			Description: "The id of another user to act for. The token must be one of an administrator or a service account, and of an application " +
				"that may act for users; its scopes are those that the user may have.",
			Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]+$"},
		}, {
			Name: notificationsHeader, In: "header", Description: "Accepted; nobody is notified of anything yet.",
			Schema: &huma.Schema{Type: huma.TypeString},
		}},
	}
	if d.scope != "" {
		op.Description = strings.TrimSpace(op.Description + " Needs the scope `" + string(d.scope) + "`.")
	}
	if d.example != nil {
		status := strconv.Itoa(op.DefaultStatus)
		op.Responses[status] = &huma.Response{Description: http.StatusText(op.DefaultStatus), Content: map[string]*huma.MediaType{
			"application/json": {Example: d.example},
		}}
	}
	return op
}

// describeBody adds to an operation what huma must not know: it would read the body itself.
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

// codesOf lists every code that an operation may answer with; those of all operations come first.
func codesOf(d *doc) []docgen.Code {
	codes := []docgen.Code{docgen.CodeBadRequest, codeVersion, docgen.CodeUnauthorized, docgen.CodeForbidden, docgen.CodeNotFound}
	if d.scope != "" {
		codes = append(codes, docgen.CodeScope)
	}
	for _, code := range slices.Concat(d.errors, []docgen.Code{codeRateLimit, docgen.CodeStorageFull, docgen.CodeUnavailable, codeBusy, codeInternal}) {
		if !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// errorResponses describes the errors of an operation, by status; each status names its codes.
func (a *api) errorResponses(d *doc) map[string]*huma.Response {
	byStatus := map[int][]docgen.Code{}
	for _, code := range codesOf(d) {
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
	case http.StatusTooManyRequests:
		return map[string]*huma.Param{"Retry-After": {
			Description: "Seconds until there is room for another request.", Schema: &huma.Schema{Type: huma.TypeInteger}, Required: true,
		}}
	case http.StatusServiceUnavailable:
		return map[string]*huma.Param{"Retry-After": {
			Description: "Seconds to wait before the same request is sent again.", Schema: &huma.Schema{Type: huma.TypeInteger}, Required: true,
		}}
	}
	return nil
}

// The headers of every answer of an operation, by their names in the components of the document.
var commonHeaders = map[string]string{
	"X-Request-Id": "RequestID", "Box-Request-Id": "BoxRequestID", versionHeader: "Version", otherVersionHeader: "BoxVersion",
}

// describeHeaders documents the headers that every answer has.
func (a *api) describeHeaders() {
	id := &huma.Schema{Type: huma.TypeString}
	version := &huma.Schema{Type: huma.TypeString, Enum: []any{interfaceVersion}}
	a.huma.OpenAPI().Components.Headers = map[string]*huma.Header{
		"RequestID":    {Description: "Names the request in the log of the server.", Schema: id, Required: true},
		"BoxRequestID": {Description: "The same, by the name that the SDKs of Box know.", Schema: id, Required: true},
		"Version":      {Description: "The version of the interface that answered, under the name that the request used.", Schema: version},
		"BoxVersion":   {Description: "The version of the interface that answered, under the name that the request used.", Schema: version},
	}
	for _, op := range a.operations {
		for _, response := range op.Responses {
			if response.Headers == nil {
				response.Headers = map[string]*huma.Param{}
			}
			for name, component := range commonHeaders {
				response.Headers[name] = &huma.Param{Ref: "#/components/headers/" + component}
			}
		}
	}
}
