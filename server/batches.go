package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

type batch struct {
	ID                  string                 `json:"id" format:"uuid"`
	Type                string                 `json:"type" enum:"docgen_batch"`
	TemplateFile        fileRef                `json:"template_file"`
	TemplateFileVersion fileVersionRef         `json:"template_file_version" doc:"The version that was current when the batch was made, or the one it named."`
	DestinationFolder   folderRef              `json:"destination_folder" doc:"The folder that the documents are written into; 0 is the root folder of who made the batch."`
	OutputType          string                 `json:"output_type" enum:"docx,pdf"`
	Options             batchOptions           `json:"options" doc:"As the batch was sent, without passwords."`
	IsProtected         bool                   `json:"is_protected" doc:"Whether the documents are encrypted: because of passwords, or of permissions that are not all given."`
	Jobs                jobCounts              `json:"jobs" doc:"How many jobs the batch has, by status. It has ended when none is pending or submitted and merged, if there is one, is neither."`
	Merged              optional[mergedOutput] `json:"merged" doc:"How the one PDF of all documents stands; null if options.pdf.merged did not ask for it."`
	CreatedAt           timestamp              `json:"created_at"`
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
	Failed             int `json:"failed"`
}

type mergedOutput struct {
	Name              string                   `json:"name" doc:"The name asked for. The file's own has a number behind it where another file had the name."`
	Status            docgen.Status            `json:"status" enum:"pending,submitted,completed,completed_with_error,failed" doc:"pending until all jobs of the batch have ended, then submitted, then one of the other three, which is final. With completed_with_error a document is missing in it."`
	OutputFile        optional[fileRef]        `json:"output_file" doc:"The merged file, in the destination folder of the batch; null until it is there."`
	OutputFileVersion optional[fileVersionRef] `json:"output_file_version"`
	Failures          optional[failures]       `json:"failures" doc:"Why there is no merged file, or what is missing in it; null when nothing is."`
	WaitingFor        *docgen.Shortage         `json:"waiting_for,omitempty" enum:"disk_space,database" doc:"What the server lacks at the moment for the merged file, as for a job; left out otherwise."`
}

func batchOf(b *docgen.Batch) batch {
	out := batch{
		ID: b.ID, Type: typeBatch,
		TemplateFile:        fileRef{ID: ID(b.TemplateID), Type: typeFile},
		TemplateFileVersion: fileVersionRef{ID: ID(b.TemplateVersionID), Type: typeFileVersion},
		DestinationFolder:   folderRef{ID: ID(b.DestinationID), Type: typeFolder},
		OutputType:          b.OutputType,
		Options: batchOptions{
			Locale: b.Options.Locale, TimeZone: b.Options.TimeZone, Missing: b.Options.Missing, Strict: b.Options.Strict, PDF: pdfOptionsOf(b.Options.PDF),
		},
		IsProtected: b.Options.PDF.Protection() != nil,
		Jobs: jobCounts{
			Pending: b.Jobs[docgen.StatusPending], Submitted: b.Jobs[docgen.StatusSubmitted], Completed: b.Jobs[docgen.StatusCompleted],
			CompletedWithError: b.Jobs[docgen.StatusCompletedWithError], Failed: b.Jobs[docgen.StatusFailed],
		},
		Merged:    optionalOf(b.Merged, mergedOf),
		CreatedAt: timestamp{b.CreatedAt}, CreatedBy: userRef{ID: ID(b.CreatedBy), Type: typeUser},
		Enterprise: enterpriseRef{ID: ID(b.EnterpriseID), Type: typeEnterprise}, Source: b.Source,
	}
	for _, n := range b.Jobs {
		out.Jobs.Total += n
	}
	return out
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
	description: "How far a batch is, how its documents are made, and what became of the merged file. A batch is seen by the user who made it, and " +
		"by nobody else. An extension of the interface.",
	errors:  []docgen.Code{docgen.CodeNotFound},
	example: exampleBatchObject(),
}

// BatchPath names a batch.
type BatchPath struct {
	BatchID string `path:"batch_id" doc:"The id of the batch." example:"64528422-fbf4-4f8d-b6a0-b099c6572cf2"`
}

func (a *api) getBatch(ctx context.Context, c *call, in *BatchPath) (*reply[batch], error) {
	found, err := a.service.Batch(ctx, c.caller, in.BatchID)
	if err != nil {
		return nil, err
	}
	return &reply[batch]{batchOf(&found)}, nil
}

var docDeleteBatch = doc{
	id: "delete_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Delete a batch",
	description: "Deletes a batch with its jobs, their failures, and the data that was sent. The generated files stay. Only the user who made the batch can " +
		"delete it, and only when no job is pending or submitted and the merged file is done. An extension of the interface.",
	status: http.StatusNoContent,
	errors: []docgen.Code{docgen.CodeNotFound, docgen.CodeConflict},
}

func (a *api) deleteBatch(ctx context.Context, c *call, in *BatchPath) (*empty, error) {
	return &empty{}, a.service.DeleteBatch(ctx, c.caller, in.BatchID)
}

