package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"platen/docgen"
	"platen/mcp"
)

// mcpPath is the path at which assistants call tools. It is not an operation of the API: its messages are those of the Model Context
// Protocol. The tools call the operations.
const mcpPath = "/mcp"

// maxMessageBytes is the maximum size in bytes of a message without the arguments of a tool.
const maxMessageBytes = 64 << 10

// serveMCP processes one message of an assistant.
func (a *api) serveMCP(w http.ResponseWriter, r *http.Request) {
	c := callOf(r.Context())
	message, err := a.admitMCP(c)
	if err != nil {
		a.sendError(c, a.refuse(c, "mcp", err))
		return
	}
	tools := &mcp.API{URL: "http://platen", Token: bearerOf(c.r), HTTP: &inProcess{a, c}}
	inner := r.WithContext(mcp.WithAPI(r.Context(), tools))
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
	c.leave() // what a tool calls counts as a request
	held := &holdText{ResponseWriter: w}
	a.mcp.ServeHTTP(held, inner)
	if held.status != 0 {
		a.sendError(c, failf(codeOfStatus(held.status), "%s", strings.ToValidUTF8(strings.TrimSpace(held.text.String()), "")))
	}
}

// admitMCP decides whether a message may proceed, and reads it.
func (a *api) admitMCP(c *call) ([]byte, error) {
	if err := a.checkOrigin(c.r); err != nil {
		return nil, err
	}
	if err := a.recognize(c, &doc{}); err != nil {
		return nil, err
	}
	if c.r.URL.RawQuery != "" {
		return nil, failf(docgen.CodeBadRequest, "%s has no query parameters. Send the access token in the header Authorization.", mcpPath)
	}
	message, err := c.readText(maxJSONBytes)
	if err != nil {
		return nil, err
	}
	if !json.Valid(message) {
		return nil, failf(docgen.CodeBadRequest, "The request body must be one JSON-RPC message.")
	}
	if bytes.HasPrefix(bytes.TrimSpace(message), []byte("[")) {
		return nil, failf(docgen.CodeBadRequest, "The request body must be one JSON-RPC message, not several. Send them one by one.")
	}
	return message, checkMessage(message)
}

// checkMessage checks that only the arguments of a tool are large. The SDK decodes all else, which can need twenty times its size.
func checkMessage(message []byte) error {
	var m struct {
		Params struct {
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return failf(docgen.CodeBadRequest, "The request body must be one JSON-RPC message, whose params are an object.")
	}
	if len(message)-len(m.Params.Arguments) > maxMessageBytes {
		return failf(docgen.CodeBodyTooLarge, "The message has more than %d bytes without the arguments of a tool.", maxMessageBytes)
	}
	return nil
}

// bearerOf returns the access token of a request that was admitted.
func bearerOf(r *http.Request) string {
	token, _ := bearerToken(r.Header.Values("Authorization")) // cannot fail again
	return token
}

// checkOrigin rejects requests that browsers send for pages of other sites, as the protocol requires.
func (a *api) checkOrigin(r *http.Request) error {
	for _, origin := range r.Header.Values("Origin") {
		if !a.isOwn(origin, r.Host) {
			return failf(docgen.CodeRefused, "Pages of the origin %s may not call %s. Only those of this server may.",
				quoteParameter(origin), mcpPath)
		}
	}
	return nil
}

// isOwn reports whether an origin is this server: its configured URL or, without one, the host of the request. That host must be an address
// or localhost, because the owner of any other name can make it point to this server.
func (a *api) isOwn(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if own, err := url.Parse(a.baseURL); err == nil && u.Scheme == own.Scheme && strings.EqualFold(u.Host, own.Host) {
		return true
	}
	_, err = netip.ParseAddr(u.Hostname())
	return !a.fixedURL && strings.EqualFold(u.Host, host) && (err == nil || u.Hostname() == "localhost")
}

// codeOfStatus returns the code for an error of the protocol's transport.
func codeOfStatus(status int) docgen.Code {
	switch status {
	case http.StatusUnsupportedMediaType:
		return codeMediaType
	case http.StatusMethodNotAllowed:
		return codeMethod
	case http.StatusInternalServerError:
		return codeInternal
	}
	return docgen.CodeBadRequest
}

// maxHeldText is the maximum size in bytes of the text of an error, which can repeat a part of the message.
const maxHeldText = 500

// holdText passes on a response, except for an error that is not JSON, whose text it keeps.
type holdText struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

func (w *holdText) WriteHeader(status int) {
	if status >= http.StatusBadRequest && w.Header().Get("Content-Type") != jsonType {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *holdText) Write(p []byte) (int, error) {
	if w.status != 0 {
		w.text.Write(p[:min(len(p), maxHeldText-w.text.Len())])
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap gives http.ResponseController access to the connection.
func (w *holdText) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// inProcess sends the requests of a tool to the API in this process, as those of the call that uses the tool: with its token, address, and
// request id. They are counted, limited, and logged like all other requests.
type inProcess struct {
	api  *api
	call *call
}

// Do processes a request. It keeps the response in memory, up to the size that a tool reads.
func (p *inProcess) Do(request *http.Request) (*http.Response, error) {
	outer := p.call.r
	r := request.Clone(request.Context())
	r.RemoteAddr, r.Host, r.TLS, r.RequestURI = outer.RemoteAddr, outer.Host, outer.TLS, request.URL.RequestURI()
	r.Proto, r.ProtoMajor, r.ProtoMinor = outer.Proto, outer.ProtoMajor, outer.ProtoMinor
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.Header.Set("X-Request-Id", p.call.id)
	for _, name := range []string{asUserHeader, "User-Agent"} {
		if values := outer.Header.Values(name); len(values) > 0 {
			r.Header[name] = values
		}
	}
	w := &keptResponse{header: http.Header{}, call: p.call}
	aborted := p.serve(w, r)
	if w.failure != nil {
		return nil, w.failure
	}
	if aborted {
		return nil, errors.New("the server aborted the response")
	}
	return &http.Response{
		Status: fmt.Sprint(w.status, " ", http.StatusText(w.status)), StatusCode: w.status, Header: w.header, Request: request,
		Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}, nil
}

// serve processes a request, and reports whether its handler aborted the response.
func (p *inProcess) serve(w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		problem := recover()
		if aborted = problem != nil; aborted && !isAbort(problem) {
			panic(problem)
		}
	}()
	p.api.serve(p.api.public, w, r)
	return false
}

// keptResponse keeps a response in memory. Its bytes count as those of the call's user until the call ends.
type keptResponse struct {
	header  http.Header
	status  int
	body    bytes.Buffer
	call    *call
	held    int
	failure error // why the response could not be kept
}

const (
	keptStep = 64 << 10 // bytes for which memory is reserved at once
	keptCost = 6        // memory for a byte of a response, while it is decoded and becomes a result
)

func (w *keptResponse) Header() http.Header { return w.header }

func (w *keptResponse) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write keeps one byte more than a tool reads, so that the tool notices. It drops the rest, and everything after a failure: an
// error would end the request with a panic. Errors of the API are small, and need no memory of the user, so that they always arrive.
func (w *keptResponse) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	kept := min(len(p), mcp.MaxResponse+1-w.body.Len())
	small := w.status >= http.StatusBadRequest && w.body.Len()+kept <= keptStep
	for !small && w.failure == nil && w.held < w.body.Len()+kept {
		w.failure = w.call.reserve(w.call.in.memory, keptCost*keptStep, "bytes of results")
		w.held += keptStep
	}
	if w.failure == nil {
		w.body.Write(p[:kept])
	}
	return len(p), nil
}
