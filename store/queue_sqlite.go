package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
)

// sqliteQueue is the queue in a SQLite file. One process works on it.
type sqliteQueue struct {
	path     string
	writer   *sql.DB
	driver   *sqliteDriver
	inserter *river.Client[*sql.Tx]
}

func newSQLiteQueue(path string, writer *sql.DB, log *slog.Logger) (*sqliteQueue, error) {
	driver := &sqliteDriver{Driver: riversqlite.New(writer), bus: &bus{}}
	inserter, err := river.NewClient(driver, &river.Config{Logger: riverLogger(log)})
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	return &sqliteQueue{path: path, writer: writer, driver: driver, inserter: inserter}, nil
}

func (q *sqliteQueue) insert(ctx context.Context, tx *Tx, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error) {
	return q.inserter.InsertManyTx(ctx, tx.sqlTx, params)
}

func (q *sqliteQueue) complete(ctx context.Context, tx *Tx, job *river.Job[rawTask]) error {
	_, err := river.JobCompleteTx[*sqliteDriver](ctx, tx.sqlTx, job)
	return err
}

func (q *sqliteQueue) committed(queues map[string]bool) {
	for name := range queues {
		q.driver.bus.send(topicInsert, busMessage{Queue: name})
	}
}

// cancel marks the job in the database, which is all that River does on SQLite, and notifies the worker that runs it.
func (q *sqliteQueue) cancel(ctx context.Context, id int64) error {
	job, err := q.inserter.JobCancel(ctx, id)
	if err != nil {
		return err
	}
	q.driver.bus.send(topicControl, busMessage{Action: "cancel", JobID: id, Queue: job.Queue})
	return nil
}

func (q *sqliteQueue) newClient(cfg *river.Config) (queueClient, error) {
	return river.NewClient(q.driver, cfg)
}

// claim takes a lock that the kernel releases when the process ends. Jobs that are still marked as running, and a leader that is still
// marked as elected, must therefore belong to an earlier process. claim also makes jobs available that are scheduled more than two days
// ahead, because only a wrong clock schedules them so.
func (q *sqliteQueue) claim(ctx context.Context) (func() error, error) {
	lock, err := lockFile(q.path + "-queue.lock")
	if err != nil {
		return nil, err
	}
	for _, query := range []string{
		"UPDATE river_job SET state = 'available' WHERE state = 'running'",
		"DELETE FROM river_leader",
		"UPDATE river_job SET scheduled_at = strftime('%Y-%m-%d %H:%M:%f', 'now') " +
			"WHERE state = 'scheduled' AND scheduled_at > strftime('%Y-%m-%d %H:%M:%f', 'now', '+2 days')",
	} {
		if _, err := q.writer.ExecContext(ctx, query); err != nil {
			return nil, errors.Join(fmt.Errorf("take back the jobs of a killed process: %w", err), lock.Close())
		}
	}
	return lock.Close, nil
}

// sqliteDriver is River's driver for SQLite, with notifications that stay within the process. River's own driver writes them to a table,
// which it reads 20 times a second over the connection that all writers share. It also lacks notifications of canceled jobs.
type sqliteDriver struct {
	*riversqlite.Driver
	bus *bus
}

func (d *sqliteDriver) SupportsListenNotify() bool { return false } // so River does not write to the table

func (d *sqliteDriver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.bus
}

// The notifications that River's clients exchange, as they do with LISTEN and NOTIFY on PostgreSQL.
const (
	topicInsert  = "river_insert"
	topicControl = "river_control"
	busBuffer    = 1000 // messages; River buffers as many
)

type busMessage struct {
	Action string `json:"action,omitempty"`
	JobID  int64  `json:"job_id,omitempty"`
	Queue  string `json:"queue"`
}

// bus carries notifications to the only client of the process. Without a client it drops them, because a client that starts reads the
// tables anyway.
type bus struct {
	mu       sync.Mutex
	messages chan *riverdriver.Notification // nil while no client listens
}

var _ riverdriver.Listener = (*bus)(nil)

func (b *bus) send(topic string, m busMessage) {
	payload, err := json.Marshal(m)
	if err != nil {
		panic(err) // cannot happen with strings and numbers
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.messages <- &riverdriver.Notification{Topic: topic, Payload: string(payload)}:
	default: // no client listens, or it has so many messages that it reads the queue anyway
	}
}

func (b *bus) Connect(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = make(chan *riverdriver.Notification, busBuffer)
	return nil
}

func (b *bus) Close(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = nil
	return nil
}

func (b *bus) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	b.mu.Lock()
	messages := b.messages
	b.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case m := <-messages:
		return m, nil
	}
}

func (b *bus) Listen(context.Context, string) error   { return nil } // River subscribes to every topic that is sent
func (b *bus) Unlisten(context.Context, string) error { return nil }
func (b *bus) Ping(context.Context) error             { return nil }
func (b *bus) Schema() string                         { return "" }
func (b *bus) SetAfterConnectExec(string)             {}
