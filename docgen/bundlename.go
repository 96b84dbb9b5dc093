package docgen

import (
	"hash/fnv"
	"io"
	"slices"
	"strings"
)

// bundleNames makes the names in one folder of a bundle unique, as names of items are. It has, by the hash of a name, the last number that
// the name got; 0 for none.
type bundleNames map[uint64]int

// unique returns a name that is valid on every system, with a number if the name is taken.
func (n bundleNames) unique(kind Kind, name string) string {
	name = portableName(name)
	base := nameHash(name)
	if n.take(name) {
		return name
	}
	for {
		n[base]++
		if try := numberedName(kind, name, n[base]); n.take(try) {
			return try
		}
	}
}

// take reports whether a name is free, which it then is no longer.
func (n bundleNames) take(name string) bool {
	key := nameHash(name)
	if _, taken := n[key]; taken {
		return false
	}
	n[key] = 0
	return true
}

// nameHash returns a hash that names have in common if they differ only in case or composition.
func nameHash(name string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, foldKey(name)) //nolint:errcheck // a hash never fails
	return h.Sum64()
}

// reservedNames are names that Windows reserves for devices, with any extension.
var reservedNames = []string{
	"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "com¹", "com²", "com³",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "lpt¹", "lpt²", "lpt³", "conin$", "conout$",
}

// portableName returns a name without the characters that Windows does not allow in file names, and never a reserved one, or one that
// means another folder.
func portableName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, name)
	if trimmed := strings.TrimRight(name, ". "); len(trimmed) < len(name) {
		name = trimmed + "_"
	}
	base, _, _ := strings.Cut(name, ".")
	if slices.Contains(reservedNames, strings.ToLower(strings.TrimRight(base, " "))) {
		name = "_" + name
	}
	return name
}
