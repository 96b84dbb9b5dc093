package docx_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"platen/docx"
)

// The documentation shows templates before and after: a line is a paragraph, lines with bars are a table, "1. " and "- "
// begin items of lists, "# " a heading, and "────" is a page break. "included" has the file that the template
// includes, or the file with the name after it, and "after" the document for the data.
var (
	shownTemplates = regexp.MustCompile(
		"(?s)```before\n(.*?)```\n\n((?:```included[^\n]*\n.*?```\n\n)*)```json\n(.*?)```\n\n```after\n(.*?)```")
	shownFiles = regexp.MustCompile("(?s)```included ?([^\n]*)\n(.*?)```")
)

// shownFile returns the included file with a name, as it is drawn.
func shownFile(files, name string) (string, bool) {
	for _, f := range shownFiles.FindAllStringSubmatch(files, -1) {
		if f[1] == "" || f[1] == name {
			return f[2], true
		}
	}
	return "", false
}

func TestDocumentedTemplatesGiveWhatIsShown(t *testing.T) {
	page, err := os.ReadFile("../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := shownTemplates.FindAllStringSubmatch(string(page), -1)
	if len(shown) < 5 {
		t.Fatalf("the page shows %d templates", len(shown))
	}
	for _, s := range shown {
		t.Run(strings.SplitN(s[1], "\n", 2)[0], func(t *testing.T) {
			parts := map[string]string{
				"document.xml": drawn(s[1]),
				"styles.xml": `<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style><w:style ` +
					`w:type="paragraph" w:styleId="T"><w:name w:val="toc 1"/></w:style>`,
				"numbering.xml": numberingOf("decimal", 1) + numberingOf("bullet", 2) +
					`<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>`,
			}
			if strings.Contains(s[1], "[chart: ") {
				parts["chart1.xml"] = chartOfOne
			}
			file := withOldPicture(t, build(t, parts))
			tpl, err := docx.ParseWith(t.Context(), bytes.NewReader(file), int64(len(file)),
				docx.ParseOptions{Include: func(name string) ([]byte, error) {
					text, ok := shownFile(s[2], name)
					if !ok {
						return nil, errors.New("is not shown")
					}
					parts["document.xml"] = strings.TrimSuffix(drawn(text), "<w:p/>")
					return build(t, parts), nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			output, report := execute(t, tpl, decode(t, s[3]))
			if len(report.Errors) > 0 {
				t.Errorf("errors %q", report.Errors)
			}
			if got := written(t, unpack(t, output)); got != s[4] {
				t.Errorf("it gives\n%s\nand not\n%s", got, s[4])
			}
		})
	}
}

func numberingOf(format string, id int) string {
	return fmt.Sprintf(`<w:abstractNum w:abstractNumId="%d"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="%s"/><w:lvlText `+
		`w:val="%%1."/></w:lvl></w:abstractNum>`, id, format)
}

// drawn is the body of a document that is drawn with lines.
func drawn(text string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "|") {
			b.WriteString(drawnParagraph(lines[i]))
			continue
		}
		columns := len(cellsIn(lines[i]))
		b.WriteString(`<w:tbl><w:tblPr/><w:tblGrid>` + strings.Repeat(`<w:gridCol w:w="1000"/>`, columns) + `</w:tblGrid>`)
		for ; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
			b.WriteString("<w:tr>")
			for _, cell := range cellsIn(lines[i]) {
				b.WriteString("<w:tc>" + drawnParagraph(cell) + "</w:tc>")
			}
			b.WriteString("</w:tr>")
		}
		i--
		b.WriteString("</w:tbl>")
	}
	return b.String() + "<w:p/>"
}

func cellsIn(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func drawnParagraph(line string) string {
	props := ""
	for start, p := range map[string]string{
		"# ": `<w:pStyle w:val="H"/>`, "1. ": `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>`,
		"- ": `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr>`,
	} {
		if rest, ok := strings.CutPrefix(line, start); ok {
			props, line = "<w:pPr>"+p+"</w:pPr>", rest
		}
	}
	var escaped strings.Builder
	if err := xml.EscapeText(&escaped, []byte(line)); err != nil {
		panic(err) // a Builder takes everything
	}
	const open, end = `<w:r><w:t xml:space="preserve">`, `</w:t></w:r>`
	text := drawnObject.ReplaceAllStringFunc(escaped.String(), func(object string) string {
		m := drawnObject.FindStringSubmatch(object)
		return end + drawnRun(m[1], m[2]) + open
	})
	return `<w:p>` + props + open + text + end + `</w:p>`
}

// drawnObject is an object in brackets: "[image: {{logo}}]", a placeholder of 3 × 3 cm with that alternative text; "[chart: {{…}}]", a
// chart with it; "[check box: {{paid}}]", a content control of that name.
var drawnObject = regexp.MustCompile(`\[(image|chart|check box): (\{\{.*?\}\}|[^\]]*)\]`)

func drawnRun(kind, tag string) string {
	const head = `<w:r><w:drawing><wp:inline><wp:extent cx="1080000" cy="1080000"/><wp:docPr id="1" name="P" ` +
		`descr="%s"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">`
	switch kind {
	case "image":
		return fmt.Sprintf(head, tag) + `<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic ` +
			`xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture">` +
			`<pic:nvPicPr><pic:cNvPr id="1" name="P"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip ` +
			`r:embed="rIdP"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr/></pic:pic></a:graphicData></a:graphic></wp:inline>` +
			`</w:drawing></w:r>`
	case "chart":
		return fmt.Sprintf(head, tag) + `<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart ` +
			`xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" ` +
			`r:id="rId0"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
	}
	return `<w:sdt><w:sdtPr><w:tag w:val="` + tag +
		`"/><w14:checkbox><w14:checked w14:val="0"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>☐</w:t></w:r></w:sdtContent></w:sdt>`
}

// element is an element of a document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Elements []element  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all returns the elements of a name in e, but for those in others that are left out.
func (e *element) all(name string, without ...string) []*element {
	var found []*element
	for i := range e.Elements {
		c := &e.Elements[i]
		if c.XMLName.Local == name {
			found = append(found, c)
		} else if !slices.Contains(without, c.XMLName.Local) {
			found = append(found, c.all(name, without...)...)
		}
	}
	return found
}

// val returns the attribute val of the first element of a name in e; ok is false if there is none.
func (e *element) val(name string) (val string, ok bool) {
	if all := e.all(name, "p", "tbl"); len(all) > 0 {
		return all[0].attr("val"), true
	}
	return "", false
}

// written draws a document with lines.
func written(t *testing.T, parts map[string]string) string {
	t.Helper()
	var document element
	if err := xml.Unmarshal([]byte(parts["word/document.xml"]), &document); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	numbers := map[string]int{}
	for _, block := range document.all("body")[0].Elements {
		switch block.XMLName.Local {
		case "p":
			b.WriteString(writtenParagraph(t, &block, parts, numbers) + "\n")
		case "tbl":
			for _, row := range block.all("tr") {
				b.WriteString("|")
				for _, cell := range row.all("tc") {
					text := writtenText(t, cell.all("p")[0], parts)
					if merge, ok := cell.val("vMerge"); ok && merge == "" {
						text = "↑"
					}
					if span, ok := cell.val("gridSpan"); ok && span != "" {
						text += " ←→"
					}
					if shading := cell.all("shd", "p"); len(shading) > 0 {
						text += " (" + shading[0].attr("fill") + ")"
					}
					b.WriteString(" " + text + " |")
				}
				b.WriteString("\n")
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writtenParagraph(t *testing.T, p *element, parts map[string]string, numbers map[string]int) string {
	t.Helper()
	line := writtenText(t, p, parts)
	style, _ := p.val("pStyle")
	list, listed := p.val("numId")
	switch {
	case len(p.all("br")) > 0 && line == "":
		return "────"
	case style == "H":
		return "# " + line
	case listed && list == "2":
		return "- " + line
	case listed:
		numbers[list]++
		return fmt.Sprintf("%d. %s", numbers[list], line)
	}
	return line
}

func writtenText(t *testing.T, p *element, parts map[string]string) string {
	t.Helper()
	var b strings.Builder
	for _, r := range p.all("r") {
		for i := range r.Elements {
			switch e := &r.Elements[i]; e.XMLName.Local {
			case "t":
				text := e.Text
				if len(r.all("b")) > 0 {
					text = "**" + text + "**"
				}
				b.WriteString(text)
			case "drawing":
				b.WriteString(writtenDrawing(t, e, parts))
			}
		}
	}
	return b.String()
}

func writtenDrawing(t *testing.T, drawing *element, parts map[string]string) string {
	t.Helper()
	charts := drawing.all("chart")
	if len(charts) == 0 {
		const cm = 360_000
		size := drawing.all("extent")[0]
		return fmt.Sprintf("[image: %.3g × %.3g cm]", float64(idOf(t, size.attr("cx")))/cm, float64(idOf(t, size.attr("cy")))/cm)
	}
	var chart element
	name := "word/" + strings.TrimPrefix(target(t, parts["word/_rels/document.xml.rels"], charts[0].attr("id")), "word/")
	if err := xml.Unmarshal([]byte(parts[name]), &chart); err != nil {
		t.Fatal(err)
	}
	var series []string
	for _, ser := range chart.all("ser") {
		var values []string
		points := ser.all("val")[0].all("pt")
		for i, category := range ser.all("cat")[0].all("pt") {
			values = append(values, category.all("v")[0].Text+" "+points[i].all("v")[0].Text)
		}
		series = append(series, ser.all("tx")[0].all("v")[0].Text+" "+strings.Join(values, ", "))
	}
	return "[chart: " + strings.Join(series, "; ") + "]"
}

func idOf(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// chartOfOne is a chart with one series.
const chartOfOne = `<c:chart><c:plotArea><c:barChart><c:ser><c:idx val="0"/><c:order ` +
	`val="0"/><c:tx><c:strRef><c:f>Sheet1!$B$1</c:f><c:strCache><c:ptCount val="1"/><c:pt ` +
	`idx="0"><c:v>Gain</c:v></c:pt></c:strCache></c:strRef></c:tx>` +
	`<c:val><c:numRef><c:f>Sheet1!$B$2</c:f></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart>`
