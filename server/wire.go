package server

import (
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"platen/docgen"
)

// An ID is an identifier: a decimal number that is a string on the wire, in both directions; a number is taken too.
type ID int64

// parseID reads an identifier; ok is false for anything but digits, and for a number that no identifier reaches.
func parseID(text string) (id ID, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return ID(n), err == nil && n >= 0 && text[0] != '+' && text[0] != '-'
}

func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// MarshalJSON writes the number as a string.
func (id ID) MarshalJSON() ([]byte, error) { return marshal(id) }

// MarshalJSONTo does so into an answer.
func (id ID) MarshalJSONTo(e *jsontext.Encoder) error {
	b := append(e.AvailableBuffer(), '"')
	b = strconv.AppendInt(b, int64(id), 10)
	return e.WriteValue(append(b, '"'))
}

// Schema describes an ID for the OpenAPI document.
func (ID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]+$", Examples: []any{"12345678"}}
}

// A timestamp is a time in the form of RFC 3339, to the second; null when it is not set.
type timestamp struct{ time.Time }

// MarshalJSON writes the time in UTC.
func (t timestamp) MarshalJSON() ([]byte, error) { return marshal(t) }

// MarshalJSONTo does so into an answer.
func (t timestamp) MarshalJSONTo(e *jsontext.Encoder) error {
	if t.IsZero() {
		return e.WriteToken(jsontext.Null)
	}
	return e.WriteValue(t.UTC().AppendFormat(e.AvailableBuffer(), `"2006-01-02T15:04:05-07:00"`))
}

// Schema describes a timestamp for the OpenAPI document.
func (timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true, Examples: []any{"2026-01-31T12:00:00+00:00"}}
}

// optional is an object that may be null.
type optional[T any] struct{ value *T }

// optionalOf encodes what may be nil.
func optionalOf[A, B any](from *A, encode func(*A) B) optional[B] {
	if from == nil {
		return optional[B]{}
	}
	return optional[B]{new(encode(from))}
}

// MarshalJSON writes the object, or null.
func (o optional[T]) MarshalJSON() ([]byte, error) { return marshal(o) }

// MarshalJSONTo does so into an answer.
func (o optional[T]) MarshalJSONTo(e *jsontext.Encoder) error { return json.MarshalEncode(e, o.value) }

