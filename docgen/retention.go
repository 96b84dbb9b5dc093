package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"platen/store"
)

// Data is stored for a limited time after it is no longer needed. A task applies the retention periods once a day: it
// hides old batches, and deletes old inputs, failures, items and versions in the trash, entries of the audit log, and events.
// Hidden batches are deleted by RemoveBatches, which deletes batches for API requests as well. Both tasks are unique,
// so one server runs them at a time, and both work in short transactions: all state is in rows, and after a crash, they
// continue.

// Retention has the retention periods. Zero keeps data forever.
type Retention struct {
	Batches time.Duration // since the batch was created: the batch, its jobs, their failures and inputs, and the row of its merge
	Inputs  time.Duration // since the job ended: the user_input of jobs that failed
	Trash   time.Duration // since the file, the folder, or the version of a file was put into the trash
	Audit   time.Duration // since the entry of the audit log was written
	Events  time.Duration // since the event of the event stream
	// Failures is since the job or the merge ended: the errors and warnings. The status, the code, and the count stay.
	Failures time.Duration
}

// RetentionGrace is the time after the first start of a release with Retention in which nothing is removed.
const RetentionGrace = 7 * 24 * time.Hour

// After a gap between runs of ApplyRetention, the server was off, or its clock is wrong. With a clock in the future, too much would be
// removed.
const (
	retentionGap   = 3 * 24 * time.Hour // interval between two runs above which the clock may be wrong
	retentionPause = 24 * time.Hour     // time after a gap in which nothing is removed
)

const (
	retentionBudget = 45 * time.Second // no transaction begins after this; the queue gives a task 120 s
	oldPortion      = 200              // batches, or items in the trash, read at once
	inputPortion    = 16               // inputs that one transaction deletes; each may have megabytes
	failurePortion  = 64               // failures that one transaction deletes; each may have MaxFailureBytes
	jobPortion      = 1000             // maximum number of jobs of a batch that one transaction deletes
	longRemoval     = time.Second / 10 // duration of such a transaction after which the next one deletes fewer jobs
	auditPortion    = 1000             // entries of the audit log that one transaction deletes
	eventsDeleted   = 1000             // events of the event stream that one transaction deletes
)

// RetentionCounts is the number of objects that the retention periods select, by kind: batches, inputs, files, folders,
// and file versions in the trash, failures, entries of the audit log, and events.
type RetentionCounts struct{ Batches, Inputs, Trash, Failures, Audit, Events int64 }

// failuresDeleted replaces deleted failures.
const failuresDeleted = "The failures were deleted after their retention period."

// ApplyRetention is the task that applies the retention periods.
type ApplyRetention struct{}

// Kind names the task.
func (ApplyRetention) Kind() string { return "apply_retention" }

// RemoveBatches is the task that deletes hidden batches.
type RemoveBatches struct{}

// Kind names the task.
func (RemoveBatches) Kind() string { return "remove_batches" }

// ScheduleRetention schedules ApplyRetention, and RemoveBatches for the batches that an earlier process has left. Call it once at startup.
func (s *Service) ScheduleRetention(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx,
			store.Job{Task: ApplyRetention{}, Queue: RemovalQueue, Unique: true, Priority: 4, Tries: maintenanceTries},
			store.Job{Task: RemoveBatches{}, Queue: RemovalQueue, Unique: true, Tries: maintenanceTries})
		return err
	})
}

// RetentionBegins returns when the retention periods first apply.
func (s *Service) RetentionBegins(ctx context.Context) (time.Time, error) {
	var since int64
	err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
		since, err = keptTime(ctx, tx, settingRetention, s.micros())
		return err
	})
	return timeOf(since).Add(RetentionGrace), err
}

// keptTime returns the time in a setting. A new setting gets the time first.
func keptTime(ctx context.Context, tx *store.Tx, name string, first int64) (int64, error) {
	if _, err := tx.InsertSetting(ctx, name, strconv.FormatInt(first, 10)); err != nil {
		return 0, err
	}
	text, err := tx.Setting(ctx, name)
	if err != nil {
		return 0, err
	}
	moment, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("setting %s: %w", name, err)
	}
	return moment, nil
}

