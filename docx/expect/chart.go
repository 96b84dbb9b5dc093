package expect

import (
	"slices"
	"strings"

	"platen/docx/wml"
	"platen/ooxml"
	"platen/ooxml/scan"
)

// eachText calls read for each element without children, with its text. The reader is at the end of the element.
func eachText(r *scan.Reader, read func(text string)) {
	opened := false
	for r.Next() {
		if r.Kind == scan.Close && opened {
			read(string(r.Text()))
		}
		opened = r.Kind == scan.Open
	}
}

// diagram writes the texts of a diagram (SmartArt).
func (o *outliner) diagram(l Line, p *ooxml.Part) {
	l.Kind = Diagram
	o.texts(l, p)
}

// texts writes an element, and the texts in its part.
func (o *outliner) texts(l Line, p *ooxml.Part) {
	src, err := o.pkg.ReadXML(p)
	if err != nil {
		o.fail(err)
		return
	}
	o.add(l)
	l.Kind, l.Format, l.Depth = Paragraph, nil, l.Depth+1
	r := scan.New(src)
	eachText(r, func(text string) {
		if l.Text = text; r.Name() == "a:t" && o.err == nil {
			o.add(l)
		}
	})
}

// chartText is the content of a chart.
type chartText struct {
	kinds  []string // such as "barChart"
	titles []string
	series []series
}

// series is a series of a chart, with points by their index.
type series struct {
	name               string
	order              []string
	categories, values map[string]string
}

// String returns the series as text: its name, and each category with its value.
func (s *series) String() string {
	var points []string
	for _, index := range s.order {
		points = append(points, strings.TrimSpace(s.categories[index]+" "+s.values[index]))
	}
	return s.name + ": " + strings.Join(points, "; ")
}

// chart writes a chart with its titles and its data.
func (o *outliner) chart(l Line, p *ooxml.Part) {
	src, err := o.pkg.ReadXML(p)
	if err != nil {
		o.fail(err)
		return
	}
	c := readChart(src)
	l.Kind, l.Format = Chart, slices.Concat(l.Format, c.kinds)
	o.add(l)
	l.Depth, l.Format, l.Kind = l.Depth+1, nil, Paragraph
	for _, l.Text = range c.titles {
		o.add(l)
	}
	l.Kind = Series
	for i := range c.series {
		l.Text = c.series[i].String()
		o.add(l)
	}
}

// roles are the elements of a series with points, and what the points are.
var roles = map[string]string{
	"c:tx": "name", "c:cat": "category", "c:xVal": "category", "c:val": "value", "c:yVal": "value", "c:bubbleSize": "value",
	"cx:strDim": "category", "cx:numDim": "value",
}

// seriesElements are the elements that begin a series, or the data of one.
var seriesElements = wml.SetOf("c:ser cx:data")

func readChart(src []byte) *chartText {
	c := &chartText{}
	var own *series // that is being read
	role, index := "", ""
	opened := false
	for r := scan.New(src); r.Next(); opened = r.Kind == scan.Open {
		if r.Kind == scan.Close {
			if opened {
				c.text(own, r.Name(), role, index, string(r.Text()))
			}
			continue
		}
		switch name := r.Name(); {
		case seriesElements[name]:
			c.series = append(c.series, series{categories: map[string]string{}, values: map[string]string{}})
			own, role = &c.series[len(c.series)-1], ""
		case roles[name] != "":
			role = roles[name]
		case name == "c:dLbls" || name == "c:errBars" || name == "c:trendline":
			role = ""
		case name == "c:pt" || name == "cx:pt":
			index = r.Attr("idx")
		case name == "cx:series":
			own = nil
			c.kinds = append(c.kinds, r.Attr("layoutId"))
		case strings.HasPrefix(name, "c:") && strings.HasSuffix(name, "Chart"):
			c.kinds = append(c.kinds, strings.TrimPrefix(name, "c:"))
		case name == "c:catAx" || name == "c:valAx" || name == "c:legend":
			own = nil
		}
	}
	return c
}

// text takes the text of an element.
func (c *chartText) text(own *series, element, role, index, text string) {
	switch {
	case element == "a:t", element == "cx:v" && own == nil:
		c.titles = append(c.titles, text)
	case own == nil || element != "c:v" && element != "cx:pt":
	case role == "name":
		own.name += text
	case role == "category":
		own.point(own.categories, index, text)
	case role == "value":
		own.point(own.values, index, text)
	}
}

// point adds the text of a point. Those of several levels, or of a value and a size, follow one another.
func (s *series) point(to map[string]string, index, text string) {
	if s.categories[index] == "" && s.values[index] == "" {
		s.order = append(s.order, index)
	}
	if to[index] != "" {
		text = to[index] + " " + text
	}
	to[index] = text
}
