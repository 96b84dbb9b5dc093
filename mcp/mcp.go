// Package mcp lets AI assistants use a Platen server, over the Model Context Protocol.
//
// The tools are defined once. They call the public API with the token of their user, so that permissions, scopes, rate limits, and budgets
// are those of the API. [Serve] offers them on standard input and output, and [Handler] over HTTP: it keeps no sessions, so that any server
// can process any request.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"platen/client"
)

const instructions = "Platen generates documents (Word, PDF, images of pages) from Word templates and JSON data. " +
	"First find a template with list_templates. get_template has the JSON Schema of the data it needs, and get_sample has an example. " +
	"Build the data, and verify it with check_data: it reports every missing value with its location. Then call render_document."

// An API is how tools reach the API of a server, for one user.
type API struct {
	URL   string // of the server, without /2.0
	Token string
	HTTP  client.Doer // sends the requests
}

type apiKey struct{}

// WithAPI returns a context whose calls of tools use an API.
func WithAPI(ctx context.Context, api *API) context.Context {
	return context.WithValue(ctx, apiKey{}, &origin{api, ctx})
}

// An origin is the API that a call of a tool uses, and the context of the request that it comes from. The SDK detaches its own contexts
// from requests.
type origin struct {
	api     *API
	request context.Context
}

// Serve offers the tools to one client until it closes in, or ctx is done. It writes nothing but messages of the protocol to out.
func Serve(ctx context.Context, api *API, version string, in io.Reader, out io.Writer, log *slog.Logger) error {
	transport := patientTransport{&sdk.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}}}
	err := newServer(version, log).Run(WithAPI(ctx, api), transport)
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil //nolint:nilerr // how a session ends
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Handler offers the tools over HTTP (streamable HTTP, without sessions). The context of a request must come from [WithAPI]. The caller
// authenticates requests, checks their Origin, and limits their bodies.
func Handler(version string, log *slog.Logger) http.Handler {
	server := newServer(version, log)
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: -1,
		DisableLocalhostProtection: true, // it would reject what a proxy on the same machine forwards
	})
}

func newServer(version string, log *slog.Logger) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "platen", Title: "Platen", Version: version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	server.AddReceivingMiddleware(guard(log))
	for i := range tools {
		tools[i].add(server)
	}
	return server
}

// guard rejects the one method that keeps a connection open forever, and turns a panic into an error.
func guard(log *slog.Logger) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (result sdk.Result, err error) {
			if method == "subscriptions/listen" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "The server sends no notifications."}
			}
			defer func() {
				if problem := recover(); problem != nil {
					log.ErrorContext(ctx, "panic", "method", method, "panic", problem, "stack", string(debug.Stack()))
					result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The server encountered an unexpected error."}
				}
			}()
			return next(ctx, method, request)
		}
	}
}

// originOf returns the origin in the context of a call.
func originOf(ctx context.Context) (*origin, error) {
	o, ok := ctx.Value(apiKey{}).(*origin)
	if !ok {
		return nil, fmt.Errorf("the context %T has no API", ctx)
	}
	return o, nil
}
