package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"platen/docgen"
	"platen/fair"
	"platen/generate/internal/isolate"
	"platen/pdf/finish"
)

// MergeTimeout is the maximum time to merge: a thousand letters take seconds, as many long contracts take minutes.
const MergeTimeout = 15 * time.Minute

// mergeFailure is the failure of a merged file after an error of the server. The log has the details.
const mergeFailure = "The documents could not be merged because of an error in the server. The operator can find the cause in the log " +
	"under the id of this batch."

// MergeDocuments merges the documents of a batch into one PDF. ErrUnfinished and *[PauseError] ask for another run.
func (g *Generator) MergeDocuments(ctx context.Context, task docgen.MergeDocuments) error {
	waiting, cancel := context.WithTimeoutCause(ctx, placeBudget, ErrUnfinished)
	defer cancel()
	weight, err := g.service.Weight(ctx, task.UserID)
	if err != nil {
		return g.afterShortage(ctx, err, "batch", task.BatchID)
	}
	place, err := g.merges.Acquire(waiting, fair.Claimant{User: task.UserID, Weight: weight})
	if err != nil {
		return err
	}
	defer place.Release()
	_, leftByUs := g.left.LoadOrStore(task, nil)
	m, err := g.service.ClaimMerge(ctx, task, !leftByUs)
	if err != nil {
		return g.afterShortage(ctx, err, "batch", task.BatchID)
	}
	if len(m.Parts) > 0 {
		if err := g.merge(ctx, m); err != nil {
			return g.mergeLater(ctx, task, m, err)
		}
	}
	g.left.Delete(task)
	return nil
}

// mergeLater releases a merge that an error interrupted, and returns the error that asks for another run.
func (g *Generator) mergeLater(ctx context.Context, task docgen.MergeDocuments, m *docgen.Merge, cause error) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	lacking := docgen.ShortageOf(cause)
	again := &PauseError{For: faultPause, cause: cause}
	var pause time.Duration
	var err error
	switch ended := context.Cause(ctx); {
	case ended != nil && !errors.Is(ended, context.DeadlineExceeded): // the server stops
		if err = g.service.ReleaseMerge(last, m); err == nil {
			g.left.Delete(task)
		}
		return errors.Join(cause, err)
	case lacking != docgen.NoShortage:
		g.shortages.met(ctx, lacking, cause, "batch", m.BatchID)
		pause, err = g.service.PauseMerge(last, m, lacking)
	default:
		g.log.ErrorContext(ctx, "an error of the server; documents are merged again", "batch", m.BatchID, "error", cause)
		pause, err = g.service.RetryMerge(last, m, mergeReason(cause))
	}
	if err == nil && pause == 0 { // it has failed permanently
		g.left.Delete(task)
		return nil
	}
	if err == nil { // otherwise, this process knows that no server crashed
		g.left.Delete(task)
		again.For = pause
	}
	return again
}

// mergeReason returns the reason, for people, why an error of the server failed a merge.
func mergeReason(err error) string {
	if known := docgen.PublicError(err); known != nil {
		return known.Message
	}
	return mergeFailure
}

// merge generates the merged file. An error is one of the server, or says that the run was interrupted.
func (g *Generator) merge(ctx context.Context, m *docgen.Merge) error {
	output, err := g.saveMerged(ctx, m)
	_, unreadable := errors.AsType[*finish.BrokenError](err)
	dead, died := errors.AsType[*isolate.DiedError](err)
	if died {
		g.log.ErrorContext(ctx, "merging ended the process that did it in isolation", "batch", m.BatchID, "how", dead.How, "said", dead.Said)
	}
	_, failed := errors.AsType[*isolate.FailedError](err)
	lost, _ := errors.AsType[*docgen.Error](err)
	switch {
	case lost != nil && lost.Code == docgen.CodeContentDamaged && !mayPass(err):
		_, err = g.service.CompleteMerge(ctx, m, nil, docgen.Failures{Errors: []string{lost.Message}})
	case unreadable || died || failed || docgen.IsCode(err, docgen.CodeTooLarge): // a retry would not help
		_, err = g.service.CompleteMerge(ctx, m, nil, docgen.Failures{Errors: []string{err.Error()}})
	case err != nil:
		err = fmt.Errorf("merge the documents of batch %s: %w", m.BatchID, err)
	default:
		if _, err = g.service.CompleteMerge(ctx, m, &output, docgen.Failures{}); err == nil {
			g.shortages.over(ctx, docgen.Shortages()...)
		}
	}
	return err
}

// saveMerged makes a merged file durable while it is written, with only one document in memory at a time.
func (g *Generator) saveMerged(ctx context.Context, m *docgen.Merge) (docgen.Output, error) {
	protection := protectionOf(m.Options.PDF)
	documents := make([]finish.Document, len(m.Parts))
	for i, content := range m.Parts {
		documents[i] = finish.Document{
			Name: strings.TrimSuffix(content.Name, path.Ext(content.Name)),
			Open: func() (io.ReadCloser, error) { return content.Open(ctx, 0, -1) },
		}
		if protection != nil {
			documents[i].Password = protection.UserPassword
		}
	}
	merged := pipe(func(w io.Writer) error {
		if m.Isolated && g.program != "" {
			return isolate.Merge(ctx, g.program, g.isolated, documents, protection, w)
		}
		return finish.Merge(w, documents, protection)
	})
	output, err := g.service.SaveMerged(ctx, m, merged)
	failure := merged.wait()
	if crash, ok := errors.AsType[*panicError](failure); ok {
		g.log.ErrorContext(ctx, "merging crashed", "batch", m.BatchID, "panic", crash.value, "stack", string(crash.stack))
	}
	if failure != nil {
		return docgen.Output{}, failure
	}
	return output, err
}
