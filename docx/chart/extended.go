package chart

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The charts of Word 2016 ([MS-ODRAWXML] §2.24.3) have one series. Their data is in front of it: a dimension with the names of the points,
// which may have levels, and one with the numbers.

// extendedLayouts are the types of such charts that take data, with the type of their numbers.
var extendedLayouts = map[string]string{"funnel": "val", "waterfall": "val", "treemap": "size", "sunburst": "size"}

// extended is a chart of Word 2016 and the elements that data changes.
type extended struct {
	*filler
	series *element
	layout string
	count  int // the number of points in the template
	levels [][]string
}

// fillExtended is Fill for a chart of Word 2016.
func (f *filler) fillExtended(root *element, workbookID string) error {
	x := &extended{filler: f, series: root.first(f.prefix + "series")}
	data := root.child(f.prefix + "chartData")
	if data == nil || x.series == nil || x.series.start < data.end {
		return errors.New("has no series in the template; insert the chart again")
	}
	x.layout = x.series.attr(f.src, "layoutId")
	x.levels = f.data.levels()
	switch isTree := extendedLayouts[x.layout] == "size"; {
	case extendedLayouts[x.layout] == "":
		return fmt.Errorf("is of the type %q, which cannot take data", x.layout)
	case len(f.data.Series) > 1:
		return fmt.Errorf("has %d series; this type of chart has one", len(f.data.Series))
	case len(f.data.Errors) > 0:
		return errors.New("is of a type without error bars")
	case len(x.levels) > 1 && !isTree:
		return errors.New("has lists as categories; only treemaps and sunbursts have such levels")
	}
	f.sheet.columns = make([]column, len(x.levels)+1)
	numbers := data.first(f.prefix + "numDim").first(f.prefix + "lvl")
	x.count = f.number(numbers, "ptCount")
	f.upTo(data.start)
	x.writeData(numbers, workbookID)
	f.skipTo(data.end)
	x.writeSeries()
	for _, other := range root.all(f.prefix + "series")[1:] { // their data is gone
		f.upTo(other.start)
		f.skipTo(other.end)
	}
	f.upTo(len(f.src))
	return nil
}

// levels returns the names of the points by level, outermost first.
func (d *Data) levels() [][]string {
	if d.Levels == nil {
		return [][]string{d.Categories}
	}
	return d.Levels
}

// number returns an attribute that is a number; 0 if it is missing or e is nil.
func (f *filler) number(e *element, name string) int {
	if e == nil {
		return 0
	}
	n, err := strconv.Atoi(e.attr(f.src, name))
	if err != nil {
		return 0
	}
	return n
}

// writeData writes the element with the data.
func (x *extended) writeData(numbers *element, workbookID string) {
	p, last := x.prefix, len(x.levels)
	id := x.number(x.series.child(p+"dataId"), "val")
	fmt.Fprintf(&x.out, `<%[1]schartData><%[1]sexternalData xmlns:r="%[2]s" r:id="%[3]s" %[1]sautoUpdate="0"/>`, p, x.relNamespace(),
		escape(workbookID))
	fmt.Fprintf(&x.out, `<%[1]sdata id="%[2]d"><%[1]sstrDim type="cat"><%[1]sf>%[3]s</%[1]sf>`, p, id, x.block(0, last-1))
	for i, names := range slices.Backward(x.levels) { // inner before outer
		x.sheet.columns[i].set(names, generalFormat, false)
		x.level(names, "")
	}
	format := generalFormat
	if numbers != nil && numbers.attr(x.src, "formatCode") != "" {
		format = numbers.attr(x.src, "formatCode")
	}
	values := x.data.Series[0].Values
	x.sheet.columns[last].set(values, format, true)
	fmt.Fprintf(&x.out, `</%[1]sstrDim><%[1]snumDim type="%[2]s"><%[1]sf>%[3]s</%[1]sf>`, p, extendedLayouts[x.layout], x.block(last, last))
	x.level(values, format)
	fmt.Fprintf(&x.out, `</%[1]snumDim></%[1]sdata></%[1]schartData>`, p)
}

// block names the cells of all points in some columns of the sheet.
func (x *extended) block(from, to int) string {
	rows := max(len(x.data.Categories), 1) + 1
	if from == to {
		return cells(from, 2, rows)
	}
	return fmt.Sprintf("%s!$%s$2:$%s$%d", sheetName, columnName(from), columnName(to), rows)
}

// level writes the values of a dimension. Missing ones are left out.
func (x *extended) level(values []string, format string) {
	fmt.Fprintf(&x.out, `<%slvl ptCount="%d"`, x.prefix, len(values))
	if format != "" {
		fmt.Fprintf(&x.out, ` formatCode="%s"`, escape(format))
	}
	x.out.WriteString(">")
	for i, v := range values {
		if v != "" {
			fmt.Fprintf(&x.out, `<%[1]spt idx="%[2]d">%[3]s</%[1]spt>`, x.prefix, i, escape(v))
		}
	}
	fmt.Fprintf(&x.out, "</%slvl>", x.prefix)
}

// writeSeries writes the series with its name, and without the formatting of points that the data does not have.
func (x *extended) writeSeries() {
	name := x.data.Series[0].Name
	title := x.series.child(x.prefix+"tx", x.prefix+"txData")
	if own := title.child(x.prefix + "v").text(x.src); own != "" {
		name = own
	}
	column := len(x.levels)
	x.sheet.columns[column].name = name
	if title != nil {
		x.upTo(title.start)
		fmt.Fprintf(&x.out, `<%[1]stxData><%[1]sf>%[2]s</%[1]sf><%[1]sv>%[3]s</%[1]sv></%[1]stxData>`, x.prefix, cells(column, 1, 1),
			escape(name))
		x.skipTo(title.end)
	}
	x.points(x.series)
	x.upTo(x.series.end)
}

// points leaves out the elements about single points that the data does not have. The total at the end of a waterfall stays at the end.
func (x *extended) points(e *element) {
	for _, c := range e.children {
		name := strings.TrimPrefix(c.name, x.prefix)
		if c.start < x.at || c.close == c.end && name == "subtotals" {
			continue
		}
		if name == "subtotals" {
			x.totals(c)
			continue
		}
		if (name == "dataPt" || name == "dataLabel" || name == "dataLabelHidden") && x.number(c, "idx") >= len(x.data.Categories) {
			x.upTo(c.start)
			x.skipTo(c.end)
			continue
		}
		x.points(c)
	}
}

// totals writes the numbers of the points of a waterfall that are totals.
func (x *extended) totals(e *element) {
	x.upTo(e.open)
	for _, c := range e.children {
		n := x.number(c, "val")
		if n == x.count-1 {
			n = len(x.data.Categories) - 1
		}
		if n >= 0 && n < len(x.data.Categories) {
			fmt.Fprintf(&x.out, `<%sidx val="%d"/>`, x.prefix, n)
		}
	}
	x.skipTo(e.close)
}
