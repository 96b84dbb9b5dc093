package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP uses every tool with the client of the official SDK, through the command and over HTTP.
func TestMCP(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	letter, _ := v.mustTemplate("Letter.docx", exampleLetter(t))
	count, _ := v.mustTemplate("Count.docx", wordWith(t, "{{n}} sheets", nil))
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	large, _ := v.mustTemplate("Large.docx", wordWith(t, "{{n}} sheets", noise))
	for name, connect := range map[string]func(*testing.T) *assistant{
		"command": func(t *testing.T) *assistant { return commandAssistant(t, server, v.token) },
		"HTTP":    func(t *testing.T) *assistant { return httpAssistant(t, server, v.token) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := connect(t)
			t.Run("lists the tools", a.toolsAreDescribed)
			t.Run("finds a template and its data", func(t *testing.T) { a.findsTemplate(t, letter) })
			t.Run("checks data", func(t *testing.T) { a.checksData(t, count) })
			t.Run("generates a document", func(t *testing.T) { a.generates(t, count) })
			t.Run("stores a document", func(t *testing.T) { a.stores(t, v, "By "+name, count) })
			t.Run("draws pages", func(t *testing.T) { a.draws(t, count) })
			t.Run("limits results", func(t *testing.T) { a.isLimited(t, v, large) })
			t.Run("reports errors", func(t *testing.T) { a.reportsErrors(t, count) })
		})
	}
}

// An assistant is connected to a server.
type assistant struct{ *sdk.ClientSession }

func connectAssistant(t *testing.T, transport sdk.Transport) *assistant {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return &assistant{session}
}

// commandAssistant runs platen mcp. Its standard output must have nothing but messages, because the client rejects all else.
func commandAssistant(t *testing.T, server *child, token string) *assistant {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "platen", "mcp")
	cmd.Env = append(os.Environ(), "PLATEN_SERVER="+server.url, "PLATEN_TOKEN="+token)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	t.Cleanup(func() {
		if stderr.Len() > 0 {
			t.Errorf("on standard error is %s", stderr.String())
		}
	})
	return connectAssistant(t, &sdk.CommandTransport{Command: cmd})
}

func httpAssistant(t *testing.T, server *child, token string) *assistant {
	t.Helper()
	return connectAssistant(t, &sdk.StreamableClientTransport{
		Endpoint: server.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1, DisableStandaloneSSE: true,
	})
}

// bearer is a transport that sends an access token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// call calls a tool, with the arguments as JSON, and decodes its result.
func (a *assistant) call(t *testing.T, tool, arguments string) (result *sdk.CallToolResult, value map[string]any) {
	t.Helper()
	result, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		return result, map[string]any{"error": text}
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s %s: %v: %s", tool, arguments, err, text)
	}
	return result, value
}

// fails calls a tool that must fail, and checks that the message contains a text.
func (a *assistant) fails(t *testing.T, tool, arguments, want string) *sdk.CallToolResult {
	t.Helper()
	result, value := a.call(t, tool, arguments)
	if message, _ := value["error"].(string); !strings.Contains(message, want) {
		t.Errorf("%s %s: the error is %q, want %q; the result %v", tool, arguments, message, want, value)
	}
	return result
}

func (a *assistant) toolsAreDescribed(t *testing.T) {
	list, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		schema, _ := tool.InputSchema.(map[string]any)
		if tool.Description == "" || tool.Title == "" || schema["additionalProperties"] == nil {
			t.Errorf("%s has the description %q, the title %q, and the schema %v", tool.Name, tool.Description, tool.Title, schema)
		}
		for name, property := range schema["properties"].(map[string]any) {
			if property.(map[string]any)["description"] == nil {
				t.Errorf("%s does not describe %s", tool.Name, name)
			}
		}
		if stores := tool.Name == "render_document"; tool.Annotations.ReadOnlyHint == stores || *tool.Annotations.DestructiveHint {
			t.Errorf("%s has the annotations %+v", tool.Name, tool.Annotations)
		}
	}
	slices.Sort(names)
	want := []string{"check_data", "get_job", "get_sample", "get_template", "list_tags", "list_templates", "render_document"}
	if !slices.Equal(names, want) {
		t.Errorf("the tools are %q, want %q", names, want)
	}
}

