package docgen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"platen/store"
)

// EraseUsers is the task that continues the erasure of users.
type EraseUsers struct{}

// Kind names the task.
func (EraseUsers) Kind() string { return "erase_users" }

const (
	erasureBudget     = 45 * time.Second // after that, no portion is begun; the queue gives a task 120 s
	erasureBatches    = 20               // batches that one transaction hides
	erasureJobs       = 500              // jobs of a batch that one transaction ends
	erasureDeliveries = 200              // deliveries of a webhook that one transaction deletes
	erasureRows       = 500              // notifications, or entries of the audit log, that one transaction reads
	erasureUsers      = 100              // users that are erased before the next ones are read
)

func wakeErasure(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Enqueue(ctx, store.Job{Task: EraseUsers{}, Queue: RemovalQueue, Unique: true, Tries: maintenanceTries})
	return err
}

// ScheduleErasure schedules EraseUsers if any user is left to erase. Call it once at startup.
func (s *Service) ScheduleErasure(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		left, err := tx.Erasures(ctx, 1)
		if err != nil || len(left) == 0 {
			return err
		}
		return wakeErasure(ctx, tx)
	})
}

// EraseUsers continues the erasure of users, one after another. If more is true, its time was up, and it must be called again.
func (s *Service) EraseUsers(ctx context.Context) (more bool, err error) {
	for end := s.now().Add(erasureBudget); ; {
		var users []int64
		err := s.db.Read(ctx, func(q *store.Queries) (err error) {
			users, err = q.Erasures(ctx, erasureUsers)
			return err
		})
		if err != nil {
			return false, err
		}
		if len(users) == 0 {
			return s.endErasures(ctx)
		}
		for _, id := range users {
			for done := false; !done; {
				if s.now().After(end) {
					return true, nil
				}
				if done, err = s.erasePortion(ctx, id); err != nil {
					return false, fmt.Errorf("erase user %d: %w", id, err)
				}
			}
		}
	}
}

// TruncateLog removes erased data from the write-ahead log of the database, where SQLite may keep it for as long as the server runs. If
// another process uses the log for too long, it fails with an error that [ShortageOf] recognizes.
func (s *Service) TruncateLog(ctx context.Context) error { return s.db.TruncateLog(ctx) }

// endErasures marks the task as done, unless another erasure has begun meanwhile (more is then true).
func (s *Service) endErasures(ctx context.Context) (more bool, err error) {
	return s.endUnlessDue(ctx, func(tx *store.Tx) (bool, error) {
		left, err := tx.Erasures(ctx, 1)
		return len(left) > 0, err
	})
}

// erasure is a user who is being erased.
type erasure struct {
	userID   int64
	position int64           // up to which the current step is done
	logins   map[string]bool // folded
	names    []string
	folders  []int64
}

// erasureStep does one portion of a step in a transaction, and advances the position. done reports that the step is
// complete.
type erasureStep func(ctx context.Context, tx *store.Tx, e *erasure) (done bool, err error)

// erasureSteps returns the steps in order. A step can be repeated safely. The database stores step numbers: a release
// that changes the order must restart erasures.
func (s *Service) erasureSteps() []erasureStep {
	return []erasureStep{s.eraseBatches, s.eraseWebhooks, s.eraseInvitations, s.eraseFolderNames, s.eraseFromNotifications,
		s.eraseFromAudit, s.endErasure}
}

// erasePortion erases one portion of a user's data in one transaction. done reports whether it was the last one.
func (s *Service) erasePortion(ctx context.Context, id int64) (done bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		rows, err := tx.LockErasure(ctx, id)
		if done = len(rows) == 0; err != nil || done {
			return err
		}
		e, err := erasureOf(rows[0])
		if err != nil {
			return err
		}
		steps, step := s.erasureSteps(), rows[0].Step
		all, err := steps[step](ctx, tx, e)
		if err != nil {
			return err
		}
		if all {
			step, e.position = step+1, 0
		}
		if done = step == int64(len(steps)); done {
			return tx.DeleteErasure(ctx, id)
		}
		return tx.SetErasure(ctx, id, step, e.position)
	})
	return done, err
}

func erasureOf(row store.Erasure) (*erasure, error) {
	var k known
	if err := json.Unmarshal([]byte(row.Known), &k); err != nil {
		return nil, fmt.Errorf("what is known of user %d: %w", row.UserID, err)
	}
	e := &erasure{userID: row.UserID, position: row.Position, logins: map[string]bool{}, names: k.Names, folders: k.Folders}
	slices.Sort(e.folders)
	for _, login := range k.Logins {
		if login != "" {
			e.logins[foldKey(login)] = true
		}
	}
	return e, nil
}

