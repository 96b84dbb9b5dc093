package docgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"platen/store"
)

// Output is a document that is stored durably, but is not in a folder yet.
type Output struct{ content content }

// SaveOutput stores the document of a job durably. An Output that is not passed to CompleteJobs is swept.
func (s *Service) SaveOutput(ctx context.Context, job ClaimedJob, r io.Reader) (Output, error) {
	saved, err := s.saveContent(ctx, job.policy, r, "")
	return Output{saved}, err
}

// Result is the result of one job of a claim. Without an Output the job failed, for the errors in Failures.
type Result struct {
	Job      ClaimedJob
	Output   *Output
	Failures Failures
	Reason   FailureReason // why there is no Output; empty if the details in Failures say so
	// Isolate means that the job has not ended, because its document harmed others. It moves to LaneIsolated.
	Isolate bool
	// TryAgain means that the job has not ended because of an internal error. It is tried again after a pause. After several such errors it
	// fails, with the reasons in Failures.
	TryAgain bool
	// Shortage means that the job has not ended because the server lacks a resource. The batch is paused, as many times as necessary.
	Shortage Shortage
}

// CompleteJobs ends jobs of a claim in one transaction. Each document becomes a new file of the batch's creator in the destination folder,
// with the requested name or, if that is taken, with a number. If the destination no longer exists, the jobs fail. If another attempt has
// claimed a job since, this attempt's document is discarded. CompleteJobs returns the number of jobs that it ended, by status.
func (s *Service) CompleteJobs(ctx context.Context, claim *Claim, results []Result) (ended map[Status]int, err error) {
	err = s.whileDestinationStays(ctx, func() (unused []*Output, err error) {
		if ended, unused, err = s.completeJobs(ctx, claim, results); err != nil {
			ended = nil
		}
		return unused, err
	})
	if len(ended) > 0 {
		jobs := make([]ClaimedJob, len(results))
		for i := range results {
			jobs[i] = results[i].Job
		}
		s.noteChange(claim.BatchID, jobs...)
	}
	return ended, err
}

// completeJobs is CompleteJobs without its retries: the caller discards the unused outputs, and calls it again on errDestinationGone.
func (s *Service) completeJobs(ctx context.Context, claim *Claim, results []Result) (ended map[Status]int, unused []*Output, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		unused, ended = nil, map[Status]int{}
		failed := map[FailureReason]int{}
		waiting := map[Lane]int64{}
		d, err := s.destination(ctx, tx, claim.BatchID)
		if errors.Is(err, errBatchGone) {
			unused = outputsOf(results)
			return nil
		}
		if err != nil {
			return err
		}
		written := usage{folder: d.folder}
		var events []event
		for _, result := range results {
			if lane, err := s.waitAgain(ctx, tx, &d.batch, claim, result); err != nil {
				return err
			} else if lane != "" {
				waiting[lane]++
				continue
			}
			output := result.Output
			result = d.afford(result)
			status, outputID, err := s.completeJob(ctx, tx, d, result)
			if err != nil {
				return fmt.Errorf("complete job %d: %w", result.Job.ID, err)
			}
			if status != lost {
				ended[status]++
				if status == StatusFailed {
					failed[d.refuse(result).reason()]++
				}
				events = append(events, d.endEvents(result, status, outputID)...)
			}
			switch {
			case output == nil:
			case status == lost || status == StatusFailed:
				unused = append(unused, output)
			default:
				written.items++
				written.bytes += output.content.size
				d.space.Files, d.space.Bytes = d.space.Files+1, d.space.Bytes+output.content.size
			}
		}
		if err := s.addWritten(ctx, tx, d, written); err != nil {
			return err
		}
		if err := s.countEnded(ctx, tx, d.batch, endedJobs{jobs: ended, failed: failed}); err != nil {
			return err
		}
		short := slices.ContainsFunc(results, func(r Result) bool { return r.Shortage != NoShortage })
		if err := s.rejoin(ctx, tx, claim, waiting, d.batch, short, len(ended) > 0); err != nil {
			return err
		}
		return s.fire(ctx, tx, d.caller, events...)
	})
	return ended, unused, err
}

// outputsOf returns the documents of results.
func outputsOf(results []Result) []*Output {
	var outputs []*Output
	for _, r := range results {
		if r.Output != nil {
			outputs = append(outputs, r.Output)
		}
	}
	return outputs
}

// lost is returned for a job that another attempt has claimed.
const lost Status = ""

// completeJob ends one job, and returns its status and the id of its document, which is 0 if there is none.
func (s *Service) completeJob(ctx context.Context, tx *store.Tx, d destination, r Result) (Status, int64, error) {
	r = d.refuse(r)
	status := r.status()
	summary, err := r.Failures.summary(status).text()
	if err != nil {
		return lost, 0, err
	}
	finish := store.FinishJobParams{ID: r.Job.ID, Attempt: r.Job.attempt, Status: string(status), Summary: summary, FinishedAt: s.micros()}
	if r.Output != nil {
		finish.OutputFileID, finish.OutputVersionID = s.newID(), r.Output.content.id
	}
	held, err := tx.FinishJob(ctx, finish)
	if err != nil || held == 0 {
		return lost, 0, err
	}
	if err := keepFailures(ctx, tx, r.Job.ID, r.Failures); err != nil {
		return lost, 0, err
	}
	if r.Output == nil {
		return status, 0, nil
	}
	if err := s.put(ctx, tx, d, r.Output, finish.OutputFileID, r.Job.FileName); err != nil {
		return lost, 0, err
	}
	return status, finish.OutputFileID, tx.DeleteInput(ctx, r.Job.ID)
}

// endEvents returns the events for a job that ended and for its document.
func (d destination) endEvents(r Result, status Status, outputID int64) []event {
	r = d.refuse(r)
	trigger, info := DocumentSucceeded, generated(d.batch, d.caller.rootID, d.source, r.Job.ID, status)
	info.OutputFileID, info.Failures = outputID, r.Failures.eventLines()
	if status == StatusFailed {
		trigger = DocumentFailed
	}
	events := []event{{trigger: trigger, item: d.source, info: info}}
	if outputID != 0 {
		events = append(events, event{
			trigger: FileUploaded, item: d.folder.child(File, outputID), details: generatedDetails(d.batch.ID, r.Job.ID),
		})
	}
	return events
}

// generated returns the event details of a job, for a batch of the user with the given root folder.
func generated(batch store.DocgenBatch, root int64, template place, jobID int64, status Status) Generated {
	g := Generated{
		BatchID: batch.ID, JobID: jobID, Status: status, TemplateID: batch.TemplateFileID, TemplateName: template.row.Name,
		TemplateVersionID: batch.TemplateVersionID, DestinationID: batch.DestinationID, OutputType: batch.OutputType,
	}
	if g.DestinationID == root {
		g.DestinationID = rootID
	}
	return g
}

func (r Result) status() Status {
	switch {
	case r.Output == nil:
		return StatusFailed
	case len(r.Failures.Errors) > 0:
		return StatusCompletedWithError
	}
	return StatusCompleted
}

// noNil returns an empty list for nil, because the API shows empty lists.
func noNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
