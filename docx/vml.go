package docx

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"platen/docx/picture"
)

// Pictures in VML (ISO 29500-4 §14), which Word wrote before 2007 and still writes for old documents and as the fallback of
// newer drawings: a v:shape with the alt text and, in its style, the size, around a v:imagedata.

// isOneVMLPicture tells whether a w:pict is nothing but one picture.
func isOneVMLPicture(pict *node) bool {
	return len(pict.all("v:imagedata")) == 1 && len(pict.all("v:shape")) == 1 && len(pict.all("w:txbxContent")) == 0
}

// editVML writes the edits of a picture in VML.
func (c *compiler) editVML(h *placeholder) {
	if style := h.drawing.all("v:shape")[0].attr("style"); style != nil {
		c.add(edit{pos: style.valueStart, end: style.valueEnd, phase: phaseReplace, kind: editPicturePart, slot: pictureStyle})
	}
	data := h.drawing.all("v:imagedata")[0]
	c.add(edit{pos: data.start, end: data.end, phase: phaseReplace, kind: editPicturePart, slot: pictureData, picture: h})
}

// vmlUnits are the units of lengths in styles of VML, in EMU (ISO 29500-4 §14.1.2.23); those without one are pixels.
var vmlUnits = map[string]float64{"pt": 12_700, "in": 914_400, "cm": 360_000, "mm": 36_000, "pc": 152_400, "px": 9_525, "": 9_525}

// vmlSize returns the size in a style; 0 if it does not say.
func vmlSize(style string) (width, height picture.EMU) {
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "width":
			width = vmlLength(value)
		case "height":
			height = vmlLength(value)
		}
	}
	return width, height
}

func vmlLength(s string) picture.EMU {
	s = strings.ToLower(strings.TrimSpace(s))
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz%")
	x, err := strconv.ParseFloat(digits, 64)
	unit, ok := vmlUnits[s[len(digits):]]
	if err != nil || !ok || !(x > 0 && x*unit <= float64(picture.MaxExtent)) {
		return 0
	}
	return picture.EMU(math.Round(x * unit))
}

// appendVMLStyle appends a style with another size, as the value of an attribute.
func appendVMLStyle(dst []byte, style string, s *shownPicture) []byte {
	kept := slices.DeleteFunc(strings.Split(style, ";"), func(declaration string) bool {
		name, _, _ := strings.Cut(declaration, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		return name == "width" || name == "height" || name == ""
	})
	kept = append(kept, "width:"+points(s.Width), "height:"+points(s.Height))
	return appendAttribute(dst, strings.Join(kept, ";"))
}

func points(n picture.EMU) string {
	return strconv.FormatFloat(math.Round(float64(n)/127)/100, 'f', -1, 64) + "pt"
}

// appendImageData appends a v:imagedata that names a picture and says what of it is cut off, in 1/65,536 of its size.
func (t *Template) appendImageData(dst []byte, prefix string, s *shownPicture) []byte {
	dst = fmt.Appendf(dst, `<%simagedata xmlns:r="%s" r:id="%s"`, prefix, t.relNamespace(), s.id)
	for i, cut := range []int{s.Left, s.Top, s.Right, s.Bottom} {
		if cut > 0 {
			dst = fmt.Appendf(dst, ` crop%s="%df"`, []string{"left", "top", "right", "bottom"}[i], cut*65_536/100_000)
		}
	}
	return append(dst, "/>"...)
}
