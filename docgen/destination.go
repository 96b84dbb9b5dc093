package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"platen/store"
)

// destination is the destination of the documents of a batch when they are finished.
type destination struct {
	batch   store.DocgenBatch
	source  place // the template
	folder  place
	caller  *Caller        // creator of the batch
	problem string         // why documents cannot be written there; "" if they can
	space   Space          // of the owner of the folder
	numbers map[string]int // last number added to a name in this transaction, by the key of the name
}

// batchOrigin returns the destination of a batch without its folder.
func (s *Service) batchOrigin(ctx context.Context, tx *store.Tx, batchID string) (destination, error) {
	batch, err := tx.Batch(ctx, batchID)
	if errors.Is(err, sql.ErrNoRows) {
		return destination{}, errBatchGone
	}
	if err != nil {
		return destination{}, fmt.Errorf("batch %s: %w", batchID, err)
	}
	user, err := tx.User(ctx, batch.CreatedBy)
	if err != nil {
		return destination{}, fmt.Errorf("creator of batch %s: %w", batchID, err)
	}
	template, err := s.placeAt(ctx, tx.Queries, File, batch.TemplateFileID)
	if err != nil {
		return destination{}, err
	}
	return destination{batch: batch, source: template, numbers: map[string]int{}, caller: callerOf(user.User, batch.GlobalContent)}, nil
}

func (s *Service) destination(ctx context.Context, tx *store.Tx, batchID string) (destination, error) {
	d, err := s.batchOrigin(ctx, tx, batchID)
	if err != nil {
		return d, err
	}
	batch := d.batch
	// Unlike lockFolder, this does not make other writers to the folder wait; see stillThere.
	d.folder, err = s.findSteady(ctx, tx, d.caller, Folder, batch.DestinationID, MayUpload, func(place) error { return nil })
	if _, gone := errors.AsType[*Error](err); gone {
		d.problem = fmt.Sprintf("The destination folder %d was deleted, or can no longer be written to, while the document was generated. "+
			"Restore it or choose another folder, and send the document again.", batch.DestinationID)
		return d, nil
	}
	if err == nil {
		d.space, err = s.lockSpace(ctx, tx, d.folder.row.OwnerID)
	}
	return d, err
}

// errDestinationGone makes CompleteJobs start again, because the destination, an empty folder, was deleted after it was found.
var errDestinationGone = errors.New("the destination folder was deleted while jobs were completed")

// errBatchGone means that a batch was deleted while its documents were generated, because its creator was erased.
var errBatchGone = errors.New("the batch was deleted")

// stillThere returns errDestinationGone if the destination of documents no longer exists. Call it after addUsage,
// because the deletion of an empty folder waits for that.
func (s *Service) stillThere(ctx context.Context, tx *store.Tx, d destination) error {
	_, err := s.find(ctx, tx.Queries, d.caller, Folder, d.folder.row.ID, MayUpload)
	if _, gone := errors.AsType[*Error](err); gone {
		return errDestinationGone
	}
	return err
}

// whileDestinationStays calls a function that completes jobs, repeats it on errDestinationGone, and discards unused outputs.
func (s *Service) whileDestinationStays(ctx context.Context, complete func() (unused []*Output, err error)) (err error) {
	var unused []*Output
	for range lockTries {
		if unused, err = complete(); !errors.Is(err, errDestinationGone) {
			break
		}
	}
	if err != nil {
		return err // the outputs are swept unless the transaction was committed nevertheless
	}
	for _, output := range unused {
		err = errors.Join(err, s.discard(ctx, output.content))
	}
	return err
}

// addWritten adds the written documents to the usage of the destination.
func (s *Service) addWritten(ctx context.Context, tx *store.Tx, d destination, written usage) error {
	if err := s.charge(ctx, tx, d.folder.row.OwnerID, written.items, written.bytes); err != nil {
		return err
	}
	if err := addUsage(ctx, tx, written); err != nil || written.items == 0 {
		return err
	}
	return s.stillThere(ctx, tx, d)
}

// afford returns the result, or a failure if the owner of the folder has no space for the document.
func (d destination) afford(r Result) Result {
	if r.Output == nil || d.problem != "" {
		return r
	}
	if err := d.space.fits(1, r.Output.content.size); err != nil {
		r.Output, r.Reason, r.Failures.Errors = nil, FailedSpace, append([]string{PublicError(err).Message}, r.Failures.Errors...)
	}
	return r
}

// refuse bounds the failures of a result, and adds one if the destination cannot be written.
func (d destination) refuse(r Result) Result {
	if r.Output != nil && d.problem != "" {
		r.Output, r.Reason, r.Failures.Errors = nil, FailedDestination, append([]string{d.problem}, r.Failures.Errors...)
	}
	r.Failures = r.Failures.Bounded()
	return r
}

// put creates a file for an output in the destination, with its name or, if that is taken, with a number.
func (s *Service) put(ctx context.Context, tx *store.Tx, d destination, output *Output, fileID int64, name string) error {
	row := newItemRow(File, fileID, parentOf(d.folder.row.ID), name, d.folder.row.OwnerID, d.caller.User.ID, s.micros())
	if err := d.insertNumbered(ctx, tx, output.content, row); err != nil {
		return err
	}
	return output.content.settle(ctx, tx, d.folder, fileID)
}

// numberTries is the maximum number of attempts to find a free number while others use them concurrently.
const numberTries = 100

// insertNumbered adds a file with its name or, if that is taken, with the first free number.
func (d destination) insertNumbered(ctx context.Context, tx *store.Tx, v content, row store.InsertItemParams) error {
	key := row.NameKey
	added, err := v.insertFile(ctx, tx, row)
	for name, try := row.Name, 0; err == nil && !added; try++ {
		if try == numberTries { // the id may be taken instead of the name
			return fmt.Errorf("no number for a name found in %d tries", try)
		}
		var n int
		if n, err = freeNumber(ctx, tx, row.ParentID, File, name, d.numbers[key]); err != nil {
			return err
		}
		d.numbers[key] = n
		row.Name = numberedName(File, name, n)
		row.NameKey = foldKey(row.Name)
		added, err = v.insertFile(ctx, tx, row)
	}
	return err
}
