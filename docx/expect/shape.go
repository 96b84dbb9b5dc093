package expect

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"platen/ooxml/scan"
)

const (
	maxDrawn     = 60 // properties of a drawing that are listed; the others have one hash
	maxDrawnText = 80 // bytes of a property of a drawing that are listed; a longer one has a hash
)

// drawnElements write the properties of the elements of a drawing that a reader sees. They may read the elements in it.
var drawnElements = map[string]func(d *drawn, r *scan.Reader){
	"wp:extent": func(d *drawn, r *scan.Reader) { d.note("size ", sizeText(r.Attr("cx"), r.Attr("cy"))) },
	"wp:docPr": func(d *drawn, r *scan.Reader) {
		d.note("alternative text ", r.Attr("descr"))
		if raw := r.RawAttr("hidden"); raw != nil && scan.IsOn(raw) {
			d.note("", hidden)
		}
	},
	"wp:anchor": func(d *drawn, r *scan.Reader) {
		if raw := r.RawAttr("behindDoc"); raw != nil && scan.IsOn(raw) {
			d.note("", "under the text")
		}
		d.note("distance from text ", attributes(r, "distT", "distB", "distL", "distR"))
	},
	"wp:positionH":        func(d *drawn, r *scan.Reader) { d.note("horizontally ", placement(r)) },
	"wp:positionV":        func(d *drawn, r *scan.Reader) { d.note("vertically ", placement(r)) },
	"wp14:sizeRelH":       func(d *drawn, r *scan.Reader) { d.note("relative width ", share(placement(r))) },
	"wp14:sizeRelV":       func(d *drawn, r *scan.Reader) { d.note("relative height ", share(placement(r))) },
	"wp:wrapSquare":       func(d *drawn, r *scan.Reader) { d.note("wrap square ", r.Attr("wrapText")) },
	"wp:wrapTight":        func(d *drawn, r *scan.Reader) { d.note("wrap tight ", r.Attr("wrapText")) },
	"wp:wrapThrough":      func(d *drawn, r *scan.Reader) { d.note("wrap through ", r.Attr("wrapText")) },
	"wp:wrapTopAndBottom": func(d *drawn, _ *scan.Reader) { d.note("", "wrap top and bottom") },
	"a:xfrm":              transform,
	"a:off":               func(d *drawn, r *scan.Reader) { d.noteInGroup("at ", sizeText(r.Attr("x"), r.Attr("y"))) },
	"a:ext":               groupedSize,
	"a:srcRect":           func(d *drawn, r *scan.Reader) { d.note("crop ", attributes(r, "l", "t", "r", "b")) },
	"a:prstGeom":          func(d *drawn, r *scan.Reader) { d.tree("shape", r, "rect") },
	"a:custGeom":          func(d *drawn, r *scan.Reader) { d.tree("shape", r) },
	"a:noFill":            func(d *drawn, _ *scan.Reader) { d.note("", noFill) },
	"a:solidFill":         func(d *drawn, r *scan.Reader) { d.tree("fill", r) },
	"a:gradFill":          func(d *drawn, r *scan.Reader) { d.tree("gradient", r) },
	"a:pattFill":          func(d *drawn, r *scan.Reader) { d.tree("pattern", r) },
	"a:ln":                func(d *drawn, r *scan.Reader) { d.tree("line", r, "") },
	"a:effectLst":         func(d *drawn, r *scan.Reader) { d.tree("effects", r, "") },
	"a:grayscl":           func(d *drawn, r *scan.Reader) { d.tree("grayscale", r) },
	"a:biLevel":           func(d *drawn, r *scan.Reader) { d.tree("black and white", r) },
	"a:lum":               func(d *drawn, r *scan.Reader) { d.tree("luminance", r, "") },
	"a:duotone":           func(d *drawn, r *scan.Reader) { d.tree("duotone", r) },
	"a:alphaModFix":       func(d *drawn, r *scan.Reader) { d.tree("opacity", r, "amt 100000") },
	"a:clrChange":         func(d *drawn, r *scan.Reader) { d.tree("color change", r) },
	"wps:bodyPr":          bodyProperties,
	"wps:lnRef":           func(d *drawn, r *scan.Reader) { d.tree(styleLine, r) },
	"wps:fillRef":         func(d *drawn, r *scan.Reader) { d.tree(styleFill, r) },
	"wps:effectRef":       func(d *drawn, r *scan.Reader) { d.tree("effect of the style", r) },
	"wps:wgp":             func(d *drawn, _ *scan.Reader) { d.inGroup = true },
	"v:textpath":          func(d *drawn, r *scan.Reader) { d.word(r.Attr("string")) },
	"v:textbox":           func(d *drawn, r *scan.Reader) { d.note("inset ", r.Attr("inset")) },
	"v:fill": func(d *drawn, r *scan.Reader) {
		d.note("fill ", attributes(r, "type", "color2", "opacity", "angle", "on"))
	},
	"v:stroke": func(d *drawn, r *scan.Reader) {
		d.note("line ", attributes(r, "dashstyle", "startarrow", "endarrow", "on"))
	},
	"v:shadow":     func(d *drawn, r *scan.Reader) { d.note("shadow ", attributes(r, "on", "color", "offset")) },
	"v:background": vmlShape,
	"v:shape":      vmlShape,
	"v:rect":       vmlShape,
	"v:roundrect":  vmlShape,
	"v:oval":       vmlShape,
	"v:line":       vmlShape,
	"v:polyline":   vmlShape,
	"v:curve":      vmlShape,
	"v:arc":        vmlShape,
	"v:image":      vmlShape,
	"v:group":      vmlShape,
}

