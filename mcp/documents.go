package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"path"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"platen/client"
)

// maxDocument is the maximum size in bytes of the documents in a result. Most clients pass results to the model as a whole.
const maxDocument = 1 << 20

// waitForDocument is how long a call waits, in seconds. Many clients give up after a minute.
const waitForDocument = 30

type renderArguments struct {
	templateArguments
	Data       json.RawMessage `json:"data"`
	OutputType string          `json:"output_type"`
	Name       string          `json:"name"`
	Folder     string          `json:"folder_id"`
	Missing    *string         `json:"missing"`
	Pages      *string         `json:"pages"`
	DPI        *int64          `json:"dpi"`
	options
}

type document struct {
	Name       string       `json:"name,omitempty"`
	OutputType string       `json:"output_type"`
	Status     string       `json:"status"`
	Pages      *int64       `json:"page_count,omitempty"`
	Failures   *failureList `json:"failures,omitempty"`
	File       string       `json:"file_id,omitempty"`
	Job        string       `json:"job_id,omitempty"`
	Next       string       `json:"next,omitempty"`
}

const outputPNG = "png"

func renderDocument(ctx context.Context, s *session, a renderArguments) (*answer, error) {
	form := client.DocumentForm{TemplateID: a.ID, Input: a.Data, OutputType: a.OutputType, Name: a.Name, FolderID: a.Folder}
	form.Options = &client.DocumentOptions{Locale: a.Locale, TimeZone: a.TimeZone, Missing: (*client.DocumentOptionsMissing)(a.Missing)}
	switch {
	case a.OutputType == outputPNG && a.Folder != "":
		return nil, problemf("Page images cannot be stored. Omit folder_id, or use the output_type docx or pdf.")
	case a.OutputType != outputPNG && (a.Pages != nil || a.DPI != nil):
		return nil, problemf("pages and dpi are only for page images. Omit them, or use the output_type png.")
	case a.OutputType == outputPNG:
		form.Options.Png = &client.PngOptions{Pages: a.Pages, Dpi: a.DPI}
	case a.Folder != "":
		form.Prefer = "respond-async" // the response to a job never contains the document, which may be large
	default:
		form.Prefer = fmt.Sprint("wait=", waitForDocument)
	}
	response, err := client.Generate(ctx, s.Client, form)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, tooLarge(a.OutputType)
	case err != nil:
		return nil, err
	case response.JSON202 != nil && a.Folder != "":
		return s.job(ctx, jobArguments{ID: response.JSON202.Id, Wait: waitForDocument})
	case response.JSON202 != nil:
		return jobAnswer(response.JSON202), nil
	case response.JSON200 == nil:
		return nil, unexpected(response.StatusCode())
	}
	return documentAnswer(response.JSON200)
}

// tooLarge returns the error for a document that does not fit into a result.
func tooLarge(outputType string) error {
	if outputType == outputPNG {
		return problemf("The page images have more than %d bytes, which is the limit of a result. Request fewer pages, or a lower dpi.",
			maxDocument)
	}
	return problemf("The document has more than %d bytes, which is the limit of a result. Call render_document again with a folder_id, "+
		"to store it in that folder; 0 is the root folder of the user. The result then has the id of the file, which the user can download.",
		maxDocument)
}

// documentAnswer returns the result with a document.
func documentAnswer(d *client.Document) (*answer, error) {
	out := &answer{value: document{
		Name: d.Name, OutputType: string(d.OutputType), Status: string(d.Status), Pages: d.PageCount, Failures: failuresOf(d.Failures),
	}}
	size := 0
	if d.Content != nil {
		content, err := base64.StdEncoding.DecodeString(*d.Content)
		if err != nil {
			return nil, err
		}
		size += len(content)
		out.content = append(out.content, embedded(d.Name, content))
	}
	for _, image := range d.Images {
		content, err := base64.StdEncoding.DecodeString(image.Content)
		if err != nil {
			return nil, err
		}
		size += len(content)
		out.content = append(out.content, &sdk.ImageContent{Data: content, MIMEType: "image/png"})
	}
	if size > maxDocument {
		return nil, tooLarge(string(d.OutputType))
	}
	return out, nil
}

// embedded returns a document as a resource in a result.
func embedded(name string, content []byte) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
		URI: "platen:///documents/" + url.PathEscape(name), MIMEType: mediaType(name), Blob: content,
	}}
}

// mediaType returns the media type of a document by its name.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case ".pdf":
		return "application/pdf"
	}
	return "application/octet-stream"
}

type jobArguments struct {
	ID      string `json:"job_id"`
	Wait    int64  `json:"wait_seconds"`
	Content bool   `json:"include_document"`
}

func getJob(ctx context.Context, s *session, a jobArguments) (*answer, error) { return s.job(ctx, a) }

// job returns the status of a job, and its document if the arguments ask for it.
func (s *session) job(ctx context.Context, a jobArguments) (*answer, error) {
	response, err := s.GetJob(ctx, a.ID, &client.GetJobParams{Wait: &a.Wait})
	if err != nil {
		return nil, err
	}
	if response.JSON200 == nil {
		return nil, unexpected(response.StatusCode())
	}
	out := jobAnswer(response.JSON200)
	file := response.JSON200.OutputFile
	if !a.Content || file == nil {
		return out, nil
	}
	content, err := s.DownloadFile(ctx, file.Id, &client.DownloadFileParams{})
	if errors.Is(err, errTooLarge) || err == nil && len(content.Body) > maxDocument {
		return nil, problemf("The document has more than %d bytes, which is the limit of a result. It is the file %s, which the user can "+
			"download.", maxDocument, file.Id)
	}
	if err != nil {
		return nil, err
	}
	out.content = append(out.content, embedded(nameOf(content, file.Id+"."+string(response.JSON200.OutputType)), content.Body))
	return out, nil
}

// nameOf returns the file name in a response, or another name if it has none.
func nameOf(response *client.DownloadFileResponse, other string) string {
	_, params, err := mime.ParseMediaType(response.HTTPResponse.Header.Get("Content-Disposition"))
	if err != nil || params["filename"] == "" {
		return other
	}
	return params["filename"]
}

// jobAnswer returns the result with a job.
func jobAnswer(j *client.Job) *answer {
	out := document{OutputType: string(j.OutputType), Status: string(j.Status), Failures: failuresOf(j.Failures), Job: j.Id}
	if j.OutputFile != nil {
		out.File = j.OutputFile.Id
	}
	if out.Status == "pending" || out.Status == "submitted" {
		out.Next = "The document is not ready. Call get_job with this job_id and wait_seconds."
	}
	return &answer{value: out}
}
