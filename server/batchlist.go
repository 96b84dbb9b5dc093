package server

import (
	"context"
	"net/http"

	"platen/docgen"
)

var docListBatches = doc{
	id: "list_batches", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary:     "List batches",
	description: "The batches that the caller created and that match all filters, newest first. A Platen extension.",
	errors:      []docgen.Code{docgen.CodeInvalidLimit},
	example:     markerPage[batch]{Limit: docgen.DefaultPageLimit, Entries: []batch{exampleBatchObject()}},
}

// ListBatchesQuery holds the parameters of the list of batches.
type ListBatchesQuery struct {
	PageQuery
	State         string    `query:"state" enum:"in_progress,ended,with_failures,canceled" doc:"in_progress: a job or the merged file has not ended. ended: all have. with_failures: a job has failed, without canceled ones. canceled: the batch was canceled."`
	TemplateID    idParam   `query:"template_id" doc:"Only batches that use this template, which may have been deleted." example:"12345678"`
	OutputType    string    `query:"output_type" enum:"docx,pdf" doc:"Only batches with this type of documents."`
	CreatedAfter  timeParam `query:"created_after" doc:"Only batches that were created at this time or later." example:"2026-01-31T12:00:00Z"`
	CreatedBefore timeParam `query:"created_before" doc:"Only batches that were created before this time." example:"2026-02-01T12:00:00Z"`
}

func (q *ListBatchesQuery) filter() (docgen.BatchFilter, error) {
	f := docgen.BatchFilter{State: docgen.BatchState(q.State), OutputType: q.OutputType}
	var err error
	if f.TemplateID, err = q.TemplateID.parse("template_id"); err != nil {
		return f, err
	}
	if f.From, err = q.CreatedAfter.parse("created_after"); err != nil {
		return f, err
	}
	f.To, err = q.CreatedBefore.parse("created_before")
	return f, err
}

func (a *api) listBatches(ctx context.Context, c *call, in *ListBatchesQuery) (*reply[markerPage[batch]], error) {
	request, err := in.parse()
	if err != nil {
		return nil, err
	}
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	page, err := a.service.Batches(ctx, c.caller, filter, request)
	if err != nil {
		return nil, err
	}
	return pageOf(page, batchOf), nil
}

var docCancelBatch = doc{
	id: "cancel_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Cancel a batch",
	description: "No document of the batch is started after the response. Documents that are being generated at that moment end as usual. " +
		"All others end soon afterward, as failed jobs with the code `canceled`, and fire `DOCGEN_DOCUMENT.GENERATION_FAILED`. Generated " +
		"files remain, the input data is kept as that of other failed jobs, and the merged file is not created. Canceling a canceled batch " +
		"again changes nothing. If all documents have ended otherwise, the response is 409. Only the user who created a batch can cancel " +
		"it. A Platen extension.",
	status:  http.StatusAccepted,
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeConflict},
	example: exampleBatchObject(),
}

func (a *api) cancelBatch(ctx context.Context, c *call, in *BatchPath) (*reply[batch], error) {
	canceled, err := a.service.CancelBatch(ctx, c.caller, in.BatchID)
	if err != nil {
		return nil, err
	}
	return &reply[batch]{batchOf(&canceled)}, nil
}

type retryBatchRequest struct {
	FileVersion     *fileVersionRef `json:"file_version,omitempty" doc:"The version of the template to use (default: the version that the batch used)."`
	IncludeCanceled bool            `json:"include_canceled,omitempty" doc:"Also retry the documents that failed because the batch was canceled (default false)."`
	Password        *string         `json:"password,omitempty" format:"password" writeOnly:"true" doc:"The password to open the PDFs. Required if the batch has one: it was deleted when the batch ended."`
	OwnerPassword   *string         `json:"owner_password,omitempty" format:"password" writeOnly:"true" doc:"The password that lifts restricted permissions. Required if the batch has one."`
}

var docRetryBatch = doc{
	id: "retry_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Retry the failed documents of a batch",
	description: "Creates a batch from the failed documents of one that has ended, with the same data, names, destination, and options, but " +
		"without a merged file. Its `retry_of` names the original, which does not change. The response is 409 while the batch runs, while " +
		"another retry of it runs, if nothing failed, and if the data of a failed document was deleted after its retention period. Only " +
		"the user who created a batch can retry it. A Platen extension.",
	status: http.StatusAccepted,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType,
		docgen.CodeBodyTooLarge},
	body:    retryBatchRequest{FileVersion: &fileVersionRef{ID: exampleVersion, Type: typeFileVersion}},
	example: batchRef{ID: exampleBatchID, Type: typeBatch},
	also:    bodyMayBeEmpty,
}

