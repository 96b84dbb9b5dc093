package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"platen/store"
)

// Claim is the claim of one attempt on some jobs of a batch, until CompleteJobs ends them or returns them to their lanes.
type Claim struct {
	UserID            int64 // creator of the batch
	BatchID           string
	TemplateVersionID int64
	OutputType        string
	Lane              Lane
	Options           BatchOptions
	CreatedAt         time.Time // of the batch, which is the current time in its documents
	Requester         Requester // creator of the batch
	Jobs              []ClaimedJob
	traceParent       string // see Trace
}

// ClaimedJob is one job of a Claim.
type ClaimedJob struct {
	ID       int64
	FileName string // requested name, with its extension
	First    bool   // it is claimed for the first time
	Crashes  int    // number of servers that crashed while they held it
	attempt  int64
	policy   int64 // storage policy of its document
}

// ClaimJobs claims the next jobs of a user in a lane for a slot: some jobs of the batch that has been served least. An
// earlier claimant that was presumed dead can no longer end them. A Claim without jobs means that none are due, and
// that the task of ctx has ended.
func (s *Service) ClaimJobs(ctx context.Context, task GenerateDocuments) (*Claim, error) {
	for {
		var claim *Claim
		err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
			claim, err = s.claimNext(ctx, tx, task)
			if err != nil || len(claim.Jobs) > 0 {
				return err
			}
			return endTask(ctx, tx, func() (bool, error) {
				due, err := tx.CountDueTurns(ctx, task.UserID, string(task.Lane), s.micros())
				return due > 0, err
			})
		})
		if !errors.Is(err, errMoreIsDue) {
			return claim, err
		}
	}
}

// claimNext claims jobs of the next batch, and removes batches without waiting jobs from the lane.
func (s *Service) claimNext(ctx context.Context, tx *store.Tx, task GenerateDocuments) (*Claim, error) {
	for {
		now := s.micros()
		turn, err := tx.NextTurn(ctx, task.UserID, string(task.Lane), now)
		if errors.Is(err, sql.ErrNoRows) {
			return &Claim{UserID: task.UserID, Lane: task.Lane}, nil
		}
		if err != nil {
			return nil, err
		}
		isolated := task.Lane == LaneIsolated
		rows, err := tx.ClaimJobs(ctx, store.ClaimJobsParams{
			BatchID: turn.BatchID, Isolated: isolated, DueAt: now, Limit: int32(task.Lane.claimOf(turn.Documents)), Slot: task.slot(),
		})
		if err != nil {
			return nil, err
		}
		due, err := tx.FirstDue(ctx, turn.BatchID, isolated)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			err = tx.LeaveTurns(ctx, turn.ID)
		case err == nil && due > now:
			err = tx.SetTurnDue(ctx, turn.ID, due)
		}
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			return s.claimOf(ctx, tx, task, turn.BatchID, rows)
		}
	}
}

// claimOf returns the Claim for the rows of jobs that were just claimed.
func (s *Service) claimOf(ctx context.Context, tx *store.Tx, task GenerateDocuments, batchID string,
	rows []store.DocgenJob) (*Claim, error) {
	batch, err := tx.Batch(ctx, batchID)
	if err != nil {
		return nil, fmt.Errorf("batch %s: %w", batchID, err)
	}
	claim := &Claim{
		UserID: task.UserID, BatchID: batch.ID, TemplateVersionID: batch.TemplateVersionID, OutputType: batch.OutputType,
		Lane: task.Lane, CreatedAt: timeOf(batch.CreatedAt), traceParent: batch.TraceParent,
		Requester: Requester{UserID: batch.CreatedBy, GlobalContent: batch.GlobalContent},
	}
	if claim.Options, err = workingOptions(ctx, tx.Queries, batch); err != nil {
		return nil, err
	}
	policy, err := s.policyAt(ctx, tx.Queries, batch.DestinationID)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b store.DocgenJob) int { return cmp.Compare(a.ID, b.ID) })
	for _, row := range rows {
		claim.Jobs = append(claim.Jobs, ClaimedJob{
			ID: row.ID, FileName: row.FileName, First: row.Attempt == 1, Crashes: int(row.Crashes), attempt: row.Attempt, policy: policy,
		})
	}
	return claim, s.fireStarted(ctx, tx, batch, rows)
}

