package server

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"platen/docgen"
)

// Codes of failures in HTTP. docgen has all others.
const (
	codeVersion        docgen.Code = "invalid_api_version"
	codeParts          docgen.Code = "metadata_after_file_contents"
	codeMethod         docgen.Code = "method_not_allowed"
	codeTimeout        docgen.Code = "request_timeout"
	codeMediaType      docgen.Code = "unsupported_media_type"
	codeRange          docgen.Code = "range_not_satisfiable"
	codeHeaderTooLarge docgen.Code = "request_header_fields_too_large"
	codeRateLimit      docgen.Code = "rate_limit_exceeded"
	codeBusy           docgen.Code = "server_busy"
	codeInternal       docgen.Code = "internal_server_error"
)

const (
	messageInternal = "The server encountered an unexpected error. Its log has the details under the request id."
)

// failf returns an Error without problems.
func failf(code docgen.Code, format string, args ...any) *docgen.Error {
	return &docgen.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// An answer is an error as an HTTP response: status, headers, and body. Every error of a handler becomes one.
type answer struct {
	status int
	header http.Header
	body   *errorBody // nil for 304 Not Modified
	stored []byte     // replaces body for a replayed response, which may be a success
}

// errorBody is the body of every response with a status of 400 or more.
type errorBody struct {
	Type        string        `json:"type" enum:"error"`
	Status      int           `json:"status" doc:"The HTTP status." example:"404"`
	Code        docgen.Code   `json:"code" doc:"The kind of failure. The list of codes says what to do about each." example:"not_found"`
	Message     string        `json:"message" doc:"What is wrong." example:"Not Found"`
	ContextInfo *errorContext `json:"context_info,omitempty" doc:"Details, if there are any."`
	HelpURL     string        `json:"help_url" format:"uri" doc:"The documentation of the code."`
	RequestID   string        `json:"request_id" doc:"The id of the request in the server's log. Include it when you contact the operator." example:"01jd4r2m8k5v"`
}

type errorContext struct {
	Failures  *failures     `json:"failures,omitempty" doc:"Why a document cannot be generated, for the code document_failed."`
	Errors    []errorDetail `json:"errors,omitempty" doc:"Everything that is wrong with the request."`
	Conflicts any           `json:"conflicts,omitempty" doc:"The item in conflict; for an operation on a folder, a list of items."`
}

type errorDetail struct {
	Reason  string `json:"reason" enum:"missing_parameter,invalid_parameter"`
	Name    string `json:"name" doc:"Path of the field, or name of the parameter." example:"document_generation_data[3].user_input"`
	Message string `json:"message" example:"'user_input' must be an object"`
}

// Error, GetStatus, GetHeaders, and MarshalJSON let huma send an answer as an error.

func (ans *answer) Error() string           { return http.StatusText(ans.status) }
func (ans *answer) GetStatus() int          { return ans.status }
func (ans *answer) GetHeaders() http.Header { return ans.header }
func (ans *answer) MarshalJSON() ([]byte, error) {
	if ans.stored != nil {
		return ans.stored, nil
	}
	return marshal(ans.body)
}

// notModified is the response to a conditional GET whose caller has the current state.
func notModified(etag string) *answer {
	return &answer{status: http.StatusNotModified, header: http.Header{"Etag": {etag}}}
}

// invalidParam returns the Error for a query parameter.
func invalidParam(name, format string, args ...any) error {
	return docgen.Invalid(docgen.Problem{Reason: docgen.ReasonInvalid, Name: name, Message: fmt.Sprintf(format, args...)})
}

// answer converts any error to what the caller may know. An error that is not a docgen.Error is internal: it is logged under the request
// id, and not shown.
func (a *api) answer(c *call, err error) *answer {
	if done, ok := errors.AsType[*answer](err); ok {
		return done
	}
	e := a.explain(c, err)
	kind := kindOf(e.Code)
	header := http.Header{}
	if e.RetryAfter > 0 {
		header.Set("Retry-After", retryAfter(e.RetryAfter))
	}
	if kind.challenge != "" {
		header.Set("WWW-Authenticate", challenge(c, kind.challenge, e.Message))
	}
	onFolders := strings.HasPrefix(c.r.URL.Path, prefix+"/folders")
	return &answer{status: kind.Status, header: header, body: newErrorBody(a.baseURL, c.id, kind.Status, e, onFolders)}
}

// newErrorBody encodes an error. onFolders says whether the operation creates or changes folders.
func newErrorBody(baseURL, requestID string, status int, e *docgen.Error, onFolders bool) *errorBody {
	return &errorBody{
		Type: "error", Status: status, Code: e.Code, Message: e.Message, ContextInfo: contextOf(e, onFolders),
		HelpURL: baseURL + "/docs/errors#" + string(e.Code), RequestID: requestID,
	}
}

// challenge returns the WWW-Authenticate header of RFC 6750, section 3: without an error if the request had no token.
func challenge(c *call, kind, description string) string {
	if len(c.r.Header.Values("Authorization")) == 0 {
		return `Bearer realm="Platen"`
	}
	return fmt.Sprintf(`Bearer realm="Platen", error="%s", error_description="%s"`, kind, description)
}

// explain returns the docgen.Error for an error.
func (a *api) explain(c *call, err error) *docgen.Error {
	if e, ok := errors.AsType[*docgen.Error](err); ok {
		if _, alone := err.(*docgen.Error); !alone { //nolint:errorlint // what wraps it may be a clean-up that failed too
			a.log.WarnContext(c.r.Context(), "request failed with more errors than the response shows", "request_id", c.id, "error", err)
		}
		return e
	}
	if e := c.bodyError(); e != nil { // the request body could not be read
		return e
	}
	if e := docgen.PublicError(err); e != nil {
		a.log.ErrorContext(c.r.Context(), "out of resources", "request_id", c.id, "code", e.Code, "error", err)
		return e
	}
	level := slog.LevelError
	if c.r.Context().Err() != nil { // the client went away
		level = slog.LevelInfo
	}
	a.log.Log(c.r.Context(), level, "internal error", "request_id", c.id, "error", err)
	return failf(codeInternal, messageInternal)
}

func contextOf(e *docgen.Error, onFolders bool) *errorContext {
	if len(e.Problems) == 0 && len(e.Conflicts) == 0 && e.Failures == nil {
		return nil
	}
	info := &errorContext{Conflicts: conflictsOf(e.Conflicts, onFolders)}
	if e.Failures != nil {
		info.Failures = new(failuresOf(*e.Failures))
	}
	for _, p := range e.Problems {
		info.Errors = append(info.Errors, errorDetail{Reason: p.Reason, Name: p.Name, Message: p.Message})
	}
	return info
}

// conflictsOf encodes the items in conflict as clients expect them: a list for operations on folders, and otherwise one item.
func conflictsOf(items []docgen.Item, onFolders bool) any {
	switch {
	case len(items) == 0:
		return nil
	case onFolders:
		return each(items, func(item *docgen.Item) entry { return entryOf(item, nil) })
	}
	return entryOf(&items[0], nil)
}

// send writes an answer where huma does not: for unknown routes, panics, and the operator's pages.
func (ans *answer) send(w http.ResponseWriter) error {
	maps.Copy(w.Header(), ans.header)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(ans.status)
	return writeJSON(w, ans.body)
}
