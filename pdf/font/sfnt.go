package font

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// This file reads the tables of a font file (ISO/IEC 14496-22, OpenType) with its names and glyphs. Platen has its own reader because fonts
// in documents are untrusted: x/image/font/sfnt returns one name of each kind and no weight, and go-text/typesetting allocates whatever a
// table claims to need. The tests compare the results with x/image/font/sfnt.

const (
	maxFaces     = 256      // in a collection
	maxTables    = 512      // in a face
	maxNameTable = 1 << 20  // bytes
	maxCmapTable = 16 << 20 // bytes; those of the largest fonts have 1 MB
)

var (
	errNotFont   = errors.New("this is no TrueType or OpenType font")
	errTruncated = errors.New("the font file ends too early")
	be           = binary.BigEndian
)

// table is the position of a table of a face.
type table struct{ offset, length uint32 }

// sfnt is a font file: the tables of its faces.
type sfnt struct {
	r     *io.SectionReader
	faces []map[string]table
}

// readSFNT reads the directories of a font file or collection.
func readSFNT(r *io.SectionReader) (*sfnt, error) {
	f := &sfnt{r: r}
	head, err := f.bytes(0, 12)
	if err != nil {
		return nil, errNotFont
	}
	if string(head[:4]) != "ttcf" {
		err := f.readDirectory(0)
		return f, err
	}
	n := be.Uint32(head[8:])
	if n == 0 || n > maxFaces {
		return nil, fmt.Errorf("the collection says that it has %d fonts", n)
	}
	offsets, err := f.bytes(12, 4*n)
	if err != nil {
		return nil, err
	}
	for ; len(offsets) > 0; offsets = offsets[4:] {
		if err := f.readDirectory(be.Uint32(offsets)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *sfnt) readDirectory(at uint32) error {
	head, err := f.bytes(at, 12)
	if err != nil {
		return err
	}
	switch string(head[:4]) {
	case "\x00\x01\x00\x00", "OTTO", "true":
	default:
		return errNotFont
	}
	n := uint32(be.Uint16(head[4:]))
	if n > maxTables {
		return fmt.Errorf("the font says that it has %d tables", n)
	}
	records, err := f.bytes(at+12, 16*n)
	if err != nil {
		return err
	}
	tables := make(map[string]table, n)
	for ; len(records) > 0; records = records[16:] {
		tables[string(records[:4])] = table{be.Uint32(records[8:]), be.Uint32(records[12:])}
	}
	f.faces = append(f.faces, tables)
	return nil
}

// table reads a table of a face, up to limit bytes.
func (f *sfnt) table(face int, tag string, limit uint32) ([]byte, error) {
	t, ok := f.faces[face][tag]
	if !ok {
		return nil, fmt.Errorf("the font has no table %q", tag)
	}
	return f.bytes(t.offset, min(t.length, limit))
}

// bytes reads a part of the file. It does not allocate memory for bytes after the end.
func (f *sfnt) bytes(at, n uint32) ([]byte, error) {
	if int64(at)+int64(n) > f.r.Size() {
		return nil, errTruncated
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, int64(at)); err != nil {
		return nil, err
	}
	return b, nil
}

// u16 returns a number in a table, or 0 if the table is too short.
func u16(b []byte, at int) uint16 {
	if at < 0 || at+2 > len(b) {
		return 0
	}
	return be.Uint16(b[at:])
}

// u32 returns a number in a table, or 0 if the table is too short.
func u32(b []byte, at int) uint32 {
	if at < 0 || at+4 > len(b) {
		return 0
	}
	return be.Uint32(b[at:])
}
