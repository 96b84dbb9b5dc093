package cli

import (
	"context"
	"time"

	"platen/client"
)

// Pauses between two looks at something that will change soon: from the first, ever longer, to the last.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// until calls look, with pauses, until it is done or fails.
func until(ctx context.Context, look func() (done bool, err error)) error {
	for wait := firstLook; ; wait = min(wait*5/4, lastLook) {
		if done, err := look(); done || err != nil {
			return err
		}
		if !rest(ctx, wait) {
			return ctx.Err()
		}
	}
}

// rest waits, and reports whether ctx was not done meanwhile.
func rest(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// jobsPerPage is how many jobs one look at a batch asks for.
const jobsPerPage int64 = 200

// awaitBatch waits until every job of a batch has ended, and returns them all. It calls progress with the number of those
// that have. Pages whose jobs have all ended are not asked for again.
func awaitBatch(ctx context.Context, c *client.ClientWithResponses, batch string, progress func(ended int)) ([]client.Job, error) {
	var settled []client.Job // of the pages that will not change
	var marker *string       // of the first page that may
	err := until(ctx, func() (bool, error) {
		ended, from, settling := 0, marker, true
		for {
			answer, err := client.Check(c.ListBatchJobsWithResponse(ctx, batch, &client.ListBatchJobsParams{Limit: new(jobsPerPage), Marker: from}))
			if err != nil {
				return false, err
			}
			jobs := answer.JSON200
			n := countEnded(jobs.Entries)
			ended, settling = ended+n, settling && n == len(jobs.Entries)
			if from = jobs.NextMarker; settling {
				settled, marker, ended = append(settled, jobs.Entries...), from, 0
			}
			if from == nil {
				progress(len(settled) + ended)
				return settling, nil
			}
		}
	})
	return settled, err
}

// countEnded counts the jobs that will not change any more.
func countEnded(jobs []client.Job) (n int) {
	for i := range jobs {
		if status := jobs[i].Status; status != client.JobStatusPending && status != client.JobStatusSubmitted {
			n++
		}
	}
	return n
}
