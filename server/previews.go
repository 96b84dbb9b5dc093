package server

import (
	"context"
	"errors"
	"math"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
	"platen/generate"
)

var docCreatePreview = doc{
	id: "create_preview", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Preview a document",
	description: "Generates the PDF of a document, with the position of the value of each tag on its pages, so that a client can highlight " +
		"the value of a tag, and find the tag of a value. The template is a stored one, or comes with the request, as for a document. " +
		"Nothing is stored. Values in fields, links, charts, and content controls have no position, and neither have empty ones." + extension,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeDocumentFailed, codeMediaType,
		docgen.CodeBodyTooLarge, codeTimeout},
	body:    previewRequest{File: &templateFileRef{ID: exampleFile, Type: typeFile}, Input: exampleDocumentRequest().Input},
	example: examplePreview(),
	also: func(a *api, op *huma.Operation) {
		describeForm(a, op, previewParts, map[string]any{"template": "…", "user_input": exampleDocumentRequest().Input})
	},
}

// previewParts are the parts of a multipart request for a preview: the fields of previewRequest.
var previewParts = map[string]partKind{
	"file": partJSON, "file_version": partJSON, "template": partFile, "user_input": partJSON, "options": partJSON,
}

type previewRequest struct {
	File        *templateFileRef `json:"file,omitempty" doc:"A stored template. Send either file or template."`
	FileVersion *fileVersionRef  `json:"file_version,omitempty" doc:"A version of the stored template (default: its version in use). You can also send it as file.file_version."`
	Template    *base64Text      `json:"template,omitempty" doc:"The template itself: a Word document of up to 32 MiB, in Base64 (in multipart/form-data, the file as it is). Such a template cannot include other files."`
	Input       userInput        `json:"user_input" doc:"The data for the document: any object."`
	Options     *sampleOptions   `json:"options,omitempty" doc:"How to generate the document."`
}

type preview struct {
	Type     string             `json:"type" enum:"docgen_preview"`
	Status   docgen.Status      `json:"status" enum:"completed,completed_with_error" doc:"completed_with_error: something is missing in the document."`
	Content  fileContent        `json:"content" doc:"The PDF in Base64."`
	Pages    []pageSize         `json:"pages"`
	Values   []previewValue     `json:"values" doc:"The values of tags in the order of the document, one for each time that a tag printed one, up to 5000."`
	Omitted  int                `json:"omitted_values" doc:"The number of further values."`
	Failures optional[failures] `json:"failures" doc:"What is missing in the document, and warnings; null if there are none."`
	Fonts    *fontReport        `json:"fonts,omitempty" doc:"The fonts of the PDF."`
}

type pageSize struct {
	Width  float64 `json:"width" doc:"Points."`
	Height float64 `json:"height" doc:"Points."`
}

type previewValue struct {
	Tag      string        `json:"tag" doc:"The tag, as written in the template."`
	Path     *string       `json:"path" doc:"The path of the data that the tag reads; null if it does not read one."`
	DataPath *string       `json:"data_path" doc:"The path of the value in the data, such as items[57].qty; null if it is not a single value of the data."`
	Part     string        `json:"part" doc:"The part of the file with the tag, such as /word/document.xml."`
	Place    string        `json:"place" doc:"The location of the tag in the part, such as: table 2, row 3, cell 1."`
	Areas    []previewArea `json:"areas" doc:"The rectangles of the value, one for each line; empty if it has no position."`
}

type previewArea struct {
	Page   int     `json:"page"`
	X      float64 `json:"x" doc:"Points from the left edge of the page."`
	Y      float64 `json:"y" doc:"Points from the top edge of the page."`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

func (a *api) createPreview(ctx context.Context, c *call, _ *struct{}) (*reply[preview], error) {
	request, err := a.readPreviewRequest(c)
	if err != nil {
		return nil, err
	}
	made, err := a.generator.Preview(ctx, c.caller, *request)
	if errors.Is(err, generate.ErrBusy) {
		c.w.Header().Set("Retry-After", retryAfter(busyRetry))
		err = errBusy("documents in progress")
	}
	if err != nil {
		return nil, err
	}
	if err := c.caller.Room(int64(len(made.Content))); err != nil {
		return nil, err
	}
	return &reply[preview]{previewOf(made)}, nil
}

// readPreviewRequest reads the request of a preview. It returns an Error with all problems.
func (a *api) readPreviewRequest(c *call) (*docgen.DocumentRequest, error) {
	var fields previewRequest
	text, inline, err := a.readTemplateFields(c, previewParts)
	if err != nil {
		return nil, err
	}
	problems, err := decode(text, &fields, new(docgen.Inputs))
	if err != nil {
		return nil, err
	}
	request := &docgen.DocumentRequest{OutputType: docgen.OutputPDF, Input: fields.Input.Input, Options: fields.Options.batch()}
	problems = append(problems, templateFields{fields.File, fields.FileVersion, fields.Template}.set(request, inline)...)
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, request.Problems(a.service.Limits()))...)
	}
	return request, nil
}

func previewOf(p *docgen.Preview) preview {
	out := preview{
		Type: "docgen_preview", Status: p.Status(), Content: p.Content, Omitted: p.Omitted, Fonts: fontReportOf(p.Failures.Fonts),
		Pages: each(p.PageSizes, func(s *docgen.PageSize) pageSize { return pageSize{points(s.Width), points(s.Height)} }),
		Values: each(p.Values, func(v *docgen.PreviewValue) previewValue {
			return previewValue{
				Tag: v.Tag.Tag, Path: orNull(v.Tag.Path), DataPath: orNull(v.DataPath), Part: v.Tag.Part, Place: v.Tag.Place,
				Areas: each(v.Areas, func(a *docgen.PreviewArea) previewArea {
					return previewArea{Page: a.Page, X: points(a.X), Y: points(a.Y), Width: points(a.Width), Height: points(a.Height)}
				}),
			}
		}),
	}
	if p.Failures.Any() {
		out.Failures.value = new(failuresOf(p.Failures.Bounded()))
	}
	return out
}

// points rounds a length to hundredths of a point.
func points(length float64) float64 { return math.Round(length*100) / 100 }

func examplePreview() preview {
	return preview{
		Type: "docgen_preview", Status: docgen.StatusCompleted, Content: []byte("%PDF-1.6 ..."), Pages: []pageSize{{595.3, 841.9}},
		Values: []previewValue{{
			Tag: "{{customer.name}}", Path: new("customer.name"), DataPath: new("customer.name"), Part: "/word/document.xml",
			Place: "the document", Areas: []previewArea{{Page: 1, X: 70.9, Y: 99.2, Width: 61.5, Height: 13.8}},
		}},
	}
}
