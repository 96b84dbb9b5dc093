// Package client is a Go client for the API of a Platen server.
//
//	c := client.New("https://platen.example.com", token)
//	file, err := c.GetFile(ctx, id, &client.GetFileParams{})
//
// Every operation has a response type. Its field JSON200 contains the decoded body of a response with status 200, and is nil for any other
// status. The same holds for JSON201 and so on. If the server responds with an error, the operation returns it as an [Error].
//
// [Upload], [UploadVersion], and [Download] stream files of any size.
//
// The operations and their types are generated from the server's OpenAPI document by "make generate".
package client

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Version is the version of the API that the client uses.
const Version = "2025.0"

// A Client calls the operations of one server with one access token. It is safe for concurrent use.
type Client struct {
	url, token string
	http       Doer
	once       bool // requests that exceed the rate limit are not repeated
}

// Doer sends requests, as [http.Client] does.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}

// An Option configures a client.
type Option func(*Client)

// WithHTTPClient sets the HTTP client. The default is [http.DefaultClient].
func WithHTTPClient(d Doer) Option { return func(c *Client) { c.http = d } }

// WithoutRetries makes the client return the response that there were too many requests (429) as an [Error], instead of waiting.
func WithoutRetries() Option { return func(c *Client) { c.once = true } }

// New returns a client of the server at url, which does not include /2.0. It acts as the user of the access token.
//
// If the server responds that there were too many requests (429), the client waits as long as the server asks and sends the request again,
// until the context of the operation ends. It returns that response only for an upload whose content cannot be read a second time.
func New(url, token string, options ...Option) *Client {
	c := &Client{url: strings.TrimSuffix(url, "/") + "/2.0", token: token, http: http.DefaultClient}
	for _, o := range options {
		o(c)
	}
	return c
}

// patient sends requests, and repeats those that exceed the rate limit.
type patient struct{ Doer }

func (p patient) Do(request *http.Request) (*http.Response, error) {
	for {
		response, err := p.Doer.Do(request)
		once := request.Body != nil && request.GetBody == nil
		if err != nil || response.StatusCode != http.StatusTooManyRequests || once {
			return response, err
		}
		response.Body.Close()
		ctx := request.Context()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryAfter(response)):
		}
		request = request.WithContext(ctx) // a copy: the transport may still use the last one
		if request.GetBody == nil {
			continue
		}
		if request.Body, err = request.GetBody(); err != nil {
			return nil, err
		}
	}
}

// retryAfter returns the time that the server asks to wait (RFC 9110, section 10.2.3), at least 1 s.
func retryAfter(response *http.Response) time.Duration {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return time.Duration(seconds) * time.Second
}
