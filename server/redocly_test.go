package server_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"platen/server"
)

// TestOpenAPIDocumentLinted runs a third-party linter on the document, with all recommended rules. Its warnings are
// errors here.
func TestOpenAPIDocumentLinted(t *testing.T) {
	linter := redocly(t)
	for page, skipped := range map[string][]string{
		"openapi.json": nil,
		// The linter rejects null where a reference may be null, for which 3.0 has no form that it accepts. In 3.0,
		// nothing refers to the bodies of webhooks, because 3.0 does not support webhooks.
		"openapi-3.0.json": {"--skip-rule=no-invalid-media-type-examples", "--skip-rule=no-unused-components"},
	} {
		t.Run(page, func(t *testing.T) {
			runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
				name := filepath.Join(t.TempDir(), page)
				must(t, os.WriteFile(name, w.do("GET //"+page, request{}).text, 0o600))
				// The paths of upload sessions are those of Box, whose description has the same ambiguity: upload_sessions is not an id.
				args := append([]string{linter, "lint", "--extends=recommended-strict", "--skip-rule=no-ambiguous-paths", "--format=json", name},
					skipped...)
				cmd := exec.CommandContext(t.Context(), "node", args...)
				cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
				cmd.Dir = t.TempDir()
				out, runErr := cmd.Output()
				var report struct {
					Totals   struct{ Errors, Warnings int }
					Problems []struct {
						RuleID, Message string
						Location        []struct{ Pointer string }
					}
				}
				if err := json.Unmarshal(out, &report); err != nil {
					t.Fatalf("%v, %v: %s", runErr, err, out)
				}
				for _, p := range report.Problems {
					t.Errorf("%s: %s: %v", p.RuleID, p.Message, p.Location)
				}
				if runErr != nil || report.Totals.Errors+report.Totals.Warnings > 0 {
					t.Errorf("%v, %+v", runErr, report.Totals)
				}
			})
		})
	}
}

// redocly returns the path of the linter that scripts/test-deps installs, or skips the test.
func redocly(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(cache, filepath.FromSlash("platen/redocly/node_modules/@redocly/cli/bin/cli.js"))
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the linter is not installed: make test-deps installs it: %v", err)
		}
		t.Skip("the linter of the OpenAPI document is not installed: make test-deps installs it")
	}
	return program
}
