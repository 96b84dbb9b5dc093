package docx_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"platen/docx"
	"platen/docx/compile/compiletest"
	"platen/docx/lang"
)

// chartInput returns the parts of a golden template with charts.
func chartInput(t *testing.T, name string) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	parts, _ := compiletest.Input(archive)
	return parts
}

// chartGolden returns a golden template with charts, and what its data gives.
func chartGolden(t *testing.T, name string) (file []byte, parts map[string]string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	input, data := compiletest.Input(archive)
	tpl, err := parse(build(t, input))
	if err != nil {
		t.Fatal(err)
	}
	file, _ = execute(t, tpl, decode(t, data))
	return file, unpack(t, file)
}

// The values are in the part of the chart, and in the workbook that Word opens to edit them.
func TestChartHasItsWorkbook(t *testing.T) {
	_, parts := chartGolden(t, "chart")
	sheet := unpack(t, []byte(parts["word/chart1.xml.xlsx"]))["xl/worksheets/sheet1.xml"]
	for _, want := range []string{
		`<c r="B1" t="inlineStr"><is><t xml:space="preserve">Gain 2026</t></is></c>`,
		`<c r="D1" t="inlineStr"><is><t xml:space="preserve">cost</t></is></c>`,
		`<c r="A3" t="inlineStr"><is><t xml:space="preserve">Feb &amp; Mar</t></is></c><c r="B3" s="1"><v>-2</v></c><c r="C3" ` +
			`s="1"><v>-4</v></c></row>`,
	} {
		if !strings.Contains(sheet, want) {
			t.Errorf("the sheet has no %s:\n%s", want, sheet)
		}
	}
	for name := range parts {
		if strings.HasPrefix(name, "word/charts/") || strings.HasPrefix(name, "word/embeddings/") {
			t.Errorf("a chart that is shown once left %s beside it", name)
		}
	}
}

// Each round of a loop has a separate part, workbook, and relationships.
func TestChartInLoop(t *testing.T) {
	_, parts := chartGolden(t, "chart-in-loop")
	ids := regexp.MustCompile(`<c:chart [^>]*r:id="(\w+)"`).FindAllStringSubmatch(parts["word/document.xml"], -1)
	if len(ids) != 2 {
		t.Fatalf("%d charts in %s", len(ids), parts["word/document.xml"])
	}
	for i, want := range [][2]string{{"North", "Jan"}, {"South", "Feb"}} {
		chart := target(t, parts["word/_rels/document.xml.rels"], ids[i][1])
		for _, text := range want {
			if !strings.Contains(parts[chart], ">"+text+"<") {
				t.Errorf("%s has no %s:\n%s", chart, text, parts[chart])
			}
		}
		rels := parts["word/charts/_rels/"+filepath.Base(chart)+".rels"]
		book := target(t, rels, "rIdBook")
		if sheet := unpack(t, []byte(parts[book]))["xl/worksheets/sheet1.xml"]; !strings.Contains(sheet, ">"+want[1]+"<") {
			t.Errorf("the workbook of %s says %s", chart, sheet)
		}
	}
}

// target returns the name of the part that a relationship leads to.
func target(t *testing.T, rels, id string) string {
	t.Helper()
	found := regexp.MustCompile(`Id="` + id + `"[^>]*Target="/?([^"]+)"`).FindStringSubmatch(rels)
	if found == nil {
		t.Fatalf("no relationship %s in %s", id, rels)
	}
	return found[1]
}

// Another team's validator finds nothing in the workbooks.
func TestChartWorkbooksHold(t *testing.T) {
	program := schemaValidator(t)
	for _, name := range []string{"chart", "chart-none", "chart-empty", "chart-bubbles", "chart-error-bars", "chart-funnel"} {
		_, parts := chartGolden(t, name)
		if problems := schemaProblems(t, program, filepath.Join(t.TempDir(), "book.xlsx"),
			[]byte(cmp.Or(parts["word/chart1.xml.xlsx"], parts["word/chartEx1.xml.xlsx"]))); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// The charts of another project's document, of every common kind, take data in place and in a loop.
func TestChartsOfWord(t *testing.T) {
	src, err := os.ReadFile("../../shared/corpus/poi-tl/reference_chart.docx")
	if err != nil {
		t.Skip("the documents of other projects are not here")
	}
	parts := unpack(t, src)
	alt := regexp.MustCompile(`(<wp:docPr [^>]*)(title|descr)="[^"]*"`)
	doc := alt.ReplaceAllString(parts["word/document.xml"], `${1}descr="{{r.sales :: chart(month, gain, cost)}}"`)
	head, tail, _ := strings.Cut(doc, "<w:body>")
	end := strings.LastIndex(tail, "<w:sectPr")
	parts["word/document.xml"] = head + "<w:body><w:p><w:r><w:t>{{for r in regions}}</w:t></w:r></w:p>" + tail[:end] +
		"<w:p><w:r><w:t>{{endfor}}</w:t></w:r></w:p>" + tail[end:]
	tpl, err := parse(compiletest.Pack(t, parts))
	if err != nil {
		t.Fatal(err)
	}
	file, report := execute(t, tpl, decode(t,
		`{"regions":[{"sales":[{"month":"Jan","gain":3,"cost":2}]},{"sales":[{"month":"Apr","gain":7,"cost":1},{"month":"May","gain":8,`+
			`"cost":0}]}]}`))
	if len(report.Errors) > 0 {
		t.Error(report.Errors)
	}
	out := unpack(t, file)
	count := 0
	for name, part := range out {
		if strings.HasPrefix(name, "word/charts/chart") && parts[name] == "" {
			count++
			if !strings.Contains(part, ">Jan<") && !strings.Contains(part, ">May<") && !strings.Contains(part, "scatterChart") {
				t.Errorf("%s has no data:\n%s", name, part)
			}
		}
	}
	if count != 22 {
		t.Errorf("%d charts were made of 11 in two rounds", count)
	}
}

// A chart does not cost a document its determinism, nor many executions at once theirs.
func TestChartIsReproducible(t *testing.T) {
	first, _ := chartGolden(t, "chart-in-loop")
	if second, _ := chartGolden(t, "chart-in-loop"); !slices.Equal(first, second) {
		t.Error("the same template and data gave two documents")
	}
}

func TestChartTooLarge(t *testing.T) {
	tpl, err := parse(build(t, chartInput(t, "chart")))
	if err != nil {
		t.Fatal(err)
	}
	data, err := lang.Decode([]byte(`{"year":1,"sales":[` +
		strings.TrimSuffix(strings.Repeat(`{"month":"x","gain":1,"cost":1},`, 32_001), ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	report, err := tpl.Execute(t.Context(), new(strings.Builder), data, docx.Options{})
	want := "The chart of 'sales' cannot be shown: it has 32001 points; the limit for a series is 32000."
	if err != nil || !slices.Equal(report.Errors, []string{want}) || len(report.Details) != 1 ||
		report.Details[0].Place != "the document, alt text of a chart" {
		t.Errorf("%v, %v", report, err)
	}
}
