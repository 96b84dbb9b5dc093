package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"sync"
)

// Upload uploads a new file to a folder. It streams the content, which may have any size, and does not use it after it returns. If the
// request must be sent again, Upload reads the content again, provided that content is an [io.Seeker].
func Upload(ctx context.Context, c *Client, attributes FileAttributes, content io.Reader) (*UploadFileResponse, error) {
	f, err := newForm(attributes, "file", attributes.Name, content)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return c.UploadFile(ctx, &UploadFileParams{}, Form{f.contentType, f.open()}, f.repeatable)
}

// UploadVersion uploads content as the new version of a file. Otherwise, it is like Upload.
func UploadVersion(ctx context.Context, c *Client, file string, attributes VersionAttributes, content io.Reader) (
	*UploadVersionResponse, error,
) {
	f, err := newForm(attributes, "file", *cmp.Or(attributes.Name, &file), content)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return c.UploadVersion(ctx, file, &UploadVersionParams{}, Form{f.contentType, f.open()}, f.repeatable)
}

// StreamBatch creates a batch from a file with its data: CSV, NDJSON, or a JSON array, as its name or the attributes say. Otherwise, it is
// like Upload. With [IdempotencyKey], it can be repeated.
func StreamBatch(ctx context.Context, c *Client, attributes StreamedBatchRequest, name string, data io.Reader, editors ...RequestEditor) (
	*CreateBatchResponse, error,
) {
	f, err := newForm(attributes, "data", name, data)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return call(ctx, c, &CreateBatchResponse{}, http.MethodPost, "/docgen_batches", nil, Form{f.contentType, f.open()},
		append(editors, f.repeatable))
}

// Download streams the content of a file, which may have any size, to w.
func Download(ctx context.Context, c *Client, file string, w io.Writer) error {
	response, err := c.send(ctx, http.MethodGet, pathOf("/files/%s/content", file), nil, nil, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		return errorOf(response.StatusCode, text)
	}
	_, err = io.Copy(w, response.Body)
	return err
}

// A form is the body of an upload: the attributes, then the content.
type form struct {
	contentType   string
	before, after []byte // the bytes around the content
	content       io.Reader
	body          *body // the one being sent
}

func newForm(attributes any, part, name string, content io.Reader) (*form, error) {
	text, err := json.Marshal(attributes)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	parts := multipart.NewWriter(&b)
	err = parts.WriteField("attributes", string(text))
	if err != nil {
		return nil, err
	}
	if _, err := parts.CreateFormFile(part, name); err != nil {
		return nil, err
	}
	start := b.Len()
	if err := parts.Close(); err != nil {
		return nil, err
	}
	return &form{contentType: parts.FormDataContentType(), before: b.Bytes()[:start], after: b.Bytes()[start:], content: content}, nil
}

// open returns the form as the body of a request.
func (f *form) open() io.ReadCloser {
	f.body = &body{r: io.MultiReader(bytes.NewReader(f.before), f.content, bytes.NewReader(f.after))}
	return f.body
}

func (f *form) close() { _ = f.body.Close() } // never fails

// repeatable is a [RequestEditor]. It lets a request be sent again if the content can be read again.
func (f *form) repeatable(_ context.Context, request *http.Request) error {
	content, ok := f.content.(io.Seeker)
	if !ok {
		return nil
	}
	start, err := content.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil //nolint:nilerr // a file that is a pipe cannot seek
	}
	request.GetBody = func() (io.ReadCloser, error) {
		f.close()
		_, err := content.Seek(start, io.SeekStart)
		return f.open(), err
	}
	return nil
}

// body is a reader that does not use r after Close has returned, so that the caller may use r again. It is needed because a transport may
// still read the body of a request after the server has responded.
type body struct {
	mu sync.Mutex
	r  io.Reader
}

var errClosed = errors.New("the body is closed")

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.r == nil {
		return 0, errClosed
	}
	return b.r.Read(p)
}

func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.r = nil
	return nil
}
