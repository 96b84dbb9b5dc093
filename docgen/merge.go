package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"platen/store"
)

// MergeDocuments is the task of merging the documents of a batch into one PDF, after all its jobs have ended.
type MergeDocuments struct {
	BatchID string `json:"batch_id"`
	UserID  int64  `json:"user_id,omitempty"` // creator of the batch; 0 in tasks of earlier releases
}

// Kind names the task.
func (MergeDocuments) Kind() string { return "merge_documents" }

// job returns the queue entry of the task. Server errors and crashes are counted on the merged file.
func (t MergeDocuments) job() store.Job {
	return store.Job{Task: t, Queue: MergeQueue, Tries: generationTries}
}

// MergeQueue is the queue of the task. Merging can take long, and documents must not wait for it.
const MergeQueue = "merge"

// Merge is the claim of one attempt on the merged file of a batch, until CompleteMerge ends it or another attempt claims the file.
type Merge struct {
	BatchID  string
	FileName string // as requested, with its extension
	Options  BatchOptions
	Parts    []*Content // the documents, in the order of the request
	Isolated bool       // servers have crashed while merging it: merge it in a process that may die
	failures Failures   // the documents that are missing
	attempt  int64
	policy   int64 // of the store for the file
}

// Merged is the state of the merged file of a batch. The file waits until the last job has ended.
type Merged struct {
	FileName        string // as requested, with its extension
	Status          Status
	OutputFileID    int64 // 0 until it exists
	OutputVersionID int64 // 0 until it exists
	Failures        Failures
	WaitingFor      Shortage // why it waits although all jobs have ended; NoShortage once it has ended
}

// mergedOf returns the state of the merged file of a batch that has one.
func mergedOf(row store.ListedBatch) (*Merged, error) {
	f, err := failuresOf(row.MergeFailures)
	f = f.Bounded()
	if err != nil {
		return nil, fmt.Errorf("failures of the merged file of batch %s: %w", row.ID, err)
	}
	return &Merged{FileName: row.MergeName, Status: Status(row.MergeStatus), OutputFileID: row.MergeFileID,
		OutputVersionID: row.MergeVersionID, Failures: f,
		WaitingFor: Status(row.MergeStatus).shortage(row.MergeShortage)}, nil
}

// ClaimMerge claims the merged file of a batch for one attempt, unless it has ended. An earlier claimant that was presumed dead can no
// longer end it. crashed means that the server of the earlier attempt probably crashed, if it neither ended nor released the merge. After
// two crashes the Merge is isolated. A Merge without parts has no work left.
func (s *Service) ClaimMerge(ctx context.Context, task MergeDocuments, crashed bool) (*Merge, error) {
	var claimed store.DocgenMerge
	var crashes int64
	if crashed {
		crashes = 1
	}
	err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
		claimed, err = tx.ClaimMerge(ctx, crashes, task.BatchID)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return &Merge{BatchID: task.BatchID}, nil
	}
	if err != nil {
		return nil, err
	}
	m := &Merge{BatchID: task.BatchID, FileName: claimed.FileName, attempt: claimed.Attempt,
		Isolated: claimed.Crashes >= crashesBeforeIsolation}
	if err := s.db.Read(ctx, func(q *store.Queries) error { return s.readMerge(ctx, q, m) }); err != nil {
		return nil, fmt.Errorf("merge the documents of batch %s: %w", task.BatchID, err)
	}
	if len(m.Parts) == 0 {
		_, err = s.CompleteMerge(ctx, m, nil, Failures{})
	}
	return m, err
}

// readMerge finds the parts of a merge: the versions that the jobs created, even if they were moved or trashed.
func (s *Service) readMerge(ctx context.Context, q *store.Queries, m *Merge) error {
	batch, err := q.Batch(ctx, m.BatchID)
	if err != nil {
		return err
	}
	if m.Options, err = workingOptions(ctx, q, batch); err != nil {
		return err
	}
	if m.policy, err = s.policyAt(ctx, q, batch.DestinationID); err != nil {
		return err
	}
	jobs := map[Status]int{StatusCompleted: int(batch.JobsCompleted), StatusCompletedWithError: int(batch.JobsIncomplete),
		StatusFailed: int(batch.JobsFailed)}
	rows, err := q.MergeParts(ctx, m.BatchID)
	for _, row := range rows {
		m.Parts = append(m.Parts, s.contentOf(row.FileVersion))
	}
	m.failures = lackOf(jobs, len(rows))
	return err
}

// lackOf returns the failures of a file that is merged from some documents of a batch.
func lackOf(jobs map[Status]int, documents int) (f Failures) {
	made := jobs[StatusCompleted] + jobs[StatusCompletedWithError]
	if n := jobs[StatusFailed]; n > 0 {
		f.Errors = append(f.Errors, fmt.Sprintf("%d of the %d documents could not be generated: the failures of their jobs say why.", n, n+made))
	}
	if n := made - documents; n > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d of the %d documents were permanently deleted before they could be merged.", n, made))
	}
	if documents == 0 {
		f.Errors = append(f.Errors, "No documents are left to merge.")
	}
	return f
}

// SaveMerged makes a merged file durable. It is then either passed to CompleteMerge or swept.
func (s *Service) SaveMerged(ctx context.Context, m *Merge, r io.Reader) (Output, error) {
	saved, err := s.saveContent(ctx, m.policy, r, "")
	return Output{saved}, err
}

