package server

import (
	"context"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// A doc is what the documentation says of an operation, and what admitting its calls needs to know.
type doc struct {
	id          string
	tag         string
	summary     string
	description string
	status      int           // of success
	versioned   bool          // demands the version header also of clients that send it here alone
	upload      bool          // counts as an upload
	scope       docgen.Scope  // that the access token must have; empty for none
	errors      []docgen.Code // besides those that every operation has
	body        any           // a value of the JSON body's type, which is its example; nil for none
	example     any           // of the answer's body; nil for none
	also        func(*api, *huma.Operation)
}

// A reply is an answer with a body and nothing more.
type reply[T any] struct{ Body T }

// empty is an answer without a body.
type empty struct{}

// route registers an operation. Its function returns errors; the only place that answers them is here.
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
		out, err := operation(docgen.ForCaller(ctx, c.caller), c, in)
		if err != nil {
			return nil, a.refuse(c, d.id, err)
		}
		return out, nil
	})
	known = parametersOf(operationAt(a.huma.OpenAPI().Paths[path], method))
	a.describeBody(method, path, &d)
}

// The parameters that several operations have. Values are taken as text: docgen knows what they may be.
type (
	// PageQuery asks for a page by marker.
	PageQuery struct {
		Limit     limitParam `query:"limit"`
		Marker    string     `query:"marker" doc:"The next_marker or prev_marker of another page of the same list. Leave it out, or send 0, for the first page." example:"AQDsz5a1"`
		UseMarker boolParam  `query:"usemarker" doc:"Accepted and not needed: this list is always paged by marker."`
	}
	// OffsetQuery asks for a page by offset.
	OffsetQuery struct {
		Limit  limitParam `query:"limit"`
		Offset intParam   `query:"offset" doc:"How many entries come before the page; at most 300000." example:"100"`
	}
	// TemplatePath names a template.
	TemplatePath struct {
		TemplateID string `path:"template_id" doc:"The id of the file that is marked as a template." example:"12345678"`
	}
	// FilePath names a file.
	FilePath struct {
		FileID string `path:"file_id" doc:"The id of the file." example:"12345678"`
	}
	// FolderPath names a folder.
	FolderPath struct {
		FolderID string `path:"folder_id" doc:"The id of the folder; 0 is the root folder of the caller." example:"0"`
	}
	// FieldsQuery selects the fields of an answer.
	FieldsQuery struct {
		Fields string `query:"fields" doc:"Names of fields, with commas between them: the answer holds type, id and etag, and these. Unknown names are passed over." example:"name,size,permissions"`
	}
	// FileQuery names a file and what to show of what comes of it.
	FileQuery struct {
		FilePath
		FieldsQuery
	}
	// FolderQuery names a folder and what to show of what comes of it.
	FolderQuery struct {
		FolderPath
		FieldsQuery
	}
	// IfMatchHeader makes a change depend on nobody else having made one.
	IfMatchHeader struct {
		IfMatch string `header:"If-Match" doc:"The etag that the item must still have; otherwise nothing is changed and the answer is 412." example:"3"`
	}
	// IfNoneMatchHeader asks only for what has changed.
	IfNoneMatchHeader struct {
		IfNoneMatch string `header:"If-None-Match" doc:"An etag that the caller has; the answer is 304 when it is still the item's." example:"3"`
	}
)

func (q PageQuery) parse() (docgen.PageRequest, error) {
	return docgen.ParsePage(string(q.Limit), q.Marker)
}

func (q OffsetQuery) parse() (docgen.OffsetRequest, error) {
	return docgen.ParseOffset(string(q.Limit), string(q.Offset))
}

// A limitParam is the limit of a page; it is documented as the number that it should be.
type limitParam string

// Schema describes a limit for the OpenAPI document.
func (limitParam) Schema(huma.Registry) *huma.Schema {
	least := 1.0
	return &huma.Schema{
		Type: huma.TypeInteger, Format: "int64", Minimum: &least, Default: docgen.DefaultPageLimit,
		Description: "The most entries of a page. Above " + strconv.Itoa(docgen.MaxPageLimit) + " it counts as " +
			strconv.Itoa(docgen.MaxPageLimit) + ", and the answer says so.",
	}
}

// An intParam is documented as a number.
type intParam string

// Schema describes a number for the OpenAPI document.
func (intParam) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
}

// A boolParam is documented as a boolean.
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

// pathID reads the identifier in a path. What is no identifier names nothing, and is not found like any other id.
func pathID(kind, text string) (int64, error) {
	id, ok := parseID(text)
	if !ok {
		return 0, docgen.NotFound(kind, shorten(text))
	}
	return int64(id), nil
}

// markerPage is a page of a list that is paged by marker.
type markerPage[T any] struct {
	Entries    []T     `json:"entries" doc:"The entries of this page; empty when there are none."`
	Limit      int     `json:"limit" doc:"The limit used: the maximum when more was asked for."`
	NextMarker *string `json:"next_marker" doc:"The marker of the next page; null on the last."`
	PrevMarker *string `json:"prev_marker" doc:"The marker of the page before; null on the first."`
}

// offsetPage is a page of a list that is paged by offset.
type offsetPage[T any] struct {
	TotalCount int `json:"total_count" doc:"One more than the offset of the last item."`
	Entries    []T `json:"entries" doc:"The entries of this page; fewer than limit also where the caller may not see what stands at an offset."`
	Offset     int `json:"offset"`
	Limit      int `json:"limit" doc:"The limit used: the maximum when more was asked for."`
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

// readBody reads the JSON body of an operation that looks at nothing else before.
func readBody[T any](c *call) (*T, error) {
	v := new(T)
	problems, err := c.readJSON(maxJSONBytes, v)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, docgen.Invalid(problems...)
	}
	return v, nil
}

// readOptionalBody is readBody for an operation whose body may be left out: it then says nothing.
func readOptionalBody[T any](c *call) (*T, error) {
	if c.r.ContentLength == 0 {
		return new(T), nil
	}
	return readBody[T](c)
}
