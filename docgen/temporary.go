package docgen

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"

	"platen/store"
)

// A document on request can become a job: a batch with one document. What nobody has a place for, the template that came with the request
// and the document without a destination, is in a temporary folder. The folder is the top of a tree of its own, so it is in no list. Its
// files are ordinary files of the caller, who can keep a document by moving it into another folder. One folder for each request makes
// deleting simple: it is deleted with everything in it.

const (
	// TemporaryTime is the time that the files of a document on request are kept after its job has ended.
	TemporaryTime = time.Hour
	// maxTemporaryFolders is the maximum number of temporary folders of a user.
	maxTemporaryFolders = 10_000
	// temporaryPortion is the number of temporary folders that are read at once.
	temporaryPortion = 100
	// temporaryName is the name of a temporary folder.
	temporaryName = "Temporary documents"
)

// RequestDocument accepts a document to generate later, and returns its job. From then on, the job will end, whatever happens. Without a
// destination, the document is temporary: it is deleted TemporaryTime after the job has ended.
func (s *Service) RequestDocument(ctx context.Context, c *Caller, r DocumentRequest) (Job, error) {
	if r.OutputType == OutputPNG {
		return Job{}, Invalid(invalidField("output_type", "page images are generated only while you wait: omit the header Prefer"))
	}
	order, err := s.OrderDocument(ctx, c, r)
	if err != nil {
		return Job{}, err
	}
	if err := s.checkRoom(ctx); err != nil {
		return Job{}, err
	}
	if err := s.checkWaiting(ctx, c.User.ID, 1); err != nil {
		return Job{}, err
	}
	n := &newDocumentJob{DocumentOrder: order, service: s, caller: c}
	if r.Inline != nil {
		if n.template, err = s.saveContent(ctx, defaultPolicyID, bytes.NewReader(r.Inline), ""); err != nil {
			return Job{}, err
		}
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error { return n.insert(ctx, tx) })
	if err != nil && r.Inline != nil {
		err = s.abandon(ctx, n.template, err)
	}
	if err != nil {
		return Job{}, err
	}
	return s.Job(ctx, c, n.jobID)
}

// newDocumentJob is a document that becomes a job.
type newDocumentJob struct {
	*DocumentOrder
	service  *Service
	caller   *Caller
	template content // the template that came with the request
	jobID    int64
}

// insert inserts the batch with its job, and the temporary folder if one is needed.
func (n *newDocumentJob) insert(ctx context.Context, tx *store.Tx) error {
	s, c := n.service, n.caller
	if err := s.checkAccount(ctx, tx.Queries, c); err != nil {
		return err
	}
	b := NewBatch{TemplateID: n.TemplateID, VersionID: n.DocumentOrder.VersionID, InputSource: InputSource, OutputType: n.OutputType,
		Options: n.DocumentOrder.Options, Documents: []NewDocument{{Name: n.FileName, Input: n.Input}}}
	batch := store.InsertBatchParams{
		ID: uuid.NewString(), TemplateFileID: n.TemplateID, TemplateVersionID: n.DocumentOrder.VersionID, OutputType: b.OutputType,
		Source: b.InputSource, CreatedAt: s.micros(), CreatedBy: c.User.ID, EnterpriseID: c.User.EnterpriseID,
		ApplicationID: c.ApplicationID, GlobalContent: c.has(ScopeGlobalContent), TraceParent: traceParent(ctx),
	}
	var temporary int64
	if n.Inline != nil || n.DestinationID == nil {
		temporary = s.newID()
	}
	if n.Inline != nil {
		batch.TemplateFileID, batch.TemplateVersionID = s.newID(), n.template.id
	}
	if err := n.aim(ctx, tx.Queries, &batch, temporary); err != nil {
		return err
	}
	var err error
	if batch.Options, err = b.Options.text(); err != nil {
		return err
	}
	jobs, inputs := s.jobRows(batch, b)
	n.jobID = jobs[0].ID
	batch.Number, batch.JobsTotal = n.jobID, 1
	if err := insertBatch(ctx, tx, batch, jobs, inputs); err != nil {
		return err
	}
	if err := b.insertEnding(ctx, tx, batch.ID, 1); err != nil {
		return err
	}
	if err := s.join(ctx, tx, c.User.ID, laneOf(b.OutputType, false), batch.ID, 1); err != nil || temporary == 0 {
		return err
	}
	return n.insertTemporary(ctx, tx, temporary, batch.TemplateFileID)
}

// aim checks the template and the destination of the batch again, in its transaction, and sets the destination.
func (n *newDocumentJob) aim(ctx context.Context, q *store.Queries, batch *store.InsertBatchParams, temporary int64) error {
	if n.Inline == nil {
		p, err := n.service.findTemplate(ctx, q, n.caller, n.TemplateID, MayDownload)
		if err != nil {
			return err
		}
		if _, err := templateVersion(ctx, q, p.row, batch.TemplateVersionID); err != nil {
			return err
		}
	}
	if n.DestinationID == nil {
		batch.DestinationID = temporary
		return nil
	}
	folder, err := n.service.findDestination(ctx, q, n.caller, *n.DestinationID)
	batch.DestinationID = folder.row.ID
	return err
}