// findsTemplate pages through the templates, and reads what one needs.
func (a *assistant) findsTemplate(t *testing.T, letter string) {
	names := map[string]string{}
	for arguments := `{"limit": 1}`; arguments != ""; {
		_, page := a.call(t, "list_templates", arguments)
		for _, entry := range page["templates"].([]any) {
			template := entry.(map[string]any)
			names[template["template_id"].(string)] = template["name"].(string)
		}
		arguments = ""
		if marker, more := page["next_marker"].(string); more {
			arguments = `{"limit": 1, "marker": "` + marker + `"}`
		}
	}
	if len(names) != 3 || names[letter] != "Letter.docx" {
		t.Errorf("the templates are %v", names)
	}
	_, template := a.call(t, "get_template", `{"template_id": "`+letter+`"}`)
	schema, _ := template["schema"].(map[string]any)
	if template["name"] != "Letter.docx" || schema["properties"].(map[string]any)["candidate"] == nil || template["failures"] != nil {
		t.Errorf("the template is %v", template)
	}
	_, tags := a.call(t, "list_tags", `{"template_id": "`+letter+`", "limit": 2}`)
	if list := tags["tags"].([]any); len(list) != 2 || tags["next_marker"] == nil {
		t.Errorf("the tags are %v", tags)
	}
	_, sample := a.call(t, "get_sample", `{"template_id": "`+letter+`"}`)
	data, err := json.Marshal(sample["data"])
	if err != nil {
		t.Fatal(err)
	}
	_, check := a.call(t, "check_data", `{"template_id": "`+letter+`", "data": `+string(data)+`}`)
	if check["complete"] != true || check["status"] != "completed" {
		t.Errorf("the sample %s has the check %v", data, check)
	}
}

func (a *assistant) checksData(t *testing.T, count string) {
	_, check := a.call(t, "check_data", `{"template_id": "`+count+`", "data": {"m": 1}}`)
	found, _ := json.Marshal(check)
	for _, want := range []string{`"complete":false`, `"status":"completed_with_error"`, `"path":"n"`, `"tag":"{{n}}"`,
		`the input has only the key m`} {
		if !strings.Contains(string(found), want) {
			t.Errorf("the check has no %s: %s", want, found)
		}
	}
}

// generates asks for a Word document and a PDF. All digits of a number reach the document.
func (a *assistant) generates(t *testing.T, count string) {
	result, value := a.call(t, "render_document",
		`{"template_id": "`+count+`", "data": {"n": 12345678901234567890}, "output_type": "docx", "name": "Two"}`)
	if value["status"] != "completed" || value["name"] != "Two.docx" {
		t.Fatalf("the document is %v", value)
	}
	document := result.Content[1].(*sdk.EmbeddedResource).Resource
	if text := bodyOf(t, document.Blob); !strings.Contains(text, "12345678901234567890 sheets") {
		t.Errorf("the document is %s", text)
	}
	if document.URI != "platen:///documents/Two.docx" || !strings.HasSuffix(document.MIMEType, "wordprocessingml.document") {
		t.Errorf("the document is %s, %s", document.URI, document.MIMEType)
	}
	result, value = a.call(t, "render_document", `{"template_id": "`+count+`", "data": {}, "output_type": "docx"}`)
	if failures, _ := value["failures"].(map[string]any); value["status"] != "completed_with_error" || len(failures["problems"].([]any)) != 1 {
		t.Errorf("an incomplete document is %v", value)
	}
	if len(result.Content) != 2 {
		t.Errorf("an incomplete document has the content %v", result.Content)
	}
	failed := a.fails(t, "render_document",
		`{"template_id": "`+count+`", "data": {}, "output_type": "docx", "missing": "error"}`, "422 document_failed")
	if details := failed.Content[1].(*sdk.TextContent).Text; !strings.Contains(details, `"tag":"{{n}}"`) {
		t.Errorf("the details are %s", details)
	}
}

// stores puts a document in a folder, and gets it by its job.
func (a *assistant) stores(t *testing.T, v *visitor, folderName, count string) {
	folder := v.mustFolder(folderName)
	_, value := a.call(t, "render_document",
		`{"template_id": "`+count+`", "data": {"n": 3}, "output_type": "docx", "folder_id": "`+folder+`"}`)
	job, _ := value["job_id"].(string)
	for value["next"] != nil {
		_, value = a.call(t, "get_job", `{"job_id": "`+job+`", "wait_seconds": 30}`)
	}
	file, _ := value["file_id"].(string)
	if v.files(folder)[file] != "Count.docx" {
		t.Errorf("the folder has %v after %v", v.files(folder), value)
	}
	result, _ := a.call(t, "get_job", `{"job_id": "`+job+`", "include_document": true}`)
	document := result.Content[1].(*sdk.EmbeddedResource).Resource
	if !bytes.Equal(document.Blob, v.mustDownload(file)) || !strings.HasSuffix(document.URI, "/Count.docx") {
		t.Errorf("the job has the document %s with %d bytes", document.URI, len(document.Blob))
	}
}

