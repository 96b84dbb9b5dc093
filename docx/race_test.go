//go:build race

package docx_test

// raceEnabled reports whether the race detector is on, which makes the engine about ten times slower.
const raceEnabled = true
