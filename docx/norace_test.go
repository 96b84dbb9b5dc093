//go:build !race

package docx_test

const raceEnabled = false
