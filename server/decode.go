package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"platen/docgen"
)

const (
	maxProblems  = 100 // maximum number of problems in one response
	maxNameShown = 200 // maximum bytes of a field name from the client that a response repeats
)

// decode parses a JSON object into the struct that v points to, in one pass. It reports everything that is wrong with the object at once,
// each with its path: fields that are missing, unknown, repeated, or of the wrong type. For text that is not JSON (RFC 8259), or nested
// more than 10,000 levels deep, it returns an error with the location.
//
// The struct tags are those that generate the OpenAPI document, so the two always agree: a field is required unless it is omitempty or
// omitzero, its enum tag lists the valid values, and minLength:"1" rejects an empty string, which would otherwise count as an omitted
// field. A null counts as an omitted field where the field may be omitted. Inputs reads each userInput, which shares its memory with
// text; it may be nil if v has none.
func decode(text []byte, v any, inputs *docgen.Inputs) ([]docgen.Problem, error) {
	return (&decoder{text: text, inputs: inputs}).decode(v)
}

// decodeTolerant is decode for clients that send more fields than this API has: it ignores unknown fields, except refusedFields.
func decodeTolerant(text []byte, v any) ([]docgen.Problem, error) {
	return (&decoder{text: text, tolerant: true}).decode(v)
}

// refusedFields are fields of the Box API that protect or publish an item. If Platen ignored them, the caller would believe that it did.
var refusedFields = []string{
	"can_non_owners_invite", "disposition_at", "is_collaboration_restricted_to_enterprise", "lock", "permissions", "shared_link",
}

// A decoder reads text into a struct. Its methods return the errors of the JSON decoder.
type decoder struct {
	text     []byte
	in       *jsontext.Decoder // of text
	inputs   *docgen.Inputs
	problems []docgen.Problem
	tolerant bool // ignores unknown fields
}

func (d *decoder) decode(v any) ([]docgen.Problem, error) {
	if len(bytes.TrimSpace(d.text)) == 0 {
		return nil, failf(docgen.CodeBadRequest, "The body is empty; it must be a JSON object.")
	}
	if !utf8.Valid(d.text) {
		return nil, malformed(d.text, validPrefix(d.text), "the text is not UTF-8")
	}
	d.in = docgen.NewJSONDecoder(d.text)
	if err := d.value(reflect.ValueOf(v).Elem(), "", field{}); err != nil {
		return nil, syntaxError(d.text, err)
	}
	end := len(d.text) - len(bytes.TrimLeft(d.text[d.in.InputOffset():], " \t\r\n"))
	if end < len(d.text) {
		return nil, malformed(d.text, end, "unexpected data after the end of the object")
	}
	return d.problems, nil
}

// syntaxError returns the Error for text that is not JSON, with the position of the first error.
func syntaxError(text []byte, err error) error {
	return failf(docgen.CodeBadRequest, "The body is not valid JSON: %s.", syntaxProblem(text, err))
}

// syntaxProblem describes the first error in text that is not JSON, with its position.
func syntaxProblem(text []byte, err error) string {
	wrong, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return problemAt(text, len(text), "the text ends in the middle of a value")
	}
	return problemAt(text, int(wrong.ByteOffset), wrong.Err.Error())
}

