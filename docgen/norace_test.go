//go:build !race

package docgen_test

const raceEnabled = false
