package chart

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// writeSeries writes a series. If another is true, it adds one to the chart, with the formatting of s and the next color of the theme.
func (f *filler) writeSeries(s *element, number int, another bool) {
	w := &seriesWriter{filler: f, s: s, number: number, another: another, bars: f.errorBarsOf(s)}
	w.points = s.child(f.prefix+"yVal") != nil || s.child(f.prefix+"xVal") != nil || f.series[number].sizes != nil
	f.out.Write(f.src[s.start:s.open])
	for _, c := range s.children {
		w.child(c)
	}
	w.nameOnce()
	w.valuesOnce()
	f.out.Write(f.src[s.close:s.end])
}

// seriesWriter writes one series.
type seriesWriter struct {
	*filler
	s             *element
	number        int
	another       bool
	points        bool     // it is of a scatter or bubble chart
	bars          *element // the error bars in the template that the data replaces; nil if there are none
	named, valued bool     // these were written
}

// beforeName are the children of a series before its name. dataAndAfter are those with its data and those after them.
// Both are for all kinds of series (ISO 29500-1 Annex A, CT_BarSer, CT_ScatterSer, and others).
var (
	beforeName   = []string{"idx", "order"}
	dataAndAfter = []string{"cat", "xVal", "val", "yVal", "bubbleSize", "smooth", "bubble3D", "shape", "extLst"}
)

// child writes a child of the template's series, or what takes its place.
func (w *seriesWriter) child(c *element) {
	name := strings.TrimPrefix(c.name, w.prefix)
	if !slices.Contains(beforeName, name) {
		w.nameOnce()
	}
	if slices.Contains(dataAndAfter, name) {
		w.valuesOnce()
	}
	switch name {
	case "idx", "order":
		if w.another {
			fmt.Fprintf(&w.out, `<%s val="%d"/>`, c.name, w.number)
			return
		}
	case "tx", "cat", "xVal", "val", "yVal", "bubbleSize", "extLst": // written again; extLst has ids, and values of other cells
		return
	case "spPr":
		if w.another {
			w.bareShape(c)
			return
		}
	case "marker":
		if w.another {
			w.without(c, "spPr", func(*element) bool { return true })
			return
		}
	case "dPt":
		if !w.isThere(c) {
			return
		}
	case "errBars":
		if c == w.bars {
			return
		}
	case "dLbls":
		w.without(c, "dLbl", func(label *element) bool { return !w.isThere(label) })
		return
	}
	w.out.Write(w.src[c.start:c.end])
}

// isThere reports whether the single point that an element is about is one of the series still.
func (w *seriesWriter) isThere(point *element) bool {
	idx := point.child(w.prefix + "idx")
	if w.another || idx == nil {
		return false
	}
	n, err := strconv.Atoi(idx.attr(w.src, "val"))
	return err == nil && n < len(w.data.Categories)
}

// without writes an element without the unwanted ones of its children with a name.
func (w *seriesWriter) without(e *element, name string, unwanted func(*element) bool) {
	at := e.start
	for _, c := range e.children {
		if c.name == w.prefix+name && unwanted(c) {
			w.out.Write(w.src[at:c.start])
			at = c.end
		}
	}
	w.out.Write(w.src[at:e.end])
}

// bareShape writes of the shape of a series only that it has no line, as the points of a scatter chart.
func (w *seriesWriter) bareShape(shape *element) {
	for _, line := range shape.children {
		for _, c := range line.children {
			if strings.HasSuffix(line.name, ":ln") && strings.HasSuffix(c.name, ":noFill") {
				fmt.Fprintf(&w.out, "<%[1]s>%[2]s</%[1]s>", shape.name, w.src[line.start:line.end])
			}
		}
	}
}

// nameOnce writes the name of the series.
func (w *seriesWriter) nameOnce() {
	if w.named {
		return
	}
	w.named = true
	name := ""
	if !w.another {
		name = w.s.child(w.prefix + "tx").first(w.prefix + "v").text(w.src)
	}
	if name == "" {
		name = w.series[w.number].Name
	}
	at := w.series[w.number].column
	col := &w.sheet.columns[at]
	if col.name = name; name == "" {
		return
	}
	fmt.Fprintf(&w.out, `<%[1]stx><%[1]sstrRef><%[1]sf>%[2]s</%[1]sf><%[1]sstrCache><%[1]sptCount val="1"/><%[1]spt `+
		`idx="0"><%[1]sv>%[3]s</%[1]sv></%[1]spt></%[1]sstrCache></%[1]sstrRef></%[1]stx>`,
		w.prefix, cells(at, 1, 1), escape(name))
}

