package server

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// How applications get and revoke tokens: RFC 6749 and RFC 7009. These operations take forms, have errors of their own, and require no
// access token; the client authenticates itself.

const (
	formType     = "application/x-www-form-urlencoded"
	maxFormBytes = 64 << 10
	formTime     = 20 * time.Second // maximum time to receive a form
)

// tokenResponse is the response with a token.
type tokenResponse struct {
	AccessToken  string   `json:"access_token" doc:"An opaque string."`
	ExpiresIn    int      `json:"expires_in" doc:"Lifetime in seconds."`
	TokenType    string   `json:"token_type" enum:"bearer"`
	RestrictedTo []object `json:"restricted_to" doc:"Always empty: tokens are not restricted to single items."`
	RefreshToken string   `json:"refresh_token,omitempty" doc:"Valid once, for 60 days, to get the next tokens."`
	Scope        string   `json:"scope" doc:"The scopes of the access token, separated by spaces."`
}

// object is a JSON object, for now without fields.
type object struct{}

// oauthError is the body of an error of RFC 6749, section 5.2.
type oauthError struct {
	Error       docgen.GrantReason `json:"error" enum:"invalid_request,invalid_client,invalid_grant,unauthorized_client,unsupported_grant_type,invalid_scope"`
	Description string             `json:"error_description" doc:"What is wrong, for the developer of the client."`
}

// An oauthDoc documents an operation for clients.
type oauthDoc struct {
	id, summary, description string
	fields                   []formField
	answer                   any // an example of the response; nil if it is empty
}

// A formField is a parameter of a form.
type formField struct{ name, doc, example string }

// clientFields are the parameters that authenticate a client.
var clientFields = []formField{
	{"client_id", "The id of the application. You can send the id and the secret in the header Authorization instead, with HTTP Basic.",
		"jmh3gqd7kcvfz2xwy5b4naro6t"},
	{"client_secret", "The secret of the application.", "SECRET"},
}

var docGetToken = oauthDoc{
	id: "get_token", summary: "Get an access token",
	description: "For applications that the operator has created. The grant type determines which user the token acts for and which " +
		"parameters are required. A token is valid for one hour.",
	fields: append([]formField{
		{"grant_type", "`client_credentials`, `urn:ietf:params:oauth:grant-type:jwt-bearer` or `refresh_token`.", docgen.GrantClient},
		{"box_subject_type", "For `client_credentials`: `enterprise`, for the application's service account, or `user`.", "enterprise"},
		{"box_subject_id", "For `client_credentials`: the id of the enterprise or the user.", "11223344"},
		{"assertion", "For `jwt-bearer`: a JWT, signed with RS256, RS384, or RS512 by a key of the application. Its header can name the key in " +
			"`kid`; otherwise, the server tries every key of the application. Claims: `iss` (the client id), `sub` and `box_sub_type` " +
			"(as above), `aud` (this URL), " +
			"`jti` (16 to 128 characters, never used before), and `exp` (at most 60 seconds ahead).", ""},
		{"refresh_token", "For `refresh_token`: the latest refresh token. If it was used before, all tokens of the same grant are revoked.", ""},
		{"scope", "A subset of the possible scopes, separated by spaces (default: all).", ""},
	}, clientFields...),
	answer: tokenResponse{
		AccessToken: "c3FIOG9vSGV4VHo4QzAyg5T1JvNnJoZ3ExaVNyQWw", ExpiresIn: int(docgen.AccessTokenTTL.Seconds()), TokenType: "bearer",
		RestrictedTo: []object{}, Scope: string(docgen.ScopeWrite),
	},
}

var docRevokeToken = oauthDoc{
	id: "revoke_token", summary: "Revoke a token",
	description: "Revoking an access token revokes only that token; revoking a refresh token revokes all tokens of the same grant. An " +
		"unknown token is not an error.",
	fields: append([]formField{{"token", "An access token or a refresh token of the client.", "TOKEN"}}, clientFields...),
}

// oauthRoute registers an operation for clients, in the server and in the documentation.
func oauthRoute(a *api, path string, d oauthDoc, operation func(context.Context, *call, form) (any, error)) {
	a.public.mux.HandleFunc("POST "+path, func(_ http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		answer, err := a.admitClient(c, operation)
		if err != nil {
			a.sendOAuthError(c, err)
			return
		}
		if c.w.Header().Set("Pragma", "no-cache"); answer == nil {
			c.w.WriteHeader(http.StatusOK)
			return
		}
		a.sendJSON(c.w, c.r, http.StatusOK, answer)
	})
	op := a.oauthOperation(path, d)
	a.huma.OpenAPI().AddOperation(op)
	a.operations = append(a.operations, op)
}

