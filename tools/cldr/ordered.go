package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

// orderedSets are rule sets in the order of the file.
type orderedSets []ruleSet

// UnmarshalJSON reads an object of rule sets. Its key _rbnfRulesFile names a file.
func (s *orderedSets) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		set := ruleSet{name: name.(string)}
		if strings.HasPrefix(set.name, "_") {
			continue
		}
		if err := json.Unmarshal(value, &set.rules); err != nil {
			return err
		}
		*s = append(*s, set)
	}
	return nil
}