// insertTemporary inserts a temporary folder, with the template that came with the request.
func (n *newDocumentJob) insertTemporary(ctx context.Context, tx *store.Tx, folderID, fileID int64) error {
	s, user := n.service, n.caller.User.ID
	held, err := tx.CountTemporaryFolders(ctx, user)
	if err != nil {
		return err
	}
	if held >= maxTemporaryFolders {
		return failf(CodeConflict, "You have %d temporary documents, which is the limit. They are deleted an hour after their jobs have "+
			"ended. Send a destination_folder, or request fewer documents.", held)
	}
	now := s.micros()
	if _, err := tx.InsertItem(ctx, newItemRow(Folder, folderID, sql.NullInt64{}, temporaryName, user, user, now)); err != nil {
		return err
	}
	err = tx.InsertTemporaryFolder(ctx, store.InsertTemporaryFolderParams{
		FolderID: folderID, UserID: user, JobID: n.jobID, ExpiresAt: now + TemporaryTime.Microseconds(),
	})
	if err != nil || n.Inline == nil {
		return err
	}
	name := n.InlineName
	if nameProblem(name, MaxNameLength) != "" || name == "" {
		name = "Template.docx"
	}
	added, err := n.template.insertFile(ctx, tx, newItemRow(File, fileID, parentOf(folderID), name, user, user, now))
	if err == nil && !added {
		err = fmt.Errorf("temporary folder %d is not empty", folderID)
	}
	if err != nil {
		return err
	}
	if err := s.charge(ctx, tx, user, 1, n.template.size); err != nil {
		return err
	}
	return tx.AddFolderItems(ctx, folderID, 1)
}

// checkLasting returns an Error for a temporary folder, which is deleted soon with everything that is added to it.
func (s *Service) checkLasting(ctx context.Context, q *store.Queries, c *Caller, folder place) error {
	if folder.row.ParentID.Valid || folder.row.ID == c.rootID {
		return nil
	}
	temporary, err := q.IsTemporaryFolder(ctx, folder.row.ID)
	if err == nil && temporary {
		err = failf(CodeForbidden, "Access denied – folder %d is temporary, and is deleted soon. Use another folder.", folder.row.ID)
	}
	return err
}

// RemoveTemporary is the task that deletes temporary folders. It must run about once a minute.
type RemoveTemporary struct{}

// Kind names the task.
func (RemoveTemporary) Kind() string { return "remove_temporary" }

// ScheduleTemporary schedules RemoveTemporary, now and for as long as the task is snoozed.
func (s *Service) ScheduleTemporary(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: RemoveTemporary{}, Unique: true, Priority: 4, Tries: maintenanceTries})
		return err
	})
}

// RemoveTemporary deletes the temporary folders of jobs that ended TemporaryTime ago, and returns their number.
func (s *Service) RemoveTemporary(ctx context.Context) (removed int, err error) {
	for end := s.now().Add(retentionBudget); s.now().Before(end); {
		var due []store.DueTemporaryFoldersRow
		err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
			due, err = q.DueTemporaryFolders(ctx, s.micros(), temporaryPortion)
			return err
		})
		if err != nil || len(due) == 0 {
			return removed, err
		}
		for _, row := range due {
			gone, err := s.removeTemporary(ctx, row)
			if err != nil {
				return removed, fmt.Errorf("remove temporary folder %d: %w", row.FolderID, err)
			}
			if gone {
				removed++
			}
		}
	}
	return removed, nil
}

// removeTemporary deletes a temporary folder that is due, with everything in it, or postpones that until its time.
func (s *Service) removeTemporary(ctx context.Context, row store.DueTemporaryFoldersRow) (gone bool, err error) {
	now, until := s.micros(), row.FinishedAt+TemporaryTime.Microseconds()
	hasEnded := row.Status != string(StatusPending) && row.Status != string(StatusSubmitted)
	if !hasEnded {
		until = now + TemporaryTime.Microseconds()
	}
	gone = row.ExpiresAt == 0 || row.Status == "" || until <= now
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if !gone {
			return tx.PostponeTemporaryFolder(ctx, row.FolderID, until)
		}
		if err := tx.LockTrees(ctx, row.FolderID); err != nil {
			return err
		}
		deleted, err := tx.DeleteTemporaryFolder(ctx, row.FolderID)
		if err != nil || deleted == 0 {
			return err
		}
		matched, err := s.purge(ctx, tx, s.Operator(), Folder, row.FolderID)
		if err != nil {
			return err
		}
		return s.enqueue(ctx, tx, matched)
	})
	return gone, err
}
