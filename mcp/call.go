package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"platen/client"
)

// MaxResponse is the maximum size in bytes of a response of the API that a tool reads.
const MaxResponse = 4 << 20

// A tool is one operation for assistants.
type tool struct {
	name, title string
	description string // for the model
	input       string // JSON Schema of the arguments
	stores      bool   // whether it can add something to the server
	call        toolFunc
}

// A toolFunc runs a tool with valid arguments.
type toolFunc func(ctx context.Context, s *session, arguments json.RawMessage) (*answer, error)

// An answer is the result of a tool: a value, which becomes JSON, and further content.
type answer struct {
	value   any
	content []sdk.Content
}

// add adds the tool to a server.
func (t *tool) add(server *sdk.Server) {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(t.input), &schema); err != nil {
		panic(fmt.Sprintf("the schema of %s: %v", t.name, err))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("the schema of %s: %v", t.name, err))
	}
	no := false
	server.AddTool(&sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: &schema,
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: !t.stores, IdempotentHint: !t.stores, DestructiveHint: &no, OpenWorldHint: &no,
		},
	}, func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return t.run(ctx, resolved, request.Params.Arguments)
	})
}

// run calls the tool. Every failure is a result that the model can read.
func (t *tool) run(ctx context.Context, schema *jsonschema.Resolved, arguments json.RawMessage) (*sdk.CallToolResult, error) {
	from, err := originOf(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(from.request, cancel)()
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	values, err := outline(arguments)
	if err == nil {
		err = schema.Validate(values)
	}
	if err != nil {
		return failure(fmt.Sprintf("The arguments of %s are invalid: %.500s", t.name, err), nil)
	}
	s := newSession(from.api)
	found, err := t.call(ctx, s, arguments)
	if err != nil {
		return s.explain(err)
	}
	text, err := marshal(found.value)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{
		Content: append([]sdk.Content{&sdk.TextContent{Text: string(text)}}, found.content...), StructuredContent: json.RawMessage(text),
	}, nil
}

// maxMembers is the maximum number of arguments. No tool has as many.
const maxMembers = 50

// outline returns arguments for the validation. Objects and arrays among them are empty: no schema says what they contain, and decoded
// data can need twenty times its size.
func outline(arguments json.RawMessage) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(arguments))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("they must be an object")
	}
	values := map[string]any{}
	for n := 0; d.More(); n++ {
		var value json.RawMessage
		name, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil || n == maxMembers {
			return nil, errors.Join(err, errors.New("the object has too many members, or ends early"))
		}
		switch value[0] {
		case '{':
			values[fmt.Sprint(name)] = map[string]any{}
		case '[':
			values[fmt.Sprint(name)] = []any{}
		default:
			var scalar any
			if err := json.Unmarshal(value, &scalar); err != nil {
				return nil, err
			}
			values[fmt.Sprint(name)] = scalar
		}
	}
	return values, nil
}

// with decodes the arguments of a tool. They are valid against its schema.
func with[A any](call func(ctx context.Context, s *session, arguments A) (*answer, error)) toolFunc {
	return func(ctx context.Context, s *session, arguments json.RawMessage) (*answer, error) {
		var a A
		if err := json.Unmarshal(arguments, &a); err != nil {
			return nil, err
		}
		return call(ctx, s, a)
	}
}

// marshal encodes a value as JSON without escapes for HTML, which cost models tokens.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// A session is one call of a tool. It calls the API as the user of the token, and does not repeat requests that exceed the rate limit: the
// model learns when to call the tool again.
type session struct {
	*client.Client
	next       client.Doer
	retryAfter string // what the last response says
}

func newSession(api *API) *session {
	s := &session{next: api.HTTP}
	s.Client = client.New(api.URL, api.Token, client.WithHTTPClient(s), client.WithoutRetries())
	return s
}

// Do sends a request. Reading more than MaxResponse bytes of the response fails with errTooLarge.
func (s *session) Do(request *http.Request) (*http.Response, error) {
	response, err := s.next.Do(request)
	if err != nil {
		return nil, err
	}
	s.retryAfter = response.Header.Get("Retry-After")
	response.Body = &limitedBody{response.Body, MaxResponse}
	return response, nil
}

var errTooLarge = errors.New("the response of the server is too large for a result")

// limitedBody fails after a number of bytes.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// A problem is an error that tells the model what to do.
type problem struct{ message string }

func (p *problem) Error() string { return p.message }

func problemf(format string, args ...any) error { return &problem{fmt.Sprintf(format, args...)} }

// explain returns the result for an error. That of the API has its message, the id of the request, and all details.
func (s *session) explain(err error) (*sdk.CallToolResult, error) {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return failure(err.Error(), nil)
	}
	text := refused.Error()
	if s.retryAfter != "" {
		text += ". Call the tool again in " + s.retryAfter + " seconds."
	}
	return failure(text, &refused.ErrorBody)
}

// failure returns a result that is an error. The details may be nil.
func failure(message string, details *client.ErrorBody) (*sdk.CallToolResult, error) {
	result := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: message}}}
	if details == nil {
		return result, nil
	}
	text, err := marshal(details)
	if err != nil {
		return nil, err
	}
	result.StructuredContent = json.RawMessage(text)
	if details.ContextInfo != nil && details.ContextInfo.Failures != nil {
		if text, err = marshal(failuresOf(details.ContextInfo.Failures)); err != nil {
			return nil, err
		}
		result.Content = append(result.Content, &sdk.TextContent{Text: string(text)})
	}
	return result, nil
}
