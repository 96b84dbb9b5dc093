package docgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"platen/docx/lang"
	"platen/store"
)

// Internals for the tests.
var (
	CheckName = new(Service).checkName
	FoldKey   = foldKey
	// CheckTolerantName checks a name like a service with LeadingSpaces.
	CheckTolerantName = (&Service{leadingSpaces: true}).checkName
	NumberedName      = numberedName
)

// IDs generates ids like a service.
type IDs struct{ source idSource }

// Next reserves n consecutive ids and returns the first.
func (s *IDs) Next(now time.Time, n int) int64 { return s.source.next(now, n) }

// ClaimBatch claims all jobs of a batch that have not ended, as one slot, including those held by others.
func (s *Service) ClaimBatch(ctx context.Context, batchID string) (*Claim, error) {
	var claim *Claim
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		batch, err := tx.Batch(ctx, batchID)
		if err != nil {
			return err
		}
		rows, err := tx.JobsAfter(ctx, []store.Condition{{SQL: "batch_id =", Value: batchID}}, 0, math.MaxInt32)
		for _, row := range rows {
			job, err := tx.Job(ctx, row.ID)
			if err != nil {
				return err
			}
			if _, err := tx.ReleaseJob(ctx, row.ID, job.DocgenJob.Attempt, 0); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		task := GenerateDocuments{UserID: batch.CreatedBy, Lane: laneOf(batch.OutputType, false)}
		claim = &Claim{UserID: batch.CreatedBy, BatchID: batchID, Lane: task.Lane, TemplateVersionID: batch.TemplateVersionID}
		jobs, err := tx.ClaimJobs(ctx, store.ClaimJobsParams{BatchID: batchID, DueAt: math.MaxInt64, Limit: math.MaxInt32, Slot: task.slot()})
		if err == nil && len(jobs) > 0 {
			claim, err = s.claimOf(ctx, tx, task, batch, jobs)
		}
		return err
	})
	return claim, err
}

// FailBatch ends all jobs of a batch that have not ended.
func (s *Service) FailBatch(ctx context.Context, batchID, reason string) (map[Status]int, error) {
	claim, err := s.ClaimBatch(ctx, batchID)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(claim.Jobs))
	for i, job := range claim.Jobs {
		results[i] = Result{Job: job, Failures: Failures{Errors: []string{reason}}}
	}
	return s.CompleteJobs(ctx, claim, results)
}

// Find reports whether the caller may see an item.
func (s *Service) Find(ctx context.Context, q *store.Queries, c *Caller, kind Kind, id int64) error {
	_, err := s.find(ctx, q, c, kind, id, MaySee)
	return err
}

// RemovalPortion is the number of rows in one portion.
const RemovalPortion = removalPortion

// RemovePortion deletes one more portion of a tree that was deleted permanently, and reports whether that was all.
func (s *Service) RemovePortion(ctx context.Context, id int64) (bool, error) {
	return s.removeMore(ctx, id)
}

// EventLines returns the errors in a notification.
func EventLines(f Failures) []string { return f.eventLines() }

// ErasePortion erases one more portion of what is left of a user, and reports whether that was all.
func (s *Service) ErasePortion(ctx context.Context, id int64) (bool, error) {
	return s.erasePortion(ctx, id)
}

// Limits of one transaction.
const (
	OwnerItems = maxOwnerItems
	CopyItems  = maxCopyItems
)

// Conditions returns the conditions of a list of jobs.
func (f JobFilter) Conditions(c *Caller) []store.Condition { return f.conditions(c) }

// Abandon ends a claim on an idempotency key like a crash of the server.
func (k *KeyClaim) Abandon() {
	k.stop()
	k.renewed.Wait()
}

// ReadRows reads data, and returns the documents as "name input", and the problems of rows. schema may be empty.
func ReadRows(f DataFormat, schema string, data io.Reader, limits Limits) (documents, problems []string, err error) {
	if err := Invalid(f.Problems()...); err != nil {
		return nil, nil, err
	}
	var types *lang.Schema
	if schema != "" {
		if types, err = lang.ParseSchema([]byte(schema)); err != nil {
			return nil, nil, err
		}
	}
	a := accepting{batch: NewBatch{OutputType: OutputDocx}, format: &f, service: &Service{limits: limits.withDefaults()}}
	rows, err := f.open(data, types, a.service.limits, &a.inputs)
	for r := (row{}); err == nil; {
		if err = rows.next(&r); err != nil {
			break
		}
		a.check(&r)
		for _, p := range r.problems {
			problems = append(problems, p.Message)
		}
		if len(r.problems) == 0 {
			documents = append(documents, r.document.Name+" "+string(r.document.Input.text))
		}
	}
	if wrong, ok := errors.AsType[*rowsError](err); ok {
		return documents, append(problems, fmt.Sprintf("line %d: %s", wrong.line, wrong.why)), nil
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return documents, problems, err
}

// The thresholds of alerts, as rules for Prometheus write them.
var (
	DiskReserve    = fmt.Sprint(diskReserve)
	BacklogTooOld  = fmt.Sprint(backlogTooOld.Seconds())
	DeliveriesLate = fmt.Sprint(deliveriesLate.Seconds())
	FailedShare    = fmt.Sprint(failedShare)
	// ReceiversFailing is how long a receiver fails before there is an alert.
	ReceiversFailing = fmt.Sprintf("%.0fm", receiversFailing.Minutes())
	FailingFor       = fmt.Sprintf("%.0fm", failingFor.Minutes())
)

// CheckAttemptsAreBounded fills the counts of failed attempts.
func CheckAttemptsAreBounded(t testing.TB) {
	t.Helper()
	var a attempts
	now := time.Unix(0, 0)
	for i := range maxAttemptKeys {
		try := attempt{login: fmt.Sprint(i), address: fmt.Sprint("address ", i)}
		if err := a.begin(try, now); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(a.counts); n > maxAttemptKeys {
		t.Errorf("%d counts are kept", n)
	}
}

// ComparePassword compares a password with a stored hash.
var ComparePassword = comparePassword

// HashPassword returns the stored form of a password.
func HashPassword(password string) string { return hashPassword(password, randomBytes(passwordSalt)) }

// StreamTypeOf returns the type of the event that a trigger has in the event stream. known is false if the table lacks the trigger.
func StreamTypeOf(t Trigger) (typ EventType, known bool) {
	typ, known = triggerEvents[t]
	return typ, known
}

// HoldDownloads keeps the events of downloads in memory until release is called.
func HoldDownloads(s *Service) (release func()) {
	s.downloads.writing.Lock()
	return s.downloads.writing.Unlock
}

// WaitingForEvents returns the number of requests that wait for events.
func WaitingForEvents(s *Service) int {
	s.polls.mu.Lock()
	defer s.polls.mu.Unlock()
	return s.polls.number
}
