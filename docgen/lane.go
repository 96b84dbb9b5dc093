package docgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"platen/store"
)

// Rows hold the documents to generate, and tasks only start the work. The documents of a batch wait in a lane, in which the batches of a
// user take turns. A user has a few tasks in each lane, called slots. A slot claims the next documents, generates
// them, and claims again. It ends in the same transaction in which it finds no due documents.

// Lane is a queue of documents. Documents in one lane never wait for those in another.
type Lane string

// The lanes.
const (
	LaneDocx     Lane = "docx"
	LanePDF      Lane = "pdf"
	LaneIsolated Lane = "isolated" // documents that may have crashed a server
)

// Lanes returns all lanes.
func Lanes() []Lane { return []Lane{LaneDocx, LanePDF, LaneIsolated} }

// Queue returns the queue for the tasks of a lane. The tasks mostly wait.
func (l Lane) Queue() string { return "generate_" + string(l) }

// laneLimits are the limits of one user in a lane.
type laneLimits struct {
	wake  int // maximum number of slots that one batch wakes
	slots int // number of slots; more than wake, so that some are left if a killed server held the others
	claim int // maximum number of documents that a slot claims at once
}

// claimShare is the approximate number of claims for a small batch. A claim has several documents, because it costs
// about as much as a short document, but few enough to spread a small batch over all slots.
const claimShare = 8

func (l Lane) limits() laneLimits {
	switch l {
	case LaneDocx:
		return laneLimits{wake: 32, slots: 64, claim: 16}
	case LanePDF:
		return laneLimits{wake: 16, slots: 32, claim: 4}
	default:
		return laneLimits{wake: 2, slots: 8, claim: 1}
	}
}

// claimOf returns the number of documents that a slot claims at once from a batch with the given number of documents.
func (l Lane) claimOf(documents int64) int64 {
	return max(1, min(int64(l.limits().claim), (documents+claimShare-1)/claimShare))
}

// slotsFor returns the number of slots that the given number of documents justifies.
func (l Lane) slotsFor(documents int64) int {
	claim := l.claimOf(documents)
	return int(max(1, min(int64(l.limits().wake), (documents+claim-1)/claim)))
}

func laneOf(outputType string, isolated bool) Lane {
	if isolated {
		return LaneIsolated
	}
	return Lane(outputType)
}

// GenerateDocuments is the task of one slot of a user: it generates documents that wait in a lane until none is due.
type GenerateDocuments struct {
	UserID int64 `json:"user_id"`
	Lane   Lane  `json:"lane"`
	Slot   int   `json:"slot"`
}

// Kind names the task.
func (GenerateDocuments) Kind() string { return "generate_user_documents" }

// slot returns the name of the slot in the rows that it holds.
func (t GenerateDocuments) slot() string { return fmt.Sprintf("%s/%d", t.Lane, t.Slot) }

// job returns the queue entry of the task. The first slots of all users run before the others, so that a user with many
// slots does not block others.
func (t GenerateDocuments) job() store.Job {
	priority := 1
	for _, from := range []int{4, 8, 16} {
		if t.Slot >= from {
			priority++
		}
	}
	return store.Job{Task: t, Queue: t.Lane.Queue(), Priority: priority, Unique: true, Tries: generationTries}
}

// generationTries is the number of tries of a task that wakes a slot. Server errors and crashes count per document, and
// the tasks continue.
const generationTries = 10_000

// roomToWait returns the number of documents that a user can add to those that wait in the batches of the user. It is negative if more wait
// than allowed. Requests at the same moment do not see each other's documents, unless they hold the user's lock.
func (s *Service) roomToWait(ctx context.Context, q *store.Queries, userID int64) (int64, error) {
	waiting, err := q.DocumentsOfUser(ctx, userID)
	return s.limits.Waiting - waiting, err
}

// checkWaiting returns an Error unless a user can add documents to those that wait.
func (s *Service) checkWaiting(ctx context.Context, userID, documents int64) error {
	return s.db.ReadOne(ctx, func(q *store.Queries) error { return s.checkWaitingIn(ctx, q, userID, documents) })
}

// checkWaitingIn is checkWaiting in a transaction.
func (s *Service) checkWaitingIn(ctx context.Context, q *store.Queries, userID, documents int64) error {
	room, err := s.roomToWait(ctx, q, userID)
	if err == nil && documents > room {
		err = s.errWaiting(room, documents)
	}
	return err
}

