package store

import (
	"database/sql"

	"github.com/riverqueue/river"
)

// What the tests look at from inside.

func (db *DB) Reader() *sql.DB { return db.reader }
func (db *DB) Writer() *sql.DB { return db.writer }

func (q *Queue) RiverConfig() *river.Config { return q.riverConfig() }

const LostTries = lostTries
