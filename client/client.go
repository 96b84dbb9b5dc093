// Package client calls a Platen server. It is generated from the server's OpenAPI document, so that it has every operation,
// parameter and answer with its type. Written by hand are only New, which says with each request who it is from and waits
// where the server asks for that; Check, which makes an error of an answer that is one; and Upload, UploadVersion and
// Download, through which contents of any size go as streams.
//
// An operation returns an answer of its own type: JSON200 and its like hold what came with that status, and are nil for
// any other.
package client

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Version is the version of the interface that the client speaks.
const Version = "2025.0"

// New returns a client of the server at an address without the /2.0, for the user of an access token. The version in the
// parameters of operations need not be filled in.
//
// Where the server answers that there were too many requests (429), the client sends the request again after the time that
// the server names, for as long as the context of the operation lasts. It passes that answer on only where a content has
// been read that cannot be read twice.
func New(address, token string, options ...ClientOption) (*ClientWithResponses, error) {
	identify := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("svc-version", Version)
		return nil
	}
	wait := func(c *Client) error {
		if c.Client == nil {
			c.Client = http.DefaultClient
		}
		c.Client = patient{c.Client}
		return nil
	}
	options = append(options, WithRequestEditorFn(identify), wait)
	return NewClientWithResponses(strings.TrimSuffix(address, "/")+"/2.0", options...)
}

// patient sends requests, and again what came as one too many.
type patient struct{ HttpRequestDoer }

func (p patient) Do(request *http.Request) (*http.Response, error) {
	for {
		response, err := p.HttpRequestDoer.Do(request)
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
		request = request.WithContext(ctx) // another one: the last may still be in somebody's hands
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
