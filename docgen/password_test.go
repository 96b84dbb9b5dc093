package docgen_test

import (
	"strings"
	"testing"

	"platen/docgen"
)

// Only a password that fits a stored hash matches, and hashes with absurd parameters are refused instead of computed.
func TestStoredPasswords(t *testing.T) {
	t.Parallel()
	stored := docgen.HashPassword(goodPassword)
	for password, want := range map[string]bool{
		goodPassword: true, goodPassword + " ": false, "": false, strings.ToUpper(goodPassword): false,
	} {
		if got, err := docgen.ComparePassword(password, stored); err != nil || got != want {
			t.Errorf("%q: %t, %v", password, got, err)
		}
	}
	if other := docgen.HashPassword(goodPassword); other == stored {
		t.Error("two hashes of a password are equal")
	}
	for _, change := range [][2]string{
		{"argon2id", "argon2i"}, {"v=19", "v=16"}, {"m=19456", "m=4294967295"}, {"t=2", "t=4294967295"}, {"t=2", "t=0"}, {"p=1", "p=0"},
		{"p=1", "p=256"}, {"m=19456,", ""}, {"$v", "v"}, {stored, ""}, {stored, "x"}, {stored[strings.LastIndex(stored, "$"):], "$"},
		{stored[strings.LastIndex(stored, "$"):], "$!"},
	} {
		text := strings.Replace(stored, change[0], change[1], 1)
		if _, err := docgen.ComparePassword(goodPassword, text); err == nil {
			t.Errorf("the hash %q was read", text)
		} else if text != "" && len(text) > 10 && strings.Contains(err.Error(), text) {
			t.Errorf("the error has the hash: %v", err)
		}
	}
}
