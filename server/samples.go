package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

// sample is a sample that is stored with a template.
type sample struct {
	Type         string              `json:"type" enum:"docgen_sample"`
	Name         string              `json:"name"`
	TemplateFile fileRef             `json:"template_file"`
	Input        anyObject           `json:"user_input" doc:"The data for the template."`
	Options      sampleOptions       `json:"options" doc:"The options of the request."`
	Expectations optional[anyObject] `json:"expectations" doc:"What the document must be like; null if it only must have no errors."`
	Golden       optional[fileRef]   `json:"golden" doc:"The Word document that the document must be equal to in structure; null for none."`
	Time         timestamp           `json:"time" doc:"What the document takes for the present; null for the time of the check."`
	SavedAt      timestamp           `json:"saved_at"`
	SavedBy      userMini            `json:"saved_by"`
}

// sampleOptions are those of the options of a batch that matter for a Word document.
type sampleOptions struct {
	Locale   string `json:"locale,omitempty" minLength:"1" doc:"As in a batch (default: that of the template)." example:"de-CH"`
	TimeZone string `json:"time_zone,omitempty" minLength:"1" doc:"As in a batch (default: that of the template)." example:"Europe/Paris"`
	Missing  string `json:"missing,omitempty" enum:"tag,blank,error" doc:"As in a batch (default: that of the template)."`
	Strict   bool   `json:"strict,omitempty" doc:"As in a batch (default false)."`
}

// batch returns the options of a request; nil means the defaults.
func (o *sampleOptions) batch() docgen.BatchOptions {
	if o == nil {
		return docgen.BatchOptions{}
	}
	return docgen.BatchOptions{Locale: o.Locale, TimeZone: o.TimeZone, Missing: o.Missing, Strict: o.Strict}
}

func sampleOf(fileID int64, s *docgen.Sample) sample {
	out := sample{
		Type: typeSample, Name: s.Name, TemplateFile: fileRef{ID: ID(fileID), Type: typeFile}, Input: anyObject(s.Input),
		Options: sampleOptions{Locale: s.Options.Locale, TimeZone: s.Options.TimeZone, Missing: s.Options.Missing, Strict: s.Options.Strict},
		SavedAt: timestamp{s.SavedAt}, SavedBy: userMiniOf(&s.SavedBy),
	}
	if s.Time != nil {
		out.Time = timestamp{*s.Time}
	}
	if s.Expectations != nil {
		out.Expectations.value = new(anyObject(s.Expectations))
	}
	if s.GoldenID != 0 {
		out.Golden.value = &fileRef{ID: ID(s.GoldenID), Type: typeFile}
	}
	return out
}

// SamplePath identifies a sample of a template.
type SamplePath struct {
	TemplatePath
	Name string `path:"sample_name" doc:"The name of the sample: a file name without extension, up to 100 characters." example:"paid"`
}

type saveSampleRequest struct {
	Input        userInput      `json:"user_input" doc:"The data for the template: any object."`
	Options      *sampleOptions `json:"options,omitempty" doc:"How to generate the document."`
	Expectations *userInput     `json:"expectations,omitempty" doc:"What the document must be like, in these fields, all of which are optional. contains, lacks: texts that must, or must not, appear within one paragraph or one row of a table. pages: the number of pages of the PDF, or an object with min and max. errors, warnings: parts of the messages that must be reported. fails: a part of the message with which the generation must fail with this data; a template that cannot be read, or has mistakes, fails the sample anyway. Without expectations, the document must have no errors."`
	Golden       *fileRef       `json:"golden,omitempty" doc:"A Word document that the document must be equal to in structure: text, formatting, tables, pictures, and charts. Each check reads its current version. You must be allowed to download it, and the token needs the scope root_readonly."`
	Time         *timestamp     `json:"time,omitempty" doc:"What the document takes for the present, such as 2026-01-31T12:00:00Z (default: the time of the check)."`
}

const aboutSamples = " A template can have 100 samples of up to 1 MiB each, together 8 MiB. All templates of an owner can have 64 MiB of " +
	"samples, including templates in the trash; templates in archives have no such limit." + extension

var docSaveSample = doc{
	id: "save_template_sample", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Save a sample of a template",
	description: "Stores data with a template, and what the document must be like. It replaces a sample with the same name. The current " +
		"version of the file is checked with the sample soon after, and each new version with all samples. Results of earlier versions " +
		"with the replaced sample are deleted. The results are in the list of samples." + aboutSamples,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, docgen.CodeStorageFull,
		codeMediaType, docgen.CodeBodyTooLarge},
	body:    exampleSaveSample(),
	example: exampleSample(),
}

