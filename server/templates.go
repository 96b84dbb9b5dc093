package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

var docMarkTemplate = doc{
	id: "mark_template", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Mark a file as a template",
	description: "Makes the file a Doc Gen template: it is listed, its tags are read, and batches can use it. Marking a template again " +
		"has no effect. A file that is not a Word document is rejected, unless the operator runs the server with `--compat box`.",
	status:  http.StatusCreated,
	errors:  []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, codeMediaType, docgen.CodeBodyTooLarge},
	body:    markTemplateRequest{File: fileRef{ID: exampleFile, Type: typeFile}},
	example: templateBase{File: fileRef{ID: exampleFile, Type: typeFile}},
}

type markTemplateRequest struct {
	File fileRef `json:"file" doc:"The file to mark."`
}

type templateBase struct {
	File fileRef `json:"file"`
}

type templateEntry struct {
	File     fileRef `json:"file"`
	FileName string  `json:"file_name" doc:"The name of the file."`
	State    string  `json:"state" enum:"processing,ready,failed" doc:"Whether the version that batches use has been read. failed: batches cannot use it. A Platen extension."`
	Problem  *string `json:"problem" doc:"Why batches cannot use that version, at most 1000 characters; null if no error is known. A Platen extension."`

	Defaults templateDefaults `json:"defaults" doc:"Default options of batches that use this template. A Platen extension."`

	SamplesRequired bool           `json:"samples_required" doc:"Whether a version must pass the samples of the template before batches use it. A Platen extension."`
	VersionInUse    fileVersionRef `json:"version_in_use" doc:"The version that batches use that do not name one: the current version of the file or, if samples are required, the newest version that passed them. A Platen extension."`
	CurrentVersion  fileVersionRef `json:"current_version" doc:"The current version of the file. It differs from version_in_use if it has not passed the samples that the template requires. A Platen extension."`
	Check           templateCheck  `json:"check" doc:"What is wrong with the version that batches use, in numbers. A Platen extension."`
}

// templateCheck has the numbers of findings.
type templateCheck struct {
	Mistakes *int64 `json:"mistakes" doc:"Mistakes because of which batches cannot use the version; null if unknown: while it is read, if an earlier release read it, or if the caller may not download all files that it includes. The contract lists them."`
	Warnings *int64 `json:"warnings" doc:"Warnings about the version; null if unknown."`
	Samples  struct {
		Total      int64 `json:"total" doc:"Samples of the template."`
		Passed     int64 `json:"passed" doc:"Samples that the version passed."`
		Failed     int64 `json:"failed"`
		Processing int64 `json:"processing" doc:"Samples with which the version is being checked."`
	} `json:"samples"`
}

func templateCheckOf(c docgen.TemplateCheck) templateCheck {
	var check templateCheck
	if c.Mistakes >= 0 {
		check.Mistakes = &c.Mistakes
	}
	if c.Warnings >= 0 {
		check.Warnings = &c.Warnings
	}
	check.Samples.Total, check.Samples.Passed, check.Samples.Failed, check.Samples.Processing = c.Samples, c.Passed, c.Failed, c.Processing
	return check
}

// templateDefaults are null if the server's defaults apply.
type templateDefaults struct {
	Missing  *string `json:"missing" doc:"Default of options.missing: tag, blank, or error; null for the server's default."`
	Locale   *string `json:"locale" doc:"Default of options.locale; null for the server's default."`
	TimeZone *string `json:"time_zone" doc:"Default of options.time_zone; null for the server's default."`
}

func templateOf(t *docgen.Template) templateEntry {
	d := t.Defaults
	return templateEntry{File: fileRef{ID: ID(t.FileID), Type: typeFile}, FileName: t.FileName, State: t.State, Problem: orNull(t.Problem),
		Defaults:        templateDefaults{Missing: orNull(d.Missing), Locale: orNull(d.Locale), TimeZone: orNull(d.TimeZone)},
		SamplesRequired: t.SamplesRequired, VersionInUse: fileVersionRef{ID: ID(t.VersionID), Type: typeFileVersion},
		CurrentVersion: fileVersionRef{ID: ID(t.CurrentID), Type: typeFileVersion}, Check: templateCheckOf(t.Check)}
}

