package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
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

// Job makes one document of a batch.
type Job struct {
	ID                int64
	BatchID           string
	TemplateID        int64
	TemplateVersionID int64
	Status            Status
	OutputType        string
	OutputFileID      int64 // 0 until the job has ended with a document
	OutputVersionID   int64 // likewise
	Failures          Failures
	CreatedAt         time.Time
	CreatedBy         int64
	EnterpriseID      int64
	Source            string
}

// Failures say what a document lacks or why there is none (Errors), and what need not be a fault (Warnings). Details say
// the same of what is about a place of the template, with all a person needs to walk there.
type Failures struct {
	Errors   []string  `json:"errors"`
	Warnings []string  `json:"warnings"`
	Details  []*Detail `json:"details,omitempty"`
	// Fonts say what became of the fonts of a PDF: nil for other documents.
	Fonts *FontReport `json:"fonts,omitempty"`
}

// FontReport says what became of the fonts that a document asks for.
type FontReport = font.Report

// Detail is a problem of a template, or of data with it, in its place.
type Detail = docx.Error //nolint:errname // a detail is what the interface would call it

// Any tells whether there are any.
func (f Failures) Any() bool { return len(f.Errors)+len(f.Warnings) > 0 }

func (f Failures) text() (string, error) {
	if !f.Any() && f.Fonts == nil {
		return "", nil
	}
	f.Errors, f.Warnings = noNil(f.Errors), noNil(f.Warnings)
	b, err := json.Marshal(f)
	return string(b), err
}

// failuresOf reads what text has written.
func failuresOf(text string) (f Failures, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &f)
	}
	return f, err
}

func jobOf(row store.DocgenJob, batch store.DocgenBatch) (Job, error) {
	f, err := failuresOf(row.Failures)
	if err != nil {
		return Job{}, fmt.Errorf("failures of job %d: %w", row.ID, err)
	}
	return Job{
		ID: row.ID, BatchID: row.BatchID, TemplateID: row.TemplateFileID, TemplateVersionID: batch.TemplateVersionID,
		Status: Status(row.Status), OutputType: batch.OutputType, OutputFileID: row.OutputFileID, OutputVersionID: row.OutputVersionID,
		Failures: f, CreatedAt: timeOf(batch.CreatedAt), CreatedBy: row.CreatedBy,
		EnterpriseID: batch.EnterpriseID, Source: batch.Source,
	}, nil
}

// jobsOf makes jobs of the rows of any of the job lists, which are alike but for their names.
func jobsOf[R store.JobRow | store.JobsOfBatchAfterRow | store.JobsOfBatchBeforeRow | store.JobsOfTemplateAfterRow |
	store.JobsOfTemplateBeforeRow | store.JobsOfUserAfterRow | store.JobsOfUserBeforeRow](rows []R, err error) ([]Job, error) {
	if err != nil {
		return nil, err
	}
	jobs := make([]Job, len(rows))
	for i, row := range rows {
		r := store.JobRow(row)
		if jobs[i], err = jobOf(r.DocgenJob, r.DocgenBatch); err != nil {
			return nil, err
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
		if errors.Is(err, sql.ErrNoRows) || err == nil && row.DocgenJob.CreatedBy != c.User.ID {
			return NotFound("docgen_job", id)
		}
		if err != nil {
			return err
		}
		job, err = jobOf(row.DocgenJob, row.DocgenBatch)
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
