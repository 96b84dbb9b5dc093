package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"

	"golang.org/x/image/webp"
)

// Info has the properties in the headers of an image file.
type Info struct {
	Kind          Kind
	Width, Height int     // in pixels, as stored; of SVG in its own units
	XDPI, YDPI    float64 // pixels an inch; 0: the file does not say
	Orientation   int     // EXIF, of JPEG: 1 to 8; 0: the file does not say
}

// Size returns the natural size of the upright picture, at its own resolution or 96 dpi.
func (i Info) Size() (width, height EMU) {
	width, height = length(i.Width, i.XDPI), length(i.Height, i.YDPI)
	if i.Orientation >= 5 {
		width, height = height, width
	}
	return width, height
}

func length(pixels int, dpi float64) EMU {
	if !(dpi >= minDPI && dpi <= maxDPI) {
		dpi = defaultDPI
	}
	return max(EMU(math.Round(float64(pixels)*float64(inch)/dpi)), 1)
}

// Inspect reads the headers of an image file. It recognizes the format by the first bytes, and decodes nothing.
func Inspect(data []byte) (Info, error) {
	if len(data) > MaxBytes {
		return Info{}, tooLarge()
	}
	read := reader(data)
	if read == nil {
		return Info{}, ErrKind
	}
	info, err := read(data)
	if err != nil {
		return Info{}, err
	}
	if info.Width <= 0 || info.Height <= 0 {
		return Info{}, fmt.Errorf("is a %s file without pixels", info.Kind)
	}
	if info.Width > MaxSide || info.Height > MaxSide || info.Width*info.Height > MaxPixels {
		return Info{}, fmt.Errorf("is an image of %d by %d pixels; the limit is %d on each side and %d million in total", info.Width,
			info.Height, MaxSide, MaxPixels/1_000_000)
	}
	return info, nil
}

// reader returns the function that reads the headers of files that begin like data, or nil if they are not pictures.
func reader(data []byte) func([]byte) (Info, error) {
	begins := func(s string) bool { return bytes.HasPrefix(data, []byte(s)) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return inspectPNG
	case begins("\xff\xd8\xff"):
		return inspectJPEG
	case begins("GIF87a"), begins("GIF89a"):
		return inspectGIF
	case begins("BM"):
		return inspectBMP
	case begins("II*\x00"), begins("MM\x00*"):
		return inspectTIFF
	case begins("RIFF") && len(data) >= 12 && string(data[8:12]) == "WEBP":
		return inspectWebP
	case looksLikeSVG(data):
		return inspectSVG
	}
	return nil
}

func cutOff(k Kind) error { return fmt.Errorf("is a truncated or damaged %s file", k) }

const metresPerInch = 0.0254

// inspectPNG reads IHDR, and pHYs before the pixels (ISO/IEC 15948).
func inspectPNG(data []byte) (Info, error) {
	info := Info{Kind: PNG}
	for b := data[8:]; len(b) >= 12; {
		size := binary.BigEndian.Uint32(b)
		if uint64(size)+12 > uint64(len(b)) {
			break
		}
		body := b[8 : 8+size]
		switch name := string(b[4:8]); {
		case name == "IHDR" && size >= 13:
			info.Width, info.Height = pixels32(binary.BigEndian.Uint32(body)), pixels32(binary.BigEndian.Uint32(body[4:]))
		case name == "pHYs" && size == 9 && body[8] == 1:
			info.XDPI = float64(binary.BigEndian.Uint32(body)) * metresPerInch
			info.YDPI = float64(binary.BigEndian.Uint32(body[4:])) * metresPerInch
		case name == "IDAT" && info.Width > 0:
			return info, nil
		}
		b = b[12+size:]
	}
	if info.Width == 0 {
		return info, cutOff(PNG)
	}
	return info, nil
}

// pixels32 returns a count of pixels; one that is too large for any picture becomes the limit.
func pixels32(n uint32) int { return int(min(n, math.MaxInt32)) }

func inspectGIF(data []byte) (Info, error) {
	if len(data) < 13 {
		return Info{}, cutOff(GIF)
	}
	return Info{Kind: GIF, Width: int(binary.LittleEndian.Uint16(data[6:])), Height: int(binary.LittleEndian.Uint16(data[8:]))}, nil
}

// inspectBMP reads BITMAPCOREHEADER or BITMAPINFOHEADER and its kin.
func inspectBMP(data []byte) (Info, error) {
	info := Info{Kind: BMP}
	if len(data) < 26 {
		return info, cutOff(BMP)
	}
	if header := binary.LittleEndian.Uint32(data[14:]); header < 40 {
		info.Width, info.Height = int(binary.LittleEndian.Uint16(data[18:])), int(binary.LittleEndian.Uint16(data[20:]))
		return info, nil
	}
	if len(data) < 54 {
		return info, cutOff(BMP)
	}
	width, height := int32(binary.LittleEndian.Uint32(data[18:])), int32(binary.LittleEndian.Uint32(data[22:]))
	info.Width, info.Height = int(width), int(height)
	if info.Height < 0 { // the rows begin at the top
		info.Height = -info.Height
	}
	info.XDPI = float64(binary.LittleEndian.Uint32(data[38:])) * metresPerInch
	info.YDPI = float64(binary.LittleEndian.Uint32(data[42:])) * metresPerInch
	return info, nil
}

func inspectWebP(data []byte) (Info, error) {
	config, err := guarded(func() (image.Config, error) { return webp.DecodeConfig(bytes.NewReader(data)) })
	if err != nil {
		return Info{}, fmt.Errorf("is a WebP file that cannot be read: %w", err)
	}
	return Info{Kind: WebP, Width: config.Width, Height: config.Height}, nil
}

// guarded runs code of libraries that may panic on hostile bytes, and returns panics as errors.
func guarded[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it is damaged")
		}
	}()
	return f()
}
