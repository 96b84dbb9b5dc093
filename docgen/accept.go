package docgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/google/uuid"

	"platen/docx/lang"
	"platen/store"
)

const (
	// maxAccepting is the maximum number of batches of one user that are being received at the same time.
	maxAccepting = 3
	// maxDiscarded is the maximum number of batches of one user that were discarded, and whose rows are still being deleted.
	maxDiscarded = 10
	// maxAcceptTime is the maximum time to receive the data of a batch.
	maxAcceptTime = 6 * time.Hour
	// maxBadRows is the maximum number of problems of rows in an Error. All bad rows are counted.
	maxBadRows = 100
)

// AcceptBatch is CreateBatch for a batch whose documents are the rows of data, which is not in memory as a whole. It stores the rows while
// it reads them, and returns once all are durable. Until then, no document is generated. If a row is invalid, it reads the rest only to
// report all such rows, and discards the batch, as it does if data cannot be read. A slow reader holds neither a transaction nor a lock.
func (s *Service) AcceptBatch(ctx context.Context, c *Caller, b NewBatch, f DataFormat, data io.Reader) (string, error) {
	a, err := s.prepareAccepting(ctx, c, &b, &f, false)
	if err != nil {
		return "", err
	}
	if err := s.checkRoom(ctx); err != nil {
		return "", err
	}
	a.row = s.batchRow(ctx, c, b)
	if a.staged, err = s.beginAccepting(ctx, c, b, a.row); err != nil {
		return "", err
	}
	err = a.read(ctx, data)
	if err == nil {
		err = a.flush(ctx)
	}
	if err == nil {
		err = a.publish(ctx)
	}
	if err != nil {
		return "", errors.Join(err, a.staged.discard(ctx))
	}
	return a.row.ID, nil
}

// TryData is TryBatch for a batch whose documents are the rows of data.
func (s *Service) TryData(ctx context.Context, c *Caller, b NewBatch, f DataFormat, data io.Reader) (DryRun, error) {
	a, err := s.prepareAccepting(ctx, c, &b, &f, true)
	if err != nil {
		return DryRun{}, err
	}
	a.run = &DryRun{}
	if err := a.read(ctx, data); err != nil {
		return DryRun{}, err
	}
	a.run.Documents = a.count
	return *a.run, nil
}

// accepting is a batch whose data is being read.
type accepting struct {
	service *Service
	caller  *Caller
	batch   NewBatch
	format  *DataFormat
	schema  *lang.Schema // nil if it is not needed
	inputs  Inputs
	until   time.Time
	room    int64 // documents that can still wait

	count int // rows, including bad ones
	bad   int
	wrong []Problem

	run    *DryRun // of a dry run
	row    store.InsertBatchParams
	staged *staging
	jobs   []store.DocgenJob
	data   []store.DocgenInput
	size   int
}

// prepareAccepting checks everything but the rows, and pins the version of the template.
func (s *Service) prepareAccepting(ctx context.Context, c *Caller, b *NewBatch, f *DataFormat, try bool) (*accepting, error) {
	if err := c.require(ScopeDocGen); err != nil {
		return nil, err
	}
	if err := Invalid(append(b.envelopeProblems(), f.Problems()...)...); err != nil {
		return nil, err
	}
	a := &accepting{service: s, caller: c, format: f, until: s.now().Add(maxAcceptTime), room: math.MaxInt64}
	if f.Format == FormatCSV || try {
		var err error
		if a.schema, b.VersionID, err = s.batchSchema(ctx, c, *b); err != nil {
			return nil, err
		}
	}
	a.batch = *b
	if try {
		return a, nil
	}
	return a, s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		a.room, err = s.roomToWait(ctx, q, c.User.ID)
		return err
	})
}