// trustClock records a run of ApplyRetention, and reports whether it may remove anything. After a gap, it may not for a day. Runs in that
// day are not recorded, so that a clock that is corrected within it is trusted immediately.
func (s *Service) trustClock(ctx context.Context) (trusted bool, err error) {
	now := s.micros()
	var last, noticed int64
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		if last, err = keptTime(ctx, tx, settingRetentionRun, now); err != nil {
			return err
		}
		if noticed, err = keptTime(ctx, tx, settingRetentionGap, 0); err != nil {
			return err
		}
		ago := now - noticed
		trusted = now-last <= retentionGap.Microseconds() // also if the clock was set back
		switch {
		case trusted:
		case ago < 0 || ago > retentionGap.Microseconds():
			noticed = now
			return tx.SetSetting(ctx, settingRetentionGap, strconv.FormatInt(now, 10))
		case ago < retentionPause.Microseconds():
			return nil
		}
		trusted = true
		return errors.Join(tx.SetSetting(ctx, settingRetentionRun, strconv.FormatInt(now, 10)), tx.SetSetting(ctx, settingRetentionGap, "0"))
	})
	if err == nil && !trusted {
		s.log.WarnContext(ctx, "the retention periods were last applied long ago: nothing is removed for now, because the clock may be wrong",
			"last", timeOf(last), "now", timeOf(now), "begins", timeOf(noticed).Add(retentionPause))
	}
	return trusted, err
}

// before returns the time, in the database's format, before which something is outdated.
func before(moment time.Time, keep time.Duration) int64 {
	if keep == 0 {
		return 0
	}
	return moment.Add(-keep).UnixMicro()
}

// OutdatedAt reports for each kind whether the retention periods will select anything at a time: 1 if so, otherwise 0.
func (s *Service) OutdatedAt(ctx context.Context, r Retention, at time.Time) (RetentionCounts, error) {
	var row store.RetentionCountsRow
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		row, err = q.RetentionCounts(ctx, store.RetentionCountsParams{
			Batches: before(at, r.Batches), Inputs: before(at, r.Inputs), Trash: before(at, r.Trash), Failures: before(at, r.Failures),
			Audit: before(at, r.Audit), Events: before(at, r.Events),
		})
		return err
	})
	one := map[bool]int64{true: 1}
	return RetentionCounts{
		one[row.Batches], one[row.Inputs], one[row.Trash || row.Versions], one[row.Failures], one[row.Audit], one[row.Events],
	}, err
}

// ApplyRetention removes data that is older than the retention periods, and returns the counts. Batches are hidden, and deleted by
// RemoveBatches. If more is true, its time was up, and it must be called again. Nothing is removed while the clock may be wrong.
func (s *Service) ApplyRetention(ctx context.Context, r Retention) (removed RetentionCounts, more bool, err error) {
	trusted, err := s.trustClock(ctx)
	if err != nil || !trusted {
		return removed, false, err
	}
	begins, err := s.RetentionBegins(ctx)
	if err != nil || s.now().Before(begins) {
		return removed, false, err
	}
	end := s.now().Add(retentionBudget)
	for _, step := range []struct {
		apply  func(context.Context, int64, time.Time) (int64, error)
		keep   time.Duration
		counts *int64
	}{
		{s.hideOldBatches, r.Batches, &removed.Batches}, {s.deleteOldInputs, r.Inputs, &removed.Inputs},
		{s.deleteOldFailures, r.Failures, &removed.Failures}, {s.purgeOldTrash, r.Trash, &removed.Trash},
		{s.purgeOldVersions, r.Trash, &removed.Trash}, {s.deleteOldAudit, r.Audit, &removed.Audit},
		{s.deleteOldEvents, r.Events, &removed.Events},
	} {
		if step.keep == 0 {
			continue
		}
		n, stepErr := step.apply(ctx, before(s.now(), step.keep), end)
		*step.counts += n
		err = errors.Join(err, stepErr)
	}
	return removed, s.now().After(end), err
}

