package server

import (
	"context"
	"strings"

	"platen/docgen"
)

type job struct {
	ID                  ID                       `json:"id"`
	Type                string                   `json:"type" enum:"docgen_job"`
	Batch               batchRef                 `json:"batch" doc:"The batch of the job."`
	TemplateFile        fileRef                  `json:"template_file"`
	TemplateFileVersion fileVersionRef           `json:"template_file_version" doc:"The version in use when the batch was created, or the version that the request specified."`
	Status              docgen.Status            `json:"status" enum:"pending,submitted,completed,completed_with_error,failed" doc:"pending, then submitted, then one of the other three, which are final."`
	OutputType          string                   `json:"output_type" enum:"docx,pdf"`
	OutputFile          optional[fileRef]        `json:"output_file" doc:"The document; null until the job has completed."`
	OutputFileVersion   optional[fileVersionRef] `json:"output_file_version"`
	Failures            optional[failures]       `json:"failures" doc:"What went wrong or was missing; null if nothing was. Lists show only the first message; get the job to see all of them."`
	WaitingFor          *docgen.Shortage         `json:"waiting_for,omitempty" enum:"disk_space,database" doc:"The resource that the server lacks at the moment. The job waits until it is available, is retried at least once a minute, and does not fail because of it. disk_space: the disk is full. database: the database is busy or cannot be reached. Omitted otherwise. A Platen extension."`
	Fonts               *fontReport              `json:"fonts,omitempty" doc:"The fonts of a PDF; omitted for Word documents and in lists. A Platen extension."`
	CreatedAt           timestamp                `json:"created_at"`
	CreatedBy           userRef                  `json:"created_by"`
	Enterprise          enterpriseRef            `json:"enterprise"`
	Source              string                   `json:"source" enum:"api"`
}

type failures struct {
	Code     docgen.FailureCode `json:"code,omitempty" enum:"failed,canceled,incomplete,warnings" doc:"failed: there is no document. canceled: there is none, because the batch was canceled. incomplete: something is missing in it. warnings: it is complete. Only for jobs. A Platen extension."`
	Errors   []string           `json:"errors" doc:"What the document lacks, or why there is none: the first of at most 100 errors and warnings."`
	Warnings []string           `json:"warnings" doc:"Possible problems. The document is complete despite them."`
	Details  []detail           `json:"details" doc:"The errors and warnings that concern a tag, each with its location in the template; at most 100. Empty in lists."`
	Count    int                `json:"count" doc:"The total number of errors and warnings, including omitted ones. A Platen extension."`
	Omitted  int                `json:"omitted" doc:"The number of errors and warnings that are not shown here. Except in a list of jobs, a list that is cut ends with a line that says so. A Platen extension."`
}

func failuresOf(f docgen.Failures) failures {
	errors, warnings := f.Lines()
	return failures{
		Errors: append([]string{}, errors...), Warnings: append([]string{}, warnings...), Details: each(f.Details, detailOf),
		Count: f.Count(), Omitted: f.OmittedErrors + f.OmittedWarnings,
	}
}

// summarized encodes the failures of a job in a list.
func summarized(s *docgen.FailureSummary) failures {
	f := failures{Code: s.Code, Errors: []string{}, Warnings: []string{}, Details: []detail{}, Count: s.Count, Omitted: max(s.Count-1, 0)}
	if s.Code == docgen.FailureWarnings {
		f.Warnings = append(f.Warnings, s.Message)
	} else {
		f.Errors = append(f.Errors, s.Message)
	}
	return f
}

// detail is a problem with everything a person needs to find its location.
type detail struct {
	Severity   string  `json:"severity" enum:"error,warning"`
	Message    string  `json:"message"`
	Part       string  `json:"part" doc:"The part of the file, such as /word/document.xml."`
	File       *string `json:"file" doc:"The included file that contains the location; null for the template itself."`
	Heading    string  `json:"heading" doc:"The nearest heading above the location; empty if there is none."`
	Place      string  `json:"place" doc:"The location in the part, such as: table 2, row 3, cell 1."`
	Text       string  `json:"text" doc:"The text around the location."`
	Column     int     `json:"column" doc:"The offset of the location in text, in characters, starting with 0."`
	Tag        string  `json:"tag" doc:"The tag, as written in the template."`
	Path       *string `json:"path" doc:"The path of the data that the tag reads; null if the problem does not concern one."`
	DataPath   *string `json:"data_path" doc:"The path of the value in the data, such as order.items[57].qty; null if it is not a single value."`
	DidYouMean *string `json:"did_you_mean" doc:"The most similar path in the data; null if none is similar."`
	Hint       string  `json:"hint" doc:"What to do; may be empty."`
}