// Schema describes an optional object for the OpenAPI document.
func (optional[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// A reference names another object. Its type is the only thing that its name says.
type (
	fileRef struct {
		ID   ID     `json:"id"`
		Type string `json:"type" enum:"file"`
	}
	fileVersionRef struct {
		ID   ID     `json:"id"`
		Type string `json:"type" enum:"file_version"`
	}
	folderRef struct {
		ID   ID     `json:"id"`
		Type string `json:"type" enum:"folder"`
	}
	batchRef struct {
		ID   string `json:"id" format:"uuid"`
		Type string `json:"type" enum:"docgen_batch"`
	}
	userRef struct {
		ID   ID     `json:"id"`
		Type string `json:"type" enum:"user"`
	}
	enterpriseRef struct {
		ID   ID     `json:"id"`
		Type string `json:"type" enum:"enterprise"`
	}
)

// The words of the type fields.
const (
	typeFile        = "file"
	typeFileVersion = "file_version"
	typeFolder      = "folder"
	typeBatch       = "docgen_batch"
	typeJob         = "docgen_job"
	typeUser        = "user"
	typeEnterprise  = "enterprise"
	typeToken       = "token"
	typeAuditEvent  = "audit_event"
	typeApplication = "application"

	typeArchive       = "archive"
	typeStoragePolicy = "storage_policy"

	typeWebhook  = "webhook"
	typeDelivery = "webhook_delivery"
	typeAttempt  = "webhook_attempt"
	typeKey      = "webhook_key"
	typeListener = "webhook_listener"
)

// A selection is the fields query parameter: which fields an answer holds besides type, id and etag. None asked for are
// the standard ones.
type selection []string

var baseFields = selection{"type", "id", "etag"}

func selectionOf(fields string) selection {
	var names selection
	for name := range strings.SplitSeq(fields, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// A view shows the fields of an object that a selection names. Fields with the tag fields:"asked" are shown only when
// named; with mini set, the others too, but for those with the tag fields:"mini". A nil pointer
// or an empty text that is omitempty is left out.
type view[T any] struct {
	value  T
	fields selection
	mini   bool
}

// MarshalJSON writes the fields that are shown.
func (v view[T]) MarshalJSON() ([]byte, error) { return marshal(v) }

// MarshalJSONTo does so into an answer.
func (v *view[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	object := reflect.ValueOf(&v.value).Elem()
	for _, f := range outFieldsOf(object.Type()) {
		if !v.shows(f) {
			continue
		}
		value := object.Field(f.index)
		if f.mayLack && isAbsent(value) {
			continue
		}
		if err := e.WriteToken(jsontext.String(f.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, value.Addr().Interface()); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// isAbsent tells of a field that may be left out that it says nothing. A number, and false, always say something.
func isAbsent(field reflect.Value) bool {
	return (field.Kind() == reflect.Pointer || field.Kind() == reflect.String) && field.IsZero()
}

func (v *view[T]) shows(f outField) bool {
	switch {
	case f.isBase:
		return true
	case len(v.fields) > 0:
		return slices.Contains(v.fields, f.name)
	case v.mini:
		return f.isMini
	}
	return !f.isAsked
}

// Schema describes the whole object for the OpenAPI document; a selection leaves out what it does not name.
func (view[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// etagHeader writes an etag as HTTP wants it (RFC 9110, section 8.8.3).
func etagHeader(etag int64) string { return `"` + strconv.FormatInt(etag, 10) + `"` }

// matchesETag tells whether an If-None-Match header names the etag, bare as clients of this interface send it, or
// quoted as in RFC 9110, section 13.1.2.
func matchesETag(header string, etag int64) bool {
	for tag := range strings.SplitSeq(header, ",") {
		if tag = bareETag(tag); tag == "*" || tag == strconv.FormatInt(etag, 10) {
			return true
		}
	}
	return false
}

// bareETag removes the quotes, and the mark of a weak tag, from one etag of a header.
func bareETag(tag string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
}

// either is one of two bodies.
type either[A, B any] struct {
	first  *A
	second *B
}

// MarshalJSON writes the body that there is.
func (e either[A, B]) MarshalJSON() ([]byte, error) { return marshal(e) }

// MarshalJSONTo does so into an answer.
func (e either[A, B]) MarshalJSONTo(to *jsontext.Encoder) error {
	if e.first != nil {
		return json.MarshalEncode(to, e.first)
	}
	return json.MarshalEncode(to, e.second)
}

// Schema describes the two bodies for the OpenAPI document.
func (either[A, B]) Schema(r huma.Registry) *huma.Schema {
	return anyOf(r, reflect.TypeFor[A](), reflect.TypeFor[B]())
}

// anyOf describes what is a value of one of several types.
func anyOf(r huma.Registry, types ...reflect.Type) *huma.Schema {
	choice := &huma.Schema{}
	for _, t := range types {
		choice.AnyOf = append(choice.AnyOf, r.Schema(t, true, ""))
	}
	return choice
}

// userInput is the data of one document: any JSON object.
type userInput struct{ docgen.Input }

func (i userInput) MarshalJSON() ([]byte, error) { return i.Text(), nil }

// Schema describes an object of any shape for the OpenAPI document.
func (userInput) Schema(r huma.Registry) *huma.Schema { return anyObject{}.Schema(r) }

// anyObject is a JSON object that is passed on as the text it is.
type anyObject stdjson.RawMessage

func (o anyObject) MarshalJSON() ([]byte, error) { return o, nil }

// Schema describes an object of any shape for the OpenAPI document.
func (anyObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}
