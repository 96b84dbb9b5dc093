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

// An ID is an identifier: a decimal number, encoded as a JSON string. Requests may also send it as a JSON number.
type ID int64

// parseID parses an identifier. ok is false unless text consists of digits and is in the range of identifiers.
func parseID(text string) (id ID, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return ID(n), err == nil && n >= 0 && text[0] != '+' && text[0] != '-'
}

func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// MarshalJSON writes the number as a string.
func (id ID) MarshalJSON() ([]byte, error) { return marshal(id) }

// MarshalJSONTo writes it to a stream.
func (id ID) MarshalJSONTo(e *jsontext.Encoder) error {
	b := append(e.AvailableBuffer(), '"')
	b = strconv.AppendInt(b, int64(id), 10)
	return e.WriteValue(append(b, '"'))
}

// Schema describes an ID for the OpenAPI document.
func (ID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]+$", Examples: []any{"12345678"}}
}

// A timestamp is a time in RFC 3339 format, in seconds; null if it is not set.
type timestamp struct{ time.Time }

// MarshalJSON writes the time in UTC.
func (t timestamp) MarshalJSON() ([]byte, error) { return marshal(t) }

// MarshalJSONTo writes it to a stream.
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

// optional is an object or null.
type optional[T any] struct{ value *T }

// optionalOf returns the encoding of v, or null if v is nil.
func optionalOf[A, B any](from *A, encode func(*A) B) optional[B] {
	if from == nil {
		return optional[B]{}
	}
	return optional[B]{new(encode(from))}
}

// MarshalJSON writes the object, or null.
func (o optional[T]) MarshalJSON() ([]byte, error) { return marshal(o) }

// MarshalJSONTo writes it to a stream.
func (o optional[T]) MarshalJSONTo(e *jsontext.Encoder) error { return json.MarshalEncode(e, o.value) }

// Schema describes an optional object for the OpenAPI document.
func (optional[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// References to other objects: an id and a fixed type.
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

// The values of the type fields.
const (
	typeFile          = "file"
	typeFileVersion   = "file_version"
	typeFolder        = "folder"
	typeBatch         = "docgen_batch"
	typeSample        = "docgen_sample"
	typeJob           = "docgen_job"
	typeUser          = "user"
	typeUploadSession = "upload_session"
	typeEnterprise    = "enterprise"
	typeToken         = "token"
	typeAuditEvent    = "audit_event"
	typeApplication   = "application"

	typeArchive       = "archive"
	typeStoragePolicy = "storage_policy"

	typeWebhook  = "webhook"
	typeDelivery = "webhook_delivery"
	typeAttempt  = "webhook_attempt"
	typeKey      = "webhook_key"
	typeListener = "webhook_listener"
)

// A selection is the value of the fields query parameter: the fields of a response, in addition to type, id, and etag. An empty selection
// means the standard fields.
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

// A view encodes the fields of an object that a selection names. Fields tagged fields:"asked" are omitted unless they are named. If mini
// is set, all other fields are omitted too, except those tagged fields:"mini". Nil pointers and empty strings are omitted if they are
// tagged omitempty.
type view[T any] struct {
	value  T
	fields selection
	mini   bool
}

// MarshalJSON writes the selected fields.
func (v view[T]) MarshalJSON() ([]byte, error) { return marshal(v) }

// MarshalJSONTo writes it to a stream.
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

// isAbsent reports whether a field tagged omitempty is empty. A number or a bool never is.
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

// Schema describes the complete object for the OpenAPI document. A selection omits the fields that it does not name.
func (view[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// etagHeader formats an etag as an entity tag (RFC 9110, section 8.8.3).
func etagHeader(etag int64) string { return `"` + strconv.FormatInt(etag, 10) + `"` }

// matchesETag reports whether an If-None-Match header contains the etag, either bare, as clients of the Box API send it, or quoted (RFC
// 9110, section 13.1.2).
func matchesETag(header string, etag int64) bool {
	for tag := range strings.SplitSeq(header, ",") {
		if tag = bareETag(tag); tag == "*" || tag == strconv.FormatInt(etag, 10) {
			return true
		}
	}
	return false
}

// bareETag removes the quotes and the weak prefix from an entity tag of a header.
func bareETag(tag string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
}

// either holds one of two bodies.
type either[A, B any] struct {
	first  *A
	second *B
}

// MarshalJSON writes the body that is set.
func (e either[A, B]) MarshalJSON() ([]byte, error) { return marshal(e) }

// MarshalJSONTo writes it to a stream.
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

// anyOf returns the schema of a value that has one of several types.
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

// anyObject is a JSON object that is passed on as raw text.
type anyObject stdjson.RawMessage

func (o anyObject) MarshalJSON() ([]byte, error) { return o, nil }

// Schema describes an object of any shape for the OpenAPI document.
func (anyObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}