func detailOf(d **docgen.Detail) detail {
	e := *d
	severity := "error"
	if e.Warning {
		severity = "warning"
	}
	return detail{
		Severity: severity, Message: e.Message, Part: e.Part, File: orNull(e.File), Heading: e.Heading, Place: e.Place, Text: e.Text,
		Column: e.Column,
		Tag:    e.Tag, Path: orNull(e.Path), DataPath: orNull(e.Datum), DidYouMean: orNull(e.Nearest), Hint: e.Hint,
	}
}

func jobOf(j *docgen.Job) job {
	out := job{
		ID: ID(j.ID), Type: typeJob,
		Batch:               batchRef{ID: j.BatchID, Type: typeBatch},
		TemplateFile:        fileRef{ID: ID(j.TemplateID), Type: typeFile},
		TemplateFileVersion: fileVersionRef{ID: ID(j.TemplateVersionID), Type: typeFileVersion},
		Status:              j.Status,
		OutputType:          j.OutputType,
		CreatedAt:           timestamp{j.CreatedAt},
		CreatedBy:           userRef{ID: ID(j.CreatedBy), Type: typeUser},
		Enterprise:          enterpriseRef{ID: ID(j.EnterpriseID), Type: typeEnterprise},
		Source:              j.Source,
	}
	if j.OutputFileID != 0 {
		out.OutputFile.value = &fileRef{ID: ID(j.OutputFileID), Type: typeFile}
		out.OutputFileVersion.value = &fileVersionRef{ID: ID(j.OutputVersionID), Type: typeFileVersion}
	}
	out.WaitingFor = waitingForOf(j.WaitingFor)
	switch {
	case j.Failures.Any():
		f := failuresOf(j.Failures)
		f.Code = j.Summary.Code
		out.Failures.value = &f
	case j.Summary != nil:
		f := summarized(j.Summary)
		out.Failures.value = &f
	}
	out.Fonts = fontReportOf(j.Failures.Fonts)
	return out
}

func waitingForOf(s docgen.Shortage) *docgen.Shortage {
	if s == docgen.NoShortage {
		return nil
	}
	return &s
}

var docGetJob = doc{
	id: "get_job", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Get a job",
	description: "Only the user who created the batch can see its jobs. With wait, the server responds as soon as the job has ended " +
		"or the time is up.",
	errors:  []docgen.Code{docgen.CodeNotFound},
	example: exampleJob(),
}

// JobPath identifies a job.
type JobPath struct {
	JobID string `path:"job_id" doc:"The id of the job." example:"22234947"`
}

// GetJobQuery holds the parameters of getJob.
type GetJobQuery struct {
	JobPath
	Wait waitParam `query:"wait"`
}

func (a *api) getJob(ctx context.Context, c *call, in *GetJobQuery) (*reply[job], error) {
	id, err := pathID("docgen_job", in.JobID)
	if err != nil {
		return nil, err
	}
	found, err := waited(ctx, c, in.Wait, id, a.service.Job, a.service.WaitForJob)
	if err != nil {
		return nil, err
	}
	return &reply[job]{jobOf(&found)}, nil
}

var docListJobs = doc{
	id: "list_jobs", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary:     "List jobs",
	description: "All jobs of the caller's batches that match all filters, in ascending order of id or, with direction DESC, newest first.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
	example:     markerPage[job]{Limit: docgen.DefaultPageLimit, Entries: []job{exampleJob()}},
}

// JobFilterQuery holds the filters of all lists of jobs.
type JobFilterQuery struct {
	Status        string    `query:"status" minLength:"1" doc:"Only jobs with this status, or with one of several that are separated by commas. A Platen extension." example:"failed,completed_with_error"`
	CreatedBy     idParam   `query:"created_by" doc:"Only jobs of batches that this user created (default: the caller). Another user requires a token that can manage that user. A Platen extension." example:"33445566"`
	CreatedAfter  timeParam `query:"created_after" doc:"Only jobs of batches that were created at this time or later. A Platen extension." example:"2026-01-31T12:00:00Z"`
	CreatedBefore timeParam `query:"created_before" doc:"Only jobs of batches that were created before this time. A Platen extension." example:"2026-02-01T12:00:00Z"`
	Direction     string    `query:"direction" enum:"ASC,DESC" doc:"ASC: in ascending order of id, which is the order of the documents in a batch (default). DESC: newest first. A Platen extension."`
}

