// Package chart replaces the data of charts in Word documents: in the part of a chart (DrawingML, ISO 29500-1 §21.2) with the
// values that consumers show, and the workbook that Word opens to edit them.
package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"

	"platen/ooxml/names"
	"platen/ooxml/scan"
)

const (
	// MaxPoints is the maximum number of points in a series, as in Excel.
	MaxPoints = 32_000
	// MaxSeries is the maximum number of series in a chart, as in Excel.
	MaxSeries = 255
	// MaxValues is the maximum number of values in all series of a chart together.
	MaxValues = 250_000
	// MaxLevels is the maximum number of levels of a treemap's names.
	MaxLevels = 8
	// maxBytes is the largest size in bytes of a chart's part.
	maxBytes = 64 << 20
)

// Data is the data of a chart.
type Data struct {
	Categories []string   // the names of the points; of scatter and bubble charts their places from left to right
	Levels     [][]string // of treemaps, the names of the points and of their groups, outermost first; nil if there are no groups
	Series     []Series   // of bubble charts, each series is followed by the sizes of its bubbles
	Errors     []Series   // the lengths of error bars: for each series one, or one upward and one downward; nil for none
}

// Series is a row of values, one for each category.
type Series struct {
	Name   string   // of a new series; existing ones keep their names
	Values []string // decimal numbers; "" for missing ones
}

// check returns an error for data that cannot be shown.
func (d *Data) check() error {
	switch {
	case len(d.Series) == 0:
		return errors.New("has no data series")
	case len(d.Series) > MaxSeries:
		return fmt.Errorf("has %d series; the limit for a chart is %d", len(d.Series), MaxSeries)
	case len(d.Categories) > MaxPoints:
		return fmt.Errorf("has %d points; the limit for a series is %d", len(d.Categories), MaxPoints)
	case len(d.Levels) > MaxLevels:
		return fmt.Errorf("has categories of more than %d levels", MaxLevels)
	case (len(d.Series)+len(d.Errors))*len(d.Categories) > MaxValues:
		return fmt.Errorf("has %d values; the limit for a chart is %d", (len(d.Series)+len(d.Errors))*len(d.Categories), MaxValues)
	}
	return nil
}

// Filled is a chart with data.
type Filled struct {
	Part     []byte // of the chart
	Workbook []byte // of the type names.TypeWorkbook, which the part's references name the cells of
	Doubt    string // what is probably wrong; it completes a sentence that begins with "the chart". "" if nothing is
}

// Fill returns the chart in the part src with other data. Its series get the data in order, and keep their names, their formatting, and the
// formatting of remaining points. Missing series are added with the formatting of the last one and the next colors of the theme; in a chart
// without series, with the automatic formatting of its type. Superfluous ones are removed. The part refers to its workbook by the
// relationship workbookID.
//
// The error completes a sentence that begins with "the chart". The same data results in the same bytes.
func Fill(src []byte, d *Data, workbookID string) (*Filled, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	root, err := parse(src)
	if err != nil {
		return nil, err
	}
	f := newFiller(src, root, d)
	if isExtended(src, root) {
		err = f.fillExtended(root, workbookID)
	} else {
		err = f.fill(root, workbookID)
	}
	if err != nil {
		return nil, err
	}
	if f.out.Len() > maxBytes {
		return nil, fmt.Errorf("would be larger than %d bytes", maxBytes)
	}
	book, err := f.sheet.workbook()
	if err != nil {
		return nil, err
	}
	return &Filled{f.out.Bytes(), book, f.doubt}, nil
}

// isExtended reports whether a chart is of a kind that Word 2016 added.
func isExtended(src []byte, root *element) bool {
	return bytes.Contains(src[root.start:root.open], []byte(names.Namespace("cx", false)))
}

// filler writes the data into a chart.
type filler struct {
	src    []byte
	at     int    // how far it was written
	prefix string // of the elements of charts, with its colon
	strict bool   // the chart is of the strict form of ISO 29500-1
	epoch  epoch  // of its dates
	data   *Data
	series []dataSeries
	hollow []*element // series without content, if the chart has no others
	sheet  sheet      // of the workbook
	doubt  string     // see [Filled]
	out    bytes.Buffer
}

// fill writes the data into a chart of ISO 29500.
func (f *filler) fill(root *element, workbookID string) error {
	if f.data.Levels != nil {
		return errors.New("has lists as categories; only treemaps and sunbursts have such levels")
	}
	series, hollow := root.all(f.prefix+"ser"), func(s *element) bool { return s.close == s.end }
	if !slices.ContainsFunc(series, func(s *element) bool { return !hollow(s) }) {
		f.hollow, series = series, nil
	}
	series = slices.DeleteFunc(series, hollow)
	group := f.group(root)
	if len(series) == 0 && group == nil {
		return errors.New("has no series and no chart type in the template; insert the chart again")
	}
	if err := f.arrange(group); err != nil {
		return err
	}
	f.chart(root, group, series, workbookID)
	return nil
}

func newFiller(src []byte, root *element, d *Data) *filler {
	f := &filler{src: src, data: d}
	if prefix, _, found := strings.Cut(root.name, ":"); found {
		f.prefix = prefix + ":"
	}
	f.strict = bytes.Contains(src[root.start:root.open], []byte(names.Namespace("c", true)))
	f.epoch = epoch1900
	if e := root.child(f.prefix + "date1904"); e != nil && scan.IsOn(e.attr(src, "val")) {
		f.epoch, f.sheet.from1904 = epoch1904, true
	}
	return f
}

// chart writes the part.
func (f *filler) chart(root, group *element, series []*element, workbookID string) {
	if len(series) == 0 {
		f.upTo(f.firstSeries(group))
		for i := range f.series {
			f.newSeries(group, i)
		}
		for _, s := range f.hollow {
			f.upTo(s.start)
			f.skipTo(s.end)
		}
	}
	for i, s := range series {
		f.upTo(s.start)
		if i < len(f.series) {
			f.writeSeries(s, i, false)
		}
		for more := len(series); i == len(series)-1 && more < len(f.series); more++ {
			f.writeSeries(s, more, true)
		}
		f.skipTo(s.end)
	}
	f.leadToWorkbook(root, workbookID)
	f.upTo(len(f.src))
}

// afterWorkbook are the children of c:chartSpace that follow c:externalData.
var afterWorkbook = []string{"printSettings", "userShapes", "extLst"}

// leadToWorkbook writes the reference to the workbook, which replaces an existing one.
func (f *filler) leadToWorkbook(root *element, id string) {
	at, end := root.close, root.close
	for _, c := range slices.Backward(root.children) {
		switch name := strings.TrimPrefix(c.name, f.prefix); {
		case name == "externalData":
			at, end = c.start, c.end
		case slices.Contains(afterWorkbook, name):
			at, end = c.start, c.start
			continue
		}
		break
	}
	f.upTo(at)
	fmt.Fprintf(&f.out, `<%[1]sexternalData xmlns:r="%[2]s" r:id="%[3]s"><%[1]sautoUpdate val="0"/></%[1]sexternalData>`, f.prefix,
		f.relNamespace(), escape(id))
	f.skipTo(end)
}

// relNamespace returns the namespace of attributes that refer to a relationship.
func (f *filler) relNamespace() string { return names.Namespace("r", f.strict) }

// escape returns text escaped for an element or an attribute, without characters that XML does not allow.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a Builder takes everything
	}
	return strings.ReplaceAll(b.String(), "\uFFFD", "")
}
