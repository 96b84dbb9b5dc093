package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"platen/docx"
)

// apiVersion is the version of the interface that the client speaks.
const apiVersion = "2025.0"

// apiClient speaks to a server over its HTTP API, as any other program would.
type apiClient struct {
	baseURL string // without the /2.0
	token   string
}

// ref names an object of the API.
type ref struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

// job is what the commands read of a docgen_job.
type job struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	OutputFile *ref   `json:"output_file"`
	Failures   *struct {
		Errors []string `json:"errors"`
	} `json:"failures"`
}

// ended tells whether the job will not change any more.
func (j *job) ended() bool { return j.Status != "pending" && j.Status != "submitted" }

// page is a page of a list by marker.
type page[T any] struct {
	Entries    []T    `json:"entries"`
	NextMarker string `json:"next_marker"`
}

// newDocument is one document of a batch.
type newDocument struct {
	Name  string `json:"generated_file_name"`
	Input any    `json:"user_input"`
}

// apiError is an answer that is an error.
type apiError struct {
	Status      int    `json:"status"`
	Code        string `json:"code"`
	Message     string `json:"message"`
	ContextInfo struct {
		Conflicts json.RawMessage `json:"conflicts"`
	} `json:"context_info"`
}

func (e *apiError) Error() string {
	return fmt.Sprintf("the server answers %d %s: %s", e.Status, e.Code, e.Message)
}

// conflict returns the id of the item in the way when err says that a name is in use, "" otherwise.
func conflict(err error) string {
	e, ok := errors.AsType[*apiError](err)
	if !ok || e.Code != "item_name_in_use" {
		return ""
	}
	var one ref
	if json.Unmarshal(e.ContextInfo.Conflicts, &one) == nil {
		return one.ID
	}
	var list []ref
	if json.Unmarshal(e.ContextInfo.Conflicts, &list) == nil && len(list) > 0 {
		return list[0].ID
	}
	return ""
}

// createFolder makes a folder and returns its id.
func (c *apiClient) createFolder(ctx context.Context, parent, name string) (string, error) {
	var folder ref
	_, err := c.call(ctx, "POST", "/folders", map[string]any{"name": name, "parent": map[string]string{"id": parent}}, &folder)
	return folder.ID, err
}

// upload makes a file in the root folder and returns its id; where the name is taken it becomes a new version of that file.
func (c *apiClient) upload(ctx context.Context, name string, content []byte) (string, error) {
	attributes := map[string]any{"name": name, "parent": map[string]string{"id": "0"}}
	id, err := c.uploadTo(ctx, "/files/content", attributes, name, content)
	if taken := conflict(err); taken != "" {
		return c.uploadTo(ctx, "/files/"+taken+"/content", map[string]any{"name": name}, name, content)
	}
	return id, err
}

