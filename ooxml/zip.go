package ooxml

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
)

// The zip file of a package is written here and not by archive/zip, which takes five allocations for an entry and as
// long for the ten entries of a letter as all the rest of its execution (docs/adr/0008). It has no need of zip64: no
// package is as large.

const (
	// maxPackage and maxPackageEntries are the limits of a zip file without zip64 (APPNOTE.TXT §4.4.1.4).
	maxPackage, maxPackageEntries = math.MaxUint32, math.MaxUint16

	// bufferSize is the number of bytes that are buffered before they are written.
	bufferSize = 32 << 10

	// holdSize is the number of bytes of a package that are held before the first ones are written, so that an entry can still be inserted
	// before the others: programs that recognize a document by its first bytes search for [Content_Types].xml there.
	holdSize = 1 << 20

	deflated       = 8 // the compression method (§4.4.5)
	descriptorFlag = 1 << 3
	utf8Flag       = 1 << 11 // the entry's name is UTF-8 (§4.4.4)
	version        = 20      // of the format that a reader must know: deflate (§4.4.3.2)

	headerSignature, directorySignature = 0x04034b50, 0x02014b50
	descriptorSignature, endSignature   = 0x08074b50, 0x06054b50

	// dosEpoch is 1980-01-01, the earliest date of a zip entry, which Word writes too (§4.4.6). Every entry gets it, so that the same input
	// results in the same bytes.
	dosEpoch = 1<<5 | 1
)

var errPackageTooLarge = errors.New("the document would be larger than a zip file can be")

// zipWriter writes the records of a zip file.
type zipWriter struct {
	*zipBuffers
	flowing bool  // the held bytes have been written
	offset  int64 // in the file
	entries int
	entry   zipEntry // current entry; without a name if there is none
}

type zipBuffers struct {
	out       *bufio.Writer
	held      []byte
	directory []byte
	scratch   []byte
}

type zipEntry struct {
	name                       string
	method, flags              uint16
	sum                        uint32
	size, packed, headerOffset int64
}

func newZipWriter(w io.Writer) zipWriter {
	b := buffers.Get().(*zipBuffers)
	b.out.Reset(w)
	b.directory, b.held = b.directory[:0], b.held[:0]
	return zipWriter{zipBuffers: b}
}

// Write writes to the content of an entry.
func (z *zipWriter) Write(p []byte) (int, error) {
	z.offset += int64(len(p))
	if z.flowing {
		return z.out.Write(p)
	}
	if z.held = append(z.held, p...); len(z.held) > holdSize {
		return len(p), z.flow()
	}
	return len(p), nil
}

// flow writes the held bytes, and stops holding bytes.
func (z *zipWriter) flow() error {
	z.flowing = true
	_, err := z.out.Write(z.held)
	return err
}

// turn puts the last entry, which begins at an offset, before all others if they are still held back.
func (z *zipWriter) turn(at int64) {
	if z.flowing || at == 0 {
		return
	}
	z.list()
	last := slices.Clone(z.held[at:])
	copy(z.held[len(last):], z.held[:at])
	copy(z.held, last)
	z.entry = zipEntry{}
	// Of the directory, whose records have 46 bytes and the name (§4.3.12), the offsets change.
	const fixed, nameLength, offset = 46, 28, 42
	from := 0
	for record := 0; record < len(z.directory); {
		b := z.directory[record:]
		n := binary.LittleEndian.Uint32(b[offset:])
		if n < uint32(at) {
			n += uint32(len(last))
		} else {
			n, from = 0, record
		}
		binary.LittleEndian.PutUint32(b[offset:], n)
		record += fixed + int(binary.LittleEndian.Uint16(b[nameLength:]))
	}
	z.directory = slices.Concat(z.directory[from:], z.directory[:from])
}

// nameFlag returns the flag that a name needs.
func nameFlag(name string) uint16 {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return utf8Flag
	}
	return 0
}

