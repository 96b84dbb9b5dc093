package font

import (
	"cmp"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// made describes a font that a test creates. It has only the tables that Platen reads.
type made struct {
	family   string
	local    string // the Japanese name of the family
	version  string // such as "2.1"
	weight   int
	italic   bool
	rights   uint16
	chars    string
	advance  uint16 // of all characters, in units of 1/1000 em
	revision uint32
	symbol   bool // its characters are symbols, from U+F000 on
}

func (m *made) bytes() []byte {
	tables := map[string][]byte{
		"name": m.names(), "cmap": m.cmap(),
		"head": m.head(), "OS/2": m.os2(),
		"hhea": slices.Concat(make([]byte, 34), u16s(uint16(1))),
		"hmtx": u16s(m.advance, 0),
	}
	offset := uint32(12 + 16*len(tables))
	file := slices.Concat([]byte{0, 1, 0, 0}, u16s(uint16(len(tables)), 0, 0, 0))
	var bodies []byte
	for _, tag := range []string{"OS/2", "cmap", "head", "hhea", "hmtx", "name"} {
		file = append(file, tag...)
		file = be.AppendUint32(file, 0)
		file = be.AppendUint32(file, offset+uint32(len(bodies)))
		file = be.AppendUint32(file, uint32(len(tables[tag])))
		bodies = append(bodies, tables[tag]...)
	}
	return append(file, bodies...)
}

func (m *made) head() []byte {
	b := make([]byte, 54)
	be.PutUint32(b[4:], m.revision)
	be.PutUint16(b[18:], 1000)
	return b
}

func (m *made) os2() []byte {
	b := make([]byte, 96)
	be.PutUint16(b[4:], uint16(cmp.Or(m.weight, 400)))
	be.PutUint16(b[6:], 5)
	be.PutUint16(b[8:], m.rights)
	if m.italic {
		be.PutUint16(b[62:], 1)
	}
	return b
}

// names returns a name table with the family and the related names for Windows, in English and Japanese.
func (m *made) names() []byte {
	type record struct {
		language, id uint16
		text         string
	}
	style := map[bool]string{true: "Bold", false: "Regular"}[m.weight == 700]
	records := []record{
		{0x409, nameFamily, m.family}, {0x409, nameVersion, "Version " + cmp.Or(m.version, "1.0")},
		{0x409, namePostScript, strings.ReplaceAll(m.family, " ", "") + "-" + style},
	}
	if m.local != "" {
		records = slices.Insert(records, 0, record{0x411, nameFamily, m.local})
	}
	var strs []byte
	head := u16s(0, uint16(len(records)), uint16(6+12*len(records)))
	for _, r := range records {
		text := u16s(utf16.Encode([]rune(r.text))...)
		head = append(head, u16s(3, 1, r.language, r.id, uint16(len(text)), uint16(len(strs)))...)
		strs = append(strs, text...)
	}
	return append(head, strs...)
}

// cmap returns a table with one group for each character.
func (m *made) cmap() []byte {
	chars := slices.Sorted(slices.Values([]rune(m.chars)))
	chars = slices.Compact(chars)
	encoding := uint16(10)
	if m.symbol {
		encoding = 0
	}
	b := slices.Concat(u16s(0, 1, 3, encoding, 0, 12), u16s(12, 0), make([]byte, 12))
	be.PutUint32(b[12+4:], uint32(16+12*len(chars)))
	be.PutUint32(b[12+12:], uint32(len(chars)))
	for i, r := range chars {
		b = be.AppendUint32(b, uint32(r))
		b = be.AppendUint32(b, uint32(r))
		b = be.AppendUint32(b, uint32(i+1))
	}
	return b
}

func u16s(numbers ...uint16) []byte {
	b := make([]byte, 0, 2*len(numbers))
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return b
}

// write writes the font to a folder.
func (m *made) write(t testing.TB, folder, name string) string {
	t.Helper()
	file := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, m.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// open opens a library.
func open(t testing.TB, folders Folders) *Library {
	t.Helper()
	l, err := Open(folders)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// installed returns the library of this machine, with the fonts that scripts/test-deps installs.
func installed(t testing.TB) *Library {
	t.Helper()
	l := open(t, Folders{System: SystemFolders})
	for _, family := range []string{"Liberation Sans", "Carlito", "Caladea"} {
		if len(l.Family(family)) == 0 {
			t.Skipf("%s is not installed; scripts/test-deps does that", family)
		}
	}
	return l
}