func (a *api) retryBatch(ctx context.Context, c *call, in *BatchPath) (*reply[batchRef], error) {
	request, err := readOptionalBody[retryBatchRequest](c)
	if err != nil {
		return nil, err
	}
	r := retryOptions(request.FileVersion, request.Password, request.OwnerPassword)
	r.Canceled = request.IncludeCanceled
	id, err := a.service.RetryBatch(ctx, c.caller, in.BatchID, r)
	if err != nil {
		return nil, err
	}
	return &reply[batchRef]{batchRef{ID: id, Type: typeBatch}}, nil
}

func retryOptions(version *fileVersionRef, password, ownerPassword *string) docgen.Retry {
	r := docgen.Retry{Password: (*docgen.Secret)(password), OwnerPassword: (*docgen.Secret)(ownerPassword)}
	if version != nil {
		r.VersionID = int64(version.ID)
	}
	return r
}

type retryJobRequest struct {
	Input         *userInput      `json:"user_input,omitempty" doc:"Corrected data for the template (default: the data of the job)."`
	FileVersion   *fileVersionRef `json:"file_version,omitempty" doc:"The version of the template to use (default: the version that the job used)."`
	Password      *string         `json:"password,omitempty" format:"password" writeOnly:"true" doc:"The password to open the PDFs. Required if the batch has one: it was deleted when the batch ended."`
	OwnerPassword *string         `json:"owner_password,omitempty" format:"password" writeOnly:"true" doc:"The password that lifts restricted permissions. Required if the batch has one."`
}

var docRetryJob = doc{
	id: "retry_job", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Retry a failed job",
	description: "Creates a batch with one document from a failed job, with the same data or corrected data, and returns the new job. The " +
		"failed job does not change. The response is 409 if the job has not failed, while another retry of it runs, and if its data was " +
		"deleted after its retention period, unless the request contains data. Only the user who created the batch can retry its jobs. " +
		"A Platen extension.",
	status: http.StatusAccepted,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType,
		docgen.CodeBodyTooLarge},
	body:    retryJobRequest{FileVersion: &fileVersionRef{ID: exampleVersion, Type: typeFileVersion}},
	example: exampleJob(),
	also:    bodyMayBeEmpty,
}

func (a *api) retryJob(ctx context.Context, c *call, in *JobPath) (*reply[job], error) {
	id, err := pathID("docgen_job", in.JobID)
	if err != nil {
		return nil, err
	}
	request, inputs, err := a.readRetry(c)
	if err != nil {
		return nil, err
	}
	r := retryOptions(request.FileVersion, request.Password, request.OwnerPassword)
	if request.Input != nil {
		r.Input, r.Inputs = &request.Input.Input, inputs
	}
	made, err := a.service.RetryJob(ctx, c.caller, id, r)
	if err != nil {
		return nil, err
	}
	return &reply[job]{jobOf(&made)}, nil
}

// readRetry reads the optional body of retryJob, which may contain an input.
func (a *api) readRetry(c *call) (*retryJobRequest, *docgen.Inputs, error) {
	request, inputs := &retryJobRequest{}, &docgen.Inputs{}
	if c.r.ContentLength == 0 {
		return request, inputs, nil
	}
	text, err := c.readText(int64(a.service.Limits().InputBytes) + maxJSONBytes)
	if err != nil {
		return nil, nil, err
	}
	problems, err := decode(text, request, inputs)
	if err == nil {
		err = docgen.Invalid(problems...)
	}
	return request, inputs, err
}

// jobInput is the input of a job, in the form of an element of document_generation_data.
type jobInput struct {
	Name  string    `json:"generated_file_name" doc:"The requested name of the document."`
	Input anyObject `json:"user_input" doc:"The data for the template."`
}

var docGetJobInput = doc{
	id: "get_job_input", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Get the data of a job",
	description: "The data of a job that has failed or not ended, as an element of document_generation_data. The data is deleted when the " +
		"document was generated, and that of failed jobs after the retention period that the operator sets; the response is then 404. " +
		"Only the user who created the batch can see it. A Platen extension.",
	errors:  []docgen.Code{docgen.CodeNotFound, docgen.CodeUnavailable},
	example: jobInput{Name: "Letter.docx", Input: anyObject(`{"name":"Ada"}`)},
}

func (a *api) getJobInput(ctx context.Context, c *call, in *JobPath) (*reply[jobInput], error) {
	id, err := pathID("docgen_job", in.JobID)
	if err != nil {
		return nil, err
	}
	found, err := a.service.JobInput(ctx, c.caller, id)
	if err != nil {
		return nil, err
	}
	return &reply[jobInput]{jobInput{Name: found.Name, Input: anyObject(found.Input)}}, nil
}
