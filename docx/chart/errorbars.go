package chart

import (
	"fmt"
	"strings"
)

// Error bars (c:errBars, ISO 29500-1 §21.2.2.55) whose lengths are in the data. Those of the template keep their formatting and direction.

// errorBarsOf returns the error bars of a series in the template that the data replaces, or nil. In charts with bars in both directions,
// these are the vertical ones.
func (f *filler) errorBarsOf(s *element) *element {
	if len(f.data.Errors) == 0 {
		return nil
	}
	for _, c := range s.children {
		if c.name != f.prefix+"errBars" {
			continue
		}
		if direction := c.child(f.prefix + "errDir"); direction == nil || direction.attr(f.src, "val") == "y" {
			return c
		}
	}
	return nil
}

// errorBars writes the error bars of the series. format is the number format of its values.
func (w *seriesWriter) errorBars(format string) {
	own := &w.series[w.number]
	if own.plus == nil {
		return
	}
	set := func(at int, s *Series) {
		w.sheet.columns[at].name = s.Name
		w.sheet.columns[at].set(s.Values, format, true)
	}
	plus := own.column + 1
	if own.sizes != nil {
		plus++
	}
	minus := plus
	if set(plus, own.plus); own.minus != own.plus {
		minus++
		set(minus, own.minus)
	}
	fmt.Fprintf(&w.out, "<%serrBars>", w.prefix)
	w.beforeLengths()
	w.reference(w.prefix+"plus", plus)
	w.reference(w.prefix+"minus", minus)
	if shape := w.bars.child(w.prefix + "spPr"); shape != nil {
		w.out.Write(w.src[shape.start:shape.end])
	}
	fmt.Fprintf(&w.out, "</%serrBars>", w.prefix)
}

// beforeLengths writes the children of c:errBars that precede the lengths, as far as the template has them.
func (w *seriesWriter) beforeLengths() {
	var b strings.Builder
	add := func(name, otherwise string) {
		if own := w.bars.child(w.prefix + name); own != nil {
			b.Write(w.src[own.start:own.end])
		} else if otherwise != "" {
			fmt.Fprintf(&b, `<%s%s val="%s"/>`, w.prefix, name, otherwise)
		}
	}
	direction := ""
	if w.points {
		direction = "y"
	}
	add("errDir", direction)
	if own := &w.series[w.number]; own.minus != own.plus {
		fmt.Fprintf(&b, `<%serrBarType val="both"/>`, w.prefix)
	} else {
		add("errBarType", "both")
	}
	fmt.Fprintf(&b, `<%serrValType val="cust"/>`, w.prefix)
	add("noEndCap", "0")
	w.out.WriteString(b.String())
}
