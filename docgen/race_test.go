//go:build race

package docgen_test

// raceEnabled reports whether the race detector is on, which makes SQLite (Go code here) about ten times slower.
const raceEnabled = true
