package docgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"platen/store"
)

// Claim holds some jobs of a batch for one attempt, until CompleteJobs ends them or another attempt claims them.
type Claim struct {
	BatchID           string
	TemplateVersionID int64
	OutputType        string
	Apart             bool // the documents are made apart from others, each by itself
	Options           BatchOptions
	CreatedAt         time.Time // of the batch: what is now in its documents
	Jobs              []ClaimedJob
}

// ClaimedJob is one job of a Claim.
type ClaimedJob struct {
	ID       int64
	FileName string // asked for, with its extension
	attempt  int64
	policy   int64 // where its document is kept
}

// ClaimJobs takes the jobs of a task that have not ended for one attempt. Whoever claimed them before and was thought
// dead can no longer end them. A Claim without jobs has nothing left to do.
func (s *Service) ClaimJobs(ctx context.Context, task GenerateDocuments) (*Claim, error) {
	var claim *Claim
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		batch, err := tx.Batch(ctx, task.BatchID)
		if err != nil {
			return fmt.Errorf("batch %s: %w", task.BatchID, err)
		}
		rows, err := tx.ClaimJobs(ctx, store.ClaimJobsParams{BatchID: task.BatchID, ID: task.First, ID_2: task.Last, Apart: task.Apart})
		if err != nil {
			return err
		}
		claim = &Claim{BatchID: batch.ID, TemplateVersionID: batch.TemplateVersionID, OutputType: batch.OutputType, Apart: task.Apart, CreatedAt: timeOf(batch.CreatedAt)}
		if len(rows) == 0 {
			return nil
		}
		if claim.Options, err = workingOptions(ctx, tx.Queries, batch); err != nil {
			return err
		}
		policy, err := s.policyAt(ctx, tx.Queries, batch.DestinationID)
		if err != nil {
			return err
		}
		for _, row := range rows {
			claim.Jobs = append(claim.Jobs, ClaimedJob{ID: row.ID, FileName: row.FileName, attempt: row.Attempt, policy: policy})
		}
		return s.fireStarted(ctx, tx, batch, rows)
	})
	return claim, err
}

// Input returns the user_input of a job that has not ended.
func (s *Service) Input(ctx context.Context, jobID int64) ([]byte, error) {
	var data string
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		data, err = q.Input(ctx, jobID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("input of job %d: %w", jobID, err)
	}
	return []byte(data), nil
}

// Output is a document that is durable but in no folder yet.
type Output struct{ content content }

// SaveOutput makes the document of a job durable. It is then either handed to CompleteJobs or swept.
func (s *Service) SaveOutput(ctx context.Context, job ClaimedJob, r io.Reader) (Output, error) {
	saved, err := s.saveContent(ctx, job.policy, r, "")
	return Output{saved}, err
}

// Result is how one job of a claim ended. Without an Output it failed, and the errors of its Failures say why.
type Result struct {
	Job      ClaimedJob
	Output   *Output
	Failures Failures
	// SetApart says that the job has not ended: its document did harm to the making of others, and is to be made apart from
	// them, by a task of ApartQueue.
	SetApart bool
}

// CompleteJobs ends jobs of a claim in one transaction: each document becomes a new file of the batch's creator in the
// destination folder, under the name asked for or, where that is taken, with a number; a destination that is gone fails
// the job. A job that another attempt has claimed since is left to that one, and this attempt's document is discarded. It
// returns how many jobs it ended, by status.
func (s *Service) CompleteJobs(ctx context.Context, claim *Claim, results []Result) (ended map[Status]int, err error) {
	err = s.whileDestinationStays(ctx, func() (unused []*Output, err error) {
		if ended, unused, err = s.completeJobs(ctx, claim, results); err != nil {
			ended = nil
		}
		return unused, err
	})
	return ended, err
}

// whileDestinationStays calls what completes jobs, again where it returns errDestinationGone, and discards the outputs that it
// has no use for.
func (s *Service) whileDestinationStays(ctx context.Context, complete func() (unused []*Output, err error)) (err error) {
	var unused []*Output
	for range lockTries {
		if unused, err = complete(); !errors.Is(err, errDestinationGone) {
			break
		}
	}
	if err != nil {
		return err // the outputs are swept; a commit of which nobody knows may have named them
	}
	for _, output := range unused {
		err = errors.Join(err, s.discard(ctx, output.content))
	}
	return err
}

