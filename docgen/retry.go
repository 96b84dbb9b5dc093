package docgen

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"platen/store"
)

// A job never changes after it has ended, so a retry is a new batch that names the batch whose failed jobs it repeats. It has the same
// template, destination, and options, but no merged file. Its jobs and their inputs are copied inside the database, in portions, like
// those of a large batch (stage.go).

// retryFor is the longest time for copying the jobs of a retry, after which it is removed.
const retryFor = 10 * time.Minute

// Retry describes how failed jobs are retried.
type Retry struct {
	VersionID     int64   // of the template; 0 for the version of the batch
	Canceled      bool    // also retry jobs that failed because the batch was canceled
	Password      *Secret // required if the batch has one, because it was deleted when the batch ended
	OwnerPassword *Secret // the same applies

	Input  *Input  // of the only job; nil for the input of the failed one
	Inputs *Inputs // that read Input
}

// RetryBatch creates a batch from the failed jobs of one that has ended, and returns its id. It is a conflict if there are none, if their
// inputs were deleted, or if another retry of the batch has not ended.
func (s *Service) RetryBatch(ctx context.Context, c *Caller, id string, r Retry) (string, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return "", err
	}
	retry := &retrying{Service: s, caller: c, ask: r}
	var jobs store.FailedJobsRow
	err := s.db.Read(ctx, func(q *store.Queries) (err error) {
		if retry.origin, err = findBatch(ctx, q, c, id); err != nil {
			return err
		}
		jobs, err = q.FailedJobs(ctx, id, r.Canceled)
		return err
	})
	switch {
	case err != nil:
		return "", err
	case retry.origin.EndedAt == 0:
		return "", failf(CodeConflict, "The batch is still running. Wait until it has ended, or cancel it, then retry.")
	case jobs.Jobs == 0 && retry.origin.JobsCanceled > 0 && !r.Canceled:
		return "", failf(CodeConflict, `No document of the batch failed, except canceled ones. To retry these, send "include_canceled": true.`)
	case jobs.Jobs == 0:
		return "", failf(CodeConflict, "No document of the batch failed, so there is nothing to retry.")
	}
	retry.first, retry.last, retry.documents = jobs.First, jobs.Last, jobs.Jobs
	return retry.run(ctx)
}

// RetryJob creates a batch that retries one failed job, with its input or with a corrected one, and returns the new job. It is a conflict
// if the job has not failed, or if another retry of it has not ended.
func (s *Service) RetryJob(ctx context.Context, c *Caller, id int64, r Retry) (Job, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Job{}, err
	}
	if r.Input != nil {
		if why := r.Input.validate(s.limits); why != "" {
			return Job{}, Invalid(invalidField("user_input", "%s", why))
		}
	}
	retry := &retrying{Service: s, caller: c, ask: r, jobID: id, first: id, last: id, documents: 1}
	retry.ask.Canceled = true
	err := s.db.ReadOne(ctx, func(q *store.Queries) error {
		row, err := findJob(ctx, q, c, id)
		if err == nil && row.DocgenJob.Status != string(StatusFailed) {
			err = failf(CodeConflict, "Only failed jobs can be retried; this one is %s.", row.DocgenJob.Status)
		}
		retry.origin = row.DocgenBatch
		return err
	})
	if err != nil {
		return Job{}, err
	}
	if _, err := retry.run(ctx); err != nil {
		return Job{}, err
	}
	return s.Job(ctx, c, retry.batch.Number)
}

// retrying is a retry while its batch is being created.
type retrying struct {
	*Service
	ask         Retry
	caller      *Caller
	origin      store.DocgenBatch
	jobID       int64 // the only job to retry; 0 for all that failed
	first, last int64 // jobs to retry
	documents   int64 // their number
	more        int64 // difference between the ids of a job and its retry
	total       int64 // copied jobs
	batch       store.InsertBatchParams
	options     BatchOptions
	staged      *staging
}

// run creates the batch and returns its id.
func (r *retrying) run(ctx context.Context) (string, error) {
	if err := r.prepare(); err != nil {
		return "", err
	}
	if err := r.checkRoom(ctx); err != nil {
		return "", err
	}
	if err := r.checkWaiting(ctx, r.caller.User.ID, r.documents); err != nil {
		return "", err
	}
	r.batch.ID, r.batch.CreatedAt, r.batch.TraceParent = uuid.NewString(), r.micros(), traceParent(ctx)
	r.batch.Number = r.ids.next(r.now(), int(r.last-r.first+1))
	r.more = r.batch.Number - r.first
	r.staged = &staging{service: r.Service, id: r.batch.ID, until: r.micros() + retryFor.Microseconds()}
	err := r.db.WriteAsync(ctx, func(tx *store.Tx) error { return r.begin(ctx, tx) })
	if err != nil {
		return "", err
	}
	if err := r.copyJobs(ctx); err != nil {
		return "", errors.Join(err, r.staged.discard(ctx))
	}
	err = r.db.Write(ctx, func(tx *store.Tx) error { return r.publish(ctx, tx) })
	if err != nil {
		return "", errors.Join(err, r.staged.discard(ctx))
	}
	return r.batch.ID, nil
}

