package lang

import (
	"cmp"
	"strings"
)

// enumerate joins texts as people write lists.
func (e *Env) enumerate(texts []string) string { return strings.Join(texts, ", ") }

func (e *Env) collate(a, b string) int { return cmp.Compare(a, b) }
