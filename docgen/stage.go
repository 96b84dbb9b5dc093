package docgen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"platen/store"
)

// The data of a large batch is received in portions, so that no transaction blocks all other writers for seconds. The
// batch is hidden until the last portion, like a batch that is being deleted; if receiving it fails, it is deleted in
// the same way. A streamed batch is stored in this way while it arrives.

const (
	// stagedFrom is the size in bytes above which the data of a batch is received in portions of about this size.
	stagedFrom = 4 << 20
	// stagedJobs is the maximum number of jobs in a portion.
	stagedJobs = 1000
	// stagedFor is the time after which a batch that is being received is removed, unless its server is alive.
	stagedFor = 10 * time.Minute
)

// staging is a batch that is being received, or nil.
type staging struct {
	service *Service
	id      string
	until   int64 // when the batch is deleted
}

func sizeOf(inputs []store.DocgenInput) (size int) {
	for _, input := range inputs {
		size += len(input.Data)
	}
	return size
}

// stage inserts a hidden batch with its jobs and their data. No lane has the batch before it is published, so no job is claimed.
func (s *Service) stage(ctx context.Context, c *Caller, b NewBatch, batch store.InsertBatchParams, jobs []store.DocgenJob,
	inputs []store.DocgenInput) (*staging, error) {
	staged, err := s.beginStaging(ctx, c, b, batch, func(*store.Tx) error { return nil })
	if err != nil {
		return nil, err
	}
	for from := 0; from < len(jobs); {
		to := portionOf(inputs, from)
		if err := staged.add(ctx, jobs[from:to], inputs[from:to]); err != nil {
			return nil, errors.Join(err, staged.discard(ctx))
		}
		from = to
	}
	return staged, nil
}

// beginStaging inserts a hidden batch without jobs. check can refuse it in the same transaction.
func (s *Service) beginStaging(ctx context.Context, c *Caller, b NewBatch, batch store.InsertBatchParams,
	check func(*store.Tx) error) (*staging, error) {
	staged := &staging{service: s, id: batch.ID, until: s.micros() + stagedFor.Microseconds()}
	return staged, s.db.WriteAsync(ctx, func(tx *store.Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		if err := s.prepareBatch(ctx, tx.Queries, c, b, &batch); err != nil {
			return err
		}
		if err := tx.InsertBatch(ctx, batch); err != nil {
			return err
		}
		return staged.hide(ctx, tx, staged.until, 0)
	})
}

// hide hides the batch until a time. If the process ends before the batch is complete, a task deletes it then.
func (staged *staging) hide(ctx context.Context, tx *store.Tx, until, was int64) error {
	hidden, err := tx.StageBatch(ctx, until, staged.id, was)
	if err == nil && hidden == 0 {
		err = staged.expired()
	}
	if err != nil {
		return err
	}
	_, err = tx.Enqueue(ctx, store.Job{Task: RemoveBatches{}, Queue: RemovalQueue, At: timeOf(until).Add(time.Second),
		Tries: maintenanceTries})
	return err
}

func (staged *staging) expired() error {
	return fmt.Errorf("batch %s was not received in time", staged.id)
}

// keep hides the batch for longer if half of its time has passed.
func (staged *staging) keep(ctx context.Context) error {
	now := staged.service.micros()
	if staged.until-now > stagedFor.Microseconds()/2 {
		return nil
	}
	until := now + stagedFor.Microseconds()
	err := staged.service.db.WriteAsync(ctx, func(tx *store.Tx) error { return staged.hide(ctx, tx, until, staged.until) })
	if err == nil {
		staged.until = until
	}
	return err
}

// add stores a portion of the batch.
func (staged *staging) add(ctx context.Context, jobs []store.DocgenJob, inputs []store.DocgenInput) error {
	return staged.service.db.WriteAsync(ctx, func(tx *store.Tx) error {
		if err := tx.InsertJobs(ctx, jobs); err != nil {
			return err
		}
		return tx.InsertInputs(ctx, inputs)
	})
}

// portionOf returns the end of the portion that begins at an input. A portion has at least one input.
func portionOf(inputs []store.DocgenInput, from int) (to int) {
	size := 0
	for to = from; to < len(inputs) && to-from < stagedJobs && (to == from || size+len(inputs[to].Data) <= stagedFrom); to++ {
		size += len(inputs[to].Data)
	}
	return to
}

// publish makes the batch visible. Its jobs are due once the batch joins a lane.
func (staged *staging) publish(ctx context.Context, tx *store.Tx, batch store.InsertBatchParams) error {
	if staged.service.micros() >= staged.until { // parts of it may have been removed
		return staged.expired()
	}
	shown, err := tx.PublishBatch(ctx, store.PublishBatchParams{
		ID: batch.ID, TemplateVersionID: batch.TemplateVersionID, DestinationID: batch.DestinationID, Options: batch.Options, Until: staged.until,
		Shape: batch.Shape, Number: batch.Number, JobsTotal: batch.JobsTotal,
	})
	if err == nil && shown == 0 {
		err = staged.expired()
	}
	return err
}

// discard deletes the batch, whether or not ctx has ended. If it fails, the batch is deleted later.
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

// removeStaged schedules the deletion of a batch that is being received until a time. It does nothing for a batch that
// was published or deleted meanwhile.
func removeStaged(ctx context.Context, tx *store.Tx, id string, until, now int64) error {
	hidden, err := tx.StageBatch(ctx, now, id, until)
	if err != nil || hidden == 0 {
		return err
	}
	_, err = tx.Enqueue(ctx, store.Job{Task: RemoveBatches{}, Queue: RemovalQueue, Unique: true, Tries: maintenanceTries})
	return err
}

// discardTime limits the duration of [staging.discard].
const discardTime = 10 * time.Second