var docCreateBatch = doc{
	id: "create_batch", tag: tagDocGen, versioned: true, scope: docgen.ScopeDocGen,
	summary: "Generate documents",
	description: "One batch makes one document for each element of document_generation_data, from one template. The answer " +
		"comes at once; each document is a job, to be watched by the list of the batch's jobs. The jobs are kept: they end even if the server " +
		"is restarted. A document whose name is taken in the folder gets a number behind its name. With options.pdf.merged one PDF of all " +
		"documents is made besides; the batch itself says how it stands. With options.dry_run nothing is made: the answer is 200 and says which documents would lack data, and what.",
	status: http.StatusAccepted,
	errors: []docgen.Code{docgen.CodeForbidden, docgen.CodeNotFound, docgen.CodeTrashed, docgen.CodeConflict, codeMediaType,
		docgen.CodeBodyTooLarge, codeTimeout},
	body:    exampleBatch(),
	example: batchRef{ID: exampleBatchID, Type: typeBatch},
	also: func(a *api, op *huma.Operation) {
		op.Responses["202"].Content[jsonType].Schema = a.schemaOf(batchRef{})
		op.Responses["200"] = a.jsonResponse("What the documents would lack, with options.dry_run.", dryRun{
			Type: "docgen_dry_run", Documents: 100, Incomplete: 1, Findings: []documentLacks{{
				Position: 41, Name: "Invoice 4711.docx", Mismatches: []mismatch{{Path: "customer.name", Message: "is missing", DidYouMean: orNull("customer.nmae")}},
			}},
		})
	},
}

type createBatchRequest struct {
	File        templateFileRef  `json:"file" doc:"The template."`
	FileVersion *fileVersionRef  `json:"file_version,omitempty" doc:"A version of the template; the current one when left out. It may also stand inside file."`
	InputSource string           `json:"input_source" enum:"api"`
	Destination folderRef        `json:"destination_folder" doc:"The folder that the documents are written into; 0 is the root folder of the caller."`
	OutputType  string           `json:"output_type" enum:"docx,pdf" doc:"The type of the documents."`
	Data        []documentToMake `json:"document_generation_data" doc:"One element for each document."`
	Options     *batchOptions    `json:"options,omitempty" doc:"How the documents are made. An extension of the interface: what is left out is as the interface has it."`
}

type batchOptions struct {
	Locale   string `json:"locale,omitempty" minLength:"1" doc:"The language that numbers, dates and words are written in, as a tag such as de or de-CH; en when left out." example:"de-CH"`
	TimeZone string `json:"time_zone,omitempty" minLength:"1" doc:"The time zone that times are shown in: a name of the IANA database. When it is left out, each time is shown in its own, or in UTC if it names none." example:"Europe/Paris"`
	Missing  string `json:"missing,omitempty" enum:"tag,blank,error" doc:"What becomes of a value that the data has not: tag leaves its tag in the document, blank leaves nothing and warns, error makes no document."`
	DryRun   bool   `json:"dry_run,omitempty" doc:"Make nothing: hold the data of each document against what the template needs, and say what would be missing."`
	Strict   bool   `json:"strict,omitempty" doc:"Every warning is an error, such as that of input that no tag uses, and a document with errors is not made."`

	PDF *pdfOptions `json:"pdf,omitempty" doc:"How the PDFs are made, where output_type is pdf."`
}

type templateFileRef struct {
	ID          ID              `json:"id"`
	Type        string          `json:"type" enum:"file"`
	FileVersion *fileVersionRef `json:"file_version,omitempty" doc:"A version of the template."`
}

type documentToMake struct {
	Name  string    `json:"generated_file_name" doc:"The name of the document. The extension of the output type is added where it is missing."`
	Input userInput `json:"user_input" doc:"What the tags of the template read: any object."`
}

// createBatch reads the body once, and leaves each user_input as the text it is.
func (a *api) createBatch(ctx context.Context, c *call, _ *struct{}) (*batchReply, error) {
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
	inner := request.File.FileVersion
	if request.FileVersion == nil {
		request.FileVersion = inner
	} else if inner != nil && *inner != *request.FileVersion {
		problems = append(problems, docgen.Problem{Reason: docgen.ReasonInvalid, Name: "file_version",
			Message: "'file_version' and 'file.file_version' name different versions; send one of them"})
	}
	batch := request.batch()
	batch.Inputs = &inputs
	if len(problems) > 0 {
		return nil, docgen.Invalid(withFurther(problems, batch.Problems(a.service.Limits()))...)
	}
	if request.Options != nil && request.Options.DryRun {
		run, err := a.service.TryBatch(ctx, c.caller, batch)
		if err != nil {
			return nil, err
		}
		answer := &batchReply{Status: http.StatusOK}
		answer.Body.second = dryRunOf(&run)
		return answer, nil
	}
	id, err := a.service.CreateBatch(ctx, c.caller, batch)
	if err != nil {
		return nil, err
	}
	answer := &batchReply{Status: http.StatusAccepted}
	answer.Body.first = &batchRef{ID: id, Type: typeBatch}
	return answer, nil
}

// A batchReply holds the batch, or what it would lack.
type batchReply struct {
	Status int
	Body   either[batchRef, dryRun]
}

// withFurther adds to the problems of a body those of what it says, but for the fields that have a problem already.
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
