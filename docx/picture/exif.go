package picture

import (
	"encoding/binary"
	"image"
	"image/color"
)

// orientation returns the EXIF orientation of a JPEG file (Exif 2.32 §4.6.4, tag 0x0112): 1 is upright, and what most files
// have that say nothing.
func orientation(data []byte) int {
	for segment := range segments(data) {
		if segment.marker != 0xE1 || len(segment.data) < 14 || string(segment.data[:6]) != "Exif\x00\x00" {
			continue
		}
		return tiffOrientation(segment.data[6:])
	}
	return 1
}

func tiffOrientation(tiff []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	count := int64(order.Uint16(tiff[at:]))
	for i := range count {
		entry := at + 2 + i*12
		if entry+12 > int64(len(tiff)) {
			break
		}
		if order.Uint16(tiff[entry:]) == 0x0112 {
			if turn := int(order.Uint16(tiff[entry+8:])); turn >= 1 && turn <= 8 {
				return turn
			}
			break
		}
	}
	return 1
}

// segment is one of a JPEG file before its pixels.
type segment struct {
	marker byte
	data   []byte
}

// segments yields the segments of a JPEG file up to its pixels.
func segments(data []byte) func(func(segment) bool) {
	return func(yield func(segment) bool) {
		for at := 2; at+4 <= len(data) && data[at] == 0xFF; {
			marker, size := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
			if marker == 0xDA || size < 2 || at+2+size > len(data) || !yield(segment{marker, data[at+4 : at+2+size]}) {
				return
			}
			at += 2 + size
		}
	}
}

// density returns how many pixels of a file are an inch, from its header.
func density(data []byte, format string) (x, y float64) {
	x, y = screenDPI, screenDPI
	switch format {
	case "png":
		x, y = pngDensity(data)
	case "jpeg":
		for segment := range segments(data) {
			if segment.marker == 0xE0 && len(segment.data) >= 12 && string(segment.data[:5]) == "JFIF\x00" {
				x, y = float64(binary.BigEndian.Uint16(segment.data[8:])), float64(binary.BigEndian.Uint16(segment.data[10:]))
				switch segment.data[7] {
				case 0:
					x, y = screenDPI, screenDPI
				case 2:
					x, y = x*2.54, y*2.54
				}
				break
			}
		}
	}
	if !sensible(x) || !sensible(y) {
		return screenDPI, screenDPI
	}
	return x, y
}

// sensible tells densities from the nonsense that some programs write.
func sensible(dpi float64) bool { return dpi >= 20 && dpi <= 5000 }

// pngDensity reads the pHYs chunk (PNG §11.3.4.3), which comes before the pixels.
func pngDensity(data []byte) (x, y float64) {
	for at := 8; at+12 <= len(data); {
		size, kind := int64(binary.BigEndian.Uint32(data[at:])), string(data[at+4:at+8])
		if kind == "IDAT" || int64(at)+12+size > int64(len(data)) {
			break
		}
		if kind == "pHYs" && size == 9 && data[at+16] == 1 { // pixels a metre
			return float64(binary.BigEndian.Uint32(data[at+8:])) * 0.0254, float64(binary.BigEndian.Uint32(data[at+12:])) * 0.0254
		}
		at += 12 + int(size)
	}
	return screenDPI, screenDPI
}

// turned is a picture as its EXIF orientation says that it is to be seen.
type turned struct {
	image.Image
	turn int
}

// Bounds are those of the upright picture.
func (t turned) Bounds() image.Rectangle {
	size := t.Image.Bounds().Size()
	if t.turn >= 5 {
		size.X, size.Y = size.Y, size.X
	}
	return image.Rectangle{Max: size}
}

// At returns a pixel of the upright picture.
func (t turned) At(x, y int) color.Color {
	b := t.Image.Bounds()
	right, bottom := b.Dx()-1, b.Dy()-1
	switch t.turn {
	case 2:
		x = right - x
	case 3:
		x, y = right-x, bottom-y
	case 4:
		y = bottom - y
	case 5:
		x, y = y, x
	case 6:
		x, y = y, bottom-x
	case 7:
		x, y = right-y, bottom-x
	case 8:
		x, y = right-y, x
	}
	return t.Image.At(b.Min.X+x, b.Min.Y+y)
}
