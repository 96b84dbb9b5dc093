package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

const (
	maxProblems  = 100 // problems that one answer lists: a client that makes more has one fault, many times
	maxNameShown = 200 // bytes of a field's name, which the client chose, that an answer repeats
)

// decode reads a JSON object into the struct that v points to, strictly, and finds everything that is wrong with it:
// fields that are missing, unknown, given twice or of the wrong type come back together, each with its path. Text that
// is not JSON (RFC 8259), or nested more than 10,000 deep, is an error that says where.
//
// The struct speaks the tags that the OpenAPI document is made of, so that both agree: a field is required unless it is
// omitempty or omitzero, its enum tag lists what it may be, and minLength:"1" rejects an empty string, which would
// otherwise pass for a field that was left out. An anyObject takes any object and is not looked into; it
// shares its memory with text.
func decode(text []byte, v any) ([]docgen.Problem, error) {
	if err := checkSyntax(text); err != nil {
		return nil, err
	}
	d := &decoder{text: text}
	d.value(reflect.ValueOf(v).Elem(), "", "")
	return d.problems, nil
}

// checkSyntax tells whether text is JSON, and where it stops being so.
func checkSyntax(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return failf(docgen.CodeBadRequest, "The body is empty; it must be a JSON object.")
	}
	if !utf8.Valid(text) {
		return malformed(text, validPrefix(text), "the text is not UTF-8")
	}
	if json.Valid(text) {
		return nil
	}
	e, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(text, &struct{}{}))
	if !ok || e.Error() == "unexpected end of JSON input" {
		return malformed(text, len(text), "the text ends in the middle of a value")
	}
	return malformed(text, int(e.Offset)-1, e.Error())
}

// validPrefix returns how much of text is UTF-8.
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
	before := text[:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return failf(docgen.CodeBadRequest, "The body is not valid JSON: line %d, column %d: %s.", line, column, reason)
}

// A decoder walks over text that is known to be JSON.
type decoder struct {
	text     []byte
	at       int
	problems []docgen.Problem
}

var (
	objectType = reflect.TypeFor[anyObject]()
	idType     = reflect.TypeFor[ID]()
	timeType   = reflect.TypeFor[timestamp]()
	changeType = reflect.TypeFor[interface{ isChange() }]()
)

// A change is a field of a request where null says something, and leaving it out says nothing.
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

// value reads the next value of the text. A value of the wrong type is noted and passed over.
func (d *decoder) value(v reflect.Value, path, enum string) {
	first := d.next()
	switch t := v.Type(); {
	case t.Implements(changeType):
		v.FieldByName("Given").SetBool(true)
		d.value(v.FieldByName("Value"), path, enum)
	case first == 'n' && t.Kind() == reflect.Pointer:
		d.raw()
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.value(v.Elem(), path, enum)
	case t == objectType && first == '{':
		v.SetBytes(d.raw())
	case t == idType && strings.IndexByte(`"-0123456789`, first) >= 0:
		d.id(v, path)
	case t == timeType && first == 'n':
		d.raw() // like one that is left out
	case t == timeType && first == '"':
		d.time(v, path)
	case t.Kind() == reflect.String && first == '"':
		d.string(v, path, enum)
	case t != idType && t.Kind() == reflect.Int64 && strings.IndexByte("-0123456789", first) >= 0:
		d.integer(v, path)
	case t.Kind() == reflect.Bool && (first == 't' || first == 'f'):
		v.SetBool(first == 't')
		d.raw()
	case t != objectType && t.Kind() == reflect.Slice && first == '[':
		d.array(v, path)
	case t != timeType && t.Kind() == reflect.Struct && first == '{':
		d.object(v, path)
	default:
		d.raw()
		d.note(docgen.ReasonInvalid, path, "%s must be %s, not %s", quote(path), wanted(t), described(first))
	}
}

func (d *decoder) object(v reflect.Value, path string) {
	fields := fieldsOf(v.Type())
	seen := map[string]bool{}
	for d.at++; d.next() != '}'; {
		name := d.unquoted()
		at := join(path, name)
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case i < 0:
			d.raw()
			d.note(docgen.ReasonInvalid, at, "%s is not a field of this request; there are %s", quote(at), names(fields))
		case seen[name]:
			d.raw()
			d.note(docgen.ReasonInvalid, at, "%s is given twice", quote(at))
		default:
			if fields[i].notEmpty && bytes.HasPrefix(d.text[d.peek():], []byte(`""`)) {
				d.note(docgen.ReasonInvalid, at, "%s must not be empty; leave it out instead", quote(at))
			}
			d.value(v.Field(fields[i].index), at, fields[i].enum)
			seen[name] = true
		}
	}
	d.at++
	for _, f := range fields {
		if at := join(path, f.name); f.required && !seen[f.name] {
			d.note(docgen.ReasonMissing, at, "%s is required", quote(at))
		}
	}
}

