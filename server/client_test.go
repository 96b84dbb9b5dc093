package server_test

import (
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platen/server"
)

var updateClient = flag.Bool("update-client", false, "write client/client.gen.go again")

// TestClientIsGenerated keeps the client what the document of this server gives. The generator knows only OpenAPI 3.0, so
// it gets the document that is served for such.
func TestClientIsGenerated(t *testing.T) {
	const name = "../client/client.gen.go"
	document := filepath.Join(t.TempDir(), "openapi.json")
	w := httptest.NewRecorder()
	handler := server.New(server.Config{Log: slog.New(slog.DiscardHandler), BaseURL: "http://127.0.0.1:8080"})
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi-3.0.json", http.NoBody))
	must(t, os.WriteFile(document, w.Body.Bytes(), 0o600))
	generator := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/oapi/go.mod", "oapi-codegen", "-config=tools/oapi/config.yaml", document)
	generator.Dir = ".."
	var problems strings.Builder
	generator.Stderr = &problems
	out, err := generator.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &problems)
	}
	// The package has a comment of its own.
	want := strings.Replace(string(out), "// Package client provides primitives to interact with the openapi HTTP API.\n//\n", "", 1)
	want = strings.Replace(want, "DO NOT EDIT.\npackage", "DO NOT EDIT.\n\npackage", 1)
	if *updateClient {
		must(t, os.WriteFile(name, []byte(want), 0o644))
	}
	got, err := os.ReadFile(name)
	must(t, err)
	if string(got) != want {
		t.Errorf("%s is not what the OpenAPI document gives; make generate writes it again", name)
	}
}
