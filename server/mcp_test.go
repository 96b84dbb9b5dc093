package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"platen/docgen"
	"platen/server"
)

// ofMCP is what clients of MCP accept.
var ofMCP = http.Header{"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-06-18"}}

// toolCall returns a message that calls a tool.
func toolCall(tool string, arguments any) object {
	return object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": tool, "arguments": arguments}}
}

// useTool calls a tool without a version header, and returns whether the result is an error, and its text.
func (w *world) useTool(as, tool string, arguments any, header http.Header) (failed bool, text string) {
	w.t.Helper()
	sent := ofMCP.Clone()
	maps.Copy(sent, header)
	v := w.do("POST //mcp", request{as: as, body: toolCall(tool, arguments), header: sent, without: []string{"svc-version"}}).want(w.t, 200)
	result, ok := v["result"].(object)
	if !ok {
		w.t.Fatalf("%s %v: %v", tool, arguments, v)
	}
	failed, _ = result["isError"].(bool)
	return failed, result["content"].([]any)[0].(object)["text"].(string)
}

func TestMCPOverHTTP(t *testing.T) {
	run(t, func(w *world) {
		file := w.marked("Count.docx", wordFile(w.t, "{{n}} sheets"))
		w.t.Run("initialize", func(t *testing.T) {
			v := w.do("POST //mcp", request{header: ofMCP, body: object{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": object{
				"protocolVersion": "2025-06-18", "capabilities": object{}, "clientInfo": object{"name": "test", "version": "1"}}}}).want(t, 200)
			if result := v["result"].(object); result["capabilities"].(object)["tools"] == nil || result["instructions"] == "" {
				t.Errorf("the result is %v", result)
			}
		})
		w.t.Run("a document", func(t *testing.T) {
			failed, text := w.useTool("owner", "render_document", object{"template_id": file, "data": object{"n": 2}, "output_type": "docx"}, nil)
			if failed || !strings.Contains(text, `"status":"completed"`) {
				t.Errorf("the result is %s", text)
			}
		})
		w.t.Run("one request id", func(t *testing.T) {
			failed, text := w.useTool("other", "get_template", object{"template_id": file}, http.Header{"X-Request-Id": {"mcp-1"}})
			if !failed || !strings.Contains(text, "404 not_found") || !strings.Contains(text, "(request mcp-1;") {
				t.Errorf("the result is %s", text)
			}
			if lines := w.logs.find(`"msg":"request"`, `"request_id":"mcp-1"`); len(lines) != 2 {
				t.Errorf("the log has %q", lines)
			}
		})
		w.t.Run("As-User", func(t *testing.T) {
			owner := http.Header{"As-User": {fmt.Sprint(w.owner.User.ID)}}
			failed, text := w.useTool("archivist", "list_templates", object{}, owner)
			if failed || !strings.Contains(text, "Count.docx") {
				t.Errorf("the result is %s", text)
			}
			w.do("POST //mcp", request{as: "other", body: toolCall("list_templates", object{}), header: owner}).want(t, 403)
		})
		w.t.Run("the official client", func(t *testing.T) {
			session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
				Endpoint: w.url + "/mcp", HTTPClient: &http.Client{Transport: withToken(w.tokens["owner"])}, MaxRetries: -1,
			}, nil)
			must(t, err)
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_templates"})
			if err != nil || result.IsError {
				t.Errorf("the result is %+v, %v", result, err)
			}
			must(t, session.Close())
		})
	})
}