// completeJobs is CompleteJobs for who discards the outputs that it returns, and calls it again on errDestinationGone.
func (s *Service) completeJobs(ctx context.Context, claim *Claim, results []Result) (ended map[Status]int, unused []*Output, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		unused, ended = nil, map[Status]int{}
		d, err := s.destination(ctx, tx, claim.BatchID)
		if err != nil {
			return err
		}
		written := growth{folder: d.folder}
		var events []event
		for _, result := range results {
			if result.SetApart {
				if err := setApart(ctx, tx, claim.BatchID, result.Job); err != nil {
					return err
				}
				continue
			}
			status, outputID, err := s.completeJob(ctx, tx, d, result)
			if err != nil {
				return fmt.Errorf("complete job %d: %w", result.Job.ID, err)
			}
			if status != lost {
				ended[status]++
				events = append(events, d.endEvents(result, status, outputID)...)
			}
			switch {
			case result.Output == nil:
			case status == lost || status == StatusFailed:
				unused = append(unused, result.Output)
			default:
				written.items++
				written.bytes += result.Output.content.size
			}
		}
		if err := grow(ctx, tx, written); err != nil {
			return err
		}
		if written.items > 0 {
			if err := s.stillThere(ctx, tx, d); err != nil {
				return err
			}
		}
		if err := countEnded(ctx, tx, d.batch, ended); err != nil {
			return err
		}
		return s.fire(ctx, tx, d.caller, events...)
	})
	return ended, unused, err
}

// errDestinationGone is why jobs are completed anew: their destination was deleted as empty since it was looked for.
var errDestinationGone = errors.New("the destination folder was deleted while jobs were completed")

// stillThere returns errDestinationGone when the destination of documents is no longer there. It comes after grow, for
// which who deletes a folder as empty waits.
func (s *Service) stillThere(ctx context.Context, tx *store.Tx, d destination) error {
	_, err := s.find(ctx, tx.Queries, d.caller, Folder, d.folder.row.ID, MayUpload)
	if _, gone := errors.AsType[*Error](err); gone {
		return errDestinationGone
	}
	return err
}

// destination is where the documents of a batch go, at the moment they are finished.
type destination struct {
	batch   store.DocgenBatch
	source  place // the template
	folder  place
	caller  *Caller        // who created the batch
	problem string         // why nothing can be written there; empty when it can
	numbers map[string]int // the number last given to a name, by its key, in this transaction
}

func (s *Service) destination(ctx context.Context, tx *store.Tx, batchID string) (destination, error) {
	batch, err := tx.Batch(ctx, batchID)
	if err != nil {
		return destination{}, fmt.Errorf("batch %s: %w", batchID, err)
	}
	user, err := tx.User(ctx, batch.CreatedBy)
	if err != nil {
		return destination{}, fmt.Errorf("creator of batch %s: %w", batchID, err)
	}
	template, err := s.placeAt(ctx, tx.Queries, File, batch.TemplateFileID)
	if err != nil {
		return destination{}, err
	}
	d := destination{batch: batch, source: template, numbers: map[string]int{}, caller: callerOf(user.User, batch.GlobalContent)}
	// Unlike lockFolder this makes nobody wait who writes to the same folder; see stillThere.
	d.folder, err = s.findSteady(ctx, tx, d.caller, Folder, batch.DestinationID, MayUpload, func(place) error { return nil })
	if _, gone := errors.AsType[*Error](err); gone {
		d.problem = fmt.Sprintf("The destination folder %d was deleted, or can no longer be written to, while the document was made. "+
			"Restore it or choose another folder, and send the document again.", batch.DestinationID)
		return d, nil
	}
	return d, err
}

// lost is the status of a job that another attempt has claimed.
const lost Status = ""

// completeJob ends one job and returns its status, and the id of its document; 0 where there is none.
func (s *Service) completeJob(ctx context.Context, tx *store.Tx, d destination, r Result) (Status, int64, error) {
	r = d.refuse(r)
	status := r.status()
	summary, err := r.Failures.summary(status).text()
	if err != nil {
		return lost, 0, err
	}
	finish := store.FinishJobParams{ID: r.Job.ID, Attempt: r.Job.attempt, Status: string(status), Summary: summary, FinishedAt: s.micros()}
	if r.Output != nil {
		finish.OutputFileID, finish.OutputVersionID = s.newID(), r.Output.content.id
	}
	held, err := tx.FinishJob(ctx, finish)
	if err != nil || held == 0 {
		return lost, 0, err
	}
	if err := keepFailures(ctx, tx, r.Job.ID, r.Failures); err != nil {
		return lost, 0, err
	}
	if r.Output == nil {
		return status, 0, nil
	}
	if err := s.put(ctx, tx, d, r.Output, finish.OutputFileID, r.Job.FileName); err != nil {
		return lost, 0, err
	}
	return status, finish.OutputFileID, tx.DeleteInput(ctx, r.Job.ID)
}

// setApart leaves a job to a task that makes its document apart, unless another attempt has claimed it.
func setApart(ctx context.Context, tx *store.Tx, batchID string, job ClaimedJob) error {
	held, err := tx.SetJobApart(ctx, job.ID, job.attempt)
	if err != nil || held == 0 {
		return err
	}
	_, err = tx.Enqueue(ctx, store.Job{Task: GenerateDocuments{BatchID: batchID, First: job.ID, Last: job.ID, Apart: true}, Queue: ApartQueue})
	return err
}