// ReleaseJobs returns unstarted jobs of a claim to their lane. If their batch is paused, they wait until the pause
// ends. Jobs that the claim no longer holds are not changed.
func (s *Service) ReleaseJobs(ctx context.Context, claim *Claim, jobs []ClaimedJob) error {
	if len(jobs) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		released := int64(0)
		for _, job := range jobs {
			n, err := tx.ReleaseJob(ctx, job.ID, job.attempt, 0)
			if err != nil {
				return err
			}
			released += n
		}
		if released == 0 {
			return nil
		}
		batch, err := tx.Batch(ctx, claim.BatchID)
		switch {
		case err != nil:
			return err
		case batch.PausedUntil > s.micros():
			return s.joinAt(ctx, tx, claim.UserID, claim.Lane, claim.BatchID, released, batch.PausedUntil)
		}
		return s.join(ctx, tx, claim.UserID, claim.Lane, claim.BatchID, released)
	})
}

// Input returns the user_input of a job that has not ended.
func (s *Service) Input(ctx context.Context, jobID int64) ([]byte, error) {
	var data string
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		data, err = q.Input(ctx, jobID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("input of job %d: %w", jobID, err)
	}
	return []byte(data), nil
}

// Output is a document that is stored durably, but is not in a folder yet.
type Output struct{ content content }

// SaveOutput stores the document of a job durably. An Output that is not passed to CompleteJobs is swept.
func (s *Service) SaveOutput(ctx context.Context, job ClaimedJob, r io.Reader) (Output, error) {
	saved, err := s.saveContent(ctx, job.policy, r, "")
	return Output{saved}, err
}

// Result is the result of one job of a claim. Without an Output the job failed, for the errors in Failures.
type Result struct {
	Job      ClaimedJob
	Output   *Output
	Failures Failures
	// Isolate means that the job has not ended, because its document harmed others. It moves to LaneIsolated.
	Isolate bool
	// TryAgain means that the job has not ended because of an internal error. It is tried again after a pause. After several such errors it
	// fails, with the reasons in Failures.
	TryAgain bool
	// Shortage means that the job has not ended because the server lacks a resource. The batch is paused, as many times as necessary.
	Shortage Shortage
}

// CompleteJobs ends jobs of a claim in one transaction. Each document becomes a new file of the batch's creator in the destination folder,
// with the requested name or, if that is taken, with a number. If the destination no longer exists, the jobs fail. If another attempt has
// claimed a job since, this attempt's document is discarded. CompleteJobs returns the number of jobs that it ended, by status.
func (s *Service) CompleteJobs(ctx context.Context, claim *Claim, results []Result) (ended map[Status]int, err error) {
	err = s.whileDestinationStays(ctx, func() (unused []*Output, err error) {
		if ended, unused, err = s.completeJobs(ctx, claim, results); err != nil {
			ended = nil
		}
		return unused, err
	})
	return ended, err
}

// whileDestinationStays calls a function that completes jobs, repeats it on errDestinationGone, and discards unused outputs.
func (s *Service) whileDestinationStays(ctx context.Context, complete func() (unused []*Output, err error)) (err error) {
	var unused []*Output
	for range lockTries {
		if unused, err = complete(); !errors.Is(err, errDestinationGone) {
			break
		}
	}
	if err != nil {
		return err // the outputs are swept unless the transaction was committed nevertheless
	}
	for _, output := range unused {
		err = errors.Join(err, s.discard(ctx, output.content))
	}
	return err
}

// completeJobs is CompleteJobs without its retries: the caller discards the unused outputs, and calls it again on errDestinationGone.
func (s *Service) completeJobs(ctx context.Context, claim *Claim, results []Result) (ended map[Status]int, unused []*Output, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		unused, ended = nil, map[Status]int{}
		waiting := map[Lane]int64{}
		d, err := s.destination(ctx, tx, claim.BatchID)
		if errors.Is(err, errBatchGone) {
			unused = outputsOf(results)
			return nil
		}
		if err != nil {
			return err
		}
		written := usage{folder: d.folder}
		var events []event
		for _, result := range results {
			if lane, err := s.waitAgain(ctx, tx, &d.batch, claim, result); err != nil {
				return err
			} else if lane != "" {
				waiting[lane]++
				continue
			}
			output := result.Output
			result = d.afford(result)
			status, outputID, err := s.completeJob(ctx, tx, d, result)
			if err != nil {
				return fmt.Errorf("complete job %d: %w", result.Job.ID, err)
			}
			if status != lost {
				ended[status]++
				events = append(events, d.endEvents(result, status, outputID)...)
			}
			switch {
			case output == nil:
			case status == lost || status == StatusFailed:
				unused = append(unused, output)
			default:
				written.items++
				written.bytes += output.content.size
				d.space.Files, d.space.Bytes = d.space.Files+1, d.space.Bytes+output.content.size
			}
		}
		if err := s.addWritten(ctx, tx, d, written); err != nil {
			return err
		}
		if err := countEnded(ctx, tx, d.batch, ended); err != nil {
			return err
		}
		short := slices.ContainsFunc(results, func(r Result) bool { return r.Shortage != NoShortage })
		if err := s.rejoin(ctx, tx, claim, waiting, d.batch, short, len(ended) > 0); err != nil {
			return err
		}
		return s.fire(ctx, tx, d.caller, events...)
	})
	return ended, unused, err
}