// withToken is a transport that sends an access token.
type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPIsProtected sends what the endpoint must reject before a tool runs.
func TestMCPIsProtected(t *testing.T) {
	list := toolCall("list_templates", object{})
	with := func(name, value string) http.Header {
		h := ofMCP.Clone()
		h.Set(name, value)
		return h
	}
	deep := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		for _, tt := range []struct {
			name, call string
			request    request
			status     int
			code       string
		}{
			{"no token", "POST //mcp", request{as: "guest", body: list, header: ofMCP}, 401, "unauthorized"},
			{"an expired token", "POST //mcp", request{as: "expired", body: list, header: ofMCP}, 401, "unauthorized"},
			{"a token in the URL", "POST //mcp?access_token=x", request{body: list, header: ofMCP}, 400, "bad_request"},
			{"another origin", "POST //mcp", request{body: list, header: with("Origin", "https://attacker.example")}, 403, "forbidden"},
			{"no origin's name", "POST //mcp", request{body: list, header: with("Origin", "null")}, 403, "forbidden"},
			{"another origin, no token", "POST //mcp", request{as: "guest", body: list, header: with("Origin", "http://localhost")}, 403,
				"forbidden"},
			{"several messages", "POST //mcp", request{body: []object{list, list}, header: ofMCP}, 400, "bad_request"},
			{"no JSON", "POST //mcp", request{body: "{", header: ofMCP}, 400, "bad_request"},
			{"no message", "POST //mcp", request{body: `"text"`, header: ofMCP}, 400, "bad_request"},
			{"deep JSON", "POST //mcp", request{body: deep, header: ofMCP}, 400, "bad_request"},
			{"a large message", "POST //mcp", request{body: `"` + strings.Repeat("x", 1<<20) + `"`, header: ofMCP}, 413,
				"request_entity_too_large"},
			{"large details", "POST //mcp", request{header: ofMCP, body: object{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": object{
				"_meta": object{"x": make([]int, 40000)}}}}, 413, "request_entity_too_large"},
			{"a list of params", "POST //mcp", request{header: ofMCP, body: object{"jsonrpc": "2.0", "id": 1, "method": "ping",
				"params": []any{}}}, 400, "bad_request"},
			{"a form", "POST //mcp", request{body: form{{"a", "b"}}, header: ofMCP}, 415, "unsupported_media_type"},
			{"no event streams accepted", "POST //mcp", request{body: list}, 400, "bad_request"},
			{"an unknown version", "POST //mcp", request{body: list, header: with("Mcp-Protocol-Version", "1999-01-01")}, 400, "bad_request"},
			{"an unknown method", "POST //mcp", request{body: object{"jsonrpc": "2.0", "id": 1, "method": "x"}, header: ofMCP}, 400, "bad_request"},
			{"a stream", "GET //mcp", request{header: ofMCP}, 405, "method_not_allowed"},
			{"the end of a session", "DELETE //mcp", request{header: ofMCP}, 405, "method_not_allowed"},
		} {
			w.t.Run(tt.name, func(t *testing.T) {
				res := w.do(tt.call, tt.request)
				if v := res.want(t, tt.status, tt.code); v["message"] == "" {
					t.Errorf("the error is %v", v)
				}
				if challenge := res.Header.Get("WWW-Authenticate"); tt.status == 401 && !strings.HasPrefix(challenge, `Bearer realm="Platen"`) {
					t.Errorf("the challenge is %q", challenge)
				}
			})
		}
		w.t.Run("its own origin", func(t *testing.T) {
			w.do("POST //mcp", request{body: list, header: with("Origin", w.url)}).want(t, 200)
		})
		w.t.Run("subscriptions", func(t *testing.T) {
			res := w.do("POST //mcp", request{header: ofMCP, body: object{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
				"params": object{}}})
			if !strings.Contains(string(res.text), `"error":{"code":-32601`) {
				t.Errorf("the response is %d %s", res.StatusCode, res.text)
			}
		})
		w.t.Run("hostile arguments", func(t *testing.T) {
			manyMembers := object{}
			for i := range 60000 {
				manyMembers[fmt.Sprint("m", i)] = i
			}
			for _, arguments := range []any{
				nil, []any{}, "x", object{"template_id": 1}, object{"template_id": strings.Repeat("1", 1000)}, object{"template_id": "1/../2"},
				object{"template_id": "1\n"}, object{"template_id": "1", "data": make([]int, 400000)}, manyMembers,
			} {
				if failed, text := w.useTool("owner", "get_template", arguments, nil); !failed || !strings.Contains(text, "The arguments") {
					t.Errorf("%v: %v %s", arguments, failed, text)
				}
			}
		})
	})
}

