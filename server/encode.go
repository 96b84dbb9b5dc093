package server

import (
	"encoding"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// Answers are written as encoding/json would write them without escapes for HTML, in one go: encoding/json checks and copies
// what a MarshalJSON gives it at every level, which takes longer than all else for a list of objects that select their fields.
// What is not of the kinds here goes to encoding/json.

// jsonFormat encodes the answers of operations. It takes the memory for one from those before it.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		buf := answers.Get().(*[]byte)
		defer answers.Put(buf)
		text, err := appendJSON((*buf)[:0], reflect.ValueOf(v))
		if err != nil {
			return err
		}
		*buf = append(text, '\n')
		_, err = w.Write(*buf)
		return err
	},
	Unmarshal: json.Unmarshal,
}

var answers = sync.Pool{New: func() any { return new([]byte) }}

// marshal encodes without turning the characters of HTML into escapes: nothing here is put into a page. It ends the line.
func marshal(v any) ([]byte, error) {
	b, err := appendJSON(nil, reflect.ValueOf(v))
	return append(b, '\n'), err
}

// An appender writes itself.
type appender interface {
	appendJSON(b []byte) ([]byte, error)
}

// An encoder appends a value of one type.
type encoder func(b []byte, v reflect.Value) ([]byte, error)

// encoders remembers the encoder of every type met: to make one takes longer than to use it.
var encoders sync.Map

func appendJSON(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(b, "null"...), nil
	}
	return encoderOf(v.Type())(b, v)
}

func encoderOf(t reflect.Type) encoder {
	if known, ok := encoders.Load(t); ok {
		return known.(encoder)
	}
	e := newEncoder(t)
	encoders.Store(t, e)
	return e
}

var (
	appenderType      = reflect.TypeFor[appender]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

func newEncoder(t reflect.Type) encoder {
	switch {
	case t.Kind() != reflect.Pointer && t.Implements(appenderType):
		return func(b []byte, v reflect.Value) ([]byte, error) { return v.Interface().(appender).appendJSON(b) }
	case t.Kind() == reflect.Pointer && (t.Implements(appenderType) || !t.Implements(marshalerType)):
		return appendPointer
	case t.Implements(marshalerType) || t.Implements(textMarshalerType):
		return appendOther
	}
	switch kind := t.Kind(); {
	case kind == reflect.String:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendString(b, v.String()) }
	case kind == reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case kind == reflect.Int || kind == reflect.Int32 || kind == reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8: // bytes are base64
		return appendSlice
	case kind == reflect.Struct:
		if fields := outFieldsOf(t); !slices.ContainsFunc(fields, func(f outField) bool { return f.strange }) {
			return func(b []byte, v reflect.Value) ([]byte, error) { return appendFields(b, v, fields, outField.isEmpty) }
		}
	}
	return appendOther
}

// appendOther leaves a value to encoding/json.
func appendOther(b []byte, v reflect.Value) ([]byte, error) {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v.Interface())
	return append(b, strings.TrimSuffix(text.String(), "\n")...), err
}

func appendPointer(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	return appendJSON(b, v.Elem())
}

func appendSlice(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	element := encoderOf(v.Type().Elem())
	b = append(b, '[')
	var err error
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = element(b, v.Index(i)); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// An outField is what has to be known of a field of a struct to write it.
type outField struct {
	index       int
	name, level string // the name in JSON, and the tag fields
	key         string // the name as JSON has it before a value
	mayLack     bool   // whether it is left out where it says nothing
	strange     bool   // whether it takes encoding/json to know how it is written
}

// outFields remembers the fields of types.
var outFields sync.Map

func outFieldsOf(t reflect.Type) []outField {
	if known, ok := outFields.Load(t); ok {
		return known.([]outField)
	}
	all := []outField{}
	for i := range t.NumField() {
		of := t.Field(i)
		name, options, _ := strings.Cut(of.Tag.Get("json"), ",")
		all = append(all, outField{
			index: i, name: name, level: of.Tag.Get("fields"), key: strconv.Quote(name) + ":", mayLack: options == "omitempty",
			strange: of.Anonymous || !of.IsExported() || name == "" || name == "-" || options != "" && options != "omitempty",
		})
	}
	outFields.Store(t, all)
	return all
}

// isEmpty tells whether encoding/json leaves a field out.
func (f outField) isEmpty(v reflect.Value) bool {
	if kind := v.Kind(); kind == reflect.Slice || kind == reflect.Map {
		return f.mayLack && v.Len() == 0
	}
	return f.mayLack && v.Kind() != reflect.Struct && v.IsZero()
}

// appendFields appends those fields of a struct that are not to be left out.
func appendFields(b []byte, v reflect.Value, fields []outField, leaveOut func(outField, reflect.Value) bool) ([]byte, error) {
	b = append(b, '{')
	begin := len(b)
	var err error
	for _, f := range fields {
		value := v.Field(f.index)
		if leaveOut(f, value) {
			continue
		}
		if len(b) > begin {
			b = append(b, ',')
		}
		if b, err = appendJSON(append(b, f.key...), value); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// appendString appends a string, most of which need no escapes.
func appendString(b []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendOther(b, reflect.ValueOf(s))
		}
	}
	return append(append(append(b, '"'), s...), '"'), nil
}
