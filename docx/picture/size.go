package picture

import "math/bits"

// Fit is how a picture is brought to a box of both a width and a height.
type Fit string

// The ways to fit. The empty Fit is FitInside.
const (
	FitInside   Fit = "fit"      // as large as it can be without leaving the box, in its own ratio
	FitFill     Fit = "fill"     // as small as it can be and still fill the box, in its own ratio: what juts out is cut off
	FitStretch  Fit = "stretch"  // as wide and as high as the box
	FitOriginal Fit = "original" // the natural size
)

// MaxExtent is how wide or high a picture in a document may be: the widest page of Word.
const MaxExtent = 22 * inch

// Placed is the size and crop of a picture in a document.
type Placed struct {
	Width, Height EMU
	// What is cut off at each side, in 1/100,000 of the picture's width or height, as a:srcRect wants it.
	Left, Top, Right, Bottom int
}

// Place fits a picture of a natural width and height into a box. A width or height of 0 is computed from the other one
// with the ratio of the picture. If both are 0, the picture has its natural size. No length exceeds MaxExtent.
func Place(naturalWidth, naturalHeight, width, height EMU, fit Fit) Placed {
	w, h := clamp(naturalWidth), clamp(naturalHeight)
	switch {
	case fit == FitOriginal || width <= 0 && height <= 0:
		return within(w, h, MaxExtent, MaxExtent, false)
	case width <= 0:
		return within(w, h, MaxExtent, clamp(height), true)
	case height <= 0:
		return within(w, h, clamp(width), MaxExtent, true)
	}
	width, height = clamp(width), clamp(height)
	switch fit {
	case FitStretch:
		return Placed{Width: width, Height: height}
	case FitFill:
		return fill(w, h, width, height)
	}
	return within(w, h, width, height, true)
}

// clamp limits a length to those that files allow. The product of two such lengths fits into an EMU.
func clamp(n EMU) EMU { return min(max(n, 1), 1<<31-1) }

// within makes w by h as large as it can be in a box; grow reports whether it may become larger.
func within(w, h, width, height EMU, grow bool) Placed {
	if !grow && w <= width && h <= height {
		return Placed{Width: w, Height: h}
	}
	if w*height >= h*width { // the width is the limit
		return Placed{Width: width, Height: max(scale(h, width, w), 1)}
	}
	return Placed{Width: max(scale(w, height, h), 1), Height: height}
}

// fill crops w by h to the ratio of the box.
func fill(w, h, width, height EMU) Placed {
	const whole = 100_000
	p := Placed{Width: width, Height: height}
	if w*height >= h*width {
		cut := whole - int(scale(whole, h*width, w*height))
		p.Left, p.Right = cut/2, cut-cut/2
	} else {
		cut := whole - int(scale(whole, w*height, h*width))
		p.Top, p.Bottom = cut/2, cut-cut/2
	}
	return p
}

// scale returns n*over/under, rounded. The numbers must not be negative, and n*over may exceed 64 bits.
func scale(n, over, under EMU) EMU {
	hi, lo := bits.Mul64(uint64(n), uint64(over))
	lo, carry := bits.Add64(lo, uint64(under)/2, 0)
	quotient, _ := bits.Div64(hi+carry, lo, uint64(under))
	return EMU(quotient)
}
