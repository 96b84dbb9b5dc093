package picture

import (
	"bytes"
	"encoding/binary"
)

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	markerTEM  = 0x01
	markerRST0 = 0xd0
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerAPP0 = 0xe0
	markerAPP1 = 0xe1
)

// inspectJPEG walks the segments before the first scan for the frame's size, the density of JFIF and the orientation of
// EXIF.
func inspectJPEG(data []byte) (Info, error) {
	info := Info{Kind: JPEG}
	for at := 2; at+4 <= len(data); {
		marker := data[at+1]
		switch {
		case data[at] != 0xff:
			return info, cutOff(JPEG)
		case marker == 0xff: // fill
			at++
			continue
		case marker == markerTEM || marker >= markerRST0 && marker <= markerSOI:
			at += 2
			continue
		case marker == markerSOS || marker == markerEOI:
			return info.orCutOff()
		}
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		if size < 2 || at+2+size > len(data) {
			return info.orCutOff()
		}
		info.segment(marker, data[at+4:at+2+size])
		at += 2 + size
	}
	return info.orCutOff()
}

func (i Info) orCutOff() (Info, error) {
	if i.Width == 0 {
		return i, cutOff(i.Kind)
	}
	return i, nil
}

func (i *Info) segment(marker byte, body []byte) {
	switch {
	case isFrame(marker) && len(body) >= 5 && i.Width == 0:
		i.Height, i.Width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	case marker == markerAPP0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 12:
		x, y := float64(binary.BigEndian.Uint16(body[8:])), float64(binary.BigEndian.Uint16(body[10:]))
		switch body[7] {
		case 1:
			i.XDPI, i.YDPI = x, y
		case 2:
			i.XDPI, i.YDPI = x*centimetresPerInch, y*centimetresPerInch
		}
	case marker == markerAPP1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) && i.Orientation == 0:
		tags := readTIFF(body[6:])
		if tags.orientation >= 1 && tags.orientation <= 8 {
			i.Orientation = tags.orientation
		}
		if i.XDPI == 0 {
			i.XDPI, i.YDPI = tags.xdpi, tags.ydpi
		}
	}
}

// isFrame reports whether a marker is one of SOF0 to SOF15. DHT, JPG, and DAC are in the same range.
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}
