package server

import (
	"context"
	"errors"
	"maps"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
	"platen/generate"
)

var docCheckTemplate = doc{
	id: "check_template", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Check a template",
	description: "Reports what is wrong with a template and what it needs: its tags, its JSON Schema, and sample data. With user_input, it " +
		"also generates a document with that data, reports what is missing in it, and discards it. With annotated, the response has a " +
		"copy of the template with a Word comment at each problem. A template with mistakes is a result with status 200. Nothing is " +
		"stored. The template is a stored one, or comes with the request, as for a document." + extension,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, codeMediaType, docgen.CodeBodyTooLarge,
		codeTimeout},
	body:    checkRequest{File: &templateFileRef{ID: exampleFile, Type: typeFile}, Input: &userInput{exampleDocumentRequest().Input.Input}},
	example: exampleCheck(),
	also: func(a *api, op *huma.Operation) {
		describeForm(a, op, checkParts, map[string]any{"template": "…", "user_input": exampleDocumentRequest().Input})
	},
}

type checkRequest struct {
	File        *templateFileRef `json:"file,omitempty" doc:"A stored template. Send either file or template."`
	FileVersion *fileVersionRef  `json:"file_version,omitempty" doc:"A version of the stored template (default: its version in use). You can also send it as file.file_version."`
	Template    *base64Text      `json:"template,omitempty" doc:"The template itself: a Word document of up to 32 MiB, in Base64 (in multipart/form-data, the file as it is). Such a template cannot include other files."`
	Input       *userInput       `json:"user_input,omitempty" doc:"Data to check with the template: any object."`
	Options     *sampleOptions   `json:"options,omitempty" doc:"How to generate a document with the data."`
	Annotated   bool             `json:"annotated,omitempty" doc:"Whether to return a copy of the template with a comment at each problem (default false)."`
}

type check struct {
	Type      string              `json:"type" enum:"docgen_check"`
	IsValid   bool                `json:"is_valid" doc:"Whether the template can be used."`
	Failures  failures            `json:"failures" doc:"The mistakes in the template, and warnings about it."`
	Tags      []tag               `json:"tags" doc:"The tags in the order of the document; empty if the template has mistakes."`
	Schema    optional[anyObject] `json:"schema" doc:"JSON Schema (2020-12) of a user_input; null if the template has mistakes."`
	Sample    optional[anyObject] `json:"sample" doc:"A user_input that the template takes; null if the template has mistakes."`
	Data      optional[dataCheck] `json:"data" doc:"The result of generating a document with the user_input; null without one, or if the template has mistakes."`
	Annotated fileContent         `json:"annotated" doc:"A copy of the template with comments, in Base64; null unless requested, or if the file is not a Word document."`
}

type dataCheck struct {
	Status   docgen.Status `json:"status" enum:"completed,completed_with_error,failed" doc:"The status that a job with this data would have."`
	Failures failures      `json:"failures" doc:"What would be missing in the document, or why it would not be generated, and warnings."`
}

func (a *api) checkTemplate(ctx context.Context, c *call, _ *struct{}) (*reply[check], error) {
	request, err := a.readCheckRequest(c)
	if err != nil {
		return nil, err
	}
	found, err := a.generator.Check(ctx, c.caller, *request)
	if errors.Is(err, generate.ErrBusy) {
		c.w.Header().Set("Retry-After", retryAfter(busyRetry))
		err = errBusy("documents in progress")
	}
	if err != nil {
		return nil, err
	}
	if err := c.caller.Room(int64(len(found.Annotated) + len(found.Sample) + len(found.Reading.Schema))); err != nil {
		return nil, err
	}
	return &reply[check]{checkOf(found)}, nil
}

// readCheckRequest reads the request of a check. It returns an Error with all problems.
func (a *api) readCheckRequest(c *call) (*docgen.CheckRequest, error) {
	var fields checkRequest
	text, inline, err := a.readTemplateFields(c, checkParts)
	if err != nil {
		return nil, err
	}
	problems, err := decode(text, &fields, new(docgen.Inputs))
	if err != nil {
		return nil, err
	}
	request := &docgen.CheckRequest{Annotated: fields.Annotated, HasInput: fields.Input != nil}
	request.OutputType, request.Input = docgen.OutputDocx, new(docgen.Inputs).Parse([]byte("{}"))
	if fields.Input != nil {
		request.Input = fields.Input.Input
	}
	request.Options = fields.Options.batch()
	problems = append(problems, templateFields{fields.File, fields.FileVersion, fields.Template}.set(&request.DocumentRequest, inline)...)
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, request.Problems(a.service.Limits()))...)
	}
	return request, nil
}

func checkOf(c *docgen.Check) check {
	out := check{
		Type: "docgen_check", IsValid: c.Reading.Problem == "", Failures: failuresOf(c.Failures.Bounded()),
		Tags: each(c.Reading.Tags, tagOf), Annotated: c.Annotated,
	}
	if c.Reading.Schema != nil {
		out.Schema.value = new(anyObject(c.Reading.Schema))
	}
	if c.Sample != nil {
		out.Sample.value = new(anyObject(c.Sample))
	}
	if d := c.Data; d != nil {
		out.Data.value = &dataCheck{Status: d.Status, Failures: failuresOf(d.Failures.Bounded())}
	}
	return out
}

// describeForm documents the multipart form of a request with a template.
func describeForm(a *api, op *huma.Operation, parts map[string]partKind, example any) {
	request := op.RequestBody.Content[jsonType]
	fields := *a.huma.OpenAPI().Components.Schemas.SchemaFromRef(request.Schema.Ref)
	fields.Properties = maps.Clone(fields.Properties)
	fields.Properties["template"] = &huma.Schema{Type: huma.TypeString, Format: "binary",
		Description: "The template itself: a Word document of up to 32 MiB."}
	encoding := map[string]*huma.Encoding{}
	for name, kind := range parts {
		if kind == partJSON {
			encoding[name] = &huma.Encoding{ContentType: jsonType}
		}
	}
	op.RequestBody.Content["multipart/form-data"] = &huma.MediaType{Schema: &fields, Encoding: encoding, Example: example}
}

func exampleCheck() check {
	c := exampleContract()
	return check{
		Type: "docgen_check", IsValid: true, Failures: failuresOf(docgen.Failures{}), Schema: c.Schema, Sample: c.Sample,
		Tags: []tag{{TagContent: "{{name}}", TagType: "text", JSONPaths: []string{"name"}}},
		Data: optional[dataCheck]{&dataCheck{Status: docgen.StatusCompletedWithError, Failures: failuresOf(docgen.Failures{
			Errors: []string{"The tag 'name' was not provided in the input data."}})}},
	}
}
