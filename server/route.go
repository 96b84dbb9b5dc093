package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// A doc describes an operation, for the documentation and for admitting its calls.
type doc struct {
	id          string
	tag         string
	summary     string
	description string
	status      int           // on success
	versioned   bool          // requires the version header even with --compat box
	unversioned bool          // browsers follow its URL, so it never requires the version header
	ticket      string        // the parameter of the path with a ticket that replaces the access token; empty for none
	link        bool          // a shared link in the header BoxApi gives access
	guest       bool          // needs no access token
	upload      bool          // counts toward the limit of uploads
	scope       docgen.Scope  // required scope of the access token; empty for none
	errors      []docgen.Code // in addition to those of every operation
	body        any           // an example of the JSON request body; nil for none
	example     any           // an example of the response body; nil for none
	also        func(*api, *huma.Operation)

	secret  bool                    // the response has a secret, so it is not stored for an Idempotency-Key
	created func(result string) any // the body of the response, from what docgen recorded; nil if that is not enough
}

// A reply is a response with a body and nothing else.
type reply[T any] struct{ Body T }

// empty is a response without a body.
type empty struct{}

// route registers an operation. Operations return errors, which only this function converts to responses.
func route[I, O any](a *api, pattern string, d doc, operation func(context.Context, *call, *I) (*O, error)) {
	method, path, _ := strings.Cut(pattern, " ")
	var known *parameters
	huma.Register(a.huma, a.operation(method, path, &d), func(ctx context.Context, in *I) (*O, error) {
		c := callOf(ctx)
		if err := a.admit(c, &d); err != nil {
			return nil, a.refuse(c, d.id, err)
		}
		if err := known.check(c.r, a.compat == CompatBox); err != nil {
			return nil, a.refuse(c, d.id, err)
		}
		c.tolerant = a.compat == CompatBox && !d.versioned
		out, err := keyed(a, c, &d, func(ctx context.Context) (*O, error) {
			if d.guest {
				return operation(ctx, c, in)
			}
			return operation(docgen.ForCaller(ctx, c.caller), c, in)
		})
		if err != nil {
			return nil, a.refuse(c, d.id, explained(c.r, err))
		}
		return out, nil
	})
	known = parametersOf(operationAt(a.huma.OpenAPI().Paths[path], method))
	a.describeBody(method, path, &d)
}

// The parameters that several operations share. They are strings: docgen validates them.
type (
	// PageQuery holds the parameters of a page by marker.
	PageQuery struct {
		Limit     limitParam `query:"limit"`
		Marker    string     `query:"marker" doc:"The next_marker or prev_marker of another page of the same list. Omit it, or send 0, to get the first page." example:"AQDsz5a1"`
		UseMarker boolParam  `query:"usemarker" doc:"Accepted but ignored: this list is always paged by marker."`
	}
	// OffsetQuery holds the parameters of a page by offset.
	OffsetQuery struct {
		Limit  limitParam `query:"limit"`
		Offset intParam   `query:"offset" doc:"Number of entries to skip (default 0, maximum 300000)." example:"100"`
	}
	// TemplatePath identifies a template.
	TemplatePath struct {
		TemplateID string `path:"template_id" doc:"The id of the template file." example:"12345678"`
	}
	// FilePath identifies a file.
	FilePath struct {
		FileID string `path:"file_id" doc:"The id of the file." example:"12345678"`
	}
	// FolderPath identifies a folder.
	FolderPath struct {
		FolderID string `path:"folder_id" doc:"The id of the folder; 0 is the root folder of the caller." example:"0"`
	}
	// FieldsQuery selects the fields of a response.
	FieldsQuery struct {
		Fields string `query:"fields" doc:"A comma-separated list of fields. The response contains these, and type, id, and etag. Unknown names are ignored." example:"name,size,permissions"`
	}
	// FileQuery identifies a file and selects fields.
	FileQuery struct {
		FilePath
		FieldsQuery
	}
	// FolderQuery identifies a folder and selects fields.
	FolderQuery struct {
		FolderPath
		FieldsQuery
	}
	// IfMatchHeader makes a change conditional on the state of the item.
	IfMatchHeader struct {
		IfMatch string `header:"If-Match" doc:"The etag that the item must still have. Otherwise, nothing changes and the response is 412." example:"3"`
	}
	// IfNoneMatchHeader makes a request conditional on a change of the item.
	IfNoneMatchHeader struct {
		IfNoneMatch string `header:"If-None-Match" doc:"An etag that the caller has. If the item still has it, the response is 304." example:"3"`
	}
)

