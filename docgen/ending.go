package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"platen/store"
)

// A batch with passwords or a merged file needs more work after the end of its last job. It has a row with the number of its remaining jobs
// and the passwords. The row is deleted when the work is done.

// passwords are stored separately from the other options, in plain text, for as long as they are needed.
type passwords struct {
	Password      *string `json:"password,omitempty"`
	OwnerPassword *string `json:"owner_password,omitempty"`
}

// passwordsOf returns the stored form of the passwords in options, "" if there are none.
func passwordsOf(o *PDFOptions) (string, error) {
	kept := passwords{(*string)(o.Password), (*string)(o.OwnerPassword)}
	if kept == (passwords{}) {
		return "", nil
	}
	b, err := json.Marshal(kept)
	return string(b), err
}

// insertEnding adds the row of a batch that needs work at its end.
func (b NewBatch) insertEnding(ctx context.Context, tx *store.Tx, batchID string, documents int64) error {
	o := b.Options.PDF
	if o == nil {
		return nil
	}
	secrets, err := passwordsOf(o)
	if err != nil || secrets == "" && o.Merged == nil {
		return err
	}
	if err := tx.InsertEnding(ctx, batchID, documents, secrets); err != nil || o.Merged == nil {
		return err
	}
	return tx.InsertMerge(ctx, batchID, b.mergedName())
}

// endedJobs are the numbers of jobs of a batch that end in a transaction.
type endedJobs struct {
	jobs     map[Status]int
	failed   map[FailureReason]int // those of jobs that failed
	canceled int                   // jobs that end because the batch was canceled, which are not in jobs
}

// countEnded counts jobs of a batch that end in a transaction, and starts the work at the end of the batch if they are the last ones. Only
// one transaction can count the last job, because others that count wait for its end.
func (s *Service) countEnded(ctx context.Context, tx *store.Tx, batch store.DocgenBatch, e endedJobs) error {
	n := e.canceled
	for _, jobs := range e.jobs {
		n += jobs
	}
	if n == 0 {
		return nil
	}
	if err := s.countPeriod(ctx, tx, e); err != nil {
		return err
	}
	if batch.OutputType == OutputPDF {
		if _, err := tx.CountEnded(ctx, batch.ID, int64(n)); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	left, err := tx.CountEndedJobs(ctx, store.CountEndedJobsParams{
		ID: batch.ID, Completed: int64(e.jobs[StatusCompleted]), Incomplete: int64(e.jobs[StatusCompletedWithError]),
		Failed: int64(e.jobs[StatusFailed]), Canceled: int64(e.canceled),
	})
	if err != nil || left > 0 {
		return err
	}
	return s.endJobs(ctx, tx, batch.ID, batch.CreatedBy)
}

// endJobs starts the work after the end of the last job of a batch: the merged file, unless the batch was canceled. If there is none, the
// batch has ended.
func (s *Service) endJobs(ctx context.Context, tx *store.Tx, batchID string, userID int64) error {
	batch, err := tx.Batch(ctx, batchID) // it may have been canceled meanwhile
	if err != nil {
		return err
	}
	if batch.CanceledAt != 0 {
		reason, err := Failures{Errors: []string{mergeCanceled}}.text()
		if err != nil {
			return err
		}
		if err := tx.CancelMerge(ctx, batchID, reason, s.micros()); err != nil {
			return err
		}
	} else if _, err = tx.Merge(ctx, batchID); err == nil {
		_, err = tx.Enqueue(ctx, MergeDocuments{BatchID: batchID, UserID: userID}.job())
		return err
	} else if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err := tx.DeleteEnding(ctx, batchID); err != nil {
		return err
	}
	return s.endBatch(ctx, tx, batchID)
}

// endBatch records that a batch has ended.
func (s *Service) endBatch(ctx context.Context, tx *store.Tx, batchID string) error {
	return tx.EndBatch(ctx, batchID, s.micros())
}

// workingOptions returns the options of a batch for generating its documents: with the passwords, which are not
// available elsewhere.
func workingOptions(ctx context.Context, q *store.Queries, batch store.DocgenBatch) (BatchOptions, error) {
	o, err := optionsOf(batch.ID, batch.Options)
	if err != nil || o.PDF == nil || o.PDF.Password == nil && o.PDF.OwnerPassword == nil {
		return o, err
	}
	text, err := q.Passwords(ctx, batch.ID)
	if err != nil { // no document may lack its protection
		return o, fmt.Errorf("passwords of batch %s: %w", batch.ID, err)
	}
	var kept passwords
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return o, fmt.Errorf("passwords of batch %s cannot be decoded", batch.ID) // the original error could contain them
	}
	o.PDF.Password, o.PDF.OwnerPassword = (*Secret)(kept.Password), (*Secret)(kept.OwnerPassword)
	return o, nil
}
