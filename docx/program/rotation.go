package program

import (
	"fmt"
	"math"

	"platen/docx/picture"
)

// A tag with the filter rotate says how its image is rotated around its center. An image keeps the width and height that it has without
// rotation, and the space that it needs beyond them is the extent of an effect (ISO 29500-1 §20.4.2.6).

// anglesPerDegree is the number of units of angles in a degree (ISO 29500-1 §20.1.10.3).
const anglesPerDegree = 60_000

// rotation returns the attribute of an a:xfrm for a rotation, "" for none.
func rotation(degrees int) string {
	if degrees == 0 {
		return ""
	}
	return fmt.Sprintf(` rot="%d"`, degrees*anglesPerDegree)
}

// effectExtent returns the element with the space that a rotated image needs on each side, "" without rotation.
func effectExtent(prefix string, width, height picture.EMU, degrees int) string {
	if degrees == 0 {
		return ""
	}
	sin, cos := math.Sincos(float64(degrees) * math.Pi / 180)
	w, h := float64(width), float64(height)
	beyond := func(outer, inner float64) int64 { return int64(math.Round(max(outer-inner, 0) / 2)) }
	across := beyond(math.Abs(w*cos)+math.Abs(h*sin), w)
	down := beyond(math.Abs(w*sin)+math.Abs(h*cos), h)
	return fmt.Sprintf(`<%seffectExtent l="%d" t="%d" r="%d" b="%d"/>`, prefix, across, down, across, down)
}

// Rotation writes the rotation of a placeholder's image: the attribute of its a:xfrm, or its wp:effectExtent.
type Rotation struct {
	Text   []byte // in the template
	Extent bool   // it is the wp:effectExtent
	Prefix string // of that
}

func (o *Rotation) sketch(s *sketcher) { s.Fresh() }

func (o *Rotation) run(x *execution) error {
	s := x.pictures.shown
	switch {
	case s == nil || !s.rotates:
		x.out.buf = append(x.out.buf, o.Text...)
	case o.Extent:
		x.out.buf = append(x.out.buf, effectExtent(o.Prefix, s.Width, s.Height, s.degrees)...)
	default:
		x.out.buf = append(x.out.buf, rotation(s.degrees)...)
	}
	return nil
}
