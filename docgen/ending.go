package docgen

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"platen/store"
)

// A batch that keeps passwords, or makes a merged file, has something to be done when the last of its jobs has ended. It has a
// row that counts the jobs that are left, and holds the passwords. The row goes when all is done.

// passwords are kept apart from the other options, as they are, for as long as they are needed.
type passwords struct {
	Password      *string `json:"password,omitempty"`
	OwnerPassword *string `json:"owner_password,omitempty"`
}

// passwordsOf is how the passwords of options are kept; empty when there are none.
func passwordsOf(o *PDFOptions) (string, error) {
	kept := passwords{(*string)(o.Password), (*string)(o.OwnerPassword)}
	if kept == (passwords{}) {
		return "", nil
	}
	b, err := json.Marshal(kept)
	return string(b), err
}

// insertEnding adds what is to be done at the end of a batch.
func (b NewBatch) insertEnding(ctx context.Context, tx *store.Tx, batchID string) error {
	o := b.Options.PDF
	if o == nil {
		return nil
	}
	secrets, err := passwordsOf(o)
	if err != nil || secrets == "" && o.Merged == nil {
		return err
	}
	if err := tx.InsertEnding(ctx, batchID, int64(len(b.Documents)), secrets); err != nil || o.Merged == nil {
		return err
	}
	return tx.InsertMerge(ctx, batchID, b.mergedName())
}

// countEnded counts jobs of a batch that end in a transaction, and has done what is to be done when they are the last. One
// transaction alone counts the last: another one that counts waits until this one ends.
func countEnded(ctx context.Context, tx *store.Tx, batch store.DocgenBatch, ended map[Status]int) error {
	n := 0
	for _, jobs := range ended {
		n += jobs
	}
	if n == 0 || batch.OutputType != OutputPDF {
		return nil
	}
	left, err := tx.CountEnded(ctx, batch.ID, int64(n))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil || left > 0 {
		return err
	}
	_, err = tx.Merge(ctx, batch.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return tx.DeleteEnding(ctx, batch.ID)
	}
	if err == nil {
		_, err = tx.Enqueue(ctx, MergeDocuments{BatchID: batch.ID, UserID: batch.CreatedBy}.job())
	}
	return err
}

// workingOptions are the options of a batch for who makes its documents: with the passwords, which nobody else gets.
func workingOptions(ctx context.Context, q *store.Queries, batch store.DocgenBatch) (BatchOptions, error) {
	o, err := optionsOf(batch)
	if err != nil || o.PDF == nil || o.PDF.Password == nil && o.PDF.OwnerPassword == nil {
		return o, err
	}
	text, err := q.Passwords(ctx, batch.ID)
	if err != nil { // no document is made that lacks the protection it was to have
		return o, fmt.Errorf("passwords of batch %s: %w", batch.ID, err)
	}
	var kept passwords
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return o, fmt.Errorf("passwords of batch %s cannot be decoded", batch.ID) // the original error could contain them
	}
	o.PDF.Password, o.PDF.OwnerPassword = (*Secret)(kept.Password), (*Secret)(kept.OwnerPassword)
	return o, nil
}
