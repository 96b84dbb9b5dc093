package server

import (
	"context"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

type batch struct {
	ID                  string                 `json:"id" format:"uuid"`
	Type                string                 `json:"type" enum:"docgen_batch"`
	TemplateFile        fileRef                `json:"template_file"`
	TemplateFileVersion fileVersionRef         `json:"template_file_version" doc:"The version in use when the batch was created, or the version that the request specified."`
	DestinationFolder   folderRef              `json:"destination_folder" doc:"The folder for the documents; 0 is the root folder of the user who created the batch."`
	OutputType          string                 `json:"output_type" enum:"docx,pdf"`
	Options             batchOptions           `json:"options" doc:"The options of the request, without passwords."`
	IsProtected         bool                   `json:"is_protected" doc:"Whether the documents are encrypted, because of passwords or restricted permissions."`
	Accepting           bool                   `json:"is_accepting" doc:"Whether the server is still receiving the data of the batch, so that it has not started to generate documents."`
	Jobs                jobCounts              `json:"jobs" doc:"The number of jobs by status. The batch has ended when no job is pending or submitted and merged, if present, is final."`
	RetryOf             optional[batchRef]     `json:"retry_of" doc:"The batch whose failed jobs this one retries; null if it is not a retry."`
	Merged              optional[mergedOutput] `json:"merged" doc:"The PDF that merges all documents of the batch; null unless the request set options.pdf.merged."`
	CreatedAt           timestamp              `json:"created_at"`
	CanceledAt          timestamp              `json:"canceled_at" doc:"When the batch was canceled; null if it was not."`
	EndedAt             timestamp              `json:"ended_at" doc:"When the last job, or the merged file after it, ended; null until then."`
	CreatedBy           userRef                `json:"created_by"`
	Enterprise          enterpriseRef          `json:"enterprise"`
	Source              string                 `json:"source" enum:"api"`
}

type jobCounts struct {
	Total              int `json:"total"`
	Pending            int `json:"pending"`
	Submitted          int `json:"submitted"`
	Completed          int `json:"completed"`
	CompletedWithError int `json:"completed_with_error"`
	Failed             int `json:"failed" doc:"Without canceled jobs."`
	Canceled           int `json:"canceled" doc:"Jobs that failed because the batch was canceled."`
}

type mergedOutput struct {
	Name              string                   `json:"name" doc:"The requested name. If the folder already has a file of that name, the actual name ends with a number."`
	Status            docgen.Status            `json:"status" enum:"pending,submitted,completed,completed_with_error,failed" doc:"pending until all jobs of the batch have ended, then submitted, then one of the other three, which are final. completed_with_error: the file lacks a document."`
	OutputFile        optional[fileRef]        `json:"output_file" doc:"The merged file, in the destination folder of the batch; null until it exists."`
	OutputFileVersion optional[fileVersionRef] `json:"output_file_version"`
	Failures          optional[failures]       `json:"failures" doc:"Why there is no merged file, or what it lacks; null if nothing went wrong."`
	WaitingFor        *docgen.Shortage         `json:"waiting_for,omitempty" enum:"disk_space,database" doc:"The resource that the server lacks at the moment to create the merged file. See the same field of a job."`
}

func batchOf(b *docgen.Batch) batch {
	out := batch{
		ID: b.ID, Type: typeBatch,
		TemplateFile:        fileRef{ID: ID(b.TemplateID), Type: typeFile},
		TemplateFileVersion: fileVersionRef{ID: ID(b.TemplateVersionID), Type: typeFileVersion},
		DestinationFolder:   folderRef{ID: ID(b.DestinationID), Type: typeFolder},
		OutputType:          b.OutputType,
		Options: batchOptions{
			Locale: b.Options.Locale, TimeZone: b.Options.TimeZone, Missing: b.Options.Missing, Strict: b.Options.Strict,
			PDF: pdfOptionsOf(b.Options.PDF),
		},
		Accepting:   b.Accepting,
		IsProtected: b.Options.PDF.Protection() != nil,
		RetryOf:     retryOf(b),
		Jobs:        jobCountsOf(b),
		Merged:      optionalOf(b.Merged, mergedOf),
		CreatedAt:   timestamp{b.CreatedAt}, CanceledAt: timestamp{b.CanceledAt}, EndedAt: timestamp{b.EndedAt},
		CreatedBy:  userRef{ID: ID(b.CreatedBy), Type: typeUser},
		Enterprise: enterpriseRef{ID: ID(b.EnterpriseID), Type: typeEnterprise}, Source: b.Source,
	}
	return out
}

func retryOf(b *docgen.Batch) optional[batchRef] {
	if b.RetryOf == "" {
		return optional[batchRef]{}
	}
	return optional[batchRef]{&batchRef{ID: b.RetryOf, Type: typeBatch}}
}

// jobCountsOf returns the numbers of jobs of a batch.
func jobCountsOf(b *docgen.Batch) jobCounts {
	counts := jobCounts{
		Pending: b.Jobs[docgen.StatusPending], Submitted: b.Jobs[docgen.StatusSubmitted], Completed: b.Jobs[docgen.StatusCompleted],
		CompletedWithError: b.Jobs[docgen.StatusCompletedWithError], Failed: b.Jobs[docgen.StatusFailed],
		Canceled: b.Canceled, Total: b.Canceled,
	}
	for _, n := range b.Jobs {
		counts.Total += n
	}
	return counts
}

func mergedOf(m *docgen.Merged) mergedOutput {
	out := mergedOutput{Name: m.FileName, Status: m.Status, WaitingFor: waitingForOf(m.WaitingFor)}
	if m.OutputFileID != 0 {
		out.OutputFile.value = &fileRef{ID: ID(m.OutputFileID), Type: typeFile}
		out.OutputFileVersion.value = &fileVersionRef{ID: ID(m.OutputVersionID), Type: typeFileVersion}
	}
	if m.Failures.Any() {
		f := failuresOf(m.Failures)
		out.Failures.value = &f
	}
	return out
}

var docGetBatch = doc{
	id: "get_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Get a batch",
	description: "The status of a batch: how many jobs have ended, its options, and its merged file. Only the user who created a batch " +
		"can see it. With wait, the server responds as soon as the batch has ended or the time is up. A Platen extension.",
	errors:  []docgen.Code{docgen.CodeNotFound},
	example: exampleBatchObject(),
}

// BatchPath identifies a batch.
type BatchPath struct {
	BatchID string `path:"batch_id" doc:"The id of the batch." example:"64528422-fbf4-4f8d-b6a0-b099c6572cf2"`
}

// GetBatchQuery holds the parameters of getBatch.
type GetBatchQuery struct {
	BatchPath
	Wait waitParam `query:"wait"`
}

func (a *api) getBatch(ctx context.Context, c *call, in *GetBatchQuery) (*reply[batch], error) {
	found, err := waited(ctx, c, in.Wait, in.BatchID, a.service.Batch, a.service.WaitForBatch)
	if err != nil {
		return nil, err
	}
	return &reply[batch]{batchOf(&found)}, nil
}

var docDeleteBatch = doc{
	id: "delete_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Delete a batch",
	description: "Deletes a batch with its jobs, their failures, and the input data. The generated files remain. Only the user who " +
		"created a batch can delete it, and only after all jobs and the merged file have ended. A Platen extension.",
	status: http.StatusNoContent,
	errors: []docgen.Code{docgen.CodeNotFound, docgen.CodeConflict},
}

func (a *api) deleteBatch(ctx context.Context, c *call, in *BatchPath) (*empty, error) {
	return &empty{}, a.service.DeleteBatch(ctx, c.caller, in.BatchID)
}

var docCreateBatch = doc{
	id: "create_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Generate documents",
	description: "Creates a batch that generates one document for each element of document_generation_data, from one template. The " +
		"server responds immediately; each document is a job, which the list of the batch's jobs shows. Jobs survive a restart of the " +
		"server. If the folder already has a file with the name of a document, a number is added to the name. With " +
		"options.pdf.merged, the batch also merges all documents into one PDF. With options.dry_run, nothing is generated: the " +
		"response is 200 and lists the data that each document lacks. For up to a million documents, send multipart/form-data with the " +
		"parts attributes and data: the data is CSV, NDJSON, or a JSON array, and is stored while it arrives.",
	status: http.StatusAccepted,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType,
		docgen.CodeBodyTooLarge, codeTimeout, codeParts, docgen.CodeRefused},
	body:    exampleBatch(),
	example: batchRef{ID: exampleBatchID, Type: typeBatch},
	created: func(id string) any { return batchRef{ID: id, Type: typeBatch} },
	also: func(a *api, op *huma.Operation) {
		a.streamedBody(op)
		op.Responses["202"].Content[jsonType].Schema = a.schemaOf(batchRef{})
		op.Responses["200"] = a.jsonResponse("The data that each document lacks, with options.dry_run.", dryRun{
			Type: "docgen_dry_run", Documents: 100, Incomplete: 1, Findings: []documentLacks{{
				Position: 41, Name: "Invoice 4711.docx",
				Mismatches: []mismatch{{Path: "customer.name", Message: "is missing", DidYouMean: orNull("customer.nmae")}},
			}},
		})
	},
}

