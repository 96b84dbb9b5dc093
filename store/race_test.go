//go:build race

package store_test

// raceEnabled reports whether the race detector is on. It makes SQLite, which is Go code here, about ten times slower.
const raceEnabled = true
