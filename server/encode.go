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

// Answers are written by the JSON library that is to be the next one of Go. In the present one an object that writes itself,
// as a view does, is checked and copied at every level above it, which takes longer than all else for a list of them. What
// is left out and how texts are written is as there, without escapes for HTML: nothing here is put into a page.
var asWritten = json.JoinOptions(
	json.Deterministic(true), json.FormatNilSliceAsNull(true), json.FormatNilMapAsNull(true), jsonv1.OmitEmptyWithLegacySemantics(true),
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), // nothing is checked twice, and no answer fails
)

// jsonFormat encodes the answers of operations.
var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: stdjson.Unmarshal}

// answerBuffer is how many bytes of an answer are written at once. A list is written while its entries are encoded, and is
// nowhere in memory as a whole.
const answerBuffer = 32 << 10

// writeJSON writes an answer.
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
	if err := buf.WriteByte('\n'); err != nil { // for who reads it in a terminal
		return err
	}
	return buf.Flush()
}

var answers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, answerBuffer) }}

// marshal encodes one answer, or a part of one, in the same way.
func marshal(v any) ([]byte, error) { return json.Marshal(v, asWritten) }

// An outField is what has to be known of a field of a struct to show it or not.
type outField struct {
	index           int
	name            string // in JSON
	isMini, isAsked bool   // by the tag fields
	isBase          bool   // whether it is always shown
	mayLack         bool   // whether it is left out where it says nothing
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
		level := of.Tag.Get("fields")
		all = append(all, outField{
			index: i, name: name, isMini: level == "mini", isAsked: level == "asked", isBase: slices.Contains(baseFields, name),
			mayLack: options == "omitempty",
		})
	}
	outFields.Store(t, all)
	return all
}
