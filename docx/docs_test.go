package docx_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"platen/docx"
)

// The documentation shows templates before and after: a line is a paragraph, lines with bars are a table, "1. " and "- "
// begin items of lists, "# " a heading, and "────" is a page break. What stands under "included" is the file that the template includes, and
// what stands under "after" comes out for the data.
var shownTemplates = regexp.MustCompile("(?s)```before\n(.*?)```\n\n(?:```included\n(.*?)```\n\n)?```json\n(.*?)```\n\n```after\n(.*?)```")

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
				"document.xml":  drawn(s[1]),
				"styles.xml":    `<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style><w:style w:type="paragraph" w:styleId="T"><w:name w:val="toc 1"/></w:style>`,
				"numbering.xml": numberingOf("decimal", 1) + numberingOf("bullet", 2) + `<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>`,
			}
			file := build(t, parts)
			tpl, err := docx.ParseWith(bytes.NewReader(file), int64(len(file)), docx.ParseOptions{Include: func(string) ([]byte, error) {
				parts["document.xml"] = strings.TrimSuffix(drawn(s[2]), "<w:p/>")
				return build(t, parts), nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			output, report := execute(t, tpl, decode(t, s[3]))
			if len(report.Errors) > 0 {
				t.Errorf("errors %q", report.Errors)
			}
			if got := written(t, unpack(t, output)["word/document.xml"]); got != s[4] {
				t.Errorf("it gives\n%s\nand not\n%s", got, s[4])
			}
		})
	}
}

func numberingOf(format string, id int) string {
	return fmt.Sprintf(`<w:abstractNum w:abstractNumId="%d"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="%s"/><w:lvlText w:val="%%1."/></w:lvl></w:abstractNum>`, id, format)
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
		"# ": `<w:pStyle w:val="H"/>`, "1. ": `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>`, "- ": `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr>`,
	} {
		if rest, ok := strings.CutPrefix(line, start); ok {
			props, line = "<w:pPr>"+p+"</w:pPr>", rest
		}
	}
	var escaped strings.Builder
	if err := xml.EscapeText(&escaped, []byte(line)); err != nil {
		panic(err) // a Builder takes everything
	}
	return `<w:p>` + props + `<w:r><w:t xml:space="preserve">` + escaped.String() + `</w:t></w:r></w:p>`
}

// written draws a document with lines.
func written(t *testing.T, document string) string {
	t.Helper()
	type val struct {
		Val string `xml:"val,attr"`
	}
	type paragraph struct {
		Style val      `xml:"pPr>pStyle"`
		Num   val      `xml:"pPr>numPr>numId"`
		Text  []string `xml:"r>t"`
		Break []struct {
			Type string `xml:"type,attr"`
		} `xml:"r>br"`
	}
	type table struct {
		Rows []struct {
			Cells []struct {
				Merge *val      `xml:"tcPr>vMerge"`
				Span  val       `xml:"tcPr>gridSpan"`
				P     paragraph `xml:"p"`
			} `xml:"tc"`
		} `xml:"tr"`
	}
	var b strings.Builder
	numbers := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(document))
	for {
		tok, err := d.Token()
		if err != nil {
			break
		}
		start, ok := tok.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "p":
			var p paragraph
			if err := d.DecodeElement(&p, &start); err != nil {
				t.Fatal(err)
			}
			line := strings.Join(p.Text, "")
			switch {
			case len(p.Break) > 0 && line == "":
				line = "────"
			case p.Style.Val == "H":
				line = "# " + line
			case p.Num.Val == "2":
				line = "- " + line
			case p.Num.Val != "":
				numbers[p.Num.Val]++
				line = fmt.Sprintf("%d. %s", numbers[p.Num.Val], line)
			}
			b.WriteString(line + "\n")
		case start.Name.Local == "tbl":
			var tbl table
			if err := d.DecodeElement(&tbl, &start); err != nil {
				t.Fatal(err)
			}
			for _, row := range tbl.Rows {
				b.WriteString("|")
				for _, cell := range row.Cells {
					text := strings.Join(cell.P.Text, "")
					if cell.Merge != nil && cell.Merge.Val == "" {
						text = "↑"
					}
					if cell.Span.Val != "" {
						text += " ←→"
					}
					b.WriteString(" " + text + " |")
				}
				b.WriteString("\n")
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
