package chart

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// dataSeries is a series of the chart with everything that belongs to it, and its column in the sheet. Its sizes and the lengths of its
// error bars are in the columns after its values.
type dataSeries struct {
	Series
	sizes       *Series // of bubbles; nil for none
	plus, minus *Series // of error bars, which may be the same; nil for none
	column      int
}

// withoutErrorBars are the types of charts whose series have no error bars (ISO 29500-1 Annex A, CT_PieSer, CT_RadarSer, CT_SurfaceSer).
var withoutErrorBars = []string{"pieChart", "pie3DChart", "ofPieChart", "doughnutChart", "radarChart", "surfaceChart", "surface3DChart"}

// group returns the first group of series in the chart, such as its c:barChart, or nil.
func (f *filler) group(root *element) *element {
	area := root.first(f.prefix + "plotArea")
	if area == nil {
		return nil
	}
	i := slices.IndexFunc(area.children, func(e *element) bool {
		return strings.HasPrefix(e.name, f.prefix) && strings.HasSuffix(e.name, "Chart") && e.close < e.end
	})
	if i < 0 {
		return nil
	}
	return area.children[i]
}

// groupType returns the type of a group, such as "barChart"; of nil, "".
func (f *filler) groupType(group *element) string {
	if group == nil {
		return ""
	}
	return strings.TrimPrefix(group.name, f.prefix)
}

// arrange distributes the data among the series and the columns of the sheet.
func (f *filler) arrange(group *element) error {
	kind, each := f.groupType(group), 1
	if kind == "bubbleChart" {
		if each = 2; len(f.data.Series)%each != 0 {
			return errors.New("is a bubble chart, which needs a size for each value: write chart(x, y, size), with y and size for each series")
		}
	}
	if hasPlaces(kind) {
		f.doubt = f.withoutPlace()
	}
	count, lengths := len(f.data.Series)/each, len(f.data.Errors)
	switch {
	case lengths == 0:
	case slices.Contains(withoutErrorBars, kind):
		return errors.New("is of a type without error bars")
	case lengths != count && lengths != 2*count:
		return fmt.Errorf("has %d series and %d lengths of error bars; it needs one for each series, or two: upward and downward", count, lengths)
	}
	next := 1
	for i := range count {
		s := dataSeries{Series: f.data.Series[i*each], column: next}
		if next++; each > 1 {
			s.sizes = &f.data.Series[i*each+1]
			next++
		}
		if per := lengths / count; per > 0 {
			s.plus, s.minus = &f.data.Errors[i*per], &f.data.Errors[i*per+per-1]
			next += per
		}
		f.series = append(f.series, s)
	}
	f.sheet.columns = make([]column, next)
	return nil
}

// hasPlaces reports whether the categories of a type of chart are the places of its points from left to right.
func hasPlaces(kind string) bool { return kind == "scatterChart" || kind == "bubbleChart" }

// HasPlaces reports whether the categories of the chart in the part src are the places of its points. They should be numbers or dates.
func HasPlaces(src []byte) bool {
	root, err := parse(src)
	if err != nil {
		return false
	}
	f := newFiller(src, root, nil)
	return hasPlaces(f.groupType(f.group(root)))
}

// withoutPlace says which point of a chart has neither a number nor a date as its place. Word numbers all points then. It returns "" if
// there is none.
func (f *filler) withoutPlace() string {
	for i, s := range f.data.Categories {
		if _, ok := f.epoch.number(s); !ok {
			return fmt.Sprintf("is a scatter or bubble chart, but the first value of point %d is %q, which is neither a number nor a date, "+
				"so that all its points are numbered from left to right", i+1, s)
		}
	}
	return ""
}

// beforeSeries are the children of a group that precede its series (CT_BarChart, CT_LineChart, and others).
var beforeSeries = []string{"barDir", "grouping", "varyColors", "scatterStyle", "radarStyle", "ofPieType", "wireframe"}

// firstSeries returns the position of the first series in a group that has none.
func (f *filler) firstSeries(group *element) int {
	at := group.open
	for _, c := range group.children {
		if slices.Contains(beforeSeries, strings.TrimPrefix(c.name, f.prefix)) {
			at = c.end
		}
	}
	return at
}

// newSeries writes a series of a group that has none. Without formatting of its own, it gets the next accent color of the theme.
func (f *filler) newSeries(group *element, number int) {
	kind := f.groupType(group)
	w := &seriesWriter{filler: f, s: &element{}, number: number, points: hasPlaces(kind)}
	fmt.Fprintf(&f.out, `<%[1]sser><%[1]sidx val="%[2]d"/><%[1]sorder val="%[2]d"/>`, f.prefix, number)
	w.nameOnce()
	w.valuesOnce()
	fmt.Fprintf(&f.out, `</%sser>`, f.prefix)
}