// TestMCPOrigins sends origins to a server with a configured URL. Without one, only addresses and localhost are its own, because any name
// can be made to point to it.
func TestMCPOrigins(t *testing.T) {
	for _, tt := range []struct {
		baseURL      string
		fixed        bool
		origin, host string
		allowed      bool
	}{
		{"https://platen.example.com", true, "https://platen.example.com", "platen.example.com", true},
		{"https://platen.example.com", true, "https://Platen.example.com", "10.0.0.1:8080", true},
		{"https://platen.example.com", true, "http://platen.example.com", "platen.example.com", false},
		{"https://platen.example.com", true, "http://10.0.0.1:8080", "10.0.0.1:8080", false},
		{"https://platen.example.com", true, "https://platen.example.com.attacker.example", "platen.example.com", false},
		{"http://127.0.0.1:8080", false, "http://attacker.example:8080", "attacker.example:8080", false},
		{"http://127.0.0.1:8080", false, "http://10.0.0.1:8080", "10.0.0.1:8080", true},
		{"http://127.0.0.1:8080", false, "http://localhost:8080", "localhost:8080", true},
		{"http://127.0.0.1:8080", false, "http://localhost:9999", "localhost:8080", false},
		{"http://127.0.0.1:8080", false, "http://[::1]:8080", "[::1]:8080", true},
		{"http://127.0.0.1:8080", false, "%%", "localhost:8080", false},
	} {
		handler := server.New(server.Config{BaseURL: tt.baseURL, FixedURL: tt.fixed, RateLimits: noLimits, Log: slog.New(slog.DiscardHandler)})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+tt.host+"/mcp", strings.NewReader("{}"))
		must(t, err)
		r.Header.Set("Origin", tt.origin)
		r.RemoteAddr = "192.0.2.1:1"
		w := &answered{header: http.Header{}}
		handler.ServeHTTP(w, r)
		if allowed := w.status != http.StatusForbidden; allowed != tt.allowed {
			t.Errorf("%s at %s (%s): status %d %s", tt.origin, tt.host, tt.baseURL, w.status, w.Buffer.String())
		}
	}
}

// answered is a response in memory.
type answered struct {
	bytes.Buffer
	header http.Header
	status int
}

func (a *answered) Header() http.Header    { return a.header }
func (a *answered) WriteHeader(status int) { a.status = status }

// TestMCPScopesOverHTTP uses the tools with tokens of few scopes. Denials are audited like those of the API.
func TestMCPScopesOverHTTP(t *testing.T) {
	run(t, func(w *world) {
		file := w.marked("Count.docx", wordFile(w.t, "{{n}} sheets"))
		for tool, arguments := range map[string]object{
			"list_templates": {}, "get_template": {"template_id": file}, "list_tags": {"template_id": file}, "get_sample": {"template_id": file},
			"check_data":      {"template_id": file, "data": object{}},
			"render_document": {"template_id": file, "data": object{}, "output_type": "docx"},
			"get_job":         {"job_id": "1"},
		} {
			if failed, text := w.useTool("reading", tool, arguments, nil); !failed || !strings.Contains(text, "403 insufficient_scope") {
				w.t.Errorf("%s: %s", tool, text)
			}
			want := "404 not_found"
			if tool == "list_templates" {
				want = `"templates":[]`
			}
			if _, text := w.useTool("other", tool, arguments, nil); !strings.Contains(text, want) {
				w.t.Errorf("%s of another user: %s", tool, text)
			}
		}
	})
}

