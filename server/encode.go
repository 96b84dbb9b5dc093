package server

import (
	"bufio"
	stdjson "encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Responses are encoded by the JSON library that may become the next one of Go. The current one checks and copies an object with its own
// encoding, such as a view, at every level above it, which takes longer than everything else for a list. Omitted fields and the encoding
// of strings are the same in both, except that this one does not escape HTML: no response is embedded in a page.
var asWritten = json.JoinOptions(
	json.Deterministic(true), json.FormatNilSliceAsNull(true), json.FormatNilMapAsNull(true), jsonv1.OmitEmptyWithLegacySemantics(true),
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), // check nothing twice, and let no response fail
)

// jsonFormat encodes the responses of operations.
var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: stdjson.Unmarshal}

// answerBuffer is the number of bytes of a response that are written at once. A list is written while its entries are encoded, so it is
// never in memory as a whole.
const answerBuffer = 32 << 10

// writeJSON writes a response.
func writeJSON(w io.Writer, v any) error {
	buf := answers.Get().(*bufio.Writer)
	buf.Reset(w)
	defer func() {
		buf.Reset(nil)
		answers.Put(buf)
	}()
	if err := json.MarshalWrite(buf, v, asWritten); err != nil {
		return err
	}
	if err := buf.WriteByte('\n'); err != nil { // for readers in a terminal
		return err
	}
	return buf.Flush()
}

var answers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, answerBuffer) }}

// marshal encodes a response, or a part of one, in the same way.
func marshal(v any) ([]byte, error) { return json.Marshal(v, asWritten) }

// An outField describes how to encode a field of a struct.
type outField struct {
	index           int
	name            string // in JSON
	isMini, isAsked bool   // from the tag fields
	isBase          bool   // whether it is always encoded
	mayLack         bool   // whether it is omitted if empty
}

// outFields caches the fields of types.
var outFields sync.Map

func outFieldsOf(t reflect.Type) []outField {
	if known, ok := outFields.Load(t); ok {
		return known.([]outField)
	}
	all := []outField{}
	for i := range t.NumField() {
		of := t.Field(i)
		name, options, _ := strings.Cut(of.Tag.Get("json"), ",")
		level := of.Tag.Get("fields")
		all = append(all, outField{
			index: i, name: name, isMini: level == "mini", isAsked: level == "asked", isBase: slices.Contains(baseFields, name),
			mayLack: options == "omitempty",
		})
	}
	outFields.Store(t, all)
	return all
}
