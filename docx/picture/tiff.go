package picture

import "encoding/binary"

// Tags of TIFF 6.0, which EXIF uses as well.
const (
	tiffWidth          = 256
	tiffHeight         = 257
	tiffOrientation    = 274
	tiffXResolution    = 282
	tiffYResolution    = 283
	tiffResolutionUnit = 296

	// maxTIFFTags is the number of tags of a directory that are read.
	maxTIFFTags = 1000

	centimetresPerInch = 2.54
)

// tiffTags are the relevant tags in the first directory of a TIFF file.
type tiffTags struct {
	width, height, orientation int
	xdpi, ydpi                 float64
}

func inspectTIFF(data []byte) (Info, error) {
	t := readTIFF(data)
	return Info{Kind: TIFF, Width: t.width, Height: t.height, XDPI: t.xdpi, YDPI: t.ydpi}.orCutOff()
}

// readTIFF reads the first directory. What it cannot read is zero.
func readTIFF(data []byte) (t tiffTags) {
	if len(data) < 8 {
		return t
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 'M' {
		order = binary.BigEndian
	}
	at := uint64(order.Uint32(data[4:]))
	if at+2 > uint64(len(data)) {
		return t
	}
	unit := 2
	for i := range min(uint64(order.Uint16(data[at:])), maxTIFFTags) {
		from := at + 2 + 12*i
		if from+12 > uint64(len(data)) {
			break
		}
		entry := data[from : from+12]
		switch order.Uint16(entry) {
		case tiffWidth:
			t.width = tiffNumber(order, entry)
		case tiffHeight:
			t.height = tiffNumber(order, entry)
		case tiffOrientation:
			t.orientation = tiffNumber(order, entry)
		case tiffXResolution:
			t.xdpi = tiffRatio(order, data, entry)
		case tiffYResolution:
			t.ydpi = tiffRatio(order, data, entry)
		case tiffResolutionUnit:
			unit = tiffNumber(order, entry)
		}
	}
	switch unit {
	case 1: // only the ratio is meant
		t.xdpi, t.ydpi = 0, 0
	case 3:
		t.xdpi, t.ydpi = t.xdpi*centimetresPerInch, t.ydpi*centimetresPerInch
	}
	return t
}

// tiffNumber is the value of a tag of one SHORT or LONG.
func tiffNumber(order binary.ByteOrder, entry []byte) int {
	const short, long = 3, 4
	switch order.Uint16(entry[2:]) {
	case short:
		return int(order.Uint16(entry[8:]))
	case long:
		return pixels32(order.Uint32(entry[8:]))
	}
	return 0
}

// tiffRatio returns the value of a tag with one RATIONAL, which is elsewhere in the file.
func tiffRatio(order binary.ByteOrder, data, entry []byte) float64 {
	const rational = 5
	at := uint64(order.Uint32(entry[8:]))
	if order.Uint16(entry[2:]) != rational || at+8 > uint64(len(data)) {
		return 0
	}
	over, under := order.Uint32(data[at:]), order.Uint32(data[at+4:])
	if under == 0 {
		return 0
	}
	return float64(over) / float64(under)
}