func (d *decoder) array(v reflect.Value, path string) {
	item := reflect.New(v.Type().Elem()).Elem()
	d.at++
	for i := 0; d.next() != ']'; i++ {
		item.SetZero()
		d.value(item, path+"["+strconv.Itoa(i)+"]", "")
		v.Set(reflect.Append(v, item))
	}
	d.at++
}

func (d *decoder) string(v reflect.Value, path, enum string) {
	s := d.unquoted()
	if enum != "" && !slices.Contains(strings.Split(enum, ","), s) {
		d.note(docgen.ReasonInvalid, path, "%s must be %s", quote(path), strings.ReplaceAll(enum, ",", " or "))
		return
	}
	v.SetString(s)
}

// id reads an identifier, which is a string on the wire; some clients send a number.
func (d *decoder) id(v reflect.Value, path string) {
	id, ok := parseID(string(bytes.Trim(d.raw(), `"`)))
	if !ok {
		d.note(docgen.ReasonInvalid, path, "%s must be an identifier: a string of decimal digits", quote(path))
	}
	v.SetInt(int64(id))
}

func (d *decoder) integer(v reflect.Value, path string) {
	n, err := strconv.ParseInt(string(d.raw()), 10, 64)
	if err != nil {
		d.note(docgen.ReasonInvalid, path, "%s must be a whole number of 64 bits", quote(path))
	}
	v.SetInt(n)
}

func (d *decoder) time(v reflect.Value, path string) {
	t, err := time.Parse(time.RFC3339, d.unquoted())
	if year := t.UTC().Year(); err != nil || year < 0 || year > 9999 { // which in UTC would need another form
		d.note(docgen.ReasonInvalid, path, "%s must be a time in the form of RFC 3339, such as 2026-01-31T12:00:00+00:00", quote(path))
	}
	v.Set(reflect.ValueOf(timestamp{t}))
}

func (d *decoder) unquoted() string {
	var s string
	if err := json.Unmarshal(d.raw(), &s); err != nil {
		panic(err) // the text is JSON, and what stands here is a string
	}
	return s
}

// peek returns where the next value begins.
func (d *decoder) peek() int {
	d.next()
	return d.at
}

// next passes over what stands between values and returns the first byte of what follows.
func (d *decoder) next() byte {
	for strings.IndexByte(" \t\r\n,:", d.text[d.at]) >= 0 {
		d.at++
	}
	return d.text[d.at]
}

// raw passes over the next value and returns its text.
func (d *decoder) raw() []byte {
	d.next()
	begin, depth := d.at, 0
	for {
		switch d.text[d.at] {
		case '{', '[':
			depth++
			d.at++
		case '}', ']':
			depth--
			d.at++
		case '"':
			for d.at++; d.text[d.at] != '"'; d.at++ {
				if d.text[d.at] == '\\' {
					d.at++
				}
			}
			d.at++
		default:
			for d.at++; depth == 0 && d.at < len(d.text) && strings.IndexByte("]}, \t\r\n", d.text[d.at]) < 0; {
				d.at++
			}
		}
		if depth == 0 {
			return d.text[begin:d.at:d.at]
		}
	}
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
	required bool
	enum     string
	notEmpty bool
}

func fieldsOf(t reflect.Type) []field {
	fields := make([]field, t.NumField())
	for i := range fields {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[i] = field{name: name, index: i, required: options == "", enum: f.Tag.Get("enum"), notEmpty: f.Tag.Get("minLength") == "1"}
	}
	return fields
}

// names are those of all fields, for whoever has misspelt one.
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

// wanted says what a field takes, in the words of JSON.
func wanted(t reflect.Type) string {
	switch {
	case t == idType:
		return "an identifier: a string of decimal digits"
	case t == timeType, t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Int64:
		return "a whole number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t != objectType && t.Kind() == reflect.Slice:
		return "an array"
	}
	return "an object"
}

// described says what a value is, from its first byte.
func described(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