func (a *api) markTemplate(ctx context.Context, c *call, _ *struct{}) (*reply[templateBase], error) {
	request, err := readBody[markTemplateRequest](c)
	if err != nil {
		return nil, err
	}
	marked, err := a.service.MarkTemplate(ctx, c.caller, int64(request.File.ID))
	if err != nil {
		return nil, err
	}
	return &reply[templateBase]{templateBase{File: templateOf(&marked).File}}, nil
}

var docListTemplates = doc{
	id: "list_templates", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary:     "List templates",
	description: "The templates that the caller can see, in ascending order of id, without templates in the trash.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit},
	example: markerPage[templateEntry]{Limit: docgen.DefaultPageLimit, Entries: []templateEntry{
		exampleTemplate(),
	}},
}

func (a *api) listTemplates(ctx context.Context, c *call, in *PageQuery) (*reply[markerPage[templateEntry]], error) {
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Templates(ctx, c.caller, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, templateOf), nil
}

var docGetTemplate = doc{
	id: "get_template", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Get a template",
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
	example: exampleTemplate(),
}

func (a *api) getTemplate(ctx context.Context, c *call, in *TemplatePath) (*reply[templateEntry], error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.Template(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[templateEntry]{templateOf(&found)}, nil
}

var docUpdateTemplate = doc{
	id: "update_template", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Change a template",
	description: "Sets the options missing, locale, and time_zone for batches of this template that do not specify them, and whether a " +
		"version must pass the samples of the template before batches use it. Fields that you omit do not change; null resets a default " +
		"to that of the server. Existing batches keep their options and their version. Samples can be required only if the current " +
		"version of the file has passed them. A Platen extension.",
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType,
		docgen.CodeBodyTooLarge},
	body:    updateTemplateRequest{},
	example: exampleTemplate(),
}

type updateTemplateRequest struct {
	Defaults        *changedDefaults `json:"defaults,omitempty" doc:"Default options of batches that use this template."`
	SamplesRequired *bool            `json:"samples_required,omitempty" doc:"Whether a version must pass the samples of the template before batches use it."`
}

type changedDefaults struct {
	Missing  change[string] `json:"missing,omitzero" minLength:"1" doc:"Default of options.missing: tag, blank, or error; null for the server's default."`
	Locale   change[string] `json:"locale,omitzero" minLength:"1" doc:"Default of options.locale; null for the server's default."`
	TimeZone change[string] `json:"time_zone,omitzero" minLength:"1" doc:"Default of options.time_zone; null for the server's default."`
}

// textOf converts a change of a string for docgen: nil if it is omitted, and an empty string for null.
func textOf(c change[string]) *string {
	if c.Given && c.Value == nil {
		return new("")
	}
	return c.Value
}

func (a *api) updateTemplate(ctx context.Context, c *call, in *TemplatePath) (*reply[templateEntry], error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	request, err := readBody[updateTemplateRequest](c)
	if err != nil {
		return nil, err
	}
	if request.Defaults == nil && request.SamplesRequired == nil {
		return nil, docgen.Invalid(docgen.Problem{Reason: docgen.ReasonMissing, Name: "defaults",
			Message: "the request changes nothing; send 'defaults' or 'samples_required'"})
	}
	change := docgen.TemplateChange{SamplesRequired: request.SamplesRequired}
	if d := request.Defaults; d != nil {
		change.Missing, change.Locale, change.TimeZone = textOf(d.Missing), textOf(d.Locale), textOf(d.TimeZone)
	}
	changed, err := a.service.UpdateTemplate(ctx, c.caller, id, change)
	if err != nil {
		return nil, err
	}
	return &reply[templateEntry]{templateOf(&changed)}, nil
}

// exampleTemplate is a template with a default.
func exampleTemplate() templateEntry {
	return templateEntry{
		File: fileRef{ID: exampleFile, Type: typeFile}, FileName: "Invoice.docx", State: docgen.TemplateReady,
		Defaults: templateDefaults{Locale: new("de-CH")}, VersionInUse: fileVersionRef{ID: exampleVersion, Type: typeFileVersion},
		CurrentVersion: fileVersionRef{ID: exampleVersion, Type: typeFileVersion},
		Check:          templateCheckOf(docgen.TemplateCheck{Samples: 6, Passed: 6}),
	}
}