// hideOldBatches hides batches that were created before a time and have ended.
func (s *Service) hideOldBatches(ctx context.Context, before int64, end time.Time) (hidden int64, err error) {
	after := store.OldBatchesParams{Before: before, Count: oldPortion}
	for !s.now().After(end) {
		var rows []store.OldBatchesRow
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			rows, err = q.OldBatches(ctx, after)
			return err
		})
		if err != nil || len(rows) == 0 {
			return hidden, err
		}
		for _, row := range rows {
			ok, err := s.hideBatch(ctx, row.ID)
			if err != nil {
				return hidden, err
			}
			if ok {
				hidden++
			}
			after.AfterTime, after.AfterID = row.CreatedAt, row.ID
		}
	}
	return hidden, nil
}

// hideBatch hides a batch and schedules its deletion. ok is false if it has not ended, or is already hidden.
func (s *Service) hideBatch(ctx context.Context, id string) (ok bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		ok, err = hideBatch(ctx, tx, id, s.micros())
		return err
	})
	return ok, err
}

func hideBatch(ctx context.Context, tx *store.Tx, id string, now int64) (ok bool, err error) {
	hidden, err := tx.HideBatch(ctx, id, now)
	if err != nil || hidden == 0 {
		return false, err
	}
	_, err = tx.Enqueue(ctx, store.Job{Task: RemoveBatches{}, Queue: RemovalQueue, Unique: true, Tries: maintenanceTries})
	return true, err
}

// deleteOldInputs deletes the inputs of jobs that ended before a time.
func (s *Service) deleteOldInputs(ctx context.Context, before int64, end time.Time) (deleted int64, err error) {
	for !s.now().After(end) {
		var portion int64
		err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
			portion, err = tx.DeleteOldInputs(ctx, before, inputPortion)
			return err
		})
		deleted += portion
		if err != nil || portion < inputPortion {
			return deleted, err
		}
	}
	return deleted, nil
}

// deleteOldFailures deletes the failures of jobs and merges that ended before a time. Their placeholders stay.
func (s *Service) deleteOldFailures(ctx context.Context, before int64, end time.Time) (deleted int64, err error) {
	stub, err := Failures{Errors: []string{failuresDeleted}}.text()
	if err != nil {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		deleted, err = tx.ReplaceOldMergeFailures(ctx, before, stub)
		return err
	})
	for portion := failurePortion; err == nil && portion == failurePortion && !s.now().After(end); deleted += int64(portion) {
		err = s.db.Write(ctx, func(tx *store.Tx) error {
			rows, err := tx.OldFailuresOfJobs(ctx, before, failurePortion)
			if portion = len(rows); err != nil {
				return err
			}
			for _, row := range rows {
				if err := forgetFailures(ctx, tx, row); err != nil {
					return fmt.Errorf("failures of job %d: %w", row.JobID, err)
				}
			}
			return nil
		})
	}
	return deleted, err
}

// forgetFailures deletes the failures of a job, and the message in its summary.
func forgetFailures(ctx context.Context, tx *store.Tx, row store.OldFailuresOfJobsRow) error {
	summary, err := summaryOf(row.Summary, Status(row.Status))
	if err != nil {
		return err
	}
	if summary != nil {
		summary.Message = failuresDeleted
	}
	text, err := summary.text()
	if err != nil {
		return err
	}
	if err := tx.Summarize(ctx, row.JobID, text); err != nil {
		return err
	}
	return tx.DeleteFailures(ctx, row.JobID)
}

// deleteOldAudit deletes the entries of the audit log from before a time.
func (s *Service) deleteOldAudit(ctx context.Context, before int64, end time.Time) (deleted int64, err error) {
	for portion := int64(auditPortion); err == nil && portion == auditPortion && !s.now().After(end); deleted += portion {
		err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
			portion, err = tx.DeleteOldAuditEvents(ctx, before, auditPortion)
			return err
		})
	}
	return deleted, err
}

