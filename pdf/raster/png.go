package raster

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"
)

// pdftoppm compresses PNG images as much as possible, which takes 20 times as long as drawing a page and makes them
// hardly smaller. It therefore writes PPM images, which are compressed here, row by row, so that no page is in memory
// without compression. (image/png needs a whole image, and takes ten times as long too.)

// channels are the bytes of a pixel.
const channels = 3

// readImage reads the next image from a stream of binary PPM images (https://netpbm.sourceforge.net/doc/ppm.html), and
// leaves the reader after it. It converts the image to PNG (ISO 15948). accept decides on the size of the image before
// its pixels are read. The error is errTooLarge if the PNG has more than maxBytes.
func readImage(in *bufio.Reader, dpi, maxBytes int, accept func(width, height int) error) (Page, error) {
	var p Page
	for _, line := range []struct {
		format string
		to     []any
	}{{"P6\n", nil}, {"%d %d\n", []any{&p.Width, &p.Height}}, {"255\n", nil}} {
		text, err := in.ReadSlice('\n') // at most the size of the reader's buffer
		if err != nil {
			return p, unexpected(err)
		}
		if _, err := fmt.Sscanf(string(text), line.format, line.to...); err != nil {
			return p, fmt.Errorf("an image has no valid header: %w", err)
		}
	}
	if err := accept(p.Width, p.Height); err != nil {
		return p, err
	}
	var err error
	p.PNG, err = compress(in, p.Width, p.Height, dpi, maxBytes)
	return p, err
}

// compress returns the PNG of pixels in RGB.
func compress(in io.Reader, width, height, dpi, maxBytes int) ([]byte, error) {
	out := &limited{max: maxBytes}
	out.WriteString("\x89PNG\r\n\x1a\n")
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	out.chunk("IHDR", append(size, 8, 2, 0, 0, 0)) // 8 bits, RGB, and no interlacing
	const metersPerInch = 0.0254
	perMeter := binary.BigEndian.AppendUint32(nil, uint32(math.Round(float64(dpi)/metersPerInch)))
	out.chunk("pHYs", append(append(perMeter, perMeter...), 1)) // per meter

	from := out.Len()
	out.WriteString("\x00\x00\x00\x00IDAT")
	z, err := zlib.NewWriterLevel(out, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	row := make([]byte, 1+channels*width) // begins with the number of its filter: none
	for range height {
		if _, err := io.ReadFull(in, row[1:]); err != nil {
			return nil, unexpected(err)
		}
		if _, err := z.Write(row); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	out.end(from)
	out.chunk("IEND", nil)
	if out.Len() > maxBytes {
		return nil, errTooLarge
	}
	return out.Bytes(), nil
}

// limited is a buffer whose Write fails when it becomes too large.
type limited struct {
	bytes.Buffer
	max int
}

func (b *limited) Write(p []byte) (int, error) {
	if len(p) > b.max-b.Len() {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// chunk appends a chunk.
func (b *limited) chunk(kind string, data []byte) {
	from := b.Len()
	b.WriteString("\x00\x00\x00\x00" + kind)
	b.Buffer.Write(data)
	b.end(from)
}

// end completes the chunk that begins at from with its length and checksum.
func (b *limited) end(from int) {
	chunk := b.Bytes()[from:]
	const before = 4 // bytes of the length, which the checksum does not cover
	binary.BigEndian.PutUint32(chunk, uint32(len(chunk)-before-len("IDAT")))
	b.Buffer.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk[before:])))
}

// unexpected returns the error for the end of a stream inside an image.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
