package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"platen/fair"
)

const (
	// defaultMaxConns is the default maximum number of connections of a process. PostgreSQL allows 100 in all by default.
	defaultMaxConns = 16
	// minMaxConns is the number of connections that a process needs: one listens for jobs, one holds the migration lock, one migrates, and
	// one is spare.
	minMaxConns = 4
	// queueConns is the number of connections that transactions leave to the queue: one listens for jobs, one fetches and ends them.
	queueConns = 2
	// connectTimeout is the maximum time that Open waits for PostgreSQL to answer.
	connectTimeout = 10 * time.Second
)

// openPostgres opens one pool of connections for both database/sql and River.
func openPostgres(ctx context.Context, cfg Config) (*DB, error) {
	poolConfig, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err) // the error hides the password
	}
	switch {
	case cfg.MaxConns > 0:
		poolConfig.MaxConns = int32(cfg.MaxConns)
	case !strings.Contains(cfg.URL, "pool_max_conns"):
		poolConfig.MaxConns = defaultMaxConns
	}
	poolConfig.MaxConns = max(poolConfig.MaxConns, minMaxConns)
	params := poolConfig.ConnConfig.RuntimeParams
	for name, value := range map[string]string{
		"application_name": "platen",
		"lock_timeout":     strconv.FormatInt(cfg.WriteWait.Milliseconds(), 10), // of each statement
		"jit":              "off",                                               // compiling a listing takes 1 s, running it 10 ms
	} {
		if _, given := params[name]; !given {
			params[name] = value
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	pingCtx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := pool.Ping(pingCtx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open database: %w", err)
	}
	sqlDB := stdlib.OpenDBFromPool(pool)
	conns := int(poolConfig.MaxConns) - queueConns
	spare := min(spareConns, conns-1)
	turns := fair.New(fair.Config{Slots: conns - spare, Spare: spare})
	db := &DB{
		dialect:     PostgreSQL,
		reader:      sqlDB,
		writer:      sqlDB,
		reads:       turns,
		writes:      turns,
		readOptions: &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		log:         cfg.Log,
		close: func() error {
			err := sqlDB.Close()
			pool.Close() // waits until every connection is returned
			return err
		},
	}
	if db.queue, err = newPostgresQueue(pool, cfg.Log); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
