package docgen

import (
	"context"
	"fmt"
	"math"
	"time"

	"platen/store"
)

// BatchState is a state by which batches can be filtered.
type BatchState string

// The states. A batch can have several.
const (
	BatchInProgress   BatchState = "in_progress"   // a job or the merged file has not ended
	BatchEnded        BatchState = "ended"         // all jobs and the merged file have ended
	BatchWithFailures BatchState = "with_failures" // a job has failed
	BatchCanceled     BatchState = "canceled"      // the batch was canceled
)

// BatchStates lists the states.
func BatchStates() []BatchState {
	return []BatchState{BatchInProgress, BatchEnded, BatchWithFailures, BatchCanceled}
}

var stateConditions = map[BatchState]store.BatchState{
	"": "", BatchInProgress: store.BatchInProgress, BatchEnded: store.BatchEnded, BatchWithFailures: store.BatchWithFailures,
	BatchCanceled: store.BatchCanceled,
}

// BatchFilter selects batches of the caller. Fields that are not set select all.
type BatchFilter struct {
	State      BatchState
	TemplateID int64
	OutputType string
	From, To   time.Time // created at From or later, and before To
}

func (f BatchFilter) problems() []Problem {
	var problems []Problem
	if _, ok := stateConditions[f.State]; !ok {
		problems = append(problems, invalidField("state", "state must be in_progress, ended, with_failures, or canceled"))
	}
	if f.OutputType != "" && f.OutputType != OutputDocx && f.OutputType != OutputPDF {
		problems = append(problems, invalidField("output_type", "output_type must be docx or pdf"))
	}
	return problems
}

// Batches returns one page of the batches that the caller created, newest first. The template of a filter need not exist anymore.
func (s *Service) Batches(ctx context.Context, c *Caller, f BatchFilter, r PageRequest) (Page[Batch], error) {
	if err := c.require(ScopeDocGen); err != nil {
		return Page[Batch]{}, err
	}
	if err := Invalid(f.problems()...); err != nil {
		return Page[Batch]{}, err
	}
	filter := store.BatchFilter{
		CreatedBy: c.User.ID, TemplateID: f.TemplateID, OutputType: f.OutputType, State: stateConditions[f.State],
		From: microsOf(f.From, 0), To: microsOf(f.To, 0),
	}
	var result Page[Batch]
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		result, err = page(s, c, r, list[Batch]{
			name: fmt.Sprintf("docgen_batches/%+v", filter),
			keys: 2,
			key: func(b Batch) []int64 { // grows toward the end of the list
				return []int64{math.MaxInt64 - b.CreatedAt.UnixMicro(), math.MaxInt64 - b.Number}
			},
			after: func(from []int64, limit int32) ([]Batch, error) {
				return batchesOf(c)(q.BatchesBefore(ctx, filter, math.MaxInt64-from[0], math.MaxInt64-from[1], limit))
			},
			before: func(from []int64, limit int32) ([]Batch, error) {
				return batchesOf(c)(q.BatchesAfter(ctx, filter, math.MaxInt64-from[0], math.MaxInt64-from[1], limit))
			},
		})
		return err
	})
	return result, err
}

// batchesOf returns a function that converts rows to batches of the caller.
func batchesOf(c *Caller) func([]store.ListedBatch, error) ([]Batch, error) {
	return func(rows []store.ListedBatch, err error) ([]Batch, error) {
		if err != nil {
			return nil, err
		}
		batches := make([]Batch, len(rows))
		for i, row := range rows {
			if batches[i], err = batchOf(c, row); err != nil {
				return nil, err
			}
		}
		return batches, nil
	}
}