type createBatchRequest struct {
	File        templateFileRef  `json:"file" doc:"The template."`
	FileVersion *fileVersionRef  `json:"file_version,omitempty" doc:"A version of the template (default: its version in use, usually the current version of the file). You can also send it as file.file_version."`
	InputSource string           `json:"input_source" enum:"api"`
	Destination folderRef        `json:"destination_folder" doc:"The folder for the documents; 0 is the root folder of the caller."`
	OutputType  string           `json:"output_type" enum:"docx,pdf" doc:"The type of the documents."`
	Data        []documentToMake `json:"document_generation_data" doc:"One element for each document."`
	Options     *batchOptions    `json:"options,omitempty" doc:"How to generate the documents. A Platen extension; the defaults match the Box API."`
}

type batchOptions struct {
	Locale   string `json:"locale,omitempty" minLength:"1" doc:"The language for numbers, dates, and words: a language tag such as de or de-CH (default en)." example:"de-CH"`
	TimeZone string `json:"time_zone,omitempty" minLength:"1" doc:"The time zone for times: a name from the IANA database. By default, each time is shown in its own zone, or in UTC if it has none." example:"Europe/Paris"`
	Missing  string `json:"missing,omitempty" enum:"tag,blank,error" doc:"What to do if a value is missing in the data. tag: leave its tag in the document. blank: print nothing and warn. error: fail the job."`
	DryRun   bool   `json:"dry_run,omitempty" doc:"Generate nothing: validate the data of each document against the template and return what is missing (default false)."`
	Strict   bool   `json:"strict,omitempty" doc:"Treat every warning as an error, for example input that no tag uses. A document with errors is not generated (default false)."`

	PDF *pdfOptions `json:"pdf,omitempty" doc:"Options for output_type pdf."`
}

