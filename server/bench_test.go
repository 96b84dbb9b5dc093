package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"platen/docgen"
)

// BenchmarkDecode decodes the envelope of a batch of 24 MB. Its floor is checking that the text is JSON.
func BenchmarkDecode(b *testing.B) {
	input := `{"customer":{"name":"Example Ltd","address":{"city":"Example city"}},"items":[` +
		strings.TrimSuffix(strings.Repeat(`{"name":"A4 paper","quantity":100,"price":"29.00","note":"say \"hello\""},`, 300), ",") + `]}`
	var text strings.Builder
	text.WriteString(`{"file":{"id":"1","type":"file"},"input_source":"api","destination_folder":{"id":"1","type":"folder"},` +
		`"output_type":"pdf","document_generation_data":[`)
	for i := range 1000 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"generated_file_name":"Invoice %d","user_input":%s}`, i, input)
	}
	text.WriteString("]}")
	batch := []byte(text.String())
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(batch)))
		b.ReportAllocs()
		for b.Loop() {
			var request createBatchRequest
			if problems, err := decode(batch, &request, new(docgen.Inputs)); err != nil || len(problems) > 0 || len(request.Data) != 1000 {
				b.Fatal(problems, err)
			}
		}
	})
	b.Run("floor: json.Valid", func(b *testing.B) {
		b.SetBytes(int64(len(batch)))
		for b.Loop() {
			if !json.Valid(batch) {
				b.Fatal("not JSON")
			}
		}
	})
	b.Run("unmarshal into any", func(b *testing.B) {
		b.SetBytes(int64(len(batch)))
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(batch, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
