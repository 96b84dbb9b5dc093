package docgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"platen/store"
)

// Types of output.
const (
	OutputDocx = "docx"
	OutputPDF  = "pdf"
)

// InputSource is the only supported source of input data.
const InputSource = "api"

// NewBatch describes a batch: a template and the documents to generate from it.
type NewBatch struct {
	TemplateID    int64
	VersionID     int64  // of the template; 0 for the one that its batches use
	InputSource   string // must be InputSource
	DestinationID int64  // the folder for the documents
	OutputType    string // OutputDocx or OutputPDF
	Options       BatchOptions
	Documents     []NewDocument
	Inputs        *Inputs // that read the inputs of the documents; nil if contracts need not know their common shape
}

// NewDocument describes one document of a batch.
type NewDocument struct {
	Name  string // of the file; a missing extension is added
	Input Input  // the data of the tags
}

// Problems returns everything that is wrong with the batch, as far as it can be checked without the database.
// CreateBatch rejects a batch with problems.
func (b NewBatch) Problems(limits Limits) []Problem {
	problems := b.envelopeProblems()
	const list = "document_generation_data"
	if len(b.Documents) == 0 || len(b.Documents) > limits.Documents {
		problems = append(problems, invalidField(list, "a batch must have 1 to %d documents, this one has %d", limits.Documents,
			len(b.Documents)))
	}
	for i, document := range b.Documents[:min(len(b.Documents), limits.Documents)] {
		b.checkDocument(&document, limits, func(field, why string) {
			problems = append(problems, invalidField(fmt.Sprintf("%s[%d].%s", list, i, field), "document %d: %s", i+1, why))
		})
	}
	return problems
}

// envelopeProblems returns everything that is wrong with the batch apart from its documents.
func (b NewBatch) envelopeProblems() []Problem {
	var problems []Problem
	if b.InputSource != InputSource {
		problems = append(problems, invalidField("input_source", "input_source must be %q", InputSource))
	}
	if b.OutputType != OutputDocx && b.OutputType != OutputPDF {
		problems = append(problems, invalidField("output_type", "output_type must be docx or pdf"))
	}
	_, wrong := b.Options.Engine()
	return append(append(problems, wrong...), b.pdfProblems()...)
}

// checkDocument calls fail for everything that is wrong with a document.
func (b NewBatch) checkDocument(d *NewDocument, limits Limits, fail func(field, why string)) {
	if why := nameProblem(b.fileName(*d), MaxNameLength); why != "" || d.Name == "" {
		fail("generated_file_name", cmp.Or(why, "a name must not be empty"))
	}
	if why := d.Input.validate(limits); why != "" {
		fail("user_input", why)
	}
}

// fileName returns the file name of a document.
func (b NewBatch) fileName(d NewDocument) string { return withExtension(d.Name, b.OutputType) }

// withExtension returns a name with the extension of an output type.
func withExtension(name, outputType string) string {
	extension := "." + outputType
	if strings.EqualFold(path.Ext(name), extension) {
		return name
	}
	return name + extension
}

// CreateBatch accepts a batch and returns its id. From then on, every document is a job that will end, whatever
// happens: the version of the template is pinned, and jobs and queue entries are committed together.
func (s *Service) CreateBatch(ctx context.Context, c *Caller, b NewBatch) (string, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return "", err
	}
	if err := Invalid(b.Problems(s.limits)...); err != nil {
		return "", err
	}
	if err := s.checkRoom(ctx); err != nil {
		return "", err
	}
	if err := s.checkWaiting(ctx, c.User.ID, int64(len(b.Documents))); err != nil {
		return "", err
	}
	batch := s.batchRow(ctx, c, b)
	var err error
	if batch.Shape, err = b.Inputs.commonShape(); err != nil {
		return "", err
	}
	jobs, inputs := s.jobRows(batch, b)
	batch.Number, batch.JobsTotal = jobs[0].ID, int64(len(jobs))
	var staged *staging
	if sizeOf(inputs) > stagedFrom {
		if staged, err = s.stage(ctx, c, b, batch, jobs, inputs); err != nil {
			return "", err
		}
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if err := s.checkAccount(ctx, tx.Queries, c); err != nil {
			return err
		}
		if err := s.prepareBatch(ctx, tx.Queries, c, b, &batch); err != nil {
			return err
		}
		if staged != nil {
			err = staged.publish(ctx, tx, batch)
		} else {
			err = insertBatch(ctx, tx, batch, jobs, inputs)
		}
		if err != nil {
			return err
		}
		if err := b.insertEnding(ctx, tx, batch.ID, int64(len(jobs))); err != nil {
			return err
		}
		noteResult(ctx, batch.ID)
		return s.join(ctx, tx, c.User.ID, laneOf(b.OutputType, false), batch.ID, int64(len(jobs)))
	})
	if err != nil {
		return "", errors.Join(err, staged.discard(ctx))
	}
	return batch.ID, nil
}

