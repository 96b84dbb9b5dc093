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

// sqliteQueue is the queue in a SQLite file, which one process works.
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

// cancel marks the job in the database, which is all that River does on SQLite, and tells the worker that runs it.
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

// claim takes a lock that the kernel releases with the process. The holder knows that jobs still marked as running, and the leader still
// marked as elected, belong to a process that is gone. A job that is scheduled more than two days ahead was scheduled by a wrong clock,
// and is worked now.
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

// sqliteDriver is River's driver for SQLite with news kept within the process. River's own writes them into a table and
// reads that table 20 times a second over the connection that all writers share; and a canceled job is not among them.
type sqliteDriver struct {
	*riversqlite.Driver
	bus *bus
}

func (d *sqliteDriver) SupportsListenNotify() bool { return false } // so nothing is written into the table

func (d *sqliteDriver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.bus
}

// What River's clients tell each other, as they do over LISTEN and NOTIFY on PostgreSQL.
const (
	topicInsert  = "river_insert"
	topicControl = "river_control"
	busBuffer    = 1000 // messages; as many as River itself buffers
)

type busMessage struct {
	Action string `json:"action,omitempty"`
	JobID  int64  `json:"job_id,omitempty"`
	Queue  string `json:"queue"`
}

// bus carries messages to the one client of the process that works jobs. Without a client they are dropped: a starting client reads the
// tables anyway.
type bus struct {
	mu       sync.Mutex
	messages chan *riverdriver.Notification // nil while no client listens
}

var _ riverdriver.Listener = (*bus)(nil)

func (b *bus) send(topic string, m busMessage) {
	payload, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.messages <- &riverdriver.Notification{Topic: topic, Payload: string(payload)}:
	default: // nobody listens, or so much is to be read that the queue is being looked at anyway
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

func (b *bus) Listen(context.Context, string) error   { return nil } // River asks for every topic that is sent
func (b *bus) Unlisten(context.Context, string) error { return nil }
func (b *bus) Ping(context.Context) error             { return nil }
func (b *bus) Schema() string                         { return "" }
func (b *bus) SetAfterConnectExec(string)             {}