func (a *assistant) draws(t *testing.T, count string) {
	for _, tool := range []string{"soffice", "pdftoppm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	result, value := a.call(t, "render_document", `{"template_id": "`+count+`", "data": {"n": 3}, "output_type": "png", "dpi": 30}`)
	if len(result.Content) != 2 {
		t.Fatalf("the result is %v", value)
	}
	image := result.Content[1].(*sdk.ImageContent)
	if image.MIMEType != "image/png" || !bytes.HasPrefix(image.Data, []byte("\x89PNG")) {
		t.Errorf("the image is %s with %d bytes", image.MIMEType, len(image.Data))
	}
	result, _ = a.call(t, "render_document", `{"template_id": "`+count+`", "data": {"n": 3}, "output_type": "pdf"}`)
	pdf := result.Content[1].(*sdk.EmbeddedResource).Resource
	if !bytes.HasPrefix(pdf.Blob, []byte("%PDF-")) || pdf.MIMEType != "application/pdf" {
		t.Errorf("the PDF is %s with %d bytes", pdf.MIMEType, len(pdf.Blob))
	}
}

// isLimited generates a document that does not fit into a result, but into a folder.
func (a *assistant) isLimited(t *testing.T, v *visitor, large string) {
	a.fails(t, "render_document", `{"template_id": "`+large+`", "data": {"n": 1}, "output_type": "docx"}`,
		"more than 1048576 bytes, which is the limit of a result. Call render_document again with a folder_id")
	_, value := a.call(t, "render_document", `{"template_id": "`+large+`", "data": {"n": 1}, "output_type": "docx", "folder_id": "0"}`)
	job, _ := value["job_id"].(string)
	for value["next"] != nil {
		_, value = a.call(t, "get_job", `{"job_id": "`+job+`", "wait_seconds": 30}`)
	}
	file, _ := value["file_id"].(string)
	if size := len(v.mustDownload(file)); size <= 1<<20 {
		t.Errorf("the document has %d bytes", size)
	}
	a.fails(t, "get_job", `{"job_id": "`+job+`", "include_document": true}`, "It is the file "+file)
}

func (a *assistant) reportsErrors(t *testing.T, count string) {
	for _, tt := range [][3]string{
		{"get_template", `{}`, `missing properties: ["template_id"]`},
		{"get_template", `{"template_id": "../users/me"}`, "template_id"},
		{"get_template", `{"template_id": "1", "token": "x"}`, `unexpected additional properties ["token"]`},
		{"get_template", `{"template_id": "4711"}`, "the server responded with 404 not_found"},
		{"list_templates", `{"limit": 1000000}`, "limit"},
		{"list_templates", `{"marker": "forged"}`, "the server responded with 400"},
		{"get_sample", `{"template_id": "` + count + `", "name": "none"}`, "404 not_found"},
		{"check_data", `{"template_id": "` + count + `", "data": [1]}`, "data"},
		{"check_data", `{"template_id": "` + count + `", "data": {}, "locale": "xx-nowhere"}`, "400 bad_request"},
		{"render_document", `{"template_id": "` + count + `", "data": {}, "output_type": "exe"}`, "output_type"},
		{"render_document", `{"template_id": "` + count + `", "data": {}, "output_type": "png", "folder_id": "0"}`,
			"Page images cannot be stored"},
		{"render_document", `{"template_id": "` + count + `", "data": {}, "output_type": "docx", "dpi": 100}`, "only for page images"},
		{"render_document", `{"template_id": "` + count + `", "data": {}, "output_type": "docx", "folder_id": "4711"}`,
			"destination_folder.id: the folder does not exist"},
		{"get_job", `{"job_id": "4711"}`, "404 not_found"},
		{"get_job", `{"job_id": "4711", "wait_seconds": 3600}`, "wait_seconds"},
	} {
		a.fails(t, tt[0], tt[1], tt[2])
	}
	failed := a.fails(t, "get_template", `{"template_id": "4711"}`, "(request ")
	details, _ := failed.StructuredContent.(map[string]any)
	if details["status"] != 404.0 || details["code"] != "not_found" || details["request_id"] == "" {
		t.Errorf("the details are %v", details)
	}
	if _, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "delete_everything"}); err == nil {
		t.Error("an unknown tool can be called")
	}
}

