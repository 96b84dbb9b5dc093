package lang

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// MaxDepth is how deep objects and lists of the input may lie in each other.
const MaxDepth = 200

// Value is a piece of input as [Decode] gives it: nil, bool, string, json.Number, []any or map[string]any.
type Value = any

// DataError says where the input is not the JSON that is needed.
type DataError struct {
	Line, Column int // from 1; the column counts characters
	Message      string
}

// Error returns the error in one line.
func (e *DataError) Error() string {
	return fmt.Sprintf("input data, line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Decode reads the input of one execution: a JSON text (RFC 8259) with an object at the top, nested up to [MaxDepth].
// Numbers keep their digits. Of a key that comes twice in an object, the last counts. A byte order mark is passed over.
// Every error is a [*DataError].
func Decode(data []byte) (Value, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if at := tooDeep(data); at >= 0 {
		return nil, dataError(data, at, fmt.Sprintf("more than %d objects and lists in each other", MaxDepth))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v Value
	if err := d.Decode(&v); err != nil {
		return nil, dataError(data, errorOffset(data, err), errorMessage(err))
	}
	if at := skipBlank(data, int(d.InputOffset())); at < len(data) {
		return nil, dataError(data, at, "more text behind the end of the object")
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, dataError(data, skipBlank(data, 0), "the input must be an object, in { }")
	}
	return v, nil
}

// tooDeep returns the offset of the first bracket that lies deeper than MaxDepth, or -1. It comes before decoding,
// so that hostile input costs no stack.
func tooDeep(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// skipBlank returns the offset of the first byte at i or behind it that is not JSON white space.
func skipBlank(data []byte, i int) int {
	for i < len(data) && bytes.IndexByte([]byte(" \t\r\n"), data[i]) >= 0 {
		i++
	}
	return i
}

func errorMessage(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the text ends too early"
	}
	return err.Error()
}

// errorOffset returns the offset of the byte that err is about.
func errorOffset(data []byte, err error) int {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return max(int(syntax.Offset)-1, 0)
	}
	return len(data)
}

func dataError(data []byte, offset int, message string) *DataError {
	before := data[:min(offset, len(data))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return &DataError{
		Line:    bytes.Count(before, []byte("\n")) + 1,
		Column:  utf8.RuneCount(before[lineStart:]) + 1,
		Message: message,
	}
}