func (q PageQuery) parse() (docgen.PageRequest, error) {
	return docgen.ParsePage(string(q.Limit), q.Marker)
}

func (q OffsetQuery) parse() (docgen.OffsetRequest, error) {
	return docgen.ParseOffset(string(q.Limit), string(q.Offset))
}

// A limitParam is the limit of a page.
type limitParam string

// Schema describes a limit for the OpenAPI document.
func (limitParam) Schema(huma.Registry) *huma.Schema {
	least := 1.0
	return &huma.Schema{
		Type: huma.TypeInteger, Format: "int64", Minimum: &least, Default: docgen.DefaultPageLimit,
		Description: "Maximum number of entries on a page (default 100). Values above " + strconv.Itoa(docgen.MaxPageLimit) + " count as " +
			strconv.Itoa(docgen.MaxPageLimit) + ", which the response shows.",
	}
}

// An intParam is a query parameter with an integer.
type intParam string

// Schema describes a number for the OpenAPI document.
func (intParam) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
}

// A boolParam is a query parameter with a boolean.
type boolParam string

// Schema describes a boolean for the OpenAPI document.
func (boolParam) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean} }

func (p boolParam) parse(name string) (bool, error) {
	if p == "" {
		return false, nil
	}
	value, err := strconv.ParseBool(string(p))
	if err != nil {
		return false, invalidParam(name, "%s must be true or false", name)
	}
	return value, nil
}

// pathID parses the identifier in a path. If it is not an identifier, nothing has it, and the result is not found.
func pathID(kind, text string) (int64, error) {
	id, ok := parseID(text)
	if !ok {
		return 0, &notAnIDError{kind, text}
	}
	return int64(id), nil
}

// notAnIDError is the error for a path with something else in the position of an identifier.
type notAnIDError struct{ kind, text string }

func (e *notAnIDError) Error() string {
	return quoteParameter(e.text) + " is not the id of a " + e.kind
}

// explained returns the Error of an operation with the path of the request.
func explained(r *http.Request, err error) error {
	wrong, ok := errors.AsType[*notAnIDError](err)
	if !ok {
		return err
	}
	e := noOperation(r, wrong.Error()+", which consists of decimal digits.")
	e.Problems = docgen.NotFound(wrong.kind, shorten(wrong.text)).Problems
	return e
}

// markerPage is a page of a list that is paged by marker.
type markerPage[T any] struct {
	Entries    []T     `json:"entries" doc:"The entries of this page, or an empty list."`
	Limit      int     `json:"limit" doc:"The limit that was applied, at most the maximum."`
	NextMarker *string `json:"next_marker" doc:"The marker of the next page; null on the last page."`
	PrevMarker *string `json:"prev_marker" doc:"The marker of the previous page; null on the first page."`
}

// offsetPage is a page of a list that is paged by offset.
type offsetPage[T any] struct {
	TotalCount int `json:"total_count" doc:"One more than the offset of the last item."`
	Entries    []T `json:"entries" doc:"The entries of this page. There can be fewer than limit if the caller may not see all entries in the range."`
	Offset     int `json:"offset"`
	Limit      int `json:"limit" doc:"The limit that was applied, at most the maximum."`
}

// offsetPageOf encodes a page of docgen, entry by entry.
func offsetPageOf[E, T any](p docgen.OffsetPage[E], encode func(*E) T) *reply[offsetPage[T]] {
	return &reply[offsetPage[T]]{offsetPage[T]{
		TotalCount: p.Total, Entries: each(p.Entries, encode), Offset: p.Offset, Limit: p.Limit,
	}}
}

// pageOf encodes a page of docgen, entry by entry.
func pageOf[E, T any](p docgen.Page[E], encode func(*E) T) *reply[markerPage[T]] {
	return &reply[markerPage[T]]{markerPage[T]{
		Entries: each(p.Entries, encode), Limit: p.Limit, NextMarker: orNull(p.Next), PrevMarker: orNull(p.Prev),
	}}
}

func each[E, T any](entries []E, encode func(*E) T) []T {
	encoded := make([]T, len(entries))
	for i := range entries {
		encoded[i] = encode(&entries[i])
	}
	return encoded
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// readBody reads the JSON body of an operation that checks nothing else before.
func readBody[T any](c *call) (*T, error) {
	v := new(T)
	problems, err := c.readJSON(v)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, docgen.Invalid(problems...)
	}
	return v, nil
}

// readOptionalBody is readBody for an operation whose body is optional.
func readOptionalBody[T any](c *call) (*T, error) {
	if c.r.ContentLength == 0 {
		return new(T), nil
	}
	return readBody[T](c)
}
