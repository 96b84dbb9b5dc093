package font

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"
)

// Face is one face of a font: one style of a family.
type Face struct {
	File       string   // "" for a font in a document
	Index      int      // within a collection
	Families   []string // all names of the family, English first
	PostScript string   // its name in PDF files
	Version    string   // such as "2.1.5"
	Weight     int      // 400 is regular, 700 is bold
	Width      int      // 5 is normal, less is condensed
	Italic     bool

	key      string // identifies the face; its versions have the same key
	own      bool   // it is from the operator's folder
	revision uint32 // of the head table: 16.16 fixed point
	rights   uint16 // permission to embed the font (OS/2, fsType)
	glyphs   func() *glyphs
}

// The ids of names in the name table (OpenType, "name").
const (
	nameFamily, nameVersion, namePostScript = 1, 5, 6
	nameTypographicFamily, nameWWSFamily    = 16, 21
)

// source opens a font file.
type source func() (*io.SectionReader, io.Closer, error)

// readFaces reads the properties of the faces in a font file. The glyphs are read later, when they are needed, so the file is opened again.
func readFaces(open source) ([]*Face, error) {
	r, closer, err := open()
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	file, err := readSFNT(r)
	if err != nil {
		return nil, err
	}
	var faces []*Face
	for i := range file.faces {
		face, err := readFace(file, i)
		if err != nil {
			return nil, err
		}
		face.glyphs = sync.OnceValue(func() *glyphs { return readGlyphs(open, i) })
		faces = append(faces, face)
	}
	return faces, nil
}

func readFace(file *sfnt, i int) (*Face, error) {
	names, err := file.table(i, "name", maxNameTable)
	if err != nil {
		return nil, err
	}
	head, err := file.table(i, "head", 54)
	if err != nil {
		return nil, err
	}
	if _, ok := file.faces[i]["cmap"]; !ok {
		return nil, fmt.Errorf("the font has no table %q", "cmap")
	}
	f := &Face{Index: i, Weight: 400, Width: 5, revision: u32(head, 4)}
	macStyle := u16(head, 44)
	f.Italic = macStyle&2 != 0
	if macStyle&1 != 0 {
		f.Weight = 700
	}
	f.readNames(names)
	if len(f.Families) == 0 {
		return nil, fmt.Errorf("the font has no name")
	}
	// Old Apple fonts have no OS/2 table.
	if os2, err := file.table(i, "OS/2", 64); err == nil {
		f.Weight = cmp.Or(int(u16(os2, 4)), f.Weight)
		f.Width = cmp.Or(int(u16(os2, 6)), f.Width)
		f.rights = u16(os2, 8)
		const italic, oblique = 1, 1 << 9
		f.Italic = f.Italic || u16(os2, 62)&(italic|oblique) != 0
	}
	f.key = fmt.Sprint(fold(f.Families[0]), " ", f.Weight, " ", f.Width, " ", f.Italic)
	return f, nil
}

// readNames reads the names of the family in all languages, because a document may use any of them.
func (f *Face) readNames(b []byte) {
	count, storage := int(u16(b, 2)), int(u16(b, 4))
	var english, others []string
	for i := range min(count, max(0, len(b)-6)/12) {
		record := b[6+12*i:]
		id := u16(record, 6)
		if !namesFace(id) {
			continue
		}
		text, isEnglish := decodeName(b, record, storage)
		switch {
		case text == "":
		case id == nameVersion && (f.Version == "" || isEnglish):
			f.Version = versionIn(text)
		case id == namePostScript && (f.PostScript == "" || isEnglish):
			f.PostScript = text
		case id == nameVersion || id == namePostScript || len(english)+len(others) >= maxFamilies:
		case isEnglish:
			english = append(english, text)
		default:
			others = append(others, text)
		}
	}
	for _, name := range slices.Concat(english, others) {
		if !slices.Contains(f.Families, name) {
			f.Families = append(f.Families, name)
		}
	}
}

// maxFamilies is the maximum number of family names of a face. East Asian fonts have four.
const maxFamilies = 64

// namesFace reports whether a name identifies a face. Others are, for example, license texts.
func namesFace(id uint16) bool {
	switch id {
	case nameFamily, nameVersion, namePostScript, nameTypographicFamily, nameWWSFamily:
		return true
	}
	return false
}