// addWritten adds the written documents to the usage of the destination.
func (s *Service) addWritten(ctx context.Context, tx *store.Tx, d destination, written usage) error {
	if err := s.charge(ctx, tx, d.folder.row.OwnerID, written.items, written.bytes); err != nil {
		return err
	}
	if err := addUsage(ctx, tx, written); err != nil || written.items == 0 {
		return err
	}
	return s.stillThere(ctx, tx, d)
}

// errDestinationGone makes CompleteJobs start again, because the destination, an empty folder, was deleted after it was found.
var errDestinationGone = errors.New("the destination folder was deleted while jobs were completed")

// stillThere returns errDestinationGone if the destination of documents no longer exists. Call it after addUsage,
// because the deletion of an empty folder waits for that.
func (s *Service) stillThere(ctx context.Context, tx *store.Tx, d destination) error {
	_, err := s.find(ctx, tx.Queries, d.caller, Folder, d.folder.row.ID, MayUpload)
	if _, gone := errors.AsType[*Error](err); gone {
		return errDestinationGone
	}
	return err
}

// destination is the destination of the documents of a batch when they are finished.
type destination struct {
	batch   store.DocgenBatch
	source  place // the template
	folder  place
	caller  *Caller        // creator of the batch
	problem string         // why documents cannot be written there; "" if they can
	space   Space          // of the owner of the folder
	numbers map[string]int // last number added to a name in this transaction, by the key of the name
}

func (s *Service) destination(ctx context.Context, tx *store.Tx, batchID string) (destination, error) {
	batch, err := tx.Batch(ctx, batchID)
	if errors.Is(err, sql.ErrNoRows) {
		return destination{}, errBatchGone
	}
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
	// Unlike lockFolder, this does not make other writers to the folder wait; see stillThere.
	d.folder, err = s.findSteady(ctx, tx, d.caller, Folder, batch.DestinationID, MayUpload, func(place) error { return nil })
	if _, gone := errors.AsType[*Error](err); gone {
		d.problem = fmt.Sprintf("The destination folder %d was deleted, or can no longer be written to, while the document was made. "+
			"Restore it or choose another folder, and send the document again.", batch.DestinationID)
		return d, nil
	}
	if err == nil {
		d.space, err = s.lockSpace(ctx, tx, d.folder.row.OwnerID)
	}
	return d, err
}

// errBatchGone means that a batch was deleted while its documents were generated, because its creator was erased.
var errBatchGone = errors.New("the batch was deleted")

// outputsOf returns the documents of results.
func outputsOf(results []Result) []*Output {
	var outputs []*Output
	for _, r := range results {
		if r.Output != nil {
			outputs = append(outputs, r.Output)
		}
	}
	return outputs
}

// afford returns the result, or a failure if the owner of the folder has no space for the document.
func (d destination) afford(r Result) Result {
	if r.Output == nil || d.problem != "" {
		return r
	}
	if err := d.space.fits(1, r.Output.content.size); err != nil {
		r.Output, r.Failures.Errors = nil, append([]string{PublicError(err).Message}, r.Failures.Errors...)
	}
	return r
}

// lost is returned for a job that another attempt has claimed.
const lost Status = ""

// completeJob ends one job, and returns its status and the id of its document, which is 0 if there is none.
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

// faultTries is the maximum number of internal errors of a document.
const faultTries = 5

// waitAgain returns a job that has not ended to a lane, unless another attempt has claimed it, and returns the lane. It returns "" if the
// job must end.
func (s *Service) waitAgain(ctx context.Context, tx *store.Tx, batch *store.DocgenBatch, claim *Claim, r Result) (Lane, error) {
	switch {
	case r.Shortage != NoShortage:
		if err := s.pauseBatch(ctx, tx, batch, r.Shortage); err != nil {
			return "", err
		}
		_, err := tx.ReleaseJob(ctx, r.Job.ID, r.Job.attempt, 0) // the batch is paused
		return claim.Lane, err
	case r.Isolate:
		_, err := tx.SetJobIsolated(ctx, r.Job.ID, r.Job.attempt)
		return LaneIsolated, err
	case r.TryAgain:
		tries, err := tx.CountFault(ctx, r.Job.ID, r.Job.attempt)
		if errors.Is(err, sql.ErrNoRows) {
			return claim.Lane, nil
		}
		if err != nil || tries >= faultTries {
			return "", err
		}
		_, err = tx.ReleaseJob(ctx, r.Job.ID, r.Job.attempt, s.micros()+s.faultPause(tries).Microseconds())
		return claim.Lane, err
	}
	return "", nil
}

