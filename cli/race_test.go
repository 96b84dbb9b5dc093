//go:build race

package cli

// raceEnabled tells that a program takes five to ten times the memory.
const raceEnabled = true