type templateFileRef struct {
	ID          ID              `json:"id"`
	Type        string          `json:"type" enum:"file"`
	FileVersion *fileVersionRef `json:"file_version,omitempty" doc:"A version of the template."`
}

type documentToMake struct {
	Name  string    `json:"generated_file_name" doc:"The name of the document. If it lacks the extension of the output type, the extension is added."`
	Input userInput `json:"user_input" doc:"The data for the template: any object."`
}

// createBatch reads the request once, and leaves each user_input as raw text.
func (a *api) createBatch(ctx context.Context, c *call, _ *struct{}) (*batchReply, error) {
	if kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		return a.createStreamedBatch(ctx, c)
	}
	var request createBatchRequest
	var inputs docgen.Inputs
	text, err := c.readText(a.service.Limits().BatchBytes)
	if err != nil {
		return nil, err
	}
	problems, err := decode(text, &request, &inputs)
	if err != nil {
		return nil, err
	}
	problems = append(problems, request.oneVersion()...)
	batch := request.batch()
	batch.Inputs = &inputs
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, batch.Problems(a.service.Limits()))...)
	}
	if request.triesOnly() {
		run, err := a.service.TryBatch(ctx, c.caller, batch)
		return triedReply(&run, err)
	}
	id, err := a.service.CreateBatch(ctx, c.caller, batch)
	return createdReply(id, err)
}

func triedReply(run *docgen.DryRun, err error) (*batchReply, error) {
	if err != nil {
		return nil, err
	}
	answer := &batchReply{Status: http.StatusOK}
	answer.Body.second = dryRunOf(run)
	return answer, nil
}

func createdReply(id string, err error) (*batchReply, error) {
	if err != nil {
		return nil, err
	}
	answer := &batchReply{Status: http.StatusAccepted}
	answer.Body.first = &batchRef{ID: id, Type: typeBatch}
	return answer, nil
}

// A batchReply holds the batch, or the result of a dry run.
type batchReply struct {
	Status int
	Body   either[batchRef, dryRun]
}

// withFurther adds the problems of the content of a body to those of its form, except for fields that already have a problem.
func withFurther(problems, further []docgen.Problem) []docgen.Problem {
	reported := map[string]bool{}
	for _, p := range problems {
		reported[p.Name] = true
	}
	for _, p := range further {
		if !reported[p.Name] {
			problems = append(problems, p)
		}
	}
	return problems
}

func (r *createBatchRequest) triesOnly() bool { return r.Options != nil && r.Options.DryRun }

// oneVersion makes file.file_version the file_version, and returns the problem of different ones.
func (r *createBatchRequest) oneVersion() []docgen.Problem {
	inner := r.File.FileVersion
	if r.FileVersion == nil {
		r.FileVersion = inner
	} else if inner != nil && *inner != *r.FileVersion {
		return []docgen.Problem{{Reason: docgen.ReasonInvalid, Name: "file_version",
			Message: twoVersions}}
	}
	return nil
}

func (r *createBatchRequest) batch() docgen.NewBatch {
	b := docgen.NewBatch{
		TemplateID: int64(r.File.ID), InputSource: r.InputSource, DestinationID: int64(r.Destination.ID), OutputType: r.OutputType,
		Documents: make([]docgen.NewDocument, len(r.Data)),
	}
	if r.FileVersion != nil {
		b.VersionID = int64(r.FileVersion.ID)
	}
	if o := r.Options; o != nil {
		b.Options = docgen.BatchOptions{Locale: o.Locale, TimeZone: o.TimeZone, Missing: o.Missing, Strict: o.Strict, PDF: o.PDF.asked()}
	}
	for i, document := range r.Data {
		b.Documents[i] = docgen.NewDocument{Name: document.Name, Input: document.Input.Input}
	}
	return b
}
