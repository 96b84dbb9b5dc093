package program

import (
	"path"
	"slices"
	"strings"

	"platen/docx/chart"
	"platen/docx/lang"
	"platen/ooxml"
	"platen/ooxml/names"
)

// A chart of the template whose alt text is a tag with the filter chart takes its values from the data. If it is shown once, its part and
// its workbook get new content. If a loop may show it several times, each round adds a chart.

// Chart is the part of a chart that takes values from the data.
type Chart struct {
	Part     *ooxml.Part
	Rel      string // the type of the relationship to it
	rels     []ooxml.Relationship
	workbook *ooxml.Part // nil if it has none that can be replaced
	Blocks   []*lang.Tag // the tags of the loops and conditions around it
	Shown    int         // the number of its drawings
	Source   []byte
	Texts    *Part // of the tags in its texts; nil if there are none

	HasPlaces bool // see the function HasPlaces
}

// HasPlaces reports whether the first values of the data of the chart in the part src are the places of its points.
func HasPlaces(src []byte) bool { return chart.HasPlaces(src) }

// Read reads a chart and finds its workbook. p is the program of its part, or nil if the part has no tags.
func (b *Chart) Read(pkg *ooxml.Package, src []byte, p *Part) error {
	rels, err := pkg.Rels(b.Part.Name)
	if err != nil {
		return err
	}
	b.Source, b.rels, b.Texts = src, rels, p
	for _, r := range rels {
		if part := pkg.Part(r.Target); r.Type == names.RelPackage && !r.External && part != nil && part.ContentType == names.TypeWorkbook {
			b.workbook = part
		}
	}
	return nil
}

// SetBlocks records the tags of the blocks around the first drawing of the chart.
func (b *Chart) SetBlocks(blocks []*lang.Tag) {
	if b.Blocks == nil {
		b.Blocks = slices.Clone(blocks)
	}
}

// once reports whether the document shows the chart at most once.
func (b *Chart) once() bool {
	return b.Shown == 1 && !slices.ContainsFunc(b.Blocks, func(t *lang.Tag) bool { return t.Kind.IsLoop() })
}

// isChartPart reports whether a part is a chart that may get new content, or the workbook of one.
func (d *Document) isChartPart(part *ooxml.Part) bool {
	for _, b := range d.Charts {
		if b.once() && (part == b.Part || part == b.workbook) {
			return true
		}
	}
	return false
}

// ChartDrawing writes a drawing with a chart that has the data of a tag. A chart without data stays as it is, or is removed if it is
// optional.
type ChartDrawing struct {
	Tag   *lang.Tag
	Chart *Chart
	Body  []Step // the drawing
}

func (o *ChartDrawing) sketch(s *sketcher) { s.value(o.Body) }

func (o *ChartDrawing) run(x *execution) error {
	if x.toc.collecting { // headings do not show charts
		return nil
	}
	if _, _, _, err := x.env.Show(o.Tag); err != nil { // reports a missing value
		return err
	}
	data, ok, err := x.env.Chart(o.Tag)
	if err != nil || ok && data == nil {
		return err
	}
	outer := x.pictures.shown
	defer func() { x.pictures.shown = outer }()
	x.pictures.shown = nil
	if ok {
		if err := x.fillChart(o, data); err != nil {
			return err
		}
	}
	return x.run(o.Body)
}

const (
	// bytesPerNode is the number of bytes of parsed markup that count as a step.
	bytesPerNode = 2
	// pointSteps is the number of steps for a value of a chart, which is written into the chart and into the workbook.
	pointSteps = 20
)

// fillChart inserts data into a chart, and sets x.pictures.shown to the result. If the chart cannot be shown, it reports an error.
func (x *execution) fillChart(o *ChartDrawing, data *lang.Chart) error {
	src, err := x.chartText(o.Chart)
	if err != nil {
		return err
	}
	columns := 1 + len(data.Series) + len(data.Errors) + depth(data.Categories)
	if err := x.meter.Spend(len(src)/bytesPerNode + pointSteps*len(data.Categories)*columns); err != nil {
		return err
	}
	workbookID := o.Chart.workbookID()
	filled, err := chart.Fill(src, chartData(o.Tag, data), workbookID)
	if err != nil {
		x.fault(o.Tag, "The chart of '%s' cannot be shown: it %s.", err)
		return nil
	}
	if filled.Doubt != "" {
		x.warn(o.Tag, "The chart of '"+o.Tag.Expr.String()+"' "+filled.Doubt+".")
	}
	if o.Chart.once() && o.Chart.workbook != nil {
		if err := x.meter.Hold(len(filled.Part) + len(filled.Workbook)); err != nil {
			return err
		}
		x.added.Replace(o.Chart.Part.Name, filled.Part)
		x.added.Replace(o.Chart.workbook.Name, filled.Workbook)
		x.pictures.shown = &shownPicture{}
		return nil
	}
	id, err := x.addChart(o.Chart, filled, workbookID)
	x.pictures.shown = &shownPicture{id: id}
	return err
}