// admitClient authenticates a client and applies its rate limit. Failures count toward the limit of the client's address, like requests
// of guests; successes count toward the limit of the client.
func (a *api) admitClient(c *call, operation func(context.Context, *call, form) (any, error)) (any, error) {
	if err := c.holdGuest(); err != nil {
		return nil, err
	}
	if err := a.checkClientParameters(c); err != nil {
		return nil, a.limitGuest(c, err)
	}
	f, err := c.readForm()
	if err != nil {
		return nil, a.limitGuest(c, err)
	}
	id, secret, err := clientCredentials(c.r, f)
	if err != nil {
		return nil, a.limitGuest(c, err)
	}
	if c.client, err = a.service.AuthenticateClient(c.r.Context(), id, secret); err != nil {
		return nil, a.limitFailed(c, err)
	}
	if err := a.limit(c, "client "+c.client.ID(), a.limiter.limits.Requests); err != nil {
		return nil, err
	}
	answer, err := operation(c.r.Context(), c, f)
	if err != nil {
		return nil, a.limitFailed(c, err)
	}
	return answer, nil
}

// checkClientParameters rejects query parameters, which must be in the body because URLs end up in logs, and repeated headers.
func (a *api) checkClientParameters(c *call) error {
	known := &parameters{headers: []string{"Authorization", "Content-Encoding", "Content-Type"}}
	err := known.check(c.r, a.compat == CompatBox)
	refused, ok := errors.AsType[*docgen.Error](err)
	if !ok {
		return err
	}
	return invalidRequest(refused.Problems[0].Message + ". Send parameters in the body.")
}

// limitFailed counts a failure that the client caused.
func (a *api) limitFailed(c *call, err error) error {
	refused, theirs := errors.AsType[*docgen.GrantError](err)
	if !theirs {
		return err
	}
	if refused.Reason == docgen.GrantInvalidClient || refused.Reason == docgen.GrantInvalid {
		a.service.NoteDenied(c.r.Context(), nil, c.r.URL.Path, string(refused.Reason))
	}
	return a.limitGuest(c, err)
}

func (a *api) getToken(ctx context.Context, c *call, f form) (any, error) {
	tokens, err := a.service.Grant(ctx, c.client, docgen.GrantRequest{
		Type: f["grant_type"], SubjectType: f["box_subject_type"], SubjectID: f["box_subject_id"],
		Assertion: f["assertion"], Audience: a.baseURL + "/oauth2/token", RefreshToken: f["refresh_token"], Scope: f["scope"],
	})
	if err != nil {
		return nil, err
	}
	return tokenResponse{
		AccessToken: tokens.Access, ExpiresIn: int(docgen.AccessTokenTTL.Seconds()), TokenType: "bearer", RestrictedTo: []object{},
		RefreshToken: tokens.Refresh, Scope: docgen.FormatScopes(tokens.Scopes),
	}, nil
}

func (a *api) revokeToken(ctx context.Context, c *call, f form) (any, error) {
	return nil, a.service.Revoke(ctx, c.client, f["token"])
}

// A form is the parameters of a request, without those that are empty (RFC 6749, section 3.2).
type form map[string]string

func invalidRequest(description string) error {
	return &docgen.GrantError{Reason: docgen.GrantInvalidRequest, Description: description}
}

// readForm reads the body of a request from a client.
func (c *call) readForm() (form, error) {
	if got, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || got != formType {
		return nil, invalidRequest("The body must be a form: send it with the header Content-Type: " + formType + ".")
	}
	if c.r.ContentLength > maxFormBytes {
		return nil, tooLarge(maxFormBytes)
	}
	body := c.openBody(maxFormBytes, false)
	body.expect(time.Now().Add(formTime))
	text, err := io.ReadAll(body) // the limit of guest requests bounds the memory for all forms
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, invalidRequest("The body is not a valid form.")
	}
	f := form{}
	for _, field := range slices.Concat(docGetToken.fields, docRevokeToken.fields) {
		sent := values[field.name]
		if len(sent) > 1 {
			return nil, invalidRequest("The parameter " + field.name + " must be sent once.")
		}
		if len(sent) == 1 && sent[0] != "" {
			f[field.name] = sent[0]
		}
	}
	return f, nil
}

