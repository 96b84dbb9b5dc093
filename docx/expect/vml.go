package expect

import (
	"strings"

	"platen/ooxml/scan"
)

// vmlStyle are the properties of the style of a VML shape that a reader sees, with the values that mean the same as absent ones.
var vmlStyle = []struct{ name, absent string }{
	{"width", ""}, {"height", ""}, {"rotation", ""}, {"flip", ""}, {"left", ""}, {"top", ""}, {"margin-left", "0pt"}, {"margin-top", "0pt"},
	{"visibility", "visible"}, {"v-text-anchor", "top"}, {"mso-position-horizontal", "absolute"},
	{"mso-position-horizontal-relative", "text"}, {"mso-position-vertical", "absolute"}, {"mso-position-vertical-relative", "text"},
}

// vmlShape adds the properties of a VML shape.
func vmlShape(d *drawn, r *scan.Reader) {
	values := map[string]string{}
	for declaration := range strings.SplitSeq(r.Attr("style"), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		values[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for _, property := range vmlStyle {
		if value := values[property.name]; value != property.absent {
			d.note(property.name+" ", value)
		}
	}
	for _, name := range []string{"filled", "stroked"} {
		if raw := r.RawAttr(name); raw != nil && (string(raw) == "f" || !scan.IsOn(raw)) {
			d.note("", "not "+name)
		}
	}
	for _, name := range []string{"fillcolor", "strokecolor", "strokeweight", "from", "to", "points"} {
		value, _, _ := strings.Cut(r.Attr(name), " [") // the number of a color of the palette
		d.note(name+" ", orHash(value))
	}
	if path := r.Attr("path"); path != "" {
		d.note("path ", orHash(path))
	}
	if kind := strings.TrimPrefix(r.Attr("type"), "#_x0000_t"); kind != "75" { // 75 is an image
		d.note("shape type ", kind)
	}
}
