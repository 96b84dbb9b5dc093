package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Clients read events by position, and continue after the last position that they have seen. So an event must never appear below a position
// that a client may have seen.
//
// On SQLite, transactions commit one after another, and a counter gives each event the next position. On PostgreSQL, a transaction can
// commit after a later one, and a counter would make all transactions wait for each other. There, the upper part of a position is the
// number of the transaction, and the lower part counts its events. Only events below the horizon are read: the lowest number of a
// transaction that is still running. All transactions below have ended, and no event can appear among them anymore.
//
// The numbers of transactions belong to a cluster. When the rows are restored to another one, its numbers may be lower. Open then raises
// what is added to them. On SQLite, the counter of a restored backup is lower than the positions that clients have. It is never below the
// time of the last start in milliseconds, which no counter reaches by counting.

// eventsPerTransaction is the number of positions of a transaction on PostgreSQL. Positions have 53 bits, so 37 are left for transactions.
const eventsPerTransaction = 1 << 16

const (
	advancePositions = `UPDATE event_positions SET next = next + $1 WHERE id = 1 RETURNING next - $1`
	positionsOfTx    = `SELECT (next + pg_current_xact_id()::text::bigint) * 65536 FROM event_positions WHERE id = 1`

	sqliteHorizon   = `SELECT next FROM event_positions WHERE id = 1`
	postgresHorizon = `SELECT (next + pg_snapshot_xmin(pg_current_snapshot())::text::bigint) * 65536 FROM event_positions WHERE id = 1`

	// raisePositions leaves room for the transactions between the backup and the restoration.
	raisePositions = `UPDATE event_positions SET next = (SELECT COALESCE(MAX(position), 0) / 65536 FROM events)
			- pg_current_xact_id()::text::bigint + 16777216
		WHERE id = 1
			AND next < (SELECT COALESCE(MAX(position), 0) / 65536 FROM events) + 1 - pg_current_xact_id()::text::bigint`

	raiseCounter = `UPDATE event_positions SET next = $1 WHERE id = 1 AND next < $1`
)

// InsertEvents adds events to the stream, in order. It sets their positions.
func (tx *Tx) InsertEvents(ctx context.Context, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	first, err := tx.nextPosition(ctx, len(events))
	if err != nil {
		return fmt.Errorf("position of an event: %w", err)
	}
	for i := range events {
		events[i].Position = first + int64(i)
	}
	tx.events += len(events)
	return insertMany(ctx, tx.sqlTx, `events (position, id, type, created_at, actor_id, owner_id, also_id, kind, source_id, details)`, events,
		func(e Event) []any {
			return []any{e.Position, e.ID, e.Type, e.CreatedAt, e.ActorID, e.OwnerID, e.AlsoID, e.Kind, e.SourceID, e.Details}
		})
}

// nextPosition reserves n consecutive positions and returns the first.
func (tx *Tx) nextPosition(ctx context.Context, n int) (first int64, err error) {
	if tx.db.dialect == SQLite {
		err = tx.sqlTx.QueryRowContext(ctx, advancePositions, n).Scan(&first)
		return first, err
	}
	if tx.events+n > eventsPerTransaction {
		return 0, errors.New("too many events in one transaction")
	}
	err = tx.sqlTx.QueryRowContext(ctx, positionsOfTx).Scan(&first)
	return first + int64(tx.events), err
}

// BeginPositions makes the positions of events continue after those of a database that a backup replaced. Call it at startup.
func (tx *Tx) BeginPositions(ctx context.Context, now time.Time) error {
	if tx.db.dialect != SQLite { // Open does it
		return nil
	}
	_, err := tx.sqlTx.ExecContext(ctx, raiseCounter, now.UnixMilli())
	return err
}

// EventHorizon returns the position below which no event can appear anymore. All events of the future are at it or above.
func (db *DB) EventHorizon(ctx context.Context, q *Queries) (horizon int64, err error) {
	query := sqliteHorizon
	if db.dialect == PostgreSQL {
		query = postgresHorizon
	}
	err = q.db.QueryRowContext(ctx, query).Scan(&horizon)
	return horizon, err
}

// EventsAdded returns a channel that receives a value soon after this process has added events.
func (db *DB) EventsAdded() <-chan struct{} { return db.eventsAdded }

// noteEvents is called after the commit of a transaction that added events.
func (db *DB) noteEvents() {
	select {
	case db.eventsAdded <- struct{}{}:
	default: // the reader has not received the last one yet
	}
}
