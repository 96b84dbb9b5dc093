package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// A RequestEditor changes a request before it is sent.
type RequestEditor func(ctx context.Context, request *http.Request) error

// AsUser makes a request act as another user, if the token permits that.
func AsUser(id string) RequestEditor {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("As-User", id)
		return nil
	}
}

// IdempotencyKey makes a POST safe to repeat for 24 hours: the server processes it once, and responds to repeated requests with the same
// key and the same content like to the first one. A key has 1 to 255 printable ASCII characters, such as a UUID.
func IdempotencyKey(key string) RequestEditor {
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Idempotency-Key", quoted)
		return nil
	}
}

// Response is the part that the responses of all operations have in common.
type Response struct {
	HTTPResponse *http.Response // without its body, which has been read
	Body         []byte
}

// StatusCode returns the HTTP status of the response.
func (r *Response) StatusCode() int { return r.HTTPResponse.StatusCode }

func (r *Response) response() *Response { return r }

// A requestBody is the body of a request before it is encoded.
type requestBody interface {
	encode() (contentType string, body io.Reader, err error)
}

// jsonBody is a value that is sent as JSON.
type jsonBody struct{ value any }

func (b jsonBody) encode() (contentType string, body io.Reader, err error) {
	text, err := json.Marshal(b.value)
	return "application/json", bytes.NewReader(text), err
}

// Form is an encoded multipart form. [Upload] creates one.
type Form struct {
	ContentType string // including the boundary
	Body        io.Reader
}

func (f Form) encode() (contentType string, body io.Reader, err error) {
	return f.ContentType, f.Body, nil
}

// call calls an operation and reads its response. If the server responds with an error, call returns it as an *[Error], together with the
// response.
func call[R interface{ response() *Response }](ctx context.Context, c *Client, r R, method, path string, params any,
	body requestBody, editors []RequestEditor) (R, error) {
	answer, err := c.send(ctx, method, path, params, body, editors)
	if err != nil {
		return *new(R), err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return *new(R), err
	}
	*r.response() = Response{HTTPResponse: answer, Body: text}
	if answer.StatusCode >= http.StatusBadRequest {
		return r, errorOf(answer.StatusCode, text)
	}
	value := reflect.ValueOf(r).Elem().FieldByName(fmt.Sprint("JSON", answer.StatusCode))
	if !value.IsValid() || !strings.Contains(answer.Header.Get("Content-Type"), "json") {
		return r, nil
	}
	return r, json.Unmarshal(text, value.Addr().Interface())
}

// send sends a request. The caller must close the body of the response.
func (c *Client) send(ctx context.Context, method, path string, params any,
	body requestBody, editors []RequestEditor) (*http.Response, error) {
	var contentType string
	var content io.Reader
	if body != nil {
		var err error
		if contentType, content, err = body.encode(); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("svc-version", Version)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	setParameters(request, params)
	for _, edit := range editors {
		if err := edit(ctx, request); err != nil {
			return nil, err
		}
	}
	if c.once {
		return c.http.Do(request)
	}
	return patient{c.http}.Do(request)
}

// setParameters adds the parameters of an operation to its request. params is a pointer to a struct. Its fields with a form tag become
// query parameters, and the others become the headers that their json tags name. Fields that are nil are left out.
func setParameters(request *http.Request, params any) {
	v := reflect.ValueOf(params)
	if !v.IsValid() || v.IsNil() {
		return
	}
	query := request.URL.Query()
	for field, value := range v.Elem().Fields() {
		if value.Kind() == reflect.Pointer && value.IsNil() {
			continue
		}
		text := textOf(reflect.Indirect(value).Interface())
		if tag, ok := field.Tag.Lookup("form"); ok {
			query.Add(nameIn(tag), text)
		} else {
			request.Header.Set(nameIn(field.Tag.Get("json")), text)
		}
	}
	request.URL.RawQuery = query.Encode()
}

// nameIn returns the name in a struct tag, without the options.
func nameIn(tag string) string {
	name, _, _ := strings.Cut(tag, ",")
	return name
}

// pathOf returns the path of an operation. It escapes the parameters.
func pathOf(format string, params ...any) string {
	escaped := make([]any, len(params))
	for i, p := range params {
		escaped[i] = url.PathEscape(textOf(p))
	}
	return fmt.Sprintf(format, escaped...)
}

// textOf formats the value of a parameter.
func textOf(value any) string {
	if t, ok := value.(time.Time); ok {
		return t.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value)
}
