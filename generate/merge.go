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
	"platen/pdf/finish"
)

// MergeTimeout is how long merging may take: some seconds for a thousand letters, minutes for as many long contracts.
const MergeTimeout = 15 * time.Minute

// mergeFailure is what a merged file says when the fault is ours; the log has the rest.
const mergeFailure = "The documents could not be merged because of an error in the server. Its operator finds the reason in the " +
	"log under the id of this batch."

// MergeDocuments makes one PDF of the documents of a batch. ErrUnfinished asks for another run.
func (g *Generator) MergeDocuments(ctx context.Context, task docgen.MergeDocuments) error {
	waiting, cancel := context.WithTimeoutCause(ctx, placeBudget, ErrUnfinished)
	defer cancel()
	weight, err := g.service.Weight(ctx, task.UserID)
	if err != nil {
		return err
	}
	place, err := g.merges.Acquire(waiting, fair.Claimant{User: task.UserID, Weight: weight})
	if err != nil {
		return err
	}
	defer place.Release()
	m, err := g.service.ClaimMerge(ctx, task)
	if err != nil || len(m.Parts) == 0 {
		return err
	}
	output, err := g.saveMerged(ctx, m)
	_, unreadable := errors.AsType[*finish.BrokenError](err)
	lost, _ := errors.AsType[*docgen.Error](err)
	switch {
	case lost != nil && lost.Code == docgen.CodeContentDamaged:
		_, err = g.service.CompleteMerge(ctx, m, nil, docgen.Failures{Errors: []string{lost.Message}})
	case unreadable || docgen.IsCode(err, docgen.CodeTooLarge): // another try would not help
		_, err = g.service.CompleteMerge(ctx, m, nil, docgen.Failures{Errors: []string{err.Error()}})
	case err != nil:
		err = fmt.Errorf("merge the documents of batch %s: %w", m.BatchID, err)
	default:
		_, err = g.service.CompleteMerge(ctx, m, &output, docgen.Failures{})
	}
	return err
}

// saveMerged makes a merged file durable while it is made: no more than one document at a time is in memory.
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
	merged := pipe(func(w io.Writer) error { return finish.Merge(w, documents, protection) })
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
