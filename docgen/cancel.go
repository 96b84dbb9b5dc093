package docgen

import (
	"context"
	"fmt"

	"platen/fair"
	"platen/store"
)

// Canceling a batch takes one short transaction: the batch leaves its lanes, and no job is claimed after that. The task CancelJobs ends
// the jobs that no slot holds, in portions. Jobs that a slot holds end as usual. If a slot returns one to its lane instead, it ends too.
// All state is in rows: after a crash, the task continues.

const (
	jobCanceled   = "The batch was canceled before this document was generated."
	mergeCanceled = "The batch was canceled, so its documents were not merged."
)

// Limits of the task.
const (
	cancelPortion = 200 // jobs that one transaction ends, each with its notifications
	cancelUsers   = 100 // users whose batches are read at once
)

// CancelJobs is the task that ends the waiting jobs of canceled batches.
type CancelJobs struct{}

// Kind names the task.
func (CancelJobs) Kind() string { return "cancel_jobs" }

func wakeCancellation(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Enqueue(ctx, store.Job{Task: CancelJobs{}, Queue: CancelQueue, Unique: true, Tries: maintenanceTries})
	return err
}

// CancelQueue is the queue of CancelJobs.
const CancelQueue = "cancel"

// ScheduleCancellation schedules CancelJobs for the batches that an earlier process has left. Call it once at startup.
func (s *Service) ScheduleCancellation(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error { return wakeCancellation(ctx, tx) })
}

// CancelBatch cancels a batch that the caller created. Canceling it again changes nothing. If all its jobs have ended otherwise, it is a
// conflict. The batch has ended when the jobs have that are being generated.
func (s *Service) CancelBatch(ctx context.Context, c *Caller, id string) (Batch, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Batch{}, err
	}
	var canceled Batch
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := findBatch(ctx, tx.Queries, c, id); err != nil {
			return err
		}
		changed, err := tx.CancelBatch(ctx, id, s.micros())
		if err != nil {
			return err
		}
		if canceled, err = s.batch(ctx, tx.Queries, c, id); err != nil || changed == 0 {
			return err
		}
		if canceled.Jobs[StatusPending]+canceled.Jobs[StatusSubmitted] == 0 {
			return failf(CodeConflict, "All documents of the batch have ended, so there is nothing to cancel.")
		}
		if err := tx.DeleteTurns(ctx, id); err != nil {
			return err
		}
		return wakeCancellation(ctx, tx)
	})
	s.noteChange(id)
	return canceled, err
}

// CancelJobs ends waiting jobs of canceled batches. The users take turns, so that none waits for the batches of another. If more is true,
// its time was up, and it must be called again.
func (s *Service) CancelJobs(ctx context.Context) (more bool, err error) {
	for end := s.now().Add(retentionBudget); ; {
		var batches []store.CancelingBatchesRow
		err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
			batches, err = q.CancelingBatches(ctx, cancelUsers)
			return err
		})
		if err != nil {
			return false, err
		}
		if len(batches) == 0 {
			return s.endCancelJobs(ctx)
		}
		for _, batch := range batches {
			if s.now().After(end) {
				return true, nil
			}
			if err := s.cancelPortion(ctx, batch.ID, batch.CreatedBy); err != nil {
				return false, fmt.Errorf("cancel batch %s: %w", batch.ID, err)
			}
		}
	}
}

// endCancelJobs marks the task as done, unless there is more to do.
func (s *Service) endCancelJobs(ctx context.Context) (more bool, err error) {
	return s.endUnlessDue(ctx, func(tx *store.Tx) (bool, error) {
		left, err := tx.CancelingBatches(ctx, 1)
		return len(left) > 0, err
	})
}

// cancelPortion ends some waiting jobs of a canceled batch in one transaction.
func (s *Service) cancelPortion(ctx context.Context, id string, userID int64) error {
	ctx = fair.For(ctx, fair.Claimant{User: userID, Weight: 1})
	summary, err := (&FailureSummary{Code: FailureCanceled, Message: jobCanceled, Count: 1}).text()
	if err != nil {
		return err
	}
	var ended []ClaimedJob
	err = s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		ended = nil
		jobs, err := tx.CancelJobs(ctx, store.CancelJobsParams{BatchID: id, Summary: summary, FinishedAt: s.micros(), Limit: cancelPortion})
		if err != nil || len(jobs) == 0 {
			return err
		}
		d, err := s.batchOrigin(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.countEnded(ctx, tx, d.batch, endedJobs{canceled: len(jobs)}); err != nil {
			return err
		}
		var events []event
		for _, job := range jobs {
			ended = append(ended, ClaimedJob{ID: job})
			failed := Result{Job: ClaimedJob{ID: job}, Failures: Failures{Errors: []string{jobCanceled}}}
			events = append(events, d.endEvents(failed, StatusFailed, 0)...)
		}
		return s.fire(ctx, tx, d.caller, events...)
	})
	s.noteChange(id, ended...)
	return err
}
