package docgen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"platen/docx/lang"
)

const (
	// maxShapeBytes is the size of a batch's data, and maxShapeText that of its shape, above which no shape is stored. Contracts then
	// cannot say whether a new version of the template breaks the batch.
	maxShapeBytes = 8 << 20
	maxShapeText  = 64 << 10
)

// Input is a user_input: a JSON object as text, and the result of reading it.
type Input struct {
	text    []byte
	depth   int
	problem string // the mistake in the text; "" if it is JSON
}

// Text returns the text of the input. The caller must not change it.
func (i Input) Text() []byte { return i.text }

// Inputs reads the inputs of one batch. It reads each input once, before the batch is accepted, and finds out whether
// it is JSON, how deeply it is nested, and what it has in common with the others. The zero value is ready to use.
type Inputs struct {
	shape lang.Shape
	size  int
}

// Read reads the next value of d as an input. The value must be an object. d must read all of text, which must be valid UTF-8. The input
// shares the memory of text. The error is one of d.
func (r *Inputs) Read(d *jsontext.Decoder, text []byte) (Input, error) {
	rest := int(d.InputOffset())
	depth, err := r.shape.Read(d)
	if err != nil {
		return Input{}, err
	}
	end := int(d.InputOffset())
	begin := rest + bytes.IndexByte(text[rest:end], '{')
	if r.size += end - begin; r.size > maxShapeBytes {
		r.shape.Forget()
	}
	return Input{text: text[begin:end:end], depth: depth}, nil
}

// Parse reads a complete text as an input. A batch with an invalid input is rejected.
func (r *Inputs) Parse(text []byte) Input {
	text = bytes.TrimSpace(text)
	switch {
	case !bytes.HasPrefix(text, []byte("{")):
		return Input{}
	case !utf8.Valid(text):
		return Input{text: text, problem: "user_input is not valid UTF-8"}
	}
	d := NewJSONDecoder(text)
	input, err := r.Read(d, text)
	if err == nil {
		_, err = d.ReadToken()
	}
	if !errors.Is(err, io.EOF) {
		return Input{text: text, problem: "user_input is not valid JSON"}
	}
	return input
}

// NewJSONDecoder returns a decoder for JSON from clients. It allows duplicate names, and half a surrogate pair in a
// string. It does not check that the text is UTF-8.
func NewJSONDecoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// commonShape returns the structure that the inputs have in common, as JSON Schema, or "" if it is unknown.
func (r *Inputs) commonShape() (string, error) {
	if r == nil {
		return "", nil
	}
	schema := r.shape.Schema()
	if schema == nil {
		return "", nil
	}
	text, err := schema.MarshalJSON()
	if len(text) > maxShapeText {
		return "", err
	}
	return string(text), err
}

// validate returns the mistake in an input, or "" if there is none.
func (i *Input) validate(limits Limits) string {
	switch {
	case len(i.text) == 0:
		return "user_input must be a JSON object"
	case len(i.text) > limits.InputBytes:
		return fmt.Sprintf("user_input has %d bytes, more than the limit of %d", len(i.text), limits.InputBytes)
	case i.depth > lang.MaxDepth:
		return fmt.Sprintf("user_input nests deeper than the limit of %d", lang.MaxDepth)
	}
	return i.problem
}
