package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platen/server"
)

var updateClient = flag.Bool("update-client", false, "rewrite client/*.gen.go")

// clientFiles maps the generated files to the options of the generator. They contain the types and values of the OpenAPI document, and the
// operations of each tag except Authentication, because every client has a token.
var clientFiles = map[string][]string{
	"types.gen.go":          {"-config=tools/oapi/types.yaml"},
	"values.gen.go":         {"-config=tools/oapi/values.yaml"},
	"archives.gen.go":       {"-config=tools/oapi/operations.yaml", "-include-tags=Archives"},
	"collaborations.gen.go": {"-config=tools/oapi/operations.yaml", "-include-tags=Collaborations"},
	"docgen.gen.go":         {"-config=tools/oapi/operations.yaml", "-include-tags=Doc Gen"},
	"events.gen.go":         {"-config=tools/oapi/operations.yaml", "-include-tags=Events"},
	"files.gen.go":          {"-config=tools/oapi/operations.yaml", "-include-tags=Files"},
	"folders.gen.go":        {"-config=tools/oapi/operations.yaml", "-include-tags=Folders"},
	"applications.gen.go":   {"-config=tools/oapi/operations.yaml", "-include-tags=Applications"},
	"operations.gen.go":     {"-config=tools/oapi/operations.yaml", "-include-tags=Operations"},
	"sessions.gen.go":       {"-config=tools/oapi/operations.yaml", "-include-tags=Sessions"},
	"links.gen.go":          {"-config=tools/oapi/operations.yaml", "-include-tags=Shared links"},
	"tokens.gen.go":         {"-config=tools/oapi/operations.yaml", "-include-tags=Tokens"},
	"trash.gen.go":          {"-config=tools/oapi/operations.yaml", "-include-tags=Trash"},
	"users.gen.go":          {"-config=tools/oapi/operations.yaml", "-include-tags=Users"},
	"webhooks.gen.go":       {"-config=tools/oapi/operations.yaml", "-include-tags=Webhooks"},
}

// TestClientIsGenerated checks that the client is generated from the OpenAPI document of this server. The generator supports only OpenAPI
// 3.0, so it gets the document in that version.
func TestClientIsGenerated(t *testing.T) {
	document := filepath.Join(t.TempDir(), "openapi.json")
	w := httptest.NewRecorder()
	handler := server.New(server.Config{Log: slog.New(slog.DiscardHandler), BaseURL: "http://127.0.0.1:8080"})
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi-3.0.json", http.NoBody))
	must(t, os.WriteFile(document, w.Body.Bytes(), 0o600))
	find := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/oapi/go.mod", "-n", "oapi-codegen")
	find.Dir = ".."
	generator, err := find.Output()
	must(t, err)
	for name, options := range clientFiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkGenerated(t, filepath.Join("..", "client", name), strings.TrimSpace(string(generator)), append(options, document))
		})
	}
	found, err := filepath.Glob("../client/*.gen.go")
	must(t, err)
	for _, path := range found {
		if clientFiles[filepath.Base(path)] == nil {
			t.Errorf("%s is no longer generated: delete it", path)
		}
	}
	var oapi struct{ Tags []struct{ Name string } }
	must(t, json.Unmarshal(w.Body.Bytes(), &oapi))
	for _, tag := range oapi.Tags {
		if tag.Name != "Authentication" && !slices.ContainsFunc(slices.Collect(maps.Values(clientFiles)), func(options []string) bool {
			return slices.Contains(options, "-include-tags="+tag.Name)
		}) {
			t.Errorf("no file contains the operations of %s", tag.Name)
		}
	}
}

// checkGenerated compares a file with the output of the generator.
func checkGenerated(t *testing.T, name, generator string, options []string) {
	t.Helper()
	generate := exec.CommandContext(t.Context(), generator, options...)
	generate.Dir = ".."
	var problems strings.Builder
	generate.Stderr = &problems
	want, err := generate.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &problems)
	}
	if *updateClient {
		must(t, os.WriteFile(name, want, 0o644))
	}
	got, err := os.ReadFile(name)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not match the OpenAPI document: run make generate", name)
	}
}