// batchRow returns the row of a new batch, without the fields that prepareBatch sets.
func (s *Service) batchRow(ctx context.Context, c *Caller, b NewBatch) store.InsertBatchParams {
	return store.InsertBatchParams{
		ID: uuid.NewString(), TemplateFileID: b.TemplateID, OutputType: b.OutputType, Source: b.InputSource,
		CreatedAt: s.micros(), CreatedBy: c.User.ID, EnterpriseID: c.User.EnterpriseID, ApplicationID: c.ApplicationID,
		GlobalContent: c.has(ScopeGlobalContent), TraceParent: traceParent(ctx),
	}
}

// checkAccount returns an Error if the caller's account was deleted after the request was authenticated. Nothing would
// erase the batch afterward.
func (s *Service) checkAccount(ctx context.Context, q *store.Queries, c *Caller) error {
	row, err := q.User(ctx, c.User.ID)
	if err == nil && row.User.DeletedAt != 0 {
		err = failf(CodeUnauthorized, "The account of the caller was deleted.")
	}
	return err
}

// prepareBatch checks the template and the destination of a batch, and sets the fields of the row that depend on them.
func (s *Service) prepareBatch(ctx context.Context, q *store.Queries, c *Caller, b NewBatch, batch *store.InsertBatchParams) error {
	version, destination, err := s.batchTargets(ctx, q, c, b)
	if err != nil {
		return err
	}
	batch.TemplateVersionID, batch.DestinationID = version.ID, destination.row.ID
	batch.Options, err = s.effectiveOptions(ctx, q, b)
	return err
}

// Batch is the current state of a NewBatch.
type Batch struct {
	ID                string
	TemplateID        int64
	TemplateVersionID int64
	DestinationID     int64 // 0 for the root folder of the batch's creator
	OutputType        string
	Options           BatchOptions   // without the passwords, only whether there are any
	Accepting         bool           // its data is still being received
	Jobs              map[Status]int // the canceled ones are not in the failed ones
	Canceled          int            // jobs that ended because the batch was canceled
	Merged            *Merged        // nil unless a merged file was requested
	CreatedAt         time.Time
	EndedAt           time.Time // zero until all jobs and the merged file have ended
	CanceledAt        time.Time // zero unless it was canceled
	RetryOf           string    // the batch whose failed jobs it retries; "" for none
	RetryOfJob        int64     // the only job that it retries; 0 for all that failed
	CreatedBy         int64
	EnterpriseID      int64
	Source            string
	Number            int64 // id of the first job: the order of batches of the same moment
}

// Batch returns a batch that the caller created. Batches of other users are not found.
func (s *Service) Batch(ctx context.Context, c *Caller, id string) (Batch, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Batch{}, err
	}
	var found Batch
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		found, err = s.batch(ctx, q, c, id)
		return err
	})
	return found, err
}

// batch is Batch for a caller with the scope.
func (s *Service) batch(ctx context.Context, q *store.Queries, c *Caller, id string) (Batch, error) {
	known, err := findBatch(ctx, q, c, id)
	if IsCode(err, CodeNotFound) {
		known, err = s.findAccepting(ctx, q, c, id)
	}
	if err != nil {
		return Batch{}, err
	}
	row, err := q.ListedBatch(ctx, id)
	if err != nil {
		return Batch{}, err
	}
	found, err := batchOf(c, row)
	if found.Accepting = known.RemovedAt != 0; err != nil || !found.Accepting {
		return found, err
	}
	jobs, err := q.CountJobs(ctx, id) // the row gets their number when the batch is complete
	found.Jobs[StatusPending] = int(jobs)
	return found, err
}

