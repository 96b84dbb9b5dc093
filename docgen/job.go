package docgen

import (
	"context"
	"fmt"
	"time"

	"platen/docx"
	"platen/pdf/font"
	"platen/store"
)

// Status is where a job stands:
//
//	pending ──claimed──▶ submitted ──┬─▶ completed             every tag filled
//	                         ▲  │    ├─▶ completed_with_error  written, but something was missing
//	                         └──┘    └─▶ failed                nothing written
//	                     claimed again after a crash
//
// A job that has ended never changes again.
type Status string

// The statuses.
const (
	StatusPending            Status = "pending"
	StatusSubmitted          Status = "submitted"
	StatusCompleted          Status = "completed"
	StatusCompletedWithError Status = "completed_with_error"
	StatusFailed             Status = "failed"
)

// shortage is what a job, or a merged file, waits for that has this status.
func (s Status) shortage(waitingFor string) Shortage {
	if s == StatusPending || s == StatusSubmitted {
		return Shortage(waitingFor)
	}
	return NoShortage
}

// Job makes one document of a batch.
type Job struct {
	ID                int64
	BatchID           string
	TemplateID        int64
	TemplateVersionID int64
	Status            Status
	OutputType        string
	OutputFileID      int64           // 0 until the job has ended with a document
	OutputVersionID   int64           // likewise
	Failures          Failures        // empty in lists
	Summary           *FailureSummary // nil where there are no failures
	WaitingFor        Shortage        // why the job waits although it could be generated; NoShortage once it has ended
	CreatedAt         time.Time
	CreatedBy         int64
	EnterpriseID      int64
	Source            string
}

// FontReport says what became of the fonts that a document asks for.
type FontReport = font.Report

// Detail is a problem of a template, or of data with it, in its place.
type Detail = docx.Error //nolint:errname // a detail is what the interface would call it

func jobOf(row store.DocgenJob, batch store.DocgenBatch, details string) (Job, error) {
	f, err := failuresOf(details)
	if err != nil {
		return Job{}, fmt.Errorf("failures of job %d: %w", row.ID, err)
	}
	f = f.Bounded() // an earlier release kept all of them
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
		Failures: f, Summary: summary, WaitingFor: Status(row.Status).shortage(batch.WaitingFor), CreatedAt: timeOf(batch.CreatedAt), CreatedBy: row.CreatedBy,
		EnterpriseID: batch.EnterpriseID, Source: batch.Source,
	}, nil
}

// jobsOf makes jobs of the rows of any of the job lists, which are alike but for their names. Of their failures they have only
// the summary.
func jobsOf[R store.JobsOfBatchAfterRow | store.JobsOfBatchBeforeRow |
	store.JobsOfTemplateAfterRow | store.JobsOfTemplateBeforeRow | store.JobsOfUserAfterRow | store.JobsOfUserBeforeRow](rows []R, err error) ([]Job, error) {
	if err != nil {
		return nil, err
	}
	jobs := make([]Job, len(rows))
	for i, row := range rows {
		r := store.JobsOfBatchAfterRow(row)
		jobs[i] = Job{
			ID: r.ID, BatchID: r.BatchID, TemplateID: r.TemplateFileID, TemplateVersionID: r.TemplateVersionID,
			Status: Status(r.Status), OutputType: r.OutputType, OutputFileID: r.OutputFileID, OutputVersionID: r.OutputVersionID,
			CreatedAt: timeOf(r.CreatedAt), CreatedBy: r.CreatedBy, EnterpriseID: r.EnterpriseID, Source: r.Source,
			WaitingFor: Status(r.Status).shortage(r.WaitingFor),
		}
		if jobs[i].Summary, err = summaryOf(r.Summary, jobs[i].Status); err != nil {
			return nil, fmt.Errorf("summary of job %d: %w", r.ID, err)
		}
	}
	return jobs, nil
}

// jobList is a list of jobs by growing id.
func jobList(name string, after, before func(from int64, limit int32) ([]Job, error)) list[Job] {
	return list[Job]{
		name:   name,
		keys:   1,
		key:    func(j Job) []int64 { return []int64{j.ID} },
		after:  func(from []int64, limit int32) ([]Job, error) { return after(from[0], limit) },
		before: func(from []int64, limit int32) ([]Job, error) { return before(from[0], limit) },
	}
}

// Job returns a job that the caller created; another's is not found.
func (s *Service) Job(ctx context.Context, c *Caller, id int64) (Job, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Job{}, err
	}
	var job Job
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := q.Job(ctx, id)
		if isGone(err, row.DocgenBatch) || err == nil && row.DocgenJob.CreatedBy != c.User.ID {
			return NotFound("docgen_job", id)
		}
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

// Jobs returns one page of the jobs that the caller created, by growing id.
func (s *Service) Jobs(ctx context.Context, c *Caller, r PageRequest) (Page[Job], error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Page[Job]{}, err
	}
	var result Page[Job]
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		result, err = page(s, c, r, jobList("docgen_jobs",
			func(from int64, limit int32) ([]Job, error) {
				return jobsOf(q.JobsOfUserAfter(ctx, c.User.ID, from, limit))
			},
			func(from int64, limit int32) ([]Job, error) {
				return jobsOf(q.JobsOfUserBefore(ctx, c.User.ID, from, limit))
			}))
		return err
	})
	return result, err
}

// BatchJobs returns one page of the jobs of a batch that the caller created, in the order of its documents.
func (s *Service) BatchJobs(ctx context.Context, c *Caller, batchID string, r PageRequest) (Page[Job], error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Page[Job]{}, err
	}
	var result Page[Job]
	err := s.db.Read(ctx, func(q *store.Queries) error {
		_, err := findBatch(ctx, q, c, batchID)
		if err != nil {
			return err
		}
		result, err = page(s, c, r, jobList("docgen_batch_jobs/"+batchID,
			func(from int64, limit int32) ([]Job, error) {
				return jobsOf(q.JobsOfBatchAfter(ctx, batchID, from, limit))
			},
			func(from int64, limit int32) ([]Job, error) {
				return jobsOf(q.JobsOfBatchBefore(ctx, batchID, from, limit))
			}))
		return err
	})
	return result, err
}