// clientCredentials returns the client's credentials, from the form or from HTTP Basic (RFC 6749, section 2.3.1). Other Authorization
// headers, such as those with an access token, are ignored.
func clientCredentials(r *http.Request, f form) (id, secret string, err error) {
	if usesBasic(r) {
		return basicCredentials(r, f)
	}
	for _, name := range []string{"client_id", "client_secret"} {
		if f[name] == "" {
			return "", "", invalidRequest("The parameter " + name + " is required.")
		}
	}
	return f["client_id"], f["client_secret"], nil
}

// usesBasic reports whether a client authenticates with HTTP Basic.
func usesBasic(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Basic")
}

func basicCredentials(r *http.Request, f form) (id, secret string, err error) {
	user, password, ok := r.BasicAuth()
	id, idErr := url.QueryUnescape(user)
	secret, secretErr := url.QueryUnescape(password)
	if !ok || idErr != nil || secretErr != nil {
		return "", "", &docgen.GrantError{Reason: docgen.GrantInvalidClient,
			Description: "HTTP Basic must carry the client id and the client secret."}
	}
	if f["client_secret"] != "" || f["client_id"] != "" && f["client_id"] != id {
		return "", "", invalidRequest("Send the client credentials only once: in the form or in the header Authorization.")
	}
	return id, secret, nil
}

// sendOAuthError sends an error of RFC 6749, or one of our own for conditions that it does not cover.
func (a *api) sendOAuthError(c *call, err error) {
	refused, ok := errors.AsType[*docgen.GrantError](err)
	if !ok {
		a.sendError(c, err)
		return
	}
	status := http.StatusBadRequest
	if refused.Reason == docgen.GrantInvalidClient && usesBasic(c.r) {
		status = http.StatusUnauthorized
		c.w.Header().Set("WWW-Authenticate", `Basic realm="Platen"`)
	}
	a.sendJSON(c.w, c.r, status, oauthError{Error: refused.Reason, Description: refused.Description})
}

// oauthOperation returns the entry of an operation for clients in the OpenAPI document.
func (a *api) oauthOperation(path string, d oauthDoc) *huma.Operation {
	op := &huma.Operation{
		OperationID: d.id, Method: http.MethodPost, Path: path, Tags: []string{tagAuthentication}, Summary: d.summary, Description: d.description,
		Servers: []*huma.Server{{URL: a.baseURL}}, Security: []map[string][]string{},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{formType: formOf(d.fields)}},
		Responses:   map[string]*huma.Response{},
	}
	refused := oauthError{Error: docgen.GrantInvalid, Description: "Grant credentials are invalid"}
	unknown := oauthError{Error: docgen.GrantInvalidClient, Description: "The client credentials are not valid"}
	op.Responses["200"] = &huma.Response{Description: "OK"}
	if d.answer != nil {
		op.Responses["200"] = a.jsonResponse("OK", d.answer)
	}
	op.Responses["400"] = a.jsonResponse("Bad Request: an error of RFC 6749, section 5.2", refused)
	op.Responses["401"] = a.jsonResponse("Unauthorized: the client credentials in the header Authorization are not valid", unknown)
	op.Responses["401"].Headers = errorHeaders(http.StatusUnauthorized)
	for _, code := range []docgen.Code{codeTimeout, docgen.CodeBodyTooLarge, codeRateLimit, docgen.CodeUnavailable, codeBusy, codeInternal} {
		status := kindOf(code).Status
		op.Responses[strconv.Itoa(status)] = a.jsonResponse(http.StatusText(status), a.exampleError(code))
		op.Responses[strconv.Itoa(status)].Headers = errorHeaders(status)
	}
	for _, response := range op.Responses {
		if response.Headers == nil {
			response.Headers = map[string]*huma.Param{}
		}
		response.Headers["Pragma"] = &huma.Param{Description: "Like Cache-Control, for HTTP/1.0 caches.",
			Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return op
}

// formOf returns the schema of a form.
func formOf(fields []formField) *huma.MediaType {
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	example := map[string]string{}
	for _, field := range fields {
		schema.Properties[field.name] = &huma.Schema{Type: huma.TypeString, Description: field.doc}
		if field.example != "" {
			example[field.name] = field.example
		}
	}
	return &huma.MediaType{Schema: schema, Example: example}
}
