package lang

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// schemaDialect is the JSON Schema that is written.
const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

// MarshalJSON returns the schema as JSON Schema 2020-12, with the same bytes each time: properties in the order in which the template first
// uses them, their tags as descriptions, and the values that the template compares them with as examples. Numbers must
// be JSON numbers there, although the language also accepts numbers as text.
func (s *Schema) MarshalJSON() ([]byte, error) {
	b := append([]byte(`{"$schema":`), quoteJSON(schemaDialect)...)
	if s.Title != "" {
		b = append(append(b, `,"title":`...), quoteJSON(s.Title)...)
	}
	b = append(b, ',')
	return append(s.appendTo(b, false), '}'), nil
}

// foldKeyword marks properties that merge fields of Word read, whose names in the data may differ as in Word. Other programs ignore it.
const foldKeyword = "x-mergeField"

// schemaTypes holds how each kind is written: its types and what else there is to say.
var schemaTypes = [...]struct {
	types   []string
	keyword string
}{
	anObject: {types: []string{"object"}},
	aListOf:  {types: []string{"array"}},
	aSingle:  {types: []string{"string", "number", "boolean"}},
	aString:  {types: []string{"string"}},
	aFlag:    {types: []string{"boolean"}},
	aDecimal: {types: []string{"number"}},
	aDay:     {types: []string{"string"}, keyword: `"format":"date"`},
	aMoment:  {types: []string{"string"}, keyword: `"format":"date-time"`},
	anImage:  {types: []string{"string"}, keyword: `"contentEncoding":"base64"`},
}

// appendTo appends the keywords without the braces around; null means that null will do too.
func (s *Schema) appendTo(b []byte, null bool) []byte {
	start := len(b)
	key := func(name string) {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(append(b, quoteJSON(name)...), ':')
	}
	if s.description != "" {
		key("description")
		b = append(b, quoteJSON(s.description)...)
	}
	if s.fold {
		key(foldKeyword)
		b = append(b, "true"...)
	}
	if kind := schemaTypes[s.kind]; kind.types != nil {
		key("type")
		b = appendTypes(b, kind.types, null)
		if kind.keyword != "" {
			b = append(append(b, ','), kind.keyword...)
		}
	}
	if len(s.entries) > 0 {
		key("enum")
		entries := s.entries
		if null {
			entries = append(slices.Clone(entries), nil)
		}
		b = appendJSON(b, entries)
	}
	if len(s.examples) > 0 {
		key("examples")
		b = appendJSON(b, s.examples)
	}
	switch s.kind {
	case anObject:
		key("properties")
		b = s.appendProperties(b)
	case aListOf:
		if s.atLeast > 1 {
			key("minItems")
			b = strconv.AppendInt(b, int64(s.atLeast), 10)
		}
		key("items")
		b = append(s.items.appendTo(append(b, '{'), false), '}')
	}
	return b
}

func appendTypes(b []byte, types []string, null bool) []byte {
	if null {
		types = append(slices.Clone(types), "null")
	}
	if len(types) == 1 {
		return append(b, quoteJSON(types[0])...)
	}
	list := make([]any, len(types))
	for i, t := range types {
		list[i] = t
	}
	return appendJSON(b, list)
}

func (s *Schema) appendProperties(b []byte) []byte {
	var required []any
	b = append(b, '{')
	for i, p := range s.properties {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quoteJSON(p.name)...), ":{"...)
		b = append(p.appendTo(b, !p.required), '}')
		if p.required {
			required = append(required, p.name)
		}
	}
	b = append(b, '}')
	if len(required) > 0 {
		b = appendJSON(append(b, `,"required":`...), required)
	}
	return b
}

// MarshalJSON returns the object as JSON, its keys in their order and its numbers digit by digit.
func (o *Object) MarshalJSON() ([]byte, error) { return appendJSON(nil, o), nil }

// appendJSON appends a value as JSON.
func appendJSON(b []byte, v Value) []byte {
	switch v := v.(type) {
	case *Object:
		b = append(b, '{')
		for key, value := range v.All() {
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(append(b, quoteJSON(key)...), ':')
			b = appendJSON(b, value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case string:
		return append(b, quoteJSON(v)...)
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// quoteJSON returns a text as a JSON string, without escaping < > and &.
func quoteJSON(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // cannot be: it is a string, and a buffer takes all
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// ParseSchema reads what [Schema.MarshalJSON] wrote. Of other schemas it understands what those have in common with ours: type,
// properties, required, items, description, enum, minItems, examples, and the formats date and date-time, and x-mergeField.
func ParseSchema(data []byte) (*Schema, error) {
	v, err := Decode(data)
	if err != nil {
		return nil, err
	}
	s, err := parseSchema(v)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if s.kind != anObject {
		return nil, errors.New("schema: the top-level type must be object")
	}
	s.Title, _ = v.(*Object).Get("title").(string)
	return s, nil
}

// parseSchema reads a schema.
func parseSchema(v Value) (s *Schema, err error) {
	o, ok := v.(*Object)
	if !ok {
		return nil, errors.New("a schema must be an object")
	}
	s = new(Schema)
	s.description, _ = o.Get("description").(string)
	s.examples, _ = o.Get("examples").([]any)
	s.fold, _ = o.Get(foldKeyword).(bool)
	if entries, ok := o.Get("enum").([]any); ok {
		s.entries = slices.DeleteFunc(slices.Clone(entries), func(v Value) bool { return v == nil })
	}
	if s.kind, err = parseKind(o); err != nil {
		return nil, err
	}
	switch s.kind {
	case anObject:
		err = s.parseProperties(o)
	case aListOf:
		if n, ok := o.Get("minItems").(json.Number); ok {
			s.atLeast, _ = strconv.Atoi(n.String())
		}
		s.items = new(Schema)
		if items := o.Get("items"); items != nil {
			s.items, err = parseSchema(items)
		}
	}
	return s, err
}

// parseKind reads the type of a schema. It ignores null, because every optional value may be null.
func parseKind(o *Object) (kind, error) {
	types, ok := o.Get("type").([]any)
	if !ok {
		types = []any{o.Get("type")}
	}
	types = slices.DeleteFunc(slices.Clone(types), func(t Value) bool { return t == "null" })
	if len(types) > 1 {
		return aSingle, nil
	}
	name, _ := slices.Concat(types, []any{nil})[0].(string)
	switch name {
	case "":
		return anything, nil
	case "object":
		return anObject, nil
	case "array":
		return aListOf, nil
	case "boolean":
		return aFlag, nil
	case "number", "integer":
		return aDecimal, nil
	case "string":
		return parseString(o), nil
	}
	return 0, fmt.Errorf("%q is not a type", name)
}

func parseString(o *Object) kind {
	switch {
	case o.Get("contentEncoding") == "base64":
		return anImage
	case o.Get("format") == "date":
		return aDay
	case o.Get("format") == "date-time":
		return aMoment
	}
	return aString
}

func (s *Schema) parseProperties(o *Object) error {
	required, _ := o.Get("required").([]any)
	properties, ok := o.Get("properties").(*Object)
	if !ok {
		return nil
	}
	names := make(map[string]bool, len(required))
	for _, name := range required {
		if name, ok := name.(string); ok {
			names[name] = true
		}
	}
	for name, v := range properties.All() {
		below, err := parseSchema(v)
		if err != nil {
			return fmt.Errorf("%s: %w", keyText(name, true), err)
		}
		s.properties = append(s.properties, property{name, names[name], below})
	}
	return nil
}
