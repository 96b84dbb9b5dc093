// Package client calls a Platen server. It is generated from the server's OpenAPI document, so that it has every operation,
// parameter and answer with its type; written by hand are only New, which sends the access token and the version header
// with each request, Upload, which sends a file as a stream, and Failure.
//
// An operation returns an answer of its own type: JSON200 and its like hold what came with that status, and are nil for
// any other.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
)

// Version is the version of the interface that the client speaks.
const Version = "2025.0"

// New returns a client of the server at an address without the /2.0, for the user of an access token. The version in the
// parameters of operations need not be filled in.
func New(address, token string, options ...ClientOption) (*ClientWithResponses, error) {
	identify := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("svc-version", Version)
		return nil
	}
	options = append(options, WithRequestEditorFn(identify))
	return NewClientWithResponses(strings.TrimSuffix(address, "/")+"/2.0", options...)
}

// Upload puts a new file into a folder. The content goes to the server as it is read, whatever its size, and is not read
// any more when Upload returns.
func Upload(ctx context.Context, c *ClientWithResponses, attributes FileAttributes, content io.Reader) (*UploadFileResponse, error) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	written := make(chan struct{})
	go func() {
		defer close(written)
		_ = w.CloseWithError(writeForm(form, attributes, content)) // what is wrong with content is the request's error
	}()
	answer, err := c.UploadFileWithBodyWithResponse(ctx, &UploadFileParams{}, form.FormDataContentType(), r)
	_ = r.Close() // where the server has answered before it had all, writing ends with this
	<-written
	return answer, err
}

func writeForm(form *multipart.Writer, attributes FileAttributes, content io.Reader) error {
	text, err := json.Marshal(attributes)
	if err != nil {
		return err
	}
	if err := form.WriteField("attributes", string(text)); err != nil {
		return err
	}
	file, err := form.CreateFormFile("file", attributes.Name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		return err
	}
	return form.Close()
}

// An Error is an error that a server answered.
type Error struct {
	ErrorBody
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d %s: %s (request %s)", e.Status, e.Code, e.Message, e.RequestId)
}

// Failure returns the Error in the body of an answer, and nil for an answer with a status below 400.
func Failure(answer interface{ StatusCode() int }, body []byte) error {
	if answer.StatusCode() < http.StatusBadRequest {
		return nil
	}
	e := &Error{}
	if err := json.Unmarshal(body, &e.ErrorBody); err != nil || e.Type == "" {
		return fmt.Errorf("the server answers %d", answer.StatusCode())
	}
	return e
}
