package server_test

import (
	"net/http"
	"testing"

	"platen/server"
)

func TestPreferences(t *testing.T) {
	for value, want := range map[string]string{
		"":                           "",
		"return=minimal":             "",
		"respond-async":              "respond-async",
		"wait=0":                     "respond-async",
		"wait=20":                    "wait=20",
		"respond-async, wait=\"5\"":  "respond-async, wait=5",
		"wait=61; x=1":               "wait=60",
		"Wait = 3 , Respond-Async;x": "respond-async, wait=3",
		"wait":                       "error",
		"wait=-1":                    "error",
		"wait=1.5":                   "error",
		"wait=99999999999":           "error",
	} {
		got, err := server.Preferences(http.Header{"Prefer": {value}})
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("Prefer: %s: %q, want %q", value, got, want)
		}
	}
}