// put makes a new file of an output in the destination, under its name or, where that is taken, with a number.
func (s *Service) put(ctx context.Context, tx *store.Tx, d destination, output *Output, fileID int64, name string) error {
	row := newItemRow(File, fileID, parentOf(d.folder.row.ID), name, d.folder.row.OwnerID, d.caller.User.ID, s.micros())
	if err := d.insertNumbered(ctx, tx, output.content, row); err != nil {
		return err
	}
	return output.content.settle(ctx, tx, d.folder, fileID)
}

// refuse makes a failure of a result that cannot be written where it was to go, and bounds its failures.
func (d destination) refuse(r Result) Result {
	if r.Output != nil && d.problem != "" {
		r.Output, r.Failures.Errors = nil, append([]string{d.problem}, r.Failures.Errors...)
	}
	r.Failures = r.Failures.Bounded()
	return r
}

// endEvents tell of a job that ended, and of its document.
func (d destination) endEvents(r Result, status Status, outputID int64) []event {
	r = d.refuse(r)
	trigger, info := DocumentSucceeded, generated(d.batch, d.caller.rootID, d.source, r.Job.ID, status)
	info.OutputFileID, info.Failures = outputID, r.Failures.eventLines()
	if status == StatusFailed {
		trigger = DocumentFailed
	}
	events := []event{{trigger: trigger, item: d.source, info: info}}
	if outputID != 0 {
		events = append(events, event{trigger: FileUploaded, item: d.folder.child(File, outputID)})
	}
	return events
}

// fireStarted has the webhooks told of jobs that are claimed for the first time.
func (s *Service) fireStarted(ctx context.Context, tx *store.Tx, batch store.DocgenBatch, jobs []store.DocgenJob) error {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j store.DocgenJob) bool { return j.Attempt > 1 })
	if len(jobs) == 0 {
		return nil
	}
	user, err := tx.User(ctx, batch.CreatedBy)
	if err != nil {
		return err
	}
	template, err := s.placeAt(ctx, tx.Queries, File, batch.TemplateFileID)
	if err != nil {
		return err
	}
	events := make([]event, len(jobs))
	for i, job := range jobs {
		events[i] = event{trigger: DocumentStarted, item: template, info: generated(batch, user.User.RootFolderID, template, job.ID, Status(job.Status))}
	}
	return s.fire(ctx, tx, callerOf(user.User, false), events...)
}

// generated is what events say of a job, whose batch was made by the user with a root folder.
func generated(batch store.DocgenBatch, root int64, template place, jobID int64, status Status) Generated {
	g := Generated{
		BatchID: batch.ID, JobID: jobID, Status: status, TemplateID: batch.TemplateFileID, TemplateName: template.row.Name,
		TemplateVersionID: batch.TemplateVersionID, DestinationID: batch.DestinationID, OutputType: batch.OutputType,
	}
	if g.DestinationID == root {
		g.DestinationID = rootID
	}
	return g
}

func (r Result) status() Status {
	switch {
	case r.Output == nil:
		return StatusFailed
	case len(r.Failures.Errors) > 0:
		return StatusCompletedWithError
	}
	return StatusCompleted
}

// noNil makes an absent list an empty one, which is what the interface shows.
func noNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// numberTries is how often a number is looked for that others keep taking at the same moment.
const numberTries = 100

// insertNumbered adds a file under its name or, where that is taken, under the name with the first free number.
func (d destination) insertNumbered(ctx context.Context, tx *store.Tx, v content, row store.InsertItemParams) error {
	key := row.NameKey
	added, err := v.insertFile(ctx, tx, row)
	for name, try := row.Name, 0; err == nil && !added; try++ {
		if try == numberTries { // or it is not the name that is taken but the id
			return fmt.Errorf("no number for a name found in %d tries", try)
		}
		var n int
		if n, err = freeNumber(ctx, tx, row.ParentID, File, name, d.numbers[key]); err != nil {
			return err
		}
		d.numbers[key] = n
		row.Name = numberedName(File, name, n)
		row.NameKey = foldKey(row.Name)
		added, err = v.insertFile(ctx, tx, row)
	}
	return err
}

// FailJobs ends the jobs of a task that no attempt could end, with a reason for a person. It returns how many jobs it
// ended, by status.
func (s *Service) FailJobs(ctx context.Context, task GenerateDocuments, reason string) (map[Status]int, error) {
	claim, err := s.ClaimJobs(ctx, task)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(claim.Jobs))
	for i, job := range claim.Jobs {
		results[i] = Result{Job: job, Failures: Failures{Errors: []string{reason}}}
	}
	return s.CompleteJobs(ctx, claim, results)
}
