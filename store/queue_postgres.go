package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// postgresQueue is the queue in PostgreSQL. Several processes may work on it.
type postgresQueue struct {
	pool     *pgxpool.Pool
	driver   *riverpgxv5.Driver
	inserter *river.Client[pgx.Tx]
}

func newPostgresQueue(pool *pgxpool.Pool, log *slog.Logger) (*postgresQueue, error) {
	driver := riverpgxv5.New(pool)
	inserter, err := river.NewClient(driver, &river.Config{
		Logger: riverLogger(log),
		// River sends at most one notification in this time, and drops the others. This is the minimum that it allows.
		FetchCooldown: river.FetchCooldownMin,
	})
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	return &postgresQueue{pool: pool, driver: driver, inserter: inserter}, nil
}

func (q *postgresQueue) insert(ctx context.Context, tx *Tx, params []river.InsertManyParams) (
	results []*rivertype.JobInsertResult, err error,
) {
	err = tx.conn.Raw(func(driverConn any) error {
		results, err = q.inserter.InsertManyTx(ctx, joinedTx{driverConn.(*stdlib.Conn).Conn()}, params)
		return err
	})
	return results, err
}

func (q *postgresQueue) complete(ctx context.Context, tx *Tx, job *river.Job[rawTask]) error {
	return tx.conn.Raw(func(driverConn any) error {
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, pgx.Tx(joinedTx{driverConn.(*stdlib.Conn).Conn()}), job)
		return err
	})
}

// committed does nothing, because River's NOTIFY was part of the transaction.
func (q *postgresQueue) committed(map[string]bool) {}

func (q *postgresQueue) cancel(ctx context.Context, id int64) error {
	_, err := q.inserter.JobCancel(ctx, id)
	return err
}

func (q *postgresQueue) newClient(cfg *river.Config) (queueClient, error) {
	return river.NewClient(q.driver, cfg)
}

// claim makes jobs available that are scheduled more than two days ahead, because only a wrong clock schedules them so.
func (q *postgresQueue) claim(ctx context.Context) (func() error, error) {
	const query = "UPDATE river_job SET scheduled_at = now() WHERE state = 'scheduled' AND scheduled_at > now() + interval '2 days'"
	if _, err := q.pool.Exec(ctx, query); err != nil {
		return nil, fmt.Errorf("have jobs worked that are scheduled too late: %w", err)
	}
	return func() error { return nil }, nil
}

type pgxConn = pgx.Conn

// joinedTx presents a connection on which database/sql has opened a transaction to River as that transaction. River can use it, but not end
// it.
type joinedTx struct{ *pgxConn }

var _ pgx.Tx = joinedTx{}

var errJoined = errors.New("the transaction is not the queue's to begin or to end")

func (joinedTx) Begin(context.Context) (pgx.Tx, error) { return nil, errJoined }
func (joinedTx) Commit(context.Context) error          { return errJoined }
func (joinedTx) Rollback(context.Context) error        { return errJoined }
func (joinedTx) LargeObjects() pgx.LargeObjects        { return pgx.LargeObjects{} }
func (tx joinedTx) Conn() *pgx.Conn                    { return tx.pgxConn }
