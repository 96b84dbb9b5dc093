package docgen

import (
	"context"
	"fmt"
	"time"

	"platen/docx"
	"platen/pdf/font"
	"platen/store"
)

// Status is the status of a job:
//
//	pending ──claimed──▶ submitted ──┬─▶ completed             every tag filled
//	                         ▲  │    ├─▶ completed_with_error  written, but something was missing
//	                         └──┘    └─▶ failed                nothing written
//	                     claimed again after a crash
//
// A job never changes after it has ended.
type Status string

// The statuses.
const (
	StatusPending            Status = "pending"
	StatusSubmitted          Status = "submitted"
	StatusCompleted          Status = "completed"
	StatusCompletedWithError Status = "completed_with_error"
	StatusFailed             Status = "failed"
)

// shortage returns the shortage that a job or a merged file with this status waits for.
func (s Status) shortage(waitingFor string) Shortage {
	if s == StatusPending || s == StatusSubmitted {
		return Shortage(waitingFor)
	}
	return NoShortage
}

// Job is the generation of one document of a batch.
type Job struct {
	ID                int64
	BatchID           string
	TemplateID        int64
	TemplateVersionID int64
	Status            Status
	OutputType        string
	OutputFileID      int64           // 0 unless the job has ended with a document
	OutputVersionID   int64           // 0 unless the job has ended with a document
	Failures          Failures        // empty in lists
	Summary           *FailureSummary // nil if there are no failures
	WaitingFor        Shortage        // why the job waits although it could be generated; NoShortage once it has ended
	CreatedAt         time.Time
	CreatedBy         int64
	EnterpriseID      int64
	Source            string
}

// FontReport says which fonts were used for those that a document asks for.
type FontReport = font.Report

// Detail is a problem of a document with its location.
type Detail = docx.Error //nolint:errname // the API calls it a detail

func jobOf(row store.DocgenJob, batch store.DocgenBatch, details string) (Job, error) {
	f, err := failuresOf(details)
	if err != nil {
		return Job{}, fmt.Errorf("failures of job %d: %w", row.ID, err)
	}
	f = f.Bounded() // an earlier release did not bound them
	summary := f.summary(Status(row.Status))
	if details == "" { // there are none, or they were deleted
		if summary, err = summaryOf(row.Summary, Status(row.Status)); err != nil {
			return Job{}, fmt.Errorf("summary of job %d: %w", row.ID, err)
		}
		f = summary.stub()
	}
	return Job{
		ID: row.ID, BatchID: row.BatchID, TemplateID: row.TemplateFileID, TemplateVersionID: batch.TemplateVersionID,
		Status: Status(row.Status), OutputType: batch.OutputType, OutputFileID: row.OutputFileID, OutputVersionID: row.OutputVersionID,
		Failures: f, Summary: summary, WaitingFor: Status(row.Status).shortage(batch.WaitingFor), CreatedAt: timeOf(batch.CreatedAt),
		CreatedBy:    row.CreatedBy,
		EnterpriseID: batch.EnterpriseID, Source: batch.Source,
	}, nil
}

// Job returns a job that the caller created. Jobs of other users are not found.
func (s *Service) Job(ctx context.Context, c *Caller, id int64) (Job, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Job{}, err
	}
	var job Job
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := findJob(ctx, q, c, id)
		if err != nil {
			return err
		}
		details, err := failureText(ctx, q, row.DocgenJob)
		if err != nil {
			return err
		}
		job, err = jobOf(row.DocgenJob, row.DocgenBatch, details)
		return err
	})
	return job, err
}

// findJob returns a job that the caller created, with its batch. Jobs of other users are not found.
func findJob(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.JobRow, error) {
	row, err := q.Job(ctx, id)
	if isGone(err, row.DocgenBatch) || err == nil && row.DocgenJob.CreatedBy != c.User.ID {
		err = NotFound("docgen_job", id)
	}
	return row, err
}