func (q *JobFilterQuery) filter() (f docgen.JobFilter, err error) {
	if q.Status != "" {
		for status := range strings.SplitSeq(q.Status, ",") {
			f.Status = append(f.Status, docgen.Status(strings.TrimSpace(status)))
		}
	}
	if f.CreatedBy, err = q.CreatedBy.parse("created_by"); err != nil {
		return f, err
	}
	if f.From, err = q.CreatedAfter.parse("created_after"); err != nil {
		return f, err
	}
	if f.To, err = q.CreatedBefore.parse("created_before"); err != nil {
		return f, err
	}
	switch q.Direction {
	case "", "ASC":
	case "DESC":
		f.Newest = true
	default:
		return f, invalidParam("direction", "direction must be ASC or DESC")
	}
	return f, nil
}

// JobsQuery asks for jobs.
type JobsQuery struct {
	PageQuery
	JobFilterQuery
}

// AllJobsQuery holds the parameters of the list of all jobs.
type AllJobsQuery struct {
	JobsQuery
	TemplateID idParam `query:"template_id" doc:"Only jobs that use this template, which the caller must be able to see. A Platen extension." example:"12345678"`
}

func (a *api) listJobs(ctx context.Context, c *call, in *AllJobsQuery) (*reply[markerPage[job]], error) {
	id, err := in.TemplateID.parse("template_id")
	if err != nil {
		return nil, err
	}
	return a.jobs(ctx, c, &in.JobsQuery, func(f *docgen.JobFilter) {
		if id != 0 {
			f.TemplateID = &id
		}
	})
}

// jobs answers with a page of the jobs that the parameters select. narrow adds to their filter.
func (a *api) jobs(ctx context.Context, c *call, q *JobsQuery, narrow func(*docgen.JobFilter)) (*reply[markerPage[job]], error) {
	request, err := q.parse()
	if err != nil {
		return nil, err
	}
	filter, err := q.filter()
	if err != nil {
		return nil, err
	}
	narrow(&filter)
	page, err := a.service.Jobs(ctx, c.caller, filter, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, jobOf), nil
}

var docListTemplateJobs = doc{
	id: "list_template_jobs", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "List the jobs of a template",
	description: "The caller's own jobs that use the template and match all filters, in ascending order of id or, with direction " +
		"DESC, newest first.",
	errors:  []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeForbidden},
	example: markerPage[job]{Limit: docgen.DefaultPageLimit, Entries: []job{exampleJob()}},
}

// TemplateJobsQuery holds the parameters of a list of jobs of a template.
type TemplateJobsQuery struct {
	TemplatePath
	JobsQuery
}

func (a *api) listTemplateJobs(ctx context.Context, c *call, in *TemplateJobsQuery) (*reply[markerPage[job]], error) {
	id, err := pathID("template", in.TemplatePath.TemplateID)
	if err != nil {
		return nil, err
	}
	return a.jobs(ctx, c, &in.JobsQuery, func(f *docgen.JobFilter) { f.TemplateID = &id })
}

var docListBatchJobs = doc{
	id: "list_batch_jobs", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary:     "List the jobs of a batch",
	description: "One job for each document of the batch, in the same order. The list is complete as soon as the batch is accepted.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit, docgen.CodeNotFound},
	example:     markerPage[job]{Limit: docgen.DefaultPageLimit, Entries: []job{exampleJob()}},
}

// BatchJobsQuery holds the parameters of a list of jobs of a batch.
type BatchJobsQuery struct {
	Batch string `path:"batch_id" doc:"The id of the batch." example:"64528422-fbf4-4f8d-b6a0-b099c6572cf2"`
	JobsQuery
}

func (a *api) listBatchJobs(ctx context.Context, c *call, in *BatchJobsQuery) (*reply[markerPage[job]], error) {
	return a.jobs(ctx, c, &in.JobsQuery, func(f *docgen.JobFilter) { f.BatchID = &in.Batch })
}