// errWaiting is the Error for documents that do not fit in the room of the user.
func (s *Service) errWaiting(room, documents int64) error {
	return &Error{Code: CodeRefused, RetryAfter: time.Minute, Message: fmt.Sprintf("%d documents of the user would wait, more than %d, the "+
		"maximum. Retry when some have been generated.", s.limits.Waiting-room+documents, s.limits.Waiting)}
}

// join adds documents of a batch to a lane, and wakes slots for them. It must be the last step of a transaction,
// because others that wake the same slots wait for its end.
func (s *Service) join(ctx context.Context, tx *store.Tx, userID int64, lane Lane, batchID string, documents int64) error {
	joined, err := s.joinAt(ctx, tx, userID, lane, batchID, documents, 0)
	if err != nil || !joined {
		return err
	}
	return wakeSlots(ctx, tx, userID, lane, documents)
}

// joinAt adds documents of a batch to a lane. They are not due before a time, when WakeDocuments finds them. joined is false if the batch
// was canceled: its waiting documents end then.
func (s *Service) joinAt(ctx context.Context, tx *store.Tx, userID int64, lane Lane, batchID string, documents, due int64) (joined bool,
	err error) {
	n, err := tx.JoinTurns(ctx, store.JoinTurnsParams{ID: s.newID(), UserID: userID, Lane: string(lane), BatchID: batchID,
		Documents: documents, DueAt: due})
	if err == nil && n == 0 {
		err = wakeCancellation(ctx, tx)
	}
	return n > 0, err
}

// wakeSlots wakes idle slots of a user, as many as the number of documents justifies. It always wakes one, because a
// slot that finds nothing at this moment ends, and no slot would see the new documents.
func wakeSlots(ctx context.Context, tx *store.Tx, userID int64, lane Lane, documents int64) error {
	held, err := tx.HeldSlots(ctx, userID)
	if err != nil {
		return err
	}
	var jobs []store.Job
	for n := 0; n < lane.limits().slots && len(jobs) < lane.slotsFor(documents); n++ {
		if task := (GenerateDocuments{UserID: userID, Lane: lane, Slot: n}); !slices.Contains(held, task.slot()) {
			jobs = append(jobs, task.job())
		}
	}
	if len(jobs) == 0 {
		jobs = append(jobs, GenerateDocuments{UserID: userID, Lane: lane}.job())
	}
	_, err = tx.Enqueue(ctx, jobs...)
	return err
}

// crashesBeforeIsolation is the number of server crashes while a document is being generated after which it is
// generated in isolation.
const crashesBeforeIsolation = 2

// ResumeSlot prepares a run of a slot. Documents that the slot still holds, because its last run could not release them, return to their
// lanes. crashed means that the server of that run probably crashed. Documents that several crashed servers held are
// generated in isolation. ResumeSlot returns the weight of the user, and the number of documents that were released.
func (s *Service) ResumeSlot(ctx context.Context, task GenerateDocuments, crashed bool) (weight, takenBack int, err error) {
	var slot store.WeightAndHeldRow
	err = s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		slot, err = q.WeightAndHeld(ctx, task.UserID, task.slot())
		return err
	})
	if err != nil || slot.Held == 0 {
		return int(slot.Weight), 0, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		takenBack, err = s.takeBack(ctx, tx, task, crashed)
		return err
	})
	return int(slot.Weight), takenBack, err
}

