package server

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
	"platen/generate"
)

var docCreateDocument = doc{
	id: "create_document", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Generate one document",
	description: "Generates one document and returns it in the response. The template is a stored one (file), or comes with the request " +
		"(template). Nothing is stored, unless you send a destination_folder. The headers of the response have the name, the number of " +
		"pages, and the problems of the document. With Accept: application/json, the response is an object with all of them and the " +
		"content in Base64. With the header Prefer, the response can be a job (202) instead, whose document is kept for one hour after the " +
		"job has ended, or in the destination_folder. The request body is JSON, or multipart/form-data, in which each part is a field of " +
		"the same name: template is the Word document itself, user_input, options, and references are JSON, and the others are text. " +
		"Requests are generated before the documents of batches." + extension,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeDocumentFailed, docgen.CodeTooLarge,
		codeMediaType, docgen.CodeBodyTooLarge, codeTimeout},
	body:    exampleDocumentRequest(),
	example: exampleDocument(),
	also:    answersDocument,
}

// maxInlineTemplate is the largest size in bytes of a template that comes with a request. Larger ones can be uploaded.
const maxInlineTemplate = 32 << 20

type createDocumentRequest struct {
	File        *templateFileRef `json:"file,omitempty" doc:"A stored template. Send either file or template."`
	FileVersion *fileVersionRef  `json:"file_version,omitempty" doc:"A version of the stored template (default: its version in use). You can also send it as file.file_version."`
	Template    *base64Text      `json:"template,omitempty" doc:"The template itself: a Word document of up to 32 MiB, in Base64 (in multipart/form-data, the file as it is). Such a template cannot include other files."`
	OutputType  string           `json:"output_type" enum:"docx,pdf,png" doc:"The type of the document. png: images of its pages."`
	Name        string           `json:"generated_file_name,omitempty" minLength:"1" doc:"The name of the document (default: the name of the template). If it lacks the extension of the output type, the extension is added."`
	Input       userInput        `json:"user_input" doc:"The data for the document: any object."`
	Destination *folderRef       `json:"destination_folder,omitempty" doc:"The folder to store the document in; 0 is the root folder of the caller (default: the document is not stored). If the folder already has a file with its name, a number is added to the name."`
	Options     *documentOptions `json:"options,omitempty" doc:"How to generate the document."`
}

type documentOptions struct {
	Locale   string      `json:"locale,omitempty" minLength:"1" doc:"As in a batch." example:"de-CH"`
	TimeZone string      `json:"time_zone,omitempty" minLength:"1" doc:"As in a batch." example:"Europe/Paris"`
	Missing  string      `json:"missing,omitempty" enum:"tag,blank,error" doc:"As in a batch."`
	Strict   bool        `json:"strict,omitempty" doc:"As in a batch (default false)."`
	PDF      *pdfOptions `json:"pdf,omitempty" doc:"Options for output_type pdf, without merged."`
	PNG      *pngOptions `json:"png,omitempty" doc:"Options for output_type png."`
}

type pngOptions struct {
	Pages string `json:"pages,omitempty" minLength:"1" doc:"The pages that become images, such as 1-3,5 or 2- (default 1). One page is returned as a PNG file, several as a ZIP file of them." example:"1-3"`
	DPI   *int64 `json:"dpi,omitempty" minimum:"24" maximum:"300" doc:"The resolution in dots per inch (default 96)."`
}

// base64Text is content in Base64 (RFC 4648, section 4), as clients send it.
type base64Text string

// Schema describes the field for the OpenAPI document.
func (base64Text) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "byte", ContentEncoding: "base64"}
}

// fileContent is content in Base64 in a response; null if there is none.
type fileContent []byte

// Schema describes the field for the OpenAPI document.
func (fileContent) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "byte", ContentEncoding: "base64", Nullable: true}
}

type document struct {
	Type       string             `json:"type" enum:"docgen_document"`
	Name       string             `json:"name" doc:"The file name of the document."`
	OutputType string             `json:"output_type" enum:"docx,pdf,png"`
	Status     docgen.Status      `json:"status" enum:"completed,completed_with_error" doc:"completed_with_error: something is missing in the document."`
	PageCount  *int               `json:"page_count" doc:"The number of pages; null for Word documents, which have no fixed pages."`
	Content    fileContent        `json:"content" doc:"The document in Base64; null for page images."`
	Images     []pageImage        `json:"images" doc:"The page images; empty for other documents."`
	Failures   optional[failures] `json:"failures" doc:"What is missing in the document, and warnings; null if there are none."`
	Fonts      *fontReport        `json:"fonts,omitempty" doc:"The fonts of a PDF; omitted for Word documents."`
	OutputFile optional[fileRef]  `json:"output_file" doc:"The stored file; null without a destination_folder."`
}

type pageImage struct {
	Page    int    `json:"page"`
	Width   int    `json:"width" doc:"Pixels."`
	Height  int    `json:"height" doc:"Pixels."`
	Content []byte `json:"content" doc:"A PNG file in Base64."`
}

// DocumentHeaders holds the headers of a request for a document.
type DocumentHeaders struct {
	Accept string `header:"Accept" doc:"application/json for an object with the document and all about it. Otherwise, the response is the document itself."`
	Prefer string `header:"Prefer" doc:"respond-async: respond with a job immediately. wait=20: respond with the document, or with a job after 20 seconds (at most 60). By default, the server responds when the document is generated (RFC 7240)." example:"wait=20"`
}