// valuesOnce writes the categories and the values of the series.
func (w *seriesWriter) valuesOnce() {
	if w.valued {
		return
	}
	w.valued = true
	categories, values := w.prefix+"cat", w.prefix+"val"
	if w.points {
		categories, values = w.prefix+"xVal", w.prefix+"yVal"
	}
	w.errorBars(w.format(values))
	w.categories(categories)
	own := &w.series[w.number]
	w.values(values, own.column, own.Values)
	if own.sizes != nil {
		w.sheet.columns[own.column+1].name = own.sizes.Name
		w.values(w.prefix+"bubbleSize", own.column+1, own.sizes.Values)
	}
}

// values writes numbers as a child of the series.
func (w *seriesWriter) values(name string, column int, values []string) {
	w.sheet.columns[column].set(values, w.format(name), true)
	w.reference(name, column)
}

// categories writes the names of the points, as numbers or dates if the template has those.
func (w *seriesWriter) categories(name string) {
	texts, numeric := w.data.Categories, false
	if w.s.child(name, w.prefix+"numRef") != nil || w.s.child(name, w.prefix+"numLit") != nil || strings.HasSuffix(name, "xVal") {
		texts, numeric = w.epoch.numbers(texts)
	}
	w.sheet.columns[0].set(texts, w.format(name), numeric)
	w.reference(name, 0)
}

// format is the number format of values in the template.
func (w *seriesWriter) format(name string) string {
	if code := w.s.child(name).first(w.prefix + "formatCode").text(w.src); code != "" {
		return code
	}
	return generalFormat
}

// reference writes a reference to a column of the workbook with the values that it has.
func (w *seriesWriter) reference(name string, number int) {
	col, p, kind := &w.sheet.columns[number], w.prefix, "str"
	if col.numeric {
		kind = "num"
	}
	fmt.Fprintf(&w.out, "<%s><%s%sRef><%sf>%s</%sf><%s%sCache>", name, p, kind, p, cells(number, 2, max(len(col.values), 1)+1), p, p, kind)
	if col.numeric {
		fmt.Fprintf(&w.out, "<%[1]sformatCode>%[2]s</%[1]sformatCode>", p, escape(col.format))
	}
	fmt.Fprintf(&w.out, `<%sptCount val="%d"/>`, p, len(col.values))
	for i, v := range col.values {
		if v != "" {
			fmt.Fprintf(&w.out, `<%[1]spt idx="%[2]d"><%[1]sv>%[3]s</%[1]sv></%[1]spt>`, p, i, escape(v))
		}
	}
	fmt.Fprintf(&w.out, "</%s%sCache></%s%sRef></%s>", p, kind, p, kind, name)
}

// upTo writes the source up to a position.
func (f *filler) upTo(pos int) {
	f.out.Write(f.src[f.at:pos])
	f.at = pos
}

// skipTo leaves out the source up to a place.
func (f *filler) skipTo(pos int) { f.at = pos }

// epoch is the day before the first that the numbers of dates count (ISO 29500-1 §18.17.4.1).
type epoch struct{ time.Time }

var (
	epoch1900 = epoch{time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC)}
	epoch1904 = epoch{time.Date(1904, time.January, 1, 0, 0, 0, 0, time.UTC)}
)

// numbers returns texts as numbers if all of them are numbers or dates. Otherwise it returns them unchanged, and ok is false.
func (e epoch) numbers(texts []string) (numbers []string, ok bool) {
	numbers = make([]string, len(texts))
	for i, s := range texts {
		if numbers[i], ok = e.number(s); !ok {
			return texts, false
		}
	}
	return numbers, true
}

func (e epoch) number(s string) (string, bool) {
	if _, err := strconv.ParseFloat(s, 64); err == nil || s == "" {
		return s, !strings.ContainsAny(s, "xXpPnN_") // nor hexadecimal, infinite or no number
	}
	day, err := time.Parse(time.DateOnly, s)
	return strconv.Itoa(int(day.Sub(e.Time) / (24 * time.Hour))), err == nil
}