var docUnmarkTemplate = doc{
	id: "unmark_template", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary:     "Unmark a template",
	description: "The file remains, but is no longer a template, and its samples are deleted. Batches in progress continue.",
	status:      http.StatusNoContent,
	errors:      []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
}

func (a *api) unmarkTemplate(ctx context.Context, c *call, in *TemplatePath) (*empty, error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.UnmarkTemplate(ctx, c.caller, id)
}

var docListTags = doc{
	id: "list_tags", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "List the tags of a template",
	description: "The tags, in the order of the document. While the server reads the tags, the response is 202 with Retry-After: right " +
		"after a file was marked or got a new version, and after a file that it includes has changed. If the caller may not download " +
		"all files that the template includes, the list is empty.",
	errors: []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
	example: tagPage{Limit: docgen.DefaultPageLimit, Entries: []tag{
		{TagContent: "{{ customer.name }}", TagType: "text", JSONPaths: []string{"customer", "customer.name"}},
	}},
	also: func(a *api, op *huma.Operation) {
		op.Responses["200"].Content[jsonType].Schema = a.schemaOf(tagPage{})
		op.Responses["202"] = a.jsonResponse("The server is still reading the tags. Retry.", processing{Message: tagsProcessing})
		op.Responses["202"].Headers = map[string]*huma.Param{"Retry-After": {
			Description: "Seconds to wait before you retry.", Schema: &huma.Schema{Type: huma.TypeInteger},
		}}
	},
}

type tag struct {
	TagContent string   `json:"tag_content" doc:"The tag, as written in the template."`
	TagType    string   `json:"tag_type" enum:"text,arithmetic,conditional,for-loop,table-loop,image" doc:"What the tag does."`
	JSONPaths  []string `json:"json_paths" doc:"The paths of the input data that the tag reads."`
}

func tagOf(t *docgen.Tag) tag {
	return tag{TagContent: t.Content, TagType: t.Type, JSONPaths: append([]string{}, t.JSONPaths...)}
}

// tagPage is a page of tags, by marker.
type tagPage struct {
	Entries    []tag   `json:"entries" doc:"The entries of this page, or an empty list."`
	Limit      int     `json:"limit" doc:"The limit that was applied, at most the maximum."`
	NextMarker *string `json:"next_marker" doc:"The marker of the next page; null on the last page."`
	PrevMarker *string `json:"prev_marker" doc:"The marker of the previous page; null on the first page."`
	Problem    *string `json:"problem" doc:"Why batches cannot use the version, at most 1000 characters; null if they can. Such a version has no tags, and its contract shows the whole problem. A Platen extension."`
}

func tagPageOf(p *docgen.TagPage) *tagPage {
	page := pageOf(p.Page, tagOf).Body
	return &tagPage{Entries: page.Entries, Limit: page.Limit, NextMarker: page.NextMarker, PrevMarker: page.PrevMarker,
		Problem: orNull(p.Problem)}
}

type processing struct {
	Message string `json:"message"`
}

const (
	tagsProcessing = "Processing tags for this file."
	tagsRetryAfter = "1" // seconds: about the time to read the tags of a large template
)

// TagsQuery holds the parameters of a list of tags.
type TagsQuery struct {
	TemplatePath
	PageQuery
	VersionID string `query:"template_version_id" doc:"The id of a version of the template (default: the version in use)." example:"87654321"`
}

// A tagsReply holds tags, or says that the server is still reading them.
type tagsReply struct {
	Status     int
	RetryAfter string `header:"Retry-After" hidden:"true"`
	Body       either[tagPage, processing]
}

func (a *api) listTags(ctx context.Context, c *call, in *TagsQuery) (*tagsReply, error) {
	request, err := in.PageQuery.parse()
	if err != nil {
		return nil, err
	}
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	version, err := versionParam("template_version_id", in.VersionID)
	if err != nil {
		return nil, err
	}
	page, ready, err := a.service.Tags(ctx, c.caller, id, version, request)
	if err != nil {
		return nil, err
	}
	if !ready {
		answer := &tagsReply{Status: http.StatusAccepted, RetryAfter: tagsRetryAfter}
		answer.Body.second = &processing{Message: tagsProcessing}
		return answer, nil
	}
	answer := &tagsReply{Status: http.StatusOK}
	answer.Body.first = tagPageOf(&page)
	return answer, nil
}