// prepare sets the row and the options of the batch, and checks the request as far as possible without the database.
func (r *retrying) prepare() (err error) {
	o, c := r.origin, r.caller
	if r.options, err = optionsOf(o.ID, o.Options); err != nil {
		return err
	}
	if err := Invalid(r.setPasswords()...); err != nil {
		return err
	}
	if pdf := r.options.PDF; pdf != nil {
		pdf.Merged = nil
		if *pdf == (PDFOptions{}) {
			r.options.PDF = nil
		}
	}
	r.batch = store.InsertBatchParams{
		TemplateFileID: o.TemplateFileID, TemplateVersionID: o.TemplateVersionID, DestinationID: o.DestinationID, OutputType: o.OutputType,
		Source: o.Source, CreatedBy: c.User.ID, EnterpriseID: c.User.EnterpriseID, ApplicationID: c.ApplicationID, Shape: o.Shape,
		GlobalContent: c.has(ScopeGlobalContent),
	}
	if r.ask.VersionID != 0 {
		r.batch.TemplateVersionID = r.ask.VersionID
	}
	if r.ask.Input != nil {
		if r.batch.Shape, err = r.ask.Inputs.commonShape(); err != nil {
			return err
		}
	}
	r.batch.Options, err = r.options.text()
	return err
}

// setPasswords replaces the placeholders of passwords in the options, and returns the problems with the passwords of the request.
func (r *retrying) setPasswords() []Problem {
	pdf := r.options.PDF
	if pdf == nil {
		pdf = &PDFOptions{}
	}
	var problems []Problem
	for _, p := range []struct {
		name      string
		kept, new *Secret
	}{{"password", pdf.Password, r.ask.Password}, {"owner_password", pdf.OwnerPassword, r.ask.OwnerPassword}} {
		switch {
		case p.kept != nil && p.new == nil:
			problems = append(problems, invalidField(p.name, "the batch has the option options.pdf.%s, which was deleted when it ended: "+
				"send it again as %[1]s", p.name))
		case p.kept == nil && p.new != nil:
			problems = append(problems, invalidField(p.name, "the batch does not have the option options.pdf.%s: omit %[1]s", p.name))
		}
	}
	if len(problems) > 0 {
		return problems
	}
	pdf.Password, pdf.OwnerPassword = r.ask.Password, r.ask.OwnerPassword
	var found pdfProblems
	found.ofPasswords(pdf)
	for i := range found {
		found[i].Name = strings.TrimPrefix(found[i].Name, "options.pdf.")
	}
	return slices.Clip(found)
}

// begin inserts the hidden batch, unless another retry has not ended.
func (r *retrying) begin(ctx context.Context, tx *store.Tx) error {
	if err := r.check(ctx, tx); err != nil {
		return err
	}
	if err := tx.InsertBatch(ctx, r.batch); err != nil {
		return err
	}
	if err := tx.SetRetry(ctx, r.batch.ID, r.origin.ID, r.jobID); err != nil {
		return err
	}
	return r.staged.hide(ctx, tx, r.staged.until, 0)
}

