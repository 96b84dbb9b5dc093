package docgen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"platen/store"
)

// The data of a large batch is received in portions, so that no transaction keeps all other writers waiting for seconds. Until the
// last one the batch is hidden, as a batch that is being removed is; whatever breaks off in between, it is removed like one.

const (
	// stagedFrom is the size of the data of a batch, in bytes, above which it is received in portions of about as much.
	stagedFrom = 4 << 20
	// stagedJobs is the most jobs of a portion.
	stagedJobs = 1000
	// stagedFor is the longest time for receiving a batch, after which it is removed.
	stagedFor = time.Hour
)

// staging is a batch that is being received, or nil.
type staging struct {
	service *Service
	id      string
	until   int64 // when it is removed
}

func sizeOf(inputs []store.DocgenInput) (size int) {
	for _, input := range inputs {
		size += len(input.Data)
	}
	return size
}

// stage inserts a batch that nobody sees, with its jobs and their data. No job is due before the batch is published.
func (s *Service) stage(ctx context.Context, c *Caller, b NewBatch, batch store.InsertBatchParams, jobs []store.DocgenJob,
	inputs []store.DocgenInput) (*staging, error) {
	staged := &staging{service: s, id: batch.ID, until: s.micros() + stagedFor.Microseconds()}
	err := s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		if err := s.prepareBatch(ctx, tx.Queries, c, b, &batch); err != nil {
			return err
		}
		if err := tx.InsertBatch(ctx, batch); err != nil {
			return err
		}
		if _, err := tx.StageBatch(ctx, staged.until, batch.ID, 0); err != nil {
			return err
		}
		// If the process ends before the batch is complete, nobody else looks for it.
		_, err := tx.Enqueue(ctx, store.Job{Task: RemoveBatches{}, Queue: RemovalQueue, At: timeOf(staged.until).Add(time.Second),
			Tries: maintenanceTries})
		return err
	})
	if err != nil {
		return nil, err
	}
	for from := 0; from < len(jobs); {
		to := portionOf(inputs, from)
		err := s.db.WriteAsync(ctx, func(tx *store.Tx) error {
			part := make([]store.DocgenJob, to-from)
			copy(part, jobs[from:to])
			for i := range part {
				part[i].Waiting = false
			}
			if err := tx.InsertJobs(ctx, part); err != nil {
				return err
			}
			return tx.InsertInputs(ctx, inputs[from:to])
		})
		if err != nil {
			return nil, errors.Join(err, staged.discard(ctx))
		}
		from = to
	}
	return staged, nil
}

// portionOf returns the end of the portion that begins at an input: it has at least one.
func portionOf(inputs []store.DocgenInput, from int) (to int) {
	size := 0
	for to = from; to < len(inputs) && to-from < stagedJobs && (to == from || size+len(inputs[to].Data) <= stagedFrom); to++ {
		size += len(inputs[to].Data)
	}
	return to
}

// publish shows the batch and lets its jobs wait to be generated.
func (staged *staging) publish(ctx context.Context, tx *store.Tx, batch store.InsertBatchParams) error {
	if staged.service.micros() >= staged.until { // parts of it may have been removed
		return fmt.Errorf("batch %s was not received within %v", batch.ID, stagedFor)
	}
	shown, err := tx.PublishBatch(ctx, store.PublishBatchParams{
		ID: batch.ID, TemplateVersionID: batch.TemplateVersionID, DestinationID: batch.DestinationID, Options: batch.Options, Until: staged.until,
	})
	if err == nil && shown == 0 {
		err = fmt.Errorf("batch %s was not received within %v", batch.ID, stagedFor)
	}
	if err != nil {
		return err
	}
	return tx.PublishJobs(ctx, batch.ID)
}

// discard has the batch removed, whether or not ctx has ended. If it fails, the batch is removed later.
func (staged *staging) discard(ctx context.Context) error {
	if staged == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
	defer cancel()
	return staged.service.db.Write(ctx, func(tx *store.Tx) error {
		return removeStaged(ctx, tx, staged.id, staged.until, staged.service.micros())
	})
}

// removeStaged has a batch deleted that is being received until a time. It does nothing for one that was published or removed meanwhile.
func removeStaged(ctx context.Context, tx *store.Tx, id string, until, now int64) error {
	hidden, err := tx.StageBatch(ctx, now, id, until)
	if err != nil || hidden == 0 {
		return err
	}
	_, err = tx.Enqueue(ctx, store.Job{Task: RemoveBatches{}, Queue: RemovalQueue, Unique: true, Tries: maintenanceTries})
	return err
}

// discardTime bounds the wait of [staging.discard].
const discardTime = 10 * time.Second