func (a *api) saveSample(ctx context.Context, c *call, in *SamplePath) (*reply[sample], error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	text, err := c.readText(maxSampleBody)
	if err != nil {
		return nil, err
	}
	var request saveSampleRequest
	problems, err := decode(text, &request, new(docgen.Inputs))
	if err == nil {
		err = docgen.Invalid(problems...)
	}
	if err != nil {
		return nil, err
	}
	saved, err := a.service.SaveSample(ctx, c.caller, id, request.sample(in.Name))
	if err != nil {
		return nil, err
	}
	return &reply[sample]{sampleOf(id, &saved)}, nil
}

// maxSampleBody is the largest size in bytes of a request with a sample.
const maxSampleBody = 2 << 20

func (r *saveSampleRequest) sample(name string) docgen.NewSample {
	n := docgen.NewSample{Name: name, Input: r.Input.Input}
	if r.Time != nil {
		n.Time = &r.Time.Time
	}
	n.Options = r.Options.batch()
	if r.Expectations != nil {
		n.Expectations = r.Expectations.Text()
	}
	if r.Golden != nil {
		n.GoldenID = int64(r.Golden.ID)
	}
	return n
}

var docGetSample = doc{
	id: "get_template_sample", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary:     "Get a sample of a template",
	description: "The data of a sample, and what its document must be like." + extension,
	errors:      []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
	example:     exampleSample(),
}

func (a *api) getSample(ctx context.Context, c *call, in *SamplePath) (*reply[sample], error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.Sample(ctx, c.caller, id, in.Name)
	if err != nil {
		return nil, err
	}
	return &reply[sample]{sampleOf(id, &found)}, nil
}

var docDeleteSample = doc{
	id: "delete_template_sample", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary:     "Delete a sample of a template",
	description: "Deletes a sample with its results. The last sample cannot be deleted while the template requires samples." + extension,
	status:      http.StatusNoContent,
	errors:      []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden, docgen.CodeConflict},
}

func (a *api) deleteSample(ctx context.Context, c *call, in *SamplePath) (*empty, error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.service.DeleteSample(ctx, c.caller, id, in.Name)
}

// sampleReport is the result of checking a version of a template with its samples.
type sampleReport struct {
	TemplateFile        fileRef        `json:"template_file"`
	TemplateFileVersion fileVersionRef `json:"template_file_version" doc:"The version that was checked."`
	Status              string         `json:"status" enum:"none,processing,passed,failed" doc:"none: the version was not checked with all samples. processing: some checks are not done yet. passed: all samples passed. failed: at least one did not."`
	Entries             []sampleResult `json:"entries" doc:"All samples of the template, ordered by name."`
}

type sampleResult struct {
	Name        string             `json:"name"`
	Status      string             `json:"status" enum:"none,processing,passed,failed"`
	CheckedAt   timestamp          `json:"checked_at" doc:"When it passed or failed; null before."`
	Hidden      bool               `json:"is_hidden" doc:"Whether the other fields are left out, because the token lacks the scope root_readonly, because the caller may not download the golden document and all files that the template includes, or because one of them has changed since the check."`
	Differences []sampleDifference `json:"differences" doc:"How the document differs from what is expected, up to 50 differences."`
	Omitted     int                `json:"omitted_differences" doc:"The number of further differences."`
	Warnings    []string           `json:"warnings" doc:"Warnings about the document, up to 20."`
	Pages       *int               `json:"pages" doc:"The number of pages of the PDF; null if they were not counted, because the sample does not expect a number."`
}

type sampleDifference struct {
	Kind    string  `json:"kind" doc:"The kind of the difference, such as missing_text."`
	Part    *string `json:"part" doc:"The part of the file; null if the difference has no place."`
	Heading *string `json:"heading" doc:"The nearest heading before it."`
	Place   *string `json:"place" doc:"The place, such as table 2, row 3, cell 1."`
	Message string  `json:"message"`
	Want    *string `json:"want" doc:"What is expected."`
	Got     *string `json:"got" doc:"What is in the document."`
}

func differenceOf(d *docgen.SampleDifference) sampleDifference {
	return sampleDifference{Kind: string(d.Kind), Part: orNull(d.Part), Heading: orNull(d.Heading), Place: orNull(d.Place), Message: d.Message,
		Want: orNull(d.Want), Got: orNull(d.Got)}
}

