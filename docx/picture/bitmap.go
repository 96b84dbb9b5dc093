package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// bitmap is a PNG file (ISO/IEC 15948) of black and white that is written row by row. A code repeats each of its rows many
// times; the filter Up makes every repetition a row of zeros, which costs the compressor next to nothing.
type bitmap struct {
	width, height int // in pixels
	data          bytes.Buffer
	packed        *zlib.Writer
}

// zlibWriters keeps compressors for reuse, because their state has several hundred kilobytes.
var zlibWriters = sync.Pool{New: func() any { return zlib.NewWriter(nil) }}

// newBitmap starts an image. The width is a multiple of 8, and all height rows must follow.
func newBitmap(width, height int) *bitmap {
	b := &bitmap{width: width, height: height, packed: zlibWriters.Get().(*zlib.Writer)}
	b.packed.Reset(&b.data)
	return b
}

// rows writes the same row n times: 8 pixels a byte, the leftmost in the highest bit, 1 for white.
func (b *bitmap) rows(row []byte, n int) {
	const none, up = 0, 2 // filters
	line := make([]byte, 1+len(row))
	for i := range n {
		line[0] = none
		if i == 0 {
			copy(line[1:], row)
		} else if line[0] = up; i == 1 {
			clear(line[1:])
		}
		b.write(line)
	}
}

// write compresses bytes. Writing to a Buffer never fails.
func (b *bitmap) write(data []byte) {
	if _, err := b.packed.Write(data); err != nil {
		panic(err)
	}
}

// png returns the file. The bitmap must not be used afterward.
func (b *bitmap) png() []byte {
	const depth, grayscale = 1, 0
	if err := b.packed.Close(); err != nil {
		panic(err) // a Buffer takes everything
	}
	zlibWriters.Put(b.packed)
	header := binary.BigEndian.AppendUint32(nil, uint32(b.width))
	header = binary.BigEndian.AppendUint32(header, uint32(b.height))
	header = append(header, depth, grayscale, 0, 0, 0)
	file := []byte("\x89PNG\r\n\x1a\n")
	file = appendChunk(file, "IHDR", header)
	file = appendChunk(file, "IDAT", b.data.Bytes())
	return appendChunk(file, "IEND", nil)
}

func appendChunk(file []byte, kind string, data []byte) []byte {
	file = binary.BigEndian.AppendUint32(file, uint32(len(data)))
	start := len(file)
	file = append(append(file, kind...), data...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[start:]))
}
