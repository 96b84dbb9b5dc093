package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sdkTests is the folder of the tests that use a server through the official SDK for Node.
const sdkTests = "../tools/box-node-sdk"

// TestOfficialSDK uses a server through the managers of the unmodified official SDK for Node. Each kind of object has a
// file of tests in tools/box-node-sdk.
func TestOfficialSDK(t *testing.T) {
	sdk, standard := fromNPM(t, "box-node-sdk"), fromNPM(t, "standard-webhooks")
	t.Parallel()
	for name, mode := range map[string]struct {
		serve   []string          // arguments of the server
		headers map[string]string // additional headers for every request
		files   string
		tls     bool // through a proxy, as the hosted service
	}{
		// The SDK unchanged, apart from its URLs.
		"compat box": {[]string{"--compat=box"}, nil, "*.test.mjs", false},
		"TLS":        {[]string{"--compat=box", "--base-url=https://api.box.com"}, nil, "{docgen,files,folders}.test.mjs", true},
		// If every operation requires the version header, the SDK is configured to send it everywhere.
		"version header": {nil, map[string]string{"box-version": "2025.0"}, "{docgen,files,folders}.test.mjs", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			server := newServer(t, data, append(mode.serve, "--rate-requests=-1", "--rate-uploads=-1", "--webhook-any-address")...)
			env, url := os.Environ(), server.url
			if mode.tls {
				h := hostedAt(t, server.url)
				env, url = append(append(env, h.env()...), "PLATEN_PROXY="+h.proxy), "https://api.box.com"
			}
			env = append(env,
				"PLATEN_URL="+url, "PLATEN_SDK="+sdk, "PLATEN_STANDARD_WEBHOOKS="+standard, "PLATEN_HEADERS="+jsonOf(t, mode.headers),
				"PLATEN_CALLERS="+jsonOf(t, sdkCallers(t, data)))
			for _, file := range sdkTestFiles(t, mode.files) {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".test.mjs"), func(t *testing.T) { runNode(t, env, file) })
			}
		})
	}
}

// fromNPM returns the folder into which scripts/test-deps installs the packages that tools/NAME pins, or skips the
// test.
func fromNPM(t *testing.T, name string) string {
	t.Helper()
	needProgram(t, "node")
	cache, err := os.UserCacheDir()
	if err != nil {
		missing(t, err.Error())
	}
	folder := filepath.Join(cache, "platen", name)
	want, err := os.ReadFile(filepath.Join("..", "tools", name, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	// The lock file is copied last, so it reflects which packages are installed.
	if got, err := os.ReadFile(filepath.Join(folder, "package-lock.json")); err != nil || !bytes.Equal(got, want) {
		missing(t, name+" is not installed from npm, or in another version")
	}
	return folder
}

func needProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name+" is not installed")
	}
}

// missing skips a test whose requirements are not installed. If every test must run, it fails the test.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s: make test-deps installs it", why)
	}
	t.Skipf("%s: make test-deps installs it", why)
}

// sdkCallers creates the users for the tests, and everything else that only the command line can create. The tests
// create the rest.
func sdkCallers(t *testing.T, data string) any {
	t.Helper()
	location := "--data=" + data
	tokens := map[string]string{}
	for _, name := range []string{"admin", "owner", "other", "hoarder", "stranger"} {
		role := "user"
		if name == "admin" {
			role = "admin"
		}
		platen(t, "user", "create", location, "--login="+name+"@example.com", "--name="+name, "--role="+role)
		tokens[name] = platen(t, "token", "create", location, "--user="+name+"@example.com")
	}
	tokens["archivist"] = platen(t, "token", "create", location, "--user=admin@example.com",
		"--scope=enterprise_content", "--scope=root_readwrite", "--scope=manage_managed_users")
	app := platen(t, "app", "create", location, "--name=Platform", "--acts-as-users",
		"--scope=root_readwrite", "--scope=docgen.readwrite", "--scope=manage_managed_users", "--scope=manage_app_users")
	var created struct {
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(app), &created); err != nil {
		t.Fatal(err)
	}
	config := platen(t, "app", "config", location, "Platform", "--secret="+created.Secret)
	return map[string]any{"tokens": tokens, "application": json.RawMessage(app), "jwt": json.RawMessage(config)}
}

func sdkTestFiles(t *testing.T, pattern string) []string {
	t.Helper()
	var files []string
	before, rest, _ := strings.Cut(pattern, "{")
	names, after, _ := strings.Cut(rest, "}")
	for name := range strings.SplitSeq(names, ",") {
		found, err := filepath.Glob(filepath.Join(sdkTests, before+name+after))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("no file of tests is called %s", pattern)
	}
	return files
}

// sdkResult is the result that report.mjs writes for a test.
type sdkResult struct {
	Name    string
	Nesting int
	Passed  bool
	Skipped bool
	Error   string
}

// runNode runs a file of tests, each as a subtest.
func runNode(t *testing.T, env []string, file string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	node := exec.CommandContext(t.Context(), "node", "--test-reporter=./report.mjs", filepath.Base(file))
	node.Dir, node.Env, node.Stdout, node.Stderr = filepath.Dir(file), env, &stdout, &stderr
	err := node.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	results := json.NewDecoder(&stdout)
	tests := 0
	for results.More() {
		var result sdkResult
		if err := results.Decode(&result); err != nil {
			t.Fatalf("%v in:\n%s", err, stdout.String())
		}
		tests++
		t.Run(result.Name, func(t *testing.T) {
			if result.Skipped {
				t.Error("it is skipped")
			}
			if !result.Passed {
				t.Error(result.Error)
			}
		})
	}
	if tests == 0 || err != nil && !t.Failed() {
		t.Errorf("node ran %d tests and ended with %v:\n%s", tests, err, stderr.String())
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