// faultPause returns how long a document waits after the given number of internal errors.
func (s *Service) faultPause(tries int64) time.Duration { return s.firstPause << (tries - 1) }

// rejoin adds documents of a claim to their lanes again. If there was a shortage, those in the lane of the claim wait
// until the pause of the batch ends. If there was none, and other documents ended, the pause ends now.
func (s *Service) rejoin(
	ctx context.Context, tx *store.Tx, claim *Claim, waiting map[Lane]int64, batch store.DocgenBatch, short, ended bool,
) (err error) {
	if ended && !short {
		err = s.resumeBatch(ctx, tx, batch)
	}
	for lane, documents := range waiting {
		switch {
		case err != nil:
			return err
		case short && lane == claim.Lane:
			err = s.joinAt(ctx, tx, claim.UserID, lane, claim.BatchID, documents, batch.PausedUntil)
		default:
			err = s.join(ctx, tx, claim.UserID, lane, claim.BatchID, documents)
		}
	}
	return err
}

// pauseBatch pauses a batch, longer each time, unless it is already paused.
func (s *Service) pauseBatch(ctx context.Context, tx *store.Tx, batch *store.DocgenBatch, shortage Shortage) error {
	now := s.micros()
	if batch.PausedUntil > now {
		return nil
	}
	_, err := tx.PauseBatch(ctx, store.PauseBatchParams{
		ID: batch.ID, WaitingFor: string(shortage), Now: now, Until: now + s.shortagePause(batch.Pauses).Microseconds(),
	})
	if err != nil {
		return err
	}
	*batch, err = tx.Batch(ctx, batch.ID) // another slot may have paused it
	return err
}

// resumeBatch ends the pause of a batch, because one of its documents has ended.
func (s *Service) resumeBatch(ctx context.Context, tx *store.Tx, batch store.DocgenBatch) error {
	if batch.WaitingFor == string(NoShortage) {
		return nil
	}
	if n, err := tx.ResumeBatch(ctx, batch.ID); err != nil || n == 0 {
		return err
	}
	lanes, err := tx.ResumeTurns(ctx, batch.ID)
	for _, turn := range lanes {
		if err == nil {
			err = wakeSlots(ctx, tx, batch.CreatedBy, Lane(turn.Lane), turn.Documents)
		}
	}
	return err
}

// put creates a file for an output in the destination, with its name or, if that is taken, with a number.
func (s *Service) put(ctx context.Context, tx *store.Tx, d destination, output *Output, fileID int64, name string) error {
	row := newItemRow(File, fileID, parentOf(d.folder.row.ID), name, d.folder.row.OwnerID, d.caller.User.ID, s.micros())
	if err := d.insertNumbered(ctx, tx, output.content, row); err != nil {
		return err
	}
	return output.content.settle(ctx, tx, d.folder, fileID)
}

// refuse bounds the failures of a result, and adds one if the destination cannot be written.
func (d destination) refuse(r Result) Result {
	if r.Output != nil && d.problem != "" {
		r.Output, r.Failures.Errors = nil, append([]string{d.problem}, r.Failures.Errors...)
	}
	r.Failures = r.Failures.Bounded()
	return r
}

// endEvents returns the events for a job that ended and for its document.
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

// fireStarted fires the events for jobs that are claimed for the first time.
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
		events[i] = event{trigger: DocumentStarted, item: template, info: generated(batch, user.User.RootFolderID, template, job.ID,
			Status(job.Status))}
	}
	return s.fire(ctx, tx, callerOf(user.User, false), events...)
}

// generated returns the event details of a job, for a batch of the user with the given root folder.
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

// noNil returns an empty list for nil, because the API shows empty lists.
func noNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// numberTries is the maximum number of attempts to find a free number while others use them concurrently.
const numberTries = 100

// insertNumbered adds a file with its name or, if that is taken, with the first free number.
func (d destination) insertNumbered(ctx context.Context, tx *store.Tx, v content, row store.InsertItemParams) error {
	key := row.NameKey
	added, err := v.insertFile(ctx, tx, row)
	for name, try := row.Name, 0; err == nil && !added; try++ {
		if try == numberTries { // the id may be taken instead of the name
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
