package cli

import (
	"context"
	"time"

	"platen/client"
)

// Pauses between two polls: from the first one, increasing, to the last.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// until calls poll, with pauses, until it reports that it is done, or fails.
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

// rest waits, and reports whether ctx is still active.
func rest(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// jobsPerPage is the number of jobs that one request for a batch returns.
const jobsPerPage int64 = 200

// awaitBatch waits until every job of a batch has ended, and returns all jobs. It calls progress with the number of jobs that have ended.
// It does not request pages again whose jobs have all ended.
func awaitBatch(ctx context.Context, c *client.Client, batch string, progress func(ended int)) ([]client.Job, error) {
	var settled []client.Job // from pages that will not change
	var marker *string       // of the first page that may change
	err := until(ctx, func() (bool, error) {
		ended, from, settling := 0, marker, true
		for {
			answer, err := c.ListBatchJobs(ctx, batch, &client.ListBatchJobsParams{Limit: new(jobsPerPage), Marker: from})
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

// countEnded returns the number of jobs that have ended.
func countEnded(jobs []client.Job) (n int) {
	for i := range jobs {
		if status := jobs[i].Status; status != client.JobStatusPending && status != client.JobStatusSubmitted {
			n++
		}
	}
	return n
}
