package docgen

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"platen/store"
)

// JobFilter selects the jobs that have all values that are set. It is the only list of the fields by which jobs can be filtered.
//
// A field has the same name as in [Job]. Its tags are the column of the view listed_jobs, and the name in markers. A field that is also a
// query parameter has the tags with which server reads and documents it: query and doc.
type JobFilter struct {
	BatchID    *string `column:"batch_id" marker:"docgen_batch_jobs"`            // a batch of the caller
	TemplateID *int64  `column:"template_file_id" marker:"docgen_template_jobs"` // a template that the caller may see
}

// set returns the fields that are set, with their values.
func (f JobFilter) set() (fields []reflect.StructTag, values []any) {
	for field, value := range reflect.ValueOf(f).Fields() {
		if !value.IsZero() {
			fields, values = append(fields, field.Tag), append(values, reflect.Indirect(value).Interface())
		}
	}
	return fields, values
}

// conditions returns the conditions of the jobs in a caller's list.
func (f JobFilter) conditions(c *Caller) []store.Equal {
	var conditions []store.Equal
	fields, values := f.set()
	for i := range fields {
		conditions = append(conditions, store.Equal{Column: fields[i].Get("column"), Value: values[i]})
	}
	if f.BatchID == nil { // all jobs of a batch belong to one user
		conditions = append(conditions, store.Equal{Column: "created_by", Value: c.User.ID})
	}
	return conditions
}

// list names the list that the filter selects, for its markers.
func (f JobFilter) list() string {
	fields, values := f.set()
	if len(fields) == 0 {
		return "docgen_jobs"
	}
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fmt.Sprint(fields[i].Get("marker"), "/", values[i])
	}
	return strings.Join(names, "/")
}

// Jobs returns one page of the jobs that the caller created, in ascending order of id, which is the order of the
// documents in a batch.
func (s *Service) Jobs(ctx context.Context, c *Caller, f JobFilter, r PageRequest) (Page[Job], error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Page[Job]{}, err
	}
	read := s.db.ReadOne
	if f.BatchID != nil || f.TemplateID != nil {
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

// mayFilter checks that the caller may see the items in the filter.
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
	return nil
}

func jobList(ctx context.Context, q *store.Queries, c *Caller, f JobFilter) list[Job] {
	conditions := f.conditions(c)
	return list[Job]{
		name: f.list(),
		keys: 1,
		key:  func(j Job) []int64 { return []int64{j.ID} },
		after: func(from []int64, limit int32) ([]Job, error) {
			return listedJobs(q.JobsAfter(ctx, conditions, from[0], limit))
		},
		before: func(from []int64, limit int32) ([]Job, error) {
			return listedJobs(q.JobsBefore(ctx, conditions, from[0], limit))
		},
	}
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
