package docgen

import (
	"context"
	"time"

	"platen/store"
)

// What the tests look at from inside.
var (
	CheckName    = checkName
	FoldKey      = foldKey
	NumberedName = numberedName
)

// IDs makes ids as a service does.
type IDs struct{ source idSource }

// Next makes n ids in a row and returns the first.
func (s *IDs) Next(now time.Time, n int) int64 { return s.source.next(now, n) }

// TasksOf divides jobs with inputs of the given sizes into tasks.
func TasksOf(sizes []int) []store.Job {
	inputs := make([]store.DocgenInput, len(sizes))
	for i, size := range sizes {
		inputs[i] = store.DocgenInput{JobID: int64(i), Data: string(make([]byte, size))}
	}
	return tasksOf("batch", OutputDocx, inputs)
}

// Find tells whether the caller may see an item.
func (s *Service) Find(ctx context.Context, q *store.Queries, c *Caller, kind Kind, id int64) error {
	_, err := s.find(ctx, q, c, kind, id, MaySee)
	return err
}

// RemovalPortion is how many rows one portion has.
const RemovalPortion = removalPortion

// RemovePortion removes one more portion of a tree that was deleted for good, and tells whether that was all.
func (s *Service) RemovePortion(ctx context.Context, id int64) (bool, error) {
	return s.removeMore(ctx, id)
}

// EventLines returns the errors that a notification carries.
func EventLines(f Failures) []string { return f.eventLines() }
