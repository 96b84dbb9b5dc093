package picture

// Ways to bring a picture to a width and a height.
const (
	Fit      = "fit"      // whole, as large as the box allows
	Fill     = "fill"     // filling the box; what reaches over is cut off
	Stretch  = "stretch"  // filling the box, whatever becomes of its proportions
	Original = "original" // as large as the picture says it is
)

// Placed is how a picture stands in its box.
type Placed struct {
	Width, Height EMU
	// What is cut off on each side, in thousandths of a percent of the picture (ISO 29500-1 §20.1.8.55).
	Left, Top, Right, Bottom int
}

// maxSide is the longest side that a picture can have in Word.
const maxSide = 22 * inch

// whole is 100 % in thousandths of a percent.
const whole = 100_000

// Place brings a picture of a natural size to a box. A side of the box that is 0 follows from the other, and both follow from
// the picture. The zero fit is Fit.
func Place(width, height, boxWidth, boxHeight EMU, fit string) Placed {
	width, height = max(width, 1), max(height, 1)
	switch {
	case fit == Original || boxWidth == 0 && boxHeight == 0:
		boxWidth, boxHeight = width, height
		if longest := max(width, height); longest > maxSide {
			boxWidth, boxHeight = part(width, maxSide, longest), part(height, maxSide, longest)
		}
	case boxWidth == 0:
		boxWidth = part(width, boxHeight, height)
	case boxHeight == 0:
		boxHeight = part(height, boxWidth, width)
	case fit == Fill:
		return fill(width, height, boxWidth, boxHeight)
	case fit == Stretch:
	case float64(width)*float64(boxHeight) > float64(height)*float64(boxWidth): // wider than the box
		boxHeight = part(height, boxWidth, width)
	default:
		boxWidth = part(width, boxHeight, height)
	}
	return Placed{Width: min(max(boxWidth, 1), maxSide), Height: min(max(boxHeight, 1), maxSide)}
}

// part is a·b/c without overflow.
func part(a, b, c EMU) EMU { return EMU(float64(a) * float64(b) / float64(c)) }

// fill cuts off what reaches over the box, alike on both sides.
func fill(width, height, boxWidth, boxHeight EMU) Placed {
	p := Placed{Width: boxWidth, Height: boxHeight}
	scale := max(float64(boxWidth)/float64(width), float64(boxHeight)/float64(height))
	p.Left = int((1 - float64(boxWidth)/(float64(width)*scale)) / 2 * whole)
	p.Top = int((1 - float64(boxHeight)/(float64(height)*scale)) / 2 * whole)
	p.Right, p.Bottom = p.Left, p.Top
	return p
}