// TestMCPIsLimited counts messages and the requests of their tools, and limits those in flight.
func TestMCPIsLimited(t *testing.T) {
	limits := server.RateLimits{Requests: 4, Uploads: -1, Guests: -1}
	runOnce(t, server.Config{RateLimits: limits, InFlight: server.InFlight{Requests: 8}}, func(w *world) {
		// The share of a user is one request in flight, which is enough for a message with a tool.
		for range 2 {
			if failed, text := w.useTool("owner", "list_templates", object{}, nil); failed {
				w.t.Errorf("the result is %s", text)
			}
		}
		w.do("POST //mcp", request{body: toolCall("list_templates", object{}), header: ofMCP}).want(w.t, 429, "rate_limit_exceeded")
		w.useTool("other", "get_job", object{"job_id": "1"}, nil)
		w.do("GET /users/me", request{as: "other"}).want(w.t, 200)
		failed, text := w.useTool("other", "get_job", object{"job_id": "1"}, nil)
		if !failed || !strings.Contains(text, "429 rate_limit_exceeded") || !strings.Contains(text, "Call the tool again in ") {
			w.t.Errorf("the result is %s", text)
		}
	})
}

// TestMCPGivesMemoryBack uses up a user's memory for results, which is available again afterward.
func TestMCPGivesMemoryBack(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits, InFlight: server.InFlight{Memory: 4 << 20}}, func(w *world) {
		file := w.marked("Count.docx", wordFile(w.t, "{{n}} sheets"))
		samples := object{"user_input": object{"n": strings.Repeat("x", 300<<10)}}
		for i := range 3 {
			w.do(fmt.Sprintf("PUT /docgen_templates/%s/samples/s%d", file, i), request{body: samples}).want(w.t, 200)
		}
		for range 3 {
			failed, text := w.useTool("owner", "get_sample", object{"template_id": file, "name": "s1"}, nil)
			if !failed || !strings.Contains(text, "bytes of results") {
				w.t.Errorf("%v: %d bytes: %.200s", failed, len(text), text)
			}
			if failed, text := w.useTool("owner", "list_templates", object{}, nil); failed {
				w.t.Errorf("the result is %s", text)
			}
		}
	})
}

// TestMCPClientLeaves leaves while a tool waits for a job. The server stops the tool.
func TestMCPClientLeaves(t *testing.T) {
	runOnce(t, server.Config{RateLimits: noLimits}, func(w *world) {
		text, err := json.Marshal(toolCall("get_job", object{"job_id": id(w.scene().job), "wait_seconds": 30}))
		must(w.t, err)
		ctx, leave := context.WithCancel(w.t.Context())
		defer leave()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/mcp", bytes.NewReader(text))
		must(w.t, err)
		r.Header = ofMCP.Clone()
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+w.tokens["owner"])
		left := make(chan error, 1)
		go func() {
			res, err := http.DefaultTransport.RoundTrip(r)
			if err == nil {
				err = res.Body.Close()
			}
			left <- err
		}()
		w.untilInFlight(3) // the message, the request of its tool, and that for the metrics
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			w.t.Errorf("the request ended with %v", err)
		}
		w.untilInFlight(1)
		if lines := w.logs.find(`"route":"GET /2.0/docgen_jobs/{job_id}"`); len(lines) != 1 || strings.Contains(lines[0], `"status":200`) {
			w.t.Errorf("the log has %q", lines)
		}
	})
}

// untilInFlight waits until the server processes n requests, including the one that asks.
func (w *world) untilInFlight(n int) {
	w.t.Helper()
	want := fmt.Sprintf("platen_http_requests_in_flight %d\n", n)
	for !strings.Contains(string(w.do("GET //metrics", request{}).text), want) {
		runtime.Gosched()
	}
}

// marked creates a template, and returns its id.
func (w *world) marked(name, content string) string {
	w.t.Helper()
	file, err := w.CreateFile(w.t.Context(), w.owner, docgen.NewFile{Name: name}, strings.NewReader(content))
	must(w.t, err)
	_, err = w.MarkTemplate(w.t.Context(), w.owner, file.ID)
	must(w.t, err)
	must(w.t, w.SaveReading(w.t.Context(), file.VersionID, docgen.Reading{
		Tags: []docgen.Tag{{Content: "{{n}}", Type: "text", JSONPaths: []string{"n"}}}, Schema: []byte(`{"type":"object"}`),
	}))
	return id(file.ID)
}