// shapeElements are the names, without prefixes, of elements of shapes in namespaces that package names does not have.
var shapeElements = map[string]bool{"bodyPr": true, "lnRef": true, "fillRef": true, "effectRef": true, "wgp": true}

// drawnName returns the name of the element of the last start tag in drawnElements.
func drawnName(r *scan.Reader) string {
	if name := r.Name(); name != "" {
		return name
	}
	if local := r.LocalName(); shapeElements[local] {
		return "wps:" + local
	}
	return ""
}

// note adds a property with a value.
func (d *drawn) note(label, value string) {
	switch {
	case value == "" || value == "0" || value == "0 0 0 0":
	case len(d.format) < maxDrawn:
		d.format = append(d.format, label+value)
	default:
		d.rest = append(d.rest, label+value)
	}
}

// noteInGroup adds a property that a shape only has in a group.
func (d *drawn) noteInGroup(label, value string) {
	if d.inGroup {
		d.note(label, value)
	}
}

// tree adds a property with the content of an element, unless that is one of some values.
func (d *drawn) tree(label string, r *scan.Reader, without ...string) {
	var b strings.Builder
	writeTree(&b, r, 0)
	if value := strings.TrimSpace(b.String()); !slices.Contains(without, value) {
		d.note(label, " "+orHash(value))
	}
}

// word adds the text of WordArt.
func (d *drawn) word(text string) {
	if text != "" {
		d.words = append(d.words, text)
	}
}

// Properties of drawings that depend on one another: what a shape lacks counts only if its style would give it.
const noFill, noLine, styleFill, styleLine = "no fill", "noFill", "fill of the style", "line of the style"

// all returns the properties of a drawing.
func (d *drawn) all() []string {
	has := func(label string) bool {
		return slices.ContainsFunc(d.format, func(property string) bool { return strings.HasPrefix(property, label) })
	}
	hasFill, hasLine := has(styleFill), has(styleLine)
	format := slices.DeleteFunc(slices.Clone(d.format), func(property string) bool {
		return !hasFill && property == noFill || !hasLine && strings.HasPrefix(property, "line ") && strings.HasSuffix(property, noLine)
	})
	if len(d.rest) == 0 {
		return format
	}
	return append(format, "more "+hashOf([]byte(strings.Join(d.rest, "\x00"))))
}

// orHash returns a text, or its hash if it is long.
func orHash(text string) string {
	if len(text) > maxDrawnText {
		return hashOf([]byte(text))
	}
	return text
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:6])
}

