//go:build race

package docx_test

// raceEnabled tells that the engine runs some ten times slower.
const raceEnabled = true