func (a *api) createDocument(ctx context.Context, c *call, _ *DocumentHeaders) (*streamed, error) {
	request, err := a.readDocumentRequest(c)
	if err != nil {
		return nil, err
	}
	prefer, err := preferenceOf(c.r.Header)
	if err != nil {
		return nil, err
	}
	if prefer != (preference{}) && request.OutputType == docgen.OutputPNG {
		return nil, docgen.Invalid(parameterProblem("Prefer", "page images are generated only while you wait: omit the header Prefer"))
	}
	if prefer.async && prefer.wait == 0 {
		return a.requestDocument(ctx, c, request, prefer)
	}
	made, err := a.generateWithin(ctx, c, prefer.wait, request)
	switch {
	case errors.Is(err, errLate):
		return a.requestDocument(ctx, c, request, prefer)
	case errors.Is(err, generate.ErrBusy):
		c.w.Header().Set("Retry-After", retryAfter(busyRetry))
		return nil, errBusy("documents in progress")
	case err != nil:
		return nil, err
	}
	prefer.apply(c.w.Header())
	out := &streamed{Body: sent.Body}
	if made.Stored != nil {
		out.kept = &docgen.StoredResponse{Status: http.StatusOK, FileID: made.Stored.ID}
	}
	return out, a.sendDocument(c, made)
}

// errLate is why a document is not generated while the client waits.
var errLate = errors.New("the time that the client waits is up")

// generateWithin generates a document. After a time other than 0, it fails with errLate.
func (a *api) generateWithin(ctx context.Context, c *call, limit time.Duration, request *docgen.DocumentRequest) (*docgen.Document, error) {
	if limit > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, limit, errLate)
		defer cancel()
		ctx = limited
	}
	return a.generator.Document(ctx, c.caller, *request)
}

// requestDocument accepts a document to generate later, and sends its job.
func (a *api) requestDocument(ctx context.Context, c *call, request *docgen.DocumentRequest, prefer preference) (*streamed, error) {
	accepted, err := a.service.RequestDocument(ctx, c.caller, *request)
	if err != nil {
		return nil, err
	}
	h, place := c.w.Header(), a.baseURL+prefix+"/docgen_jobs/"+ID(accepted.ID).String()
	prefer.apply(h)
	h.Set("Content-Type", jsonType)
	h.Set("Location", place)
	text, err := marshal(jobOf(&accepted))
	if err != nil {
		return nil, err
	}
	c.w.WriteHeader(http.StatusAccepted)
	_, err = c.w.Write(append(text, '\n'))
	return &streamed{Body: sent.Body, kept: &docgen.StoredResponse{
		Status: http.StatusAccepted, Body: text,
		Header: map[string]string{"Location": place, "Preference-Applied": h.Get("Preference-Applied")},
	}}, err
}

// sent is the reply of an operation that has already written its response.
var sent = &streamed{Body: func(huma.Context) {}}

// readDocumentRequest reads the request of a document. It returns an Error with all problems.
func (a *api) readDocumentRequest(c *call) (*docgen.DocumentRequest, error) {
	var fields createDocumentRequest
	text, inline, err := a.readTemplateFields(c, documentParts)
	if err != nil {
		return nil, err
	}
	problems, err := decode(text, &fields, new(docgen.Inputs))
	if err != nil {
		return nil, err
	}
	request := fields.request()
	problems = append(problems, templateFields{fields.File, fields.FileVersion, fields.Template}.set(request, inline)...)
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, request.Problems(a.service.Limits()))...)
	}
	return request, nil
}

// templateFields are the fields of a request that name its template.
type templateFields struct {
	file     *templateFileRef
	version  *fileVersionRef
	template *base64Text
}

// set sets the template of a request, and returns the problems with it. inline is the template of a multipart request; nil if there is
// none.
func (f templateFields) set(request *docgen.DocumentRequest, inline *inlineFile) []docgen.Problem {
	var problems []docgen.Problem
	if inline != nil {
		request.Inline, request.InlineName = inline.content, inline.name
	} else if f.template != nil {
		var err error
		if request.Inline, err = base64.StdEncoding.DecodeString(string(*f.template)); err != nil {
			problems = append(problems, parameterProblem("template", "'template' must be a Word document in Base64"))
		}
	}
	if f.version != nil {
		request.VersionID = int64(f.version.ID)
	}
	if f.file != nil {
		request.TemplateID = int64(f.file.ID)
		if v := f.file.FileVersion; v != nil {
			if f.version != nil && *f.version != *v {
				problems = append(problems, parameterProblem("file_version", twoVersions))
			}
			request.VersionID = int64(v.ID)
		}
	}
	if len(request.Inline) > maxInlineTemplate {
		problems = append(problems, parameterProblem("template", fmt.Sprintf("a template in a request can have at most %d bytes, this one "+
			"has %d: upload it, and send its id as file", maxInlineTemplate, len(request.Inline))))
	}
	return problems
}

// twoVersions is the problem of a request that names two versions of a template.
const twoVersions = "'file_version' and 'file.file_version' name different versions; send one of them"

func (r *createDocumentRequest) request() *docgen.DocumentRequest {
	out := &docgen.DocumentRequest{Name: r.Name, Input: r.Input.Input, OutputType: r.OutputType}
	if r.Destination != nil {
		out.DestinationID = (*int64)(&r.Destination.ID)
	}
	if o := r.Options; o != nil {
		out.Options = docgen.BatchOptions{Locale: o.Locale, TimeZone: o.TimeZone, Missing: o.Missing, Strict: o.Strict, PDF: o.PDF.asked()}
		if o.PNG != nil {
			out.Images.Pages = o.PNG.Pages
			if o.PNG.DPI != nil {
				out.Images.DPI = *o.PNG.DPI
			}
		}
	}
	return out
}