// batchOf returns a batch of the caller.
func batchOf(c *Caller, row store.ListedBatch) (Batch, error) {
	found := Batch{
		ID: row.ID, TemplateID: row.TemplateFileID, TemplateVersionID: row.TemplateVersionID, DestinationID: row.DestinationID,
		OutputType: row.OutputType, CreatedAt: timeOf(row.CreatedAt), CreatedBy: row.CreatedBy, EnterpriseID: row.EnterpriseID,
		Source: row.Source, EndedAt: timeOf(row.EndedAt), CanceledAt: timeOf(row.CanceledAt), RetryOf: row.RetryOf,
		RetryOfJob: row.RetryOfJob, Jobs: map[Status]int{}, Canceled: int(row.Canceled), Number: row.Number,
	}
	if found.DestinationID == c.rootID {
		found.DestinationID = rootID
	}
	pending := row.Total - row.Submitted - row.Completed - row.Incomplete - row.Failed - row.Canceled
	for status, jobs := range map[Status]int64{StatusPending: pending, StatusSubmitted: row.Submitted, StatusCompleted: row.Completed,
		StatusCompletedWithError: row.Incomplete, StatusFailed: row.Failed} {
		if jobs != 0 {
			found.Jobs[status] = int(jobs)
		}
	}
	var err error
	if found.Options, err = optionsOf(row.ID, row.Options); err != nil {
		return found, err
	}
	if row.MergeStatus == "" {
		return found, nil
	}
	found.Merged, err = mergedOf(row)
	return found, err
}

// findBatch returns a batch that the caller created. Batches of other users are not found.
func findBatch(ctx context.Context, q *store.Queries, c *Caller, id string) (store.DocgenBatch, error) {
	if uuid.Validate(id) != nil {
		return store.DocgenBatch{}, NotFound("docgen_batch", id) // invalid ids from clients do not reach the database
	}
	batch, err := q.Batch(ctx, id)
	if isGone(err, batch) || err == nil && batch.CreatedBy != c.User.ID {
		err = NotFound("docgen_batch", id)
	}
	return batch, err
}

// batchTargets returns the version of the template that a batch uses, and the destination folder of its documents.
func (s *Service) batchTargets(ctx context.Context, q *store.Queries, c *Caller,
	b NewBatch) (version store.FileVersion, destination place, err error) {
	template, err := s.findTemplate(ctx, q, c, b.TemplateID, MayDownload)
	if err != nil {
		return version, destination, err
	}
	if version, err = templateVersion(ctx, q, template.row, b.VersionID); err != nil {
		return version, destination, err
	}
	destination, err = s.findDestination(ctx, q, c, b.DestinationID)
	return version, destination, err
}

// findDestination returns the folder for generated documents.
func (s *Service) findDestination(ctx context.Context, q *store.Queries, c *Caller, id int64) (place, error) {
	folder, err := s.find(ctx, q, c, Folder, id, MayUpload)
	if IsCode(err, CodeNotFound) || IsCode(err, CodeTrashed) {
		err = Invalid(invalidField("destination_folder.id", "the folder does not exist, or is in the trash"))
	}
	if err == nil {
		err = s.checkLasting(ctx, q, c, folder)
	}
	return folder, err
}

func insertBatch(ctx context.Context, tx *store.Tx, batch store.InsertBatchParams, jobs []store.DocgenJob,
	inputs []store.DocgenInput) error {
	if err := tx.InsertBatch(ctx, batch); err != nil {
		return err
	}
	if err := tx.InsertJobs(ctx, jobs); err != nil {
		return err
	}
	return tx.InsertInputs(ctx, inputs)
}

// jobRows creates a pending job for every document, with consecutive ids.
func (s *Service) jobRows(batch store.InsertBatchParams, b NewBatch) ([]store.DocgenJob, []store.DocgenInput) {
	first := s.ids.next(s.now(), len(b.Documents))
	jobs := make([]store.DocgenJob, len(b.Documents))
	inputs := make([]store.DocgenInput, len(b.Documents))
	for i, document := range b.Documents {
		id := first + int64(i)
		jobs[i] = store.DocgenJob{
			ID: id, BatchID: batch.ID, TemplateFileID: batch.TemplateFileID, CreatedBy: batch.CreatedBy,
			FileName: b.fileName(document), Status: string(StatusPending), Waiting: true,
		}
		inputs[i] = store.DocgenInput{JobID: id, Data: string(document.Input.text)}
	}
	return jobs, inputs
}