// check locks the original batch, and checks the account of the caller, other retries, the template, and the destination.
func (r *retrying) check(ctx context.Context, tx *store.Tx) error {
	if err := r.checkAccount(ctx, tx.Queries, r.caller); err != nil {
		return err
	}
	held, err := tx.LockBatch(ctx, r.origin.ID)
	if err == nil && held == 0 {
		err = NotFound("docgen_batch", r.origin.ID)
	}
	if err != nil {
		return err
	}
	other, err := tx.UnfinishedRetry(ctx, store.UnfinishedRetryParams{
		RetryOf: r.origin.ID, RetryOfJob: r.jobID, ID: r.batch.ID, Now: r.micros(),
	})
	if err == nil {
		return failf(CodeConflict, "The batch %s already retries the same documents. Wait until it has ended, or cancel it, then retry.", other)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	version, destination, err := r.batchTargets(ctx, tx.Queries, r.caller, NewBatch{
		TemplateID: r.batch.TemplateFileID, VersionID: r.batch.TemplateVersionID, DestinationID: r.destinationID(),
	})
	if err == nil {
		r.batch.TemplateVersionID, r.batch.DestinationID = version.ID, destination.row.ID
	}
	return err
}

// destinationID returns the folder as the caller names it.
func (r *retrying) destinationID() int64 {
	if r.origin.DestinationID == r.caller.rootID {
		return rootID
	}
	return r.origin.DestinationID
}

// errInputDeleted is the conflict of a retry without all of its inputs.
func errInputDeleted() error {
	return failf(CodeConflict, "The input of failed documents was deleted after its retention period, so they cannot be retried. "+
		"Retry a single job with a user_input, or create a new batch.")
}

// copyJobs copies the jobs and their inputs in portions.
func (r *retrying) copyJobs(ctx context.Context) error {
	for from := r.first; from <= r.last; {
		to, err := r.portion(ctx, from)
		if err != nil {
			return err
		}
		err = r.db.WriteAsync(ctx, func(tx *store.Tx) error {
			jobs, err := tx.CopyFailedJobs(ctx, store.CopyFailedJobsParams{
				More: r.more, ToBatch: r.batch.ID, FromBatch: r.origin.ID, FromID: from, ToID: to, Canceled: r.ask.Canceled,
			})
			if err != nil {
				return err
			}
			if r.ask.Input != nil {
				return tx.InsertInputs(ctx, []store.DocgenInput{{JobID: from + r.more, Data: string(r.ask.Input.text)}})
			}
			inputs, err := tx.CopyInputs(ctx, store.CopyInputsParams{
				More: r.more, FromBatch: r.origin.ID, FromID: from, ToID: to, Canceled: r.ask.Canceled,
			})
			if err == nil && inputs != jobs {
				err = errInputDeleted()
			}
			return err
		})
		if err != nil {
			return err
		}
		from = to + 1
	}
	return nil
}

// portion returns the last job of the portion that begins at a job.
func (r *retrying) portion(ctx context.Context, from int64) (to int64, err error) {
	var rows []store.FailedJobsAfterRow
	err = r.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		rows, err = q.FailedJobsAfter(ctx, store.FailedJobsAfterParams{
			BatchID: r.origin.ID, ID: from - 1, Limit: stagedJobs, Canceled: r.ask.Canceled,
		})
		return err
	})
	size := int64(0)
	for i, row := range rows {
		if row.ID > r.last {
			break
		}
		if row.InputLength < 0 && r.ask.Input == nil {
			return 0, errInputDeleted()
		}
		if size += row.InputLength; i > 0 && size > stagedFrom {
			return to, nil
		}
		to = row.ID
		r.total++
	}
	if len(rows) < stagedJobs || to < from {
		to = r.last
	}
	return to, err
}

// publish makes the batch visible and its jobs due.
func (r *retrying) publish(ctx context.Context, tx *store.Tx) error {
	if err := r.check(ctx, tx); err != nil {
		return err
	}
	if r.total == 0 {
		return errInputDeleted()
	}
	r.batch.JobsTotal = r.total
	if err := r.staged.publish(ctx, tx, r.batch); err != nil {
		return err
	}
	if r.options.PDF != nil {
		secrets, err := passwordsOf(r.options.PDF)
		if err == nil && secrets != "" {
			err = tx.InsertEnding(ctx, r.batch.ID, r.total, secrets)
		}
		if err != nil {
			return err
		}
	}
	return r.join(ctx, tx, r.caller.User.ID, laneOf(r.batch.OutputType, false), r.batch.ID, r.total)
}

// JobInput is the input of a job, and the requested name of its document.
type JobInput struct {
	Name  string
	Input []byte // JSON
}

// JobInput returns the input of a job that the caller created and that has not ended, or has failed.
func (s *Service) JobInput(ctx context.Context, c *Caller, id int64) (JobInput, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return JobInput{}, err
	}
	var found JobInput
	err := s.db.Read(ctx, func(q *store.Queries) error {
		row, err := findJob(ctx, q, c, id)
		if err != nil {
			return err
		}
		data, err := q.Input(ctx, id)
		if errors.Is(err, sql.ErrNoRows) {
			return failf(CodeNotFound, "The input of the job was deleted: when its document was generated, or, for a failed job, after the "+
				"retention period.")
		}
		found = JobInput{Name: row.DocgenJob.FileName, Input: []byte(data)}
		return err
	})
	if err == nil {
		err = c.room(pageCost * len(found.Input))
	}
	return found, err
}
