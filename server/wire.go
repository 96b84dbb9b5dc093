package server

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
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
func (id ID) MarshalJSON() ([]byte, error) { return strconv.AppendQuote(nil, id.String()), nil }

// Schema describes an ID for the OpenAPI document.
func (ID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]+$", Examples: []any{"12345678"}}
}

// A timestamp is a time in the form of RFC 3339, to the second; null when it is not set.
type timestamp struct{ time.Time }

func (t timestamp) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05-07:00"`)), nil
}

// Schema describes a timestamp for the OpenAPI document.
func (timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true, Examples: []any{"2026-01-31T12:00:00+00:00"}}
}

// optional is an object that may be null.
type optional[T any] struct{ value *T }

func (o optional[T]) MarshalJSON() ([]byte, error) { return marshal(o.value) }

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
// named; with mini set, the others too, but for those with the tag fields:"mini".
type view[T any] struct {
	value  T
	fields selection
	mini   bool
}

func (v view[T]) MarshalJSON() ([]byte, error) {
	object := reflect.ValueOf(v.value)
	buf := bytes.NewBuffer(make([]byte, 0, viewBytes))
	buf.WriteByte('{')
	encoder := newEncoder(buf)
	for i, field := range viewFieldsOf(object.Type()) {
		if field.optional && object.Field(i).IsZero() || !v.shows(field.name, field.level) {
			continue
		}
		if buf.Len() > 1 {
			buf.WriteByte(',')
		}
		buf.WriteString(field.key)
		if err := encoder.Encode(object.Field(i).Interface()); err != nil {
			return nil, err
		}
		buf.Truncate(buf.Len() - 1) // the line end
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// viewBytes is what most views take at most.
const viewBytes = 512

// A viewField is what a view has to know of a field.
type viewField struct {
	name, level string
	key         string // the name as JSON has it before a value
	optional    bool   // left out when it is empty
}

// viewFields remembers the fields of types: to find out takes longer than to write most of them.
var viewFields sync.Map

func viewFieldsOf(t reflect.Type) []viewField {
	if known, ok := viewFields.Load(t); ok {
		return known.([]viewField)
	}
	fields := make([]viewField, t.NumField())
	for i := range fields {
		tag := t.Field(i).Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		fields[i] = viewField{name: name, level: tag.Get("fields"), key: strconv.Quote(name) + ":", optional: options == "omitempty"}
	}
	viewFields.Store(t, fields)
	return fields
}

func (v view[T]) shows(name, level string) bool {
	switch {
	case slices.Contains(baseFields, name):
		return true
	case len(v.fields) > 0:
		return slices.Contains(v.fields, name)
	case v.mini:
		return level == "mini"
	}
	return level != "asked"
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

func (e either[A, B]) MarshalJSON() ([]byte, error) {
	if e.first != nil {
		return marshal(e.first)
	}
	return marshal(e.second)
}

// Schema describes the two bodies for the OpenAPI document.
func (either[A, B]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[A](), true, ""), r.Schema(reflect.TypeFor[B](), true, ""),
	}}
}

// anyObject is a JSON object that is passed on as the text it is.
type anyObject json.RawMessage

func (o anyObject) MarshalJSON() ([]byte, error) { return o, nil }

// Schema describes an object of any shape for the OpenAPI document.
func (anyObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// marshal encodes without turning the characters of HTML into escapes: nothing here is put into a page.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	err := newEncoder(&buf).Encode(v)
	return buf.Bytes(), err
}

func newEncoder(buf *bytes.Buffer) *json.Encoder {
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false)
	return encoder
}
