package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"io"
	"sync"

	"platen/budget"
)

// largePixels is the largest number of pixels of pictures that are decoded concurrently.
const largePixels = 4_000_000

// large is held while a larger picture is decoded. The memory is that of one picture, however many documents are generated at once.
var large sync.Mutex

// recode decodes a file and encodes it otherwise, upright.
func recode(meter *budget.Meter, data []byte, info Info, decode func(io.Reader) (image.Image, error),
	encode func(io.Writer, image.Image) error) ([]byte, error) {
	if pixels := info.Width * info.Height; pixels > maxDecoded {
		return nil, fmt.Errorf("is a %s file of %d million pixels, which must be converted, and the limit for that is %d million: "+
			"make it smaller, or save it upright as PNG or JPEG",
			info.Kind, pixels/1_000_000, maxDecoded/1_000_000)
	}
	if err := meter.Draw(info.Width, info.Height); err != nil {
		return nil, err
	}
	if info.Width*info.Height > largePixels {
		large.Lock()
		defer large.Unlock()
	}
	m, err := decode(meter.Reader(bytes.NewReader(data)))
	if ended := meter.Check(); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, fmt.Errorf("is a %s file that cannot be read: %w", info.Kind, err)
	}
	var out bytes.Buffer
	if m, err = upright(meter, m, info.Orientation); err != nil {
		return nil, err
	}
	err = encode(meter.Writer(&out), m)
	if ended := meter.Check(); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, fmt.Errorf("is a %s file that cannot be rewritten: %w", info.Kind, err)
	}
	return out.Bytes(), nil
}

// upright turns a picture as its EXIF orientation (TIFF 6.0, tag 274) says: 2 to 8, anything else is upright.
func upright(meter *budget.Meter, m image.Image, orientation int) (image.Image, error) {
	if orientation < 2 || orientation > 8 {
		return m, nil
	}
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	at := pixel(m)
	dst := image.NewRGBA(size)
	for y := range size.Dy() {
		if err := meter.Check(); err != nil {
			return nil, err
		}
		for x := range size.Dx() {
			sx, sy := source(orientation, x, y, w, h)
			dst.SetRGBA(x, y, at(b.Min.X+sx, b.Min.Y+sy))
		}
	}
	return dst, nil
}

// pixel returns what reads the pixels of a picture; of a photograph without taking memory for each.
func pixel(m image.Image) func(x, y int) color.RGBA {
	if m, ok := m.(*image.YCbCr); ok {
		return func(x, y int) color.RGBA {
			c := m.YCbCrAt(x, y)
			r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
			return color.RGBA{r, g, b, 0xff}
		}
	}
	return func(x, y int) color.RGBA { return color.RGBAModel.Convert(m.At(x, y)).(color.RGBA) }
}

// source returns which pixel of a stored picture of w by h is shown at x, y.
func source(orientation, x, y, w, h int) (sx, sy int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	}
	return w - 1 - y, x
}