// CompleteMerge ends a merge in one transaction, as CompleteJobs ends a job: the file becomes a new one of the batch's
// creator in the destination folder. Without an output, the merge failed, and the errors in its Failures say why. The
// passwords of the batch are deleted. It returns the status of the merge, or "" if another attempt has claimed it
// since.
func (s *Service) CompleteMerge(ctx context.Context, m *Merge, output *Output, f Failures) (status Status, err error) {
	err = s.whileDestinationStays(ctx, func() (unused []*Output, err error) {
		status, unused, err = s.completeMerge(ctx, m, output, f)
		return unused, err
	})
	s.noteChange(m.BatchID)
	return status, err
}

// completeMerge is CompleteMerge without its retries: the caller discards the unused outputs, and calls it again on errDestinationGone.
func (s *Service) completeMerge(ctx context.Context, m *Merge, output *Output, f Failures) (status Status, unused []*Output, err error) {
	r := Result{Output: output, Failures: Failures{
		Errors: slices.Concat(m.failures.Errors, f.Errors), Warnings: slices.Concat(m.failures.Warnings, f.Warnings),
	}}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		unused = nil
		d, err := s.destination(ctx, tx, m.BatchID)
		if errors.Is(err, errBatchGone) {
			if status = lost; output != nil {
				unused = []*Output{output}
			}
			return nil
		}
		if err != nil {
			return err
		}
		var fileID int64
		if status, fileID, err = s.finishMerge(ctx, tx, d, m, d.afford(r)); err != nil {
			return err
		}
		if output != nil && fileID == 0 {
			unused = []*Output{output}
		}
		if status == lost {
			return nil
		}
		if err := tx.DeleteEnding(ctx, m.BatchID); err != nil {
			return err
		}
		if err := s.endBatch(ctx, tx, m.BatchID); err != nil || fileID == 0 {
			return err
		}
		if err := s.charge(ctx, tx, d.folder.row.OwnerID, 1, output.content.size); err != nil {
			return err
		}
		if err := addUsage(ctx, tx, usage{d.folder, 1, output.content.size}); err != nil {
			return err
		}
		if err := s.stillThere(ctx, tx, d); err != nil {
			return err
		}
		return s.fire(ctx, tx, d.caller, event{trigger: FileUploaded, item: d.folder.child(File, fileID)})
	})
	return status, unused, err
}

// finishMerge ends a merge unless another attempt has claimed it, and returns its status and the id of its file, or 0
// if there is none.
func (s *Service) finishMerge(ctx context.Context, tx *store.Tx, d destination, m *Merge, r Result) (Status, int64, error) {
	r = d.refuse(r)
	failures, err := r.Failures.text()
	if err != nil {
		return lost, 0, err
	}
	status := r.status()
	finish := store.FinishMergeParams{BatchID: m.BatchID, Attempt: m.attempt, Status: string(status), Failures: failures,
		FinishedAt: s.micros()}
	if r.Output != nil {
		finish.OutputFileID, finish.OutputVersionID = s.newID(), r.Output.content.id
	}
	held, err := tx.FinishMerge(ctx, finish)
	if err != nil || held == 0 {
		return lost, 0, err
	}
	if r.Output == nil {
		return status, 0, nil
	}
	return status, finish.OutputFileID, s.put(ctx, tx, d, r.Output, finish.OutputFileID, m.FileName)
}

// ReleaseMerge releases a merge whose attempt was canceled.
func (s *Service) ReleaseMerge(ctx context.Context, m *Merge) error {
	_, err := s.putBackMerge(ctx, m, store.ReleaseMergeParams{})
	return err
}

// PauseMerge releases a merge because of a shortage. It returns the time until the next attempt, which grows with each pause.
func (s *Service) PauseMerge(ctx context.Context, m *Merge, shortage Shortage) (time.Duration, error) {
	held, err := s.putBackMerge(ctx, m, store.ReleaseMergeParams{Pauses: 1, WaitingFor: string(shortage)})
	return s.shortagePause(held.Pauses - 1), err
}

// RetryMerge releases a merge after an internal error. It returns the time until the next attempt, which grows with each error. After the
// fifth error it fails the merge instead, with a reason for people, and returns 0.
func (s *Service) RetryMerge(ctx context.Context, m *Merge, reason string) (time.Duration, error) {
	held, err := s.putBackMerge(ctx, m, store.ReleaseMergeParams{Tries: 1})
	if err == nil && held.Tries >= faultTries {
		_, err = s.FailMerge(ctx, MergeDocuments{BatchID: m.BatchID}, reason)
		return 0, err
	}
	return s.faultPause(max(1, held.Tries)), err
}

// putBackMerge releases a merge, unless another attempt has claimed it, or it has ended.
func (s *Service) putBackMerge(ctx context.Context, m *Merge, with store.ReleaseMergeParams) (held store.ReleaseMergeRow, err error) {
	with.BatchID, with.Attempt = m.BatchID, m.attempt
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		held, err = tx.ReleaseMerge(ctx, with)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return held, err
}

// RequeueMerge enqueues a merge again after its task was given up because of server crashes.
func (s *Service) RequeueMerge(ctx context.Context, task MergeDocuments) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, task.job())
		return err
	})
}

// FailMerge ends a merge that no attempt could complete, with a reason for people.
func (s *Service) FailMerge(ctx context.Context, task MergeDocuments, reason string) (Status, error) {
	m, err := s.ClaimMerge(ctx, task, false)
	if err != nil || len(m.Parts) == 0 {
		return lost, err
	}
	return s.CompleteMerge(ctx, m, nil, Failures{Errors: []string{reason}})
}
