// Package client calls a Platen server. Its operations and their types are generated from the server's OpenAPI document
// (make generate). The rest is not generated: New, the code that sends requests and returns the server's errors as Go errors, and
// Upload, UploadVersion, and Download, which stream contents of any size.
//
//	file, err := c.GetFile(ctx, id, &client.GetFileParams{})
//
// An operation returns a response of its own type. JSON200 and the like hold what came with that status, and are nil for any
// other. If the server answers with an error, the operation returns it as an [Error].
package client

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Version is the version of the interface that the client speaks.
const Version = "2025.0"

// A Client calls the operations of one server for the user of one access token, from any number of goroutines.
type Client struct {
	url, token string
	http       Doer
}

// Doer sends requests, as [http.Client] does.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}

// An Option changes how a client works.
type Option func(*Client)

// WithHTTPClient makes a client send its requests by another than [http.DefaultClient].
func WithHTTPClient(d Doer) Option { return func(c *Client) { c.http = d } }

// New returns a client of the server at a URL without the /2.0, for the user of an access token.
//
// If the server answers that there were too many requests (429), the client sends the request again after the time that the
// server names, for as long as the context of the operation lasts. It returns that answer only if a content was read that
// cannot be read twice.
func New(url, token string, options ...Option) *Client {
	c := &Client{url: strings.TrimSuffix(url, "/") + "/2.0", token: token, http: http.DefaultClient}
	for _, o := range options {
		o(c)
	}
	return c
}

// patient sends requests, and again what came as one too many.
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

// retryAfter is how long the server asks to wait (RFC 9110, section 10.2.3).
func retryAfter(response *http.Response) time.Duration {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return time.Duration(seconds) * time.Second
}