// decodeName returns the text of a name, and whether it is English. It ignores names for old Macintosh systems unless they are ASCII.
func decodeName(b, record []byte, storage int) (text string, english bool) {
	platform, language := u16(record, 0), u16(record, 4)
	from := storage + int(u16(record, 10))
	to := from + int(u16(record, 8))
	if to > len(b) || from >= to {
		return "", false
	}
	raw := b[from:to]
	if platform == 1 {
		if slices.ContainsFunc(raw, func(c byte) bool { return c < ' ' || c > '~' }) {
			return "", false
		}
		return strings.TrimSpace(string(raw)), language == 0
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = be.Uint16(raw[2*i:])
	}
	const englishUS = 0x409
	text = strings.TrimSpace(strings.Trim(string(utf16.Decode(units)), "\x00"))
	return text, platform == 0 || language == englishUS
}

// versionIn returns the number in a record such as "Version 2.1.5; build 3".
func versionIn(text string) string {
	start := strings.IndexAny(text, "0123456789")
	if start < 0 {
		return ""
	}
	text = text[start:]
	if end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		text = text[:end]
	}
	return strings.Trim(text, ".")
}

// compareVersion compares two versions of a face: first by the number for programs, then by the one for people. The former is less exact:
// 2.1.4 and 2.1.5 are both 2.1.
func compareVersion(a, b *Face) int {
	if c := cmp.Compare(a.revision, b.revision); c != 0 {
		return c
	}
	return slices.Compare(versionParts(a.Version), versionParts(b.Version))
}

func versionParts(version string) []int {
	var parts []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return parts
		}
		parts = append(parts, n)
	}
	return parts
}

// editable reports whether the license lets recipients of a document edit it with the font. LibreOffice ignores other embedded fonts.
func (f *Face) editable() bool {
	const editable = 8
	return f.rights&0xF == 0 || f.rights&editable != 0
}

// Has reports whether the face can draw a character, directly or composed of its parts.
func (f *Face) Has(r rune) bool { return f.draws(r, partsOf(r)) }

// draws is Has for a character whose parts are already known.
func (f *Face) draws(r rune, parts []rune) bool {
	c := f.glyphs().cmap
	if c.glyph(r) != 0 {
		return true
	}
	for _, part := range parts {
		if c.glyph(part) == 0 {
			return false
		}
	}
	return len(parts) > 0
}

// partsOf returns the characters that a character can be composed of, or nil.
func partsOf(r rune) []rune {
	switch r {
	case '\u2010', '\u2011': // the two hyphens look the same
		return []rune{'-'}
	}
	if d := norm.NFD.PropertiesString(string(r)).Decomposition(); d != nil {
		return []rune(norm.NFD.String(string(r)))
	}
	return nil
}

// Advance returns the width of a character in thousandths of an em. ok is false if the face lacks the character.
func (f *Face) Advance(r rune) (float64, bool) {
	g := f.glyphs()
	glyph := g.cmap.glyph(r)
	if glyph == 0 || g.count == 0 || g.unitsPerEm == 0 {
		return 0, false
	}
	width := u16(g.hmtx, 4*int(min(glyph, uint32(g.count-1))))
	return float64(width) * 1000 / float64(g.unitsPerEm), true
}

// glyphs are the characters that a face can draw, with their widths.
type glyphs struct {
	cmap       cmap
	hmtx       []byte
	count      uint16 // number of entries in hmtx that have a width
	unitsPerEm uint16
}

// readGlyphs reads the tables for glyphs. A font whose tables can no longer be read has no glyphs.
func readGlyphs(open source, i int) *glyphs {
	g := new(glyphs)
	r, closer, err := open()
	if err != nil {
		return g
	}
	defer closer.Close()
	file, err := readSFNT(r)
	if err != nil || i >= len(file.faces) {
		return g
	}
	if b, err := file.table(i, "cmap", maxCmapTable); err == nil {
		g.cmap = readCmap(b)
	}
	if b, err := file.table(i, "head", 54); err == nil {
		g.unitsPerEm = u16(b, 18)
	}
	if b, err := file.table(i, "hhea", 36); err == nil {
		g.count = u16(b, 34)
	}
	if b, err := file.table(i, "hmtx", 4*uint32(g.count)); err == nil {
		g.hmtx = b
	}
	return g
}

// onDisk opens a font file.
func onDisk(name string) source {
	return func() (*io.SectionReader, io.Closer, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		return io.NewSectionReader(f, 0, info.Size()), f, nil
	}
}

// inMemory opens a font in a document.
func inMemory(b []byte) source {
	return func() (*io.SectionReader, io.Closer, error) {
		r := io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))
		return r, io.NopCloser(r), nil
	}
}
