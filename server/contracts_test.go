package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDryRunStoresNothing(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		body := with(batch(s), object{
			"options": object{"dry_run": true},
			"document_generation_data": []object{
				{"generated_file_name": "Good", "user_input": object{"name": "Ada"}},
				{"generated_file_name": "Bad", "user_input": object{"nmae": "Bob"}},
			},
		})
		got := w.do("POST /docgen_batches", request{body: body})
		if got.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %s", got.StatusCode, got.text)
		}
		want := `{"type":"docgen_dry_run","documents":2,"incomplete":1,"findings":[{"position":1,"generated_file_name":"Bad.docx",` +
			`"mismatches":[{"path":"name","message":"is missing","did_you_mean":"nmae"}]}]}`
		if diff := cmp.Diff(parsed(t, []byte(want)), parsed(t, got.text)); diff != "" {
			t.Errorf("dry run (-want +got):\n%s", diff)
		}
	})
}

func parsed(t *testing.T, text []byte) (v any) {
	t.Helper()
	must(t, json.Unmarshal(text, &v))
	return v
}

func TestContractListsRequirements(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		got := w.do("GET /docgen_templates/"+id(s.file)+"/contract", request{})
		var answer struct {
			Schema struct{ Required []string }
			Sample map[string]any
		}
		must(t, json.Unmarshal(got.text, &answer))
		if got.StatusCode != http.StatusOK || !cmp.Equal(answer.Schema.Required, []string{"name"}) || answer.Sample["name"] == nil {
			t.Errorf("status %d: %s", got.StatusCode, got.text)
		}
	})
}

// TestTemplateDefaultsOnTheWire changes the defaults of a template, and resets them with null.
func TestTemplateDefaultsOnTheWire(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		call := at("PUT /docgen_templates/{template_id}", s)
		for _, step := range []struct{ body, want string }{
			{`{"defaults":{"missing":"blank","locale":"de-CH"}}`, "map[locale:de-CH missing:blank time_zone:<nil>]"},
			{`{"defaults":{"time_zone":"Europe/Zurich","missing":null}}`, "map[locale:de-CH missing:<nil> time_zone:Europe/Zurich]"},
			{`{"defaults":{}}`, "map[locale:de-CH missing:<nil> time_zone:Europe/Zurich]"},
		} {
			v := w.do(call, request{body: step.body}).want(w.t, 200)
			if got := fmt.Sprint(v["defaults"]); got != step.want || v["file_name"] != "Invoice.docx" {
				w.t.Errorf("after %s the template is %v, want the defaults %s", step.body, v, step.want)
			}
		}
		made := w.do("POST /docgen_batches", request{body: batch(s)}).want(w.t, 202)["id"].(string)
		if got := w.do("GET /docgen_batches/"+made, request{}).want(w.t,
			200)["options"]; fmt.Sprint(got) != "map[locale:de-CH time_zone:Europe/Zurich]" {
			w.t.Errorf("a batch has the options %v", got)
		}
		for body, want := range map[string]string{
			`{}`:                                 "missing_parameter defaults",
			`{"defaults":{"missing":""}}`:        "invalid_parameter defaults.missing",
			`{"defaults":{"missing":"nothing"}}`: "invalid_parameter defaults.missing",
			`{"defaults":{"locale":""}}`:         "invalid_parameter defaults.locale",
			`{"defaults":{"locale":5}}`:          "invalid_parameter defaults.locale",
			`{"defaults":{"time_zone":"Mars"}}`:  "invalid_parameter defaults.time_zone",
			`{"defaults":{"strict":true}}`:       "invalid_parameter defaults.strict",
		} {
			v := w.do(call, request{body: body}).want(w.t, 400, "bad_request")
			if got := strings.Join(problems(v), " "); got != want {
				w.t.Errorf("%s: problems %q, want %q", body, got, want)
			}
		}
	})
}