// deleteOldEvents deletes the events of the event stream from before a time.
func (s *Service) deleteOldEvents(ctx context.Context, before int64, end time.Time) (deleted int64, err error) {
	for portion := int64(eventsDeleted); err == nil && portion == eventsDeleted && !s.now().After(end); deleted += portion {
		err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
			portion, err = tx.DeleteOldEvents(ctx, eventsDeleted, before)
			return err
		})
	}
	return deleted, err
}

// DeleteBatch deletes a batch that the caller created, with its jobs, their failures and inputs, and the row of its merge. The
// files it generated stay. A batch that has not ended is a conflict.
func (s *Service) DeleteBatch(ctx context.Context, c *Caller, id string) error {
	if err := c.require(ScopeDocGen); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := findBatch(ctx, tx.Queries, c, id); err != nil {
			return err
		}
		ok, err := hideBatch(ctx, tx, id, s.micros())
		if err == nil && !ok {
			err = failf(CodeConflict, "The batch is still running. Wait until no job is pending or submitted and its merged file is "+
				"done, then retry.")
		}
		return err
	})
}

// RemoveBatches deletes hidden batches, and returns their number. If more is true, its time was up, and it must be called again.
func (s *Service) RemoveBatches(ctx context.Context) (deleted int64, more bool, err error) {
	for end := s.now().Add(retentionBudget); ; {
		var ids []string
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			ids, err = q.HiddenBatches(ctx, s.micros(), oldPortion)
			return err
		})
		if err != nil {
			return deleted, false, err
		}
		if len(ids) == 0 {
			more, err := s.endRemoveBatches(ctx)
			return deleted, more, err
		}
		for _, id := range ids {
			all, err := s.removeBatch(ctx, id, end)
			if err != nil {
				return deleted, false, fmt.Errorf("remove batch %s: %w", id, err)
			}
			if !all {
				return deleted, true, nil
			}
			deleted++
		}
	}
}

// endRemoveBatches marks the task as done, unless a batch was hidden meanwhile (more is then true).
func (s *Service) endRemoveBatches(ctx context.Context) (more bool, err error) {
	return s.endUnlessDue(ctx, func(tx *store.Tx) (bool, error) {
		left, err := tx.HiddenBatches(ctx, s.micros(), 1)
		return len(left) > 0, err
	})
}

// removeBatch deletes a hidden batch in portions until a time. The data of a job may have bytes or megabytes, so the duration of a portion
// determines the size of the next one. all reports that nothing is left.
func (s *Service) removeBatch(ctx context.Context, id string, end time.Time) (all bool, err error) {
	for portion := inputPortion; err == nil && !all && !s.now().After(end); {
		began := s.now()
		all, err = s.removeBatchPortion(ctx, id, portion)
		if s.now().Sub(began) > longRemoval {
			portion = max(portion/2, inputPortion)
		} else {
			portion = min(portion*2, jobPortion)
		}
	}
	return all, err
}

// removeBatchPortion deletes the first jobs of a hidden batch in one transaction, and after the last ones, the batch. all reports that
// nothing is left.
func (s *Service) removeBatchPortion(ctx context.Context, id string, portion int) (all bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		all = false
		held, err := tx.LockHiddenBatch(ctx, id, s.micros())
		if all = held == 0; err != nil || all {
			return err
		}
		if err := tx.DeleteSomeInputs(ctx, id, int32(portion)); err != nil {
			return err
		}
		if err := tx.DeleteSomeFailures(ctx, id, int32(portion)); err != nil {
			return err
		}
		if n, err := tx.DeleteSomeJobs(ctx, id, int32(portion)); err != nil || n == int64(portion) {
			return err
		}
		all = true
		for _, remove := range []func(context.Context, string) error{tx.DeleteTurns, tx.DeleteMerge, tx.DeleteEnding, tx.DeleteBatch} {
			if err := remove(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// isGone reports whether a row does not exist, or belongs to a hidden batch.
func isGone(err error, batch store.DocgenBatch) bool {
	return errors.Is(err, sql.ErrNoRows) || err == nil && batch.RemovedAt != 0
}