// validPrefix returns the length of the prefix of text that is UTF-8.
func validPrefix(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

func malformed(text []byte, at int, reason string) error {
	return failf(docgen.CodeBadRequest, "The body is not valid JSON: %s.", problemAt(text, at, reason))
}

// problemAt returns a reason with the line and column of a position.
func problemAt(text []byte, at int, reason string) string {
	before := text[:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("line %d, column %d: %s", line, column, reason)
}

var (
	inputType  = reflect.TypeFor[userInput]()
	idType     = reflect.TypeFor[ID]()
	timeType   = reflect.TypeFor[timestamp]()
	changeType = reflect.TypeFor[interface{ isChange() }]()
)

// A change is a field of a request where null and an omitted field have different meanings.
type change[T any] struct {
	Given bool
	Value *T // nil for null
}

func (change[T]) isChange() {}

// Schema describes the field for the OpenAPI document.
func (change[T]) Schema(r huma.Registry) *huma.Schema {
	if s := r.Schema(reflect.TypeFor[T](), true, ""); s.Nullable {
		return s
	}
	return optional[T]{}.Schema(r)
}

// value decodes the next value of the text, a field or an item of a list. It records a problem for a value of the wrong type, and skips
// it.
func (d *decoder) value(v reflect.Value, path string, f field) error {
	next := d.in.PeekKind()
	switch t := v.Type(); {
	case t.Implements(changeType):
		v.FieldByName("Given").SetBool(true)
		return d.value(v.FieldByName("Value"), path, f)
	case next == jsontext.KindNull && (f.optional || t.Kind() == reflect.Pointer || t == timeType): // like an omitted field
		return d.in.SkipValue()
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return d.value(v.Elem(), path, f)
	case !takes(t, next):
		if err := d.in.SkipValue(); err != nil {
			return err
		}
		d.note(docgen.ReasonInvalid, path, "%s must be %s, not %s", quote(path), wanted(t), described(next))
		return nil
	case t == inputType:
		input, err := d.inputs.Read(d.in, d.text)
		v.Set(reflect.ValueOf(userInput{input}))
		return err
	case next == jsontext.KindBeginArray:
		return d.array(v, path)
	case next == jsontext.KindBeginObject:
		return d.object(v, path)
	}
	return d.scalar(v, path, f)
}

// takes reports whether a value of kind next can be decoded into type t.
func takes(t reflect.Type, next jsontext.Kind) bool {
	switch t {
	case inputType:
		return next == jsontext.KindBeginObject
	case idType:
		return next == jsontext.KindString || next == jsontext.KindNumber
	case timeType:
		return next == jsontext.KindString
	}
	switch t.Kind() {
	case reflect.String:
		return next == jsontext.KindString
	case reflect.Int64:
		return next == jsontext.KindNumber
	case reflect.Bool:
		return next == jsontext.KindTrue || next == jsontext.KindFalse
	case reflect.Slice:
		return next == jsontext.KindBeginArray
	case reflect.Struct:
		return next == jsontext.KindBeginObject
	default:
		return false
	}
}

func (d *decoder) object(v reflect.Value, path string) error {
	if _, err := d.in.ReadToken(); err != nil {
		return err
	}
	fields := fieldsOf(v.Type())
	seen := map[string]bool{}
	for d.in.PeekKind() != jsontext.KindEndObject {
		name, err := d.in.ReadToken()
		if err == nil {
			err = d.member(v, path, name.String(), fields, seen)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range fields {
		if at := join(path, f.name); !f.optional && !seen[f.name] {
			d.note(docgen.ReasonMissing, at, "%s is required", quote(at))
		}
	}
	_, err := d.in.ReadToken()
	return err
}

// member decodes the value of a field of v.
func (d *decoder) member(v reflect.Value, path, name string, fields []field, seen map[string]bool) error {
	at := join(path, name)
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	switch {
	case i < 0 && d.tolerant:
		return d.ignore(at, name)
	case i < 0:
		d.note(docgen.ReasonInvalid, at, "%s is not a field of this request; valid fields are %s", quote(at), names(fields))
		return d.in.SkipValue()
	case seen[name]:
		d.note(docgen.ReasonInvalid, at, "%s is repeated", quote(at))
		return d.in.SkipValue()
	}
	seen[name] = true
	return d.value(v.Field(fields[i].index), at, fields[i])
}

// ignore skips the value of an unknown field.
func (d *decoder) ignore(at, name string) error {
	if slices.Contains(refusedFields, name) && d.in.PeekKind() != jsontext.KindNull {
		d.note(docgen.ReasonInvalid, at, "%s is not supported: omit it, or send null", quote(at))
	}
	return d.in.SkipValue()
}

func (d *decoder) array(v reflect.Value, path string) error {
	if _, err := d.in.ReadToken(); err != nil {
		return err
	}
	item := reflect.New(v.Type().Elem()).Elem()
	for i := 0; d.in.PeekKind() != jsontext.KindEndArray; i++ {
		item.SetZero()
		if err := d.value(item, path+"["+strconv.Itoa(i)+"]", field{}); err != nil {
			return err
		}
		v.Set(reflect.Append(v, item))
	}
	_, err := d.in.ReadToken()
	return err
}

// scalar decodes a value that is neither an object nor an array.
func (d *decoder) scalar(v reflect.Value, path string, f field) error {
	if v.Type() == idType {
		return d.id(v, path)
	}
	token, err := d.in.ReadToken()
	if err != nil {
		return err
	}
	switch {
	case v.Type() == timeType:
		d.time(v, path, token.String())
	case v.Kind() == reflect.String:
		d.string(v, path, token.String(), f)
	case v.Kind() == reflect.Int64:
		n, err := strconv.ParseInt(token.String(), 10, 64)
		if err != nil {
			d.note(docgen.ReasonInvalid, path, "%s must be a 64-bit integer", quote(path))
		}
		v.SetInt(n)
	default:
		v.SetBool(token.Bool())
	}
	return nil
}

func (d *decoder) string(v reflect.Value, path, s string, f field) {
	if f.notEmpty && s == "" {
		d.note(docgen.ReasonInvalid, path, "%s must not be empty; omit it instead", quote(path))
	}
	if f.enum != "" && !slices.Contains(strings.Split(f.enum, ","), s) {
		d.note(docgen.ReasonInvalid, path, "%s must be %s", quote(path), strings.ReplaceAll(f.enum, ",", " or "))
		return
	}
	v.SetString(s)
}

// id decodes an identifier, which is a string of digits without escapes. Some clients send a number.
func (d *decoder) id(v reflect.Value, path string) error {
	raw, err := d.in.ReadValue()
	if err != nil {
		return err
	}
	id, ok := parseID(string(bytes.Trim(raw, `"`)))
	if !ok {
		d.note(docgen.ReasonInvalid, path, "%s must be an identifier: a string of decimal digits", quote(path))
	}
	v.SetInt(int64(id))
	return nil
}

func (d *decoder) time(v reflect.Value, path, s string) {
	t, err := time.Parse(time.RFC3339, s)
	if year := t.UTC().Year(); err != nil || year < 0 || year > 9999 { // the UTC form would not be RFC 3339
		d.note(docgen.ReasonInvalid, path, "%s must be a time in RFC 3339 format, such as 2026-01-31T12:00:00+00:00", quote(path))
	}
	v.Set(reflect.ValueOf(timestamp{t}))
}

func (d *decoder) note(reason, name, format string, args ...any) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, docgen.Problem{Reason: reason, Name: shorten(name), Message: fmt.Sprintf(format, args...)})
	}
}

// A field is one field of a request struct.
type field struct {
	name     string
	index    int
	optional bool // whether it may be omitted
	enum     string
	notEmpty bool
}

func fieldsOf(t reflect.Type) []field {
	fields := make([]field, t.NumField())
	for i := range fields {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[i] = field{name: name, index: i, optional: options != "", enum: f.Tag.Get("enum"), notEmpty: f.Tag.Get("minLength") == "1"}
	}
	return fields
}

// names lists all fields, to help with misspelled ones.
func names(fields []field) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return strings.Join(all, ", ")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func quote(path string) string {
	if path == "" {
		return "The body"
	}
	return "'" + shorten(path) + "'"
}

func shorten(path string) string {
	if len(path) <= maxNameShown {
		return path
	}
	return strings.ToValidUTF8(path[:maxNameShown], "") + "…"
}

// wanted names the JSON type of a field.
func wanted(t reflect.Type) string {
	switch {
	case t == idType:
		return "an identifier: a string of decimal digits"
	case t == timeType, t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Int64:
		return "an integer"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Slice:
		return "an array"
	}
	return "an object"
}

// described names the type of a value of the given kind.
func described(next jsontext.Kind) string {
	switch next {
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindNull:
		return "null"
	default:
		return "a number"
	}
}
