package opc

import (
	"archive/zip"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"

	"platen/docx/deflate"
)

// CompressionLevel is the deflate level of parts that are written anew. On invoices of 10,000 rows level 1 takes two
// thirds of the time for a quarter more bytes, and level 6 gives a tenth fewer bytes for nearly twice the time.
const CompressionLevel = 3

// utf8Flag says that an entry's name is UTF-8 (APPNOTE.TXT §4.4.4, bit 11).
const utf8Flag = 0x800

// Writer writes a package. Parts come out in the order they are given; [Content_Types].xml should come first.
type Writer struct {
	zip     *zip.Writer
	planned *deflate.Writer // of the part that is being written, if it is a planned one
	header  *zip.FileHeader // of that part
}

// NewWriter starts a package on w.
func NewWriter(w io.Writer) *Writer {
	zw := zip.NewWriter(w)
	zw.RegisterCompressor(zip.Deflate, newCompressor)
	return &Writer{zip: zw}
}

// Copy writes a part of another package as it is compressed there, without unpacking it.
func (w *Writer) Copy(part *Part) error {
	raw, err := part.file.OpenRaw()
	if err != nil {
		return fmt.Errorf("copy %s: %w", part.Name, err)
	}
	h := header(part.Name)
	h.Method = part.file.Method
	h.Flags = part.file.Flags & utf8Flag
	h.CRC32 = part.file.CRC32
	h.CompressedSize64 = part.file.CompressedSize64
	h.UncompressedSize64 = part.file.UncompressedSize64
	if err := w.endPlanned(); err != nil {
		return err
	}
	// The sizes are known, so the entry needs no data descriptor, whatever it had.
	dst, err := w.zip.CreateRaw(h)
	if err != nil {
		return fmt.Errorf("copy %s: %w", part.Name, err)
	}
	buf := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buf)
	if _, err := io.CopyBuffer(dst, raw, *buf); err != nil {
		return fmt.Errorf("copy %s: %w", part.Name, err)
	}
	return nil
}

var copyBuffers = sync.Pool{New: func() any {
	buf := make([]byte, 32<<10)
	return &buf
}}

// Create starts a part that is compressed as it is written. It ends with the next Copy, Create or Close.
func (w *Writer) Create(name string) (io.Writer, error) {
	if err := w.endPlanned(); err != nil {
		return nil, err
	}
	dst, err := w.zip.CreateHeader(header(name))
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	return dst, nil
}

// descriptorFlag says that the sums of an entry stand behind it (APPNOTE.TXT §4.4.4, bit 3).
const descriptorFlag = 8

// CreatePlanned is Create for a part of which the most is known beforehand.
func (w *Writer) CreatePlanned(name string, plan *deflate.Plan) (*deflate.Writer, error) {
	if err := w.endPlanned(); err != nil {
		return nil, err
	}
	h := header(name)
	h.Flags = descriptorFlag
	if !isASCII(h.Name) {
		h.Flags |= utf8Flag
	}
	dst, err := w.zip.CreateRaw(h)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	w.planned, w.header = deflate.NewWriter(dst, plan), h
	return w.planned, nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// endPlanned ends the stream of a planned part; the zip writer will write its sums.
func (w *Writer) endPlanned() error {
	if w.planned == nil {
		return nil
	}
	err := w.planned.Close()
	sum, size, packed := w.planned.Sums()
	w.header.CRC32, w.header.UncompressedSize64, w.header.CompressedSize64 = sum, uint64(size), uint64(packed)
	w.header.UncompressedSize, w.header.CompressedSize = uint32(min(size, math.MaxUint32)), uint32(min(packed, math.MaxUint32))
	w.planned.Free()
	w.planned = nil
	if err != nil {
		return fmt.Errorf("write %s: %w", w.header.Name, err)
	}
	return nil
}

// write writes a part whole.
func (w *Writer) write(name string, data []byte) error {
	dst, err := w.Create(name)
	if err != nil {
		return err
	}
	if _, err := dst.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Close writes the zip directory. It does not close the writer underneath.
func (w *Writer) Close() error {
	if err := w.endPlanned(); err != nil {
		return err
	}
	if err := w.zip.Close(); err != nil {
		return fmt.Errorf("close package: %w", err)
	}
	return nil
}

// dosEpoch is 1980-01-01, the earliest date a zip entry can have and the one Word writes (APPNOTE.TXT §4.4.6). Every
// entry gets it, so that the same input gives the same bytes.
const dosEpoch = 1<<5 | 1

func header(partName string) *zip.FileHeader {
	h := &zip.FileHeader{Name: strings.TrimPrefix(partName, "/"), Method: zip.Deflate}
	h.ModifiedDate = dosEpoch //nolint:staticcheck // Modified would add an extra field to every entry
	return h
}

// compressors keeps deflate state, about half a megabyte each, between packages.
var compressors = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, CompressionLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

func newCompressor(w io.Writer) (io.WriteCloser, error) {
	fw := compressors.Get().(*flate.Writer)
	fw.Reset(w)
	return &pooledCompressor{fw}, nil
}

type pooledCompressor struct{ w *flate.Writer }

func (c *pooledCompressor) Write(p []byte) (int, error) { return c.w.Write(p) }

func (c *pooledCompressor) Close() error {
	err := c.w.Close()
	compressors.Put(c.w)
	c.w = nil
	return err
}
