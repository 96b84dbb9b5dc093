package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"platen/docgen"
)

type decoded struct {
	Name   string     `json:"name"`
	ID     ID         `json:"id"`
	Kind   string     `json:"kind,omitempty" enum:"a,b"`
	Note   *string    `json:"note,omitempty"`
	At     timestamp  `json:"at,omitzero"`
	Sub    *decodedID `json:"sub,omitempty"`
	Things []decodedS `json:"things,omitempty"`
}

type decodedID struct {
	ID ID `json:"id"`
}

type decodedS struct {
	Any userInput `json:"any"`
}

func TestDecode(t *testing.T) {
	text := ` {"name":"\u00fc\n\"","id":12,"kind":"b","note":null,"at":"2026-01-31T12:00:00+01:00","sub":{"id":"0"},
		"things":[ {"any": {"]":"}\"", "x":[{}]} } , {"any":{}}] }`
	var got decoded
	problems, err := decode([]byte(text), &got, new(docgen.Inputs))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if got.Name != "ü\n\"" || got.ID != 12 || got.Kind != "b" || got.Note != nil || got.Sub == nil || got.Sub.ID != 0 || len(got.Things) != 2 {
		t.Errorf("got %+v", got)
	}
	if want := time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC); !got.At.Equal(want) {
		t.Errorf("time %v, want %v", got.At, want)
	}
	if object := string(got.Things[0].Any.Text()); object != `{"]":"}\"", "x":[{}]}` {
		t.Errorf("the object is %s, not the text it was", object)
	}
}

func TestDecodeFindsEverything(t *testing.T) {
	for text, want := range map[string][]string{
		`{}`:                                     {"name", "id"},
		`{"name":"","id":""}`:                    {"id"},
		`{"name":"","id":"+1"}`:                  {"id"},
		`{"name":"","id":1e3}`:                   {"id"},
		`{"name":"","id":"9223372036854775808"}`: {"id"},
		`{"name":"","id":" 1"}`:                  {"id"},
		`{"name":"","id":{"a":[1,2,{"b":"}"}]},"kind":"c"}`: {"id", "kind"},
		`{"Name":"","id":1}`:                                       {"Name", "name"},
		`{"name":1,"name":2,"id":1,"id":"x"}`:                      {"name", "name", "id"},
		`{"name":"","id":1,"sub":{"id":null,"x":1}}`:               {"sub.id", "sub.x"},
		`{"name":"","id":1,"sub":[]}`:                              {"sub"},
		`{"name":"","id":1,"things":[{},{"any":[]},3,{"any":{}}]}`: {"things[0].any", "things[1].any", "things[2]"},
		`{"name":"","id":1,"at":"2026-01-31"}`:                     {"at"},
		`{"name":"","id":1,"at":"9999-12-31T23:59:59-23:59"}`:      {"at"},
		`{"name":"","id":1,"at":"0000-01-01T00:00:00+23:59"}`:      {"at"},
		`{"name":"","id":1,"at":5,"things":{}}`:                    {"at", "things"},
		`"text"`:                                                   {""},
		`7`:                                                        {""},
		`null`:                                                     {""},
	} {
		var got decoded
		problems, err := decode([]byte(text), &got, new(docgen.Inputs))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var names []string
		for _, p := range problems {
			names = append(names, p.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: problems with %q, want %q", text, names, want)
		}
	}
}

func TestDecodeLimitsProblems(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"` + strings.Repeat("n", 5000) + `":1`)
	for i := range 5000 {
		fmt.Fprintf(&text, `,"x%d":1`, i)
	}
	text.WriteString("}")
	problems, err := decode([]byte(text.String()), &decoded{}, nil)
	if err != nil || len(problems) != maxProblems || len(problems[0].Name) > maxNameShown+3 || len(problems[0].Message) > 2*maxNameShown {
		t.Errorf("%d problems, the first with a name of %d bytes: %v", len(problems), len(problems[0].Name), err)
	}
}

// FuzzDecode compares the decoder with the standard library's: both accept the same texts as JSON, and decode them to
// the same values unless there is a problem.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"name":"x","id":"1","things":[{"any":{"a":[1,"}"]}}]}`, `{"name":"\ud800","id":1,"at":null}`, `[`, `{"a":"\"`, "\xef\xbb\xbf{}",
		`{"name":"","id":1 , "sub" : { "id" : 2 } }`, ` 1 `, `{"":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got decoded
		problems, err := decode(text, &got, new(docgen.Inputs))
		if valid := json.Valid(text) && utf8.Valid(text); valid != (err == nil) {
			t.Fatalf("%q is JSON: %t, but decode says: %v", text, valid, err)
		}
		if err != nil || len(problems) > 0 {
			return
		}
		var want struct {
			Name   string
			Kind   string
			Note   *string
			Things []struct{ Any json.RawMessage }
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got.Name != want.Name || got.Kind != want.Kind || len(got.Things) != len(want.Things) {
			t.Fatalf("%q: got %+v, want %+v", text, got, want)
		}
		for i := range want.Things {
			if string(got.Things[i].Any.Text()) != string(want.Things[i].Any) {
				t.Fatalf("%q: got %s, want %s", text, got.Things[i].Any.Text(), want.Things[i].Any)
			}
		}
	})
}

// TestDecodeDistinguishesNull decodes a field in which null has a meaning.
func TestDecodeDistinguishesNull(t *testing.T) {
	for text, want := range map[string]change[timestamp]{
		`{}`:                            {},
		`{"at":null}`:                   {Given: true},
		`{"at":"2026-01-31T12:00:00Z"}`: {Given: true, Value: &timestamp{time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}},
	} {
		var got struct {
			At change[timestamp] `json:"at,omitzero"`
		}
		problems, err := decode([]byte(text), &got, new(docgen.Inputs))
		same := (got.At.Value == nil) == (want.Value == nil) && (want.Value == nil || want.Value.Equal(got.At.Value.Time))
		if err != nil || len(problems) > 0 || got.At.Given != want.Given || !same {
			t.Errorf("%s: %+v, %v, %v", text, got, problems, err)
		}
	}
}