// drawnDefaults are the values of attributes in a drawing that mean the same as absent ones.
var drawnDefaults = map[string]string{
	"cap": "flat", "cmpd": "sng", "algn": "ctr", "rotWithShape": "1", "vert": "horz", "wrap": "square", "anchor": "t",
	"lIns": "91440", "rIns": "91440", "tIns": "45720", "bIns": "45720", "numCol": "1",
}

// writeTree writes the attributes of an element and the elements in it. A color is written without the name of its element.
func writeTree(b *strings.Builder, r *scan.Reader, nesting int) {
	const most = 8
	var values []string
	isRGB := r.LocalName() == "srgbClr"
	for i := range r.Attributes() {
		a := &r.Attributes()[i]
		name, value := r.AttributeName(a), scan.Value(r.Value(a))
		if isRGB {
			value = strings.ToUpper(value)
		}
		switch {
		case name == "" || name == "xmlns" || drawnDefaults[name] == value:
		case name == "val" || name == "prst":
			values = append(values, " "+value)
		default:
			values = append(values, " "+name+" "+value)
		}
	}
	slices.Sort(values)
	b.WriteString(strings.Join(values, ""))
	for range r.Children {
		name := r.LocalName()
		if nesting == most || name == "extLst" {
			continue
		}
		if name != "srgbClr" && name != "schemeClr" && name != "avLst" {
			b.WriteString(" " + name)
		}
		writeTree(b, r, nesting+1)
	}
}

// attributes returns the values of some attributes, with 0 for absent ones; "" if it has none of them.
func attributes(r *scan.Reader, names ...string) string {
	values := make([]string, len(names))
	found := false
	for i, name := range names {
		if values[i] = r.Attr(name); values[i] == "" {
			values[i] = "0"
		} else {
			found = true
		}
	}
	if !found {
		return ""
	}
	return strings.Join(values, " ")
}

// placement returns where a drawing is, or how large it is: from something, aligned, at a distance, or at a share of it.
func placement(r *scan.Reader) string {
	text := "from " + r.Attr("relativeFrom")
	depth := r.Depth()
	if r.Kind == scan.Void {
		return text
	}
	for r.Next() && r.Depth() > depth {
		switch {
		case r.Kind == scan.Open && r.Name() == "mc:Fallback":
			if !r.Skip() {
				return text
			}
		case r.Kind != scan.Close:
		case r.Name() == "wp:posOffset":
			text += " " + pointsOf(string(r.Text())) + " pt"
		case r.Name() == "wp:align":
			text += " " + string(r.Text())
		case strings.HasPrefix(r.Name(), "wp14:pct"):
			text += " share " + string(r.Text())
		}
	}
	return text
}

// share returns what a relative size is a share of. It is "" for a share of 0, which Word writes for sizes that are absolute.
func share(placement string) string {
	if strings.HasSuffix(placement, " share 0") {
		return ""
	}
	return placement
}

func transform(d *drawn, r *scan.Reader) {
	d.note("rotation ", r.Attr("rot"))
	for _, name := range []string{"flipH", "flipV"} {
		if raw := r.RawAttr(name); raw != nil && scan.IsOn(raw) {
			d.note("", name)
		}
	}
}

// groupedSize adds the size of a shape in a group. Others have that of their drawing.
func groupedSize(d *drawn, r *scan.Reader) {
	if r.RawAttr("cx") != nil {
		d.noteInGroup("size ", sizeText(r.Attr("cx"), r.Attr("cy")))
	}
}

// bodyProperties adds where the text of a shape is in it.
func bodyProperties(d *drawn, r *scan.Reader) {
	for _, name := range []string{"lIns", "tIns", "rIns", "bIns", "anchor", "anchorCtr", "vert", "wrap", "numCol", "rot"} {
		raw := r.RawAttr(name)
		if raw == nil || string(raw) == drawnDefaults[name] || string(raw) == "0" && drawnDefaults[name] == "" {
			continue
		}
		d.note("", "text "+name+" "+string(raw))
	}
}
