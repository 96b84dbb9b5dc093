//go:build race

package cli

// raceEnabled reports whether the race detector is on, which takes five to ten times the memory.
const raceEnabled = true