// beginAccepting inserts the hidden batch, unless the user has too many of them.
func (s *Service) beginAccepting(ctx context.Context, c *Caller, b NewBatch, row store.InsertBatchParams) (*staging, error) {
	return s.beginStaging(ctx, c, b, row, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil {
			return err
		}
		accepting, err := tx.CountAccepting(ctx, s.micros(), c.User.ID)
		if err != nil {
			return err
		}
		if accepting >= maxAccepting {
			return errAccepting("The server is receiving the data of %d batches of the user, the maximum. Retry when one of them is complete.",
				accepting)
		}
		discarded, err := tx.CountDiscarded(ctx, s.micros(), c.User.ID)
		if err == nil && discarded >= maxDiscarded {
			err = errAccepting("The server is still deleting the rows of %d invalid or interrupted batches of the user, the maximum. Retry when "+
				"it has deleted some.", discarded)
		}
		return err
	})
}

func errAccepting(format string, args ...any) error {
	return &Error{Code: CodeRefused, RetryAfter: time.Minute, Message: fmt.Sprintf(format, args...)}
}

// read reads all rows. If any are invalid, it returns the Error for all of them.
func (a *accepting) read(ctx context.Context, data io.Reader) error {
	rows, err := a.format.open(&steadyReader{data, func() error { return a.alive(ctx) }}, a.schema, a.service.limits, &a.inputs)
	for r := (row{}); err == nil; {
		if err = rows.next(&r); err == nil {
			err = a.take(ctx, &r)
		}
	}
	if wrong, ok := errors.AsType[*rowsError](err); ok {
		end := row{line: wrong.line, element: a.count + 1}
		end.fail("data", "%s", wrong.why)
		a.reject(&end)
		err = io.EOF
	}
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case a.bad > 0:
		return a.invalid()
	case a.count == 0:
		return Invalid(invalidField("data", "the data has no rows"))
	}
	return nil
}

// A steadyReader calls a function before each read.
type steadyReader struct {
	io.Reader
	before func() error
}