// isLogin reports whether a text is a login of the user.
func (e *erasure) isLogin(text string) bool { return text != "" && e.logins[foldKey(text)] }

// eraseBatches ends and hides the batches of the user. RemoveBatches deletes them with their jobs, data, and failures.
func (s *Service) eraseBatches(ctx context.Context, tx *store.Tx, e *erasure) (done bool, err error) {
	batches, err := tx.BatchesOfUser(ctx, e.userID, s.micros(), erasureBatches)
	if err != nil || len(batches) == 0 {
		return err == nil, err
	}
	jobs := int64(0)
	for _, batch := range batches {
		id := batch.ID
		if batch.RemovedAt != 0 { // it is still being received, which will fail, and none of its jobs has begun
			if err := removeStaged(ctx, tx, id, batch.RemovedAt, s.micros()); err != nil {
				return false, err
			}
			continue
		}
		ended, err := tx.EndSomeJobs(ctx, id, s.micros(), erasureJobs)
		if err != nil {
			return false, err
		}
		if err := s.countErased(ctx, tx, id, ended); err != nil {
			return false, err
		}
		if jobs += ended; ended == erasureJobs {
			return false, nil
		}
		if err := tx.EndMerge(ctx, id, s.micros()); err != nil {
			return false, err
		}
		if ok, err := hideBatch(ctx, tx, id, s.micros()); err != nil || !ok {
			return false, cmp.Or(err, fmt.Errorf("batch %s was changed meanwhile", id))
		}
		if jobs >= erasureJobs {
			break
		}
	}
	return false, nil
}

// countErased adds jobs that ended in an erasure to the counts of their batch. Nothing else happens at its end, because it is then deleted.
func (s *Service) countErased(ctx context.Context, tx *store.Tx, batchID string, jobs int64) error {
	left, err := tx.CountEndedJobs(ctx, store.CountEndedJobsParams{ID: batchID, Failed: jobs})
	if err != nil || left > 0 {
		return err
	}
	return s.endBatch(ctx, tx, batchID)
}

// eraseWebhooks ends the webhooks of the user, and deletes their deliveries. A delivery that may be in progress stays, without its body,
// until the log of deliveries is cleaned up, because its attempt must still be recorded.
func (s *Service) eraseWebhooks(ctx context.Context, tx *store.Tx, e *erasure) (done bool, err error) {
	rows, err := tx.NextWebhookOfUser(ctx, e.userID)
	if err != nil || len(rows) == 0 {
		return err == nil, err
	}
	id := rows[0].ID
	const reason = "The webhook was deleted."
	if err := tx.CancelDeliveries(ctx, id, s.micros(), reason); err != nil {
		return false, err
	}
	if rows[0].Status != webhookDeleted {
		if err := tx.DeleteReceiver(ctx, id); err != nil {
			return false, err
		}
		if err := tx.DeleteWebhook(ctx, id, reason, s.micros()); err != nil {
			return false, err
		}
	}
	deliveries, err := tx.DeliveriesToErase(ctx, id, erasureDeliveries)
	if err != nil {
		return false, err
	}
	var ended []int64
	for _, d := range deliveries {
		if DeliveryState(d.State) != DeliveryCanceled {
			ended = append(ended, d.ID)
			continue
		}
		if err := errors.Join(tx.SetBody(ctx, d.ID, ""), tx.DeleteAttempts(ctx, d.ID)); err != nil {
			return false, err
		}
	}
	if err := tx.DeleteDeliveries(ctx, ended); err != nil || len(deliveries) == erasureDeliveries {
		return false, err
	}
	return false, tx.EraseWebhook(ctx, id)
}

// eraseInvitations deletes the invitations for logins of the user.
func (s *Service) eraseInvitations(ctx context.Context, tx *store.Tx, e *erasure) (done bool, err error) {
	for key := range e.logins {
		if err := tx.DeleteInvitationsOf(ctx, key); err != nil {
			return false, err
		}
	}
	return true, nil
}

// eraseFolderNames renames the folders that content of the user was transferred to, unless they have been renamed
// already.
func (s *Service) eraseFolderNames(ctx context.Context, tx *store.Tx, e *erasure) (done bool, err error) {
	i := slices.IndexFunc(e.folders, func(id int64) bool { return id > e.position })
	if i < 0 {
		return true, nil
	}
	id := e.folders[i]
	e.position = id
	p, err := steady(ctx, tx, Folder, lockRow(ctx, tx), func() (place, error) { return s.standing(ctx, tx.Queries, Folder, id) })
	if IsCode(err, CodeNotFound) {
		return false, nil
	}
	if err != nil || !e.isTransferName(p.row.Name) {
		return false, err
	}
	name, err := freeName(ctx, tx, p.row.ParentID, Folder, erasedFolder(e.userID))
	if err != nil {
		return false, err
	}
	_, err = tx.UpdateItem(ctx, store.UpdateItemParams{
		ID: id, ParentID: p.row.ParentID, Name: name, NameKey: foldKey(name), Description: p.row.Description,
		ModifiedAt: p.row.ModifiedAt, ModifiedBy: p.row.ModifiedBy, Etag: p.row.Etag,
	})
	return false, err
}

