//go:build race

package server_test

// raceEnabled tells that everything runs some ten times slower.
const raceEnabled = true
