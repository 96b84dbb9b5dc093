//go:build race

package docgen_test

// raceEnabled tells that SQLite, which is Go code here, runs some ten times slower.
const raceEnabled = true