// chartText returns the part of a chart with the values of its tags.
func (x *execution) chartText(b *Chart) ([]byte, error) {
	if b.Texts == nil {
		return b.Source, nil
	}
	return x.aside(b.Part.Name, b.Texts.Steps)
}

// chartData returns the values of a chart as text.
func chartData(tag *lang.Tag, c *lang.Chart) *chart.Data {
	d := &chart.Data{Categories: texts(c.Categories), Levels: levels(c.Categories), Series: series(tag.Filter("chart").Args[1:], c.Series)}
	if bars := tag.Filter("errorbars"); bars != nil {
		d.Errors = series(bars.Args, c.Errors)
	}
	return d
}

// levels returns the names of points and their groups if some categories are lists, outermost first. A shorter list lacks inner names.
func levels(categories []lang.Value) [][]string {
	all := make([][]string, depth(categories))
	for i := range all {
		all[i] = make([]string, len(categories))
		for j, c := range categories {
			list, ok := c.([]any)
			if !ok {
				list = []any{c}
			}
			if i < len(list) {
				all[i][j], _ = lang.Text(list[i])
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// depth returns the length of the longest category that is a list, up to one more than a chart can show; 0 if none is.
func depth(categories []lang.Value) (longest int) {
	for _, c := range categories {
		if list, ok := c.([]any); ok {
			longest = max(longest, min(len(list), chart.MaxLevels+1))
		}
	}
	return longest
}

// series returns series that are named after their expressions.
func series(of []lang.Node, values [][]lang.Value) []chart.Series {
	all := make([]chart.Series, len(values))
	for i := range all {
		all[i] = chart.Series{Name: of[i].String(), Values: texts(values[i])}
	}
	return all
}

// texts returns values as text, "" for lists and objects.
func texts(values []lang.Value) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i], _ = lang.Text(v)
	}
	return all
}

// workbookID returns the id of the relationship to the workbook.
func (b *Chart) workbookID() string {
	for _, r := range b.rels {
		if b.workbook != nil && r.Type == names.RelPackage && r.Target == b.workbook.Name {
			return r.ID
		}
	}
	id := "rIdWorkbook"
	for slices.ContainsFunc(b.rels, func(r ooxml.Relationship) bool { return r.ID == id }) {
		id += "1"
	}
	return id
}

// addChart adds a filled chart as a new part, with copies of the relationships of the template's chart. The gallery of styles is left out,
// because it belongs to one chart.
func (x *execution) addChart(b *Chart, filled *chart.Filled, workbookID string) (id string, err error) {
	name, err := x.added.Add("/word/charts/chart", "xml", b.Part.ContentType, filled.Part)
	if err != nil {
		return "", err
	}
	book, err := x.added.Add("/word/embeddings/workbook", "xlsx", names.TypeWorkbook, filled.Workbook)
	if err != nil {
		return "", err
	}
	rels := []ooxml.Relationship{{ID: workbookID, Type: names.RelPackage, Target: book}}
	for _, r := range b.rels {
		part := x.d.Package.Part(r.Target)
		switch {
		case r.ID == workbookID || r.Type == names.RelChartStyle || r.Type == names.RelChartColors || part == nil && !r.External:
			continue
		case r.Type == names.RelChartDrawing && part != nil:
			if r.Target, err = x.copyPart(part); err != nil {
				return "", err
			}
		}
		rels = append(rels, r)
	}
	x.added.RelateAll(name, rels)
	return x.added.Relate(x.part, b.Rel, name, false)
}

// copyPart adds a copy of a part of the template, and returns its name.
func (x *execution) copyPart(part *ooxml.Part) (string, error) {
	src, err := x.d.Package.Read(part)
	if err != nil {
		return "", err
	}
	rels, err := x.d.Package.Rels(part.Name)
	if err != nil {
		return "", err
	}
	ext := path.Ext(part.Name)
	name, err := x.added.Add(strings.TrimSuffix(part.Name, ext), strings.TrimPrefix(ext, "."), part.ContentType, src)
	if err == nil {
		x.added.RelateAll(name, rels)
	}
	return name, err
}