// TestMCPCommand starts the command in wrong ways, and without a client that waits.
func TestMCPCommand(t *testing.T) {
	t.Parallel()
	run := func(stdin string, env ...string) (stdout, stderr string) {
		cmd := exec.CommandContext(t.Context(), "platen", "mcp")
		var out, problems bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = strings.NewReader(stdin), &out, &problems, append(os.Environ(), env...)
		err := cmd.Run()
		if failed := problems.Len() > 0; failed != (err != nil) {
			t.Errorf("the command ends with %v and %s", err, problems.String())
		}
		return out.String(), problems.String()
	}
	if _, stderr := run("", "PLATEN_TOKEN="); !strings.Contains(stderr, "missing access token") {
		t.Errorf("without a token, the error is %s", stderr)
	}
	if _, stderr := run("", "PLATEN_TOKEN=x", "PLATEN_SERVER=localhost"); !strings.Contains(stderr, "--server must be the URL") {
		t.Errorf("without a URL, the error is %s", stderr)
	}
	const calls = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"pipe","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_templates"}}
{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{}}
`
	stdout, _ := run(calls, "PLATEN_TOKEN=x", "PLATEN_SERVER=http://127.0.0.1:1")
	for _, want := range []string{`"id":1,"result"`, `"id":2,"result"`, "connection refused", `"id":3,"error"`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output has no %s:\n%s", want, stdout)
		}
	}
	if _, stderr := run(calls+"garbage\n", "PLATEN_TOKEN=x"); !strings.Contains(stderr, "invalid character 'g'") {
		t.Errorf("after garbage, the error is %s", stderr)
	}
}

// wordWith returns a Word document with one paragraph, and with a part that no other part uses unless it is nil.
func wordWith(t *testing.T, text string, part []byte) []byte {
	t.Helper()
	const head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	entries := [][2]string{
		{"[Content_Types].xml", head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="bin" ContentType="application/octet-stream"/><Override PartName="/word/document.xml" ` +
			`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", head + `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>` +
			`<w:t xml:space="preserve">` + text + `</w:t></w:r></w:p></w:body></w:document>`},
	}
	if part != nil {
		entries = append(entries, [2]string{"word/noise.bin", string(part)})
	}
	for _, entry := range entries {
		w, err := archive.Create(entry[0])
		if err == nil {
			_, err = io.WriteString(w, entry[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestMCPScopes uses the tools with tokens of few scopes, and as another user.
func TestMCPScopes(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := newServer(t, data)
	v := newVisitor(t, server, "--data="+data)
	template, _ := v.mustTemplate("Letter.docx", exampleLetter(t))
	token := func(login string, scopes ...string) string {
		args := []string{"token", "create", "--data=" + data, "--user=" + login}
		for _, scope := range scopes {
			args = append(args, "--scope="+scope)
		}
		return platen(t, args...)
	}
	platen(t, "user", "create", "--data="+data, "--login=bob@example.com", "--name=Bob")
	for name, connect := range map[string]func(*testing.T, *child, string) *assistant{"command": commandAssistant, "HTTP": httpAssistant} {
		t.Run(name, func(t *testing.T) {
			reading := connect(t, server, token("ada@example.com", "root_readonly"))
			reading.fails(t, "list_templates", `{}`, "403 insufficient_scope")
			reading.fails(t, "render_document", `{"template_id": "`+template+`", "data": {}, "output_type": "docx"}`, "403 insufficient_scope")
			generating := connect(t, server, token("ada@example.com", "docgen.readwrite"))
			if _, list := generating.call(t, "list_templates", `{}`); len(list["templates"].([]any)) != 1 {
				t.Errorf("the templates are %v", list)
			}
			_, stored := generating.call(t, "render_document",
				`{"template_id": "`+template+`", "data": {}, "output_type": "docx", "folder_id": "0"}`)
			job, _ := stored["job_id"].(string)
			generating.fails(t, "get_job", `{"job_id": "`+job+`", "include_document": true, "wait_seconds": 30}`, "403 insufficient_scope")
			other := connect(t, server, token("bob@example.com"))
			if _, list := other.call(t, "list_templates", `{}`); len(list["templates"].([]any)) != 0 {
				t.Errorf("another user's templates are %v", list)
			}
			for _, tool := range []string{"get_template", "list_tags", "get_sample"} {
				other.fails(t, tool, `{"template_id": "`+template+`"}`, "404 not_found")
			}
			for _, tool := range []string{"check_data", "render_document"} {
				arguments := `{"template_id": "` + template + `", "data": {}}`
				if tool == "render_document" {
					arguments = `{"template_id": "` + template + `", "data": {}, "output_type": "docx"}`
				}
				other.fails(t, tool, arguments, "404 not_found")
			}
		})
	}
}
