package lang

import "testing"

// TestSignatures checks that schemas know every filter and function.
func TestSignatures(t *testing.T) {
	for name := range filterTable {
		if _, ok := filterSignatures[name]; !ok && name != "format" && name != "add" && name != "barcode" {
			t.Errorf("filterSignatures lacks %s: say what kind of value the filter takes", name)
		}
	}
	for name := range functionTable {
		if _, ok := functionSignatures[name]; !ok && name != "$lookup" {
			t.Errorf("functionSignatures lacks %s: say what kinds of values the function takes", name)
		}
	}
}
