package server_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDryRunMakesNothing(t *testing.T) {
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

func TestContractSaysWhatIsNeeded(t *testing.T) {
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
