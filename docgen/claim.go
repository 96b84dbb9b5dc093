package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
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
		if errors.Is(err, errMoreIsDue) {
			continue
		}
		if err == nil && len(claim.Jobs) > 0 {
			s.noteChange(claim.BatchID)
		}
		return claim, err
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
		batch, err := tx.Batch(ctx, turn.BatchID)
		if err != nil {
			return nil, fmt.Errorf("batch %s: %w", turn.BatchID, err)
		}
		if batch.CanceledAt != 0 { // it joined the lane in a transaction that did not see that
			if err := errors.Join(tx.LeaveTurns(ctx, turn.ID), wakeCancellation(ctx, tx)); err != nil {
				return nil, err
			}
			continue
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
			return s.claimOf(ctx, tx, task, batch, rows)
		}
	}
}

// claimOf returns the Claim for the rows of jobs that were just claimed.
func (s *Service) claimOf(ctx context.Context, tx *store.Tx, task GenerateDocuments, batch store.DocgenBatch,
	rows []store.DocgenJob) (*Claim, error) {
	claim := &Claim{
		UserID: task.UserID, BatchID: batch.ID, TemplateVersionID: batch.TemplateVersionID, OutputType: batch.OutputType,
		Lane: task.Lane, CreatedAt: timeOf(batch.CreatedAt), traceParent: batch.TraceParent,
		Requester: Requester{UserID: batch.CreatedBy, GlobalContent: batch.GlobalContent},
	}
	var err error
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
			_, err := s.joinAt(ctx, tx, claim.UserID, claim.Lane, claim.BatchID, released, batch.PausedUntil)
			return err
		}
		return s.join(ctx, tx, claim.UserID, claim.Lane, claim.BatchID, released)
	})
}

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
			_, err = s.joinAt(ctx, tx, claim.UserID, lane, claim.BatchID, documents, batch.PausedUntil)
		default:
			err = s.join(ctx, tx, claim.UserID, lane, claim.BatchID, documents)
		}
	}
	return err
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
