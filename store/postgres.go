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
	// defaultMaxConns bounds the connections of one process to PostgreSQL, which by default allows 100 in all.
	defaultMaxConns = 16
	// minMaxConns is what a process cannot do without: one that listens for jobs, one that holds the migration lock while
	// another migrates, and one more.
	minMaxConns = 4
	// queueConns is the number of connections that no transaction takes: one listens for jobs, one fetches and ends them.
	queueConns = 2
	// connectTimeout is how long Open waits for PostgreSQL to answer.
	connectTimeout = 10 * time.Second
)

// openPostgres opens one pool, of which database/sql and River both take their connections.
func openPostgres(ctx context.Context, cfg Config) (*DB, error) {
	poolConfig, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err) // the error's text hides the password
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
		"jit":              "off",                                               // PostgreSQL takes a listing for dear, and compiles for a second what it then does in ten milliseconds
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
			pool.Close() // waits until every connection has been given back
			return err
		},
	}
	if db.queue, err = newPostgresQueue(pool, cfg.Log); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
