package server

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"platen/docgen"
)

// Responses are encoded like encoding/json does.
func TestMarshalIsEncodingJSON(t *testing.T) {
	strange := "a\"b\\c/<d>&\x00\x1f\x7fé\n"
	item := docgen.Item{Kind: docgen.File, ID: 7, Name: strange, CreatedAt: time.Unix(1, 5), Path: []docgen.FolderRef{{ID: 1, Name: strange}}}
	folder := docgen.Item{Kind: docgen.Folder, ID: 8, Name: "folder"}
	entries := []entry{entryOf(&item, nil), entryOf(&folder, selection{"name", "size", "created_at"})}
	type lacking struct {
		Number int            `json:"number,omitempty"`
		Flag   bool           `json:"flag,omitempty"`
		List   []string       `json:"list,omitempty"`
		Map    map[string]any `json:"map,omitempty"`
		Null   *string        `json:"null"`
	}
	for name, v := range map[string]any{
		"nothing": nil, "text": strange, "bytes": []byte(strange), "number": 1.5e30, "no list": []int(nil), "list": []any{1, "x", nil, true},
		"job": exampleJob(), "jobs": markerPage[job]{Entries: []job{exampleJob(), {}}, Limit: 100, NextMarker: &strange},
		"entries":    &eitherPage{second: &markerPage[entry]{Entries: entries}},
		"view":       view[file]{value: fileOf(&item), fields: selection{"path_collection", "permissions", "tags", "lock", "expires_at"}},
		"whole view": view[file]{value: fileOf(&item)},
		"lacking":    []lacking{{}, {Number: 1, Flag: true, List: []string{""}, Map: map[string]any{strange: 1}}},
		"untagged":   struct{ A, b int }{1, 2}, "embedded": struct{ timestamp }{}, "error": (&api{}).exampleError(docgen.CodeNotFound),
		"text marshaler": map[string]any{"x": netip.IPv4Unspecified()}, "time": time.Unix(1, 0),
	} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := writeJSON(&got, v); err != nil || got.String() != want.String() {
			t.Errorf("%s: %v\n%s, want\n%s", name, err, got.Bytes(), want.Bytes())
		}
	}
}

// A response with text that is not UTF-8 is still valid.
func TestMarshalInvalidUTF8(t *testing.T) {
	if got, err := marshal("a\xff\u2028"); err != nil || string(got) != "\"a\ufffd\u2028\"" {
		t.Errorf("%q, %v", got, err)
	}
}

// Values that cannot be encoded cause an error at any depth.
func TestMarshalFails(t *testing.T) {
	for _, v := range []any{make(chan int), []any{func() {}}, struct {
		X []chan int `json:"x"`
	}{[]chan int{nil}}} {
		if text, err := marshal(v); err == nil {
			t.Errorf("%T: %s, want an error", v, text)
		}
	}
}
