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

// countEnded counts jobs of a batch that end in a transaction, and starts the work at the end of the batch if they are the last ones. Only
// one transaction can count the last job, because others that count wait for its end.
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

// workingOptions returns the options of a batch for generating its documents: with the passwords, which are not
// available elsewhere.
func workingOptions(ctx context.Context, q *store.Queries, batch store.DocgenBatch) (BatchOptions, error) {
	o, err := optionsOf(batch)
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
