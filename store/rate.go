package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ratesTable is where requests are counted, on PostgreSQL alone: what SQLite serves is one process, which counts in its
// memory. It is not logged, because a count that a crash of the database loses costs nothing, and the disk would cost a lot.
// Rows are changed in place, for which a page keeps room.
const ratesTable = `CREATE UNLOGGED TABLE IF NOT EXISTS rates (
    key      TEXT   NOT NULL PRIMARY KEY,
    period   BIGINT NOT NULL, -- the number of the last period in which something was counted
    current  BIGINT NOT NULL, -- what was counted in it
    previous BIGINT NOT NULL  -- and in the one before
) WITH (fillfactor = 50)`

// The count that a row stands for in the period $2. A row of a later period, by a clock that is ahead, counts as of now.
const (
	ratesCurrent  = `(CASE WHEN r.period >= $2 THEN r.current ELSE 0 END)`
	ratesPrevious = `(CASE WHEN r.period >= $2 THEN r.previous WHEN r.period = $2 - 1 THEN r.current ELSE 0 END)`
	ratesLeft     = `(CASE WHEN r.period > $2 THEN $4::bigint ELSE $5::bigint END)`
)

// $1 key, $2 period, $3 limit, $4 a period's time, $5 what is left of it. The row is locked before the condition is looked
// at, and nothing is returned where it does not hold.
var countRate = `
INSERT INTO rates AS r (key, period, current, previous) VALUES ($1, $2::bigint, 1, 0)
ON CONFLICT (key) DO UPDATE SET
    period = GREATEST(r.period, $2), current = ` + ratesCurrent + ` + 1, previous = ` + ratesPrevious + `
WHERE ` + ratesPrevious + ` * ` + ratesLeft + ` <= ($3::bigint - ` + ratesCurrent + ` - 1) * $4::bigint
RETURNING current, previous`

var readRate = `SELECT ` + ratesCurrent + `, ` + ratesPrevious + ` FROM rates r WHERE key = $1`

// A row that is being counted in is not old, and not waited for.
const sweepRates = `DELETE FROM rates WHERE key IN (SELECT key FROM rates WHERE period < $1 FOR UPDATE SKIP LOCKED)`

// A RateCounter counts what happens under keys, for all processes that share a PostgreSQL database. For its contract, see the interface
// of that name in package server.
type RateCounter struct {
	db     *DB
	period time.Duration
	swept  atomic.Int64 // the period in which old rows were removed
}

// NewRateCounter returns the counter of periods on a PostgreSQL database.
func NewRateCounter(db *DB, period time.Duration) *RateCounter {
	return &RateCounter{db: db, period: period}
}

// Count counts one more under a key, unless there would then be more than limit. It is one statement.
func (c *RateCounter) Count(ctx context.Context, key string, limit int, now time.Time) (counted bool, current, previous int, err error) {
	micros := c.period.Microseconds()
	period, left := now.UnixMicro()/micros, micros-now.UnixMicro()%micros
	c.sweep(ctx, period)
	row := c.db.writer.QueryRowContext(ctx, countRate, key, period, limit, micros, left)
	switch err := row.Scan(&current, &previous); {
	case err == nil:
		return true, current, previous, nil
	case !errors.Is(err, sql.ErrNoRows):
		return false, 0, 0, fmt.Errorf("count %s: %w", key, err)
	}
	if err := c.db.writer.QueryRowContext(ctx, readRate, key, period).Scan(&current, &previous); err != nil {
		return false, 0, 0, fmt.Errorf("read the count of %s: %w", key, err)
	}
	return false, current, previous, nil
}

// sweep removes the rows that no longer count, once a period.
func (c *RateCounter) sweep(ctx context.Context, period int64) {
	last := c.swept.Load()
	if period <= last || !c.swept.CompareAndSwap(last, period) {
		return
	}
	if _, err := c.db.writer.ExecContext(ctx, sweepRates, period-1); err != nil {
		c.db.log.WarnContext(ctx, "old counts of requests are not removed", "error", err) // they will be with the next
	}
}
