package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"platen/client"
)

// A change says nothing about what it does not change: null would remove it.
func TestChangesOmitWhatIsNil(t *testing.T) {
	for field, change := range map[string]any{
		"shared_link": client.ItemChange{Name: new("new")}, "expires_at": client.UpdateCollaborationRequest{CanViewPath: new(true)},
	} {
		text, err := json.Marshal(change)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), field) {
			t.Errorf("%T has the field %s: %s", change, field, text)
		}
	}
}
