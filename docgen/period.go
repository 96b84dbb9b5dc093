package docgen

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"platen/store"
)

// The numbers of documents that ended are kept by period, so that no one counts jobs to show them. They change in the transactions that
// end jobs.

const (
	period = 10 * time.Minute
	// periodShards is the number of rows among which transactions choose, so that those that end documents at the same time seldom wait for
	// each other.
	periodShards = 8
	// periodsKept is how long periods are kept: those that are shown, and as many for a look at the database.
	periodsKept = 48 * time.Hour
)

// FailureReason says in one word why there is no document. A job says it in sentences.
type FailureReason string

// The reasons.
const (
	FailedData        FailureReason = "data"        // a value is missing, or has the wrong type
	FailedTemplate    FailureReason = "template"    // the template cannot be used
	FailedBudget      FailureReason = "budget"      // the document exceeds a budget, or a limit
	FailedPDF         FailureReason = "pdf"         // LibreOffice is missing, or cannot convert the document
	FailedDestination FailureReason = "destination" // the folder was deleted, or cannot be written
	FailedSpace       FailureReason = "space"       // the owner of the folder has no space left
	FailedServer      FailureReason = "server"      // an error of the server
	FailedOther       FailureReason = "other"
)

// FailureReasons returns all reasons.
func FailureReasons() []FailureReason {
	return []FailureReason{FailedData, FailedTemplate, FailedBudget, FailedPDF, FailedDestination, FailedSpace, FailedServer, FailedOther}
}

// reason returns why a result has no document: what it says itself, or what its details are about.
func (r Result) reason() FailureReason {
	if r.Reason != "" {
		return r.Reason
	}
	reason := FailedOther
	for _, d := range r.Failures.Details {
		switch {
		case d.Warning:
		case d.Path != "":
			return FailedData
		default:
			reason = FailedTemplate
		}
	}
	return reason
}

// outcomeCanceled is the outcome of jobs that ended because their batch was canceled. The other outcomes are statuses.
const outcomeCanceled = "canceled"

// countPeriod adds ended jobs to the numbers of the current period. It changes rows in a fixed order, so that transactions do not deadlock.
func (s *Service) countPeriod(ctx context.Context, tx *store.Tx, e endedJobs) error {
	type count struct {
		outcome, reason string
		documents       int
	}
	counts := []count{{outcomeCanceled, "", e.canceled}}
	for _, status := range []Status{StatusCompleted, StatusCompletedWithError} {
		counts = append(counts, count{string(status), "", e.jobs[status]})
	}
	other := e.jobs[StatusFailed]
	for reason, documents := range e.failed {
		counts = append(counts, count{string(StatusFailed), string(reason), documents})
		other -= documents
	}
	counts = append(counts, count{string(StatusFailed), string(FailedOther), other})
	slices.SortStableFunc(counts, func(a, b count) int { return strings.Compare(a.outcome+" "+a.reason, b.outcome+" "+b.reason) })
	now, shard := periodAt(s.now()), rand.Int64N(periodShards) //nolint:gosec // it spreads rows
	for _, c := range counts {
		if c.documents <= 0 {
			continue
		}
		err := tx.AddToPeriod(ctx, store.AddToPeriodParams{
			Period: now, Shard: shard, Outcome: c.outcome, Reason: c.reason, Documents: int64(c.documents),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// periodAt returns the number of the period that contains a time.
func periodAt(t time.Time) int64 { return t.UnixMicro() / period.Microseconds() }

// DocumentCounts are the numbers of jobs that ended in a time, by outcome.
type DocumentCounts struct{ Completed, CompletedWithError, Failed, Canceled int64 }

func (c *DocumentCounts) add(outcome string, documents int64) {
	switch outcome {
	case string(StatusCompleted):
		c.Completed += documents
	case string(StatusCompletedWithError):
		c.CompletedWithError += documents
	case string(StatusFailed):
		c.Failed += documents
	default:
		c.Canceled += documents
	}
}

// Hour is an hour with the documents that ended in it.
type Hour struct {
	BeginsAt time.Time
	DocumentCounts
}

// FailedDocuments is the number of jobs that failed for a reason.
type FailedDocuments struct {
	Reason    FailureReason
	Documents int64
}

// shownHours is the number of hours of a summary, including the one that has not ended.
const shownHours = 24

// ended are the documents that ended in the last hours.
type ended struct {
	hours  []Hour // the oldest first
	failed []FailedDocuments
	recent DocumentCounts // in about failingFor
}

// endedDocuments sums up the periods of the last hours.
func (s *Service) endedDocuments(ctx context.Context, q *store.Queries) (ended, error) {
	now := s.now().UTC()
	first := now.Truncate(time.Hour).Add(-(shownHours - 1) * time.Hour)
	rows, err := q.SumPeriods(ctx, periodAt(first))
	if err != nil {
		return ended{}, err
	}
	e := ended{hours: make([]Hour, shownHours), failed: []FailedDocuments{}}
	for i := range e.hours {
		e.hours[i].BeginsAt = first.Add(time.Duration(i) * time.Hour)
	}
	failed := map[FailureReason]int64{}
	for _, row := range rows {
		begun := time.UnixMicro(row.Period * period.Microseconds())
		if at := int(begun.Sub(first) / time.Hour); at < shownHours { // another server may be ahead
			e.hours[at].add(row.Outcome, row.Documents)
		}
		if begun.Add(period + failingFor).After(now) {
			e.recent.add(row.Outcome, row.Documents)
		}
		if row.Outcome == string(StatusFailed) {
			failed[FailureReason(row.Reason)] += row.Documents
		}
	}
	for reason, documents := range failed {
		e.failed = append(e.failed, FailedDocuments{reason, documents})
	}
	slices.SortFunc(e.failed, func(a, b FailedDocuments) int {
		if a.Documents != b.Documents {
			return int(b.Documents - a.Documents)
		}
		return strings.Compare(string(a.Reason), string(b.Reason))
	})
	return e, nil
}