func (c *apiClient) uploadTo(ctx context.Context, path string, attributes any, name string, content []byte) (string, error) {
	text, err := json.Marshal(attributes)
	if err != nil {
		return "", err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err = form.WriteField("attributes", string(text))
	if err != nil {
		return "", err
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		return "", err
	}
	if _, err := part.Write(content); err != nil {
		return "", err
	}
	if err := form.Close(); err != nil {
		return "", err
	}
	var uploaded page[ref]
	_, err = c.do(ctx, "POST", path, form.FormDataContentType(), body.Bytes(), &uploaded)
	if err == nil && len(uploaded.Entries) != 1 {
		err = fmt.Errorf("upload %s: the answer has %d files", name, len(uploaded.Entries))
	}
	if err != nil {
		return "", err
	}
	return uploaded.Entries[0].ID, nil
}

// markTemplate marks a file as a template.
func (c *apiClient) markTemplate(ctx context.Context, file string) error {
	_, err := c.call(ctx, "POST", "/docgen_templates", map[string]any{"file": ref{ID: file, Type: "file"}}, nil)
	return err
}

// tags returns the first tags of a template, and whether they have been read yet.
func (c *apiClient) tags(ctx context.Context, template string) (tags []docx.Tag, ready bool, err error) {
	var found page[docx.Tag]
	status, err := c.call(ctx, "GET", "/docgen_templates/"+template+"/tags?limit=1000", nil, &found)
	return found.Entries, status == http.StatusOK, err
}

// createBatch asks for documents and returns the id of the batch.
func (c *apiClient) createBatch(ctx context.Context, template, folder string, documents []newDocument) (string, error) {
	var batch ref
	_, err := c.call(ctx, "POST", "/docgen_batches", map[string]any{
		"file":                     ref{ID: template, Type: "file"},
		"input_source":             "api",
		"destination_folder":       ref{ID: folder, Type: "folder"},
		"output_type":              "docx",
		"document_generation_data": documents,
	}, &batch)
	return batch.ID, err
}

// batchJobs returns a page of the jobs of a batch; the first one for an empty marker.
func (c *apiClient) batchJobs(ctx context.Context, batch, marker string, limit int) (*page[job], error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if marker != "" {
		query.Set("marker", marker)
	}
	jobs := &page[job]{}
	_, err := c.call(ctx, "GET", "/docgen_batch_jobs/"+batch+"?"+query.Encode(), nil, jobs)
	return jobs, err
}

// download copies the content of a file to w.
func (c *apiClient) download(ctx context.Context, file string, w io.Writer) error {
	_, err := c.do(ctx, "GET", "/files/"+file+"/content", "", nil, w)
	return err
}

// call sends in as JSON, unless it is nil, and decodes the answer into out, unless that is nil.
func (c *apiClient) call(ctx context.Context, method, path string, in, out any) (status int, err error) {
	if in == nil {
		return c.do(ctx, method, path, "", nil, out)
	}
	body, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	return c.do(ctx, method, path, "application/json", body, out)
}

// do sends a request, again after a while when the server asks for that. The answer goes to out as it is when that is an
// io.Writer, and is decoded into it otherwise.
func (c *apiClient) do(ctx context.Context, method, path, contentType string, body []byte, out any) (status int, err error) {
	for {
		response, err := c.send(ctx, method, path, contentType, body)
		if err != nil {
			return 0, err
		}
		if response.StatusCode != http.StatusTooManyRequests {
			err := readAnswer(response, out)
			if err != nil {
				err = fmt.Errorf("%s %s: %w", method, path, err)
			}
			return response.StatusCode, err
		}
		response.Body.Close()
		if err := pause(ctx, retryAfter(response)); err != nil {
			return 0, err
		}
	}
}

func (c *apiClient) send(ctx context.Context, method, path, contentType string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.baseURL+"/2.0"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("svc-version", apiVersion)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return http.DefaultClient.Do(request)
}

func readAnswer(response *http.Response, out any) error {
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		failure := &apiError{Status: response.StatusCode}
		if err := json.NewDecoder(response.Body).Decode(failure); err != nil {
			return fmt.Errorf("the server answers %s", response.Status)
		}
		return failure
	}
	switch out := out.(type) {
	case nil:
		return nil
	case io.Writer:
		_, err := io.Copy(out, response.Body)
		return err
	}
	return json.NewDecoder(response.Body).Decode(out)
}

// retryAfter is how long the server asks to wait (RFC 9110, section 10.2.3).
func retryAfter(response *http.Response) time.Duration {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return time.Duration(seconds) * time.Second
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Pauses between two looks at something that will change soon: from the first, ever longer, to the last.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// until calls look, with pauses, until it is done or fails.
func until(ctx context.Context, look func() (done bool, err error)) error {
	for wait := firstLook; ; wait = min(wait*5/4, lastLook) {
		if done, err := look(); done || err != nil {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// jobsPerPage is how many jobs one look at a batch asks for.
const jobsPerPage = 200

// awaitBatch waits until every job of a batch has ended, and returns them all. It calls progress with the number of those
// that have. Pages whose jobs have all ended are not asked for again.
func (c *apiClient) awaitBatch(ctx context.Context, batch string, progress func(ended int)) ([]job, error) {
	var settled []job // of the pages that will not change
	marker := ""
	err := until(ctx, func() (bool, error) {
		ended, from, settling := 0, marker, true
		for {
			jobs, err := c.batchJobs(ctx, batch, from, jobsPerPage)
			if err != nil {
				return false, err
			}
			for _, j := range jobs.Entries {
				if j.ended() {
					ended++
				} else {
					settling = false
				}
			}
			if from = jobs.NextMarker; settling {
				settled, marker, ended = append(settled, jobs.Entries...), from, 0
			}
			if from == "" {
				progress(len(settled) + ended)
				return settling, nil
			}
		}
	})
	return settled, err
}