func sampleReportOf(r *docgen.SampleReport) sampleReport {
	return sampleReport{
		TemplateFile:        fileRef{ID: ID(r.TemplateID), Type: typeFile},
		TemplateFileVersion: fileVersionRef{ID: ID(r.VersionID), Type: typeFileVersion},
		Status:              r.State,
		Entries: each(r.Results, func(s *docgen.SampleResult) sampleResult {
			out := sampleResult{Name: s.Name, Status: s.State, CheckedAt: timestamp{s.EndedAt}, Hidden: s.Hidden,
				Differences: each(s.Differences, differenceOf),
				Omitted:     s.Omitted, Warnings: append([]string{}, s.Warnings...)}
			if s.Pages > 0 {
				out.Pages = &s.Pages
			}
			return out
		}),
	}
}

// SamplesQuery holds the parameters of a list of samples.
type SamplesQuery struct {
	TemplatePath
	VersionID string `query:"template_version_id" doc:"The id of a version of the template (default: the current version of the file)." example:"87654321"`
}

var docListSamples = doc{
	id: "list_template_samples", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "List the samples of a template",
	description: "All samples of a template, with the results of checking a version with them. Results are kept for the last 20 " +
		"versions." + extension,
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
	example: exampleSampleReport(),
}

func (a *api) listSamples(ctx context.Context, c *call, in *SamplesQuery) (*reply[sampleReport], error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	version, err := versionParam("template_version_id", in.VersionID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.SampleReport(ctx, c.caller, id, version)
	if err != nil {
		return nil, err
	}
	return &reply[sampleReport]{sampleReportOf(&found)}, nil
}

var docCheckSamples = doc{
	id: "check_template_samples", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Check a template with its samples",
	description: "Checks the current version of the file, or another one, with all samples of the template. New versions are checked " +
		"automatically, but not after a golden document or a file that the template includes has changed. The results appear in the list " +
		"of samples." + extension,
	status: http.StatusAccepted,
	errors: []docgen.Code{docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden, docgen.CodeConflict, docgen.CodeStorageFull,
		codeMediaType, docgen.CodeBodyTooLarge},
	body:    checkSamplesRequest{},
	example: sampleReportProcessing(),
	also:    bodyMayBeEmpty,
}

type checkSamplesRequest struct {
	FileVersion *fileVersionRef `json:"file_version,omitempty" doc:"The version to check (default: the current version of the file)."`
}

func (a *api) checkSamples(ctx context.Context, c *call, in *TemplatePath) (*reply[sampleReport], error) {
	id, err := pathID("template", in.TemplateID)
	if err != nil {
		return nil, err
	}
	request, err := readOptionalBody[checkSamplesRequest](c)
	if err != nil {
		return nil, err
	}
	var version int64
	if request.FileVersion != nil {
		version = int64(request.FileVersion.ID)
	}
	report, err := a.service.CheckTemplate(ctx, c.caller, id, version)
	if err != nil {
		return nil, err
	}
	return &reply[sampleReport]{sampleReportOf(&report)}, nil
}

func exampleSaveSample() saveSampleRequest {
	inputs := new(docgen.Inputs)
	return saveSampleRequest{
		Input:        userInput{inputs.Parse([]byte(`{"customer":{"name":"Example Ltd"},"paid":true}`))},
		Expectations: &userInput{inputs.Parse([]byte(`{"contains":["Example Ltd","Paid"],"lacks":["Please pay"],"pages":1}`))},
	}
}

func exampleSample() sample {
	request := exampleSaveSample()
	return sample{
		Type: typeSample, Name: "paid", TemplateFile: fileRef{ID: exampleFile, Type: typeFile}, Input: anyObject(request.Input.Text()),
		Expectations: optional[anyObject]{new(anyObject(request.Expectations.Text()))}, SavedAt: timestamp{exampleTime}, SavedBy: exampleAuthor,
	}
}

func exampleSampleReport() sampleReport {
	report := sampleReportProcessing()
	report.Status = docgen.SamplesFailed
	report.Entries[0].Status, report.Entries[0].CheckedAt = docgen.SamplesFailed, timestamp{exampleTime}
	report.Entries[0].Differences = []sampleDifference{{
		Kind: "missing_text", Part: orNull("/word/document.xml"), Place: orNull("the document"),
		Message: "This text is not in any paragraph or table row. The paragraph that resembles it most is shown.",
		Want:    orNull("Paid"), Got: orNull("Paid on 31 January"),
	}}
	return report
}

func sampleReportProcessing() sampleReport {
	return sampleReport{
		TemplateFile: fileRef{ID: exampleFile, Type: typeFile}, TemplateFileVersion: fileVersionRef{ID: exampleVersion, Type: typeFileVersion},
		Status:  docgen.SamplesProcessing,
		Entries: []sampleResult{{Name: "paid", Status: docgen.SamplesProcessing, Differences: []sampleDifference{}, Warnings: []string{}}},
	}
}