// isTransferName reports whether a text is the name of a folder that content of the user was transferred to.
func (e *erasure) isTransferName(text string) bool {
	return slices.ContainsFunc(e.names, func(name string) bool { return strings.HasPrefix(text, transferName(name)) })
}

// eraseFromNotifications erases the person from notifications for the webhooks of others, and the responses of their receivers.
func (s *Service) eraseFromNotifications(ctx context.Context, tx *store.Tx, e *erasure) (done bool, err error) {
	rows, err := tx.SomeBodies(ctx, e.position, erasureRows)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		e.position = row.DeliveryID
		body, err := e.eraseFrom([]byte(row.Body))
		if err != nil {
			return false, fmt.Errorf("body of delivery %d: %w", row.DeliveryID, err)
		}
		if body == nil {
			continue
		}
		if err := errors.Join(tx.SetBody(ctx, row.DeliveryID, string(body)), tx.DeleteAttempts(ctx, row.DeliveryID)); err != nil {
			return false, err
		}
	}
	return len(rows) < erasureRows, nil
}

// eraseFromAudit erases the user from the audit log. The entries stay, with the id of the user.
func (s *Service) eraseFromAudit(ctx context.Context, tx *store.Tx, e *erasure) (done bool, err error) {
	rows, err := tx.SomeAuditEvents(ctx, e.position, erasureRows)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		e.position = row.ID
		to := store.EraseAuditEventParams{ID: row.ID, Address: row.Address, Agent: row.Agent, RequestID: row.RequestID}
		if to.Details, err = e.eraseDetails(row); err != nil {
			return false, fmt.Errorf("details of audit event %d: %w", row.ID, err)
		}
		if row.ActorID == e.userID {
			to.Address, to.Agent, to.RequestID = "", "", ""
		}
		if to == (store.EraseAuditEventParams{ID: row.ID, Address: row.Address, Agent: row.Agent, RequestID: row.RequestID,
			Details: row.Details}) {
			continue
		}
		if err := tx.EraseAuditEvent(ctx, to); err != nil {
			return false, err
		}
	}
	return len(rows) < erasureRows, nil
}

// eraseDetails returns the details of an entry of the audit log without the user's data.
func (e *erasure) eraseDetails(row store.AuditEvent) (string, error) {
	if row.Details == "" {
		return "", nil
	}
	details := map[string]string{}
	if err := json.Unmarshal([]byte(row.Details), &details); err != nil {
		return "", err
	}
	own := []string{} // personal regardless of their text
	switch {
	case row.TargetKind == "user" && row.TargetID == strconv.FormatInt(e.userID, 10):
		own = []string{"login", "name"}
	case AuditAction(row.Action) == AuditTokenIssued && e.isLogin(details["user"]):
		own = []string{"user", "name"} // of the user, and of the token
	case row.ActorID == e.userID:
		own = []string{"host"} // of a webhook
	}
	changed := false
	for key, value := range details {
		if slices.Contains(own, key) || slices.ContainsFunc(strings.Split(value, auditArrow), e.isLogin) {
			details[key], changed = erasedText, true
		}
	}
	if !changed {
		return row.Details, nil
	}
	text, err := json.Marshal(details)
	return string(text), err
}

// endErasure is the last step. It starts over if requests in progress have added something meanwhile.
func (s *Service) endErasure(ctx context.Context, tx *store.Tx, e *erasure) (done bool, err error) {
	if err := errors.Join(tx.DeleteTokensOfUser(ctx, e.userID), tx.DeleteRefreshTokensOfUser(ctx, e.userID),
		tx.DeletePassword(ctx, e.userID), tx.DeleteInvitation(ctx, e.userID),
		tx.DeleteKeysOfUser(ctx, e.userID),
		tx.DeleteCollaborationsOfUser(ctx, userID(e.userID))); err != nil {
		return false, err
	}
	for _, step := range []erasureStep{s.eraseBatches, s.eraseWebhooks} {
		for none := false; !none; {
			if none, err = step(ctx, tx, e); err != nil {
				return false, err
			}
		}
	}
	return true, tx.SetErased(ctx, e.userID, s.micros())
}