// Weight returns a user's share of the machine. It is 1 if the user is unknown, as in tasks of earlier releases.
func (s *Service) Weight(ctx context.Context, userID int64) (weight int, err error) {
	err = s.db.ReadOne(ctx, func(q *store.Queries) error {
		share, err := q.UserWeight(ctx, userID)
		weight = int(share)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return 1, nil
	}
	return weight, err
}

func (s *Service) takeBack(ctx context.Context, tx *store.Tx, task GenerateDocuments, crashed bool) (int, error) {
	params := store.ReclaimJobsParams{CreatedBy: task.UserID, Slot: task.slot(), Limit: crashesBeforeIsolation}
	if crashed {
		params.Crashes = 1
	}
	rows, err := tx.ReclaimJobs(ctx, params)
	if err != nil {
		return 0, err
	}
	type place struct {
		batch    string
		isolated bool
	}
	again := map[place]int64{}
	for _, row := range rows {
		again[place{row.BatchID, row.Isolated}]++
	}
	for at, documents := range again {
		lane := task.Lane
		if at.isolated {
			lane = LaneIsolated
		}
		if err := s.join(ctx, tx, task.UserID, lane, at.batch, documents); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// WakeDocuments is the task that finds documents that wait although nobody generates them, because they are to be tried
// again later, or because their task was lost.
type WakeDocuments struct{}

// Kind names the task.
func (WakeDocuments) Kind() string { return "wake_documents" }

// ScheduleDocuments schedules the generation of all waiting documents, now and for as long as the task is snoozed.
func (s *Service) ScheduleDocuments(ctx context.Context) error {
	if err := s.wakeDocuments(ctx, true); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Enqueue(ctx, store.Job{Task: WakeDocuments{}, Unique: true, Tries: generationTries})
		return err
	})
}

// WakeDocuments wakes a slot for each user who has due documents in a lane in which none of the user's documents is
// being generated.
func (s *Service) WakeDocuments(ctx context.Context) error { return s.wakeDocuments(ctx, false) }

// wakeDocuments wakes slots for due documents. With all, it also counts documents that are being generated, because their server may have
// ended.
func (s *Service) wakeDocuments(ctx context.Context, all bool) error {
	var due []store.LaneDue
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		due, err = q.LanesDue(ctx, s.micros())
		return err
	})
	for _, lane := range due {
		err = errors.Join(err, s.db.WriteAsync(ctx, func(tx *store.Tx) error { return wakeLane(ctx, tx, lane, all) }))
	}
	return err
}

func wakeLane(ctx context.Context, tx *store.Tx, due store.LaneDue, all bool) error {
	lane, documents := Lane(due.Lane), int64(1)
	if all {
		var err error
		if documents, err = tx.DocumentsInTurn(ctx, due.UserID, due.Lane); err != nil {
			return err
		}
	} else {
		held, err := tx.HeldSlots(ctx, due.UserID)
		if err != nil || slices.ContainsFunc(held, lane.owns) {
			return err
		}
	}
	return wakeSlots(ctx, tx, due.UserID, lane, documents)
}

// owns reports whether a slot belongs to the lane.
func (l Lane) owns(slot string) bool {
	var n int
	_, err := fmt.Sscanf(slot, string(l)+"/%d", &n)
	return err == nil
}

// GenerateRange is the task for some documents of a batch, as earlier releases created it.
type GenerateRange struct {
	BatchID string `json:"batch_id"`
}

// Kind names the task.
func (GenerateRange) Kind() string { return "generate_documents" }

// Queues of GenerateRange in addition to the default one.
const (
	OldPDFQueue      = "pdf"
	OldIsolatedQueue = "apart"
)

// RequeueOldBatch adds the documents of a batch that a server of an earlier release accepted to their lanes.
func (s *Service) RequeueOldBatch(ctx context.Context, task GenerateRange) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		batch, err := tx.Batch(ctx, task.BatchID)
		if err != nil {
			return fmt.Errorf("batch %s: %w", task.BatchID, err)
		}
		if n, err := tx.RequeueOldBatch(ctx, task.BatchID); err != nil || n == 0 {
			return err
		}
		for _, isolated := range []bool{false, true} {
			n, err := tx.CountWaiting(ctx, task.BatchID, isolated)
			if err == nil && n > 0 {
				err = s.join(ctx, tx, batch.CreatedBy, laneOf(batch.OutputType, isolated), task.BatchID, n)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// LaneBacklog is the number and age of the documents that wait in a lane.
type LaneBacklog struct {
	Documents int64         // CountedBacklog if there are more
	Oldest    time.Duration // age of the oldest batch with waiting documents; 0 if none wait
}

// DocumentBacklog returns the backlog of each lane.
func (s *Service) DocumentBacklog(ctx context.Context) (map[Lane]LaneBacklog, error) {
	backlog := map[Lane]LaneBacklog{}
	err := s.db.Read(ctx, func(q *store.Queries) error {
		for _, lane := range Lanes() {
			row, err := q.LaneBacklog(ctx, string(lane), CountedBacklog)
			if err != nil {
				return err
			}
			b := LaneBacklog{Documents: row.Documents}
			if row.Oldest != 0 {
				b.Oldest = max(0, s.now().Sub(timeOf(row.Oldest)))
			}
			backlog[lane] = b
		}
		return nil
	})
	return backlog, err
}