func (r *steadyReader) Read(p []byte) (int, error) {
	if err := r.before(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// alive keeps the batch while its data arrives, up to a maximum.
func (a *accepting) alive(ctx context.Context) error {
	if a.service.now().After(a.until) {
		return failf(CodeRefused, "The data of a batch must arrive within %v. Split it into several batches.", maxAcceptTime)
	}
	if a.staged == nil || a.bad > 0 {
		return nil
	}
	return a.staged.keep(ctx)
}

// take checks a row, and stores it with the next portion.
func (a *accepting) take(ctx context.Context, r *row) error {
	if a.count++; a.count > a.service.limits.StreamedDocuments {
		return Invalid(invalidField("data", "the data has more than %d documents, the maximum", a.service.limits.StreamedDocuments))
	}
	if int64(a.count) > a.room {
		return a.service.errWaiting(a.room, int64(a.count))
	}
	a.check(r)
	if len(r.problems) > 0 {
		a.reject(r)
		return nil
	}
	name := a.batch.fileName(r.document)
	if a.run != nil {
		a.run.add(a.schema, a.count-1, r.line, name, r.document.Input.text)
		return nil
	}
	if a.bad > 0 {
		return nil
	}
	a.jobs = append(a.jobs, store.DocgenJob{
		BatchID: a.row.ID, TemplateFileID: a.row.TemplateFileID, CreatedBy: a.row.CreatedBy, FileName: name,
		Status: string(StatusPending), Waiting: true,
	})
	a.data = append(a.data, store.DocgenInput{Data: string(r.document.Input.text)})
	if a.size += len(r.document.Input.text); len(a.jobs) == stagedJobs || a.size >= stagedFrom {
		return a.flush(ctx)
	}
	return nil
}

// check adds the problems of a row that was read. It names a document that has no name.
func (a *accepting) check(r *row) {
	if len(r.problems) > 0 {
		return
	}
	if r.document.Name == "" && a.format.pattern != nil && len(r.document.Input.text) > 0 && r.document.Input.problem == "" {
		name, why := a.format.pattern.name(r.document.Input.text)
		if r.document.Name = name; why != "" {
			r.fail("generated_file_name", "%s", why)
			return
		}
	}
	a.batch.checkDocument(&r.document, a.service.limits, func(field, why string) { r.fail(field, "%s", why) })
}

// reject counts a bad row. Nothing more is stored.
func (a *accepting) reject(r *row) {
	a.bad++
	a.jobs, a.data, a.size = nil, nil, 0
	for _, p := range r.problems {
		if len(a.wrong) == maxBadRows {
			return
		}
		p.Name = joinName(fmt.Sprintf("data[%d]", max(a.count-1, 0)), p.Name)
		a.wrong = append(a.wrong, p)
	}
}

func joinName(row, field string) string {
	if field == "" || field == "data" {
		return row
	}
	return row + "." + field
}

// invalid returns the Error for the bad rows.
func (a *accepting) invalid() error {
	return &Error{Code: CodeBadRequest, Problems: a.wrong, Message: fmt.Sprintf(
		"Invalid input parameters in request: %d of %d rows are invalid, and nothing was generated. The first problem is on %s",
		a.bad, max(a.count, a.bad), a.wrong[0].Message)}
}

// flush stores the rows that were read.
func (a *accepting) flush(ctx context.Context) error {
	if len(a.jobs) == 0 {
		return nil
	}
	if err := a.service.checkRoom(ctx); err != nil {
		return err
	}
	first := a.service.ids.next(a.service.now(), len(a.jobs))
	a.row.Number = cmp.Or(a.row.Number, first)
	for i := range a.jobs {
		a.jobs[i].ID = first + int64(i)
		a.data[i].JobID = first + int64(i)
	}
	if err := a.staged.add(ctx, a.jobs, a.data); err != nil {
		return err
	}
	clear(a.data) // so that the texts can be freed
	a.jobs, a.data, a.size = a.jobs[:0], a.data[:0], 0
	return nil
}

// publish makes the batch visible, and its documents due.
func (a *accepting) publish(ctx context.Context) error {
	var err error
	if a.row.Shape, err = a.inputs.commonShape(); err != nil {
		return err
	}
	s, c := a.service, a.caller
	a.row.JobsTotal = int64(a.count)
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := s.checkAccount(ctx, tx.Queries, c); err != nil {
			return err
		}
		if err := a.checkWaiting(ctx, tx); err != nil {
			return err
		}
		if err := s.prepareBatch(ctx, tx.Queries, c, a.batch, &a.row); err != nil {
			return err
		}
		if err := a.staged.publish(ctx, tx, a.row); err != nil {
			return err
		}
		if err := a.batch.insertEnding(ctx, tx, a.row.ID, int64(a.count)); err != nil {
			return err
		}
		noteResult(ctx, a.row.ID)
		return s.join(ctx, tx, c.User.ID, laneOf(a.batch.OutputType, false), a.row.ID, int64(a.count))
	})
}

// checkWaiting returns an Error if the documents no longer fit in the room of the user, because others joined meanwhile. Streams of one
// user that end at the same moment wait for each other.
func (a *accepting) checkWaiting(ctx context.Context, tx *store.Tx) error {
	if _, err := tx.LockUser(ctx, a.caller.User.ID); err != nil {
		return err
	}
	return a.service.checkWaitingIn(ctx, tx.Queries, a.caller.User.ID, int64(a.count))
}

// findAccepting returns a batch of the caller whose data is being received.
func (s *Service) findAccepting(ctx context.Context, q *store.Queries, c *Caller, id string) (store.DocgenBatch, error) {
	if uuid.Validate(id) != nil {
		return store.DocgenBatch{}, NotFound("docgen_batch", id)
	}
	batch, err := q.Batch(ctx, id)
	if isGone(err, store.DocgenBatch{}) || err == nil && (batch.CreatedBy != c.User.ID || batch.RemovedAt <= s.micros()) {
		err = NotFound("docgen_batch", id)
	}
	return batch, err
}