// begin starts the entry of a part. header or sums must follow.
func (z *zipWriter) begin(partName string, method, flags uint16) error {
	if z.entry.name != "" {
		z.list()
	}
	if z.entries++; z.entries > maxPackageEntries || z.offset > maxPackage {
		return errPackageTooLarge
	}
	z.entry = zipEntry{name: strings.TrimPrefix(partName, "/"), method: method, flags: flags, headerOffset: z.offset}
	return nil
}

// sums sets the checksum and the sizes of the entry's content.
func (z *zipWriter) sums(sum uint32, size, packed int64) {
	z.entry.sum, z.entry.size, z.entry.packed = sum, size, packed
}

// appendCommon appends the fields that an entry's two headers share (§4.3.7, §4.3.12).
func (e *zipEntry) appendCommon(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, version)
	b = le.AppendUint16(b, e.flags)
	b = le.AppendUint16(b, e.method)
	b = le.AppendUint16(b, 0) // the time
	b = le.AppendUint16(b, dosEpoch)
	b = e.appendSums(b)
	b = le.AppendUint16(b, uint16(len(e.name)))
	return le.AppendUint16(b, 0) // no extra fields
}

func (e *zipEntry) appendSums(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, e.sum)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.packed))
	return binary.LittleEndian.AppendUint32(b, uint32(e.size))
}

// header writes the header before the content (§4.3.7). An error is kept by the buffer for the next call.
func (z *zipWriter) header() {
	b := binary.LittleEndian.AppendUint32(z.scratch[:0], headerSignature)
	b = z.entry.appendCommon(b)
	z.record(append(b, z.entry.name...))
}

// descriptor writes the checksum and sizes after the content (§4.3.9).
func (z *zipWriter) descriptor() {
	z.record(z.entry.appendSums(binary.LittleEndian.AppendUint32(z.scratch[:0], descriptorSignature)))
}

func (z *zipWriter) record(b []byte) {
	z.scratch = b
	z.Write(b) //nolint:errcheck // bufio keeps the error and returns it from Flush
}

// list adds the entry to the directory (§4.3.12).
func (z *zipWriter) list() {
	le := binary.LittleEndian
	b := le.AppendUint32(z.directory, directorySignature)
	b = le.AppendUint16(b, version) // of the writer
	b = z.entry.appendCommon(b)
	b = append(b, make([]byte, 10)...) // no comment, the first disk, no attributes
	b = le.AppendUint32(b, uint32(z.entry.headerOffset))
	b = append(b, z.entry.name...)
	z.directory = b
}

// close writes the directory and its end (§4.3.16).
func (z *zipWriter) close() error {
	if z.entry.name != "" {
		z.list()
	}
	if !z.flowing {
		z.flow() //nolint:errcheck // as in record
	}
	start := z.offset
	if start+int64(len(z.directory)) > maxPackage {
		return errPackageTooLarge
	}
	le := binary.LittleEndian
	b := le.AppendUint32(z.scratch[:0], endSignature)
	b = le.AppendUint32(b, 0) // this is the only disk
	b = le.AppendUint16(b, uint16(z.entries))
	b = le.AppendUint16(b, uint16(z.entries))
	b = le.AppendUint32(b, uint32(len(z.directory)))
	b = le.AppendUint32(b, uint32(start))
	b = le.AppendUint16(b, 0) // no comment
	z.out.Write(z.directory)  //nolint:errcheck // as in record
	z.record(b)
	err := z.out.Flush()
	z.out.Reset(nil)
	buffers.Put(z.zipBuffers)
	z.zipBuffers = nil
	return err
}

// start takes the content of an entry.
func (c *compressor) start(z *zipWriter) {
	c.zip, c.sum, c.size, c.written = z, 0, 0, z.offset
	c.out = compressors.Get().(*flate.Writer)
	c.out.Reset(z)
}

func (c *compressor) Write(p []byte) (int, error) {
	c.sum = crc32.Update(c.sum, crc32.IEEETable, p)
	c.size += int64(len(p))
	return c.out.Write(p)
}

func (c *compressor) end() error {
	err := c.out.Close()
	c.written = c.zip.offset - c.written
	compressors.Put(c.out)
	c.out = nil
	return err
}
