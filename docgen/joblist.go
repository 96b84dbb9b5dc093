package docgen

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"platen/store"
)

// JobFilter selects the jobs that have all values that are set. It is the only list of the values by which jobs can be filtered.
type JobFilter struct {
	BatchID    *string   // a batch of the caller
	TemplateID *int64    // a template that the caller may see
	Status     []Status  // one of these
	CreatedBy  int64     // the creator of the batch: a user whom the caller manages; 0 for the caller
	From, To   time.Time // created at From or later, and before To
	Newest     bool      // newest first; otherwise in ascending order of id, which is the order of the documents in a batch
}

// Statuses lists the statuses of jobs.
func Statuses() []Status {
	return []Status{StatusPending, StatusSubmitted, StatusCompleted, StatusCompletedWithError, StatusFailed}
}

func (f JobFilter) problems() []Problem {
	for _, status := range f.Status {
		if !slices.Contains(Statuses(), status) {
			return []Problem{invalidField("status", "status must be one or several of pending, submitted, completed, completed_with_error, "+
				"and failed, separated by commas")}
		}
	}
	return nil
}

// conditions returns the conditions of the jobs in a caller's list. Columns are those of the view listed_jobs.
func (f JobFilter) conditions(c *Caller) []store.Condition {
	var conditions []store.Condition
	add := func(text string, value any) {
		conditions = append(conditions, store.Condition{SQL: text, Value: value})
	}
	if f.BatchID != nil {
		add("batch_id =", *f.BatchID)
	}
	if f.TemplateID != nil {
		add("template_file_id =", *f.TemplateID)
	}
	switch {
	case f.CreatedBy != 0:
		add("created_by =", f.CreatedBy)
	case f.BatchID == nil: // all jobs of a batch belong to one user
		add("created_by =", c.User.ID)
	}
	if !f.From.IsZero() {
		add("created_at >=", f.From.UnixMicro())
	}
	if !f.To.IsZero() {
		add("created_at <", f.To.UnixMicro())
	}
	if len(f.Status) > 0 { // in the text, so that the database can use the indexes of single statuses
		add(statusCondition(f.Status), nil)
	}
	return conditions
}

// statusCondition returns the condition that a job has one of the statuses, which must be valid.
func statusCondition(statuses []Status) string {
	equal := make([]string, len(statuses))
	for i, status := range statuses {
		equal[i] = "status = '" + string(status) + "'"
	}
	return "(" + strings.Join(equal, " OR ") + ")"
}

// Jobs returns one page of the jobs that a filter selects, and that the caller created unless the filter names another user.
func (s *Service) Jobs(ctx context.Context, c *Caller, f JobFilter, r PageRequest) (Page[Job], error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Page[Job]{}, err
	}
	if err := Invalid(f.problems()...); err != nil {
		return Page[Job]{}, err
	}
	read := s.db.ReadOne
	if f.BatchID != nil || f.TemplateID != nil || f.CreatedBy != 0 {
		read = s.db.Read // with the state of the access check
	}
	var result Page[Job]
	err := read(ctx, func(q *store.Queries) error {
		if err := s.mayFilter(ctx, q, c, f); err != nil {
			return err
		}
		var err error
		result, err = page(s, c, r, jobList(ctx, q, c, f))
		return err
	})
	return result, err
}

// mayFilter checks that the caller may see the objects and the user in the filter.
func (s *Service) mayFilter(ctx context.Context, q *store.Queries, c *Caller, f JobFilter) error {
	if f.BatchID != nil {
		if _, err := findBatch(ctx, q, c, *f.BatchID); err != nil {
			return err
		}
	}
	if f.TemplateID != nil {
		if _, err := s.findTemplate(ctx, q, c, *f.TemplateID, MaySee); err != nil {
			return err
		}
	}
	if f.CreatedBy == 0 || f.CreatedBy == c.User.ID {
		return nil
	}
	if err := c.requireManager(); err != nil {
		return err
	}
	_, err := s.managed(ctx, q, c, f.CreatedBy)
	return err
}

func jobList(ctx context.Context, q *store.Queries, c *Caller, f JobFilter) list[Job] {
	conditions := f.conditions(c)
	up := func(from []int64, limit int32) ([]Job, error) {
		return listedJobs(q.JobsAfter(ctx, conditions, from[0], limit))
	}
	down := func(from []int64, limit int32) ([]Job, error) {
		return listedJobs(q.JobsBefore(ctx, conditions, from[0], limit))
	}
	jobs := list[Job]{
		name: fmt.Sprintf("docgen_jobs/%t/%+v", f.Newest, conditions), keys: 1, after: up, before: down,
		key: func(j Job) []int64 { return []int64{j.ID} },
	}
	if f.Newest {
		inverse := func(read func([]int64, int32) ([]Job, error)) func([]int64, int32) ([]Job, error) {
			return func(from []int64, limit int32) ([]Job, error) { return read([]int64{math.MaxInt64 - from[0]}, limit) }
		}
		jobs.key = func(j Job) []int64 { return []int64{math.MaxInt64 - j.ID} } // grows toward the end of the list
		jobs.after, jobs.before = inverse(down), inverse(up)
	}
	return jobs
}

// listedJobs converts the rows of a list to jobs. Of their failures, they have only the summary.
func listedJobs(rows []store.ListedJob, err error) ([]Job, error) {
	if err != nil {
		return nil, err
	}
	jobs := make([]Job, len(rows))
	for i, r := range rows {
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
